//! Facts as triples of subject, predicate and object.
//!
//! A triple of one type is unique within its scope: stating it again updates it. It may be learned from memories, its
//! sources. It is then visible to callers who see one of its sources, holds while one of them holds, and is removed
//! with the last of them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Error, FactId, Identifiers, Layer, MemoryId, Scope};

/// A fact: a triple of one scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// The id, a hash of scope, type, subject, predicate and object.
    pub id: FactId,
    /// The layer of its scope.
    pub layer: Layer,
    /// The identifiers of its scope.
    pub identifiers: Identifiers,
    /// The type of the fact, for example `preference`, `uses` or `located_at`.
    pub fact_type: String,
    /// The subject, for example `Database`.
    pub subject: String,
    /// The predicate, for example `has_version`.
    pub predicate: String,
    /// The object, for example `v16`.
    pub object: String,
    /// Confidence in the fact, 0 to 1.
    pub confidence: f64,
    /// Further metadata, by name.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub metadata: Map<String, Value>,
    /// The memories that it was learned from and that the reader may see.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub sources: Vec<MemoryId>,
    /// When it was first stated.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Fact {
    /// Returns the scope that it belongs to.
    pub fn scope(&self) -> Result<Scope, Error> {
        Scope::new(self.layer, &self.identifiers)
    }
}

/// Selects facts. All given conditions must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactFilter {
    /// The id.
    pub id: Option<FactId>,
    /// The type.
    pub fact_type: Option<String>,
    /// The subject.
    pub subject: Option<String>,
    /// The predicate.
    pub predicate: Option<String>,
    /// The object.
    pub object: Option<String>,
    /// Whether facts are included that were learned from memories of which none holds any more.
    pub include_past: bool,
    /// The time at which sources must hold.
    pub now: Timestamp,
}

impl FactFilter {
    /// Selects all facts that hold at this time.
    pub fn at(now: Timestamp) -> Self {
        Self { id: None, fact_type: None, subject: None, predicate: None, object: None, include_past: false, now }
    }
}
