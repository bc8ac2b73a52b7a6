//! How do the things lie that memories speak of?
//!
//! An entity belongs to one scope, and only memories of that scope speak of it, so its names and
//! its summary never leave it. Two that turn out to be the same are united by a pointer: nothing is
//! moved, and the union can be undone. A family is an entity with all that were united with it; it
//! is found by any of its names and goes by those of its root.

use std::collections::BTreeSet;

use jiff::Timestamp;
use loci_types::{Change, Entity, EntityId, EntityType, Event, MemoryId, Outcome, Scope};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use serde_json::json as told;
use uuid::Uuid;

use super::apply::{Desk, nothing};
use super::clause::{self, Clause};
use super::row::json;
use crate::{Applied, EntityFilter, Error, Hit, Result};

/// A union deeper than this cannot have been made here.
const DEEPEST: usize = 64;

impl Desk<'_> {
    /// Writes an entity, new or known. A known one keeps its scope.
    pub(super) fn name(&self, change: &Change, scope: &Scope, entity: &Entity) -> Result<Applied> {
        if scope.space() != *self.space {
            return Err(Error::Refused(format!("{scope} lies in {}, not in {}", scope.space(), self.space)));
        }
        let scope = self.scope(scope)?;
        if let Some((_, known)) = self.entity(entity.id)?
            && known != scope
        {
            return Err(Error::Refused(format!("entity {} belongs to another scope", entity.id)));
        }
        self.sql(write(self.connection, scope, entity))?;
        let sequence = self.record(change, Event::Entity, None, None, Some(told!({ "entity": entity.id })))?;
        Ok(Applied { sequence, ..nothing(Outcome::Updated) })
    }

    /// Notes that a memory speaks of an entity of its scope; a second time changes nothing.
    pub(super) fn mention(&self, change: &Change, memory: MemoryId, entity: EntityId) -> Result<Applied> {
        let lying = self.find(memory)?;
        let Some((number, scope)) = self.entity(entity)? else { return Ok(nothing(Outcome::None)) };
        if scope != lying.scope {
            return Err(Error::Refused(format!("memory {memory} and entity {entity} belong to different scopes")));
        }
        let new = self.sql(
            self.connection
                .execute("INSERT OR IGNORE INTO mentions (memory, entity) VALUES (?1, ?2)", params![lying.row, number]),
        )?;
        if new == 0 {
            return Ok(nothing(Outcome::None));
        }
        let count = "UPDATE entities SET mention_count = mention_count + 1 WHERE entity = ?1";
        self.sql(self.connection.execute(count, [number]))?;
        let sequence = self.record(change, Event::Entity, Some(&lying), None, Some(told!({ "entity": entity })))?;
        Ok(Applied { sequence, ..nothing(Outcome::Updated) })
    }

    /// Makes two entities of one scope one thing.
    pub(super) fn unite(&self, change: &Change, into: EntityId, from: EntityId) -> Result<Applied> {
        let unknown = |id: EntityId| Error::Refused(format!("there is no entity {id}"));
        let (kept, scope) = self.entity(into)?.ok_or_else(|| unknown(into))?;
        let (taken, other) = self.entity(from)?.ok_or_else(|| unknown(from))?;
        if scope != other {
            return Err(Error::Refused(format!("entities {into} and {from} belong to different scopes")));
        }
        let (kept, taken) = (self.sql(root(self.connection, kept))?, self.sql(root(self.connection, taken))?);
        if kept == taken {
            return Ok(nothing(Outcome::None));
        }
        let put = "UPDATE entities SET united_with = ?2, last_updated = ?3 WHERE entity = ?1";
        self.sql(self.connection.execute(put, params![taken, kept, change.at.as_microsecond()]))?;
        let new = told!({ "entity": into, "united": from });
        let sequence = self.record(change, Event::Entity, None, None, Some(new))?;
        Ok(Applied { sequence, ..nothing(Outcome::Merged) })
    }

    /// Undoes a union.
    pub(super) fn divide(&self, change: &Change, entity: EntityId) -> Result<Applied> {
        let apart = self.sql(self.connection.execute(
            "UPDATE entities SET united_with = NULL, last_updated = ?2 WHERE id = ?1 AND united_with IS NOT NULL",
            params![entity.as_bytes(), change.at.as_microsecond()],
        ))?;
        if apart == 0 {
            return Ok(nothing(Outcome::None));
        }
        let new = told!({ "entity": entity, "divided": true });
        let sequence = self.record(change, Event::Entity, None, None, Some(new))?;
        Ok(Applied { sequence, ..nothing(Outcome::Restored) })
    }

    /// The number and the scope of an entity. One from before scopes were kept belongs to nobody.
    fn entity(&self, id: EntityId) -> Result<Option<(i64, i64)>> {
        let found = self
            .connection
            .prepare_cached("SELECT entity, coalesce(scope, 0) FROM entities WHERE id = ?1")
            .and_then(|mut read| read.query_row([id.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?))).optional());
        self.sql(found)
    }
}

