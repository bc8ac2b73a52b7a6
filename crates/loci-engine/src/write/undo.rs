//! Undoes a ledger entry.
//!
//! An entry records the previous values. [`inverse`] computes the change that restores them, or why that is
//! impossible. An undo is a change like any other: it has its own ledger entry and can be undone.

use loci_store::LedgerQuery;
use loci_types::{Action, Batch, Error, ErrorKind, LedgerEntry, Memory, MemoryId, NewContent, Patch, Revision, Space};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::access::policy::{self, Caller};
use crate::learn::consent;
use crate::lifecycle::rules::state::days_after;
use crate::text::{content_hash, estimate_tokens};
use crate::{Engine, Result};

/// The result of an undo.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UndoOutcome {
    /// The number of the ledger entry.
    pub sequence: i64,
    /// The event of the entry.
    pub event: String,
    /// The memory of the entry.
    #[cfg_attr(feature = "schema", schema(required))]
    pub memory_id: Option<MemoryId>,
    /// What was done, in words.
    pub done: String,
}

/// The inverse of a ledger entry.
#[derive(Debug, Clone, PartialEq)]
enum Inverse {
    /// Forget this memory.
    Forget(MemoryId),
    /// Forget or split the memory that replaced it.
    Newer { old: MemoryId, newer: MemoryId },
    /// Restore it.
    Restore(MemoryId),
    /// Restore these fields; they must still have the values of the entry.
    Fields { id: MemoryId, old: Map<String, Value>, new: Map<String, Value> },
    /// Split a merge: the entry that changed the merged memory, and the memories it absorbed.
    Split { into: MemoryId, from: Vec<MemoryId>, revised: Option<i64> },
    /// Change links or entities.
    Plain(Action),
}

/// The inverse of an entry, or why there is none.
fn inverse(entry: &LedgerEntry) -> Result<Inverse, String> {
    let id = || entry.memory_id.ok_or_else(|| "the entry names no memory".to_owned());
    let fields = |value: &Option<Value>| match value {
        Some(Value::Object(fields)) => fields.clone(),
        _ => Map::new(),
    };
    let (old, new) = (fields(&entry.old), fields(&entry.new));
    match entry.event.to_ascii_lowercase().as_str() {
        "add" => Ok(Inverse::Forget(id()?)),
        "delete" => Ok(Inverse::Restore(id()?)),
        "restore" if new.contains_key("state") => Ok(Inverse::Forget(id()?)),
        "update" | "access_policy" => Ok(Inverse::Fields { id: id()?, old, new }),
        "supersede" => match new.get("supersededById").and_then(|by| serde_json::from_value(by.clone()).ok()) {
            Some(newer) => Ok(Inverse::Newer { old: id()?, newer }),
            None => Err("the entry names no newer memory".to_owned()),
        },
        "ttl" if new.contains_key("state") => Ok(Inverse::Restore(id()?)),
        "ttl" if entry.memory_id.is_none() => Err("ageing cannot be undone: it only follows elapsed time".to_owned()),
        "ttl" | "erase" => Err("purged data cannot be restored by an undo; restore a backup".to_owned()),
        "consent" => match new.get("state").and_then(Value::as_str) {
            Some("active") => Ok(Inverse::Forget(id()?)),
            _ => Err("a consent decision cannot be undone; store the statement again with `loci remember`".to_owned()),
        },
        "merge" => {
            let from = new.get("from").and_then(|from| serde_json::from_value(from.clone()).ok());
            let from = from.ok_or_else(|| "the entry does not record what was merged".to_owned())?;
            Ok(Inverse::Split { into: id()?, from, revised: new.get("revised").and_then(Value::as_i64) })
        }
        "link" => Ok(Inverse::Plain(unlink(id()?, &new)?)),
        "entity" => match new.get("united").and_then(|one| serde_json::from_value(one.clone()).ok()) {
            Some(entity) => Ok(Inverse::Plain(Action::Divide { scope: None, entity })),
            None => Err("only a merge of two entities can be undone".to_owned()),
        },
        "fact" => Err("`loci fact retract` retracts a fact, and `loci fact add` states it again".to_owned()),
        "unlink" => Err("the link cannot be restored, because its properties were not stored".to_owned()),
        other => Err(format!("{} entries cannot be undone", other.to_uppercase())),
    }
}

fn unlink(source: MemoryId, values: &Map<String, Value>) -> Result<Action, String> {
    let read = |field: &str| values.get(field).cloned().unwrap_or(Value::Null);
    let missing = |_| "the entry does not record what was linked".to_owned();
    Ok(Action::Unlink {
        source,
        target: serde_json::from_value(read("target")).map_err(missing)?,
        relation: serde_json::from_value(read("relation")).map_err(missing)?,
    })
}

