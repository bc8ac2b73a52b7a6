//! How do edges, entities and mentions lie?

use std::collections::BTreeSet;

use jiff::Timestamp;
use loci_types::{Edge, EdgeId, Entity, EntityId, EntityType, MemoryId, Relation};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use uuid::Uuid;

use super::clause::{self, Clause};
use super::row::json;
use crate::Hit;

/// Draws an edge, or renews the one that is there. True if it is new.
pub(super) fn link(connection: &Connection, source: i64, target: i64, edge: &Edge) -> rusqlite::Result<bool> {
    let known: Option<[u8; 16]> = connection
        .prepare_cached("SELECT id FROM edges WHERE source = ?1 AND target = ?2 AND relation = ?3")?
        .query_row(params![source, target, edge.relation.name()], |row| row.get(0))
        .optional()?;
    // The edge that is there keeps its id and the time it came.
    let id = fresh(connection, edge.id);
    connection
        .prepare_cached(
            "INSERT INTO edges (id, source, target, relation, predicate, strength, confidence, valid_from, valid_until, \
             evidence, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
             ON CONFLICT (source, relation, target) DO UPDATE SET predicate = excluded.predicate, \
             strength = excluded.strength, confidence = excluded.confidence, valid_from = excluded.valid_from, \
             valid_until = excluded.valid_until, evidence = excluded.evidence",
        )?
        .execute(params![
            id,
            source,
            target,
            edge.relation.name(),
            edge.predicate,
            edge.strength,
            edge.confidence,
            edge.valid_from.as_microsecond(),
            edge.valid_until.map(Timestamp::as_microsecond),
            (!edge.evidence.is_empty()).then(|| json(&edge.evidence)),
            edge.created_at.as_microsecond(),
        ])?;
    Ok(known.is_none())
}

/// The wished id, or a neighbour of it if another edge has it: a memory may both follow one and
/// replace another, and both edges are named after it.
fn fresh(connection: &Connection, wish: EdgeId) -> [u8; 16] {
    let mut id = wish.0.as_u128();
    let taken = |id: u128| {
        connection
            .query_row("SELECT 1 FROM edges WHERE id = ?1", [id.to_be_bytes()], |_| Ok(()))
            .optional()
            .is_ok_and(|found| found.is_some())
    };
    while taken(id) {
        id = id.wrapping_add(1);
    }
    id.to_be_bytes()
}

/// The columns that [`read_edge`] expects.
pub(super) const EDGE_COLUMNS: &str = "e.id, s.id, t.id, e.relation, e.predicate, e.strength, e.confidence, \
    e.valid_from, e.valid_until, e.evidence, e.created_at";

/// Reads an edge from a row of [`EDGE_COLUMNS`].
pub(super) fn read_edge(row: &Row<'_>) -> rusqlite::Result<Edge> {
    let time = |micros: i64| Timestamp::from_microsecond(micros).unwrap_or_default();
    let relation: String = row.get(3)?;
    let evidence: Option<String> = row.get(9)?;
    Ok(Edge {
        id: EdgeId(Uuid::from_bytes(row.get(0)?)),
        source_id: MemoryId(Uuid::from_bytes(row.get(1)?)),
        target_id: MemoryId(Uuid::from_bytes(row.get(2)?)),
        relation: relation.parse().unwrap_or(Relation::RelatedTo),
        predicate: row.get(4)?,
        strength: row.get(5)?,
        confidence: row.get(6)?,
        valid_from: time(row.get(7)?),
        valid_until: row.get::<_, Option<i64>>(8)?.map(time),
        evidence: evidence.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        created_at: time(row.get(10)?),
    })
}

/// The rows that come right after this one in their threads.
pub(super) fn followers(connection: &Connection, row: i64) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare_cached("SELECT target FROM edges WHERE source = ?1 AND relation = 'temporal'")?
        .query_map([row], |row| row.get(0))?
        .collect()
}

/// Writes an entity, new or known.
pub(super) fn name(connection: &Connection, entity: &Entity) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO entities (id, canonical_name, entity_type, aliases, summary, first_seen, last_updated, \
             mention_count, attributes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO UPDATE SET \
             canonical_name = excluded.canonical_name, entity_type = excluded.entity_type, aliases = excluded.aliases, \
             summary = excluded.summary, last_updated = excluded.last_updated, attributes = excluded.attributes",
        )?
        .execute(params![
            entity.id.as_bytes(),
            entity.canonical_name,
            entity.entity_type.name(),
            json(&entity.aliases),
            entity.summary,
            entity.first_seen.as_microsecond(),
            entity.last_updated.as_microsecond(),
            entity.mention_count,
            json(&entity.attributes),
        ])?;
    let number: i64 = connection
        .prepare_cached("SELECT entity FROM entities WHERE id = ?1")?
        .query_row([entity.id.as_bytes()], |row| row.get(0))?;
    connection.prepare_cached("DELETE FROM names WHERE entity = ?1")?.execute([number])?;
    for name in entity.aliases.iter().chain([&entity.canonical_name]) {
        connection
            .prepare_cached("INSERT OR IGNORE INTO names (name, entity) VALUES (?1, ?2)")?
            .execute(params![name.to_lowercase(), number])?;
    }
    Ok(())
}

