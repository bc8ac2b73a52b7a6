//! A part of a [`Store`](super::Store): finding memories.

use async_trait::async_trait;
use loci_types::{Filter, MemoryId, Vector, Visible};

use crate::Result;

/// Finds memories by words, by vectors and by their place in a conversation.
#[async_trait]
pub trait Search: Send + Sync {
    /// The memories that share words with `query`, best first, scored by BM25.
    async fn lexical(&self, visible: &Visible, query: &str, filter: &Filter, limit: usize) -> Result<Vec<Hit>>;

    /// The memories whose vectors of the same model are nearest, best first, scored by
    /// `max(0, cosine)`.
    async fn nearest(&self, visible: &Visible, query: &Vector, filter: &Filter, limit: usize) -> Result<Vec<Hit>>;

    /// In how many memories of the visible scopes each term occurs, in whatever state they are.
    async fn frequencies(&self, visible: &Visible, terms: &[String]) -> Result<Frequencies>;

    /// These memories with up to `reach` of those before and after each in its session, as far as
    /// they are visible and meant; around one that is not, there is nothing. Runs that touch are one
    /// strip. A memory outside any thread stands alone.
    async fn around(&self, visible: &Visible, filter: &Filter, ids: &[MemoryId], reach: usize) -> Result<Vec<TurnRun>>;
}

/// A memory that a lane found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Which.
    pub id: MemoryId,
    /// How well, on the lane's own scale.
    pub score: f64,
}

/// How often words occur.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frequencies {
    /// Memories in the visible scopes; a store that has to count them one by one may stop at a bound.
    pub memories: u64,
    /// Memories with each term, in the order asked.
    pub of: Vec<u64>,
}

/// A run of memories that follow each other in one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRun {
    /// Equal for turn runs of the same session.
    pub session: u64,
    /// The memories, in the order they came.
    pub places: Vec<TurnRef>,
}

/// A memory in a run of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnRef {
    /// Which.
    pub id: MemoryId,
    /// Another one whenever the memory or its vector has changed, so that what was made of them can be kept.
    pub stamp: u64,
    /// How often recall returned it; changes without a new stamp.
    pub access_count: u64,
}
