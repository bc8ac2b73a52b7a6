//! Writing and reading the records of a [`Store`](super::Store).
//!
//! **Invariant.** Every change of a memory is a [`Batch`] given to [`Records::apply`], and every read takes a
//! [`Visible`].

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{
    Batch, Checkpoint, CheckpointFilter, CheckpointThread, Edge, Entity, EntityId, Fact, FactFilter, Filter, IdRange,
    Memory, MemoryId, Outcome, PendingWrite, Relation, Scope, Session, SessionFilter, Space, Vector, Visible,
};

use super::Hit;
use crate::{Cursor, Result};

/// Memories with their links, entities, facts, sessions, checkpoints and notes.
#[async_trait]
pub trait Records: Send + Sync {
    /// Applies all changes of the batch in one transaction, or none of them. When it returns, they are durable. Returns
    /// one outcome per change, in order.
    async fn apply(&self, batch: Batch) -> Result<Vec<Applied>>;

    /// The visible memories with these ids, in the order of the ids, in any state.
    async fn fetch(&self, visible: &Visible, ids: &[MemoryId]) -> Result<Vec<Memory>>;

    /// The ids of the visible memories, in any state, that are in one of these ranges, oldest first.
    async fn ids_within(&self, visible: &Visible, ranges: &[IdRange], limit: usize) -> Result<Vec<MemoryId>>;

    /// One page of the visible memories that match the filter, newest first.
    async fn scan(&self, visible: &Visible, filter: &Filter, page: Page) -> Result<Listing>;

    /// The number of visible memories that match the filter.
    async fn count(&self, visible: &Visible, filter: &Filter) -> Result<u64>;

    /// The vectors of these memories by this model. Memories without one are left out.
    async fn vectors(&self, visible: &Visible, model: &str, ids: &[MemoryId]) -> Result<Vec<(MemoryId, Vector)>>;

    /// The edges from or to these memories, of these relations, or of all if empty. Both ends are visible and match the
    /// filter.
    async fn edges(
        &self,
        visible: &Visible,
        filter: &Filter,
        ids: &[MemoryId],
        relations: &[Relation],
    ) -> Result<Vec<Edge>>;

    /// The first memories by a measure, which is their score.
    async fn top_by(&self, visible: &Visible, filter: &Filter, by: Measure, limit: usize) -> Result<Vec<Hit>>;

    /// The entities that match the query and that a visible memory mentions. Names and aliases are compared without
    /// case; [`EntityQuery::Known`] returns the most mentioned first.
    async fn entities(&self, visible: &Visible, query: &EntityQuery, limit: usize) -> Result<Vec<Entity>>;

    /// The entities whose vectors are nearest, with their cosines, nearest first. Entities without a vector of the same
    /// model are left out.
    async fn nearest_entities(&self, visible: &Visible, vector: &Vector, limit: usize) -> Result<Vec<(Entity, f64)>>;

    /// The memories that mention these entities: those that mention most of them first, then the newest. The score is
    /// the share of the entities that a memory mentions.
    async fn memories_mentioning(
        &self,
        visible: &Visible,
        filter: &Filter,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<Hit>>;

    /// The newest memory of a thread within one visible scope.
    async fn last_of_thread(&self, visible: &Visible, scope: &Scope, thread: &str) -> Result<Option<Memory>>;

    /// The visible sessions that match the filter, the longest inactive first.
    async fn sessions(&self, visible: &Visible, filter: &SessionFilter, limit: usize) -> Result<Vec<Session>>;

    /// The visible turns of a session that were not consolidated yet, in their order.
    async fn pending_turns(&self, visible: &Visible, scope: &Scope, session: &str, limit: usize)
    -> Result<Vec<Memory>>;

    /// The unexpired notes of a space with these keys: those of visible scopes, and those without a scope if the caller
    /// sees the whole space.
    async fn notes(
        &self,
        visible: &Visible,
        space: &Space,
        keys: &[String],
        now: Timestamp,
    ) -> Result<Vec<(String, serde_json::Value)>>;

    /// The triples of the visible scopes that match the filter, highest confidence first, then most recently changed.
    ///
    /// A triple with sources is returned if at least one source is visible and valid. A triple without sources is
    /// returned to callers who see every category. Invisible sources are left out; if there are any, so are the
    /// metadata.
    async fn facts(&self, visible: &Visible, filter: &FactFilter, limit: usize) -> Result<Vec<Fact>>;

    /// The checkpoints of one visible scope that match the filter, newest first, or the newest of them with its
    /// ancestors. The ancestors end at a missing parent.
    async fn checkpoints(
        &self,
        visible: &Visible,
        filter: &CheckpointFilter,
        walk: CheckpointWalk,
        limit: usize,
    ) -> Result<Vec<KeptCheckpoint>>;

    /// The threads of one visible scope that have checkpoints, most recently changed first.
    async fn checkpoint_threads(&self, visible: &Visible, scope: &Scope, limit: usize)
    -> Result<Vec<CheckpointThread>>;
}

/// The result of one change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// The memory that was changed, if any.
    pub id: Option<MemoryId>,
    /// The outcome.
    pub outcome: Outcome,
    /// The memory's new version; for removed checkpoints their number.
    pub version: u64,
    /// The number of the ledger entry, if one was added.
    pub sequence: Option<i64>,
}

/// Selects entities of the visible scopes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntityFilter {
    /// Minimum number of mentions.
    pub mentions_min: u64,
    /// Whether only entities without a summary are selected.
    pub without_summary: bool,
    /// Only entities without a vector of this model are selected.
    pub without_vector_of: Option<String>,
}

/// Selects a page of a listing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The cursor after which the page starts; none for the first page.
    pub after: Option<Cursor>,
    /// Maximum number of memories.
    pub limit: usize,
}

/// One page of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The memories, newest first.
    pub memories: Vec<Memory>,
    /// The cursor of the next page; none on the last page.
    pub next: Option<Cursor>,
    /// Number of memories on all pages.
    pub total: u64,
}

/// An order of memories without a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Newest first; the score is the creation time in seconds.
    Newest,
    /// Most important first, then newest; the score is the importance.
    Importance,
    /// Memories without a vector among the newest 256 of each scope, newest first.
    Unembedded,
}

/// A checkpoint with its pending writes, by task and position.
pub type KeptCheckpoint = (Checkpoint, Vec<PendingWrite>);

/// Selects entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntityQuery {
    /// Entities with one of these names or aliases.
    Named(Vec<String>),
    /// Entities of the visible scopes that match the filter.
    Known(EntityFilter),
    /// Entities that this memory mentions.
    MentionedBy(MemoryId),
}

/// The order in which checkpoints are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointWalk {
    /// All matching checkpoints, newest first.
    Newest,
    /// The newest matching checkpoint, then its parent, and so on.
    Ancestors,
}
