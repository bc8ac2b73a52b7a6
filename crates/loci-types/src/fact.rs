//! What is said of a thing, in three words?
//!
//! A triple is in its scope once: saying it again makes it no second one. It may be learned from memories; then it
//! is seen by those who see one of them, holds while one of them holds, and goes when the last of them goes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Error, FactId, Identifiers, Layer, MemoryId, Scope};

/// A triple of one scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// Its id, made of what it says and whose it is.
    pub id: FactId,
    /// Its layer.
    pub layer: Layer,
    /// Whose it is.
    pub identifiers: Identifiers,
    /// What sort of thing it says: `preference`, `uses`, `located_at`.
    pub fact_type: String,
    /// What it is about: `Database`.
    pub subject: String,
    /// Which side of it: `has_version`.
    pub predicate: String,
    /// What is said of that side: `v16`.
    pub object: String,
    /// How sure we are of it, `0..=1`.
    pub confidence: f64,
    /// Anything else, by name.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// The memories it was learned from, as far as the reader sees them.
    #[serde(default)]
    pub sources: Vec<MemoryId>,
    /// When it was first said.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Fact {
    /// Whose it is.
    pub fn scope(&self) -> Result<Scope, Error> {
        Scope::new(self.layer, &self.identifiers)
    }
}

/// Which triples are meant: those with all of what is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactFilter {
    /// The one with this id.
    pub id: Option<FactId>,
    /// Of this sort.
    pub fact_type: Option<String>,
    /// About this.
    pub subject: Option<String>,
    /// About this side of it.
    pub predicate: Option<String>,
    /// That say this of it.
    pub object: Option<String>,
    /// Also those that were learned from memories of which none holds any more.
    pub include_past: bool,
    /// When it is asked.
    pub now: Timestamp,
}

impl FactFilter {
    /// All that hold at this time.
    pub fn at(now: Timestamp) -> Self {
        Self { id: None, fact_type: None, subject: None, predicate: None, object: None, include_past: false, now }
    }
}
