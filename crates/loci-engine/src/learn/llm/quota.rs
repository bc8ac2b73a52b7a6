//! The daily token quota of a tenant.
//!
//! What is left is read before a piece of work, and what was spent is written after it, even if the work failed.

use jiff::Timestamp;
use loci_types::{Action, Batch, Bookkeeping, NoteValue, Space, Tenant};

use crate::access::policy::{self, Caller};
use crate::learn::llm::LlmClient;
use crate::lifecycle::rules::state::days_after;
use crate::{Engine, Result};

impl Engine {
    /// The same engine, with a language model that reads and writes for it.
    #[must_use]
    pub fn with_llm(mut self, llm: LlmClient) -> Self {
        self.llm = Some(llm.with_limits(self.config.learning.clone()));
        self
    }

    /// The language model with the remaining quota of the tenant for today. `None` if the rules do the work.
    pub(crate) async fn llm_for(&self, tenant: &Tenant) -> Result<Option<LlmClient>> {
        let Some(llm) = &self.llm else { return Ok(None) };
        let spent = self.spent_today(tenant).await?;
        Ok(Some(llm.within(self.config.learning.budget().left(spent))))
    }

    /// Puts what a piece of work has spent on the tenant's bill.
    pub(crate) async fn record_spending(&self, tenant: &Tenant, llm: &LlmClient, before: u64) -> Result<()> {
        let spent = before.saturating_sub(llm.left().unwrap_or(before));
        if spent == 0 {
            return Ok(());
        }
        let at = self.now();
        let note = Action::Bookkeeping(Bookkeeping::Note {
            scope: None,
            key: tokens_key(at),
            value: NoteValue::Add(spent as f64),
            until: Some(days_after(at, 2)),
        });
        let caller = Caller { tenant: tenant.clone(), ..Caller::operator() };
        let change = self.change(&caller, "worker", "language model usage", note);
        let batch = Batch { tenant: tenant.clone(), space: Space::Shared, changes: vec![change] };
        Ok(self.apply(batch).await.map(drop)?)
    }

    /// Tokens that the tenant has spent today.
    pub(crate) async fn spent_today(&self, tenant: &Tenant) -> Result<u64> {
        let at = self.now();
        let notes = self.store.notes(&policy::visible_tenant(tenant), &Space::Shared, &[tokens_key(at)], at).await?;
        Ok(notes.iter().filter_map(|(_, count)| count.as_f64()).sum::<f64>() as u64)
    }
}

fn tokens_key(at: Timestamp) -> String {
    format!("llm tokens {}", &at.to_string()[..10])
}
