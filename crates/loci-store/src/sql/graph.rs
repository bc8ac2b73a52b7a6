//! Stores the edges between memories.

use loci_types::{Edge, EdgeId, Relation};

use super::row::json;
use super::{Connection, OptionalExtension, Row, Value, params};
use crate::sql;

/// Inserts or updates an edge. Returns whether it is new.
pub(crate) fn link(connection: &dyn Connection, source: i64, target: i64, edge: &Edge) -> sql::SqlResult<bool> {
    let known: Option<[u8; 16]> = connection
        .query_row(
            "SELECT id FROM edges WHERE source = ?1 AND target = ?2 AND relation = ?3",
            params![source, target, edge.relation.name()],
            |row| row.get(0),
        )
        .optional()?;
    // An existing edge keeps its id and its creation time.
    let id = fresh(connection, edge.id);
    let update = format!(
        "{} DO UPDATE SET predicate = excluded.predicate, strength = excluded.strength, confidence = excluded.confidence, \
         valid_from = excluded.valid_from, valid_until = excluded.valid_until, evidence = excluded.evidence",
        connection.dialect().on_conflict("source, relation, target")
    );
    connection.execute(&insert(&update), values(id, source, target, edge))?;
    Ok(known.is_none())
}

/// Inserts an edge to a new memory. No such edge and no edge with its id can exist, so nothing is queried and a server
/// receives it together with the next statement.
pub(crate) fn link_new(connection: &dyn Connection, source: i64, target: i64, edge: &Edge) -> sql::SqlResult<()> {
    let id = edge.id.0.into_bytes();
    connection.run_later(&insert("ON CONFLICT DO NOTHING"), values(id, source, target, edge))
}

fn insert(on_conflict: &str) -> String {
    format!(
        "INSERT INTO edges (id, source, target, relation, predicate, strength, confidence, valid_from, valid_until, \
         evidence, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) {on_conflict}"
    )
}

fn values(id: [u8; 16], source: i64, target: i64, edge: &Edge) -> Vec<Value> {
    params![
        id,
        source,
        target,
        edge.relation.name(),
        &edge.predicate,
        edge.strength,
        edge.confidence,
        edge.valid_from,
        edge.valid_until,
        (!edge.evidence.is_empty()).then(|| json(&edge.evidence)),
        edge.created_at,
    ]
}

/// The wished id, or the next free one if another edge has it: the edges by which a memory follows one memory and
/// supersedes another both derive their id from it.
fn fresh(connection: &dyn Connection, wish: EdgeId) -> [u8; 16] {
    let mut id = wish.0.as_u128();
    let taken = |id: u128| {
        connection
            .query_row("SELECT 1 FROM edges WHERE id = ?1", params![id.to_be_bytes()], |_| Ok(()))
            .optional()
            .is_ok_and(|found| found.is_some())
    };
    while taken(id) {
        id = id.wrapping_add(1);
    }
    id.to_be_bytes()
}

/// The columns that [`read_edge`] expects.
pub(crate) const EDGE_COLUMNS: &str = "e.id, s.id, t.id, e.relation, e.predicate, e.strength, e.confidence, \
    e.valid_from, e.valid_until, e.evidence, e.created_at";

/// Reads an edge from a row of [`EDGE_COLUMNS`].
pub(crate) fn read_edge(row: &dyn Row) -> sql::SqlResult<Edge> {
    let relation: String = row.get(3)?;
    let evidence: Option<String> = row.get(9)?;
    Ok(Edge {
        id: row.get(0)?,
        source_id: row.get(1)?,
        target_id: row.get(2)?,
        relation: relation.parse().unwrap_or(Relation::RelatedTo),
        predicate: row.get(4)?,
        strength: row.get(5)?,
        confidence: row.get(6)?,
        valid_from: row.get(7)?,
        valid_until: row.get(8)?,
        evidence: evidence.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        created_at: row.get(10)?,
    })
}

/// The edge of a relation between two memories.
pub(crate) fn edge(
    connection: &dyn Connection,
    source: i64,
    target: i64,
    relation: Relation,
) -> sql::SqlResult<Option<Edge>> {
    let sql = format!(
        "SELECT {EDGE_COLUMNS} FROM edges e JOIN memories s ON s.row = e.source JOIN memories t ON t.row = e.target \
         WHERE e.source = ?1 AND e.target = ?2 AND e.relation = ?3"
    );
    connection.query_row(&sql, params![source, target, relation.name()], read_edge).optional()
}

/// The memories that directly follow this one in their threads.
pub(crate) fn followers(connection: &dyn Connection, row: i64) -> sql::SqlResult<Vec<i64>> {
    connection.query_map("SELECT target FROM edges WHERE source = ?1 AND relation = 'temporal'", params![row], |row| {
        row.get(0)
    })
}