/// The entities that go by one of these names and that a memory within the clause speaks of.
pub(super) fn named(connection: &Connection, clause: &Clause, names: &[String]) -> rusqlite::Result<Vec<Entity>> {
    let sql = format!(
        "SELECT DISTINCT e.id, e.canonical_name, e.entity_type, e.aliases, e.summary, e.first_seen, e.last_updated, \
         e.mention_count, e.attributes FROM names n JOIN entities e ON e.entity = n.entity WHERE n.name = ? AND EXISTS \
         (SELECT 1 FROM mentions t CROSS JOIN memories m ON m.row = t.memory WHERE t.entity = e.entity AND {})",
        clause.sql
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found: Vec<Entity> = Vec::new();
    for name in names {
        let mut values = vec![Value::Text(name.to_lowercase())];
        values.extend(clause.values.iter().cloned());
        for entity in statement.query_map(params_from_iter(values), read_entity)? {
            let entity = entity?;
            if !found.iter().any(|known| known.id == entity.id) {
                found.push(entity);
            }
        }
    }
    Ok(found)
}

/// The entities that a memory speaks of.
pub(super) fn spoken_of(connection: &Connection, row: i64) -> rusqlite::Result<Vec<Entity>> {
    connection
        .prepare_cached(
            "SELECT e.id, e.canonical_name, e.entity_type, e.aliases, e.summary, e.first_seen, e.last_updated, \
             e.mention_count, e.attributes FROM mentions t JOIN entities e ON e.entity = t.entity \
             WHERE t.memory = ?1 ORDER BY e.entity",
        )?
        .query_map([row], read_entity)?
        .collect()
}

/// The memories within the clause that speak of these entities, those that speak of most of them
/// first, then the newest.
pub(super) fn mentioning(
    connection: &Connection,
    clause: &Clause,
    entities: &[EntityId],
    limit: usize,
) -> rusqlite::Result<Vec<Hit>> {
    // One that is asked for twice is one, or nothing could speak of all of them.
    let entities: BTreeSet<EntityId> = entities.iter().copied().collect();
    let sql = format!(
        "SELECT m.id, count(*) AS held FROM entities e CROSS JOIN mentions t ON t.entity = e.entity \
         CROSS JOIN memories m ON m.row = t.memory WHERE e.id IN ({}) AND {} \
         GROUP BY m.row ORDER BY held DESC, m.id DESC LIMIT ?",
        clause::places(entities.len()),
        clause.sql
    );
    let mut values: Vec<Value> = entities.iter().map(|id| Value::Blob(id.as_bytes().to_vec())).collect();
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    let all = entities.len() as f64;
    let hit = |row: &Row<'_>| {
        Ok(Hit { id: MemoryId(Uuid::from_bytes(row.get(0)?)), score: f64::from(row.get::<_, u32>(1)?) / all })
    };
    connection.prepare_cached(&sql)?.query_map(params_from_iter(values), hit)?.collect()
}

fn read_entity(row: &Row<'_>) -> rusqlite::Result<Entity> {
    let time = |micros: i64| Timestamp::from_microsecond(micros).unwrap_or_default();
    let (kind, aliases, attributes): (String, String, String) = (row.get(2)?, row.get(3)?, row.get(8)?);
    Ok(Entity {
        id: EntityId(Uuid::from_bytes(row.get(0)?)),
        canonical_name: row.get(1)?,
        entity_type: kind.parse().unwrap_or(EntityType::Concept),
        aliases: serde_json::from_str(&aliases).unwrap_or_default(),
        summary: row.get(4)?,
        first_seen: time(row.get(5)?),
        last_updated: time(row.get(6)?),
        mention_count: row.get(7)?,
        attributes: serde_json::from_str(&attributes).unwrap_or_default(),
    })
}

/// Notes that a memory speaks of an entity; a second time changes nothing.
pub(super) fn mention(connection: &Connection, row: i64, entity: EntityId) -> rusqlite::Result<()> {
    let new = connection
        .prepare_cached(
            "INSERT OR IGNORE INTO mentions (memory, entity) SELECT ?1, entity FROM entities WHERE id = ?2",
        )?
        .execute(params![row, entity.as_bytes()])?;
    if new > 0 {
        connection
            .prepare_cached("UPDATE entities SET mention_count = mention_count + 1 WHERE id = ?1")?
            .execute([entity.as_bytes()])?;
    }
    Ok(())
}
