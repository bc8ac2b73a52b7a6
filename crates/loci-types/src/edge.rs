//! The graph: links and entities.
//!
//! An edge is a typed link between two memories of one space. An entity is a thing that memories mention, with one
//! canonical name and its aliases.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::memory::words;
use crate::{EdgeId, EntityId, Error, MemoryId};

words!(
    /// The relation that a link expresses.
    Relation, "relation", {
        /// The target is the next turn after the source.
        Temporal = "temporal",
        /// The source caused the target.
        Causal = "causal",
        /// Both mention the same entity.
        Entity = "entity",
        /// The source was learned from the target.
        DerivedFrom = "derived_from",
        /// The source replaces the target.
        Supersedes = "supersedes",
        /// The two have similar content.
        RelatedTo = "related_to",
        /// The source was said later and may contradict the target. It is undecided which one holds.
        MayContradict = "may_contradict",
    }
);

/// A typed link from one memory to another. There is at most one for each source, target and relation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    /// The id of the link.
    pub id: EdgeId,
    /// The memory where it starts.
    pub source_id: MemoryId,
    /// The memory where it ends.
    pub target_id: MemoryId,
    /// The relation.
    pub relation: Relation,
    /// A word that refines the relation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<String>,
    /// Strength of the link, 0 to 1.
    pub strength: f64,
    /// Confidence in the link, 0 to 1.
    pub confidence: f64,
    /// Start of validity.
    pub valid_from: Timestamp,
    /// End of validity. Absent: it still holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// Evidence for the link, as JSON values.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub evidence: Vec<Value>,
    /// When the link was stored.
    pub created_at: Timestamp,
}

words!(
    /// The type of an entity.
    EntityType, "entityType", {
        /// A person.
        Person = "person",
        /// A project or product.
        Project = "project",
        /// A company, a team or an institution.
        Organization = "organization",
        /// A place.
        Place = "place",
        /// An idea or a topic.
        Concept = "concept",
        /// A tool or a program.
        Tool = "tool",
    }
);

/// A thing that memories mention: a person, a project, an organization, a place, a concept or a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Entity {
    /// The id of the entity.
    pub id: EntityId,
    /// The canonical name.
    pub canonical_name: String,
    /// The type.
    pub entity_type: EntityType,
    /// Other names of the same entity.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub aliases: Vec<String>,
    /// A profile of a few sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// When it was first mentioned. Called `firstSeen` in exports of format 1.
    #[serde(alias = "firstSeen")]
    pub created_at: Timestamp,
    /// When it last changed. Called `lastUpdated` in exports of format 1.
    #[serde(alias = "lastUpdated")]
    pub updated_at: Timestamp,
    /// The number of counted mentions.
    pub mention_count: u64,
    /// Further attributes, by name.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub attributes: Map<String, Value>,
}
