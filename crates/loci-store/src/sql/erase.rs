//! What did one user leave in a space, and how does all of it go?
//!
//! A user's own are the memories of their scopes, and those anywhere that name them as user or as the one who
//! spoke. With them go words, vectors, edges and mentions, entities that nobody else speaks of, facts,
//! checkpoints, sessions, notes and waiting work. The ledger keeps the numbers of its lines and what happened,
//! and of each memory the hash of its words; nothing in it says any more what it was or whose.

use std::collections::HashSet;

use loci_types::{Change, Event, MemoryId, Outcome, Scope};
use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::apply::{Applier, nothing};
use super::{Connection, Value, entities, params};
use crate::{Applied, Result, UserData, sql};

/// A user's own in a space.
struct UserRows {
    scopes: Vec<i64>,
    keys: HashSet<String>,
    rows: Vec<i64>,
    ids: Vec<[u8; 16]>,
}

impl UserRows {
    fn find(connection: &dyn Connection, user: &str) -> sql::Result<Self> {
        let all: Vec<(i64, String)> = connection
            .prepare_cached("SELECT scope, key FROM scopes")?
            .query_map(params![], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<sql::Result<_>>()?;
        let theirs =
            |key: &str| Scope::from_key(key).is_ok_and(|scope| scope.identifiers().user_id.as_deref() == Some(user));
        let (scopes, keys) = all.into_iter().filter(|(_, key)| theirs(key)).unzip::<_, _, Vec<_>, HashSet<_>>();
        let sql = format!(
            "SELECT row, id FROM memories WHERE scope IN (SELECT value FROM {}) OR user_id = ? OR actor_id = ? ORDER BY row",
            connection.dialect().integers
        );
        let found: Vec<(i64, [u8; 16])> = connection
            .prepare_cached(&sql)?
            .query_map(vec![Value::Integers(scopes.clone()), user.into(), user.into()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<sql::Result<_>>()?;
        let (rows, ids) = found.into_iter().unzip();
        Ok(Self { scopes, keys, rows, ids })
    }

    /// Rows of a table whose column is one of these numbers.
    fn count(connection: &dyn Connection, table: &str, column: &str, numbers: &[i64]) -> sql::Result<u64> {
        let own = connection.dialect().integers;
        let sql = format!("SELECT count(*) FROM {table} WHERE {column} IN (SELECT value FROM {own})");
        connection.prepare_cached(&sql)?.query_row(vec![Value::Integers(numbers.to_vec())], |row| row.get(0))
    }

    fn delete(&self, connection: &dyn Connection, table: &str) -> sql::Result<usize> {
        let sql = format!("DELETE FROM {table} WHERE scope IN (SELECT value FROM {})", connection.dialect().integers);
        connection.execute(&sql, vec![Value::Integers(self.scopes.clone())])
    }

    /// The answers kept for repeated requests that name them or something of theirs. Those that the user asked for
    /// themselves stand under their scope and go with it; these were asked for by a credential of several users.
    fn answers(&self, connection: &dyn Connection, user: &str) -> sql::Result<Vec<String>> {
        let all: Vec<(String, String)> = connection
            .prepare_cached("SELECT key, value FROM notes WHERE key LIKE 'answer %'")?
            .query_map(params![], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<sql::Result<_>>()?;
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
        let all: Vec<(i64, String)> = connection
            .prepare_cached("SELECT id, payload FROM jobs")?
            .query_map(params![], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<sql::Result<_>>()?;
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

/// What a user left in a space, counted.
pub(crate) fn user_data(connection: &dyn Connection, user: &str) -> sql::Result<UserData> {
    connection.without_timeout()?;
    let own = UserRows::find(connection, user)?;
    let of_scopes = |table: &str| UserRows::count(connection, table, "scope", &own.scopes);
    let of_rows = |table: &str, column: &str| UserRows::count(connection, table, column, &own.rows);
    let by_them: u64 = connection
        .prepare_cached("SELECT count(*) FROM ledger WHERE actor = ?1")?
        .query_row(params![user], |row| row.get(0))?;
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
    /// Takes all of a user away.
    pub(crate) fn erase_user(&self, change: &Change, user: &str) -> Result<Applied> {
        self.sql(self.connection.without_timeout())?;
        // What is freed is overwritten, even before the database is scrubbed.
        self.sql(self.connection.overwrite_deleted())?;
        let own = self.sql(UserRows::find(self.connection, user))?;
        let jobs = self.sql(own.jobs(self.connection))?;
        for id in &own.ids {
            self.remove(change, MemoryId(Uuid::from_bytes(*id)), Event::Erase)?;
        }
        self.sql(self.rest_of(&own, &jobs, user))?;
        if own.ids.is_empty() && own.scopes.is_empty() {
            return Ok(nothing(Outcome::None));
        }
        let sequence = self.record(change, Event::Erase, None, None, Some(json!({ "memories": own.ids.len() })))?;
        Ok(Applied { sequence, ..nothing(Outcome::Erased) })
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
        for key in own.answers(connection, user)? {
            connection.execute("DELETE FROM notes WHERE key = ?1", params![key])?;
        }
        // What other memories of theirs had to do with these stands in lines about those.
        for (column, theirs) in [("scope", &own.scopes), ("memory", &own.rows)] {
            let emptied = format!(
                "UPDATE ledger SET old = NULL, new = CASE WHEN event = 'erase' THEN new END, actor = NULL, reason = '', \
                 thread_id = NULL, request_id = NULL WHERE {column} IN (SELECT value FROM {numbers})"
            );
            connection.execute(&emptied, vec![Value::Integers(theirs.clone())])?;
        }
        connection.execute("UPDATE ledger SET actor = NULL WHERE actor = ?1", params![user])?;
        own.delete(connection, "scopes").map(drop)
    }
}
