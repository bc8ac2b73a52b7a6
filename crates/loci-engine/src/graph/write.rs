//! Adds records to the graph and deletes them.
//!
//! A call is one batch: all of it is applied or nothing. The batch guards what the call relies on: it fails if
//! another writer created the same entity first, deleted an entity that the call refers to, or added records to an
//! entity that the call deletes. After such a failure the call reads again and retries.

use std::collections::{HashMap, HashSet};

use loci_store::EntityQuery;
use loci_types::{
    Action, Addition, Batch, Entity, EntityId, Error, ErrorKind, IDENTIFIER_BYTES, Memory, MemoryId, Patch, Revision,
    Scope, Source, Visible,
};
use serde_json::json;

use super::draft::{GraphDraft, keys_of};
use super::read::GraphScope;
use super::record::{GRAPH, GraphRecord, entity_key};
use super::{AddedObservations, EntityObservations, GraphEntity, GraphRelation};
use crate::access::bounds::between;
use crate::access::policy::{self, Caller};
use crate::access::redact::Pass;
use crate::learn::entity::EntityRegister;
use crate::learn::extract::Mention;
use crate::lifecycle::rules::state::days_after;
use crate::{Engine, NewMemory, Result};

/// Maximum number of attempts, each with a fresh read, when another writer changes the same records.
const MAX_WRITE_ATTEMPTS: usize = 32;
/// The most entities, relations or sets of observations of one call.
const CALL: usize = 1_000;
/// The metadata field of an entity that tells which was the last thing said of it.
const LAST: &str = "lastObservation";

impl Engine {
    /// Adds entities and returns those that are new. An entity whose name exists is skipped.
    pub async fn graph_create_entities(
        &self,
        caller: &Caller,
        mut entities: Vec<GraphEntity>,
    ) -> Result<Vec<GraphEntity>> {
        let place = self.graph_writer(caller).await?;
        between("entities", entities.len(), 0, CALL)?;
        for entity in &mut entities {
            self.graph_mask([&mut entity.name, &mut entity.entity_type].into_iter().chain(&mut entity.observations))?;
        }
        entities.iter().try_for_each(|entity| self.check_entity(entity))?;
        for attempt in 1.. {
            let mut draft = GraphDraft::default();
            let keys = entities.iter().map(|entity| entity_key(&entity.name));
            draft.hold(&self.graph_held(&place.visible, keys).await?);
            let created = entities.iter().filter(|entity| self.draft_entity(&mut draft, entity)).cloned().collect();
            if self.graph_commit(caller, &place, draft, None, attempt).await? {
                return Ok(created);
            }
        }
        unreachable!("the last try returns")
    }

    /// Adds relations. Returns those that are new; one that is there is passed over.
    pub async fn graph_create_relations(
        &self,
        caller: &Caller,
        mut relations: Vec<GraphRelation>,
    ) -> Result<Vec<GraphRelation>> {
        let place = self.graph_writer(caller).await?;
        between("relations", relations.len(), 0, CALL)?;
        for relation in &mut relations {
            self.graph_mask([&mut relation.from, &mut relation.to, &mut relation.relation_type])?;
        }
        relations.iter().try_for_each(check_relation)?;
        for attempt in 1.. {
            let mut draft = GraphDraft::default();
            let keys = relations.iter().map(|relation| GraphRecord::Relation(relation.clone()).key());
            draft.hold(&self.graph_held(&place.visible, keys).await?);
            let new = |relation: &&GraphRelation| draft.relate(self.new_id(self.now()), relation);
            let created = relations.iter().filter(new).cloned().collect();
            if self.graph_commit(caller, &place, draft, None, attempt).await? {
                return Ok(created);
            }
        }
        unreachable!("the last try returns")
    }

    /// Says something of entities that are there. Returns, for each, what was new.
    pub async fn graph_add_observations(
        &self,
        caller: &Caller,
        mut observations: Vec<EntityObservations>,
    ) -> Result<Vec<AddedObservations>> {
        let place = self.graph_writer(caller).await?;
        between("observations", observations.len(), 0, CALL)?;
        for observed in &mut observations {
            self.graph_mask([&mut observed.entity_name].into_iter().chain(&mut observed.contents))?;
        }
        for observed in &observations {
            observed.contents.iter().try_for_each(|text| self.check_observation("contents", text))?;
        }
        for attempt in 1.. {
            let mut draft = GraphDraft::default();
            let names = observations.iter().map(|observed| entity_key(&observed.entity_name));
            draft.hold(&self.graph_held(&place.visible, names).await?);
            let mut keys = Vec::new();
            for EntityObservations { entity_name, contents } in &observations {
                let of = draft.entity(entity_name).ok_or_else(|| missing(entity_name))?;
                keys.extend(keys_of(of, contents));
            }
            draft.hold(&self.graph_held(&place.visible, keys).await?);
            let mut added = Vec::new();
            for EntityObservations { entity_name, contents } in &observations {
                let of = draft.entity(entity_name).ok_or_else(|| missing(entity_name))?;
                let added_observations = draft.observe(of, entity_name, contents, || self.new_id(self.now()));
                added.push(AddedObservations { entity_name: entity_name.clone(), added_observations });
            }
            if self.graph_commit(caller, &place, draft, None, attempt).await? {
                return Ok(added);
            }
        }
        unreachable!("the last try returns")
    }

