//! Reads memories, vectors, edges, history and statistics.

use std::collections::BTreeMap;

use loci_types::{
    Edge, Filter, IdRange, LedgerEntry, Memory, MemoryId, Reach, Relation, Scope, Space, Vector, Visible,
};

use super::clause::{self, Clause};
use super::{Connection, Dialect, Floats, OptionalExtension, Row, Value, params, params_from_iter};
use super::{entities, graph, row};
use crate::sql;
use crate::{Feed, Hit, Measure, Page, Stats};

/// The visible memories among these ids.
pub(crate) fn fetch(
    connection: &dyn Connection,
    space: &Space,
    visible: &Visible,
    ids: &[MemoryId],
) -> sql::SqlResult<Vec<Memory>> {
    let Some(clause) = Clause::visible(connection, space, visible)? else { return Ok(Vec::new()) };
    let sql = among(connection, row::COLUMNS, "", &clause);
    let mut values = vec![wanted(ids)];
    values.extend(clause.values);
    connection.query_map(&sql, values, row::read)
}

/// A query for columns of the memories with given ids that match the clause. The ids are its first value.
pub(crate) fn among(connection: &dyn Connection, columns: &str, joined: &str, clause: &Clause) -> String {
    // The join order is fixed, because SQLite's planner may otherwise scan the whole scope.
    format!(
        "SELECT {columns} FROM {} {} memories m ON m.id = j.value {joined} WHERE {}",
        connection.dialect().ids,
        connection.dialect().ordered_join,
        clause.sql
    )
}

/// Ids as one SQL value, without duplicates.
pub(crate) fn wanted(ids: &[MemoryId]) -> Value {
    let mut ids: Vec<[u8; 16]> = ids.iter().map(|id| *id.as_bytes()).collect();
    ids.sort_unstable();
    ids.dedup();
    Value::Ids(ids)
}

/// The ids that match the clause and are in one of the ranges, oldest first. Reads the index of ids of each visible
/// scope, and a row only where the id fits.
pub(crate) fn ids_within(
    connection: &dyn Connection,
    clause: &Clause,
    ranges: &[IdRange],
    limit: usize,
) -> sql::SqlResult<Vec<MemoryId>> {
    let last_block = connection.dialect().last_block;
    let (mut conditions, mut values) = (Vec::new(), Vec::new());
    for range in ranges {
        let (column, first, last) = match range {
            IdRange::Whole(first, last) => ("m.id", first.as_bytes().to_vec(), last.as_bytes().to_vec()),
            IdRange::LastBlock(first, last) => (last_block, first.to_vec(), last.to_vec()),
        };
        conditions.push(format!("{column} BETWEEN ? AND ?"));
        values.extend([Value::Blob(first), Value::Blob(last)]);
    }
    if conditions.is_empty() {
        return Ok(Vec::new());
    }
    // One statement for all ranges: the index is read once.
    let sql = format!(
        "SELECT m.id FROM memories m WHERE ({}) AND {} ORDER BY m.id LIMIT ?",
        conditions.join(" OR "),
        clause.sql
    );
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    connection.query_map(&sql, values, |row| row.get(0))
}

/// Up to one memory more than the page asks for, newest first, and the total number of matches.
pub(crate) fn scan(
    connection: &dyn Connection,
    space: &Space,
    visible: &Visible,
    filter: &Filter,
    page: &Page,
) -> sql::SqlResult<(Vec<Memory>, u64)> {
    let Some(clause) = Clause::of(connection, space, visible, filter)? else { return Ok((Vec::new(), 0)) };
    // Without a hint SQLite's planner scans the scope in the order of `ORDER BY`.
    let index = match filter {
        Filter { twin: Some(_), .. } => connection.dialect().indexed_by("memories_by_unless"),
        Filter { claim: Some(_), .. } => connection.dialect().indexed_by("memories_by_claim"),
        _ => String::new(),
    };
    let count = format!("SELECT count(*) FROM memories m {index} WHERE {}", clause.sql);
    let total = connection.query_row(&count, params_from_iter(clause.values.iter()), |row| row.get(0))?;
    let after = if page.after.is_some() { "AND m.id < ?" } else { "" };
    let sql = format!(
        "SELECT {} FROM memories m {index} WHERE {} {after} ORDER BY m.id DESC LIMIT ?",
        row::COLUMNS,
        clause.sql
    );
    let mut values = clause.values;
    if let Some(cursor) = &page.after {
        values.push(Value::Blob(cursor.last().as_bytes().to_vec()));
    }
    values.push(clause::limit(page.limit.saturating_add(1)));
    let memories = connection.query_map(&sql, params_from_iter(values), row::read)?;
    Ok((memories, total))
}

