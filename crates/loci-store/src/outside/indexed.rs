//! How does a store find its neighbours by an index outside of it?
//!
//! A store with an [`Indexed`] beside it asks it for the nearest vectors. An answer is made of three things: what the index
//! proposes, what stands in the ledger after the index's mark (so that what was just written is found before the index
//! has heard of it), and the store's exact score of both.
//!
//! * A write never waits for the index and never fails because of it: it only wakes the filling.
//! * An index that is a little behind costs nothing: its lag is read from the ledger with the question.
//! * One that is far behind is waited for, as long as [`IndexedOptions::patience`] says. After that the question is
//!   refused with [`crate::Error::Unavailable`]: half an answer would be taken for a whole one, and recall has other lanes.
//! * One that is away is refused the same way, at once, until its back-off is over.

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

/// So long it rests between two looks at what others wrote.
const BREATH: Duration = Duration::from_millis(100);

/// How an outside index is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexedOptions {
    /// Up to so many lines of the ledger an index may be behind without anyone waiting for it.
    pub tail: usize,
    /// So many lines are read to fill it in one step.
    pub page: usize,
    /// How long a question waits for an index that is further behind.
    pub patience: Duration,
    /// How long one process may fill a collection before another may think it dead.
    pub lease: Duration,
    /// When an index that is away is asked again.
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

/// What the filling needs and only the house above can give: who sees a whole tenant, and what time it is.
#[derive(Clone)]
pub struct SystemContext {
    /// Sees the whole tenant; made by the policy.
    pub whole: Arc<dyn Fn(&Tenant) -> Visible + Send + Sync>,
    /// The clock.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

/// An outside index beside a store.
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
    /// Who fills, for the lease.
    pub(super) holder: String,
    collections: Mutex<HashMap<Key, Arc<CollectionState>>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) tenant: Tenant,
    pub(super) space: Space,
    pub(super) model: String,
}

/// What this process knows of one collection.
pub(super) struct CollectionState {
    pub(super) key: Key,
    /// How far the collection has read; none: nobody has asked it yet.
    mark: Mutex<Option<Mark>>,
    /// Told whenever the filling has got on, or has failed.
    pub(super) moved: watch::Sender<u64>,
    /// Held by whoever writes to the collection.
    pub(super) filling: tokio::sync::Mutex<()>,
    pub(super) running: AtomicBool,
    pub(super) again: AtomicBool,
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
    /// A store with an index beside it.
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

    /// Wakes the filling of every collection that a change of this space may concern.
    pub(crate) fn wake(&self, tenant: &Tenant, space: &Space, models: Vec<String>) {
        for model in models {
            self.inner.state(tenant, space, &model);
        }
        for state in self.inner.collections_of(tenant, space) {
            self.inner.wake(&state);
        }
    }

    /// Removes what a space belongs to, by `drop`, and its collections with it.
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
            // Whoever fills would bring the collection back.
            held.push(state.filling.lock().await);
        }
        let known = drop.await?;
        inner.forget(tenant, space);
        for state in &collections {
            state.set_mark(None);
            let collection = state.collection(0);
            if let Err(error) = inner.record(inner.index.remove(&collection).await) {
                tracing::warn!(%error, collection = inner.index.collection_name(&collection), "dropped later");
                inner.drop_later(collection);
            }
        }
        Ok(known)
    }
}

impl Inner {
    /// What is known of a collection.
    pub(super) fn state(&self, tenant: &Tenant, space: &Space, model: &str) -> Arc<CollectionState> {
        let key = Key { tenant: tenant.clone(), space: space.clone(), model: model.to_owned() };
        let mut collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        collections.entry(key.clone()).or_insert_with(|| Arc::new(CollectionState::new(key))).clone()
    }

    /// Refuses while the index is known to be unavailable.
    pub(super) fn check_available(&self) -> Result<()> {
        self.breaker.allow().map_err(|problem| self.unavailable(problem))
    }

    /// Tells the breaker how a call of the index went, and hands the outcome on. A refusal of this one call says
    /// nothing about the index.
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

    /// The collections that this process is filling.
    pub(super) fn being_filled(&self) -> Vec<Arc<CollectionState>> {
        let collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        collections.values().filter(|state| state.running.load(Ordering::SeqCst)).cloned().collect()
    }

    /// Wakes the filling of every collection that has not read what another process wrote.
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

    /// Lets the filling of a collection run, or run once more when it is done.
    pub(super) fn wake(self: &Arc<Self>, state: &Arc<CollectionState>) {
        state.again.store(true, Ordering::SeqCst);
        if state.running.swap(true, Ordering::SeqCst) {
            state.nudge.notify_one();
            return;
        }
        tokio::spawn(super::sync::run(Arc::downgrade(self), state.clone()));
    }

    /// A collection that could not be dropped must not outlive what it was made of.
    fn drop_later(self: &Arc<Self>, collection: Collection) {
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                let Some(inner) = weak.upgrade() else { return };
                if inner.check_available().is_ok() && inner.record(inner.index.remove(&collection).await).is_ok() {
                    // If the agent came anew in the meantime, its collection went, too, and fills itself again.
                    return;
                }
                let wait = inner.breaker.wait();
                drop(inner);
                tokio::time::sleep(wait).await;
            }
        });
    }
}

/// Goes on filling when another process wrote.
async fn listen(inner: Weak<Inner>, mut moved: watch::Receiver<u64>) {
    while moved.changed().await.is_ok() {
        let Some(house) = inner.upgrade() else { return };
        if let Err(error) = house.wake_those_behind().await {
            tracing::debug!(%error, "the vector index is looked after later");
        }
        drop(house);
        // Those who write much do not make everyone look each time.
        tokio::time::sleep(BREATH).await;
    }
}

/// The models whose vectors a batch brings.
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
