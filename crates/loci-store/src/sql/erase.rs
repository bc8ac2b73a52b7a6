//! What did one user leave in a space, and how does all of it go?
//!
//! A user's own are the memories of their scopes, and those anywhere that name them as user or as the one who
//! spoke. With them go words, vectors, edges and mentions, entities that nobody else speaks of, facts,
//! checkpoints, sessions, notes and waiting work. The ledger keeps the numbers of its lines and what happened,
//! and of each memory the hash of its words; nothing in it says any more what it was or whose.
//!
//! What one user left may be a large part of a space, so it goes in steps, each a transaction of its own that holds the space's
//! lock for a moment only. Every step is whole by itself and may be repeated: after a crash the rest is still there, is found
//! again by the scopes, which go last, and is erased by a second run. Only the last step says that it is done.

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

/// What is left of a line of the ledger.
const EMPTIED: &str = "old = NULL, new = CASE WHEN event = 'erase' THEN new END, actor = NULL, reason = '', \
                       thread_id = NULL, request_id = NULL";

/// That a line of the ledger is not emptied yet.
const IS_FULL: &str = "(old IS NOT NULL OR (new IS NOT NULL AND event <> 'erase') OR actor IS NOT NULL OR reason <> '' \
                       OR thread_id IS NOT NULL OR request_id IS NOT NULL)";

/// The tables whose rows have a number and a scope.
const NUMBERED: [(&str, &str); 3] = [("facts", "fact"), ("checkpoints", "checkpoint"), ("entities", "entity")];

/// Something that is removed in one transaction.
#[derive(Debug)]
pub(crate) enum Step {
    /// Kept answers and waiting work. They are found by the memories that they name, so they go before them.
    Requests { answers: Vec<String>, jobs: Vec<i64> },
    /// Memories, with everything that hangs on them and what the ledger tells of them.
    Memories(Vec<[u8; 16]>),
    /// Rows of a table, by number.
    Rows { table: &'static str, column: &'static str, numbers: Vec<i64> },
    /// What lines of the ledger tell.
    Lines(Vec<i64>),
    /// Who did what lines of the ledger tell of.
    Authored(Vec<i64>),
}

/// A user's own in a space.
struct UserRows {
    scopes: Vec<i64>,
    keys: HashSet<String>,
    rows: Vec<i64>,
    ids: Vec<[u8; 16]>,
}

