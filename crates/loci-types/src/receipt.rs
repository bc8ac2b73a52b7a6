//! Receipts: the results of writes.

use serde::{Deserialize, Serialize};

use crate::MemoryId;

/// The result of a write: what happened, and how durable it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The id of the memory.
    pub id: MemoryId,
    /// What the write did.
    pub event: Outcome,
    /// The version of the memory after the write.
    pub version: u64,
    /// Whether a vector was computed for a new memory.
    pub embedding_generated: bool,
    /// Whether a new vector was computed because the text changed.
    pub embedding_regenerated: bool,
    /// What was masked before the text was stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// How durable the write is.
    pub durability: Durability,
}

/// What a write did, in the words of the ledger's events. Earlier versions wrote the names in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Outcome {
    /// A new memory was added.
    #[serde(rename = "ADD", alias = "created")]
    Created,
    /// Nothing changed, because the store already had it.
    #[serde(rename = "NONE", alias = "none")]
    None,
    /// Fields of a memory changed.
    #[serde(rename = "UPDATE", alias = "updated")]
    Updated,
    /// Memories were merged into one.
    #[serde(rename = "MERGE", alias = "merged")]
    Merged,
    /// The new memory superseded an older one.
    #[serde(rename = "SUPERSEDE", alias = "superseded")]
    Superseded,
    /// The memory was soft-deleted.
    #[serde(rename = "DELETE", alias = "deleted")]
    Deleted,
    /// The memory was restored.
    #[serde(rename = "RESTORE", alias = "restored")]
    Restored,
    /// The memory was removed for good.
    #[serde(rename = "ERASE", alias = "erased")]
    Erased,
}

/// How durable an acknowledged write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Committed to disk: it survives a loss of power.
    Durable,
    /// In a buffer in memory that is written soon: a crash before that loses it.
    Batched,
}