fn write(connection: &Connection, scope: i64, entity: &Entity) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO entities (id, canonical_name, entity_type, aliases, summary, first_seen, last_updated, \
             mention_count, attributes, scope) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) \
             ON CONFLICT (id) DO UPDATE SET canonical_name = excluded.canonical_name, \
             entity_type = excluded.entity_type, aliases = excluded.aliases, summary = excluded.summary, \
             last_updated = excluded.last_updated, attributes = excluded.attributes",
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
            scope,
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

/// The root of the family that an entity belongs to.
fn root(connection: &Connection, entity: i64) -> rusqlite::Result<i64> {
    let mut up = connection.prepare_cached("SELECT united_with FROM entities WHERE entity = ?1")?;
    let mut at = entity;
    for _ in 0..DEEPEST {
        match up.query_row([at], |row| row.get::<_, Option<i64>>(0)).optional()?.flatten() {
            Some(next) => at = next,
            None => break,
        }
    }
    Ok(at)
}

/// The root with all that were united with it.
fn family(connection: &Connection, root: i64) -> rusqlite::Result<Vec<i64>> {
    let mut down = connection.prepare_cached("SELECT entity FROM entities WHERE united_with = ?1 ORDER BY entity")?;
    let mut members = vec![root];
    let mut next = 0;
    while next < members.len() {
        for member in down.query_map([members[next]], |row| row.get::<_, i64>(0))? {
            let member = member?;
            if !members.contains(&member) {
                members.push(member);
            }
        }
        next += 1;
    }
    Ok(members)
}

const COLUMNS: &str = "e.id, e.canonical_name, e.entity_type, e.aliases, e.summary, e.first_seen, e.last_updated, \
    e.mention_count, e.attributes";

/// A family as one entity, if a memory within the clause speaks of any of it.
fn whole(connection: &Connection, clause: &Clause, root: i64) -> rusqlite::Result<Option<Entity>> {
    let members = family(connection, root)?;
    let spoken = format!(
        "SELECT 1 FROM mentions t CROSS JOIN memories m ON m.row = t.memory WHERE t.entity = ? AND {} LIMIT 1",
        clause.sql
    );
    let mut spoken = connection.prepare_cached(&spoken)?;
    let mut seen = false;
    for member in &members {
        let mut values = vec![Value::Integer(*member)];
        values.extend(clause.values.iter().cloned());
        seen = seen || spoken.exists(params_from_iter(values))?;
    }
    if !seen {
        return Ok(None);
    }
    let sql = format!("SELECT {COLUMNS} FROM entities e WHERE e.entity = ?1");
    let mut read = connection.prepare_cached(&sql)?;
    let mut entity = read.query_row([root], read_entity)?;
    for member in &members[1..] {
        let other = read.query_row([member], read_entity)?;
        entity.mention_count += other.mention_count;
        entity.first_seen = entity.first_seen.min(other.first_seen);
        for name in std::iter::once(other.canonical_name).chain(other.aliases) {
            if name != entity.canonical_name && !entity.aliases.contains(&name) {
                entity.aliases.push(name);
            }
        }
    }
    // A summary tells of every category; whoever sees only some of them is not told.
    if clause.narrowed {
        entity.summary = None;
    }
    Ok(Some(entity))
}