impl Engine {
    /// Undoes one entry of a space's ledger.
    pub async fn undo(&self, caller: &Caller, space: &Space, sequence: i64) -> Result<UndoOutcome> {
        policy::require_writer(caller)?;
        let entry = self.entry(caller, space, sequence).await?;
        let refuse = |why: String| {
            Error::new(ErrorKind::InvalidInput, format!("entry {sequence} cannot be undone: {why}"))
                .at("sequence")
                .hint("`loci history ID` shows the entries of a memory with their numbers")
        };
        let inverse = inverse(&entry).map_err(refuse)?;
        let (actions, done) = self.actions_of(caller, space, inverse).await?;
        let reason = format!("undo of entry {sequence}");
        let changes = actions.into_iter().map(|action| self.change(caller, "operator", &reason, action)).collect();
        self.apply(Batch { tenant: caller.tenant.clone(), space: space.clone(), changes }).await?;
        if let Some(id) = entry.memory_id {
            self.feature_cache.forget(id);
        }
        Ok(UndoOutcome { sequence, event: entry.event, memory_id: entry.memory_id, done })
    }

    async fn entry(&self, caller: &Caller, space: &Space, sequence: i64) -> Result<LedgerEntry> {
        let visible = self.visible_by_id(caller).await?;
        let after = LedgerQuery::After { space: space.clone(), sequence: sequence.saturating_sub(1) };
        let mut lines = self.store.ledger(&visible, &after, 1).await?.entries;
        Ok(lines.pop().filter(|line| line.sequence == sequence).ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("space {} has no visible entry {sequence}", space.name()))
                .at("sequence")
                .hint("`loci history ID` shows the entries of a memory with their numbers")
        })?)
    }

    async fn actions_of(&self, caller: &Caller, space: &Space, inverse: Inverse) -> Result<(Vec<Action>, String)> {
        let visible = self.visible_by_id(caller).await?;
        Ok(match inverse {
            Inverse::Newer { old, newer } => {
                let newer = self.one(&visible, newer).await?;
                // One that took it up is kept; one that took its place goes.
                let taken_up = newer.supersedes_id != Some(old);
                let inverse = if taken_up {
                    Inverse::Split { into: newer.id, from: vec![old], revised: None }
                } else {
                    Inverse::Forget(newer.id)
                };
                return Box::pin(self.actions_of(caller, space, inverse)).await;
            }
            Inverse::Forget(id) => {
                consent::require_decision(caller, &self.one(&visible, id).await?)?;
                let purge_at = days_after(self.now(), i64::from(self.config.lifecycle.purge_days));
                (vec![Action::Forget { id, expect: None, purge_at }], format!("forgot {id}"))
            }
            Inverse::Restore(id) => {
                let memory = self.one(&visible, id).await?;
                consent::require_accepted(&memory)?;
                (self.restoring(&memory), format!("restored {id}"))
            }
            Inverse::Plain(action) => {
                if let Action::Unlink { target, .. } = &action {
                    self.one(&visible, *target).await?;
                }
                (vec![action], "removed the link or the merge".to_owned())
            }
            Inverse::Fields { id, old, new } => {
                let names: Vec<&String> = new.keys().chain(old.keys()).collect();
                let done = format!("gave {id} its earlier {}", words(&names));
                (vec![self.revert(caller, id, &old, &new).await?], done)
            }
            Inverse::Split { into, from, revised } => {
                for id in &from {
                    self.one(&visible, *id).await?;
                }
                let done = format!("split {} memories from {into}", from.len());
                let mut actions = Vec::new();
                if let Some(sequence) = revised {
                    let entry = self.entry(caller, space, sequence).await?;
                    if let (Some(Value::Object(old)), Some(Value::Object(new))) = (entry.old, entry.new) {
                        actions.push(self.revert(caller, into, &old, &new).await?);
                    }
                }
                actions.push(Action::Split { into, from });
                (actions, done)
            }
        })
    }

    /// The change that restores old fields, if they were not changed since.
    async fn revert(
        &self,
        caller: &Caller,
        id: MemoryId,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
    ) -> Result<Action> {
        let memory = self.one(&self.visible_by_id(caller).await?, id).await?;
        let now = serde_json::to_value(&memory).unwrap_or_default();
        // Scores change with time and use; that is not a conflict.
        let follows = |field: &str| matches!(field, "confidence" | "relevance");
        let changed = new.iter().find(|(field, value)| !follows(field) && now.get(*field) != Some(value));
        if let Some((field, _)) = changed {
            let message = format!("{field} of memory {id} has changed since; undo the later change first");
            return Err(Error::new(ErrorKind::Conflict, message).at("sequence").into());
        }
        let mut restored = now.as_object().cloned().unwrap_or_default();
        for field in new.keys() {
            restored.remove(field);
        }
        restored.extend(old.clone());
        let before: Memory = serde_json::from_value(Value::Object(restored)).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("the old values of memory {id} cannot be read: {error}"))
        })?;
        let patch = self.patch_to(&memory, &before);
        let jobs = if patch.content.is_some() { self.embed_jobs(id, self.now()) } else { Vec::new() };
        Ok(Action::Revise(Box::new(Revision { id, expect: Some(memory.version), patch, vector: None, jobs })))
    }

    /// The patch that gives `memory` the values of `before`.
    fn patch_to(&self, memory: &Memory, before: &Memory) -> Patch {
        let mut whole = before.clone();
        whole.content_hash = content_hash(&before.content);
        let content = (memory.content != before.content).then(|| NewContent {
            text: before.content.clone(),
            hash: whole.content_hash,
            unless: Some(self.twin_key(&whole)),
            claim: self.claim_of(before),
            tokens: estimate_tokens(&before.content),
        });
        // Fields that are gone are named, so that they go.
        let mut metadata = before.metadata.clone();
        for key in memory.metadata.keys() {
            metadata.entry(key.clone()).or_insert(Value::Null);
        }
        Patch {
            content,
            kind: Some(before.kind.clone()),
            category: Some(before.category.clone()),
            tags: Some(before.tags.clone()),
            metadata: Some(metadata),
            source: Some(before.source.clone()),
            knowledge_pointer: Some(before.knowledge_pointer.clone()),
            access_policy: Some(before.access_policy),
            importance: Some(before.importance),
            confidence: Some(before.confidence),
            relevance: Some(before.relevance),
            decay_rate: Some(before.decay_rate),
            state: (memory.state.is_live() && before.state.is_live()).then_some(before.state),
            pinned: Some(before.pinned),
            event_time: Some(before.event_time),
            valid_from: Some(before.valid_from),
            valid_until: Some(before.valid_until),
            expires_at: Some(before.expires_at),
        }
    }
}

