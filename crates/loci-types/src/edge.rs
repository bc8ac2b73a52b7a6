//! How do memories hang together?
//!
//! Edges are typed links between two memories of one space; entities are the things that memories
//! speak of, each with one canonical name and its aliases.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::memory::words;
use crate::{EdgeId, EntityId, Error, MemoryId};

words!(
    /// What an edge says.
    Relation, "relation", {
        /// The target came right after the source.
        Temporal = "temporal",
        /// The source brought the target about.
        Causal = "causal",
        /// Both speak of the same thing.
        Entity = "entity",
        /// The source was learned from the target.
        DerivedFrom = "derived_from",
        /// The source replaces the target.
        Supersedes = "supersedes",
        /// They are about alike things.
        RelatedTo = "related_to",
        /// The source was said later and may contradict the target; which one holds is open.
        MayContradict = "may_contradict",
    }
);

/// A typed link from one memory to another. There is one per source, target and relation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    /// Its id.
    pub id: EdgeId,
    /// Where it starts.
    pub source_id: MemoryId,
    /// Where it ends.
    pub target_id: MemoryId,
    /// What it says.
    pub relation: Relation,
    /// More exactly, in a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<String>,
    /// How strong it is, `0..=1`.
    pub strength: f64,
    /// How sure we are of it, `0..=1`.
    pub confidence: f64,
    /// Since when it holds.
    pub valid_from: Timestamp,
    /// Until when it held; none: it holds now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// What speaks for it.
    #[serde(default)]
    pub evidence: Vec<Value>,
    /// When it came into the store.
    pub created_at: Timestamp,
}

words!(
    /// What sort of thing an entity is.
    EntityType, "entityType", {
        /// Someone.
        Person = "person",
        /// Something being worked on.
        Project = "project",
        /// A company, a team, a body.
        Organization = "organization",
        /// Somewhere.
        Place = "place",
        /// An idea.
        Concept = "concept",
        /// Something that is used.
        Tool = "tool",
    }
);

/// A thing that memories speak of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Entity {
    /// Its id.
    pub id: EntityId,
    /// The name it goes by.
    pub canonical_name: String,
    /// What sort of thing it is.
    pub entity_type: EntityType,
    /// Its other names.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What is known of it, in a few sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// When it was first spoken of.
    pub first_seen: Timestamp,
    /// When it last changed.
    pub last_updated: Timestamp,
    /// How often it was spoken of.
    pub mention_count: u64,
    /// Anything else, by name.
    #[serde(default)]
    pub attributes: Map<String, Value>,
}
