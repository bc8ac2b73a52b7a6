//! Applies the ledger to the collections of an external index.
//!
//! Each collection has one task, which runs only while there are entries to apply. It reads a page of the ledger, sends
//! it to the index and advances the index's mark. After an interruption the page is sent again, which is idempotent.
//! If processes share an index, a lease lets one of them fill a collection at a time, so that no older state of a
//! memory overwrites a newer one.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use loci_types::MemoryId;

use super::index::{Collection, Mark};
use super::indexed::{CollectionState, IndexInner};
use super::point::{VectorFeed, VectorPoint};
use crate::{Error, Result};

/// The pause before the next attempt while another process fills the collection.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// How one attempt to fill a collection ended.
enum SyncOutcome {
    /// All entries are applied.
    Done,
    /// Another process fills this collection.
    Elsewhere,
}

/// How often a collection may be lost while it is filled before the error is reported.
const LOSSES: usize = 3;

/// Fills a collection until all entries are applied, retrying while the index is unavailable.
pub(super) async fn run(inner: Weak<IndexInner>, state: Arc<CollectionState>) {
    loop {
        let Some(house) = inner.upgrade() else { return };
        state.again.store(false, Ordering::SeqCst);
        let wait = match house.fill(&state, &mut |_, _| {}).await {
            Ok(SyncOutcome::Done) => {
                state.running.store(false, Ordering::SeqCst);
                // A wake-up between the last read of the ledger and here must not be lost.
                if !state.again.load(Ordering::SeqCst) || state.running.swap(true, Ordering::SeqCst) {
                    return;
                }
                continue;
            }
            Ok(SyncOutcome::Elsewhere) => LOOK_AGAIN,
            Err(Error::IndexRefused { problem, .. }) => {
                // Only the operator can change that, so it is tried again when someone asks or writes.
                if state.refused().replace(problem.clone()).as_ref() != Some(&problem) {
                    tracing::warn!(problem, space = %state.key.space, "the vector index refuses a collection");
                }
                state.moved.send_modify(|times| *times += 1);
                state.running.store(false, Ordering::SeqCst);
                return;
            }
            Err(error) => {
                tracing::debug!(%error, space = %state.key.space, "the vector index is filled later");
                // Queries that wait for the mark are notified that filling failed.
                state.moved.send_modify(|times| *times += 1);
                house.breaker.wait()
            }
        };
        drop(house);
        // A nudge means that the index is reachable again and ends the wait early.
        let _ = tokio::time::timeout(wait, state.nudge.notified()).await;
    }
}

impl IndexInner {
    /// Applies all entries after the mark. `progress` receives the sequence number reached and the last one.
    async fn fill(
        self: &Arc<Self>,
        state: &CollectionState,
        progress: &mut (dyn FnMut(i64, i64) + Send),
    ) -> Result<SyncOutcome> {
        self.probe().await?;
        let _filling = state.filling.lock().await;
        let known = self.feed(state, 0, 0).await?;
        let Some(dimensions) = known.dimensions else {
            state.checked.store(known.end, Ordering::SeqCst);
            return Ok(SyncOutcome::Done);
        };
        let collection = state.collection(dimensions);
        if !self.take(&collection).await? {
            state.set_mark(self.ask(self.index.position(&collection)).await?);
            return Ok(SyncOutcome::Elsewhere);
        }
        let outcome = self.tell(state, &collection, progress).await;
        if self.index.shared() {
            let (tenant, name) = (&collection.tenant, self.lease_name(&collection));
            self.store.lease(tenant, &name, &self.holder, (self.oversight.now)(), Duration::ZERO).await?;
        }
        outcome?;
        *state.refused() = None;
        Ok(SyncOutcome::Done)
    }

