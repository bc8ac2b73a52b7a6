//! The store's side of an external vector index: the feed of changes, and the scoring of candidates.
//!
//! The feed returns the memories of the ledger entries after the index's mark, each as it is now. Candidates of the
//! index are filtered by the clause and scored by their exact vectors.

use std::collections::HashSet;

use loci_types::{MemoryId, Vector};
use uuid::Uuid;

use super::clause::{self, Clause};
use super::read::{self, among, wanted};
use super::{Connection, Floats, OptionalExtension, Row, Value, feed, params, row};
use crate::vectors::Query;
use crate::{Hit, VectorFeed, VectorPoint, sql};

/// The memories that changed after a ledger entry.
pub(crate) fn vector_feed(
    connection: &dyn Connection,
    model: &str,
    after: i64,
    limit: usize,
) -> sql::SqlResult<VectorFeed> {
    let known = read::model(connection, model)?;
    let since = connection
        .query_row("SELECT at FROM ledger WHERE sequence = ?1", params![after], |row| row.get(0))
        .optional()?;
    let mut feed = VectorFeed {
        position: after,
        end: feed::end(connection)?,
        since,
        until: since,
        dimensions: known.map(|(_, dimensions)| dimensions),
        ..VectorFeed::default()
    };
    let mut changed = Vec::new();
    let mut seen = HashSet::new();
    let lines: Vec<(i64, i64, Option<[u8; 16]>)> = connection.query_map(
        "SELECT sequence, at, memory_id FROM ledger WHERE sequence > ?1 ORDER BY sequence LIMIT ?2",
        params![after, clause::limit(limit)],
        |line| Ok((line.get(0)?, line.get(1)?, line.get(2)?)),
    )?;
    for (sequence, at, id) in lines {
        (feed.position, feed.until) = (sequence, Some(at));
        if let Some(id) = id.filter(|id| seen.insert(*id)) {
            changed.push(MemoryId(Uuid::from_bytes(id)));
        }
    }
    let sql = format!(
        "SELECT {}, s.key AS scope_key, v.vector AS its_vector FROM {} {} memories m ON m.id = j.value \
         JOIN scopes s ON s.scope = m.scope JOIN vectors v ON v.memory = m.row WHERE v.model = ?",
        row::COLUMNS,
        connection.dialect().ids,
        connection.dialect().ordered_join
    );
    let point = |row: &dyn Row| {
        let Floats(values) = row.get("its_vector")?;
        Ok(VectorPoint { memory: row::read(row)?, scope: row.get("scope_key")?, values })
    };
    let values = params![wanted(&changed), known.map(|(model, _)| model)];
    feed.points = connection.query_map(&sql, values, point)?;
    let there: HashSet<MemoryId> = feed.points.iter().map(|point| point.memory.id).collect();
    feed.gone = changed.into_iter().filter(|id| !there.contains(id)).collect();
    Ok(feed)
}

/// Number of vectors of a model.
pub(crate) fn vector_count(connection: &dyn Connection, model: &str) -> sql::SqlResult<u64> {
    let Some((model, _)) = read::model(connection, model)? else { return Ok(0) };
    connection.query_row("SELECT count(*) FROM vectors WHERE model = ?1", params![model], |row| row.get(0))
}

/// Those of these memories that match the clause, scored by their exact vectors.
pub(crate) fn rescore(
    connection: &dyn Connection,
    clause: &Clause,
    query: &Vector,
    ids: &[MemoryId],
) -> sql::SqlResult<Vec<Hit>> {
    let Some(model) = read::model_of(connection, query)? else { return Ok(Vec::new()) };
    let query = Query::new(&query.values);
    let joined = format!("{} vectors v ON v.memory = m.row AND v.model = ?", connection.dialect().ordered_join);
    let sql = among(connection, "m.id, v.vector", &joined, clause);
    let mut values = vec![wanted(ids), Value::Integer(model)];
    values.extend(clause.values.iter().cloned());
    let hit = |row: &dyn Row| {
        let Floats(values) = row.get(1)?;
        let score = f64::from(query.exact(&values).max(0.0));
        Ok(Hit { id: row.get(0)?, score })
    };
    let mut hits: Vec<Hit> = connection.query_map(&sql, values, hit)?;
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    Ok(hits)
}
