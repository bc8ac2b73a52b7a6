//! A tier that falls back on a tier of this process.
//!
//! Calls go to the primary tier. When it is unavailable, a circuit breaker opens: this call and the following ones are
//! served by the fallback. After each pause a task in the background tries the primary tier again. So callers wait for a
//! dead server once, not each time.
//!
//! Only the state of the server opens the breaker: a failed connection, or a timeout followed by a failed health check.
//! An error of one call (a script error, no memory left for writing) or one slow call is returned to its caller and
//! does not affect others.
//!
//! **Invariant.** Deleted data never reappears through a change of tiers: the fallback starts each outage empty, and
//! data deleted during an outage is deleted in the primary tier before that is used again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_breaker::{Breaker, Entry, Pauses, Permit};

use super::{
    ProcessTier, RateDecision, SessionEntry, SessionKey, Tier, TierError, TierHealth, TierResult, WorkingEntry,
    WorkingKey,
};

/// Maximum number of pending deletions. Further entries disappear from the primary tier by their time to live.
const MAX_PENDING: usize = 10_000;

/// A tier that falls back on a tier of this process.
pub struct FallbackTier {
    primary: Arc<dyn Tier>,
    fallback: ProcessTier,
    breaker: Breaker,
    /// Deletions during this outage. This lock is held whenever the breaker opens or closes.
    pending: Arc<Mutex<HashSet<PendingDelete>>>,
}

/// A deletion that the primary tier has not seen.
#[derive(Clone, PartialEq, Eq, Hash)]
enum PendingDelete {
    Working(WorkingKey),
    Session(SessionKey),
    User(String, String, Timestamp),
}

impl FallbackTier {
    /// Uses `primary`, and `fallback` while `primary` is unavailable.
    pub fn new(primary: Arc<dyn Tier>, fallback: ProcessTier) -> Self {
        let breaker = Breaker::new(primary.name(), Pauses::default());
        Self { primary, fallback, breaker, pending: Arc::default() }
    }

    fn pending(&self) -> MutexGuard<'_, HashSet<PendingDelete>> {
        lock(&self.pending)
    }

    /// The permit to use the primary tier; none during an outage. If a trial is due, it is made in the background.
    fn permit(&self) -> Option<Permit> {
        match self.breaker.enter() {
            Entry::Call(permit) => Some(permit),
            Entry::Refused(_) => None,
            Entry::Probe(permit) => {
                tokio::spawn(trial(self.primary.clone(), self.pending.clone(), permit));
                None
            }
        }
    }

    /// Whether an error concerns the server and not only the call.
    async fn is_outage(&self, error: &TierError) -> bool {
        match error {
            TierError::Unreachable { .. } | TierError::Address { .. } => true,
            TierError::Timeout { .. } => self.primary.health().await.is_err(),
            TierError::Failed { .. } => false,
        }
    }

    fn unavailable(&self, permit: Permit, problem: &str) {
        let mut pending = self.pending();
        if self.breaker.problem().is_some() {
            return permit.record(Err(problem));
        }
        self.fallback.empty();
        pending.clear();
        permit.record(Err(problem));
        // The call began in an earlier outage, which is over; this one is another.
        if self.breaker.problem().is_none()
            && let Entry::Call(permit) = self.breaker.enter()
        {
            permit.record(Err(problem));
        }
    }

    /// Runs the primary future, or the fallback one during an outage. The other is dropped without being polled.
    async fn either<T>(
        &self,
        primary: impl Future<Output = TierResult<T>>,
        fallback: impl Future<Output = TierResult<T>>,
    ) -> TierResult<T> {
        let Some(permit) = self.permit() else { return fallback.await };
        let outcome = primary.await;
        if let Err(error) = &outcome
            && self.is_outage(error).await
        {
            self.unavailable(permit, &error.to_string());
            return fallback.await;
        }
        outcome
    }

    /// Deletes in the fallback and records the deletion for the primary tier. If the outage has ended meanwhile,
    /// deletes in the primary tier, because the record would not be processed.
    async fn delete<T>(
        &self,
        delete: PendingDelete,
        primary: impl Future<Output = TierResult<T>>,
        fallback: impl Future<Output = TierResult<T>>,
    ) -> TierResult<T> {
        let outage = {
            let mut pending = self.pending();
            let outage = self.breaker.problem().is_some();
            if outage && pending.len() < MAX_PENDING {
                pending.insert(delete);
            }
            outage
        };
        if outage { fallback.await } else { primary.await }
    }
}

