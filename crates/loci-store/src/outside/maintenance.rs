//! Health, verification and rebuilding of an external index.
//!
//! The records of the store are authoritative: an index that differs from them is wrong, and rebuilding it is always
//! safe.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError};

use loci_types::{MemoryId, Space, Tenant};
use serde::Serialize;

use super::index::Collection;
use super::indexed::{CollectionState, IndexInner, Indexed};
use crate::Result;

/// Number of points or ledger entries that are read in one step.
const PAGE_SIZE: usize = 1_000;

/// The status of an index and of its collections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexStatus {
    /// The name of the index.
    pub index: String,
    /// The version of the server; none if it does not answer.
    pub version: Option<String>,
    /// The reason why the index cannot be used; none if it is available.
    pub problem: Option<String>,
    /// Its collections.
    pub collections: Vec<CollectionStatus>,
    /// Collections that this store has written and no longer uses: of agents that were dropped while the index was away, and
    /// of earlier models.
    pub orphans: Vec<String>,
}

/// The health of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexHealth {
    /// The name of the index.
    pub name: &'static str,
    /// The version of the server; none if it does not answer.
    pub version: Option<String>,
    /// The reason why the index cannot be used; none if it is available.
    pub problem: Option<String>,
    /// Number of ledger entries still to be applied, over the collections that this process is filling.
    pub behind: u64,
}

/// The status of one collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionStatus {
    /// Its name in the index.
    pub collection: String,
    /// The space whose vectors it holds.
    pub space: String,
    /// The model that made them.
    pub model: String,
    /// Number of points; none if the collection does not exist or the index does not answer.
    pub points: Option<u64>,
    /// Number of the last ledger entry that was applied.
    pub position: i64,
    /// Number of the last ledger entry of the space.
    pub end: i64,
}

/// The result of comparing a collection with the records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// Its name in the index.
    pub collection: String,
    /// The space whose vectors it holds.
    pub space: String,
    /// The model that made them.
    pub model: String,
    /// Number of memories with a non-zero vector of the model.
    pub records: u64,
    /// Number of points in the collection.
    pub points: u64,
    /// Number of memories without a point.
    pub missing: u64,
    /// Number of points without a memory.
    pub surplus: u64,
    /// Number of points whose vector or payload is out of date.
    pub stale: u64,
    /// Number of points in the collection that Loci did not write. They are left as they are, and are no damage.
    pub foreign: u64,
}

impl Verified {
    /// Whether the collection agrees with the records.
    pub fn is_sound(&self) -> bool {
        self.missing == 0 && self.surplus == 0 && self.stale == 0
    }
}

