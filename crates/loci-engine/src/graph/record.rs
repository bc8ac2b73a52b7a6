//! One record of the graph, and how it is stored as a memory.
//!
//! Entities, observations and relations are one memory each. The metadata describes the record. The key is derived
//! from that description alone, so the same record always has the same key, and keeps it after an update or
//! an import.

use loci_types::{ContentHash, EntityType, Memory, MemoryId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::GraphRelation;
use crate::learn::extract::Mention;

/// The tag of every record, and the name of the metadata field that describes it.
pub(super) const GRAPH: &str = "graph";

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GraphRecord {
    /// A thing with a name and a type.
    Entity {
        /// Its name, which no other entity of the scope has.
        name: String,
        /// Its type, as its creator named it.
        entity_type: String,
    },
    /// A statement about an entity.
    Observation {
        /// The name of the entity.
        name: String,
        /// The record of the entity. An entity that is created again under the same name starts without them.
        of: MemoryId,
        /// The text of the statement.
        text: String,
        /// How often the same call had said it before.
        repeat: usize,
    },
    /// A relation between two names, whether or not entities with these names exist.
    Relation(GraphRelation),
}

/// How a record is described in the metadata. The text of an observation is the content itself.
#[derive(Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum RecordMetadata {
    Entity {
        name: String,
        entity_type: String,
    },
    Observation {
        entity: String,
        entity_id: MemoryId,
        #[serde(default)]
        repeat: usize,
    },
    Relation {
        from: String,
        to: String,
        relation_type: String,
    },
}

impl GraphRecord {
    /// The part that a memory is, if it is one.
    pub(super) fn read(memory: &Memory) -> Option<Self> {
        if !memory.tags.iter().any(|tag| tag == GRAPH) {
            return None;
        }
        Some(match RecordMetadata::deserialize(memory.metadata.get(GRAPH)?).ok()? {
            RecordMetadata::Entity { name, entity_type } => GraphRecord::Entity { name, entity_type },
            RecordMetadata::Observation { entity, entity_id, repeat } => {
                GraphRecord::Observation { name: entity, of: entity_id, text: memory.content.clone(), repeat }
            }
            RecordMetadata::Relation { from, to, relation_type } => {
                GraphRecord::Relation(GraphRelation { from, to, relation_type })
            }
        })
    }

    /// What the metadata of its memory says.
    pub(super) fn metadata(&self) -> Map<String, Value> {
        let described = match self.clone() {
            GraphRecord::Entity { name, entity_type } => RecordMetadata::Entity { name, entity_type },
            GraphRecord::Observation { name, of, repeat, .. } => {
                RecordMetadata::Observation { entity: name, entity_id: of, repeat }
            }
            GraphRecord::Relation(GraphRelation { from, to, relation_type }) => {
                RecordMetadata::Relation { from, to, relation_type }
            }
        };
        Map::from_iter([(GRAPH.to_owned(), json!(described))])
    }

    /// The text of its memory, in words that recall can find.
    pub(super) fn content(&self) -> String {
        match self {
            GraphRecord::Entity { name, entity_type } if entity_type.trim().is_empty() => {
                format!("{name} is an entity")
            }
            GraphRecord::Entity { name, entity_type } => format!("{name} is {} {entity_type}", article(entity_type)),
            GraphRecord::Observation { text, .. } => text.clone(),
            GraphRecord::Relation(GraphRelation { from, to, relation_type }) => format!("{from} {relation_type} {to}"),
        }
    }

    /// The key under which it is stored. It is unique in its scope while the record exists.
    pub(super) fn key(&self) -> ContentHash {
        match self {
            GraphRecord::Entity { name, .. } => entity_key(name),
            GraphRecord::Observation { of, text, repeat, .. } => {
                key("graph observation", &[of.to_string().as_str(), text, &repeat.to_string()])
            }
            GraphRecord::Relation(GraphRelation { from, to, relation_type }) => {
                key("graph relation", &[from, relation_type, to])
            }
        }
    }

