//! Which memories are meant, in the words of HTTP?
//!
//! What is absent or empty leaves its side open. The filter is applied in the store; here it is
//! only read.

use std::collections::BTreeMap;

use jiff::Timestamp;
use loci_types::{Filter, Layer, State, TimeRange};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Which memories are meant; what is absent or empty leaves its side open.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct MemoryFilter {
    /// The layers, all of which the identifiers must open. Default: all that they open.
    layer: Vec<Layer>,
    /// Any of these tags.
    #[schema(max_items = 256)]
    tags: Vec<String>,
    /// Of this source type, such as `conversation`.
    source_type: Option<String>,
    /// Any of these source types.
    #[schema(max_items = 256)]
    source_types: Vec<String>,
    /// Any of these source roles.
    #[schema(max_items = 256)]
    source_roles: Vec<String>,
    /// Whether it mirrors a knowledge item.
    has_knowledge_pointer: Option<bool>,
    /// Metadata fields with exactly these values.
    #[schema(value_type = Object)]
    custom: BTreeMap<String, Value>,
    /// Any of these kinds.
    #[schema(max_items = 256)]
    kinds: Vec<String>,
    /// Any of these categories.
    #[schema(max_items = 256)]
    categories: Vec<String>,
    /// In any of these states; none: `active` and `decayed`.
    states: Vec<State>,
    /// Whether replaced and expired memories are seen as well.
    superseded: bool,
    /// See what held at this instant instead of what holds now.
    as_of: Option<Timestamp>,
    /// Whether it is pinned.
    pinned: Option<bool>,
    /// At least this important.
    #[schema(minimum = 0, maximum = 1)]
    importance_min: Option<f64>,
    /// At most this important.
    #[schema(minimum = 0, maximum = 1)]
    importance_max: Option<f64>,
    /// At least this certain.
    #[schema(minimum = 0, maximum = 1)]
    confidence_min: Option<f64>,
    /// At most this certain.
    #[schema(minimum = 0, maximum = 1)]
    confidence_max: Option<f64>,
    /// It happened at this instant or later.
    event_after: Option<Timestamp>,
    /// It happened before this instant.
    event_before: Option<Timestamp>,
    /// It came into the store at this instant or later.
    created_after: Option<Timestamp>,
    /// It came into the store before this instant.
    created_before: Option<Timestamp>,
    /// It last changed at this instant or later.
    updated_after: Option<Timestamp>,
    /// It last changed before this instant.
    updated_before: Option<Timestamp>,
    /// Of any of these users.
    #[schema(max_items = 256)]
    users: Vec<String>,
    /// Of any of these agents.
    #[schema(max_items = 256)]
    agents: Vec<String>,
    /// In any of these sessions.
    #[schema(max_items = 256)]
    sessions: Vec<String>,
    /// In any of these runs.
    #[schema(max_items = 256)]
    runs: Vec<String>,
    /// By any of these actors.
    #[schema(max_items = 256)]
    actors: Vec<String>,
    /// In any of these roles.
    #[schema(max_items = 256)]
    roles: Vec<String>,
    /// In any of these conversations.
    #[schema(max_items = 256)]
    threads: Vec<String>,
}

impl MemoryFilter {
    /// The filter, judged at this instant.
    pub(crate) fn at(self, now: Timestamp) -> Filter {
        let open = Filter::at(now);
        let range = |from, until| TimeRange { from, until };
        let mut source_types = self.source_types;
        source_types.extend(self.source_type);
        Filter {
            layers: self.layer,
            as_of: self.as_of,
            states: if self.states.is_empty() { open.states.clone() } else { self.states },
            superseded: self.superseded,
            kinds: self.kinds,
            categories: self.categories,
            tags: self.tags,
            source_types,
            source_roles: self.source_roles,
            has_knowledge_pointer: self.has_knowledge_pointer,
            pinned: self.pinned,
            importance_min: self.importance_min,
            importance_max: self.importance_max,
            confidence_min: self.confidence_min,
            confidence_max: self.confidence_max,
            event: range(self.event_after, self.event_before),
            created: range(self.created_after, self.created_before),
            updated: range(self.updated_after, self.updated_before),
            users: self.users,
            agents: self.agents,
            sessions: self.sessions,
            runs: self.runs,
            actors: self.actors,
            roles: self.roles,
            threads: self.threads,
            metadata: self.custom,
            ..open
        }
    }
}
