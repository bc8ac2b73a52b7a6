//! Filters: conditions that select memories.
//!
//! A filter is applied inside the store, never to its results. The default filter selects what holds now: active and
//! decayed memories that are not superseded, valid and not expired. A filter never widens what a caller may see; that
//! is the task of [`crate::Visible`].

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::memory::contains_nul;
use crate::{AccessPolicy, ContentHash, EntityId, Error, Memory, MemoryId, State};

/// A range of instants, including `from` and excluding `until`. Either end may be open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeRange {
    /// The first instant of the range.
    pub from: Option<Timestamp>,
    /// The first instant after the range.
    pub until: Option<Timestamp>,
}

impl TimeRange {
    /// Returns true if both ends are open.
    pub fn is_open(&self) -> bool {
        self.from.is_none() && self.until.is_none()
    }

    fn holds(&self, at: Option<Timestamp>) -> bool {
        self.is_open()
            || at.is_some_and(|at| self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at < until))
    }
}

/// A range of time that a phrase such as "last week" names, with the precision of the phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    /// The first instant of the range.
    pub from: Timestamp,
    /// The first instant after the range.
    pub until: Timestamp,
    /// The precision of the phrase.
    pub grain: Grain,
}

/// The precision of a time phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grain {
    /// To the minute or finer.
    Minute,
    /// To the day.
    Day,
    /// To the week.
    Week,
    /// To the month.
    Month,
    /// To the year.
    Year,
}

/// Maximum number of entries in one list of a filter.
const LONGEST: usize = 256;
/// Maximum number of ids in a filter.
const MOST_IDS: usize = 1_000;

/// Conditions that a memory must meet. An empty list or an absent value sets no condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// The present time, by which validity and expiry are checked.
    pub now: Timestamp,
    /// Any of these ids.
    pub ids: Vec<MemoryId>,
    /// Selects what held at this instant instead of what holds now.
    pub as_of: Option<Timestamp>,
    /// The state must be one of these.
    pub states: Vec<State>,
    /// Whether superseded memories are included. If so, validity and expiry are not checked.
    pub superseded: bool,
    /// Any of these kinds.
    pub kinds: Vec<String>,
    /// Any of these categories.
    pub categories: Vec<String>,
    /// Any of these tags.
    pub tags: Vec<String>,
    /// Any of these source types.
    pub source_types: Vec<String>,
    /// Any of these source roles.
    pub source_roles: Vec<String>,
    /// Whether the memory must, or must not, mirror a knowledge item.
    pub has_knowledge_pointer: Option<bool>,
    /// Whether the memory must, or must not, be pinned.
    pub pinned: Option<bool>,
    /// Minimum importance, 0 to 1.
    pub importance_min: Option<f64>,
    /// Maximum importance, 0 to 1.
    pub importance_max: Option<f64>,
    /// Minimum confidence, 0 to 1.
    pub confidence_min: Option<f64>,
    /// Maximum confidence, 0 to 1.
    pub confidence_max: Option<f64>,
    /// Range of `event_time`. Memories without one do not match.
    pub event: TimeRange,
    /// Range of `event_time`, or of `said_at` or `created_at` where the memory has no event time.
    pub happened: TimeRange,
    /// Range of `created_at`.
    pub created: TimeRange,
    /// Range of `updated_at`.
    pub updated: TimeRange,
    /// Any of these layers.
    pub layers: Vec<crate::Layer>,
    /// Any of these access policies.
    pub access_policies: Vec<AccessPolicy>,
    /// Any of these users.
    pub users: Vec<String>,
    /// Any of these agents.
    pub agents: Vec<String>,
    /// Any of these sessions.
    pub sessions: Vec<String>,
    /// Any of these runs.
    pub runs: Vec<String>,
    /// Any of these actors.
    pub actors: Vec<String>,
    /// Any of these roles.
    pub roles: Vec<String>,
    /// Any of these threads.
    pub threads: Vec<String>,
    /// Metadata fields that must equal these values.
    pub metadata: BTreeMap<String, Value>,
    /// The claim key must be this one. It is not a field of the record, so [`Filter::matches`] does not check it.
    pub claim: Option<ContentHash>,
    /// The deduplication key must be this one. [`Filter::matches`] does not check it.
    pub twin: Option<ContentHash>,
    /// The memory must mention this entity. [`Filter::matches`] does not check it.
    pub about: Option<EntityId>,
}

