//! Stores facts: subject–predicate–object triples.
//!
//! A triple belongs to one scope and exists once in it. Its sources are memories of the same scope; they decide who may
//! see it and whether it is still valid. A triple with sources is deleted together with the last of them.

use loci_types::{Change, Event, Fact, FactFilter, FactId, Filter, MemoryId, Outcome, Scope, Space, Visible};
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

use super::apply::{Applier, StoredMemory, nothing};
use super::clause::{self, Clause};
use super::row::json;
use super::{Connection, OptionalExtension, Row, Value, params, params_from_iter};
use crate::sql;
use crate::{Applied, Error, Result};

/// A triple as stored.
struct StoredFact {
    fact: i64,
    confidence: f64,
    metadata: Map<String, Json>,
}

/// A source of the fact `?1` that is valid at `?2` and visible to everyone who sees its scope and category.
const HOLDING: &str = "SELECT 1 FROM fact_sources s JOIN memories m ON m.row = s.memory WHERE s.fact = ?1 \
    AND m.state IN ('active', 'decayed') AND m.superseded_by_id IS NULL \
    AND m.access_policy NOT IN ('private', 'restricted') AND (m.valid_until IS NULL OR ?2 < m.valid_until) \
    AND (m.expires_at IS NULL OR ?2 < m.expires_at) LIMIT 1";

