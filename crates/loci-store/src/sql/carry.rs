//! How is everything read that is carried elsewhere, and how does it come back as it was?
//!
//! Pages in an order that an import makes again: memories as they came, edges and entities by id, sessions by name.
//! What lies outside the record and cannot be told from it (how far time was counted, whom an entity was united with,
//! how far a session was learned from) is read too, and written back by changes of its own.

use jiff::Timestamp;
use loci_types::{Addition, Change, Edge, EntityId, Event, Memory, MemoryId, Outcome, Scope, Session, Space, Visible};
use uuid::Uuid;

use super::apply::{Desk, Lying, applied, difference, nothing};
use super::clause::{self, Clause};
use super::entities::{self, COLUMNS as ENTITY_COLUMNS, read_entity};
use super::graph::{self, EDGE_COLUMNS, read_edge};
use super::sessions::{COLUMNS as SESSION_COLUMNS, KEY as SESSION_KEY, read as read_session};
use super::{Connection, OptionalExtension, Row, Value, params, params_from_iter, row};
use crate::sql;
use crate::{Applied, CarriedEntity, CarriedMemory, Error, Result};

/// The next memories within the clause, in the order they came.
pub(crate) fn memories(
    connection: &dyn Connection,
    clause: &Clause,
    after: i64,
    limit: usize,
) -> sql::Result<Vec<CarriedMemory>> {
    let sql = format!(
        "SELECT {}, m.row AS place, m.aged_at AS aged FROM memories m WHERE m.row > ? AND {} ORDER BY m.row LIMIT ?",
        row::COLUMNS,
        clause.sql
    );
    let mut values = vec![Value::Integer(after)];
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    let read = |found: &dyn Row| {
        Ok(CarriedMemory {
            memory: row::read(found)?,
            aged_at: row::optional_timestamp(found, "aged")?,
            place: found.get("place")?,
        })
    };
    connection.prepare_cached(&sql)?.query_map(params_from_iter(values), read)?.collect()
}

/// The next edges by id, both ends of which lie within the clause.
pub(crate) fn edges(connection: &dyn Connection, clause: &Clause, after: Uuid, limit: usize) -> sql::Result<Vec<Edge>> {
    let within = |end: &str| format!("EXISTS (SELECT 1 FROM memories m WHERE m.row = e.{end} AND {})", clause.sql);
    let sql = format!(
        "SELECT {EDGE_COLUMNS} FROM edges e JOIN memories s ON s.row = e.source JOIN memories t ON t.row = e.target \
         WHERE e.id > ? AND {} AND {} ORDER BY e.id LIMIT ?",
        within("source"),
        within("target")
    );
    let mut values = vec![Value::Blob(after.as_bytes().to_vec())];
    for _ in 0..2 {
        values.extend(clause.values.iter().cloned());
    }
    values.push(clause::limit(limit));
    connection.prepare_cached(&sql)?.query_map(params_from_iter(values), read_edge)?.collect()
}

/// The next entities by id that are meant: all of them for whoever sees the whole space, for others those that a
/// memory within the clause speaks of. Each by itself, whatever it was united with.
pub(crate) fn entities(
    connection: &dyn Connection,
    clause: &Clause,
    all: bool,
    after: Uuid,
    limit: usize,
) -> sql::Result<Vec<CarriedEntity>> {
    let mut meant = "e.id > ?".to_owned();
    let mut values = vec![Value::Blob(after.as_bytes().to_vec())];
    let (condition, scopes) = clause.scope_condition("e.scope");
    meant.push_str(&format!(" AND {condition}"));
    values.extend(scopes);
    if !all {
        meant.push_str(&format!(
            " AND EXISTS (SELECT 1 FROM mentions t JOIN memories m ON m.row = t.memory WHERE t.entity = e.entity AND {})",
            clause.sql
        ));
        values.extend(clause.values.iter().cloned());
    }
    let sql = format!(
        "SELECT {ENTITY_COLUMNS}, e.entity AS number, k.key AS key, u.id AS united FROM entities e \
         JOIN scopes k ON k.scope = e.scope LEFT JOIN entities u ON u.entity = e.united_with \
         WHERE {meant} ORDER BY e.id LIMIT ?"
    );
    values.push(clause::limit(limit));
    let read = |row: &dyn Row| {
        let (number, key, united): (i64, String, Option<[u8; 16]>) =
            (row.get("number")?, row.get("key")?, row.get("united")?);
        let scope = Scope::from_key(&key).map_err(sql::Error::unreadable)?;
        let united_with = united.map(|id| EntityId(Uuid::from_bytes(id)));
        Ok((number, CarriedEntity { scope, entity: read_entity(row)?, united_with, mentions: Vec::new() }))
    };
    let found: Vec<(i64, CarriedEntity)> =
        connection.prepare_cached(&sql)?.query_map(params_from_iter(values), read)?.collect::<sql::Result<_>>()?;
    found
        .into_iter()
        .map(|(number, mut carried)| {
            carried.mentions = mentions(connection, clause, number)?;
            // A summary tells of every category; whoever sees only some of them is not told.
            if clause.narrowed {
                carried.entity.summary = None;
            }
            Ok(carried)
        })
        .collect()
}