impl UserRows {
    fn find(connection: &dyn Connection, user: &str) -> sql::Result<Self> {
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

    /// The steps that leave nothing but a little for [`Applier::erase_user`]. None where that does everything at once.
    fn steps(&self, connection: &dyn Connection, user: &str) -> sql::Result<Vec<Step>> {
        let mut steps = Vec::new();
        if self.ids.len() > MEMORIES_AT_ONCE {
            steps.push(Step::Requests { answers: self.answers(connection, user)?, jobs: self.jobs(connection)? });
            steps.extend(self.ids.chunks(MEMORIES_AT_ONCE).map(|ids| Step::Memories(ids.to_vec())));
        }
        for (table, column) in NUMBERED {
            let whose = format!(
                "SELECT {column} FROM {table} WHERE scope IN (SELECT value FROM {})",
                connection.dialect().integers
            );
            let numbers = numbers(connection, &whose, vec![Value::Integers(self.scopes.clone())])?;
            steps.extend(full_chunks(&numbers).map(|numbers| Step::Rows { table, column, numbers }));
        }
        Ok(steps)
    }

    /// The steps that empty lines of the ledger, when the memories are gone.
    fn lines(&self, connection: &dyn Connection, user: &str) -> sql::Result<Vec<Step>> {
        let own = connection.dialect().integers;
        let told = format!("SELECT sequence FROM ledger WHERE scope IN (SELECT value FROM {own}) AND {IS_FULL}");
        let told = numbers(connection, &told, vec![Value::Integers(self.scopes.clone())])?;
        let authored = numbers(connection, "SELECT sequence FROM ledger WHERE actor = ?1", vec![user.into()])?;
        Ok(full_chunks(&told).map(Step::Lines).chain(full_chunks(&authored).map(Step::Authored)).collect())
    }

    /// Rows of a table whose column is one of these numbers.
    fn count(connection: &dyn Connection, table: &str, column: &str, numbers: &[i64]) -> sql::Result<u64> {
        let own = connection.dialect().integers;
        let sql = format!("SELECT count(*) FROM {table} WHERE {column} IN (SELECT value FROM {own})");
        connection.query_row(&sql, vec![Value::Integers(numbers.to_vec())], |row| row.get(0))
    }

    fn delete(&self, connection: &dyn Connection, table: &str) -> sql::Result<usize> {
        let sql = format!("DELETE FROM {table} WHERE scope IN (SELECT value FROM {})", connection.dialect().integers);
        connection.execute(&sql, vec![Value::Integers(self.scopes.clone())])
    }

    /// The answers kept for repeated requests that name them or something of theirs. Those that the user asked for
    /// themselves stand under their scope and go with it; these were asked for by a credential of several users.
    fn answers(&self, connection: &dyn Connection, user: &str) -> sql::Result<Vec<String>> {
        let all: Vec<(String, String)> =
            connection.query_map("SELECT key, value FROM notes WHERE key LIKE 'answer %'", params![], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        let about = self.about();
        Ok(all.into_iter().filter(|(_, value)| about(value, Some(user))).map(|(key, _)| key).collect())
    }

    /// Tells whether JSON text names one of their memories or scopes, or the user.
    fn about(&self) -> impl Fn(&str, Option<&str>) -> bool {
        let ids: HashSet<String> = self.ids.iter().map(|id| Uuid::from_bytes(*id).to_string()).collect();
        move |text, user| {
            let value = serde_json::from_str(text).unwrap_or(Json::Null);
            names(&value, &|text| ids.contains(text) || self.keys.contains(text) || user == Some(text))
        }
    }

    /// The waiting work that is about them.
    fn jobs(&self, connection: &dyn Connection) -> sql::Result<Vec<i64>> {
        let all: Vec<(i64, String)> =
            connection.query_map("SELECT id, payload FROM jobs", params![], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let about = self.about();
        Ok(all.into_iter().filter(|(_, payload)| about(payload, None)).map(|(id, _)| id).collect())
    }
}

/// Whether a text like this stands anywhere in a value.
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

/// The ids so that what was replaced comes before what replaced it. Removing a head would make the one before it hold again,
/// for everyone to see until the next step.
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

/// The numbers in portions; the last, smaller one is left to [`Applier::erase_user`].
fn full_chunks(numbers: &[i64]) -> impl Iterator<Item = Vec<i64>> {
    numbers.chunks_exact(ROWS_AT_ONCE).map(<[i64]>::to_vec)
}

fn numbers(connection: &dyn Connection, sql: &str, values: Vec<Value>) -> sql::Result<Vec<i64>> {
    connection.query_map(sql, values, |row| row.get(0))
}

/// What is to be done before [`Applier::erase_user`]: first the steps that remove rows, then those that empty lines of the ledger.
pub(crate) fn steps(connection: &dyn Connection, user: &str, removed: bool) -> sql::Result<Vec<Step>> {
    connection.without_timeout()?;
    let own = UserRows::find(connection, user)?;
    if removed { own.lines(connection, user) } else { own.steps(connection, user) }
}

/// What a user left in a space, counted.
pub(crate) fn user_data(connection: &dyn Connection, user: &str) -> sql::Result<UserData> {
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
    /// Does one step. Returns how many memories it removed.
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

    /// Takes all of a user away. `removed`: the number of memories that steps before this one have removed.
    pub(crate) fn erase_user(&self, change: &Change, user: &str, removed: usize) -> Result<Applied> {
        self.sql(self.connection.without_timeout())?;
        // What is freed is overwritten, even before the database is scrubbed.
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

    /// Removes memories, if they are still there, and empties what the ledger tells of them. Returns how many there were.
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

    fn rest_of(&self, own: &UserRows, jobs: &[i64], user: &str) -> sql::Result<()> {
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
        // What other memories of theirs had to do with these stands in lines about those.
        self.empty_lines("scope", &own.scopes)?;
        connection.execute("UPDATE ledger SET actor = NULL WHERE actor = ?1", params![user])?;
        own.delete(connection, "scopes").map(drop)
    }

    fn forget_answers(&self, keys: &[String]) -> sql::Result<()> {
        keys.iter()
            .try_for_each(|key| self.connection.execute("DELETE FROM notes WHERE key = ?1", params![key]).map(drop))
    }

    /// Empties the lines of the ledger whose column is one of these numbers.
    fn empty_lines(&self, column: &str, numbers: &[i64]) -> sql::Result<usize> {
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
            // A head that was imported before what it replaced.
            (vec![(3, Some(2)), (1, None), (2, Some(1))], vec![1, 2, 3]),
            // Someone else's, and a circle of an earlier version.
            (vec![(1, Some(9)), (2, Some(3)), (3, Some(2))], vec![1, 3, 2]),
        ] {
            let found: Vec<_> = found.into_iter().map(|(one, older)| (0, id(one), older.map(id))).collect();
            assert_eq!(replaced_first(&found), expect.into_iter().map(id).collect::<Vec<_>>());
        }
    }
}