    /// The things it speaks of.
    pub(super) fn mentions(&self) -> Vec<Mention> {
        let of_type = |name: &String, entity_type| Mention { name: name.clone(), entity_type, aliases: Vec::new() };
        let mut mentions = match self {
            GraphRecord::Entity { name, entity_type } => {
                vec![of_type(name, entity_type.to_lowercase().parse().unwrap_or(EntityType::Concept))]
            }
            GraphRecord::Observation { name, .. } => vec![of_type(name, EntityType::Concept)],
            GraphRecord::Relation(GraphRelation { from, to, .. }) => {
                vec![of_type(from, EntityType::Concept), of_type(to, EntityType::Concept)]
            }
        };
        mentions.dedup();
        mentions
    }
}

/// The key of the entity with this name.
pub(super) fn entity_key(name: &str) -> ContentHash {
    key("graph entity", &[name])
}

/// Each part stands with its length, so that no two lists of parts come to the same bytes.
fn key(what: &str, parts: &[&str]) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    for part in std::iter::once(&what).chain(parts) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    ContentHash(*hasher.finalize().as_bytes())
}

fn article(word: &str) -> &'static str {
    let vowel = word.trim_start().starts_with(|letter: char| "aeiouAEIOU".contains(letter));
    if vowel { "an" } else { "a" }
}

/// The key of a memory that is a record of a graph. `None` for other memories.
pub(crate) fn key_of(memory: &Memory) -> Option<ContentHash> {
    GraphRecord::read(memory).map(|part| part.key())
}

/// Whether a memory is part of a graph, where things are kept word for word: what is like it
/// neither replaces it nor is taken up by it.
pub(crate) fn is_part(memory: &Memory) -> bool {
    GraphRecord::read(memory).is_some()
}

/// The name of the entity of which a memory is an observation.
pub(crate) fn subject(memory: &Memory) -> Option<String> {
    match GraphRecord::read(memory)? {
        GraphRecord::Observation { name, .. } => Some(name),
        GraphRecord::Entity { .. } | GraphRecord::Relation(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn relation(from: &str, relation_type: &str, to: &str) -> GraphRecord {
        GraphRecord::Relation(GraphRelation { from: from.into(), to: to.into(), relation_type: relation_type.into() })
    }

    fn observation(of: u128, text: &str, repeat: usize) -> GraphRecord {
        GraphRecord::Observation { name: "Ana".into(), of: MemoryId(Uuid::from_u128(of)), text: text.into(), repeat }
    }

    #[test]
    fn different_things_have_different_keys() {
        let entity = |name: &str| GraphRecord::Entity { name: name.into(), entity_type: "person".into() };
        let parts = [
            entity("Ana"),
            entity("ana"),
            entity(" Ana"),
            observation(1, "Ana", 0),
            observation(1, "Ana", 1),
            observation(2, "Ana", 0),
            relation("a", "b", "c"),
            relation("a", "c", "b"),
            relation("ab", "", "c"),
            relation("a", "b ", "c"),
        ];
        for (place, part) in parts.iter().enumerate() {
            for other in &parts[place + 1..] {
                assert_ne!(part.key(), other.key(), "{part:?} {other:?}");
            }
        }
        // The type does not identify an entity.
        let other = GraphRecord::Entity { name: "Ana".into(), entity_type: "robot".into() };
        assert_eq!(other.key(), entity("Ana").key());
    }

    #[test]
    fn a_record_says_what_it_is() {
        for (name, entity_type, content) in [
            ("Ana", "person", "Ana is a person"),
            ("Acme", "Organization", "Acme is an Organization"),
            ("Ana", " ", "Ana is an entity"),
        ] {
            let part = GraphRecord::Entity { name: name.into(), entity_type: entity_type.into() };
            assert_eq!(part.content(), content);
        }
        assert_eq!(relation("Ana", "works at", "Acme").content(), "Ana works at Acme");
        assert_eq!(observation(1, " as it is. ", 0).content(), " as it is. ");
    }
}