    /// Deletes entities with their observations and every relation of their names.
    pub async fn graph_delete_entities(&self, caller: &Caller, names: &[String]) -> Result<()> {
        let names: HashSet<&String> = names.iter().collect();
        self.graph_remove(caller, |part| match part {
            GraphRecord::Entity { name, .. } | GraphRecord::Observation { name, .. } => names.contains(name),
            GraphRecord::Relation(relation) => names.contains(&relation.from) || names.contains(&relation.to),
        })
        .await
    }

    /// Takes back what was said of entities.
    pub async fn graph_delete_observations(&self, caller: &Caller, deletions: &[EntityObservations]) -> Result<()> {
        let said: HashSet<(&String, &String)> = deletions
            .iter()
            .flat_map(|observed| observed.contents.iter().map(|text| (&observed.entity_name, text)))
            .collect();
        self.graph_remove(
            caller,
            |part| matches!(part, GraphRecord::Observation { name, text, .. } if said.contains(&(name, text))),
        )
        .await
    }

    /// Takes relations away.
    pub async fn graph_delete_relations(&self, caller: &Caller, relations: &[GraphRelation]) -> Result<()> {
        let gone: HashSet<&GraphRelation> = relations.iter().collect();
        self.graph_remove(caller, |part| matches!(part, GraphRecord::Relation(relation) if gone.contains(relation)))
            .await
    }