fn words(names: &[&String]) -> String {
    let mut names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(event: &str, old: Value, new: Value) -> LedgerEntry {
        LedgerEntry {
            space: "shared".into(),
            sequence: 7,
            at: "2026-06-01T12:00:00Z".parse().unwrap(),
            event: event.into(),
            memory_id: Some(MemoryId(uuid::Uuid::from_u128(1))),
            version: Some(2),
            old: (!old.is_null()).then_some(old),
            new: (!new.is_null()).then_some(new),
            actor: None,
            node: None,
            reason: String::new(),
            thread_id: None,
            request_id: None,
        }
    }

    // Coverage: SPEC-7.5.
    #[test]
    fn every_line_has_its_inverse_or_a_reason() {
        let one = MemoryId(uuid::Uuid::from_u128(1));
        let two = MemoryId(uuid::Uuid::from_u128(2));
        let check = |event: &str, old: Value, new: Value, expect: Result<Inverse, &str>| {
            let found = inverse(&entry(event, old, new));
            match (found, expect) {
                (Ok(found), Ok(expect)) => assert_eq!(found, expect, "{event}"),
                (Err(found), Err(expect)) => assert!(found.contains(expect), "{event}: {found}"),
                (found, expect) => panic!("{event}: {found:?}, not {expect:?}"),
            }
        };
        let null = Value::Null;
        check("ADD", null.clone(), null.clone(), Ok(Inverse::Forget(one)));
        check("DELETE", json!({ "state": "active" }), json!({ "state": "soft_deleted" }), Ok(Inverse::Restore(one)));
        check("RESTORE", json!({ "state": "soft_deleted" }), json!({ "state": "active" }), Ok(Inverse::Forget(one)));
        check("TTL", json!({ "state": "active" }), json!({ "state": "archived" }), Ok(Inverse::Restore(one)));
        check("TTL", null.clone(), null.clone(), Err("restore a backup"));
        check("ERASE", null.clone(), null.clone(), Err("restore a backup"));
        check("SUPERSEDE", null.clone(), json!({ "supersededById": two }), Ok(Inverse::Newer { old: one, newer: two }));
        check("CONSENT", null.clone(), json!({ "state": "active" }), Ok(Inverse::Forget(one)));
        check("CONSENT", null.clone(), json!({ "state": "soft_deleted" }), Err("cannot be undone"));
        check("EMBED", null.clone(), json!({ "model": "m" }), Err("cannot be undone"));
        check("UNLINK", null.clone(), null.clone(), Err("not stored"));
        let fields = |value: Value| value.as_object().cloned().unwrap();
        let (old, new) = (json!({ "pinned": false }), json!({ "pinned": true }));
        let back = Inverse::Fields { id: one, old: fields(old.clone()), new: fields(new.clone()) };
        check("UPDATE", old, new, Ok(back));
        let split = Inverse::Split { into: one, from: vec![two], revised: Some(5) };
        check("MERGE", null.clone(), json!({ "from": [two], "revised": 5 }), Ok(split));
        let link = json!({ "relation": "causal", "target": two });
        let unlink = Action::Unlink { source: one, target: two, relation: loci_types::Relation::Causal };
        check("LINK", null, link, Ok(Inverse::Plain(unlink)));
    }
}
