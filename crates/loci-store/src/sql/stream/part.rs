//! The part of a backup's `shared` space that belongs to one space.
//!
//! Backups from before there were user shards have the user and session layers in `shared`. Such a space is read once
//! for each space that its rows belong to, and only those rows are loaded. Rows without a known scope stay in `shared`.

use std::collections::{HashMap, HashSet};

use loci_types::{MemoryId, Scope, Space};
use serde_json::Value as Json;

use super::table::TableSpec;
use crate::Result;
use crate::sql::Value;

/// Selects the rows of one space. Tables are read in the order of their references, so a referenced row comes first.
pub(super) struct SpaceRows<'s> {
    space: &'s Space,
    /// The space of every scope, by its number.
    scopes: HashMap<i64, Space>,
    /// Whether a memory belongs to this space, by its id.
    memories: HashMap<[u8; 16], bool>,
    /// The numbers of the rows that belong to this space, by table.
    rows: HashSet<(&'static str, i64)>,
}

impl<'s> SpaceRows<'s> {
    pub(super) fn new(space: &'s Space) -> Self {
        Self { space, scopes: HashMap::new(), memories: HashMap::new(), rows: HashSet::new() }
    }

    /// Whether a row belongs to this space.
    pub(super) fn keeps(&mut self, table: &TableSpec, row: &[Value]) -> Result<bool> {
        let number = |column: &str| match table.value(row, column) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        };
        let has = |table, column: &str| number(column).is_some_and(|number| self.rows.contains(&(table, number)));
        let kept = match table.name {
            "scopes" => {
                let space = Scope::from_key(table.text(row, "key").unwrap_or_default())?.space();
                let own = space == *self.space;
                self.scopes.extend(number("scope").map(|scope| (scope, space)));
                own
            }
            "models" => true,
            "tags" | "vectors" => has("memories", "memory"),
            "edges" => has("memories", "source") && has("memories", "target"),
            "mentions" => has("memories", "memory") && has("entities", "entity"),
            "unions" => has("entities", "entity") && has("entities", "united_with"),
            "names" => has("entities", "entity"),
            "fact_sources" => has("facts", "fact") && has("memories", "memory"),
            "checkpoint_writes" => has("checkpoints", "checkpoint"),
            "jobs" => self.owns_job(table.text(row, "payload").unwrap_or_default()),
            // Scope 0 of a note, and the numbers of erased scopes, belong to no scope.
            _ => *number("scope").and_then(|scope| self.scopes.get(&scope)).unwrap_or(&Space::Shared) == *self.space,
        };
        if let ("memories", Some(Value::Blob(id))) = (table.name, table.value(row, "id"))
            && let Ok(id) = <[u8; 16]>::try_from(&id[..])
        {
            self.memories.insert(id, kept);
        }
        if kept && matches!(table.name, "memories" | "entities" | "facts" | "checkpoints") {
            self.rows.extend(number(table.lead).map(|number| (table.name, number)));
        }
        Ok(kept)
    }

    /// A job belongs to the scope or to the memory that it is about.
    fn owns_job(&self, payload: &str) -> bool {
        let payload: Json = serde_json::from_str(payload).unwrap_or_default();
        if let Some(scope) = payload["scope"].as_str().and_then(|key| Scope::from_key(key).ok()) {
            return scope.space() == *self.space;
        }
        let memory = serde_json::from_value::<MemoryId>(payload["memory"].clone()).ok();
        let own = memory.and_then(|id| self.memories.get(id.as_bytes()).copied());
        own.unwrap_or(*self.space == Space::Shared)
    }
}
