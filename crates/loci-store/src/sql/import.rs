//! Imports records and sessions with all their fields.

use jiff::Timestamp;
use loci_types::{Addition, Change, Event, Memory, MemoryId, Outcome, Session};

use super::apply::{Applier, StoredMemory, applied, difference, nothing};
use super::sessions::KEY as SESSION_KEY;
use super::{OptionalExtension, entities, graph, params, row};
use crate::{Applied, Error, Result};

impl Applier<'_> {
    /// Overwrites every field of the memory with this id. Refused if it would change its scope or break its chain.
    pub(crate) fn replace(&self, change: &Change, addition: &Addition) -> Result<Applied> {
        let memory = &addition.memory;
        let before = self.find(memory.id)?;
        if before.scope != self.scope(&memory.scope()?)? {
            return Err(Error::Refused(format!("memory {} belongs to another scope", memory.id)));
        }
        if !before.memory.state.may_become(memory.state) {
            let (from, to) = (before.memory.state, memory.state);
            return Err(Error::Refused(format!("memory {} is {from} and cannot become {to}", memory.id)));
        }
        self.sql(row::replace(self.connection, before.row, addition))?;
        self.check_pointers(memory.id)?;
        // A turn is also indexed by the words of the question before it, which depends on session, speaker and role.
        fn indexed_fields(memory: &Memory) -> [Option<&String>; 4] {
            [
                Some(&memory.content),
                memory.actor_id.as_ref(),
                memory.role.as_ref(),
                memory.identifiers.session_id.as_ref(),
            ]
        }
        if indexed_fields(memory) != indexed_fields(&before.memory) {
            self.reindex(before.row)?;
            for follower in self.sql(graph::followers(self.connection, before.row))? {
                self.reindex(follower)?;
            }
        }
        if memory.content != before.memory.content {
            self.sql(self.connection.execute("DELETE FROM vectors WHERE memory = ?1", params![before.row]))?;
            self.sql(entities::forget_summaries(self.connection, before.row))?;
        }
        if let Some(vector) = &addition.vector {
            self.put_vector(before.row, vector)?;
        }
        for job in &addition.jobs {
            self.enqueue(change, job)?;
        }
        let (old, new) = difference(&before.memory, memory);
        let stored = StoredMemory { memory: memory.clone(), ..before };
        let sequence = self.record(change, Event::Update, Some(&stored), Some(old), Some(new))?;
        Ok(applied(memory, Outcome::Updated, sequence))
    }

    /// Writes a session as it was in another store. If the last consolidated turn is missing, the turns before it still
    /// count as consolidated.
    pub(crate) fn resume(&self, session: &Session) -> Result<Applied> {
        let number = self.scope(&session.scope)?;
        let mut through: Option<i64> = None;
        if let Some(id) = session.consolidated_through {
            let turn = self.connection.query_row(
                "SELECT max(m.row) FROM memories m WHERE m.scope = ?1 AND m.id <= ?2 \
                 AND (m.id = ?2 OR coalesce(m.session_id, m.thread_id) = ?3)",
                params![number, id, &session.session_id],
                |row| row.get(0),
            );
            through = self.sql(turn.optional())?.flatten();
        }
        let sql = format!(
            "INSERT INTO sessions (scope, name, thread_id, started_at, last_at, ended_at, consolidated_at, \
             consolidated_through, through_row) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
             {} DO UPDATE SET thread_id = excluded.thread_id, started_at = excluded.started_at, \
             last_at = excluded.last_at, ended_at = excluded.ended_at, consolidated_at = excluded.consolidated_at, \
             consolidated_through = excluded.consolidated_through, through_row = excluded.through_row",
            self.connection.dialect().on_conflict(SESSION_KEY)
        );

        let micros = |at: Option<Timestamp>| at.map(Timestamp::as_microsecond);
        self.sql(self.connection.execute(
            &sql,
            params![
                number,
                &session.session_id,
                &session.thread_id,
                session.created_at,
                session.updated_at,
                micros(session.ended_at),
                micros(session.consolidated_at),
                session.consolidated_through.as_ref().map(MemoryId::as_bytes),
                through.unwrap_or(0),
            ],
        ))?;
        Ok(nothing(Outcome::Updated))
    }
}
