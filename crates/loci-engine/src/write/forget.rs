//! Forgets memories, erases them, and restores them.

use jiff::SignedDuration;
use loci_types::{Action, Batch, Bookkeeping, Memory, MemoryId, Patch, Receipt, Revision, Right};

use crate::access::bounds;
use crate::access::policy::{self, Caller};
use crate::learn::consent;
use crate::write::remember::receipt;
use crate::{Engine, Result};

impl Engine {
    /// Soft-deletes a memory; it can be restored until its purge date.
    pub async fn forget(
        &self,
        caller: &Caller,
        id: MemoryId,
        version: Option<u64>,
        reason: Option<&str>,
    ) -> Result<Receipt> {
        bounds::short("reason", reason, bounds::REFERENCE)?;
        let days = i64::from(self.config.lifecycle.purge_days);
        let purge_at = self.now().saturating_add(SignedDuration::from_hours(24 * days)).unwrap_or(jiff::Timestamp::MAX);
        let action = Action::Forget { id, expect: version, purge_at };
        self.on_one(caller, id, reason.unwrap_or("forgotten"), action).await
    }

    /// Removes a memory at once and for good, with all its content; the ledger keeps that it existed.
    pub async fn erase(
        &self,
        caller: &Caller,
        id: MemoryId,
        version: Option<u64>,
        reason: Option<&str>,
    ) -> Result<Receipt> {
        policy::require_writer(caller)?;
        policy::require_right(caller, Right::HardDelete)?;
        let visible = self.visible_by_id(caller).await?;
        let found = self.one(&visible, id).await?.version;
        if let Some(expected) = version.filter(|expected| *expected != found) {
            return Err(loci_store::Error::Conflict { id, expected, found }.into());
        }
        self.on_one(caller, id, reason.unwrap_or("erased"), Action::Erase { id }).await
    }

    /// Restores a soft-deleted memory.
    pub async fn restore(&self, caller: &Caller, id: MemoryId) -> Result<Receipt> {
        policy::require_writer(caller)?;
        let visible = self.visible_by_id(caller).await?;
        let memory = self.one(&visible, id).await?;
        consent::require_accepted(&memory)?;
        let space = memory.scope()?.space();
        let changes = self
            .restoring(&memory)
            .into_iter()
            .map(|action| self.change(caller, "hotpath", "restored", action))
            .collect();
        let applied = self.apply(Batch { tenant: caller.tenant.clone(), space, changes }).await?;
        self.feature_cache.forget(id);
        receipt(applied.first(), false, false)
    }

    /// The changes that restore a memory so that the next maintenance does not delete or archive it again: it counts as
    /// used, its relevance decays from now on, and its expiry is removed.
    pub(crate) fn restoring(&self, memory: &Memory) -> Vec<Action> {
        let id = memory.id;
        let mut actions = vec![Action::Restore { id }, Action::Bookkeeping(Bookkeeping::Touch { ids: vec![id] })];
        let sure = self.config.lifecycle.decayed_below;
        let patch = Patch {
            confidence: (memory.confidence < sure).then_some(sure),
            relevance: (memory.relevance < 1.0).then_some(1.0),
            expires_at: memory.expires_at.is_some_and(|at| at <= self.now()).then_some(None),
            ..Patch::default()
        };
        if !patch.is_empty() {
            actions.push(Action::Revise(Box::new(Revision {
                id,
                expect: None,
                patch,
                vector: None,
                jobs: Vec::new(),
            })));
        }
        actions
    }

    /// Applies an action to a memory that the caller may see.
    pub(crate) async fn on_one(&self, caller: &Caller, id: MemoryId, reason: &str, action: Action) -> Result<Receipt> {
        policy::require_writer(caller)?;
        let visible = self.visible_by_id(caller).await?;
        let memory = self.one(&visible, id).await?;
        consent::require_decision(caller, &memory)?;
        let space = memory.scope()?.space();
        let change = self.change(caller, "hotpath", reason, action);
        let applied = self.apply(Batch { tenant: caller.tenant.clone(), space, changes: vec![change] }).await?;
        self.feature_cache.forget(id);
        receipt(applied.first(), false, false)
    }
}
