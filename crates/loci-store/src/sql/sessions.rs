//! Stores the sessions of conversations and how far each was consolidated.

use loci_types::{Change, Event, Memory, MemoryId, Outcome, Scope, Session, SessionFilter};
use serde_json::json;

use super::apply::{Applier, nothing};
use super::clause::{self, Clause};
use super::row;
use super::{Connection, OptionalExtension, Row, Value, params, params_from_iter};
use crate::sql;
use crate::{Applied, Error, Result};

/// The key columns of a session.
pub(crate) const KEY: &str = "scope, name";

impl Applier<'_> {
    /// Records a turn: starts the session, or reopens it and updates its last time.
    pub(crate) fn attend(&self, change: &Change, scope: &Scope, session: &str, thread: &str) -> Result<Applied> {
        self.belongs_here(scope)?;
        let sql = format!(
            "INSERT INTO sessions (scope, name, thread_id, started_at, last_at) SELECT s.scope, CAST(?2 AS text), \
             CAST(?3 AS text), CAST(?4 AS bigint), CAST(?4 AS bigint) FROM scopes s WHERE s.key = ?1 \
             {} DO UPDATE SET last_at = CASE WHEN sessions.last_at > excluded.last_at \
             THEN sessions.last_at ELSE excluded.last_at END, ended_at = NULL",
            self.connection.dialect().on_conflict(KEY)
        );
        let values = || params![scope.key(), session, thread, change.at];
        if self.sql(self.connection.execute(&sql, values()))? == 0 {
            // The scope is new here.
            self.scope(scope)?;
            self.sql(self.connection.execute(&sql, values()))?;
        }
        Ok(nothing(Outcome::Updated))
    }

    /// Ends a session. Does nothing if it has ended already or does not exist.
    pub(crate) fn end_session(&self, change: &Change, scope: &Scope, session: &str) -> Result<Applied> {
        let ended = self.sql(self.connection.execute(
            "UPDATE sessions SET ended_at = ?3 WHERE scope = (SELECT scope FROM scopes WHERE key = ?1) AND name = ?2 \
             AND ended_at IS NULL",
            params![scope.key(), session, change.at],
        ))?;
        Ok(nothing(if ended > 0 { Outcome::Updated } else { Outcome::None }))
    }

    /// Stores up to which turn a session was consolidated. Fails with [`Error::Overtaken`] if the stored turn is not
    /// `expect`.
    pub(crate) fn consolidate(
        &self,
        change: &Change,
        scope: &Scope,
        session: &str,
        (expect, through): (Option<MemoryId>, MemoryId),
        report: &serde_json::Value,
    ) -> Result<Applied> {
        let number = self.scope(scope)?;
        let found: Option<(Option<[u8; 16]>, i64)> = self.sql(
            self.connection
                .query_row(
                    "SELECT consolidated_through, through_row FROM sessions WHERE scope = ?1 AND name = ?2",
                    params![number, session],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .optional(),
        )?;
        let (found, mark) = found.ok_or_else(|| Error::Refused(format!("session `{session}` of {scope} not found")))?;
        if found != expect.map(|id| *id.as_bytes()) {
            return Err(Error::Overtaken(format!(
                "session `{session}` of {scope} was consolidated by another process"
            )));
        }
        let last = self.find(through)?;
        if last.scope != number {
            return Err(Error::Refused(format!("memory {through} is not a turn of {scope}")));
        }
        if last.row < mark {
            return Err(Error::Refused(format!(
                "session `{session}` of {scope} was already consolidated beyond that turn"
            )));
        }
        self.sql(self.connection.execute(
            "UPDATE sessions SET consolidated_at = ?3, consolidated_through = ?4, through_row = ?5 \
             WHERE scope = ?1 AND name = ?2",
            params![number, session, change.at, through.as_bytes(), last.row],
        ))?;
        let details = json!({ "session": session, "report": report });
        let sequence = self.record(change, Event::Learn, Some(&last), None, Some(details))?;
        Ok(Applied { sequence, ..nothing(Outcome::Updated) })
    }

    /// Resets how far a session was consolidated, so that it is consolidated again from its first turn.
    pub(crate) fn unlearn(&self, scope: &Scope, session: &str) -> Result<Applied> {
        let number = self.scope(scope)?;
        let changed = self.sql(self.connection.execute(
            "UPDATE sessions SET consolidated_at = NULL, consolidated_through = NULL, through_row = 0 \
             WHERE scope = ?1 AND name = ?2",
            params![number, session],
        ))?;
        Ok(nothing(if changed == 0 { Outcome::None } else { Outcome::Updated }))
    }
}

