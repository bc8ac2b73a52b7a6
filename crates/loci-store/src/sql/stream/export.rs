//! Reads the visible part of a space for an export, page by page.
//!
//! An import reproduces the order: memories by row, edges and entities by id, sessions by scope and name. An export
//! also holds what is not in the records: the time up to which a memory was aged, and which entities are merged.

use loci_types::{Edge, EntityId, MemoryId, Scope, Session};
use uuid::Uuid;

use crate::sql::clause::{self, Clause};
use crate::sql::entities::{COLUMNS as ENTITY_COLUMNS, read_entity};
use crate::sql::graph::{EDGE_COLUMNS, read_edge};
use crate::sql::sessions::{COLUMNS as SESSION_COLUMNS, read as read_session};
use crate::sql::{self, Connection, Row, Value, params_from_iter, row};
use crate::{ExportCursor, ExportPage, ExportedEntity, ExportedMemory};

/// The next page of an export. If `whole` is set, entities without mentions are included.
pub(in crate::sql) fn page(
    connection: &dyn Connection,
    clause: &Clause,
    whole: bool,
    after: &ExportCursor,
    limit: usize,
) -> sql::SqlResult<ExportPage> {
    let mut page = ExportPage::default();
    let (count, last) = match after {
        ExportCursor::Memories(after) => {
            page.memories = memories(connection, clause, *after, limit)?;
            (page.memories.len(), page.memories.last().map(|last| ExportCursor::Memories(last.row)))
        }
        ExportCursor::Edges(after) => {
            page.edges = edges(connection, clause, after.map_or(Uuid::nil(), |id| id.0), limit)?;
            (page.edges.len(), page.edges.last().map(|last| ExportCursor::Edges(Some(last.id))))
        }
        ExportCursor::Entities(after) => {
            page.entities = entities(connection, clause, whole, after.map_or(Uuid::nil(), |id| id.0), limit)?;
            (page.entities.len(), page.entities.last().map(|last| ExportCursor::Entities(Some(last.entity.id))))
        }
        ExportCursor::Sessions(after) => {
            page.sessions = sessions(connection, clause, after.as_ref(), limit)?;
            let name = |last: &Session| (last.scope.clone(), last.session_id.clone());
            (page.sessions.len(), page.sessions.last().map(|last| ExportCursor::Sessions(Some(name(last)))))
        }
    };
    page.next = last.filter(|_| count == limit);
    Ok(page)
}

/// The next memories that match the clause, in the order of their rows.
fn memories(
    connection: &dyn Connection,
    clause: &Clause,
    after: i64,
    limit: usize,
) -> sql::SqlResult<Vec<ExportedMemory>> {
    let sql = format!(
        "SELECT {}, m.row AS place, m.aged_at AS aged FROM memories m WHERE m.row > ? AND {} ORDER BY m.row LIMIT ?",
        row::COLUMNS,
        clause.sql
    );
    let mut values = vec![Value::Integer(after)];
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    let read = |found: &dyn Row| {
        Ok(ExportedMemory { memory: row::read(found)?, aged_at: found.get("aged")?, row: found.get("place")? })
    };
    connection.query_map(&sql, params_from_iter(values), read)
}

/// The next edges by id of which both ends match the clause.
fn edges(connection: &dyn Connection, clause: &Clause, after: Uuid, limit: usize) -> sql::SqlResult<Vec<Edge>> {
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
    connection.query_map(&sql, params_from_iter(values), read_edge)
}

/// The next entities by id: all of them, or those that a memory matching the clause mentions. United entities are
/// returned separately.
fn entities(
    connection: &dyn Connection,
    clause: &Clause,
    all: bool,
    after: Uuid,
    limit: usize,
) -> sql::SqlResult<Vec<ExportedEntity>> {
    let mut condition = "e.id > ?".to_owned();
    let mut values = vec![Value::Blob(after.as_bytes().to_vec())];
    let (in_scopes, scopes) = clause.scope_condition("e.scope");
    condition.push_str(&format!(" AND {in_scopes}"));
    values.extend(scopes);
    if !all {
        condition.push_str(&format!(
            " AND EXISTS (SELECT 1 FROM mentions t JOIN memories m ON m.row = t.memory WHERE t.entity = e.entity AND {})",
            clause.sql
        ));
        values.extend(clause.values.iter().cloned());
    }
    let sql = format!(
        "SELECT {ENTITY_COLUMNS}, e.entity AS number, k.key AS key, u.id AS united FROM entities e \
         JOIN scopes k ON k.scope = e.scope LEFT JOIN entities u ON u.entity = e.united_with \
         WHERE {condition} ORDER BY e.id LIMIT ?"
    );
    values.push(clause::limit(limit));
    let read = |row: &dyn Row| {
        let (number, key, united): (i64, String, Option<[u8; 16]>) =
            (row.get("number")?, row.get("key")?, row.get("united")?);
        let scope = Scope::from_key(&key).map_err(sql::SqlError::unreadable)?;
        let united_with = united.map(|id| EntityId(Uuid::from_bytes(id)));
        Ok((number, ExportedEntity { scope, entity: read_entity(row)?, united_with, mentions: Vec::new() }))
    };
    let found: Vec<(i64, ExportedEntity)> = connection.query_map(&sql, params_from_iter(values), read)?;
    found
        .into_iter()
        .map(|(number, mut exported)| {
            exported.mentions = mentions(connection, clause, number)?;
            // A summary may quote every category and session, so a caller who sees only some does not get it.
            if clause.is_partial() {
                exported.entity.summary = None;
            }
            Ok(exported)
        })
        .collect()
}

/// The memories matching the clause that mention an entity, by id.
fn mentions(connection: &dyn Connection, clause: &Clause, entity: i64) -> sql::SqlResult<Vec<MemoryId>> {
    let sql = format!(
        "SELECT m.id FROM mentions t JOIN memories m ON m.row = t.memory WHERE t.entity = ? AND {} ORDER BY m.id",
        clause.sql
    );
    let mut values = vec![Value::Integer(entity)];
    values.extend(clause.values.iter().cloned());
    connection.query_map(&sql, params_from_iter(values), |row| row.get(0))
}

/// The next sessions by scope and name.
fn sessions(
    connection: &dyn Connection,
    clause: &Clause,
    after: Option<&(Scope, String)>,
    limit: usize,
) -> sql::SqlResult<Vec<Session>> {
    // Ordered by bytes, because the two databases collate text differently and an export must not depend on that.
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
    connection.query_map(&sql, params_from_iter(values), read_session)
}