impl Applier<'_> {
    /// Inserts a triple, or updates the existing one.
    pub(crate) fn state(&self, change: &Change, fact: &Fact) -> Result<Applied> {
        let scope = self.scope(&fact.scope()?)?;
        let sources = self.sources(scope, fact)?;
        let (number, outcome) = match self.known(scope, fact)? {
            None => (self.new_fact(change, scope, fact)?, Outcome::Created),
            Some(known) => {
                let changed = self.said_again(change, &known, fact)?;
                (known.fact, if changed { Outcome::Updated } else { Outcome::None })
            }
        };
        let mut linked = 0;
        for source in &sources {
            linked += self.sql(self.connection.execute(
                "INSERT INTO fact_sources (fact, memory) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                params![number, source.row],
            ))?;
        }
        if outcome == Outcome::None && linked == 0 {
            return Ok(nothing(Outcome::None));
        }
        let outcome = if outcome == Outcome::None { Outcome::Updated } else { outcome };
        let sequence = self.record(change, Event::Fact, sources.first(), None, Some(json!({ "fact": fact.id })))?;
        Ok(Applied { sequence, ..nothing(outcome) })
    }

    /// Deletes a triple. A missing one is not an error.
    pub(crate) fn retract(&self, change: &Change, scope: &Scope, id: FactId) -> Result<Applied> {
        let number = self.scope(scope)?;
        let source: Option<[u8; 16]> = self.sql(
            self.connection.query_row("SELECT m.id FROM facts f JOIN fact_sources s ON s.fact = f.fact JOIN memories m ON m.row = s.memory \
                     WHERE f.id = ?1 AND f.scope = ?2 ORDER BY m.row LIMIT 1", params![id, number], |row| row.get(0)).optional(),
        )?;
        let gone =
            self.sql(self.connection.execute("DELETE FROM facts WHERE id = ?1 AND scope = ?2", params![id, number]))?;
        if gone == 0 {
            return Ok(nothing(Outcome::None));
        }
        let about = match source {
            Some(bytes) => self.lookup(MemoryId(Uuid::from_bytes(bytes)))?,
            None => None,
        };
        let old = json!({ "fact": id });
        let sequence = self.record(change, Event::Fact, about.as_ref(), Some(old), None)?;
        Ok(Applied { sequence, ..nothing(Outcome::Deleted) })
    }

    /// The source memories of a triple. They must be of its scope, because they decide who may see it.
    fn sources(&self, scope: i64, fact: &Fact) -> Result<Vec<StoredMemory>> {
        let mut sources: Vec<StoredMemory> = Vec::with_capacity(fact.sources.len());
        for id in &fact.sources {
            let source = self.find(*id)?;
            if source.scope != scope {
                return Err(Error::Refused(format!("memory {id} and fact {} belong to different scopes", fact.id)));
            }
            sources.push(source);
        }
        Ok(sources)
    }

    fn known(&self, scope: i64, fact: &Fact) -> Result<Option<StoredFact>> {
        let read = |row: &dyn Row| {
            Ok(StoredFact { fact: row.get(0)?, confidence: row.get(1)?, metadata: metadata(row.get(2)?) })
        };
        let sql = "SELECT fact, confidence, metadata FROM facts WHERE scope = ?1 AND subject = ?2 AND predicate = ?3 \
                   AND object = ?4 AND fact_type = ?5";
        let triple = params![scope, &fact.subject, &fact.predicate, &fact.object, &fact.fact_type];
        self.sql(self.connection.query_row(sql, triple, read).optional())
    }

    fn new_fact(&self, change: &Change, scope: i64, fact: &Fact) -> Result<i64> {
        let metadata = merged(&Map::new(), &fact.metadata);
        let put = "INSERT INTO facts (id, scope, fact_type, subject, predicate, object, confidence, metadata, created_at, \
             updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) RETURNING fact";
        self.sql({
            let values = params![
                fact.id,
                scope,
                &fact.fact_type,
                &fact.subject,
                &fact.predicate,
                &fact.object,
                fact.confidence,
                (!metadata.is_empty()).then(|| json(&metadata)),
                fact.created_at,
                change.at,
            ];
            self.connection.query_row(put, values, |row| row.get(0))
        })
    }

    /// Updates a triple that is stated again: the greater confidence is kept and metadata are merged. If none of its
    /// sources is valid and generally visible, it is overwritten instead, so that nothing outdated or private
    /// reappears. Returns whether anything changed.
    fn said_again(&self, change: &Change, known: &StoredFact, fact: &Fact) -> Result<bool> {
        let number = known.fact;
        let sourced =
            self.sql(self.connection.exists("SELECT 1 FROM fact_sources WHERE fact = ?1 LIMIT 1", params![number]))?;
        let holds = !sourced || self.sql(self.connection.exists(HOLDING, params![number, change.at]))?;
        let (confidence, metadata) = match holds {
            true => (fact.confidence.max(known.confidence), merged(&known.metadata, &fact.metadata)),
            false => {
                self.sql(self.connection.execute("DELETE FROM fact_sources WHERE fact = ?1", params![number]))?;
                (fact.confidence, merged(&Map::new(), &fact.metadata))
            }
        };
        if holds && confidence == known.confidence && metadata == known.metadata {
            return Ok(false);
        }
        let text = (!metadata.is_empty()).then(|| json(&metadata));
        self.sql(self.connection.execute(
            "UPDATE facts SET confidence = ?2, metadata = ?3, updated_at = ?4 WHERE fact = ?1",
            params![number, confidence, text, change.at],
        ))?;
        Ok(true)
    }
}

/// Deletes the triples whose only source is this memory, because it is removed.
pub(crate) fn forget(connection: &dyn Connection, row: i64) -> sql::SqlResult<()> {
    connection.run_later(
        "DELETE FROM facts WHERE fact IN (SELECT fact FROM fact_sources WHERE memory = ?1) AND NOT EXISTS \
         (SELECT 1 FROM fact_sources o WHERE o.fact = facts.fact AND o.memory <> ?1)",
        params![row],
    )
}

/// Merges metadata field by field; null removes a field.
fn merged(old: &Map<String, Json>, new: &Map<String, Json>) -> Map<String, Json> {
    let mut all = old.clone();
    for (key, value) in new {
        match value {
            Json::Null => drop(all.remove(key)),
            value => drop(all.insert(key.clone(), value.clone())),
        }
    }
    all
}

