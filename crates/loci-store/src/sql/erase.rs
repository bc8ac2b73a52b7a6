//! Finds and erases all data of one user in a space.
//!
//! This is the memories of the user's scopes, and all others with the user as `user_id` or `actor_id`. Their terms,
//! vectors, edges and mentions are erased with them, and so are entities without other mentions, facts, checkpoints,
//! sessions, notes and jobs. The ledger keeps its sequence numbers, the events, and the content hash of each memory;
//! nothing else in it refers to the content or the user.
//!
//! The data of one user may be a large part of a space, so it is erased in steps, each in a transaction of its own that
//! locks the space only briefly. Every step is atomic and idempotent: after a crash the rest is found by the scopes,
//! which are deleted last, and erased by a second run. Only the last step records the erasure.

use std::collections::{HashMap, HashSet};

use loci_types::{Change, Event, MemoryId, Outcome, Scope};
use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::apply::{Applier, nothing};
use super::{Connection, Value, entities, params};
use crate::{Applied, Result, UserData, sql};

/// Number of memories that one step removes.
const MEMORIES_AT_ONCE: usize = 256;

/// Number of other rows that one step deletes or empties.
const ROWS_AT_ONCE: usize = 4_096;

/// The assignments that clear a ledger entry.
const EMPTIED: &str = "old = NULL, new = CASE WHEN event = 'erase' THEN new END, actor = NULL, reason = '', \
                       thread_id = NULL, request_id = NULL";

/// The condition that a ledger entry is not cleared yet.
const IS_FULL: &str = "(old IS NOT NULL OR (new IS NOT NULL AND event <> 'erase') OR actor IS NOT NULL OR reason <> '' \
                       OR thread_id IS NOT NULL OR request_id IS NOT NULL)";

/// The tables with a number and a scope in each row, and the column of the number.
const NUMBERED: [(&str, &str); 3] = [("facts", "fact"), ("checkpoints", "checkpoint"), ("entities", "entity")];

/// What is removed in one transaction.
#[derive(Debug)]
pub(crate) enum Step {
    /// Stored responses and jobs. They are found by the memories that they name, so they are removed before them.
    Requests { answers: Vec<String>, jobs: Vec<i64> },
    /// Memories with everything that refers to them, and the content of their ledger entries.
    Memories(Vec<[u8; 16]>),
    /// Rows of a table, by number.
    Rows { table: &'static str, column: &'static str, numbers: Vec<i64> },
    /// Ledger entries to clear.
    Lines(Vec<i64>),
    /// Ledger entries whose actor is cleared.
    Authored(Vec<i64>),
}

/// The rows of a user in a space.
struct UserRows {
    scopes: Vec<i64>,
    keys: HashSet<String>,
    rows: Vec<i64>,
    ids: Vec<[u8; 16]>,
}

