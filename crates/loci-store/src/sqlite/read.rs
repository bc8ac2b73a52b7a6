//! How are memories, their history and their numbers read?

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use loci_types::{Edge, Filter, LedgerEntry, Memory, MemoryId, Reach, Relation, Scope, Space, Vector, Visible};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use uuid::Uuid;

use super::clause::{self, Clause};
use super::{graph, row};
use crate::{Changes, Hit, Measure, Models, Page, Stats};

/// The visible memories among these ids.
pub(super) fn fetch(
    connection: &Connection,
    space: &Space,
    visible: &Visible,
    ids: &[MemoryId],
) -> rusqlite::Result<Vec<Memory>> {
    let Some(clause) = Clause::visible(connection, space, visible)? else { return Ok(Vec::new()) };
    let sql = format!("SELECT {} FROM memories m WHERE m.id = ? AND {}", row::COLUMNS, clause.sql);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut memories = Vec::with_capacity(ids.len());
    for id in ids {
        let mut values = vec![Value::Blob(id.as_bytes().to_vec())];
        values.extend(clause.values.iter().cloned());
        memories.extend(statement.query_row(params_from_iter(values), row::read).optional()?);
    }
    Ok(memories)
}

/// Up to one more than the page asks for, newest first, and how many there are in all.
pub(super) fn scan(
    connection: &Connection,
    space: &Space,
    visible: &Visible,
    filter: &Filter,
    page: &Page,
) -> rusqlite::Result<(Vec<Memory>, u64)> {
    let Some(clause) = Clause::of(connection, space, visible, filter)? else { return Ok((Vec::new(), 0)) };
    // Left to itself the planner walks the scope in the order that is asked for.
    let index = match filter {
        Filter { twin: Some(_), .. } => "INDEXED BY memories_by_unless",
        Filter { claim: Some(_), .. } => "INDEXED BY memories_by_claim",
        _ => "",
    };
    let count = format!("SELECT count(*) FROM memories m {index} WHERE {}", clause.sql);
    let total =
        connection.prepare_cached(&count)?.query_row(params_from_iter(clause.values.iter()), |row| row.get(0))?;
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
    let memories =
        connection.prepare_cached(&sql)?.query_map(params_from_iter(values), row::read)?.collect::<Result<_, _>>()?;
    Ok((memories, total))
}

/// The vectors of these memories by this model.
pub(super) fn vectors(
    connection: &Connection,
    space: &Space,
    visible: &Visible,
    model: &str,
    ids: &[MemoryId],
) -> rusqlite::Result<Vec<(MemoryId, Vector)>> {
    let Some(clause) = Clause::visible(connection, space, visible)? else { return Ok(Vec::new()) };
    let sql = format!(
        "SELECT v.vector, v.token_states FROM memories m JOIN vectors v ON v.memory = m.row JOIN models o ON o.model = v.model \
         WHERE m.id = ? AND o.name = ? AND {}",
        clause.sql
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let mut values = vec![Value::Blob(id.as_bytes().to_vec()), Value::Text(model.to_owned())];
        values.extend(clause.values.iter().cloned());
        let read = |row: &rusqlite::Row<'_>| {
            let values = row::vector_values(row.get_ref(0)?.as_blob()?);
            Ok(Vector { model: model.to_owned(), values, token_states: row.get(1)? })
        };
        let vector = statement.query_row(params_from_iter(values), read).optional()?;
        found.extend(vector.map(|vector| (*id, vector)));
    }
    Ok(found)
}

/// The ledger of one memory, oldest first.
pub(super) fn history(
    connection: &Connection,
    space: &Space,
    visible: &Visible,
    id: MemoryId,
    limit: usize,
) -> rusqlite::Result<Vec<LedgerEntry>> {
    let known = !fetch(connection, space, visible, &[id])?.is_empty();
    // A row number finds it by an index; only a tombstone must be looked for by its id.
    let row: Option<i64> = connection
        .prepare_cached("SELECT row FROM memories WHERE id = ?1")?
        .query_row([id.as_bytes()], |row| row.get(0))
        .optional()?;
    // What is there and not seen has no history; what is gone has one for the whole reach only.
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
        .prepare_cached(&sql)?
        .query_map(params_from_iter([value, clause::limit(limit)]), |row| row::read_entry(&space.name(), row))?
        .collect()
}

