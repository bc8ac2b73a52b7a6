//! A part of a [`Store`](super::Store): what is written, and what is read back of it by name.
//!
//! **Invariant.** Everything that changes a memory is a [`Batch`] given to [`Records::apply`]; every read carries a
//! [`Visible`].

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{
    Batch, Checkpoint, CheckpointFilter, CheckpointThread, Edge, Entity, EntityId, Fact, FactFilter, Filter, Memory,
    MemoryId, Outcome, PendingWrite, Relation, Scope, Session, SessionFilter, Space, Vector, Visible,
};

use super::Hit;
use crate::{Cursor, Result};

/// Memories and what belongs to them: links, entities, facts, sessions, checkpoints, notes.
#[async_trait]
pub trait Records: Send + Sync {
    /// Applies all changes of the batch in one transaction, or none of them. When it returns, they
    /// survive the loss of power. One outcome per change, in order.
    async fn apply(&self, batch: Batch) -> Result<Vec<Applied>>;

    /// The memories with these ids that are visible, in the order asked, in whatever state.
    async fn fetch(&self, visible: &Visible, ids: &[MemoryId]) -> Result<Vec<Memory>>;

    /// One page of the memories that are visible and meant, newest first.
    async fn scan(&self, visible: &Visible, filter: &Filter, page: Page) -> Result<Listing>;

    /// The vectors of these memories made by this model; a memory without one is left out.
    async fn vectors(&self, visible: &Visible, model: &str, ids: &[MemoryId]) -> Result<Vec<(MemoryId, Vector)>>;

    /// The edges that start or end at one of these memories, of these relations or, if none is
    /// given, of all. Both ends are visible and meant.
    async fn edges(
        &self,
        visible: &Visible,
        filter: &Filter,
        ids: &[MemoryId],
        relations: &[Relation],
    ) -> Result<Vec<Edge>>;

    /// The newest or the most important memories, first ones first, scored by that measure.
    async fn top_by(&self, visible: &Visible, filter: &Filter, by: Measure, limit: usize) -> Result<Vec<Hit>>;

    /// The entities that match and that a visible memory mentions. Named ones are found by name or alias in whatever case;
    /// known ones come with those mentioned most first.
    async fn entities(&self, visible: &Visible, query: &EntityQuery, limit: usize) -> Result<Vec<Entity>>;

    /// The memories that speak of these entities, those that speak of most of them first, then the
    /// newest. The score is the share of the entities.
    async fn memories_mentioning(
        &self,
        visible: &Visible,
        filter: &Filter,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<Hit>>;

    /// The newest memory of a thread within one visible scope.
    async fn last_of_thread(&self, visible: &Visible, scope: &Scope, thread: &str) -> Result<Option<Memory>>;

    /// The visible sessions that are meant, those that were quiet longest first.
    async fn sessions(&self, visible: &Visible, filter: &SessionFilter, limit: usize) -> Result<Vec<Session>>;

    /// The visible turns of a session that were not learned from yet, in the order they came.
    async fn pending_turns(&self, visible: &Visible, scope: &Scope, session: &str, limit: usize)
    -> Result<Vec<Memory>>;

    /// The notes of a space with these names that still count: those about visible scopes, and those
    /// about nobody for whoever sees the whole tenant.
    async fn notes(
        &self,
        visible: &Visible,
        space: &Space,
        keys: &[String],
        now: Timestamp,
    ) -> Result<Vec<(String, serde_json::Value)>>;

    /// The triples of the visible scopes that are meant, the surest first, then the latest changed.
    ///
    /// One that was learned from memories is seen by those who see one of them, and is told unless none of those that
    /// they see holds any more. One that stands by itself is seen by those who see every category. Sources that the
    /// reader does not see are left out, and so are metadata that came with them as well.
    async fn facts(&self, visible: &Visible, filter: &FactFilter, limit: usize) -> Result<Vec<Fact>>;

    /// The checkpoints of one visible scope that match the filter, newest first, or the newest of them with its ancestors. A
    /// line of ancestors ends where a parent is not there (any more).
    async fn checkpoints(
        &self,
        visible: &Visible,
        filter: &CheckpointFilter,
        walk: CheckpointWalk,
        limit: usize,
    ) -> Result<Vec<KeptCheckpoint>>;

    /// The threads of one visible scope that have checkpoints, those that went on last first.
    async fn checkpoint_threads(&self, visible: &Visible, scope: &Scope, limit: usize)
    -> Result<Vec<CheckpointThread>>;
}

/// What one change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// The memory it is about, if it is about one.
    pub id: Option<MemoryId>,
    /// What happened.
    pub outcome: Outcome,
    /// The memory's version now.
    pub version: u64,
    /// The number of its ledger entry, if it made one.
    pub sequence: Option<i64>,
}

/// Which entities are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntityFilter {
    /// Spoken of at least so often.
    pub mentions_min: u64,
    /// Only those of which nothing is told yet.
    pub without_summary: bool,
}

/// Which part of a listing is wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// After this place; none: from the start.
    pub after: Option<Cursor>,
    /// At most so many.
    pub limit: usize,
}

/// One page of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The memories, newest first.
    pub memories: Vec<Memory>,
    /// Where the next page starts; none: this was the last.
    pub next: Option<Cursor>,
    /// How many there are on all pages.
    pub total: u64,
}

/// What memories are ordered by when no question is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// When they came, newest first; scored by seconds.
    Newest,
    /// How important they are, then how new.
    Importance,
    /// The newest of those among the latest that have no vector yet.
    Unembedded,
}

/// A checkpoint with what was written beside it, by task and position.
pub type KeptCheckpoint = (Checkpoint, Vec<PendingWrite>);

/// Which entities are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntityQuery {
    /// Those with one of these names or aliases.
    Named(Vec<String>),
    /// Those of the visible scopes that match.
    Known(EntityFilter),
    /// Those that this memory mentions.
    MentionedBy(MemoryId),
}

/// In which order checkpoints are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointWalk {
    /// All that match, newest first.
    Newest,
    /// The newest that matches, the one it came from, and so on.
    Ancestors,
}
