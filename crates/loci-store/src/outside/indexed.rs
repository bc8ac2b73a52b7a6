//! A store that searches its vectors through an external index.
//!
//! A result combines the candidates of the index and the ledger entries after the index's mark, so that a new memory is
//! found before the index knows it. The store scores both by their exact vectors.
//!
//! * A write never waits for the index and never fails because of it: it only wakes the task that fills the index.
//! * An index at most [`IndexedOptions::tail`] entries behind is used as it is: the rest is read from the ledger.
//! * A query waits up to [`IndexedOptions::patience`] for an index that is further behind. After that it is refused
//!   with [`crate::Error::Unavailable`], because a partial result would look like a complete one and recall has other
//!   lanes.
//! * While the index is unreachable, queries are refused at once. After each pause a background task or the health check of
//!   the index finds out whether it is back.
//! * A server follows the ledger: [`Indexed::follow`] notices writes of other processes and what earlier ones left.
//!   A process that ends waits for its own writes with [`Indexed::settle`].

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use loci_breaker::{Breaker, Entry, Pauses};
use loci_types::{Action, Batch, Space, Tenant, Visible};
use tokio::sync::{Notify, watch};

use super::index::{Collection, Mark, VectorIndex};
use super::source::VectorSource;
use crate::{Error, Result};

/// The pause between two checks for the writes of other processes.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The settings of an external index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexedOptions {
    /// Number of ledger entries an index may be behind before queries wait for it. Default: 1,024.
    pub tail: usize,
    /// Number of ledger entries that are applied in one step. Default: 256.
    pub page: usize,
    /// How long a query waits for an index that is further behind. Default: 1 s.
    pub patience: Duration,
    /// How long the lease on filling a collection is valid unless it is renewed. Default: 30 s.
    pub lease: Duration,
    /// The pauses between two calls to an index that is unavailable. Default: from 250 ms to 2 s.
    pub back_off: Pauses,
    /// The pause between two checks whether a collection has lost points. Default: 10 s.
    pub recount: Duration,
}

impl Default for IndexedOptions {
    fn default() -> Self {
        Self {
            tail: 1_024,
            page: 256,
            patience: Duration::from_secs(1),
            lease: Duration::from_secs(30),
            back_off: Pauses::default(),
            recount: Duration::from_secs(10),
        }
    }
}

/// What the background task needs from the engine: permission to read a whole tenant, and a clock.
#[derive(Clone)]
pub struct SystemContext {
    /// Returns the permission to read a whole tenant, as the policy grants it.
    pub whole: Arc<dyn Fn(&Tenant) -> Visible + Send + Sync>,
    /// The clock.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

/// An external index of a store's vectors.
#[derive(Clone)]
pub struct Indexed {
    pub(super) inner: Arc<IndexInner>,
}

pub(super) struct IndexInner {
    pub(super) store: Arc<dyn VectorSource>,
    pub(super) index: Arc<dyn VectorIndex>,
    pub(super) oversight: SystemContext,
    pub(super) options: IndexedOptions,
    pub(super) breaker: Breaker,
    /// The name of this process as holder of leases.
    pub(super) holder: String,
    collections: Mutex<HashMap<CollectionKey, Arc<CollectionState>>>,
    /// Number of tasks that look for the collections of a space.
    looking: AtomicI64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct CollectionKey {
    pub(super) tenant: Tenant,
    pub(super) space: Space,
    pub(super) model: String,
}

/// The state of one collection in this process.
pub(super) struct CollectionState {
    pub(super) key: CollectionKey,
    /// The last known mark; none until the index was asked.
    mark: Mutex<Option<Mark>>,
    /// Changes whenever the mark has moved or filling has failed.
    pub(super) moved: watch::Sender<u64>,
    /// Locked while this process writes to the collection.
    pub(super) filling: tokio::sync::Mutex<()>,
    /// Whether a task fills the collection.
    pub(super) running: AtomicBool,
    /// Whether the task must check the ledger once more before it ends.
    pub(super) again: AtomicBool,
    /// Ends the task's wait before a retry.
    pub(super) nudge: Notify,
    /// Why the index refuses the collection: it belongs to someone else. It is tried again with each query and write.
    pub(super) refused: Mutex<Option<String>>,
    /// The ledger entry up to which there was nothing to apply, because the space has no vectors of the model.
    pub(super) checked: AtomicI64,
    /// When the points were last counted, and how many fewer than the vectors of the store they may be.
    pub(super) counted: Mutex<(Option<Instant>, u64)>,
}

impl CollectionState {
    fn new(key: CollectionKey) -> Self {
        Self {
            key,
            mark: Mutex::default(),
            moved: watch::Sender::new(0),
            filling: tokio::sync::Mutex::default(),
            running: AtomicBool::new(false),
            again: AtomicBool::new(false),
            nudge: Notify::new(),
            refused: Mutex::default(),
            checked: AtomicI64::new(0),
            counted: Mutex::default(),
        }
    }

