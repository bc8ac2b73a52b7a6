//! Stores entities and their mentions in memories.
//!
//! An entity belongs to one scope, and only memories of that scope mention it, so its names and its summary never leave
//! the scope. Two entities that turn out to be the same are united by a pointer: no row is moved, and the union can be
//! undone. A family is an entity with all that are united with it; it is found by the names of any member and returned
//! under the names of its root.

use std::collections::BTreeSet;

use loci_types::{Change, Entity, EntityId, EntityType, Event, MemoryId, Outcome, Scope, Vector};
use serde_json::json;

use super::apply::{Applier, nothing};
use super::clause::{self, Clause};
use super::row::json;
use super::{Connection, OptionalExtension, Row, Value, params, params_from_iter};
use crate::sql;
use crate::{Applied, EntityFilter, Error, Hit, Result};

/// The scope number of an entity from an old format that no memory mentioned, so that its scope is unknown.
const NOBODY: i64 = 0;

/// Maximum number of pointers followed to a root, which ends the loop if they form a circle.
const DEEPEST: usize = 64;

impl Applier<'_> {
    /// Inserts or updates an entity. An existing one keeps its scope, unless it has none.
    pub(crate) fn name(&self, change: &Change, scope: &Scope, entity: &Entity) -> Result<Applied> {
        let scope = self.scope(scope)?;
        let mut entity = entity.clone();
        if let Some((number, known)) = self.entity(entity.id)? {
            if known != scope && known != NOBODY {
                return Err(Error::Refused(format!("entity {} belongs to another scope", entity.id)));
            }
            let borrowed = self.sql(borrowed(self.connection, number))?;
            entity.aliases.retain(|name| !borrowed.contains(name));
        }
        self.sql(write(self.connection, scope, &entity))?;
        let sequence = self.record(change, Event::Entity, None, None, Some(json!({ "entity": entity.id })))?;
        Ok(Applied { sequence, ..nothing(Outcome::Updated) })
    }

    /// Sets the vector of an entity.
    pub(crate) fn embed_entity(&self, entity: EntityId, vector: &Vector) -> Result<Applied> {
        let Some((number, _)) = self.entity(entity)? else { return Ok(nothing(Outcome::None)) };
        let sql = format!(
            "INSERT INTO entity_vectors (entity, model, vector) VALUES (?1, ?2, ?3) \
             {} DO UPDATE SET model = excluded.model, vector = excluded.vector",
            self.connection.dialect().on_conflict("entity")
        );
        let bytes: Vec<u8> = vector.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.sql(self.connection.execute(&sql, params![number, &vector.model, bytes]))?;
        Ok(nothing(Outcome::Updated))
    }

    /// Records that a memory mentions an entity of its scope. Idempotent.
    pub(crate) fn mention(
        &self,
        change: &Change,
        memory: MemoryId,
        entity: EntityId,
        counted: bool,
    ) -> Result<Applied> {
        let stored = self.find(memory)?;
        let Some((number, scope)) = self.entity(entity)? else { return Ok(nothing(Outcome::None)) };
        if scope == NOBODY {
            return Err(Error::Refused(format!("entity {entity} belongs to nobody yet; name it in a scope first")));
        }
        if scope != stored.scope {
            return Err(Error::Refused(format!("memory {memory} and entity {entity} belong to different scopes")));
        }
        let new = self.sql(self.connection.execute(
            "INSERT INTO mentions (memory, entity) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            params![stored.row, number],
        ))?;
        if new == 0 {
            return Ok(nothing(Outcome::None));
        }
        if counted {
            let count = "UPDATE entities SET mention_count = mention_count + 1 WHERE entity = ?1";
            self.sql(self.connection.execute(count, params![number]))?;
        }
        let details = if counted { json!({ "entity": entity }) } else { json!({ "entity": entity, "counted": false }) };
        let sequence = self.record(change, Event::Entity, Some(&stored), None, Some(details))?;
        Ok(Applied { sequence, ..nothing(Outcome::Updated) })
    }

    /// Unites two entities of one scope.
    pub(crate) fn unite(&self, change: &Change, into: EntityId, from: EntityId) -> Result<Applied> {
        let unknown = |id: EntityId| Error::Refused(format!("entity {id} not found"));
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
        self.sql(self.connection.execute(put, params![taken, kept, change.at]))?;
        // The ledger names the two roots, because `divide` undoes their union.
        let (into, from) = (self.sql(id_of(self.connection, kept))?, self.sql(id_of(self.connection, taken))?);
        let new = json!({ "entity": into, "united": from });
        let sequence = self.record(change, Event::Entity, None, None, Some(new))?;
        Ok(Applied { sequence, ..nothing(Outcome::Merged) })
    }

    /// Undoes a union.
    pub(crate) fn divide(&self, change: &Change, scope: Option<&Scope>, entity: EntityId) -> Result<Applied> {
        let apart = self.sql(self.connection.execute(
            "UPDATE entities SET united_with = NULL, last_updated = ?2 WHERE id = ?1 AND united_with IS NOT NULL \
             AND (CAST(?3 AS TEXT) IS NULL OR scope = (SELECT scope FROM scopes WHERE key = ?3))",
            params![entity.as_bytes(), change.at, scope.map(Scope::key)],
        ))?;
        if apart == 0 {
            return Ok(nothing(Outcome::None));
        }
        let new = json!({ "entity": entity, "divided": true });
        let sequence = self.record(change, Event::Entity, None, None, Some(new))?;
        Ok(Applied { sequence, ..nothing(Outcome::Restored) })
    }

    /// The number and the scope of an entity; the scope is [`NOBODY`] if it is unknown.
    fn entity(&self, id: EntityId) -> Result<Option<(i64, i64)>> {
        let found = self
            .connection
            .query_row("SELECT entity, coalesce(scope, ?2) FROM entities WHERE id = ?1", params![id, NOBODY], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional();
        self.sql(found)
    }
}

