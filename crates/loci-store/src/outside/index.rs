//! The interface of an external vector index.

use std::collections::BTreeSet;

use async_trait::async_trait;
use loci_types::{MemoryId, Space, State, Tenant};

use super::point::VectorPoint;
use crate::Result;

/// Identifies a collection: the vectors of one space by one model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Collection {
    /// The tenant.
    pub tenant: Tenant,
    /// The space.
    pub space: Space,
    /// The model that made the vectors.
    pub model: String,
    /// Number of dimensions of the vectors.
    pub dimensions: usize,
}

/// The last ledger entry of its space that a collection has applied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark {
    /// The number of the entry; 0 if none was applied.
    pub sequence: i64,
    /// When the entry was written, in microseconds. If the ledger has another time at this number, it is another
    /// ledger: the space was dropped and created again, or restored from a backup.
    pub at: Option<i64>,
}

/// A condition on points. An index must return every point that matches and may return others, because the store
/// applies the whole filter again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointFilter {
    /// Keys of the scopes; all scopes if none.
    pub scopes: Option<Vec<String>>,
    /// Allowed states.
    pub states: Vec<State>,
    /// Whether superseded memories are excluded.
    pub heads_only: bool,
    /// Allowed kinds; all if empty.
    pub kinds: Vec<String>,
    /// Tags of which a memory must have at least one; any tags if empty.
    pub tags: Vec<String>,
    /// Allowed user ids; all if empty.
    pub users: Vec<String>,
}

/// A vector index outside the store.
///
/// Every call ends within a bounded time. A call fails with [`Error::Unavailable`](crate::Error::Unavailable) if the
/// index cannot be reached or cannot serve it now, with [`Error::IndexRefused`](crate::Error::IndexRefused) if it
/// answers but refuses this call, and a write with [`Error::IndexLost`](crate::Error::IndexLost) if its collection is
/// gone. That is not an outage: other calls are still made.
///
/// **Invariant: an index never deletes points that Loci did not write, and never those of another store.**
#[async_trait]
pub trait VectorIndex: Send + Sync {
    /// The name of the index: `qdrant`, `pgvector` or `local`.
    fn name(&self) -> &'static str;

    /// Whether other processes use the same collections. If so, a lease lets one process fill a collection at a time.
    fn shared(&self) -> bool;

    /// The name of a collection in the index.
    fn collection_name(&self, collection: &Collection) -> String;

    /// The version of the server.
    async fn version(&self) -> Result<String>;

    /// Fails if the index cannot be queried now.
    async fn health(&self) -> Result<()>;

    /// The mark of a collection; none if it does not exist, was emptied, or holds vectors of another model.
    async fn position(&self, collection: &Collection) -> Result<Option<Mark>>;

    /// Creates an empty collection with mark 0. Idempotent.
    async fn prepare(&self, collection: &Collection) -> Result<()>;

    /// Inserts points, replacing those of the same memories. Every vector has a direction. The points can be found when
    /// the call returns.
    async fn upsert(&self, collection: &Collection, points: &[VectorPoint]) -> Result<()>;

    /// Removes the points of these memories. Missing points are no error.
    async fn delete(&self, collection: &Collection, ids: &[MemoryId]) -> Result<()>;

    /// Stores the mark in the collection itself.
    async fn advance(&self, collection: &Collection, mark: Mark) -> Result<()>;

    /// Maximum number of points that one search returns, as far as is known.
    fn most(&self) -> usize {
        usize::MAX
    }

    /// Approximately the nearest `limit` matching points, best first; none if the collection does not exist.
    async fn search(
        &self,
        collection: &Collection,
        wanted: &PointFilter,
        query: &[f32],
        limit: usize,
    ) -> Result<Option<Vec<(MemoryId, f32)>>>;

    /// Number of points of a collection that Loci wrote; none if it does not exist.
    async fn count(&self, collection: &Collection) -> Result<Option<u64>>;

    /// Number of points in a collection that Loci did not write.
    async fn foreign(&self, _collection: &Collection) -> Result<u64> {
        Ok(0)
    }

    /// A page of the points of a collection after an id, in the order of their ids, with their stamps.
    async fn ids(
        &self,
        collection: &Collection,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<(MemoryId, Option<u64>)>>;

    /// Removes a collection with all points of it that Loci wrote. Idempotent.
    async fn remove(&self, collection: &Collection) -> Result<()>;

    /// The names of collections that this store has written and that are not among `expected`.
    async fn orphans(&self, _expected: &BTreeSet<String>) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Removes a collection that [`Self::orphans`] has named.
    async fn remove_orphan(&self, _name: &str) -> Result<()> {
        Ok(())
    }
}