impl Filter {
    /// Selects all memories that hold at `now`.
    pub fn at(now: Timestamp) -> Self {
        Self {
            now,
            ids: Vec::new(),
            as_of: None,
            states: vec![State::Active, State::Decayed],
            superseded: false,
            kinds: Vec::new(),
            categories: Vec::new(),
            tags: Vec::new(),
            source_types: Vec::new(),
            source_roles: Vec::new(),
            has_knowledge_pointer: None,
            pinned: None,
            importance_min: None,
            importance_max: None,
            confidence_min: None,
            confidence_max: None,
            event: TimeRange::default(),
            happened: TimeRange::default(),
            created: TimeRange::default(),
            updated: TimeRange::default(),
            layers: Vec::new(),
            access_policies: Vec::new(),
            users: Vec::new(),
            agents: Vec::new(),
            sessions: Vec::new(),
            runs: Vec::new(),
            actors: Vec::new(),
            roles: Vec::new(),
            threads: Vec::new(),
            metadata: BTreeMap::new(),
            claim: None,
            about: None,
            twin: None,
        }
    }

    /// Selects every memory, in any state, including superseded ones.
    pub fn everything(now: Timestamp) -> Self {
        Self { states: State::ALL.to_vec(), superseded: true, ..Self::at(now) }
    }

    /// Returns true if validity, expiry and supersession are checked. `as_of` is checked in any case.
    pub fn judges_time(&self) -> bool {
        !self.superseded
    }

    /// Returns true if the memory meets all conditions. Stores evaluate the same conditions in SQL; the contract tests
    /// compare their results with this function.
    pub fn matches(&self, memory: &Memory) -> bool {
        let any = |wanted: &[String], value: Option<&str>| {
            wanted.is_empty() || value.is_some_and(|value| wanted.iter().any(|w| w == value))
        };
        let source = memory.source.as_ref();
        self.states.contains(&memory.state)
            && (self.ids.is_empty() || self.ids.contains(&memory.id))
            && self.holds_in_time(memory)
            && any(&self.kinds, Some(memory.kind.name()))
            && any(&self.categories, memory.category.as_deref())
            && (self.tags.is_empty() || memory.tags.iter().any(|tag| self.tags.contains(tag)))
            && any(&self.source_types, source.map(|source| source.kind.as_str()))
            && any(&self.source_roles, source.and_then(|source| source.role.as_deref()))
            && self.has_knowledge_pointer.is_none_or(|has| has == memory.knowledge_pointer.is_some())
            && self.pinned.is_none_or(|pinned| pinned == memory.pinned)
            && self.importance_min.is_none_or(|min| memory.importance >= min)
            && self.importance_max.is_none_or(|max| memory.importance <= max)
            && self.confidence_min.is_none_or(|min| memory.confidence >= min)
            && self.confidence_max.is_none_or(|max| memory.confidence <= max)
            && self.event.holds(memory.event_time)
            && self.happened.holds(Some(memory.event_time.unwrap_or_else(|| memory.when_said())))
            && self.created.holds(Some(memory.created_at))
            && self.updated.holds(Some(memory.updated_at))
            && (self.layers.is_empty() || self.layers.contains(&memory.layer))
            && (self.access_policies.is_empty() || self.access_policies.contains(&memory.access_policy))
            && any(&self.users, memory.identifiers.user_id.as_deref())
            && any(&self.agents, memory.identifiers.agent_id.as_deref())
            && any(&self.sessions, memory.identifiers.session_id.as_deref())
            && any(&self.runs, memory.run_id.as_deref())
            && any(&self.actors, memory.actor_id.as_deref())
            && any(&self.roles, memory.role.as_deref())
            && any(&self.threads, memory.thread_id.as_deref())
            && self.metadata.iter().all(|(key, value)| memory.metadata.get(key) == Some(value))
    }

