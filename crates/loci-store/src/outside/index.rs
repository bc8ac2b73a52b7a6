//! What must an outside vector index do?

use async_trait::async_trait;
use loci_types::{MemoryId, Space, State, Tenant};

use super::point::VectorPoint;
use crate::Result;

/// The vectors of one space by one model: what one collection of an index holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Collection {
    /// Whose.
    pub tenant: Tenant,
    /// Which space.
    pub space: Space,
    /// The model that made the vectors.
    pub model: String,
    /// How many dimensions they have.
    pub dimensions: usize,
}

/// How far a collection has read the ledger of its space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark {
    /// The number of the last line; 0: none.
    pub sequence: i64,
    /// When that line was written, in microseconds. A ledger in which it says otherwise is another one: the space was
    /// dropped and came anew, or was brought back from a backup.
    pub at: Option<i64>,
}

/// Which points are wanted. An index may leave out what is not wanted and must not leave out what is; what it cannot
/// judge it lets pass, because the store judges everything again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointFilter {
    /// Only of these scopes, by their keys; none: of all.
    pub scopes: Option<Vec<String>>,
    /// Only in one of these states.
    pub states: Vec<State>,
    /// Only those that nothing has replaced.
    pub heads_only: bool,
    /// Only of these kinds; empty: of all.
    pub kinds: Vec<String>,
    /// Only with one of these tags; empty: whatever tags they have.
    pub tags: Vec<String>,
    /// Only of these users; empty: of all.
    pub users: Vec<String>,
}

/// An index of vectors beside the store.
///
/// Every call ends within a bounded time. What fails because the index cannot be reached, or cannot do it now, is
/// [`Error::Unavailable`](crate::Error::Unavailable).
#[async_trait]
pub trait VectorIndex: Send + Sync {
    /// What it is called: `qdrant`, `local`.
    fn name(&self) -> &'static str;

    /// Whether other processes see the same collections; then only one fills a collection at a time.
    fn shared(&self) -> bool;

    /// The name under which a collection lies there.
    fn collection_name(&self, collection: &Collection) -> String;

    /// The version of whatever answers.
    async fn version(&self) -> Result<String>;

    /// Whether it can be asked now.
    async fn health(&self) -> Result<()>;

    /// How far this collection has read; none if it is not there, was emptied, or holds vectors of another model.
    async fn position(&self, collection: &Collection) -> Result<Option<Mark>>;

    /// Makes an empty collection that has read nothing. Repeating it is harmless.
    async fn prepare(&self, collection: &Collection) -> Result<()>;

    /// Takes up these points in place of older ones of the same memories. They have a direction. When it returns,
    /// they are found.
    async fn upsert(&self, collection: &Collection, points: &[VectorPoint]) -> Result<()>;

    /// Lets go of these memories; those that are not there do not matter.
    async fn delete(&self, collection: &Collection, ids: &[MemoryId]) -> Result<()>;

    /// Remembers, in the collection itself, how far it has read.
    async fn advance(&self, collection: &Collection, mark: Mark) -> Result<()>;

    /// About the nearest `limit` of the wanted points, best first; none if there is no such collection.
    async fn search(
        &self,
        collection: &Collection,
        wanted: &PointFilter,
        query: &[f32],
        limit: usize,
    ) -> Result<Option<Vec<(MemoryId, f32)>>>;

    /// How many points a collection has; none if there is no such collection.
    async fn count(&self, collection: &Collection) -> Result<Option<u64>>;

    /// One page of the points of a collection after an id, in the order of the ids, with their stamps.
    async fn ids(
        &self,
        collection: &Collection,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<(MemoryId, Option<u64>)>>;

    /// Removes a collection with everything in it; one that is not there is removed already.
    async fn remove(&self, collection: &Collection) -> Result<()>;
}