/// The number of memories that match the filter.
pub(crate) fn count(
    connection: &dyn Connection,
    space: &Space,
    visible: &Visible,
    filter: &Filter,
) -> sql::SqlResult<u64> {
    let Some(clause) = Clause::of(connection, space, visible, filter)? else { return Ok(0) };
    let sql = format!("SELECT count(*) FROM memories m WHERE {}", clause.sql);
    connection.query_row(&sql, params_from_iter(clause.values), |row| row.get(0))
}

/// The vectors of these memories by this model.
pub(crate) fn vectors(
    connection: &dyn Connection,
    space: &Space,
    visible: &Visible,
    model: &str,
    ids: &[MemoryId],
) -> sql::SqlResult<Vec<(MemoryId, Vector)>> {
    let Some(clause) = Clause::visible(connection, space, visible)? else { return Ok(Vec::new()) };
    let join = connection.dialect().ordered_join;
    let joined = format!("{join} vectors v ON v.memory = m.row {join} models o ON o.model = v.model AND o.name = ?");
    let sql = among(connection, "m.id, v.vector, v.token_states", &joined, &clause);
    let mut values = vec![wanted(ids), Value::from(model)];
    values.extend(clause.values);
    let read = |row: &dyn Row| {
        let Floats(values) = row.get(1)?;
        let vector = Vector { model: model.to_owned(), values, token_states: row.get(2)? };
        Ok((row.get(0)?, vector))
    };
    connection.query_map(&sql, values, read)
}

/// The ledger of one memory, oldest first.
pub(crate) fn history(
    connection: &dyn Connection,
    space: &Space,
    visible: &Visible,
    id: MemoryId,
    limit: usize,
) -> sql::SqlResult<Vec<LedgerEntry>> {
    let known = !fetch(connection, space, visible, &[id])?.is_empty();
    // The ledger has an index on row numbers; only a removed memory is looked up by its id.
    let row: Option<i64> =
        connection.query_row("SELECT row FROM memories WHERE id = ?1", params![id], |row| row.get(0)).optional()?;
    // An invisible memory has no history for this caller; a removed one only for callers who see the whole tenant.
    if !known && (row.is_some() || *visible.reach() != Reach::Whole) {
        return Ok(Vec::new());
    }
    let (condition, value) = match row {
        Some(row) => ("memory = ?1", Value::Integer(row)),
        None => ("memory_id = ?1", Value::Blob(id.as_bytes().to_vec())),
    };
    let sql = format!(
        "SELECT sequence, at, event, memory_id, version, old, new, actor, node, reason, thread_id, request_id \
         FROM ledger WHERE {condition} ORDER BY sequence LIMIT ?2"
    );
    connection
        .query_map(&sql, params_from_iter([value, clause::limit(limit)]), |row| row::read_entry(&space.name(), row))
}

/// The columns of the ledger that [`row::read_entry`] expects.
pub(crate) const ENTRY: &str = "l.sequence, l.at, l.event, l.memory_id, l.version, l.old, l.new, l.actor, l.node, l.reason, \
    l.thread_id, l.request_id";