fn write(connection: &dyn Connection, scope: i64, entity: &Entity) -> sql::SqlResult<()> {
    connection.execute(
        &format!(
            "INSERT INTO entities (id, canonical_name, entity_type, aliases, summary, first_seen, last_updated, \
             mention_count, attributes, scope) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) \
             {} DO UPDATE SET canonical_name = excluded.canonical_name, \
             entity_type = excluded.entity_type, aliases = excluded.aliases, summary = excluded.summary, \
             last_updated = excluded.last_updated, attributes = excluded.attributes, \
             scope = coalesce(entities.scope, excluded.scope)",
            connection.dialect().on_conflict("id")
        ),
        params![
            entity.id,
            &entity.canonical_name,
            entity.entity_type.name(),
            json(&entity.aliases),
            &entity.summary,
            entity.created_at,
            entity.updated_at,
            entity.mention_count,
            json(&entity.attributes),
            scope,
        ],
    )?;
    let number: i64 =
        connection.query_row("SELECT entity FROM entities WHERE id = ?1", params![entity.id], |row| row.get(0))?;
    connection.execute("DELETE FROM names WHERE entity = ?1", params![number])?;
    connection.run_later("DELETE FROM entity_vectors WHERE entity = ?1", params![number])?;
    for name in entity.aliases.iter().chain([&entity.canonical_name]) {
        connection.execute(
            "INSERT INTO names (name, entity) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            params![name.to_lowercase(), number],
        )?;
    }
    Ok(())
}

/// Clears the summaries of the entities that this memory mentions, and of those that they are united with: they may quote it
/// and must be regenerated, and so must the vectors that were made of them.
pub(crate) fn forget_summaries(connection: &dyn Connection, row: i64) -> sql::SqlResult<()> {
    const MENTIONED: &str = "WITH RECURSIVE up(entity) AS (SELECT entity FROM mentions WHERE memory = ?1 UNION \
         SELECT e.united_with FROM up JOIN entities e ON e.entity = up.entity WHERE e.united_with IS NOT NULL) \
         SELECT entity FROM up";
    let vectors = format!("DELETE FROM entity_vectors WHERE entity IN ({MENTIONED})");
    connection.run_later(&vectors, params![row])?;
    let summaries = format!("UPDATE entities SET summary = NULL WHERE summary IS NOT NULL AND entity IN ({MENTIONED})");
    connection.run_later(&summaries, params![row])
}

/// The root of the family that an entity belongs to.
fn root(connection: &dyn Connection, entity: i64) -> sql::SqlResult<i64> {
    let up = "SELECT united_with FROM entities WHERE entity = ?1";
    let mut at = entity;
    for _ in 0..DEEPEST {
        match connection.query_row(up, params![at], |row| row.get::<_, Option<i64>>(0)).optional()?.flatten() {
            Some(next) => at = next,
            None => break,
        }
    }
    Ok(at)
}

