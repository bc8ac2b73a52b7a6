//! What is an outside vector index told, and what becomes of its proposals?
//!
//! It is told what stands in the ledger after its mark, each memory as it is now. What it proposes is checked by the
//! one clause and scored by the exact vectors.

use std::collections::HashSet;

use loci_types::{MemoryId, Vector};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use uuid::Uuid;

use super::clause::{self, Clause};
use super::row::{self, vector_values};
use super::{feed, index};
use crate::vectors::Query;
use crate::{Hit, VectorFeed, VectorPoint};

/// So many proposals are looked up with one statement.
const AT_ONCE: usize = 128;

/// What changed after a line.
pub(super) fn vector_feed(
    connection: &Connection,
    model: &str,
    after: i64,
    limit: usize,
) -> rusqlite::Result<VectorFeed> {
    let known: Option<(i64, usize)> = connection
        .prepare_cached("SELECT model, dimensions FROM models WHERE name = ?1")?
        .query_row([model], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let since = connection
        .prepare_cached("SELECT at FROM ledger WHERE sequence = ?1")?
        .query_row([after], |row| row.get(0))
        .optional()?;
    let mut told = VectorFeed {
        position: after,
        end: feed::end(connection)?,
        since,
        until: since,
        dimensions: known.map(|(_, dimensions)| dimensions),
        ..VectorFeed::default()
    };
    let mut changed = Vec::new();
    let mut lines = connection
        .prepare_cached("SELECT sequence, at, memory_id FROM ledger WHERE sequence > ?1 ORDER BY sequence LIMIT ?2")?;
    let mut lines = lines.query(params![after, clause::limit(limit)])?;
    let mut seen = HashSet::new();
    while let Some(line) = lines.next()? {
        told.position = line.get(0)?;
        told.until = Some(line.get(1)?);
        if let Some(id) = line.get::<_, Option<[u8; 16]>>(2)?
            && seen.insert(id)
        {
            changed.push(id);
        }
    }
    let sql = format!(
        "SELECT {}, s.key AS scope_key, v.vector AS vector_bytes FROM memories m JOIN scopes s ON s.scope = m.scope \
         JOIN vectors v ON v.memory = m.row WHERE m.id = ?1 AND v.model = ?2",
        row::COLUMNS
    );
    let mut read = connection.prepare_cached(&sql)?;
    for id in changed {
        let point = read
            .query_row(params![id, known.map(|(model, _)| model)], |row| {
                let values = vector_values(row.get_ref("vector_bytes")?.as_blob()?);
                Ok(VectorPoint { memory: row::read(row)?, scope: row.get("scope_key")?, values })
            })
            .optional()?;
        match point {
            Some(point) => told.points.push(point),
            None => told.gone.push(MemoryId(Uuid::from_bytes(id))),
        }
    }
    Ok(told)
}

/// These memories as far as the clause allows them, scored by their exact vectors.
pub(super) fn rescore(
    connection: &Connection,
    clause: &Clause,
    query: &Vector,
    ids: &[MemoryId],
) -> rusqlite::Result<Vec<Hit>> {
    let Some(model) = index::model(connection, query)? else { return Ok(Vec::new()) };
    let query = Query::new(&query.values);
    // CROSS JOIN keeps this order: left to itself the planner walks the whole scope instead.
    let sql = format!(
        "SELECT m.id, v.vector FROM memories k CROSS JOIN memories m ON m.row = k.row \
         CROSS JOIN vectors v ON v.memory = m.row WHERE k.id IN ({}) AND v.model = ? AND {}",
        clause::places(AT_ONCE),
        clause.sql
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut hits = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        // The last id fills the empty places, so that all chunks share one statement.
        let filled = some.iter().chain(std::iter::repeat_n(&some[some.len() - 1], AT_ONCE - some.len()));
        let mut values: Vec<Value> = filled.map(|id| Value::Blob(id.as_bytes().to_vec())).collect();
        values.push(Value::Integer(model));
        values.extend(clause.values.iter().cloned());
        let mut found = statement.query(params_from_iter(values))?;
        while let Some(row) = found.next()? {
            let exact = query.exact(&vector_values(row.get_ref(1)?.as_blob()?));
            hits.push(Hit { id: MemoryId(Uuid::from_bytes(row.get(0)?)), score: f64::from(exact.max(0.0)) });
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    Ok(hits)
}