/// The last `limit` changes of visible memories after a sequence number, in order.
pub(crate) fn changes(
    connection: &dyn Connection,
    space: &Space,
    clause: &Clause,
    thread: Option<&str>,
    since: i64,
    limit: usize,
) -> sql::SqlResult<Feed> {
    let revision =
        connection.query_row("SELECT coalesce(max(sequence), 0) FROM ledger", params![], |row| row.get(0))?;
    let join = connection.dialect().ordered_join;
    let in_thread = if thread.is_some() { "AND l.thread_id = ?" } else { "" };
    let sql = format!(
        "SELECT {ENTRY} FROM ledger l {join} memories m ON m.row = l.memory WHERE l.sequence > ? {in_thread} \
         AND (l.event IN ('update', 'delete', 'merge', 'restore', 'supersede') \
         OR (l.event = 'add' AND m.metadata -> 'consent' IS NULL) \
         OR (l.event = 'consent' AND l.new ->> 'state' = 'active') \
         OR (l.event = 'ttl' AND l.new ->> 'state' = 'soft_deleted')) AND m.state != 'proposed' AND {} ORDER BY l.sequence DESC LIMIT ?",
        clause.sql
    );
    let mut values = vec![Value::Integer(since)];
    values.extend(thread.map(|thread| Value::Text(thread.to_owned())));
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    let mut entries: Vec<LedgerEntry> =
        connection.query_map(&sql, params_from_iter(values), |row| row::read_entry(&space.name(), row))?;
    entries.reverse();
    Ok(Feed { entries, position: revision })
}

/// The edges from or to these memories of which both ends match the clause; of all relations if none is given.
pub(crate) fn edges(
    connection: &dyn Connection,
    clause: &Clause,
    ids: &[MemoryId],
    relations: &[Relation],
) -> sql::SqlResult<Vec<Edge>> {
    let Dialect { ids: of_ids, ordered_join: join, .. } = connection.dialect();
    let sql = format!(
        "WITH asked AS MATERIALIZED (SELECT m.row FROM {of_ids} {join} memories m ON m.id = j.value), \
         found AS MATERIALIZED (SELECT e.id, e.source, e.target FROM asked a {join} edges e ON e.source = a.row \
         UNION SELECT e.id, e.source, e.target FROM asked a {join} edges e ON e.target = a.row), \
         seen AS MATERIALIZED (SELECT m.row FROM (SELECT source AS row FROM found UNION SELECT target FROM found) r \
         {join} memories m ON m.row = r.row WHERE {}) \
         SELECT {} FROM found f {join} edges e ON e.id = f.id {join} memories s ON s.row = f.source \
         {join} memories t ON t.row = f.target WHERE f.source IN (SELECT row FROM seen) AND f.target IN (SELECT row FROM seen)",
        clause.sql,
        graph::EDGE_COLUMNS,
    );
    let mut values = vec![wanted(ids)];
    values.extend(clause.values.iter().cloned());
    let mut found: Vec<Edge> = connection.query_map(&sql, values, graph::read_edge)?;
    found.retain(|edge| relations.is_empty() || relations.contains(&edge.relation));
    found.sort_by_key(|edge| (edge.created_at, edge.id));
    Ok(found)
}

/// Number of the newest memories of a scope that are checked for missing vectors.
const LATEST: usize = 256;