/// One line of the ledger, if the memory it is about may be seen. One about no memory is for those
/// who see the whole.
pub(super) fn entry(
    connection: &Connection,
    space: &Space,
    visible: &Visible,
    clause: &Clause,
    sequence: i64,
) -> rusqlite::Result<Option<LedgerEntry>> {
    let whole = if *visible.reach() == Reach::Whole { "1" } else { "0" };
    let sql = format!(
        "SELECT {ENTRY} FROM ledger l LEFT JOIN memories m ON m.row = l.memory WHERE l.sequence = ? \
         AND ((m.row IS NULL AND {whole}) OR (m.row IS NOT NULL AND {}))",
        clause.sql
    );
    let mut values = vec![Value::Integer(sequence)];
    values.extend(clause.values.iter().cloned());
    connection
        .prepare_cached(&sql)?
        .query_row(params_from_iter(values), |row| row::read_entry(&space.name(), row))
        .optional()
}

/// The columns of the ledger that [`row::read_entry`] expects.
pub(super) const ENTRY: &str = "l.sequence, l.at, l.event, l.memory_id, l.version, l.old, l.new, l.actor, l.node, l.reason, \
    l.thread_id, l.request_id";

/// What happened to visible memories after a revision.
pub(super) fn changes(
    connection: &Connection,
    space: &Space,
    clause: &Clause,
    thread: Option<&str>,
    since: i64,
    limit: usize,
) -> rusqlite::Result<Changes> {
    let revision =
        connection.prepare_cached("SELECT coalesce(max(sequence), 0) FROM ledger")?.query_row([], |row| row.get(0))?;
    let in_thread = if thread.is_some() { "AND l.thread_id = ?" } else { "" };
    let sql = format!(
        "SELECT {ENTRY} FROM ledger l CROSS JOIN memories m ON m.row = l.memory WHERE l.sequence > ? {in_thread} \
         AND (l.event IN ('update', 'delete', 'merge', 'restore', 'supersede') \
         OR (l.event = 'add' AND m.metadata -> '$.consent' IS NULL) \
         OR (l.event = 'consent' AND l.new ->> '$.state' = 'active') \
         OR (l.event = 'ttl' AND l.new ->> '$.state' = 'soft_deleted')) AND m.state != 'proposed' AND {} ORDER BY l.sequence DESC LIMIT ?",
        clause.sql
    );
    let mut values = vec![Value::Integer(since)];
    values.extend(thread.map(|thread| Value::Text(thread.to_owned())));
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    let mut entries: Vec<LedgerEntry> = connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), |row| row::read_entry(&space.name(), row))?
        .collect::<rusqlite::Result<_>>()?;
    entries.reverse();
    Ok(Changes { revision, entries })
}

/// The edges at these memories, of these relations or of all, whose both ends pass the clause.
pub(super) fn edges(
    connection: &Connection,
    clause: &Clause,
    ids: &[MemoryId],
    relations: &[Relation],
) -> rusqlite::Result<Vec<Edge>> {
    let wanted = |relation: &Relation| relations.is_empty() || relations.contains(relation);
    let sql = format!(
        "SELECT {} FROM (SELECT * FROM edges WHERE source = ?1 UNION SELECT * FROM edges WHERE target = ?1) e \
         JOIN memories s ON s.row = e.source JOIN memories t ON t.row = e.target ORDER BY e.created_at, e.id",
        graph::EDGE_COLUMNS
    );
    let mut row_of = connection.prepare_cached("SELECT row FROM memories WHERE id = ?1")?;
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found: Vec<Edge> = Vec::new();
    let mut known = HashSet::new();
    for id in ids {
        let row: Option<i64> = row_of.query_row([id.as_bytes()], |row| row.get(0)).optional()?;
        let Some(row) = row else { continue };
        for edge in statement.query_map([row], graph::read_edge)? {
            let edge = edge?;
            if wanted(&edge.relation) && known.insert(edge.id) {
                found.push(edge);
            }
        }
    }
    let mut seen: HashMap<MemoryId, bool> = HashMap::new();
    let visible = format!("SELECT 1 FROM memories m WHERE m.id = ? AND {}", clause.sql);
    let mut visible = connection.prepare_cached(&visible)?;
    for id in found.iter().flat_map(|edge| [edge.source_id, edge.target_id]) {
        if let Entry::Vacant(place) = seen.entry(id) {
            let mut values = vec![Value::Blob(id.as_bytes().to_vec())];
            values.extend(clause.values.iter().cloned());
            place.insert(visible.exists(params_from_iter(values))?);
        }
    }
    found.retain(|edge| seen[&edge.source_id] && seen[&edge.target_id]);
    Ok(found)
}

