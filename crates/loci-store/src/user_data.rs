//! What did one user leave, and is it gone?

use serde::Serialize;

/// What a user left in a space, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UserData {
    /// Memories of their scopes, and those anywhere that they said.
    pub memories: u64,
    /// Vectors of these.
    pub vectors: u64,
    /// Edges that start at these.
    pub edges: u64,
    /// Entities of their scopes.
    pub entities: u64,
    /// Facts of their scopes.
    pub facts: u64,
    /// Checkpoints of their scopes.
    pub checkpoints: u64,
    /// Sessions of their scopes.
    pub sessions: u64,
    /// Notes about their scopes.
    pub notes: u64,
    /// Waiting work about them.
    pub jobs: u64,
    /// Lines of the ledger that tell of them.
    pub lines: u64,
}

impl UserData {
    /// Whether there is nothing that could be erased. Lines stay, without what they told.
    pub fn is_empty(&self) -> bool {
        Self { lines: 0, ..self.clone() } == Self::default()
    }

    /// Both together.
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
