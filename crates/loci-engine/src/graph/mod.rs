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

/// A thing that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphEntity {
    /// Its name.
    pub name: String,
    /// What sort of thing it is, in free words.
    pub entity_type: String,
    /// What is said of it, in the order in which it was.
    pub observations: Vec<String>,
}

/// What stands between two names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphRelation {
    /// Where it starts.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// What it says.
    pub relation_type: String,
}

/// Entities and relations, each in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Graph {
    /// The things.
    pub entities: Vec<GraphEntity>,
    /// What stands between them.
    pub relations: Vec<GraphRelation>,
}

/// What is said of an entity: to be added or to be taken away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityObservations {
    /// The name of the entity.
    pub entity_name: String,
    /// What is said; those who take it away call it `observations`.
    #[serde(alias = "observations")]
    pub contents: Vec<String>,
}

/// What was new of what was said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddedObservations {
    /// The name of the entity.
    pub entity_name: String,
    /// What was added.
    pub added_observations: Vec<String>,
}
