//! What happened?

use serde::{Deserialize, Serialize};

use crate::MemoryId;

/// The answer to a write: what happened, and that it is safe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The memory.
    pub id: MemoryId,
    /// What happened to it.
    pub event: Outcome,
    /// Its version now.
    pub version: u64,
    /// Whether a vector was made for a new memory.
    pub embedding_generated: bool,
    /// Whether a vector was made anew because the text changed.
    pub embedding_regenerated: bool,
    /// What was masked before it was stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// How safe it is.
    pub durability: Durability,
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A new memory.
    Created,
    /// Nothing: it was there already.
    None,
    /// New values.
    Updated,
    /// Several became one.
    Merged,
    /// It took the place of another.
    Superseded,
    /// It was soft-deleted.
    Deleted,
    /// It came back.
    Restored,
    /// It is gone for good.
    Erased,
}

/// How safe an acknowledged write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// On disk: it survives the loss of power.
    Durable,
    /// In a buffer that is written soon.
    Batched,
}
