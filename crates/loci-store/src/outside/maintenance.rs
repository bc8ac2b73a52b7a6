//! Is the index what it should be, and how is it made anew?
//!
//! For those who look after the store. The records are the truth: an index that differs from them is wrong, and
//! filling it anew is always safe.

use std::collections::HashMap;
use std::sync::Arc;

use loci_types::{MemoryId, Tenant};
use serde::Serialize;

use super::indexed::{CollectionState, Indexed};
use crate::Result;

/// So many points or lines are looked at in one step.
const AT_ONCE: usize = 1_000;

/// What there is of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexStatus {
    /// What it is called.
    pub index: String,
    /// The version of whatever answers; none if nothing does.
    pub version: Option<String>,
    /// What is wrong with it; none: it answers.
    pub problem: Option<String>,
    /// Its collections.
    pub collections: Vec<CollectionStatus>,
}

/// How an index is, without looking into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexHealth {
    /// What it is called.
    pub name: &'static str,
    /// The version of whatever answers; none if nothing does.
    pub version: Option<String>,
    /// What is wrong with it; none: it answers.
    pub problem: Option<String>,
    /// How many lines of the ledger it has still to read, in the collections that this process is filling.
    pub behind: u64,
}

/// What there is of one collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionStatus {
    /// Its name in the index.
    pub collection: String,
    /// The space whose vectors it holds.
    pub space: String,
    /// The model that made them.
    pub model: String,
    /// How many points it has; none: it is not there, or cannot be asked.
    pub points: Option<u64>,
    /// The last line of the ledger that it has read.
    pub position: i64,
    /// The last line that there is.
    pub end: i64,
}

/// How a collection differs from the records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// Its name in the index.
    pub collection: String,
    /// The space whose vectors it holds.
    pub space: String,
    /// The model that made them.
    pub model: String,
    /// How many memories have such a vector with a direction.
    pub records: u64,
    /// How many points the collection has.
    pub points: u64,
    /// Memories without a point.
    pub missing: u64,
    /// Points without a memory.
    pub surplus: u64,
    /// Points that tell of their memory what no longer holds.
    pub stale: u64,
}

impl Verified {
    /// Whether nothing differs.
    pub fn is_sound(&self) -> bool {
        self.missing == 0 && self.surplus == 0 && self.stale == 0
    }
}

impl Indexed {
    /// How it is. Costs little however much there is: only collections that are being filled are looked at.
    pub async fn index_health(&self) -> Result<IndexHealth> {
        let inner = &self.inner;
        let (version, health) = tokio::join!(inner.index.version(), inner.index.health());
        let problem = version.as_ref().err().or(health.as_ref().err()).map(ToString::to_string);
        let mut behind = 0;
        for state in inner.being_filled() {
            let read = state.mark().unwrap_or_default().sequence;
            behind += inner.feed(&state, read, 0).await?.end.saturating_sub(read).max(0).unsigned_abs();
        }
        Ok(IndexHealth { name: inner.index.name(), version: version.ok(), problem, behind })
    }

    /// What there is, and how far each collection is behind. An index that is away is told of, not an error.
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
        Ok(IndexStatus { index: inner.index.name().to_owned(), version: version.ok(), problem, collections })
    }

    /// Compares every collection with the records, once it has caught up. Whatever is written meanwhile may count as
    /// a difference.
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

    /// Drops every collection and fills it from the records. `progress` hears its name, the line reached, the last.
    pub async fn rebuild(&self, tenant: &Tenant, mut progress: impl FnMut(&str, i64, i64) + Send) -> Result<u64> {
        let mut done = 0;
        for (state, dimensions) in self.collections(tenant).await? {
            let name = self.inner.index.collection_name(&state.collection(dimensions));
            self.inner.refill(&state, &mut |line, end| progress(&name, line, end)).await?;
            done += 1;
        }
        Ok(done)
    }

    /// The collections that a tenant has or should have, with their dimensions.
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

    /// The stamps of everything that a collection should hold.
    async fn records(
        &self,
        state: &CollectionState,
        mut progress: impl FnMut(i64, i64) + Send,
    ) -> Result<HashMap<MemoryId, u64>> {
        let (mut records, mut after) = (HashMap::new(), 0);
        loop {
            let feed = self.inner.feed(state, after, AT_ONCE).await?;
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
        let mut told = Verified {
            collection: name,
            space: state.key.space.name(),
            model: state.key.model.clone(),
            records: records.len() as u64,
            ..Verified::default()
        };
        let mut after = None;
        loop {
            let page = self.inner.record(self.inner.index.ids(&collection, after, AT_ONCE).await)?;
            let Some((last, _)) = page.last() else { break };
            after = Some(*last);
            for (id, stamp) in page {
                told.points += 1;
                match records.remove(&id) {
                    None => told.surplus += 1,
                    Some(record) if stamp != Some(record) => told.stale += 1,
                    Some(_) => {}
                }
            }
        }
        told.missing = records.len() as u64;
        Ok(told)
    }
}