impl UserRows {
    fn find(connection: &dyn Connection, user: &str) -> sql::SqlResult<Self> {
        let all: Vec<(i64, String)> =
            connection.query_map("SELECT scope, key FROM scopes", params![], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let theirs =
            |key: &str| Scope::from_key(key).is_ok_and(|scope| scope.identifiers().user_id.as_deref() == Some(user));
        let (scopes, keys) = all.into_iter().filter(|(_, key)| theirs(key)).unzip::<_, _, Vec<_>, HashSet<_>>();
        let sql = format!(
            "SELECT row, id, supersedes_id FROM memories WHERE scope IN (SELECT value FROM {}) OR user_id = ? OR actor_id = ? \
             ORDER BY row",
            connection.dialect().integers
        );
        let found: Vec<Removed> =
            connection.query_map(&sql, vec![Value::Integers(scopes.clone()), user.into(), user.into()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        let rows = found.iter().map(|(row, ..)| *row).collect();
        Ok(Self { scopes, keys, rows, ids: replaced_first(&found) })
    }

    /// The steps that remove all but a rest for [`Applier::erase_user`]. Empty if that can remove everything at once.
    fn steps(&self, connection: &dyn Connection, user: &str) -> sql::SqlResult<Vec<Step>> {
        let mut steps = Vec::new();
        if self.ids.len() > MEMORIES_AT_ONCE {
            steps.push(Step::Requests { answers: self.answers(connection, user)?, jobs: self.jobs(connection)? });
            steps.extend(self.ids.chunks(MEMORIES_AT_ONCE).map(|ids| Step::Memories(ids.to_vec())));
        }
        for (table, column) in NUMBERED {
            let select = format!(
                "SELECT {column} FROM {table} WHERE scope IN (SELECT value FROM {})",
                connection.dialect().integers
            );
            let numbers = numbers(connection, &select, vec![Value::Integers(self.scopes.clone())])?;
            steps.extend(full_chunks(&numbers).map(|numbers| Step::Rows { table, column, numbers }));
        }
        Ok(steps)
    }

    /// The steps that clear ledger entries, after the memories are removed.
    fn lines(&self, connection: &dyn Connection, user: &str) -> sql::SqlResult<Vec<Step>> {
        let own = connection.dialect().integers;
        let full = format!("SELECT sequence FROM ledger WHERE scope IN (SELECT value FROM {own}) AND {IS_FULL}");
        let full = numbers(connection, &full, vec![Value::Integers(self.scopes.clone())])?;
        let authored = numbers(connection, "SELECT sequence FROM ledger WHERE actor = ?1", vec![user.into()])?;
        Ok(full_chunks(&full).map(Step::Lines).chain(full_chunks(&authored).map(Step::Authored)).collect())
    }

    /// Number of rows of a table whose column is one of these numbers.
    fn count(connection: &dyn Connection, table: &str, column: &str, numbers: &[i64]) -> sql::SqlResult<u64> {
        let own = connection.dialect().integers;
        let sql = format!("SELECT count(*) FROM {table} WHERE {column} IN (SELECT value FROM {own})");
        connection.query_row(&sql, vec![Value::Integers(numbers.to_vec())], |row| row.get(0))
    }

    fn delete(&self, connection: &dyn Connection, table: &str) -> sql::SqlResult<usize> {
        let sql = format!("DELETE FROM {table} WHERE scope IN (SELECT value FROM {})", connection.dialect().integers);
        connection.execute(&sql, vec![Value::Integers(self.scopes.clone())])
    }

    /// Keys of the responses stored for repeated requests that name the user or the user's data. Requests of the user
    /// have theirs under the user's scope, which is deleted; these are of a credential for several users.
    fn answers(&self, connection: &dyn Connection, user: &str) -> sql::SqlResult<Vec<String>> {
        let all: Vec<(String, String)> =
            connection.query_map("SELECT key, value FROM notes WHERE key LIKE 'answer %'", params![], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        let about = self.about();
        Ok(all.into_iter().filter(|(_, value)| about(value, Some(user))).map(|(key, _)| key).collect())
    }

    /// Returns a test whether a JSON text names one of the memories or scopes, or the user.
    fn about(&self) -> impl Fn(&str, Option<&str>) -> bool {
        let ids: HashSet<String> = self.ids.iter().map(|id| Uuid::from_bytes(*id).to_string()).collect();
        move |text, user| {
            let value = serde_json::from_str(text).unwrap_or(Json::Null);
            names(&value, &|text| ids.contains(text) || self.keys.contains(text) || user == Some(text))
        }
    }

    /// The jobs that name one of the memories or scopes.
    fn jobs(&self, connection: &dyn Connection) -> sql::SqlResult<Vec<i64>> {
        let all: Vec<(i64, String)> =
            connection.query_map("SELECT id, payload FROM jobs", params![], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let about = self.about();
        Ok(all.into_iter().filter(|(_, payload)| about(payload, None)).map(|(id, _)| id).collect())
    }
}

/// Whether a JSON value contains a matching string.
fn names(value: &Json, like: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Json::String(text) => like(text),
        Json::Array(values) => values.iter().any(|value| names(value, like)),
        Json::Object(fields) => fields.values().any(|value| names(value, like)),
        _ => false,
    }
}

/// A memory to remove: its row, its id, and the id of the one that it supersedes.
type Removed = (i64, [u8; 16], Option<[u8; 16]>);

/// The ids in the order of their chains, superseded memories first. Removing a head first would reinstate the one
/// before it, which would be visible until the next step.
fn replaced_first(found: &[Removed]) -> Vec<[u8; 16]> {
    let older: HashMap<[u8; 16], Option<[u8; 16]>> = found.iter().map(|(_, id, older)| (*id, *older)).collect();
    let (mut ordered, mut seen) = (Vec::with_capacity(found.len()), HashSet::new());
    for (_, id, _) in found {
        let mut chain = Vec::new();
        let mut next = Some(*id);
        while let Some(id) = next.filter(|id| older.contains_key(id) && seen.insert(*id)) {
            chain.push(id);
            next = older[&id];
        }
        ordered.extend(chain.into_iter().rev());
    }
    ordered
}

/// The numbers in full chunks; the rest is left to [`Applier::erase_user`].
fn full_chunks(numbers: &[i64]) -> impl Iterator<Item = Vec<i64>> {
    numbers.chunks_exact(ROWS_AT_ONCE).map(<[i64]>::to_vec)
}

fn numbers(connection: &dyn Connection, sql: &str, values: Vec<Value>) -> sql::SqlResult<Vec<i64>> {
    connection.query_map(sql, values, |row| row.get(0))
}

/// The steps before [`Applier::erase_user`]: those that remove rows or, if `removed`, those that clear ledger entries.
pub(crate) fn steps(connection: &dyn Connection, user: &str, removed: bool) -> sql::SqlResult<Vec<Step>> {
    connection.without_timeout()?;
    let own = UserRows::find(connection, user)?;
    if removed { own.lines(connection, user) } else { own.steps(connection, user) }
}

/// Counts the data of a user in a space.
pub(crate) fn user_data(connection: &dyn Connection, user: &str) -> sql::SqlResult<UserData> {
    connection.without_timeout()?;
    let own = UserRows::find(connection, user)?;
    let of_scopes = |table: &str| UserRows::count(connection, table, "scope", &own.scopes);
    let of_rows = |table: &str, column: &str| UserRows::count(connection, table, column, &own.rows);
    let by_them: u64 =
        connection.query_row("SELECT count(*) FROM ledger WHERE actor = ?1", params![user], |row| row.get(0))?;
    Ok(UserData {
        memories: own.rows.len() as u64,
        vectors: of_rows("vectors", "memory")?,
        edges: of_rows("edges", "source")?,
        entities: of_scopes("entities")?,
        facts: of_scopes("facts")?,
        checkpoints: of_scopes("checkpoints")?,
        sessions: of_scopes("sessions")?,
        notes: of_scopes("notes")?,
        jobs: own.jobs(connection)?.len() as u64,
        lines: of_scopes("ledger")?.max(by_them),
    })
}

impl Applier<'_> {
    /// Executes one step. Returns the number of memories it removed.
    pub(crate) fn erase_step(&self, change: &Change, step: &Step) -> Result<usize> {
        self.sql(self.connection.without_timeout())?;
        self.sql(self.connection.overwrite_deleted())?;
        let numbers = self.connection.dialect().integers;
        let delete = |table: &str, column: &str, rows: &[i64]| {
            let sql = format!("DELETE FROM {table} WHERE {column} IN (SELECT value FROM {numbers})");
            self.sql(self.connection.execute(&sql, vec![Value::Integers(rows.to_vec())]))
        };
        match step {
            Step::Requests { answers, jobs } => {
                self.sql(self.forget_answers(answers))?;
                delete("jobs", "id", jobs)?;
            }
            Step::Memories(ids) => return self.erase_memories(change, ids),
            Step::Rows { table, column, numbers } => drop(delete(table, column, numbers)?),
            Step::Lines(lines) => drop(self.sql(self.empty_lines("sequence", lines))?),
            Step::Authored(lines) => {
                let sql = format!("UPDATE ledger SET actor = NULL WHERE sequence IN (SELECT value FROM {numbers})");
                self.sql(self.connection.execute(&sql, vec![Value::Integers(lines.clone())]))?;
            }
        }
        Ok(0)
    }

    /// Erases all data of a user. `removed` is the number of memories that earlier steps have removed.
    pub(crate) fn erase_user(&self, change: &Change, user: &str, removed: usize) -> Result<Applied> {
        self.sql(self.connection.without_timeout())?;
        // Deleted content is overwritten, even before the database is scrubbed.
        self.sql(self.connection.overwrite_deleted())?;
        let own = self.sql(UserRows::find(self.connection, user))?;
        let jobs = self.sql(own.jobs(self.connection))?;
        let removed = removed + self.erase_memories(change, &own.ids)?;
        self.sql(self.rest_of(&own, &jobs, user))?;
        if removed == 0 && own.scopes.is_empty() {
            return Ok(nothing(Outcome::None));
        }
        let sequence = self.record(change, Event::Erase, None, None, Some(json!({ "memories": removed })))?;
        Ok(Applied { sequence, ..nothing(Outcome::Erased) })
    }

    /// Removes those of the memories that exist and clears their ledger entries. Returns their number.
    fn erase_memories(&self, change: &Change, ids: &[[u8; 16]]) -> Result<usize> {
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids.iter().map(|id| MemoryId(Uuid::from_bytes(*id))) {
            if let Some(stored) = self.lookup(id)? {
                rows.push(stored.row);
                self.remove(change, id, Event::Erase)?;
            }
        }
        self.sql(self.empty_lines("memory", &rows))?;
        Ok(rows.len())
    }

    fn rest_of(&self, own: &UserRows, jobs: &[i64], user: &str) -> sql::SqlResult<()> {
        let connection = self.connection;
        for table in ["facts", "checkpoints", "sessions", "notes", "entities"] {
            own.delete(connection, table)?;
        }
        entities::sweep(connection)?;
        let numbers = connection.dialect().integers;
        connection.execute(
            &format!("DELETE FROM jobs WHERE id IN (SELECT value FROM {numbers})"),
            vec![Value::Integers(jobs.to_vec())],
        )?;
        self.forget_answers(&own.answers(connection, user)?)?;
        // Entries about other memories of these scopes may name the erased ones.
        self.empty_lines("scope", &own.scopes)?;
        connection.execute("UPDATE ledger SET actor = NULL WHERE actor = ?1", params![user])?;
        own.delete(connection, "scopes").map(drop)
    }

    fn forget_answers(&self, keys: &[String]) -> sql::SqlResult<()> {
        keys.iter()
            .try_for_each(|key| self.connection.execute("DELETE FROM notes WHERE key = ?1", params![key]).map(drop))
    }

    /// Clears the ledger entries whose column is one of these numbers.
    fn empty_lines(&self, column: &str, numbers: &[i64]) -> sql::SqlResult<usize> {
        let of = self.connection.dialect().integers;
        let sql = format!("UPDATE ledger SET {EMPTIED} WHERE {column} IN (SELECT value FROM {of}) AND {IS_FULL}");
        self.connection.execute(&sql, vec![Value::Integers(numbers.to_vec())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_replaced_goes_first() {
        let id = |number: u8| [number; 16];
        for (found, expect) in [
            (vec![(1, None), (2, Some(1)), (3, None)], vec![1, 2, 3]),
            // A head that was imported before the memory it supersedes.
            (vec![(3, Some(2)), (1, None), (2, Some(1))], vec![1, 2, 3]),
            // A memory of another user, and a cycle of an earlier version.
            (vec![(1, Some(9)), (2, Some(3)), (3, Some(2))], vec![1, 3, 2]),
        ] {
            let found: Vec<_> = found.into_iter().map(|(one, older)| (0, id(one), older.map(id))).collect();
            assert_eq!(replaced_first(&found), expect.into_iter().map(id).collect::<Vec<_>>());
        }
    }
}