/// The condition on a turn `m` of the session `s`, in any thread, that was not consolidated.
const UNLEARNED: &str = "m.scope = s.scope AND m.row > s.through_row AND \
    coalesce(m.session_id, m.thread_id) = s.name AND m.kind = 'episodic' AND m.source_type = 'conversation' \
    AND m.state IN ('active', 'decayed')";

/// The sessions of the clause's scopes that match the filter, the longest inactive first.
pub(crate) fn list(
    connection: &dyn Connection,
    clause: &Clause,
    filter: &SessionFilter,
    limit: usize,
) -> sql::SqlResult<Vec<Session>> {
    let (condition, mut values) = clause.scope_condition("s.scope");
    let mut sql = format!(
        "{COLUMNS}, s.scope, EXISTS (SELECT 1 FROM memories m WHERE {UNLEARNED} \
         AND m.access_policy NOT IN ('private', 'restricted')) AS pending \
         FROM sessions s JOIN scopes k ON k.scope = s.scope WHERE {condition}"
    );
    if let Some(name) = &filter.session_id {
        sql.push_str(" AND s.name = ?");
        values.push(Value::Text(name.clone()));
    }
    if let Some(ended) = filter.ended {
        sql.push_str(if ended { " AND s.ended_at IS NOT NULL" } else { " AND s.ended_at IS NULL" });
    }
    if let Some(quiet) = filter.quiet_since {
        sql.push_str(" AND s.last_at < ?");
        values.push(Value::Integer(quiet.as_microsecond()));
    }
    let pending = if filter.pending { "WHERE pending" } else { "" };
    let sql = format!("SELECT * FROM ({sql}) known {pending} ORDER BY last_at, scope, name LIMIT ?");
    values.push(clause::limit(limit));
    connection.query_map(&sql, params_from_iter(values), read_waiting)
}

/// Reads a session from [`COLUMNS`], the scope's number and whether it has pending turns.
fn read_waiting(row: &dyn Row) -> sql::SqlResult<Session> {
    Ok(Session { pending: row.get(9)?, ..read(row)? })
}

/// The columns of `sessions s JOIN scopes k` that [`read`] expects.
pub(crate) const COLUMNS: &str = "SELECT k.key, s.name, s.thread_id, s.started_at, s.last_at, s.ended_at, \
    s.consolidated_at, s.consolidated_through";

/// Reads a session from [`COLUMNS`]; `pending` is false.
pub(crate) fn read(row: &dyn Row) -> sql::SqlResult<Session> {
    let key: String = row.get(0)?;
    let scope = Scope::from_key(&key).map_err(sql::SqlError::unreadable)?;
    Ok(Session {
        scope,
        session_id: row.get(1)?,
        thread_id: row.get(2)?,
        created_at: row.get(3)?,
        updated_at: row.get(4)?,
        ended_at: row.get(5)?,
        consolidated_at: row.get(6)?,
        consolidated_through: row.get(7)?,
        pending: false,
    })
}

/// The turns of a session that were not consolidated, in their order.
pub(crate) fn pending_turns(
    connection: &dyn Connection,
    clause: &Clause,
    scope: &Scope,
    session: &str,
    limit: usize,
) -> sql::SqlResult<Vec<Memory>> {
    let sql = format!(
        "SELECT {} FROM sessions s JOIN memories m ON {UNLEARNED} \
         WHERE s.scope = (SELECT scope FROM scopes WHERE key = ?) AND s.name = ? AND {} ORDER BY m.row LIMIT ?",
        row::COLUMNS,
        clause.sql
    );
    let mut values = vec![Value::Text(scope.key()), Value::Text(session.to_owned())];
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    connection.query_map(&sql, params_from_iter(values), row::read)
}