    pub(super) fn collection(&self, dimensions: usize) -> Collection {
        let CollectionKey { tenant, space, model } = self.key.clone();
        Collection { tenant, space, model, dimensions }
    }

    pub(super) fn refused(&self) -> MutexGuard<'_, Option<String>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn mark(&self) -> Option<Mark> {
        *self.mark.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_mark(&self, mark: Option<Mark>) {
        *self.mark.lock().unwrap_or_else(PoisonError::into_inner) = mark;
        self.moved.send_modify(|times| *times += 1);
    }
}

impl Indexed {
    /// Attaches an index to a store and, if the store reports the writes of others, starts to follow them.
    pub(crate) fn new(
        store: Arc<dyn VectorSource>,
        index: Arc<dyn VectorIndex>,
        oversight: SystemContext,
        options: IndexedOptions,
    ) -> Self {
        let inner = IndexInner {
            breaker: Breaker::new(index.name(), options.back_off),
            holder: uuid::Uuid::new_v4().to_string(),
            collections: Mutex::default(),
            looking: AtomicI64::new(0),
            store,
            index,
            oversight,
            options,
        };
        let inner = Arc::new(inner);
        if let Some(moved) = inner.store.change_signal() {
            tokio::spawn(listen(Arc::downgrade(&inner), moved));
        }
        Self { inner }
    }

    /// Starts filling every collection that a change in this space may concern.
    pub(crate) fn wake(&self, tenant: &Tenant, space: &Space, models: Vec<String>) {
        for model in models {
            self.inner.state(tenant, space, &model);
        }
        let known = self.inner.collections_of(tenant, space);
        if known.is_empty() {
            // A deletion contains no vector, so the models of the space are asked for.
            self.inner.looking.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(discover(self.inner.clone(), tenant.clone(), space.clone()));
        }
        for state in known {
            self.inner.wake(&state);
        }
    }

    /// Keeps all collections up to date, also with what other processes write and what earlier ones left, until the last
    /// clone of this store is dropped.
    pub fn follow(&self) {
        tokio::spawn(follow(Arc::downgrade(&self.inner)));
    }