fn id_of(connection: &dyn Connection, entity: i64) -> sql::SqlResult<EntityId> {
    connection.query_row("SELECT id FROM entities WHERE entity = ?1", params![entity], |row| row.get(0))
}

/// The names that an entity has only from entities united with it. Reading it includes them; writing it back must not
/// store them as its own, or `divide` could not separate them.
fn borrowed(connection: &dyn Connection, entity: i64) -> sql::SqlResult<BTreeSet<String>> {
    let names = |member: i64| -> sql::SqlResult<Vec<String>> {
        let sql = format!("SELECT {COLUMNS} FROM entities e WHERE e.entity = ?1");
        let entity = connection.query_row(&sql, params![member], read_entity)?;
        Ok(std::iter::once(entity.canonical_name).chain(entity.aliases).collect())
    };
    let own = names(entity)?;
    let mut borrowed = BTreeSet::new();
    for member in &family(connection, entity)?[1..] {
        borrowed.extend(names(*member)?.into_iter().filter(|name| !own.contains(name)));
    }
    Ok(borrowed)
}

/// The root with all entities united with it.
fn family(connection: &dyn Connection, root: i64) -> sql::SqlResult<Vec<i64>> {
    let down = "SELECT entity FROM entities WHERE united_with = ?1 ORDER BY entity";
    let mut members = vec![root];
    let mut next = 0;
    while next < members.len() {
        for member in connection.query_map(down, params![members[next]], |row| row.get(0))? {
            if !members.contains(&member) {
                members.push(member);
            }
        }
        next += 1;
    }
    Ok(members)
}

pub(crate) const COLUMNS: &str = "e.id, e.canonical_name, e.entity_type, e.aliases, e.summary, e.first_seen, e.last_updated, \
    e.mention_count, e.attributes";

/// A family as one entity; none if no memory that matches the clause mentions a member.
fn whole(connection: &dyn Connection, clause: &Clause, root: i64) -> sql::SqlResult<Option<Entity>> {
    let members = family(connection, root)?;
    let spoken = format!(
        "SELECT 1 FROM mentions t {} memories m ON m.row = t.memory WHERE t.entity = ? AND {} LIMIT 1",
        connection.dialect().ordered_join,
        clause.sql
    );
    let mut seen = false;
    for member in &members {
        let mut values = vec![Value::Integer(*member)];
        values.extend(clause.values.iter().cloned());
        seen = seen || connection.exists(&spoken, params_from_iter(values))?;
    }
    if !seen {
        return Ok(None);
    }
    let sql = format!("SELECT {COLUMNS} FROM entities e WHERE e.entity = ?1");
    let mut entity = connection.query_row(&sql, params![root], read_entity)?;
    for member in &members[1..] {
        let other = connection.query_row(&sql, params![member], read_entity)?;
        entity.mention_count += other.mention_count;
        entity.created_at = entity.created_at.min(other.created_at);
        for name in std::iter::once(other.canonical_name).chain(other.aliases) {
            if name != entity.canonical_name && !entity.aliases.contains(&name) {
                entity.aliases.push(name);
            }
        }
    }
    // A summary covers all categories and sessions, so a caller who sees only some of them does not get it.
    if clause.is_partial() {
        entity.summary = None;
    }
    Ok(Some(entity))
}