impl Indexed {
    /// The health of the index. Only collections that this process is filling are examined, so the cost does not depend
    /// on the amount of data.
    pub async fn index_health(&self) -> Result<IndexHealth> {
        let inner = &self.inner;
        let asked = async { tokio::try_join!(inner.index.version(), inner.index.health()) };
        // An index that is known to be away is not waited for.
        let (version, problem) = match inner.ask(asked).await {
            Ok((version, ())) => (Some(version), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let mut behind = 0;
        for state in inner.being_filled() {
            let read = state.mark().unwrap_or_default().sequence;
            behind += inner.feed(&state, read, 0).await?.end.saturating_sub(read).max(0).unsigned_abs();
        }
        Ok(IndexHealth { name: inner.index.name(), version, problem, behind })
    }

    /// The status of every collection of a tenant. An index that does not answer is reported in `problem`, not as an
    /// error.
    pub async fn status(&self, tenant: &Tenant) -> Result<IndexStatus> {
        let inner = &self.inner;
        let version = inner.index.version().await;
        let health = inner.index.health().await;
        let problem = version.as_ref().err().or(health.as_ref().err()).map(ToString::to_string);
        let mut collections = Vec::new();
        for (state, dimensions) in self.collections(tenant).await? {
            let collection = state.collection(dimensions);
            let end = inner.feed(&state, 0, 0).await?.end;
            let position = inner.index.position(&collection).await.ok().flatten().unwrap_or_default();
            collections.push(CollectionStatus {
                collection: inner.index.collection_name(&collection),
                space: state.key.space.name(),
                model: state.key.model.clone(),
                points: inner.index.count(&collection).await.ok().flatten(),
                position: position.sequence,
                end,
            });
        }
        let orphans = if problem.is_none() { self.orphans().await? } else { Vec::new() };
        Ok(IndexStatus { index: inner.index.name().to_owned(), version: version.ok(), problem, collections, orphans })
    }

    /// Brings every collection up to date and compares it with the records. Concurrent writes may appear as
    /// differences.
    /// `progress` receives the name of a collection, the ledger entry reached and the last entry.
    pub async fn verify(
        &self,
        tenant: &Tenant,
        mut progress: impl FnMut(&str, i64, i64) + Send,
    ) -> Result<Vec<Verified>> {
        let mut found = Vec::new();
        for (state, dimensions) in self.collections(tenant).await? {
            let name = self.inner.index.collection_name(&state.collection(dimensions));
            self.inner.catch_up(&state).await?;
            let records = self.records(&state, |line, end| progress(&name, line, end)).await?;
            found.push(self.compare(&state, dimensions, name, records).await?);
        }
        Ok(found)
    }

    /// Removes every collection and fills it again from the records. Returns the number of collections. `progress`
    /// receives the name of a collection, the ledger entry reached and the last entry.
    pub async fn rebuild(&self, tenant: &Tenant, mut progress: impl FnMut(&str, i64, i64) + Send) -> Result<u64> {
        let mut done = 0;
        for (state, dimensions) in self.collections(tenant).await? {
            let name = self.inner.index.collection_name(&state.collection(dimensions));
            self.inner.refill(&state, &mut |line, end| progress(&name, line, end)).await?;
            done += 1;
        }
        Ok(done)
    }

    /// The collections that this store has written, of all tenants, and no longer uses.
    async fn orphans(&self) -> Result<Vec<String>> {
        let mut expected = BTreeSet::new();
        for tenant in self.inner.store.tenants().await? {
            for (state, dimensions) in self.collections(&tenant).await? {
                expected.insert(self.inner.index.collection_name(&state.collection(dimensions)));
            }
        }
        self.inner.index.orphans(&expected).await
    }

    /// Removes the collections that this store no longer uses. Returns their names.
    pub async fn sweep(&self) -> Result<Vec<String>> {
        let orphans = self.orphans().await?;
        for name in &orphans {
            self.inner.ask(self.inner.index.remove_orphan(name)).await?;
        }
        Ok(orphans)
    }

    /// Applies all changes of a space to its collections, or fills them again if `refill`. Returns the problem if the index
    /// does not have everything.
    pub async fn catch_up_space(&self, tenant: &Tenant, space: &Space, refill: bool) -> Result<()> {
        let inner = &self.inner;
        for model in inner.store.model_names(&(inner.oversight.whole)(tenant)).await? {
            inner.state(tenant, space, &model);
        }
        for state in inner.collections_of(tenant, space) {
            match refill {
                true => inner.refill(&state, &mut |_, _| {}).await?,
                false => inner.catch_up(&state).await?,
            }
        }
        Ok(())
    }

    /// The collections that a tenant should have, with their dimensions.
    async fn collections(&self, tenant: &Tenant) -> Result<Vec<(Arc<CollectionState>, usize)>> {
        let inner = &self.inner;
        let models = inner.store.model_names(&(inner.oversight.whole)(tenant)).await?;
        let mut collections = Vec::new();
        for space in inner.store.spaces(tenant).await? {
            for model in &models {
                let state = inner.state(tenant, &space, model);
                if let Some(dimensions) = inner.feed(&state, 0, 0).await?.dimensions {
                    collections.push((state, dimensions));
                }
            }
        }
        Ok(collections)
    }

    /// The stamps of all points that a collection should hold.
    async fn records(
        &self,
        state: &CollectionState,
        mut progress: impl FnMut(i64, i64) + Send,
    ) -> Result<HashMap<MemoryId, u64>> {
        let (mut records, mut after) = (HashMap::new(), 0);
        loop {
            let feed = self.inner.feed(state, after, PAGE_SIZE).await?;
            for point in &feed.points {
                match point.direction() {
                    Some(_) => drop(records.insert(point.memory.id, point.stamp())),
                    None => drop(records.remove(&point.memory.id)),
                }
            }
            for id in &feed.gone {
                records.remove(id);
            }
            progress(feed.position, feed.end);
            if !feed.behind() {
                return Ok(records);
            }
            after = feed.position;
        }
    }

    async fn compare(
        &self,
        state: &CollectionState,
        dimensions: usize,
        name: String,
        mut records: HashMap<MemoryId, u64>,
    ) -> Result<Verified> {
        let collection = state.collection(dimensions);
        let mut report = Verified {
            collection: name,
            space: state.key.space.name(),
            model: state.key.model.clone(),
            records: records.len() as u64,
            ..Verified::default()
        };
        let mut after = None;
        loop {
            let page = self.inner.ask(self.inner.index.ids(&collection, after, PAGE_SIZE)).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(*last);
            for (id, stamp) in page {
                report.points += 1;
                match records.remove(&id) {
                    None => report.surplus += 1,
                    Some(record) if stamp != Some(record) => report.stale += 1,
                    Some(_) => {}
                }
            }
        }
        report.missing = records.len() as u64;
        report.foreign = self.inner.ask(self.inner.index.foreign(&collection)).await?;
        Ok(report)
    }
}

impl IndexInner {
    /// Fills a collection again if it has lost points.
    pub(super) async fn mend_lost(self: &Arc<Self>, state: &CollectionState, collection: &Collection) -> Result<()> {
        self.catch_up(state).await?;
        let whole = (self.oversight.whole)(&state.key.tenant);
        let known = state.mark().unwrap_or_default().sequence;
        let vectors = self.store.vector_count(&whole, &state.key.space, &state.key.model).await?;
        let points = self.ask(self.index.count(collection)).await?.unwrap_or(0);
        let lacking = vectors.saturating_sub(points);
        let usual = state.counted.lock().unwrap_or_else(PoisonError::into_inner).1;
        // Counts that others change meanwhile cannot be compared.
        let unchanged = self.feed(state, known, 0).await?.end == known;
        if lacking <= usual || !unchanged {
            return Ok(());
        }
        tracing::warn!(space = %state.key.space, vectors, points, "the vector index has lost points and is filled again");
        self.refill(state, &mut |_, _| {}).await?;
        // Vectors without a direction have no point, and are no loss.
        let points = self.ask(self.index.count(collection)).await?.unwrap_or(0);
        state.counted.lock().unwrap_or_else(PoisonError::into_inner).1 = vectors.saturating_sub(points);
        Ok(())
    }
}