    /// Waits until the index has everything that this process wrote. Gives up after `patience`, or at once if the index is
    /// unavailable: then a server fills it later. Returns whether it has everything.
    pub async fn settle(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        loop {
            let looking = self.inner.looking.load(Ordering::SeqCst) > 0;
            if !looking && self.inner.being_filled().is_empty() {
                return true;
            }
            if self.inner.breaker.problem().is_some() || Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Drops a space by running `drop`, and removes its collections.
    pub(crate) async fn with_collections(
        &self,
        tenant: &Tenant,
        space: &Space,
        drop: impl Future<Output = Result<bool>>,
    ) -> Result<bool> {
        let inner = &self.inner;
        let models = inner.store.model_names(&(inner.oversight.whole)(tenant)).await?;
        for model in models {
            inner.state(tenant, space, &model);
        }
        let collections = inner.collections_of(tenant, space);
        let mut held = Vec::new();
        for state in &collections {
            // A task that fills the collection would create it again.
            held.push(state.filling.lock().await);
        }
        let known = drop.await?;
        inner.forget(tenant, space);
        for state in &collections {
            state.set_mark(None);
            let collection = state.collection(0);
            if let Err(error) = inner.ask(inner.index.remove(&collection)).await {
                let name = inner.index.collection_name(&collection);
                if matches!(error, Error::IndexRefused { .. }) {
                    tracing::warn!(%error, collection = name, "the collection is not changed");
                    continue;
                }
                tracing::warn!(%error, collection = name, "the collection could not be removed; retrying");
                inner.drop_later(collection);
            }
        }
        Ok(known)
    }
}

impl IndexInner {
    /// The state of a collection, created on first use.
    pub(super) fn state(&self, tenant: &Tenant, space: &Space, model: &str) -> Arc<CollectionState> {
        let key = CollectionKey { tenant: tenant.clone(), space: space.clone(), model: model.to_owned() };
        let mut collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        collections.entry(key.clone()).or_insert_with(|| Arc::new(CollectionState::new(key))).clone()
    }

    /// Refuses while the index is known to be unavailable. If a probe is due, it is made in the background.
    pub(super) fn check_available(self: &Arc<Self>) -> Result<()> {
        let permit = match self.breaker.enter() {
            Entry::Call(_) => return Ok(()),
            Entry::Refused(problem) => return Err(self.unavailable(problem)),
            Entry::Probe(permit) => permit,
        };
        let (problem, inner) = (self.breaker.problem().unwrap_or_default(), self.clone());
        tokio::spawn(async move {
            let health = inner.index.health().await;
            let failed = outage(&health).map(ToOwned::to_owned);
            permit.record(failed.as_deref().map_or(Ok(()), Err));
            if failed.is_none() {
                inner.being_filled().iter().for_each(|state| state.nudge.notify_one());
            }
        });
        Err(self.unavailable(problem))
    }

    /// Makes a call to the index unless it is known to be unavailable.
    pub(super) async fn ask<T>(self: &Arc<Self>, call: impl Future<Output = Result<T>>) -> Result<T> {
        let permit = match self.breaker.enter() {
            Entry::Call(permit) => permit,
            Entry::Refused(problem) => return Err(self.unavailable(problem)),
            Entry::Probe(permit) => {
                drop(permit);
                return Err(self.check_available().err().unwrap_or_else(|| self.unavailable("was away".to_owned())));
            }
        };
        let outcome = call.await;
        permit.record(outage(&outcome).map_or(Ok(()), Err));
        outcome
    }

    /// Finds out whether an index that is unavailable is back, if the pause is over. For background work.
    pub(super) async fn probe(self: &Arc<Self>) -> Result<()> {
        match self.breaker.enter() {
            Entry::Call(_) => Ok(()),
            Entry::Refused(problem) => Err(self.unavailable(problem)),
            Entry::Probe(permit) => {
                let health = self.index.health().await;
                permit.record(outage(&health).map_or(Ok(()), Err));
                health
            }
        }
    }

    pub(super) fn collections_of(&self, tenant: &Tenant, space: &Space) -> Vec<Arc<CollectionState>> {
        let collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        collections.values().filter(|state| state.key.tenant == *tenant && state.key.space == *space).cloned().collect()
    }

    /// The collections that a task of this process is filling.
    pub(super) fn being_filled(&self) -> Vec<Arc<CollectionState>> {
        let collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        collections.values().filter(|state| state.running.load(Ordering::SeqCst)).cloned().collect()
    }

    /// Creates the states of all collections of a tenant that another process may have written to.
    async fn discover_all(self: &Arc<Self>, tenant: &Tenant) -> Result<()> {
        let models = self.store.model_names(&(self.oversight.whole)(tenant)).await?;
        for space in self.store.spaces(tenant).await? {
            for model in &models {
                self.state(tenant, &space, model);
            }
        }
        Ok(())
    }

    /// Starts filling every collection whose mark is behind the ledger.
    async fn wake_those_behind(self: &Arc<Self>) -> Result<()> {
        let collections: Vec<_> =
            self.collections.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        let tenants: BTreeSet<Tenant> = collections.iter().map(|state| state.key.tenant.clone()).collect();
        for tenant in tenants {
            let ends = self.store.ledger_heads(&(self.oversight.whole)(&tenant)).await?;
            for state in collections.iter().filter(|state| state.key.tenant == tenant) {
                let read = state.mark().unwrap_or_default().sequence.max(state.checked.load(Ordering::SeqCst));
                if ends.get(&state.key.space).is_some_and(|end| *end > read) {
                    self.wake(state);
                }
            }
        }
        Ok(())
    }

    async fn catch_up_with_others(self: &Arc<Self>) -> Result<()> {
        for tenant in self.store.tenants().await? {
            self.discover_all(&tenant).await?;
        }
        self.wake_those_behind().await
    }

    fn forget(&self, tenant: &Tenant, space: &Space) {
        let mut collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        collections.retain(|key, _| key.tenant != *tenant || key.space != *space);
    }

    /// Starts the task that fills a collection; a task that is running checks the ledger once more before it ends.
    pub(super) fn wake(self: &Arc<Self>, state: &Arc<CollectionState>) {
        state.again.store(true, Ordering::SeqCst);
        if state.running.swap(true, Ordering::SeqCst) {
            state.nudge.notify_one();
            return;
        }
        tokio::spawn(super::sync::run(Arc::downgrade(self), state.clone()));
    }

    /// Retries in the background until a collection is removed, so that it does not outlive its space.
    fn drop_later(self: &Arc<Self>, collection: Collection) {
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                let Some(inner) = weak.upgrade() else { return };
                if inner.probe().await.is_ok() {
                    // If the agent was created again meanwhile, its new collection is removed as well and refilled.
                    match inner.ask(inner.index.remove(&collection)).await {
                        Ok(()) | Err(Error::IndexRefused { .. }) => return,
                        Err(_) => {}
                    }
                }
                let wait = inner.breaker.wait();
                drop(inner);
                tokio::time::sleep(wait).await;
            }
        });
    }
}

/// The problem of an index that failed. A call that it refuses is none.
fn outage<T>(outcome: &Result<T>) -> Option<&str> {
    match outcome {
        Err(Error::Unavailable { problem, .. }) => Some(problem),
        _ => None,
    }
}

/// The least time between two looks at the ledgers.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(2);

/// The share of its time that a process spends on looking at the ledgers is one divided by this.
const FOLLOW_SHARE: u32 = 20;

/// Starts filling the collections that are behind, now and again and again: a store in files does not report what other
/// processes write, and a process that ended may have left something.
async fn follow(inner: Weak<IndexInner>) {
    loop {
        let Some(strong) = inner.upgrade() else { return };
        let begun = Instant::now();
        if let Err(error) = strong.catch_up_with_others().await {
            tracing::debug!(%error, "the ledgers could not be read for the vector index; retrying");
        }
        drop(strong);
        tokio::time::sleep(FOLLOW_INTERVAL.max(begun.elapsed() * FOLLOW_SHARE)).await;
    }
}

/// Starts filling the collections of a space that this process did not know.
async fn discover(inner: Arc<IndexInner>, tenant: Tenant, space: Space) {
    match inner.store.model_names(&(inner.oversight.whole)(&tenant)).await {
        Ok(models) => {
            for model in models {
                inner.wake(&inner.state(&tenant, &space, &model));
            }
        }
        Err(error) => tracing::debug!(%error, %space, "the vector index gets this change later"),
    }
    inner.looking.fetch_sub(1, Ordering::SeqCst);
}

/// Starts filling when another process has written.
async fn listen(inner: Weak<IndexInner>, mut moved: watch::Receiver<u64>) {
    while moved.changed().await.is_ok() {
        let Some(strong) = inner.upgrade() else { return };
        if let Err(error) = strong.wake_those_behind().await {
            tracing::debug!(%error, "the vector index could not be updated; retrying after the next write");
        }
        drop(strong);
        // Limits the rate of these checks while another process writes often.
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
}

/// The models whose vectors a batch contains.
pub(crate) fn models(batch: &Batch) -> Vec<String> {
    let vectors = batch.changes.iter().filter_map(|change| match &change.action {
        Action::Add(addition) | Action::Supersede { new: addition, .. } | Action::Replace(addition) => {
            addition.vector.as_ref()
        }
        Action::Revise(revision) | Action::Merge { into: revision, .. } => revision.vector.as_ref(),
        Action::Embed { vector, .. } => Some(vector),
        _ => None,
    });
    let names: BTreeSet<&str> = vectors.map(|vector| vector.model.as_str()).collect();
    names.into_iter().map(str::to_owned).collect()
}