/// The entities that go by one of these names and that a memory within the clause speaks of.
pub(super) fn named(connection: &Connection, clause: &Clause, names: &[String]) -> rusqlite::Result<Vec<Entity>> {
    let mut roots = Vec::new();
    for name in names {
        let mut bearers = connection.prepare_cached("SELECT entity FROM names WHERE name = ?1 ORDER BY entity")?;
        for bearer in bearers.query_map([name.to_lowercase()], |row| row.get(0))? {
            let root = root(connection, bearer?)?;
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
    }
    let found: rusqlite::Result<Vec<Option<Entity>>> =
        roots.into_iter().map(|root| whole(connection, clause, root)).collect();
    Ok(found?.into_iter().flatten().collect())
}

/// The entities that a visible memory speaks of.
pub(super) fn spoken_of(connection: &Connection, clause: &Clause, id: MemoryId) -> rusqlite::Result<Vec<Entity>> {
    let sql = format!(
        "SELECT t.entity FROM memories m JOIN mentions t ON t.memory = m.row WHERE m.id = ? AND {} ORDER BY t.entity",
        clause.sql
    );
    let mut values = vec![Value::Blob(id.as_bytes().to_vec())];
    values.extend(clause.values.iter().cloned());
    let numbers: Vec<i64> = connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut roots: Vec<i64> = Vec::new();
    for number in numbers {
        let root = root(connection, number)?;
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    let found: rusqlite::Result<Vec<Option<Entity>>> =
        roots.into_iter().map(|root| whole(connection, clause, root)).collect();
    Ok(found?.into_iter().flatten().collect())
}

/// The entities of the clause's scopes that are meant, those spoken of most first.
pub(super) fn list(
    connection: &Connection,
    clause: &Clause,
    filter: &EntityFilter,
    limit: usize,
) -> rusqlite::Result<Vec<Entity>> {
    let mut sql = "SELECT e.entity FROM entities e WHERE e.united_with IS NULL".to_owned();
    let mut values = Vec::new();
    if let Some(scopes) = &clause.scopes {
        sql.push_str(&format!(" AND e.scope IN ({})", clause::places(scopes.len())));
        values.extend(scopes.iter().map(|scope| Value::Integer(*scope)));
    }
    if filter.without_summary {
        sql.push_str(" AND e.summary IS NULL");
    }
    sql.push_str(" ORDER BY e.mention_count DESC, e.entity");
    let roots: Vec<i64> = connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut found = Vec::new();
    for root in roots {
        if found.len() >= limit {
            break;
        }
        found.extend(whole(connection, clause, root)?.filter(|entity| entity.mention_count >= filter.mentions_min));
    }
    Ok(found)
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
        "WITH RECURSIVE family(root, member) AS (SELECT entity, entity FROM entities WHERE id IN ({}) UNION \
         SELECT f.root, e.entity FROM family f JOIN entities e ON e.united_with = f.member) \
         SELECT m.id, count(DISTINCT f.root) AS held FROM family f CROSS JOIN mentions t ON t.entity = f.member \
         CROSS JOIN memories m ON m.row = t.memory WHERE {} GROUP BY m.row ORDER BY held DESC, m.id DESC LIMIT ?",
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

/// Takes away entities that nobody speaks of any more. Returns how many.
pub(super) fn sweep(connection: &Connection) -> rusqlite::Result<usize> {
    connection.execute(
        "DELETE FROM entities WHERE NOT EXISTS (SELECT 1 FROM mentions t WHERE t.entity = entities.entity) \
         AND NOT EXISTS (SELECT 1 FROM entities o WHERE o.united_with = entities.entity)",
        [],
    )
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