fn lock(pending: &Mutex<HashSet<PendingDelete>>) -> MutexGuard<'_, HashSet<PendingDelete>> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tries the primary tier again: repeats the pending deletions in it and asks for its health. The breaker closes only if no
/// deletion is pending.
async fn trial(primary: Arc<dyn Tier>, pending: Arc<Mutex<HashSet<PendingDelete>>>, permit: Permit) {
    loop {
        let outcome = match delete_pending(&*primary, &pending).await {
            Ok(()) => primary.health().await.map(drop),
            Err(error) => Err(error),
        };
        let pending = lock(&pending);
        match outcome {
            Err(error) => return permit.record(Err(&error.to_string())),
            Ok(()) if pending.is_empty() => return permit.record(Ok(())),
            // Something was deleted meanwhile.
            Ok(()) => {}
        }
    }
}

/// Repeats the pending deletions in the primary tier.
async fn delete_pending(primary: &dyn Tier, pending: &Mutex<HashSet<PendingDelete>>) -> TierResult<()> {
    let deletions = lock(pending).clone();
    for delete in &deletions {
        match delete {
            PendingDelete::Working(key) => primary.clear(key).await?,
            PendingDelete::Session(key) => primary.end(key).await?,
            PendingDelete::User(tenant, user, at) => drop(primary.erase_user(tenant, user, *at).await?),
        }
        lock(pending).remove(delete);
    }
    Ok(())
}

#[async_trait]
impl Tier for FallbackTier {
    fn name(&self) -> &'static str {
        self.primary.name()
    }

    fn trouble(&self) -> Option<String> {
        self.breaker.problem()
    }

    async fn health(&self) -> TierResult<TierHealth> {
        let health = self.either(self.primary.health(), self.fallback.health()).await?;
        Ok(TierHealth { name: self.primary.name(), degraded: self.trouble(), ..health })
    }

    async fn append(&self, key: &WorkingKey, entries: &[WorkingEntry]) -> TierResult<usize> {
        self.either(self.primary.append(key, entries), self.fallback.append(key, entries)).await
    }

    async fn read(&self, key: &WorkingKey) -> TierResult<Vec<WorkingEntry>> {
        self.either(self.primary.read(key), self.fallback.read(key)).await
    }

    async fn trim(&self, key: &WorkingKey, tokens: u64) -> TierResult<usize> {
        self.either(self.primary.trim(key, tokens), self.fallback.trim(key, tokens)).await
    }

    async fn remove(&self, key: &WorkingKey, entries: &[WorkingEntry]) -> TierResult<usize> {
        self.either(self.primary.remove(key, entries), self.fallback.remove(key, entries)).await
    }

    async fn clear(&self, key: &WorkingKey) -> TierResult<()> {
        let delete = PendingDelete::Working(key.clone());
        let deleted = self.delete(delete, self.primary.clear(key), self.fallback.clear(key));
        self.either(self.primary.clear(key), deleted).await
    }

    async fn put(&self, key: &SessionKey, entry: &SessionEntry, life: Option<Duration>) -> TierResult<()> {
        self.either(self.primary.put(key, entry, life), self.fallback.put(key, entry, life)).await
    }

    async fn latest(&self, key: &SessionKey, limit: usize) -> TierResult<Vec<SessionEntry>> {
        self.either(self.primary.latest(key, limit), self.fallback.latest(key, limit)).await
    }

    async fn end(&self, key: &SessionKey) -> TierResult<()> {
        let delete = PendingDelete::Session(key.clone());
        let deleted = self.delete(delete, self.primary.end(key), self.fallback.end(key));
        self.either(self.primary.end(key), deleted).await
    }

    async fn erase_user(&self, tenant: &str, user: &str, at: Timestamp) -> TierResult<usize> {
        let delete = PendingDelete::User(tenant.to_owned(), user.to_owned(), at);
        let deleted =
            self.delete(delete, self.primary.erase_user(tenant, user, at), self.fallback.erase_user(tenant, user, at));
        self.either(self.primary.erase_user(tenant, user, at), deleted).await
    }

    async fn erased(&self, tenant: &str, user: &str) -> TierResult<Option<Timestamp>> {
        self.either(self.primary.erased(tenant, user), self.fallback.erased(tenant, user)).await
    }

    async fn embeddings(&self, keys: &[String]) -> TierResult<Vec<Option<Vec<u8>>>> {
        self.either(self.primary.embeddings(keys), self.fallback.embeddings(keys)).await
    }

    async fn keep_embeddings(&self, entries: &[(String, Vec<u8>)]) -> TierResult<()> {
        self.either(self.primary.keep_embeddings(entries), self.fallback.keep_embeddings(entries)).await
    }

    async fn take(&self, key: &str, per_second: u32, burst: u32) -> TierResult<RateDecision> {
        self.either(self.primary.take(key, per_second, burst), self.fallback.take(key, per_second, burst)).await
    }
}
