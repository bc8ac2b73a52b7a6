//! Counts of the data of one user, to check an erasure.

use serde::Serialize;

/// Counts of a user's data in a space.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UserData {
    /// Memories of the user's scopes, and memories of other scopes that name them as user or actor.
    pub memories: u64,
    /// Vectors of these memories.
    pub vectors: u64,
    /// Edges from these memories.
    pub edges: u64,
    /// Entities of the user's scopes.
    pub entities: u64,
    /// Facts of the user's scopes.
    pub facts: u64,
    /// Checkpoints of the user's scopes.
    pub checkpoints: u64,
    /// Sessions of the user's scopes.
    pub sessions: u64,
    /// Notes of the user's scopes.
    pub notes: u64,
    /// Jobs about these memories and scopes.
    pub jobs: u64,
    /// Ledger entries of the user's scopes, or by the user as actor: the greater of the two numbers.
    pub lines: u64,
}

impl UserData {
    /// Whether there is nothing to erase. Ledger entries do not count, because they remain without their content.
    pub fn is_empty(&self) -> bool {
        Self { lines: 0, ..self.clone() } == Self::default()
    }

    /// The sums of both.
    pub fn and(self, other: &Self) -> Self {
        Self {
            memories: self.memories + other.memories,
            vectors: self.vectors + other.vectors,
            edges: self.edges + other.edges,
            entities: self.entities + other.entities,
            facts: self.facts + other.facts,
            checkpoints: self.checkpoints + other.checkpoints,
            sessions: self.sessions + other.sessions,
            notes: self.notes + other.notes,
            jobs: self.jobs + other.jobs,
            lines: self.lines + other.lines,
        }
    }
}
