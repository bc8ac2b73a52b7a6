//! The knowledge graph, with the operations of the official memory server of the Model Context Protocol.
//!
//! It has entities with observations, and relations between names. **Invariant:** within a scope, an entity name, an
//! observation of an entity and a relation exist once, and records are only added or deleted. Each record is a
//! memory, so recall finds it, `history` lists it and `restore` brings it back.

mod draft;
mod import;
mod read;
mod record;
mod write;

use serde::{Deserialize, Serialize};

pub use import::GraphImportReport;
pub(crate) use record::{is_part, key_of, subject};

/// An entity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphEntity {
    /// Its name.
    pub name: String,
    /// Its type, in free words.
    pub entity_type: String,
    /// Its observations, in the order in which they were added.
    pub observations: Vec<String>,
}

/// A relation between two entities.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphRelation {
    /// The name of the first entity.
    pub from: String,
    /// The name of the second entity.
    pub to: String,
    /// The type of the relation, in active voice.
    pub relation_type: String,
}

/// Entities and relations, each in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Graph {
    /// The entities.
    pub entities: Vec<GraphEntity>,
    /// The relations.
    pub relations: Vec<GraphRelation>,
}

/// Observations of an entity, to be added or deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityObservations {
    /// The name of the entity.
    pub entity_name: String,
    /// The observations; requests to delete call them `observations`.
    #[serde(alias = "observations")]
    pub contents: Vec<String>,
}

/// The observations that were new.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddedObservations {
    /// The name of the entity.
    pub entity_name: String,
    /// The observations that were added.
    pub added_observations: Vec<String>,
}