/// The first memories by one measure. Each scope is asked by itself, so that an index gives the
/// order and no scope is read whole.
pub(super) fn foremost(
    connection: &Connection,
    clause: &Clause,
    by: Measure,
    limit: usize,
) -> rusqlite::Result<Vec<Hit>> {
    // Left to itself the planner may sort the whole scope.
    let (value, index, order) = match by {
        Measure::Newest => ("m.created_at / 1e6", "memories_by_scope", "m.id DESC"),
        Measure::Importance => ("m.importance", "memories_by_weight", "m.importance DESC, m.row DESC"),
    };
    let scopes = match &clause.scopes {
        Some(scopes) => scopes.clone(),
        None => connection
            .prepare_cached("SELECT scope FROM scopes")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?,
    };
    let sql = format!(
        "SELECT m.id, {value} FROM memories m INDEXED BY {index} WHERE m.scope = ? AND {} ORDER BY {order} LIMIT ?",
        clause.sql
    );
    let hit = |row: &rusqlite::Row<'_>| Ok(Hit { id: MemoryId(Uuid::from_bytes(row.get(0)?)), score: row.get(1)? });
    let mut statement = connection.prepare_cached(&sql)?;
    let mut hits = Vec::new();
    for scope in scopes {
        let mut values = vec![Value::Integer(scope)];
        values.extend(clause.values.iter().cloned());
        values.push(clause::limit(limit));
        for hit in statement.query_map(params_from_iter(values), hit)? {
            hits.push(hit?);
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
    hits.truncate(limit);
    Ok(hits)
}

/// The newest memory of a thread in one scope.
pub(super) fn last_of_thread(
    connection: &Connection,
    space: &Space,
    visible: &Visible,
    scope: &Scope,
    thread: &str,
) -> rusqlite::Result<Option<Memory>> {
    let Some(clause) = Clause::visible(connection, space, visible)? else { return Ok(None) };
    let sql = format!(
        "SELECT {} FROM memories m WHERE m.thread_id = ? AND m.scope = (SELECT scope FROM scopes WHERE key = ?) \
         AND m.state NOT IN ('soft_deleted', 'proposed') AND {} ORDER BY m.row DESC LIMIT 1",
        row::COLUMNS,
        clause.sql
    );
    let mut values = vec![Value::Text(thread.to_owned()), Value::Text(scope.key())];
    values.extend(clause.values);
    connection.prepare_cached(&sql)?.query_row(params_from_iter(values), row::read).optional()
}

/// The models that have made vectors here.
pub(super) fn model_names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection.prepare_cached("SELECT name FROM models")?.query_map([], |row| row.get(0))?.collect()
}

/// Vectors by model, and live memories without one.
pub(super) fn models(connection: &Connection, clause: &Clause) -> rusqlite::Result<Models> {
    let vectors = grouped(
        connection,
        &format!(
            "SELECT o.name, count(*) FROM memories m JOIN vectors v ON v.memory = m.row \
             JOIN models o ON o.model = v.model WHERE {} GROUP BY 1",
            clause.sql
        ),
        &clause.values,
    )?;
    let without = connection
        .prepare_cached(&format!(
            "SELECT count(*) FROM memories m WHERE m.state IN ('active', 'decayed') \
             AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.memory = m.row) AND {}",
            clause.sql
        ))?
        .query_row(params_from_iter(clause.values.iter()), |row| row.get(0))?;
    Ok(Models { vectors, without })
}

/// What one space adds to the numbers.
pub(super) fn stats(connection: &Connection, clause: &Clause, whole: bool) -> rusqlite::Result<Stats> {
    let by = |column: &str| {
        let sql = format!("SELECT m.{column}, count(*) FROM memories m WHERE {} GROUP BY 1", clause.sql);
        grouped(connection, &sql, &clause.values)
    };
    let models = models(connection, clause)?;
    let by_state = by("state")?;
    let mut stats = Stats {
        memories: by_state.values().sum(),
        by_layer: by("layer")?,
        by_kind: by("kind")?,
        by_state,
        vectors: models.vectors,
        without_vector: models.without,
        spaces: 1,
        ..Stats::default()
    };
    let seen = format!("SELECT m.row FROM memories m WHERE {}", clause.sql);
    stats.edges = grouped(
        connection,
        &format!("SELECT relation, count(*) FROM edges WHERE source IN ({seen}) AND target IN ({seen}) GROUP BY 1"),
        &[clause.values.as_slice(), &clause.values].concat(),
    )?;
    if whole {
        stats.entities = connection.query_row("SELECT count(*) FROM entities", [], |row| row.get(0))?;
        stats.ledger = connection.query_row("SELECT count(*) FROM ledger", [], |row| row.get(0))?;
        stats.jobs = grouped(connection, "SELECT state, count(*) FROM jobs GROUP BY 1", &[])?;
    }
    Ok(stats)
}

fn grouped(connection: &Connection, sql: &str, values: &[Value]) -> rusqlite::Result<BTreeMap<String, u64>> {
    connection
        .prepare_cached(sql)?
        .query_map(params_from_iter(values.iter()), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}
