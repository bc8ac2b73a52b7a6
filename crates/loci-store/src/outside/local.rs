//! A vector index in the memory of this process.
//!
//! It uses the same arrays as the SQLite store, for a store without vector search of its own. It is filled from the
//! ledger when a space is first queried; points and marks are lost when the process ends.

use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock};

use async_trait::async_trait;
use loci_types::{MemoryId, State};

use super::index::{Collection, Mark, PointFilter, VectorIndex};
use super::point::VectorPoint;
use crate::vectors::{Arrays, Query};
use crate::{Error, Result};

/// An index in the memory of this process.
#[derive(Default)]
pub struct LocalIndex {
    collections: RwLock<HashMap<String, LocalCollection>>,
}

struct LocalCollection {
    mark: Mark,
    dimensions: usize,
    /// Vectors by scope, so that a query scans only visible scopes.
    arrays: HashMap<String, Arrays>,
    /// Array keys by memory.
    points: BTreeMap<MemoryId, i64>,
    about: HashMap<i64, PointInfo>,
    next: i64,
}

/// The payload of a point.
struct PointInfo {
    id: MemoryId,
    scope: String,
    state: State,
    replaced: bool,
    stamp: u64,
}

impl LocalCollection {
    fn new(dimensions: usize) -> Self {
        let (points, about) = (BTreeMap::new(), HashMap::new());
        Self { mark: Mark::default(), dimensions, arrays: HashMap::new(), points, about, next: 0 }
    }

    fn remove(&mut self, id: MemoryId) {
        let Some(key) = self.points.remove(&id) else { return };
        if let Some(about) = self.about.remove(&key)
            && let Some(arrays) = self.arrays.get_mut(&about.scope)
        {
            arrays.remove(key);
        }
    }

    fn insert(&mut self, point: &VectorPoint) {
        let memory = &point.memory;
        self.remove(memory.id);
        self.next += 1;
        self.points.insert(memory.id, self.next);
        let about = PointInfo {
            id: memory.id,
            scope: point.scope.clone(),
            state: memory.state,
            replaced: memory.superseded_by_id.is_some(),
            stamp: point.stamp(),
        };
        self.about.insert(self.next, about);
        let dimensions = self.dimensions;
        let arrays = self.arrays.entry(point.scope.clone()).or_insert_with(|| Arrays::new(dimensions));
        arrays.insert(self.next, &point.values);
    }

    fn search(&self, wanted: &PointFilter, query: &Query, limit: usize) -> Vec<(MemoryId, f32)> {
        let keep = |key: i64| {
            let about = self.about.get(&key);
            about.is_some_and(|about| wanted.states.contains(&about.state) && !(wanted.heads_only && about.replaced))
        };
        let arrays: Vec<&Arrays> = match &wanted.scopes {
            Some(scopes) => scopes.iter().filter_map(|scope| self.arrays.get(scope)).collect(),
            None => self.arrays.values().collect(),
        };
        let found = arrays.iter().flat_map(|arrays| arrays.nearest(query, limit, &keep));
        let mut found: Vec<(MemoryId, f32)> =
            found.filter_map(|near| Some((self.about.get(&near.key)?.id, near.similarity))).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.dedup_by_key(|(id, _)| *id);
        found.truncate(limit);
        found
    }
}

impl LocalIndex {
    /// An empty index.
    pub fn new() -> Self {
        Self::default()
    }

    fn read<T>(&self, collection: &Collection, work: impl FnOnce(&LocalCollection) -> T) -> Option<T> {
        let collections = self.collections.read().unwrap_or_else(PoisonError::into_inner);
        collections.get(&self.collection_name(collection)).map(work)
    }

    fn write<T>(&self, collection: &Collection, work: impl FnOnce(&mut LocalCollection) -> T) -> Result<T> {
        let mut collections = self.collections.write().unwrap_or_else(PoisonError::into_inner);
        collections.get_mut(&self.collection_name(collection)).map(work).ok_or_else(|| {
            let problem = format!("no collection for {}", collection.space);
            Error::Unavailable { part: self.name().to_owned(), problem }
        })
    }
}

#[async_trait]
impl VectorIndex for LocalIndex {
    fn name(&self) -> &'static str {
        "local"
    }

    fn shared(&self) -> bool {
        false
    }

    fn collection_name(&self, collection: &Collection) -> String {
        format!("{}~{}~~{}", collection.tenant.name(), collection.space, collection.model)
    }

    async fn version(&self) -> Result<String> {
        Ok(env!("CARGO_PKG_VERSION").to_owned())
    }

    async fn health(&self) -> Result<()> {
        Ok(())
    }

    async fn position(&self, collection: &Collection) -> Result<Option<Mark>> {
        Ok(self.read(collection, |held| held.mark))
    }

    async fn prepare(&self, collection: &Collection) -> Result<()> {
        let mut collections = self.collections.write().unwrap_or_else(PoisonError::into_inner);
        collections.insert(self.collection_name(collection), LocalCollection::new(collection.dimensions));
        Ok(())
    }

    async fn upsert(&self, collection: &Collection, points: &[VectorPoint]) -> Result<()> {
        self.write(collection, |held| points.iter().for_each(|point| held.insert(point)))
    }

    async fn delete(&self, collection: &Collection, ids: &[MemoryId]) -> Result<()> {
        self.write(collection, |held| ids.iter().for_each(|id| held.remove(*id)))
    }

    async fn advance(&self, collection: &Collection, mark: Mark) -> Result<()> {
        self.write(collection, |held| held.mark = mark)
    }

    async fn search(
        &self,
        collection: &Collection,
        wanted: &PointFilter,
        query: &[f32],
        limit: usize,
    ) -> Result<Option<Vec<(MemoryId, f32)>>> {
        let query = Query::new(query);
        Ok(self.read(collection, |held| held.search(wanted, &query, limit)))
    }

    async fn count(&self, collection: &Collection) -> Result<Option<u64>> {
        Ok(self.read(collection, |held| held.points.len() as u64))
    }

    async fn ids(
        &self,
        collection: &Collection,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<(MemoryId, Option<u64>)>> {
        use std::ops::Bound::{Excluded, Unbounded};
        let from = after.map_or(Unbounded, Excluded);
        let page = self.read(collection, |held| {
            let points = held.points.range((from, Unbounded)).take(limit);
            points.map(|(id, key)| (*id, held.about.get(key).map(|about| about.stamp))).collect()
        });
        Ok(page.unwrap_or_default())
    }

    async fn remove(&self, collection: &Collection) -> Result<()> {
        let mut collections = self.collections.write().unwrap_or_else(PoisonError::into_inner);
        collections.remove(&self.collection_name(collection));
        Ok(())
    }
}
