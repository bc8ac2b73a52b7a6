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
//! * While the index is unreachable, queries are refused at once until its back-off is over.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{Action, Batch, Space, Tenant, Visible};
use tokio::sync::{Notify, watch};

use super::index::{Collection, Mark, VectorIndex};
use super::source::VectorSource;
use crate::breaker::Breaker;
use crate::{Error, Result, Retry};

/// The pause between two checks for the writes of other processes.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The settings of an external index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexedOptions {
    /// Number of ledger entries an index may be behind before queries wait for it. Default: 1,024.
    pub tail: usize,
    /// Number of ledger entries that are applied in one step. Default: 256.
    pub page: usize,
    /// How long a query waits for an index that is further behind. Default: 2 s.
    pub patience: Duration,
    /// How long the lease on filling a collection is valid unless it is renewed. Default: 30 s.
    pub lease: Duration,
    /// The back-off of calls to an index that is unavailable.
    pub back_off: Retry,
}

impl Default for IndexedOptions {
    fn default() -> Self {
        Self {
            tail: 1_024,
            page: 256,
            patience: Duration::from_secs(2),
            lease: Duration::from_secs(30),
            back_off: Retry::default(),
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
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) store: Arc<dyn VectorSource>,
    pub(super) index: Arc<dyn VectorIndex>,
    pub(super) oversight: SystemContext,
    pub(super) options: IndexedOptions,
    pub(super) breaker: Breaker,
    /// The name of this process as holder of leases.
    pub(super) holder: String,
    collections: Mutex<HashMap<Key, Arc<CollectionState>>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) tenant: Tenant,
    pub(super) space: Space,
    pub(super) model: String,
}

/// The state of one collection in this process.
pub(super) struct CollectionState {
    pub(super) key: Key,
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
}

impl CollectionState {
    fn new(key: Key) -> Self {
        Self {
            key,
            mark: Mutex::default(),
            moved: watch::Sender::new(0),
            filling: tokio::sync::Mutex::default(),
            running: AtomicBool::new(false),
            again: AtomicBool::new(false),
            nudge: Notify::new(),
        }
    }

    pub(super) fn collection(&self, dimensions: usize) -> Collection {
        let Key { tenant, space, model } = self.key.clone();
        Collection { tenant, space, model, dimensions }
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
        let inner = Inner {
            breaker: Breaker::new(index.name(), options.back_off),
            holder: uuid::Uuid::new_v4().to_string(),
            collections: Mutex::default(),
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
        for state in self.inner.collections_of(tenant, space) {
            self.inner.wake(&state);
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
            if let Err(error) = inner.record(inner.index.remove(&collection).await) {
                tracing::warn!(
                    %error,
                    collection = inner.index.collection_name(&collection),
                    "the collection could not be removed; retrying"
                );
                inner.drop_later(collection);
            }
        }
        Ok(known)
    }
}

impl Inner {
    /// The state of a collection, created on first use.
    pub(super) fn state(&self, tenant: &Tenant, space: &Space, model: &str) -> Arc<CollectionState> {
        let key = Key { tenant: tenant.clone(), space: space.clone(), model: model.to_owned() };
        let mut collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        collections.entry(key.clone()).or_insert_with(|| Arc::new(CollectionState::new(key))).clone()
    }

    /// Refuses while the index is known to be unavailable.
    pub(super) fn check_available(&self) -> Result<()> {
        self.breaker.allow().map_err(|problem| self.unavailable(problem))
    }

    /// Records the outcome of a call to the index in the breaker and returns it. Only [`Error::Unavailable`] counts as
    /// a failure of the index.
    pub(super) fn record<T>(&self, outcome: Result<T>) -> Result<T> {
        match &outcome {
            Ok(_) => self.breaker.record(Ok(())),
            Err(Error::Unavailable { problem, .. }) => self.breaker.record(Err(problem)),
            Err(_) => {}
        }
        outcome
    }

    fn collections_of(&self, tenant: &Tenant, space: &Space) -> Vec<Arc<CollectionState>> {
        let collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        collections.values().filter(|state| state.key.tenant == *tenant && state.key.space == *space).cloned().collect()
    }

    /// The collections that a task of this process is filling.
    pub(super) fn being_filled(&self) -> Vec<Arc<CollectionState>> {
        let collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        collections.values().filter(|state| state.running.load(Ordering::SeqCst)).cloned().collect()
    }

    /// Starts filling every collection whose mark is behind the ledger.
    async fn wake_those_behind(self: &Arc<Self>) -> Result<()> {
        let collections: Vec<_> =
            self.collections.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        let tenants: BTreeSet<Tenant> = collections.iter().map(|state| state.key.tenant.clone()).collect();
        for tenant in tenants {
            let ends = self.store.ledger_heads(&(self.oversight.whole)(&tenant)).await?;
            for state in collections.iter().filter(|state| state.key.tenant == tenant) {
                let read = state.mark().unwrap_or_default().sequence;
                if ends.get(&state.key.space).is_some_and(|end| *end > read) {
                    self.wake(state);
                }
            }
        }
        Ok(())
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
                if inner.check_available().is_ok() && inner.record(inner.index.remove(&collection).await).is_ok() {
                    // If the agent was created again meanwhile, its new collection is removed as well and refilled.
                    return;
                }
                let wait = inner.breaker.wait();
                drop(inner);
                tokio::time::sleep(wait).await;
            }
        });
    }
}

/// Starts filling when another process has written.
async fn listen(inner: Weak<Inner>, mut moved: watch::Receiver<u64>) {
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
