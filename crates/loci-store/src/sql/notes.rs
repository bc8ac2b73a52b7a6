//! Notes: small values by key that the engine keeps for itself.
//!
//! Notes hold counters, marks of finished checks and the answers to idempotent requests. They must not contain the text
//! of a memory.

use jiff::Timestamp;
use loci_types::{Change, NoteValue, Outcome, Scope};

use super::apply::{Applier, nothing};
use super::clause::Clause;
use super::{Connection, OptionalExtension, Row, Value, params, params_from_iter};
use crate::sql;
use crate::{Applied, Result};

/// The scope number of notes that belong to no scope.
const NOBODY: i64 = 0;

impl Applier<'_> {
    /// Sets a note or adds to its number. An expired note counts as missing.
    pub(crate) fn note(
        &self,
        change: &Change,
        scope: Option<&Scope>,
        key: &str,
        value: &NoteValue,
        until: Option<Timestamp>,
    ) -> Result<Applied> {
        if let (Some(scope), NoteValue::Set(value)) = (scope, value)
            && self.set_note(scope, key, &value.to_string(), until)?
        {
            return Ok(nothing(Outcome::Updated));
        }
        let scope = scope.map_or(Ok(NOBODY), |scope| self.scope(scope))?;
        let value = match value {
            NoteValue::Set(value) => value.to_string(),
            NoteValue::Add(more) => {
                let before: Option<String> = self.sql(
                    self.connection
                        .query_row(
                            "SELECT value FROM notes WHERE key = ?1 AND scope = ?2 AND (until IS NULL OR until > ?3)",
                            params![key, scope, change.at],
                            |row| row.get(0),
                        )
                        .optional(),
                )?;
                let before: f64 = before.and_then(|text| text.parse().ok()).unwrap_or(0.0);
                serde_json::json!(before + more).to_string()
            }
        };
        let sql = format!(
            "INSERT INTO notes (key, scope, value, until) VALUES (?1, ?2, ?3, ?4) \
             {} DO UPDATE SET value = excluded.value, until = excluded.until",
            self.connection.dialect().on_conflict("key, scope")
        );
        let until = until.map(Timestamp::as_microsecond);
        self.sql(self.connection.run_later(&sql, params![key, scope, value, until]))?;
        Ok(nothing(Outcome::Updated))
    }

    /// Sets a note about a scope in one statement. Returns whether the scope is known here.
    fn set_note(&self, scope: &Scope, key: &str, value: &str, until: Option<Timestamp>) -> Result<bool> {
        self.belongs_here(scope)?;
        let sql = format!(
            "INSERT INTO notes (key, scope, value, until) SELECT CAST(?2 AS text), s.scope, CAST(?3 AS text), \
             CAST(?4 AS bigint) FROM scopes s WHERE s.key = ?1 \
             {} DO UPDATE SET value = excluded.value, until = excluded.until",
            self.connection.dialect().on_conflict("key, scope")
        );
        let values = params![scope.key(), key, value, until];
        Ok(self.sql(self.connection.execute(&sql, values))? > 0)
    }
}

/// The unexpired notes with these keys in the scopes of the clause; notes without a scope only if the whole space is
/// visible.
pub(crate) fn read(
    connection: &dyn Connection,
    clause: &Clause,
    keys: &[String],
    now: Timestamp,
) -> sql::SqlResult<Vec<(String, serde_json::Value)>> {
    let (condition, scopes) = clause.scope_condition("scope");
    let sql = format!("SELECT key, value FROM notes WHERE key = ? AND (until IS NULL OR until > ?) AND {condition}");
    let mut found = Vec::new();
    for key in keys {
        let mut values = vec![Value::Text(key.clone()), Value::Integer(now.as_microsecond())];
        values.extend(scopes.iter().cloned());
        let note = |row: &dyn Row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        for (key, value) in connection.query_map(&sql, params_from_iter(values), note)? {
            found.push((key, serde_json::from_str(&value).unwrap_or_default()));
        }
    }
    Ok(found)
}

/// Deletes expired notes. Returns their number.
pub(crate) fn sweep(connection: &dyn Connection, now: Timestamp) -> sql::SqlResult<usize> {
    connection.execute("DELETE FROM notes WHERE until <= ?1", params![now])
}
