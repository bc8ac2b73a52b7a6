//! Applies a change to the rows of a space.
//!
//! Runs inside the writer's transaction. Each action writes its rows, its terms and vectors, its jobs and its ledger
//! entry.

use std::path::Path;

use jiff::Timestamp;
use loci_types::{
    Action, Addition, Change, ContentHash, Edge, EdgeId, Event, Memory, MemoryId, Outcome, Relation, Revision, Scope,
    Space, State, Vector,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::chain::is_settled;
use super::{Connection, OptionalExtension, Row, params};
use super::{entities, facts, graph, read, row, words};
use crate::sql;
use crate::text::Analyser;
use crate::{Applied, Error, Result};

/// A transaction on a space, with what the actions need.
pub(crate) struct Applier<'a> {
    pub(crate) connection: &'a dyn Connection,
    pub(crate) path: &'a Path,
    pub(crate) space: &'a Space,
    pub(crate) analyser: &'a Analyser,
}

/// A stored memory with the numbers of its row and scope.
pub(crate) struct StoredMemory {
    pub(crate) row: i64,
    pub(crate) scope: i64,
    pub(crate) memory: Memory,
}

impl Applier<'_> {
    /// Applies one change.
    pub(crate) fn apply(&self, change: &Change) -> Result<Applied> {
        match &change.action {
            Action::Add(addition) => {
                let added = self.add(change, addition)?;
                let memory = &addition.memory;
                // A new memory has no chain pointers; an imported one may have some.
                if added.outcome == Outcome::Created
                    && (memory.supersedes_id.is_some() || memory.superseded_by_id.is_some())
                {
                    self.check_pointers(memory.id)?;
                }
                Ok(added)
            }
            Action::Revise(revision) => self.revise(change, revision),
            Action::Merge { into, from } => self.merge(change, into, from),
            Action::Supersede { old, new } => self.supersede(change, *old, new),
            Action::Link(edge) => self.link(change, edge),
            Action::Unlink { source, target, relation } => self.unlink(change, *source, *target, *relation),
            Action::Forget { id, expect, purge_at } => self.forget(change, *id, *expect, *purge_at),
            Action::Restore { id } => self.restore(change, *id),
            Action::Fade { id, state, confidence, relevance, purge_at } => {
                self.fade(change, *id, *state, *confidence, *relevance, *purge_at)
            }
            Action::Purge { id } => self.purge(change, *id),
            Action::Erase { id } => self.remove(change, *id, Event::Erase),
            Action::EraseUser { user } => self.erase_user(change, user, 0),
            Action::DropVectors { model } => self.drop_vectors(change, model),
            Action::Embed { id, of, vector } => self.embed(change, *id, *of, vector),
            Action::Name { scope, entity } => self.name(change, scope, entity),
            Action::EmbedEntity { entity, vector } => self.embed_entity(*entity, vector),
            Action::Unite { into, from } => self.unite(change, *into, *from),
            Action::Divide { scope, entity } => self.divide(change, scope.as_ref(), *entity),
            Action::Mention { memory, entity, counted } => self.mention(change, *memory, *entity, *counted),
            Action::Split { into, from } => self.split(change, *into, from),
            Action::Age { aged } => self.age(change, aged),
            Action::Decide { id, accept, over, purge_at } => self.decide(change, *id, *accept, *over, *purge_at),
            Action::State(fact) => self.state(change, fact),
            Action::Retract { scope, id } => self.retract(change, scope, *id),
            Action::Replace(addition) => self.replace(change, addition),
            Action::Bookkeeping(step) => self.keep_books(change, step),
        }
    }

    pub(crate) fn add(&self, change: &Change, addition: &Addition) -> Result<Applied> {
        let memory = &addition.memory;
        let scope = memory.scope()?;
        let known = match addition.unless {
            Some(unless) => self.known_scope(&scope, unless, change.at)?,
            None => None,
        };
        let scope = match known {
            Some((_, Some(duplicate))) => return Ok(duplicate),
            Some((scope, None)) => scope,
            None => self.scope(&scope)?,
        };
        if let (Some(claim), Some(seen)) = (addition.claim, &addition.seen) {
            self.check_conflicts(scope, claim, seen, change.at)?;
        }
        let row = row::insert(self.connection, scope, memory, addition.unless, addition.claim)
            .map_err(|error| if error.is_taken() { Error::Taken(memory.id) } else { Error::sql(self.path, error) })?;
        let stored = StoredMemory { row, scope, memory: memory.clone() };
        if let Some(at) = addition.aged_at {
            self.counted(row, at)?;
        }
        let before = match addition.follows {
            Some(before) => self.follow(&stored, before)?,
            None => None,
        };
        // The temporal link has no entry of its own: it comes with the turn.
        let follows = before.as_ref().map(|before| json!({ "follows": before.memory.id }));
        let question = before.and_then(|before| words::question(&stored, before));
        self.sql(words::first(self.connection, self.analyser, row, scope, &memory.content, question))?;
        if let Some(vector) = &addition.vector {
            self.put_vector(row, vector)?;
        }
        for job in &addition.jobs {
            self.enqueue(change, job)?;
        }
        let sequence = self.record(change, Event::Add, Some(&stored), None, follows)?;
        Ok(applied(memory, Outcome::Created, sequence))
    }

    /// The number of an existing scope, and the live memory in it with the same deduplication key. One query for both:
    /// the writers of a space wait for each other, and on a server each query is a round trip.
    fn known_scope(&self, scope: &Scope, unless: ContentHash, at: Timestamp) -> Result<Option<(i64, Option<Applied>)>> {
        self.belongs_here(scope)?;
        let found = self
            .connection.query_row("SELECT s.scope, m.id, m.version FROM scopes s LEFT JOIN memories m ON m.unless = ?2 AND m.scope = s.scope \
                 AND m.state IN ('active', 'decayed') AND m.superseded_by_id IS NULL \
                 AND (m.valid_until IS NULL OR ?3 < m.valid_until) AND (m.expires_at IS NULL OR ?3 < m.expires_at) \
                 WHERE s.key = ?1 ORDER BY m.row LIMIT 1", params![scope.key(), unless.0, at], |row| {
                        let id: Option<[u8; 16]> = row.get(1)?;
                        let version: Option<u64> = row.get(2)?;
                        Ok((row.get(0)?, id.zip(version)))
                    }).optional();
        let twin = |(id, version)| Applied {
            id: Some(MemoryId(Uuid::from_bytes(id))),
            outcome: Outcome::None,
            version,
            sequence: None,
        };
        Ok(self.sql(found)?.map(|(scope, known)| (scope, known.map(twin))))
    }

    /// Fails if a valid memory with the same claim is not among those that the caller has seen.
    fn check_conflicts(&self, scope: i64, claim: ContentHash, seen: &[MemoryId], at: Timestamp) -> Result<()> {
        let holding: Vec<[u8; 16]> = self.sql(self.connection.query_map(
            &format!(
                "SELECT id FROM memories {} WHERE claim = ?1 AND scope = ?2 \
                     AND state IN ('active', 'decayed') AND superseded_by_id IS NULL \
                     AND access_policy NOT IN ('private', 'restricted') \
                     AND (valid_until IS NULL OR ?3 < valid_until) AND (expires_at IS NULL OR ?3 < expires_at)",
                self.connection.dialect().indexed_by("memories_by_claim")
            ),
            params![claim.0, scope, at],
            |row| row.get(0),
        ))?;
        match holding.iter().find(|id| !seen.iter().any(|seen| seen.as_bytes() == *id)) {
            Some(id) => Err(Error::Overtaken(format!(
                "memory {} with the same claim was written at the same time",
                Uuid::from_bytes(*id)
            ))),
            None => Ok(()),
        }
    }

    fn follow(&self, stored: &StoredMemory, before: MemoryId) -> Result<Option<StoredMemory>> {
        let Some(before) = self.lookup(before)?.filter(|before| before.row != stored.row) else { return Ok(None) };
        let at = stored.memory.created_at;
        let edge = Edge {
            // Derived from the memory's id, so that a replay creates the same edge.
            id: EdgeId(stored.memory.id.0),
            source_id: before.memory.id,
            target_id: stored.memory.id,
            relation: Relation::Temporal,
            predicate: None,
            strength: 1.0,
            confidence: 1.0,
            valid_from: at,
            valid_until: None,
            evidence: Vec::new(),
            created_at: at,
        };
        self.sql(graph::link_new(self.connection, before.row, stored.row, &edge))?;
        Ok(Some(before))
    }

    pub(crate) fn revise(&self, change: &Change, revision: &Revision) -> Result<Applied> {
        let before = self.find(revision.id)?;
        expect(&before.memory, revision.expect)?;
        if before.memory.state == State::SoftDeleted {
            return Err(Error::Refused(format!("memory {} is deleted; restore it first", revision.id)));
        }
        let after = self.rewrite(change, before, Event::Update, Outcome::Updated, |memory| {
            revision.patch.apply(memory);
        })?;
        if after.outcome == Outcome::None {
            return Ok(after);
        }
        if revision.patch.confidence.is_some() || revision.patch.relevance.is_some() {
            let row = self.find(revision.id)?.row;
            self.counted(row, change.at)?;
        }
        if let Some(content) = &revision.patch.content {
            let (unless, claim) = (content.unless.map(|hash| hash.0), content.claim.map(|hash| hash.0));
            let row = self.find(revision.id)?.row;
            self.sql(
                self.connection
                    .execute("UPDATE memories SET unless = ?2, claim = ?3 WHERE row = ?1", params![row, unless, claim]),
            )?;
            self.reindex(row)?;
            // An answer is indexed with the terms of its question, so it is indexed again.
            for follower in self.sql(graph::followers(self.connection, row))? {
                self.reindex(follower)?;
            }
            self.sql(self.connection.execute("DELETE FROM vectors WHERE memory = ?1", params![row]))?;
            if let Some(vector) = &revision.vector {
                self.put_vector(row, vector)?;
            }
        }
        for job in &revision.jobs {
            self.enqueue(change, job)?;
        }
        Ok(after)
    }

    fn link(&self, change: &Change, edge: &Edge) -> Result<Applied> {
        let (source, target) = (self.find(edge.source_id)?, self.find(edge.target_id)?);
        if source.row == target.row {
            return Err(Error::Refused(format!("memory {} cannot be linked to itself", edge.source_id)));
        }
        let before = self.sql(graph::edge(self.connection, source.row, target.row, edge.relation))?;
        let new = self.sql(graph::link(self.connection, source.row, target.row, edge))?;
        if new && edge.relation == Relation::Temporal {
            // The target may answer the source and is then indexed with its terms too.
            self.reindex(target.row)?;
        }
        let details = json!({ "relation": edge.relation, "target": edge.target_id, "strength": edge.strength });
        let old = before.map(|edge| json!({ "edge": edge }));
        let sequence = self.record(change, Event::Link, Some(&source), old, Some(details))?;
        let outcome = if new { Outcome::Created } else { Outcome::Updated };
        Ok(applied(&source.memory, outcome, sequence))
    }

    fn unlink(&self, change: &Change, source: MemoryId, target: MemoryId, relation: Relation) -> Result<Applied> {
        let (source, target) = (self.find(source)?, self.find(target)?);
        let before = self.sql(graph::edge(self.connection, source.row, target.row, relation))?;
        let gone = self.sql(self.connection.execute(
            "DELETE FROM edges WHERE source = ?1 AND target = ?2 AND relation = ?3",
            params![source.row, target.row, relation.name()],
        ))?;
        if gone == 0 {
            return Ok(applied(&source.memory, Outcome::None, None));
        }
        if relation == Relation::Temporal {
            // The target does not answer the source any more.
            self.reindex(target.row)?;
        }
        let details = json!({ "relation": relation, "target": target.memory.id, "edge": before });
        let sequence = self.record(change, Event::Unlink, Some(&source), Some(details), None)?;
        Ok(applied(&source.memory, Outcome::Deleted, sequence))
    }

    fn forget(&self, change: &Change, id: MemoryId, seen: Option<u64>, purge_at: Timestamp) -> Result<Applied> {
        let before = self.find(id)?;
        expect(&before.memory, seen)?;
        if before.memory.state == State::SoftDeleted {
            return Ok(applied(&before.memory, Outcome::None, None));
        }
        self.reinstate_previous(change, &before)?;
        self.rewrite(change, before, Event::Delete, Outcome::Deleted, |memory| {
            memory.state = State::SoftDeleted;
            memory.purge_at = Some(purge_at);
        })
    }

    fn fade(
        &self,
        change: &Change,
        id: MemoryId,
        state: State,
        confidence: Option<f64>,
        relevance: Option<f64>,
        purge_at: Option<Timestamp>,
    ) -> Result<Applied> {
        let before = self.find(id)?;
        let row = before.row;
        let edit = |memory: &mut Memory| {
            memory.state = state;
            memory.confidence = confidence.unwrap_or(memory.confidence);
            memory.relevance = relevance.unwrap_or(memory.relevance);
            memory.purge_at = purge_at;
        };
        let faded = if !is_settled(before.memory.state) && is_settled(state) {
            self.revive(change, before, Event::Ttl, Outcome::Updated, edit)?
        } else {
            self.rewrite(change, before, Event::Ttl, Outcome::Updated, edit)?
        };
        if confidence.is_some() || relevance.is_some() {
            self.counted(row, change.at)?;
        }
        Ok(faded)
    }

    /// Removes a soft-deleted memory for good. One that was restored meanwhile stays.
    fn purge(&self, change: &Change, id: MemoryId) -> Result<Applied> {
        let stored = self.find(id)?;
        if stored.memory.state != State::SoftDeleted {
            return Ok(applied(&stored.memory, Outcome::None, None));
        }
        self.remove(change, id, Event::Ttl)
    }

    /// Removes a memory with its terms, vectors, edges, mentions and the facts that have no other source. The ledger
    /// keeps that it existed, but not its content.
    pub(crate) fn remove(&self, change: &Change, id: MemoryId, event: Event) -> Result<Applied> {
        if event == Event::Erase {
            self.sql(self.connection.overwrite_deleted())?;
        }
        let stored = self.find(id)?;
        // Forgetting a head has already reinstated the memory before it. If ageing has soft-deleted the head, that
        // memory stays superseded.
        if stored.memory.state != State::SoftDeleted {
            self.reinstate_previous(change, &stored)?;
        }
        self.relink_neighbours(change, &stored)?;
        let followers = self.sql(graph::followers(self.connection, stored.row))?;
        self.sql(entities::forget_summaries(self.connection, stored.row))?;
        self.sql(facts::forget(self.connection, stored.row))?;
        self.sql(self.connection.run_later("DELETE FROM memories WHERE row = ?1", params![stored.row]))?;
        let emptied = "UPDATE ledger SET old = NULL, new = NULL WHERE memory = ?1";
        self.sql(self.connection.run_later(emptied, params![stored.row]))?;
        for follower in followers {
            self.reindex(follower)?;
        }
        // By the hash it can be shown later that a certain text was erased.
        let hash = (event == Event::Erase).then(|| json!({ "contentHash": stored.memory.content_hash }));
        let sequence = self.record(change, event, Some(&stored), None, hash)?;
        Ok(applied(&stored.memory, Outcome::Erased, sequence))
    }

    fn embed(&self, change: &Change, id: MemoryId, of: ContentHash, vector: &Vector) -> Result<Applied> {
        let Some(stored) = self.lookup(id)? else { return Ok(nothing(Outcome::None)) };
        if stored.memory.content_hash != of {
            return Ok(applied(&stored.memory, Outcome::None, None));
        }
        self.put_vector(stored.row, vector)?;
        let details = json!({ "model": vector.model, "dimensions": vector.values.len() });
        let sequence = self.record(change, Event::Embed, Some(&stored), None, Some(details))?;
        Ok(applied(&stored.memory, Outcome::Updated, sequence))
    }

    /// Deletes all vectors of a model. They can be computed again, so the ledger does not keep them.
    fn drop_vectors(&self, change: &Change, model: &str) -> Result<Applied> {
        let Some((number, _)) = self.sql(read::model(self.connection, model))? else {
            return Ok(nothing(Outcome::None));
        };
        let gone = self.sql(self.connection.execute("DELETE FROM vectors WHERE model = ?1", params![number]))?;
        let details = json!({ "dropped": model, "vectors": gone });
        let sequence = self.record(change, Event::Embed, None, None, Some(details))?;
        Ok(Applied { sequence, ..nothing(Outcome::Deleted) })
    }

    pub(crate) fn put_vector(&self, row: i64, vector: &Vector) -> Result<()> {
        if self.put_known_vector(row, vector)? {
            return Ok(());
        }
        match self.sql(read::model(self.connection, &vector.model))? {
            Some((_, dimensions)) if dimensions != vector.values.len() => {
                return Err(Error::Refused(format!(
                    "model {} has {dimensions} dimensions here, but a vector of {} was given",
                    vector.model,
                    vector.values.len()
                )));
            }
            Some(_) => {}
            None => {
                let made = "INSERT INTO models (name, dimensions) VALUES (?1, ?2)";
                self.sql(self.connection.execute(made, params![&vector.model, vector.values.len()]))?;
            }
        }
        self.put_known_vector(row, vector).map(drop)
    }

    /// Writes a vector if its model is known with this number of dimensions. Returns false if it is not.
    fn put_known_vector(&self, row: i64, vector: &Vector) -> Result<bool> {
        let put = self.connection.dialect().put_vector_by_name;
        let (values, size) = (super::Value::Floats(vector.values.clone()), vector.values.len());
        let values = params![row, &vector.model, values, &vector.token_states, size];
        Ok(self.sql(self.connection.execute(put, values))? > 0)
    }

    /// Changes a memory by `edit`, increments its version and records the difference in the ledger.
    pub(crate) fn rewrite(
        &self,
        change: &Change,
        before: StoredMemory,
        event: Event,
        outcome: Outcome,
        edit: impl FnOnce(&mut Memory),
    ) -> Result<Applied> {
        let mut memory = before.memory.clone();
        edit(&mut memory);
        if memory == before.memory {
            return Ok(applied(&memory, Outcome::None, None));
        }
        if !before.memory.state.may_become(memory.state) {
            let (from, to) = (before.memory.state, memory.state);
            return Err(Error::Refused(format!("memory {} is {from} and cannot become {to}", memory.id)));
        }
        let event = if memory.access_policy != before.memory.access_policy { Event::AccessPolicy } else { event };
        memory.version += 1;
        memory.updated_at = change.at;
        self.sql(row::update(self.connection, before.row, &memory))?;
        let text_changed = memory.content != before.memory.content
            || memory.superseded_by_id != before.memory.superseded_by_id
            || memory.access_policy != before.memory.access_policy
            || memory.state == State::SoftDeleted;
        if text_changed {
            self.sql(entities::forget_summaries(self.connection, before.row))?;
        }
        let (old, new) = difference(&before.memory, &memory);
        let stored = StoredMemory { memory, ..before };
        let sequence = self.record(change, event, Some(&stored), Some(old), Some(new))?;
        Ok(applied(&stored.memory, outcome, sequence))
    }

    pub(crate) fn record(
        &self,
        change: &Change,
        event: Event,
        about: Option<&StoredMemory>,
        old: Option<Value>,
        new: Option<Value>,
    ) -> Result<Option<i64>> {
        let from = &change.provenance;
        let line = "INSERT INTO ledger (at, event, memory, memory_id, scope, version, old, new, actor, node, reason, thread_id, \
             request_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) RETURNING sequence";
        let sequence = self.sql({
            let values = params![
                change.at,
                event.name(),
                about.map(|stored| stored.row),
                about.map(|stored| stored.memory.id),
                about.map(|stored| stored.scope),
                about.map(|stored| stored.memory.version),
                old.map(|value| value.to_string()),
                new.map(|value| value.to_string()),
                &from.actor,
                (!from.node.is_empty()).then_some(&from.node),
                &change.reason,
                &from.thread,
                &from.request,
            ];
            self.connection.query_row(line, values, |row| row.get(0))
        })?;
        Ok(Some(sequence))
    }

    pub(crate) fn reindex(&self, row: i64) -> Result<()> {
        self.sql(words::write(self.connection, self.analyser, row))
    }

    /// The number of a scope, which is created if missing and must belong to this space.
    pub(crate) fn scope(&self, scope: &Scope) -> Result<i64> {
        self.belongs_here(scope)?;
        let key = scope.key();
        let found = self
            .connection
            .query_row("SELECT scope FROM scopes WHERE key = ?1", params![&key], |row| row.get(0))
            .optional();
        if let Some(number) = self.sql(found)? {
            return Ok(number);
        }
        self.sql(self.connection.query_row(
            "INSERT INTO scopes (key, layer) VALUES (?1, ?2) RETURNING scope",
            params![key, scope.layer().name()],
            |row| row.get(0),
        ))
    }

    pub(crate) fn belongs_here(&self, scope: &Scope) -> Result<()> {
        match scope.space() == *self.space {
            true => Ok(()),
            false => Err(Error::Refused(format!("{scope} belongs to {}, not to {}", scope.space(), self.space))),
        }
    }

    pub(crate) fn find(&self, id: MemoryId) -> Result<StoredMemory> {
        self.lookup(id)?.ok_or(Error::NotFound(id))
    }

    pub(crate) fn lookup(&self, id: MemoryId) -> Result<Option<StoredMemory>> {
        let sql = format!("SELECT {}, m.row, m.scope FROM memories m WHERE m.id = ?1", row::COLUMNS);
        let found = self.connection.query_row(&sql, params![id], stored).optional();
        self.sql(found)
    }

    pub(crate) fn sql<T>(&self, result: sql::SqlResult<T>) -> Result<T> {
        result.map_err(|error| Error::sql(self.path, error))
    }
}