fn metadata(text: Option<String>) -> Map<String, Json> {
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// The triples that are visible and match the filter, highest confidence first.
pub(crate) fn list(
    connection: &dyn Connection,
    space: &Space,
    visible: &Visible,
    filter: &FactFilter,
    limit: usize,
) -> sql::SqlResult<Vec<Fact>> {
    let wanted = if filter.include_past { Filter::everything(filter.now) } else { Filter::at(filter.now) };
    let (Some(holding), Some(seen)) =
        (Clause::of(connection, space, visible, &wanted)?, Clause::visible(connection, space, visible)?)
    else {
        return Ok(Vec::new());
    };
    // A triple without sources has no category, so it is hidden from callers who see only some categories.
    let alone = match holding.category_limited {
        true => "FALSE",
        false => "NOT EXISTS (SELECT 1 FROM fact_sources s WHERE s.fact = f.fact)",
    };
    let mut sql = format!(
        "SELECT k.key, f.fact, f.id, f.fact_type, f.subject, f.predicate, f.object, f.confidence, f.metadata, \
         f.created_at, f.updated_at, (SELECT count(*) FROM fact_sources s WHERE s.fact = f.fact) \
         FROM facts f JOIN scopes k ON k.scope = f.scope WHERE ({alone} OR EXISTS (SELECT 1 FROM fact_sources s \
         JOIN memories m ON m.row = s.memory WHERE s.fact = f.fact AND {}))",
        holding.sql
    );
    let mut values = holding.values.clone();
    let (condition, scopes) = holding.scope_condition("f.scope");
    sql.push_str(&format!(" AND {condition}"));
    values.extend(scopes);
    if let Some(id) = &filter.id {
        sql.push_str(" AND f.id = ?");
        values.push(id.as_bytes().into());
    }
    for (column, wanted) in [
        ("fact_type", &filter.fact_type),
        ("subject", &filter.subject),
        ("predicate", &filter.predicate),
        ("object", &filter.object),
    ] {
        if let Some(wanted) = wanted {
            sql.push_str(&format!(" AND f.{column} = ?"));
            values.push(wanted.into());
        }
    }
    sql.push_str(" ORDER BY f.confidence DESC, f.updated_at DESC, f.id DESC LIMIT ?");
    values.push(clause::limit(limit));
    let found: Vec<(i64, u64, Fact)> = connection.query_map(&sql, params_from_iter(values), read)?;
    found.into_iter().map(|(number, all, fact)| with_sources(connection, &seen, number, all, fact)).collect()
}

fn read(row: &dyn Row) -> sql::SqlResult<(i64, u64, Fact)> {
    let key: String = row.get(0)?;
    let scope = Scope::from_key(&key).map_err(sql::SqlError::unreadable)?;
    let fact = Fact {
        id: row.get(2)?,
        layer: scope.layer(),
        identifiers: scope.identifiers(),
        fact_type: row.get(3)?,
        subject: row.get(4)?,
        predicate: row.get(5)?,
        object: row.get(6)?,
        confidence: row.get(7)?,
        metadata: metadata(row.get(8)?),
        sources: Vec::new(),
        created_at: row.get(9)?,
        updated_at: row.get(10)?,
    };
    Ok((row.get(1)?, row.get(11)?, fact))
}

/// The triple with its visible sources. Metadata may come from any source, so it is cleared unless all are visible.
fn with_sources(
    connection: &dyn Connection,
    seen: &Clause,
    number: i64,
    all: u64,
    mut fact: Fact,
) -> sql::SqlResult<Fact> {
    if all == 0 {
        return Ok(fact);
    }
    let sql = format!(
        "SELECT m.id FROM fact_sources s JOIN memories m ON m.row = s.memory WHERE s.fact = ? AND {} ORDER BY m.row",
        seen.sql
    );
    let mut values = vec![Value::Integer(number)];
    values.extend(seen.values.iter().cloned());
    let id = |row: &dyn Row| row.get(0);
    fact.sources = connection.query_map(&sql, params_from_iter(values), id)?;
    if (fact.sources.len() as u64) < all {
        fact.metadata = Map::new();
    }
    Ok(fact)
}
