//! Which memories are meant?
//!
//! A filter is applied inside the store, never after it. The default filter sees what holds now:
//! active and decayed heads of chains that are valid and not expired.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::memory::contains_nul;
use crate::{AccessPolicy, ContentHash, EntityId, Error, Memory, State};

/// A range of instants: from inclusive, until exclusive; either end may be open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeRange {
    /// The first instant inside.
    pub from: Option<Timestamp>,
    /// The first instant outside again.
    pub until: Option<Timestamp>,
}

impl TimeRange {
    /// Whether both ends are open.
    pub fn is_open(&self) -> bool {
        self.from.is_none() && self.until.is_none()
    }

    fn holds(&self, at: Option<Timestamp>) -> bool {
        self.is_open()
            || at.is_some_and(|at| self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at < until))
    }
}

/// A stretch of time that a phrase names, with how finely it names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    /// The first instant inside.
    pub from: Timestamp,
    /// The first instant outside again.
    pub until: Timestamp,
    /// How finely it was said.
    pub grain: Grain,
}

/// How finely a time was said.
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

/// The most entries of one list.
const LONGEST: usize = 256;

/// Which memories are meant. An empty list or an absent value leaves that side open.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// The clock of the question: validity and expiry are judged by it.
    pub now: Timestamp,
    /// See what held at this instant instead of what holds now.
    pub as_of: Option<Timestamp>,
    /// States to see.
    pub states: Vec<State>,
    /// Whether replaced memories are seen as well.
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
    /// Whether it mirrors a knowledge item.
    pub has_knowledge_pointer: Option<bool>,
    /// Whether it is pinned.
    pub pinned: Option<bool>,
    /// At least this important.
    pub importance_min: Option<f64>,
    /// At most this important.
    pub importance_max: Option<f64>,
    /// At least this certain.
    pub confidence_min: Option<f64>,
    /// At most this certain.
    pub confidence_max: Option<f64>,
    /// When it happened.
    pub event: TimeRange,
    /// When it happened; what has no time of its own, when it was said or came into the store.
    pub happened: TimeRange,
    /// When it came into the store.
    pub created: TimeRange,
    /// When it last changed.
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
    /// About the same side of the same thing. Not a field of the record, so the law does not know it.
    pub claim: Option<ContentHash>,
    /// Stored under the key of the same text. Not a field of the record either.
    pub twin: Option<ContentHash>,
    /// Speaks of this thing. Not a field of the record either.
    pub about: Option<EntityId>,
}

impl Filter {
    /// What holds now, for a clock that shows `now`.
    pub fn at(now: Timestamp) -> Self {
        Self {
            now,
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

    /// Everything that is stored, in whatever state.
    pub fn everything(now: Timestamp) -> Self {
        Self { states: State::ALL.to_vec(), superseded: true, ..Self::at(now) }
    }

    /// Whether validity, expiry and supersession are judged at all.
    pub fn judges_time(&self) -> bool {
        !self.superseded
    }

    /// Whether this memory is meant. Stores answer the same question in their own language; this
    /// is the law they are tested against.
    pub fn matches(&self, memory: &Memory) -> bool {
        let any = |wanted: &[String], value: Option<&str>| {
            wanted.is_empty() || value.is_some_and(|value| wanted.iter().any(|w| w == value))
        };
        let source = memory.source.as_ref();
        self.states.contains(&memory.state)
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
            && memory.expires_at.is_none_or(|expires| self.now < expires)
    }

    /// Refuses bounds that are no numbers or ranges that are upside down.
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
                return Err(Error::invalid(field, format!("{field} lies before the start of its range")));
            }
        }
        for (field, list) in [
            ("kinds", &self.kinds),
            ("categories", &self.categories),
            ("tags", &self.tags),
            ("sourceTypes", &self.source_types),
            ("sourceRoles", &self.source_roles),
            ("users", &self.users),
            ("agents", &self.agents),
            ("sessions", &self.sessions),
            ("runs", &self.runs),
            ("actors", &self.actors),
            ("roles", &self.roles),
            ("threads", &self.threads),
        ] {
            if list.len() > LONGEST {
                return Err(Error::invalid(field, format!("{field} has {} entries, more than {LONGEST}", list.len())));
            }
            if list.iter().any(|text| text.contains('\0')) {
                return Err(Error::nul(field));
            }
        }
        if self.metadata.len() > LONGEST {
            return Err(Error::invalid("custom", format!("more than {LONGEST} metadata fields are asked for")));
        }
        if self.metadata.iter().any(|(name, value)| name.contains('\0') || contains_nul(value)) {
            return Err(Error::nul("custom"));
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
            assert_eq!(custom.validate().unwrap_err().field(), Some("custom"));
        }
        let plain = Filter { metadata: [("a".to_owned(), json!({ "b": ["\u{1}", 1, null] }))].into(), ..at };
        assert!(plain.validate().is_ok());
    }
}