    fn holds_in_time(&self, memory: &Memory) -> bool {
        if let Some(then) = self.as_of {
            return memory.holds_since() <= then && memory.valid_until.is_none_or(|until| then < until);
        }
        if !self.judges_time() {
            return true;
        }
        memory.superseded_by_id.is_none()
            && memory.valid_from.is_none_or(|from| from <= self.now)
            && memory.valid_until.is_none_or(|until| self.now < until)
            && (memory.state == State::SoftDeleted || memory.expires_at.is_none_or(|expires| self.now < expires))
    }

    /// Refuses scores outside 0 to 1, ranges that end before they start, lists of more than 256 entries (1,000 ids) and
    /// NUL characters.
    pub fn validate(&self) -> Result<(), Error> {
        for (field, value) in [
            ("importanceMin", self.importance_min),
            ("importanceMax", self.importance_max),
            ("confidenceMin", self.confidence_min),
            ("confidenceMax", self.confidence_max),
        ] {
            if let Some(value) = value {
                crate::memory::unit(field, value)?;
            }
        }
        for (field, range) in [
            ("eventBefore", self.event),
            ("before", self.happened),
            ("createdBefore", self.created),
            ("updatedBefore", self.updated),
        ] {
            if let (Some(from), Some(until)) = (range.from, range.until)
                && from > until
            {
                return Err(Error::invalid(field, format!("{field} is before the start of its range")));
            }
        }
        if self.ids.len() > MOST_IDS {
            return Err(Error::invalid("id", format!("id has {} entries, more than {MOST_IDS}", self.ids.len())));
        }
        for (field, list) in [
            ("kind", &self.kinds),
            ("category", &self.categories),
            ("tags", &self.tags),
            ("sourceType", &self.source_types),
            ("sourceRole", &self.source_roles),
            ("userId", &self.users),
            ("agentId", &self.agents),
            ("sessionId", &self.sessions),
            ("runId", &self.runs),
            ("actorId", &self.actors),
            ("role", &self.roles),
            ("threadId", &self.threads),
        ] {
            if list.len() > LONGEST {
                return Err(Error::invalid(field, format!("{field} has {} entries, more than {LONGEST}", list.len())));
            }
            if list.iter().any(|text| text.contains('\0')) {
                return Err(Error::nul(field));
            }
        }
        if self.metadata.len() > LONGEST {
            let message = format!("metadata has {} entries, more than {LONGEST}", self.metadata.len());
            return Err(Error::invalid("metadata", message));
        }
        if self.metadata.iter().any(|(name, value)| name.contains('\0') || contains_nul(value)) {
            return Err(Error::nul("metadata"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_nul_is_refused_by_the_name_of_its_field() {
        let at = Filter::at(Timestamp::UNIX_EPOCH);
        let tagged = Filter { tags: vec!["a".into(), "b\0".into()], ..at.clone() };
        assert_eq!(tagged.validate().unwrap_err().field(), Some("tags"));
        for (name, value) in [("a\0", json!(1)), ("a", json!([{ "b": "\0" }])), ("a", json!({ "b\0": 1 }))] {
            let custom = Filter { metadata: [(name.to_owned(), value)].into(), ..at.clone() };
            assert_eq!(custom.validate().unwrap_err().field(), Some("metadata"));
        }
        let plain = Filter { metadata: [("a".to_owned(), json!({ "b": ["\u{1}", 1, null] }))].into(), ..at };
        assert!(plain.validate().is_ok());
    }
}
