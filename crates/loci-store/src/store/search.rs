//! Searching the memories of a [`Store`](super::Store).

use async_trait::async_trait;
use loci_types::{Filter, MemoryId, Vector, Visible};

use crate::Result;

/// Search by terms, by vectors and by position in a conversation.
#[async_trait]
pub trait Search: Send + Sync {
    /// The memories that share terms with `query`, best first, scored by BM25. If several spaces have hits, the scores
    /// of each are divided by its best.
    async fn lexical(&self, visible: &Visible, query: &str, filter: &Filter, limit: usize) -> Result<Vec<Hit>>;

    /// The memories with the nearest vectors of the same model, best first, scored by `max(0, cosine)`.
    async fn nearest(&self, visible: &Visible, query: &Vector, filter: &Filter, limit: usize) -> Result<Vec<Hit>>;

    /// Number of memories in the visible scopes that contain each term, in any state.
    async fn frequencies(&self, visible: &Visible, terms: &[String]) -> Result<Frequencies>;

    /// These memories with up to `reach` turns before and after each in its session, as far as they are visible and
    /// match the filter. A memory that does not match yields nothing. Runs that touch are merged. A memory without a
    /// thread is a run of its own.
    async fn around(&self, visible: &Visible, filter: &Filter, ids: &[MemoryId], reach: usize) -> Result<Vec<TurnRun>>;
}

/// A search result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The memory.
    pub id: MemoryId,
    /// The score, on the scale of the search that found it.
    pub score: f64,
}

/// Document frequencies of terms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frequencies {
    /// Number of memories in the visible scopes. PostgreSQL stops counting at 20,000 per space.
    pub memories: u64,
    /// Number of memories with each term, in the order of the terms.
    pub of: Vec<u64>,
}

/// A run of consecutive turns of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRun {
    /// A number that is equal for runs of the same session.
    pub session: u64,
    /// The memories, in their order.
    pub places: Vec<TurnRef>,
}

/// A memory in a run of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnRef {
    /// The memory.
    pub id: MemoryId,
    /// A hash that changes with the memory or its vector, as a key for caching what is derived from them.
    pub stamp: u64,
    /// Number of times that recall returned it; it may change while the stamp does not.
    pub access_count: u64,
}