/// The memories within the clause that speak of an entity, by id.
fn mentions(connection: &dyn Connection, clause: &Clause, entity: i64) -> sql::Result<Vec<MemoryId>> {
    let sql = format!(
        "SELECT m.id FROM mentions t JOIN memories m ON m.row = t.memory WHERE t.entity = ? AND {} ORDER BY m.id",
        clause.sql
    );
    let mut values = vec![Value::Integer(entity)];
    values.extend(clause.values.iter().cloned());
    connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), |row| Ok(MemoryId(Uuid::from_bytes(row.get(0)?))))?
        .collect()
}

/// The next sessions by scope and name.
pub(crate) fn sessions(
    connection: &dyn Connection,
    clause: &Clause,
    after: Option<&(Scope, String)>,
    limit: usize,
) -> sql::Result<Vec<Session>> {
    // Texts are ordered by their bytes, wherever they lie, or a copy would come in another order.
    let bytes = connection.dialect().byte_order;
    let (key, name) = (format!("k.key{bytes}"), format!("s.name{bytes}"));
    let (condition, mut values) = clause.scope_condition("s.scope");
    let mut sql = format!("{SESSION_COLUMNS} FROM sessions s JOIN scopes k ON k.scope = s.scope WHERE {condition}");
    if let Some((scope, last)) = after {
        sql.push_str(&format!(" AND ({key} > ? OR ({key} = ? AND {name} > ?))"));
        values.extend([Value::Text(scope.key()), Value::Text(scope.key()), Value::Text(last.clone())]);
    }
    sql.push_str(&format!(" ORDER BY {key}, {name} LIMIT ?"));
    values.push(clause::limit(limit));
    connection.prepare_cached(&sql)?.query_map(params_from_iter(values), read_session)?.collect()
}

/// Whether this is all of a space, so that what nobody speaks of is meant as well.
pub(crate) fn whole(visible: &Visible, space: &Space) -> bool {
    visible.scopes_in(space).is_none() && visible.categories().is_none()
}

impl Desk<'_> {
    /// Writes a record over the one with its id: every field, as long as it stays in its scope and its chain stays whole.
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
        // A turn is also found by the words of the question before it: one of the same session, by someone else.
        fn said(memory: &Memory) -> [Option<&String>; 4] {
            [
                Some(&memory.content),
                memory.actor_id.as_ref(),
                memory.role.as_ref(),
                memory.identifiers.session_id.as_ref(),
            ]
        }
        if said(memory) != said(&before.memory) {
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
        let lying = Lying { memory: memory.clone(), ..before };
        let sequence = self.record(change, Event::Update, Some(&lying), Some(old), Some(new))?;
        Ok(applied(memory, Outcome::Updated, sequence))
    }

    /// Writes a session as it was elsewhere. If the turn that it was learned from up to is gone, the turns that came
    /// before it were learned from all the same.
    pub(crate) fn resume(&self, session: &Session) -> Result<Applied> {
        let number = self.scope(&session.scope)?;
        let mut through: Option<i64> = None;
        if let Some(id) = session.consolidated_through {
            let turn = self.connection.query_row(
                "SELECT max(m.row) FROM memories m WHERE m.scope = ?1 AND m.id <= ?2 \
                 AND (m.id = ?2 OR coalesce(m.session_id, m.thread_id) = ?3)",
                params![number, id.as_bytes(), &session.name],
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
        let put = self.connection.prepare_cached(&sql);
        let micros = |at: Option<Timestamp>| at.map(Timestamp::as_microsecond);
        self.sql(put.and_then(|mut put| {
            put.execute(params![
                number,
                &session.name,
                &session.thread_id,
                session.started_at.as_microsecond(),
                session.last_at.as_microsecond(),
                micros(session.ended_at),
                micros(session.consolidated_at),
                session.consolidated_through.as_ref().map(MemoryId::as_bytes),
                through.unwrap_or(0),
            ])
        }))?;
        Ok(nothing(Outcome::Updated))
    }
}