/// The first memories by one measure. Each scope is queried separately, so that an index provides the order and no
/// scope is read completely.
pub(crate) fn top_by(
    connection: &dyn Connection,
    clause: &Clause,
    by: Measure,
    limit: usize,
) -> sql::SqlResult<Vec<Hit>> {
    // Without a hint SQLite's planner may sort the whole scope.
    let (value, index, order) = match by {
        Measure::Newest | Measure::Unembedded => {
            ("CAST(m.created_at AS DOUBLE PRECISION) / 1000000.0", "memories_by_scope", "m.id DESC")
        }
        Measure::Importance => ("m.importance", "memories_by_weight", "m.importance DESC, m.row DESC"),
    };
    if connection.dialect().lateral {
        return top_by_in_one_statement(connection, clause, by, limit, (value, order));
    }
    let scopes = match &clause.scopes {
        Some(scopes) => scopes.clone(),
        None => connection.query_map("SELECT scope FROM scopes", params![], |row| row.get(0))?,
    };
    let first = format!(
        "SELECT m.id, {value} AS value, m.row FROM memories m {} WHERE m.scope = ? AND {} ORDER BY {order} LIMIT ?",
        connection.dialect().indexed_by(index),
        clause.sql
    );
    let sql = match by {
        Measure::Unembedded => format!(
            "SELECT m.id, m.value FROM ({first}) m WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.memory = m.row) \
             ORDER BY m.id DESC"
        ),
        Measure::Newest | Measure::Importance => first,
    };
    // Memories that lack a vector are among the newest.
    let looked_at = if by == Measure::Unembedded { LATEST } else { limit };
    let hit = |row: &dyn Row| Ok(Hit { id: row.get(0)?, score: row.get(1)? });
    let mut hits = Vec::new();
    for scope in scopes {
        let mut values = vec![Value::Integer(scope)];
        values.extend(clause.values.iter().cloned());
        values.push(clause::limit(looked_at));
        hits.extend(connection.query_map(&sql, params_from_iter(values), hit)?);
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
    hits.truncate(limit);
    Ok(hits)
}

/// The same in one statement for all scopes.
fn top_by_in_one_statement(
    connection: &dyn Connection,
    clause: &Clause,
    by: Measure,
    limit: usize,
    (value, order): (&str, &str),
) -> sql::SqlResult<Vec<Hit>> {
    let (scopes, mut values) = clause.scope_condition("s.scope");
    let (looked_at, waiting) = match by {
        Measure::Unembedded => (LATEST, "WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.memory = f.row)"),
        Measure::Newest | Measure::Importance => (limit, ""),
    };
    let sql = format!(
        "SELECT f.id, f.value FROM (SELECT s.scope FROM scopes s WHERE {scopes}) s, LATERAL (SELECT m.id, {value} AS value, \
         m.row FROM memories m WHERE m.scope = s.scope AND {} ORDER BY {order} LIMIT ?) f {waiting} \
         ORDER BY f.value DESC, f.id DESC LIMIT ?",
        clause.sql
    );
    values.extend(clause.values.iter().cloned());
    values.extend([clause::limit(looked_at), clause::limit(limit)]);
    let hit = |row: &dyn Row| Ok(Hit { id: row.get(0)?, score: row.get(1)? });
    connection.query_map(&sql, values, hit)
}

/// The newest memory of a thread in one scope.
pub(crate) fn last_of_thread(
    connection: &dyn Connection,
    space: &Space,
    visible: &Visible,
    scope: &Scope,
    thread: &str,
) -> sql::SqlResult<Option<Memory>> {
    let Some(clause) = Clause::visible(connection, space, visible)? else { return Ok(None) };
    let sql = format!(
        "SELECT {} FROM memories m WHERE m.thread_id = ? AND m.scope = (SELECT scope FROM scopes WHERE key = ?) \
         AND m.state NOT IN ('soft_deleted', 'proposed') AND {} ORDER BY m.row DESC LIMIT 1",
        row::COLUMNS,
        clause.sql
    );
    let mut values = vec![Value::Text(thread.to_owned()), Value::Text(scope.key())];
    values.extend(clause.values);
    connection.query_row(&sql, params_from_iter(values), row::read).optional()
}

/// The number and the dimensions of a model.
pub(crate) fn model(connection: &dyn Connection, name: &str) -> sql::SqlResult<Option<(i64, usize)>> {
    connection
        .query_row("SELECT model, dimensions FROM models WHERE name = ?1", params![name], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()
}

/// The number of the model of a vector; none if this space has no such model with vectors of that size.
pub(crate) fn model_of(connection: &dyn Connection, vector: &Vector) -> sql::SqlResult<Option<i64>> {
    let known = model(connection, &vector.model)?;
    Ok(known.filter(|(_, size)| *size == vector.values.len()).map(|(model, _)| model))
}

/// The names of the models in this space.
pub(crate) fn model_names(connection: &dyn Connection) -> sql::SqlResult<Vec<String>> {
    connection.query_map("SELECT name FROM models", params![], |row| row.get(0))
}

/// Vectors by model, and the number of live memories without one.
fn models(connection: &dyn Connection, clause: &Clause) -> sql::SqlResult<(BTreeMap<String, u64>, u64)> {
    connection.without_timeout()?;
    let vectors = grouped(
        connection,
        &format!(
            "SELECT o.name, count(*) FROM memories m JOIN vectors v ON v.memory = m.row \
             JOIN models o ON o.model = v.model WHERE {} GROUP BY 1",
            clause.sql
        ),
        &clause.values,
    )?;
    let without = connection.query_row(
        &format!(
            "SELECT count(*) FROM memories m WHERE m.state IN ('active', 'decayed') \
             AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.memory = m.row) AND {}",
            clause.sql
        ),
        params_from_iter(clause.values.iter()),
        |row| row.get(0),
    )?;
    Ok((vectors, without))
}

/// The statistics of one space. Jobs, and ledger entries about no visible memory, are counted only if `whole` is set.
pub(crate) fn stats(connection: &dyn Connection, clause: &Clause, whole: bool) -> sql::SqlResult<Stats> {
    let by = |column: &str| {
        let sql = format!("SELECT m.{column}, count(*) FROM memories m WHERE {} GROUP BY 1", clause.sql);
        grouped(connection, &sql, &clause.values)
    };
    let (vectors, without_vector) = models(connection, clause)?;
    let by_state = by("state")?;
    let mut stats = Stats {
        memories: by_state.values().sum(),
        by_layer: by("layer")?,
        by_kind: by("kind")?,
        by_state,
        vectors,
        without_vector,
        spaces: u64::from(clause.has_scopes(connection)?),
        ..Stats::default()
    };
    let count = |sql: String, values: &[Value]| {
        connection.query_row(&sql, params_from_iter(values.iter()), |row| row.get::<_, u64>(0))
    };
    stats.orphans = count(
        format!(
            "SELECT count(*) FROM memories m WHERE m.state IN ('active', 'decayed') \
             AND NOT EXISTS (SELECT 1 FROM edges e WHERE e.source = m.row) \
             AND NOT EXISTS (SELECT 1 FROM edges e WHERE e.target = m.row) \
             AND NOT EXISTS (SELECT 1 FROM mentions t WHERE t.memory = m.row) AND {}",
            clause.sql
        ),
        &clause.values,
    )?;
    stats.content_bytes = count(
        format!(
            "SELECT CAST(coalesce(sum(octet_length(m.content)), 0) AS bigint) FROM memories m WHERE {}",
            clause.sql
        ),
        &clause.values,
    )?;
    stats.entities = entities::count(connection, clause)?;
    let seen = format!("SELECT m.row FROM memories m WHERE {}", clause.sql);
    stats.edges = grouped(
        connection,
        &format!("SELECT relation, count(*) FROM edges WHERE source IN ({seen}) AND target IN ({seen}) GROUP BY 1"),
        &[clause.values.as_slice(), &clause.values].concat(),
    )?;
    if whole {
        stats.ledger = connection.query_row("SELECT count(*) FROM ledger", [], |row| row.get(0))?;
        stats.jobs = grouped(connection, "SELECT state, count(*) FROM jobs GROUP BY 1", &[])?;
    } else {
        let entries = "SELECT count(*) FROM ledger l JOIN memories m ON m.row = l.memory AND m.id = l.memory_id";
        stats.ledger = count(format!("{entries} WHERE {}", clause.sql), &clause.values)?;
    }
    Ok(stats)
}

fn grouped(connection: &dyn Connection, sql: &str, values: &[Value]) -> sql::SqlResult<BTreeMap<String, u64>> {
    let counts = connection.query_map(sql, params_from_iter(values.iter()), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(counts.into_iter().collect())
}