pub(crate) fn stored(row: &dyn Row) -> sql::SqlResult<StoredMemory> {
    Ok(StoredMemory { row: row.get("row")?, scope: row.get("scope")?, memory: row::read(row)? })
}

fn expect(memory: &Memory, seen: Option<u64>) -> Result<()> {
    match seen {
        Some(expected) if expected != memory.version => {
            Err(Error::Conflict { id: memory.id, expected, found: memory.version })
        }
        _ => Ok(()),
    }
}

pub(crate) fn applied(memory: &Memory, outcome: Outcome, sequence: Option<i64>) -> Applied {
    Applied { id: Some(memory.id), outcome, version: memory.version, sequence }
}

pub(crate) fn nothing(outcome: Outcome) -> Applied {
    Applied { id: None, outcome, version: 0, sequence: None }
}

/// The fields that differ, with the old and the new values.
pub(crate) fn difference(before: &Memory, after: &Memory) -> (Value, Value) {
    let fields = |memory: &Memory| match serde_json::to_value(memory) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let (mut old, mut new) = (fields(before), fields(after));
    for ignored in ["version", "updatedAt", "contentHash"] {
        old.remove(ignored);
        new.remove(ignored);
    }
    let same: Vec<String> =
        old.iter().filter(|(key, value)| new.get(*key) == Some(value)).map(|(k, _)| k.clone()).collect();
    for key in same {
        old.remove(&key);
        new.remove(&key);
    }
    (Value::Object(old), Value::Object(new))
}