    async fn tell(
        self: &Arc<Self>,
        state: &CollectionState,
        collection: &Collection,
        progress: &mut (dyn FnMut(i64, i64) + Send),
    ) -> Result<()> {
        let found = self.ask(self.index.position(collection)).await?;
        if found.is_none() {
            self.ask(self.index.prepare(collection)).await?;
        }
        let (mut mark, mut losses) = (found.unwrap_or_default(), 0);
        loop {
            let feed = self.feed(state, mark.sequence, self.options.page).await?;
            if feed.since != mark.at {
                tracing::warn!(space = %state.key.space, "the vector index knows another ledger and is filled again");
                self.ask(self.index.remove(collection)).await?;
                self.ask(self.index.prepare(collection)).await?;
                mark = Mark::default();
                state.set_mark(Some(mark));
                continue;
            }
            if feed.position == mark.sequence {
                state.set_mark(Some(mark));
                return Ok(());
            }
            let next = Mark { sequence: feed.position, at: feed.until };
            let end = feed.end;
            let sent = async {
                self.deliver(collection, feed).await?;
                self.index.advance(collection, next).await
            };
            let outcome = self.ask(sent).await;
            // An index that does not answer is not asked once more.
            if outcome.is_err()
                && self.breaker.problem().is_none()
                && losses < LOSSES
                && let Some(position) = self.lost(collection, mark).await
            {
                losses += 1;
                self.ask(self.index.prepare(collection)).await?;
                mark = position;
                state.set_mark(Some(mark));
                continue;
            }
            outcome?;
            mark = next;
            state.set_mark(Some(mark));
            progress(mark.sequence, end);
            // Another process has the lease; going on could overwrite newer states with older ones.
            if !self.take(collection).await? {
                return Ok(());
            }
        }
    }

    /// The current mark of a collection if it is lower than `had`: the collection was deleted or emptied.
    pub(super) async fn lost(&self, collection: &Collection, had: Mark) -> Option<Mark> {
        match self.index.position(collection).await {
            Ok(None) => Some(Mark::default()),
            Ok(Some(position)) if position.sequence < had.sequence => Some(position),
            _ => None,
        }
    }

    /// Sends one page to the index. Idempotent.
    async fn deliver(&self, collection: &Collection, feed: VectorFeed) -> Result<()> {
        let (points, silent): (Vec<VectorPoint>, Vec<VectorPoint>) =
            feed.points.into_iter().partition(|point| point.direction().is_some());
        let gone: Vec<MemoryId> = feed.gone.into_iter().chain(silent.iter().map(|point| point.memory.id)).collect();
        if !points.is_empty() {
            self.index.upsert(collection, &points).await?;
        }
        if !gone.is_empty() {
            self.index.delete(collection, &gone).await?;
        }
        Ok(())
    }

    /// The ledger entries of a collection's space after a sequence number.
    pub(super) async fn feed(&self, state: &CollectionState, after: i64, limit: usize) -> Result<VectorFeed> {
        let whole = (self.oversight.whole)(&state.key.tenant);
        self.store.vector_feed(&whole, &state.key.space, &state.key.model, after, limit).await
    }

    /// Takes or renews the lease for filling a collection.
    async fn take(&self, collection: &Collection) -> Result<bool> {
        if !self.index.shared() {
            return Ok(true);
        }
        let (name, now) = (self.lease_name(collection), (self.oversight.now)());
        self.store.lease(&collection.tenant, &name, &self.holder, now, self.options.lease).await
    }

    fn lease_name(&self, collection: &Collection) -> String {
        // Spaces that share a collection have separate leases.
        let name = format!("{} {}", self.index.collection_name(collection), collection.space);
        // The name becomes a file name, so it is hashed to keep it short.
        format!("vectors-{:016x}", loci_types::fnv1a(name.as_bytes()))
    }

    /// Removes a collection and fills it again from the first entry.
    pub(super) async fn refill(
        self: &Arc<Self>,
        state: &CollectionState,
        progress: &mut (dyn FnMut(i64, i64) + Send),
    ) -> Result<()> {
        {
            let _filling = state.filling.lock().await;
            let dimensions = self.feed(state, 0, 0).await?.dimensions.unwrap_or_default();
            self.ask(self.index.remove(&state.collection(dimensions))).await?;
            state.set_mark(None);
        }
        self.catch_up_with(state, progress).await
    }

    /// Fills a collection until all entries are applied; fails if the index is unavailable.
    pub(super) async fn catch_up(self: &Arc<Self>, state: &CollectionState) -> Result<()> {
        self.catch_up_with(state, &mut |_, _| {}).await
    }

    async fn catch_up_with(
        self: &Arc<Self>,
        state: &CollectionState,
        progress: &mut (dyn FnMut(i64, i64) + Send),
    ) -> Result<()> {
        while let SyncOutcome::Elsewhere = self.fill(state, progress).await? {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }
}