    /// Masks what must not be kept before anything is made of it, or refuses it.
    pub(super) fn graph_mask<'a>(&self, texts: impl IntoIterator<Item = &'a mut String>) -> Result<()> {
        let mut pass = Pass::strict(&self.redactor);
        Ok(texts.into_iter().try_for_each(|text| pass.text("content", text))?)
    }

    /// Where a caller who may write does so.
    pub(super) async fn graph_writer(&self, caller: &Caller) -> Result<GraphScope> {
        policy::require_writer(caller)?;
        let place = self.graph_place(caller).await?;
        if place.visible.categories().is_some() {
            let message = "a knowledge graph has no categories, and this credential is limited to some categories";
            let hint = "write with a credential or an agent that is bound to no categories";
            return Err(Error::new(ErrorKind::Unauthorized, message).at("categories").hint(hint).into());
        }
        Ok(place)
    }

    pub(super) fn draft_entity(&self, draft: &mut GraphDraft, entity: &GraphEntity) -> bool {
        let id = self.new_id(self.now());
        let new = draft.name(id, &entity.name, &entity.entity_type);
        if new {
            draft.observe(id, &entity.name, &entity.observations, || self.new_id(self.now()));
        }
        new
    }

    /// Writes a draft. Returns false if another writer was first and the draft must be built again.
    pub(super) async fn graph_commit(
        &self,
        caller: &Caller,
        place: &GraphScope,
        draft: GraphDraft,
        source: Option<Source>,
        attempt: usize,
    ) -> Result<bool> {
        if draft.added.is_empty() {
            return Ok(true);
        }
        let mut actions: Vec<Action> = draft.observed.iter().map(|(of, last)| said_of(*of, *last)).collect();
        let (named, known) = self.graph_names(&place.visible, &draft).await?;
        let name = |entity| Action::Name { scope: place.scope.clone(), entity: Box::new(entity) };
        actions.extend(named.into_iter().map(name));
        for (addition, part) in self.graph_additions(caller, &place.scope, draft, source).await? {
            let memory = addition.memory.id;
            actions.push(Action::Add(Box::new(addition)));
            // Refused when the memory was not added, because someone else has added the same.
            let spoken = part.mentions().into_iter().filter_map(|mention| known.get(&mention.name));
            actions.extend(spoken.map(|entity| Action::Mention { memory, entity: *entity, counted: true }));
        }
        self.graph_apply(caller, place, "added to the knowledge graph", actions, attempt).await
    }

    /// The memories of a draft, with their vectors.
    async fn graph_additions(
        &self,
        caller: &Caller,
        scope: &Scope,
        draft: GraphDraft,
        source: Option<Source>,
    ) -> Result<Vec<(Addition, GraphRecord)>> {
        let mut additions = Vec::with_capacity(draft.added.len());
        for (id, part) in draft.added {
            let new = NewMemory {
                content: part.content(),
                kind: Some("fact".to_owned()),
                tags: vec![GRAPH.to_owned()],
                metadata: part.metadata(),
                source: source.clone(),
                // A graph forgets nothing of its own accord.
                decay_rate: Some(0.0),
                pinned: true,
                ..NewMemory::default()
            };
            let mut addition = self.admit_into(caller, scope, new, None)?;
            addition.memory.id = id;
            additions.push((addition, part));
        }
        let memories: Vec<&Memory> = additions.iter().map(|(addition, _)| &addition.memory).collect();
        let mut vectors = self.embed_or_wait(&memories).await.map(Vec::into_iter);
        for (addition, _) in &mut additions {
            addition.vector = vectors.as_mut().and_then(Iterator::next);
            if addition.vector.is_none() {
                addition.jobs.extend(self.embed_jobs(addition.memory.id, addition.memory.created_at));
            }
        }
        Ok(additions)
    }

    /// The things that a draft speaks of: those that are new, and who goes by which name.
    async fn graph_names(
        &self,
        visible: &Visible,
        draft: &GraphDraft,
    ) -> Result<(Vec<Entity>, HashMap<String, EntityId>)> {
        let mut seen = HashSet::new();
        // Entities come before the records that refer to them, so their types are known.
        let mentions: Vec<Mention> = draft
            .added
            .iter()
            .flat_map(|(_, part)| part.mentions())
            .filter(|mention| seen.insert(mention.name.clone()))
            .collect();
        let names: Vec<String> = mentions.iter().map(|mention| mention.name.clone()).collect();
        let mut known =
            EntityRegister::new(self.store.entities(visible, &EntityQuery::Named(names.to_vec()), usize::MAX).await?);
        let at = self.now();
        let resolved = known.resolve(&mentions, at, || EntityId(self.new_id(at).0));
        Ok((resolved.named, names.into_iter().zip(resolved.ids).collect()))
    }

    /// Deletes every selected record.
    async fn graph_remove(&self, caller: &Caller, is_selected: impl Fn(&GraphRecord) -> bool) -> Result<()> {
        let place = self.graph_writer(caller).await?;
        let purge_at = days_after(self.now(), i64::from(self.config.lifecycle.purge_days));
        for attempt in 1.. {
            let records = self.graph_records(&place.visible).await?;
            let gone = records
                .iter()
                .filter_map(|memory| GraphRecord::read(memory).filter(&is_selected).map(|part| (memory, part)));
            let forget = |(memory, part): (&Memory, GraphRecord)| {
                // What was said of it since it was read would be left behind.
                let expect = matches!(part, GraphRecord::Entity { .. }).then_some(memory.version);
                Action::Forget { id: memory.id, expect, purge_at }
            };
            let actions: Vec<Action> = gone.map(forget).collect();
            if self.graph_apply(caller, &place, "removed from the knowledge graph", actions, attempt).await? {
                return Ok(());
            }
        }
        unreachable!("the last try returns")
    }

    /// Applies a batch; false if it was refused, perhaps because someone else was quicker, and it is
    /// worth another try.
    async fn graph_apply(
        &self,
        caller: &Caller,
        place: &GraphScope,
        reason: &str,
        actions: Vec<Action>,
        attempt: usize,
    ) -> Result<bool> {
        use loci_store::Error::{Conflict, NotFound, Refused};
        if actions.is_empty() {
            return Ok(true);
        }
        for action in &actions {
            if let Action::Forget { id, .. } = action {
                self.feature_cache.forget(*id);
            }
        }
        let changes = actions.into_iter().map(|action| self.change(caller, "hotpath", reason, action)).collect();
        let batch = Batch { tenant: caller.tenant.clone(), space: place.scope.space(), changes };
        match self.apply(batch).await {
            Ok(_) => Ok(true),
            Err(Conflict { .. } | NotFound(_) | Refused(_)) if attempt < MAX_WRITE_ATTEMPTS => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn check_entity(&self, entity: &GraphEntity) -> Result<()> {
        check_name("name", &entity.name)?;
        check_word("entityType", &entity.entity_type)?;
        entity.observations.iter().try_for_each(|text| self.check_observation("observations", text))
    }

    fn check_observation(&self, field: &'static str, text: &str) -> Result<()> {
        self.check_content(text).map_err(|error| match error {
            crate::Error::Word(error) => error.at(field).into(),
            error => error,
        })
    }
}

/// The entity was there and has got something new. Refused when it is there no longer.
fn said_of(of: MemoryId, last: MemoryId) -> Action {
    let metadata = Some([(LAST.to_owned(), json!(last))].into_iter().collect());
    let patch = Patch { metadata, ..Patch::default() };
    Action::Revise(Box::new(Revision { id: of, expect: None, patch, vector: None, jobs: Vec::new() }))
}

pub(super) fn check_relation(relation: &GraphRelation) -> Result<()> {
    check_name("from", &relation.from)?;
    check_name("to", &relation.to)?;
    check_word("relationType", &relation.relation_type)
}

fn check_name(field: &'static str, name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::invalid(field, format!("{field} is empty")).hint("give the entity's name").into());
    }
    check_word(field, name)
}

fn check_word(field: &'static str, word: &str) -> Result<()> {
    if word.len() > IDENTIFIER_BYTES {
        let message = format!("{field} has {} bytes, more than {IDENTIFIER_BYTES}", word.len());
        return Err(Error::invalid(field, message).hint("put the rest into an observation").into());
    }
    if word.contains('\0') {
        return Err(Error::nul(field).into());
    }
    Ok(())
}

/// Agents know these words from the official server.
fn missing(name: &str) -> crate::Error {
    Error::new(ErrorKind::NotFound, format!("Entity with name {name} not found"))
        .at("entityName")
        .hint("create the entity first; names are compared letter by letter")
        .into()
}