/// The entities with one of these names that a memory matching the clause mentions.
pub(crate) fn named(connection: &dyn Connection, clause: &Clause, names: &[String]) -> sql::SqlResult<Vec<Entity>> {
    let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let sql = format!("SELECT name, entity FROM names WHERE name IN {}", connection.dialect().texts);
    // Most words of a query are no entity names, so all are looked up in one statement.
    let found: Vec<(String, i64)> =
        connection.query_map(&sql, params![Value::Texts(names.clone())], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut bearers: Vec<(usize, i64)> = found
        .into_iter()
        .filter_map(|(name, bearer)| Some((names.iter().position(|asked| *asked == name)?, bearer)))
        .collect();
    bearers.sort_unstable();
    let mut roots = Vec::new();
    for (_, bearer) in bearers {
        let root = root(connection, bearer)?;
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    let found: sql::SqlResult<Vec<Option<Entity>>> =
        roots.into_iter().map(|root| whole(connection, clause, root)).collect();
    Ok(found?.into_iter().flatten().collect())
}

/// The entities that a visible memory mentions.
pub(crate) fn entities_of(connection: &dyn Connection, clause: &Clause, id: MemoryId) -> sql::SqlResult<Vec<Entity>> {
    let sql = format!(
        "SELECT t.entity FROM memories m JOIN mentions t ON t.memory = m.row WHERE m.id = ? AND {} ORDER BY t.entity",
        clause.sql
    );
    let mut values = vec![Value::Blob(id.as_bytes().to_vec())];
    values.extend(clause.values.iter().cloned());
    let numbers: Vec<i64> = connection.query_map(&sql, params_from_iter(values), |row| row.get(0))?;
    let mut roots: Vec<i64> = Vec::new();
    for number in numbers {
        let root = root(connection, number)?;
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    let found: sql::SqlResult<Vec<Option<Entity>>> =
        roots.into_iter().map(|root| whole(connection, clause, root)).collect();
    Ok(found?.into_iter().flatten().collect())
}

/// The entities of the clause's scopes that match the filter, most mentioned first.
pub(crate) fn list(
    connection: &dyn Connection,
    clause: &Clause,
    filter: &EntityFilter,
    limit: usize,
) -> sql::SqlResult<Vec<Entity>> {
    let mut conditions = "e.united_with IS NULL".to_owned();
    let (condition, mut values) = clause.scope_condition("e.scope");
    conditions.push_str(&format!(" AND {condition}"));
    if filter.without_summary {
        conditions.push_str(" AND e.summary IS NULL");
    }
    if let Some(model) = &filter.without_vector_of {
        conditions
            .push_str(" AND NOT EXISTS (SELECT 1 FROM entity_vectors v WHERE v.entity = e.entity AND v.model = ?)");
        values.push(Value::Text(model.clone()));
    }
    // Mentions are summed over the family, not only its root.
    let sql = format!(
        "WITH RECURSIVE family(root, member) AS (SELECT e.entity, e.entity FROM entities e WHERE {conditions} UNION \
         SELECT f.root, e.entity FROM family f JOIN entities e ON e.united_with = f.member) \
         SELECT f.root FROM family f JOIN entities e ON e.entity = f.member JOIN entities r ON r.entity = f.root \
         GROUP BY f.root, r.id HAVING CAST(sum(e.mention_count) AS BIGINT) >= ? ORDER BY sum(e.mention_count) DESC, r.id"
    );
    values.push(Value::Integer(i64::try_from(filter.mentions_min).unwrap_or(i64::MAX)));
    let roots: Vec<i64> = connection.query_map(&sql, params_from_iter(values), |row| row.get(0))?;
    let mut found = Vec::new();
    for root in roots {
        if found.len() >= limit {
            break;
        }
        found.extend(whole(connection, clause, root)?);
    }
    Ok(found)
}

/// The entities of the clause's scopes whose vectors of the same model are nearest, with their cosines. A vector is made
/// of a description of all memories, so a caller who sees only some of them gets none.
pub(crate) fn nearest(
    connection: &dyn Connection,
    clause: &Clause,
    vector: &Vector,
    limit: usize,
) -> sql::SqlResult<Vec<(Entity, f64)>> {
    if clause.is_partial() {
        return Ok(Vec::new());
    }
    let (condition, more) = clause.scope_condition("e.scope");
    let sql = format!(
        "SELECT v.entity, v.vector FROM entity_vectors v JOIN entities e ON e.entity = v.entity \
         WHERE v.model = ? AND {condition} ORDER BY v.entity"
    );
    let mut values = vec![Value::Text(vector.model.clone())];
    values.extend(more);
    let stored: Vec<(i64, Vec<u8>)> =
        connection.query_map(&sql, params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut scored: Vec<(i64, f64)> = Vec::new();
    for (number, bytes) in stored {
        let (number, cosine) = (root(connection, number)?, cosine(&vector.values, &bytes));
        match scored.iter_mut().find(|(known, _)| *known == number) {
            Some((_, best)) => *best = best.max(cosine),
            None => scored.push((number, cosine)),
        }
    }
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut found = Vec::new();
    for (number, cosine) in scored {
        if found.len() >= limit {
            break;
        }
        found.extend(whole(connection, clause, number)?.map(|entity| (entity, cosine)));
    }
    Ok(found)
}

/// The cosine of a vector and the bytes of another, both of unit length; 0 if they have different lengths.
fn cosine(vector: &[f32], bytes: &[u8]) -> f64 {
    if bytes.len() != 4 * vector.len() {
        return 0.0;
    }
    let stored = bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
    vector.iter().zip(stored).map(|(one, other)| f64::from(*one) * f64::from(other)).sum()
}

/// The number of entities that a memory matching the clause mentions; united ones count once.
pub(crate) fn count(connection: &dyn Connection, clause: &Clause) -> sql::SqlResult<u64> {
    let (condition, mut values) = clause.scope_condition("e.scope");
    let sql = format!(
        "WITH RECURSIVE family(root, member) AS (SELECT e.entity, e.entity FROM entities e \
         WHERE e.united_with IS NULL AND {condition} UNION \
         SELECT f.root, e.entity FROM family f JOIN entities e ON e.united_with = f.member) \
         SELECT count(DISTINCT f.root) FROM family f JOIN mentions t ON t.entity = f.member \
         JOIN memories m ON m.row = t.memory WHERE {}",
        clause.sql
    );
    values.extend(clause.values.iter().cloned());
    connection.query_row(&sql, params_from_iter(values), |row| row.get(0))
}

/// The memories matching the clause that mention these entities: those that mention most of them first, then the
/// newest.
pub(crate) fn memories_mentioning(
    connection: &dyn Connection,
    clause: &Clause,
    entities: &[EntityId],
    limit: usize,
) -> sql::SqlResult<Vec<Hit>> {
    // Repeated ids and united entities count once; otherwise no memory could mention all of them.
    let (mut roots, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    for id in entities {
        let read = "SELECT entity FROM entities WHERE id = ?1";
        match connection.query_row(read, params![id], |row| row.get(0)).optional()? {
            Some(number) => drop(roots.insert(root(connection, number)?)),
            None => drop(unknown.insert(*id)),
        }
    }
    if roots.is_empty() {
        return Ok(Vec::new());
    }
    let (all, join) = ((roots.len() + unknown.len()) as f64, connection.dialect().ordered_join);
    let roots: Vec<i64> = roots.into_iter().collect();
    let (of_roots, mut values) = clause::one_of(connection.dialect(), "entity", &roots);
    let sql = format!(
        "WITH RECURSIVE family(root, member) AS (SELECT entity, entity FROM entities WHERE {of_roots} UNION \
         SELECT f.root, e.entity FROM family f JOIN entities e ON e.united_with = f.member) \
         SELECT m.id, count(DISTINCT f.root) AS held FROM family f {join} mentions t ON t.entity = f.member \
         {join} memories m ON m.row = t.memory WHERE {} GROUP BY m.id ORDER BY held DESC, m.id DESC LIMIT ?",
        clause.sql
    );
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    let hit = |row: &dyn Row| Ok(Hit { id: row.get(0)?, score: f64::from(row.get::<_, u32>(1)?) / all });
    connection.query_map(&sql, params_from_iter(values), hit)
}

/// Deletes the entities without mentions and without united entities. Returns their number.
pub(crate) fn sweep(connection: &dyn Connection) -> sql::SqlResult<usize> {
    connection.execute(
        "DELETE FROM entities WHERE NOT EXISTS (SELECT 1 FROM mentions t WHERE t.entity = entities.entity) \
         AND NOT EXISTS (SELECT 1 FROM entities o WHERE o.united_with = entities.entity)",
        [],
    )
}

pub(crate) fn read_entity(row: &dyn Row) -> sql::SqlResult<Entity> {
    let (kind, aliases, attributes): (String, String, String) = (row.get(2)?, row.get(3)?, row.get(8)?);
    Ok(Entity {
        id: row.get(0)?,
        canonical_name: row.get(1)?,
        entity_type: kind.parse().unwrap_or(EntityType::Concept),
        aliases: serde_json::from_str(&aliases).unwrap_or_default(),
        summary: row.get(4)?,
        created_at: row.get(5)?,
        updated_at: row.get(6)?,
        mention_count: row.get(7)?,
        attributes: serde_json::from_str(&attributes).unwrap_or_default(),
    })
}
