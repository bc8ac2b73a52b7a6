//! How does a memory go, and how does it come back?

use jiff::SignedDuration;
use loci_types::{Action, Batch, MemoryId, Receipt};

use crate::policy::Caller;
use crate::remember::receipt;
use crate::{Engine, Result};

impl Engine {
    /// Hides a memory; it can be restored until its purge date.
    pub async fn forget(
        &self,
        caller: &Caller,
        id: MemoryId,
        version: Option<u64>,
        reason: Option<&str>,
    ) -> Result<Receipt> {
        let days = i64::from(self.config.lifecycle.purge_days);
        let purge_at = self.now().saturating_add(SignedDuration::from_hours(24 * days)).unwrap_or(jiff::Timestamp::MAX);
        let action = Action::Forget { id, expect: version, purge_at };
        self.on_one(caller, id, reason.unwrap_or("forgotten"), action).await
    }

    /// Brings a hidden memory back.
    pub async fn restore(&self, caller: &Caller, id: MemoryId) -> Result<Receipt> {
        self.on_one(caller, id, "restored", Action::Restore { id }).await
    }

    /// Applies an action to a memory that the caller may see.
    pub(crate) async fn on_one(&self, caller: &Caller, id: MemoryId, reason: &str, action: Action) -> Result<Receipt> {
        let visible = self.visible(caller, None).await?;
        let space = self.one(&visible, id).await?.scope()?.space();
        let change = self.change(caller, "hotpath", reason, action);
        let applied = self.store.apply(Batch { tenant: caller.tenant.clone(), space, changes: vec![change] }).await?;
        self.shelf.forget(id);
        receipt(applied.first(), false, false)
    }
}
