//! Entities: the persons and things that memories mention.
//!
//! Mentions are resolved by name and alias within one scope: a mention of a known entity may add an alias, an unknown
//! name creates an entity, and two entities that share a name are merged.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use loci_store::{EntityFilter, EntityQuery};
use loci_types::{
    Action, Addition, Batch, Entity, EntityId, EntityType, Error, ErrorKind, Filter, Memory, MemoryId, Scope, Visible,
};
use serde::Serialize;
use serde_json::Map;

use crate::access::policy::{self, Caller};
use crate::learn::extract::{Mention, SpeakerIdentity, first_words, mentioned};
use crate::learn::language::name_key;
use crate::{Engine, RecallRequest, Result};

/// Maximum number of memories in the profile of an entity.
const MAX_PROFILE_MEMORIES: usize = 20;
/// Maximum number of entities in one answer: a page, and one more that shows that another page follows.
const MAX_LISTED_ENTITIES: usize = 1_001;

/// Maximum number of entities that a search by meaning finds.
const MAX_FOUND_ENTITIES: usize = 50;

/// What is known of an entity.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EntityProfile {
    /// The entity.
    pub entity: Entity,
    /// What memories say of it, newest first.
    pub memories: Vec<Memory>,
}

/// What resolving mentions comes to.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct EntityResolution {
    /// Entities that are new or have new names.
    pub(crate) named: Vec<Entity>,
    /// Which turned out to be the same: the one that stays, and the one that is taken up.
    pub(crate) united: Vec<(EntityId, EntityId)>,
    /// The entity of each mention, in order.
    pub(crate) ids: Vec<EntityId>,
}

/// The known entities of a scope, by name.
#[derive(Debug, Default)]
pub(crate) struct EntityRegister {
    /// One that was taken up by another is gone.
    entities: Vec<Option<Entity>>,
    by_name: HashMap<String, usize>,
}

impl EntityRegister {
    /// The entities that are known.
    pub(crate) fn new(known: Vec<Entity>) -> Self {
        let mut register = Self::default();
        for entity in known {
            register.add(entity);
        }
        register
    }

    /// Every name, in lower case.
    pub(crate) fn names(&self) -> HashSet<String> {
        let all = self.entities.iter().flatten();
        all.flat_map(|entity| std::iter::once(&entity.canonical_name).chain(&entity.aliases))
            .map(|name| name.to_lowercase())
            .collect()
    }

    fn add(&mut self, entity: Entity) {
        let place = self.entities.len();
        for name in std::iter::once(&entity.canonical_name).chain(&entity.aliases) {
            self.by_name.entry(name_key(name)).or_insert(place);
        }
        self.entities.push(Some(entity));
    }

    /// Finds the entity of each mention, or makes one.
    pub(crate) fn resolve(
        &mut self,
        mentions: &[Mention],
        at: Timestamp,
        mut new_id: impl FnMut() -> EntityId,
    ) -> EntityResolution {
        let mut resolved = EntityResolution::default();
        for mention in mentions {
            let mut bearers: Vec<usize> = Vec::new();
            for name in std::iter::once(&mention.name).chain(&mention.aliases) {
                bearers.extend(self.by_name.get(&name_key(name)).filter(|place| !bearers.contains(place)));
            }
            let Some(&first) = bearers.first() else {
                let entity = new_entity(mention, at, new_id());
                resolved.ids.push(entity.id);
                resolved.named.push(entity.clone());
                self.add(entity);
                continue;
            };
            let Some(mut kept) = self.entities[first].take() else { continue };
            resolved.ids.push(kept.id);
            let mut changed = take_names(&mut kept, mention, at);
            for other in bearers.into_iter().skip(1) {
                if let Some(taken) = self.entities[other].take() {
                    resolved.united.push((kept.id, taken.id));
                    self.by_name.values_mut().filter(|place| **place == other).for_each(|place| *place = first);
                    changed = true;
                }
            }
            for name in &kept.aliases {
                self.by_name.entry(name_key(name)).or_insert(first);
            }
            if changed {
                resolved.named.retain(|entity| entity.id != kept.id);
                resolved.named.push(kept.clone());
            }
            self.entities[first] = Some(kept);
        }
        resolved
    }
}

fn new_entity(mention: &Mention, at: Timestamp, id: EntityId) -> Entity {
    Entity {
        id,
        canonical_name: mention.name.clone(),
        entity_type: mention.entity_type,
        aliases: mention.aliases.clone(),
        summary: None,
        created_at: at,
        updated_at: at,
        mention_count: 0,
        attributes: Map::new(),
    }
}

/// Adds the names of a mention to a known entity. Returns true if any was new.
fn take_names(entity: &mut Entity, mention: &Mention, at: Timestamp) -> bool {
    let mut changed = false;
    for name in std::iter::once(&mention.name).chain(&mention.aliases) {
        let key = name_key(name);
        let known = std::iter::once(&entity.canonical_name).chain(&entity.aliases).any(|known| name_key(known) == key);
        if !known {
            entity.aliases.push(name.clone());
            changed = true;
        }
    }
    if entity.entity_type == EntityType::Concept && mention.entity_type != EntityType::Concept {
        entity.entity_type = mention.entity_type;
        changed = true;
    }
    if changed {
        entity.updated_at = at;
    }
    changed
}

impl Engine {
    /// Lists entities from an offset on, at most `limit` of them: those mentioned most first, or, for a description of
    /// what is looked for, those nearest in meaning.
    pub async fn entities(
        &self,
        caller: &Caller,
        described: Option<&str>,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<Entity>> {
        crate::access::bounds::between("limit", limit, 1, MAX_LISTED_ENTITIES)?;
        let visible = self.visible(caller, None).await?;
        if let Some(described) = described {
            let found = self.entities_like(&visible, described).await?;
            return Ok(found.into_iter().map(|(entity, _)| entity).skip(offset).take(limit).collect());
        }
        let query = EntityQuery::Known(EntityFilter::default());
        let found = self.store.entities(&visible, &query, offset.saturating_add(limit)).await?;
        Ok(found.into_iter().skip(offset).collect())
    }

    /// The entities that fit a description best, with the similarity of the entity or of a memory that mentions it. Without
    /// a model they are those of the memories that words find.
    pub(crate) async fn entities_like(&self, visible: &Visible, described: &str) -> Result<Vec<(Entity, f64)>> {
        let request = RecallRequest { query: described.to_owned(), ..RecallRequest::default() };
        let (filter, _, _) = self.read_request(&request)?;
        let mut found: Vec<(Entity, f64)> = Vec::new();
        let hits = match self.embed_question(described).await {
            Some((vector, _)) => {
                found = self.store.nearest_entities(visible, &vector, MAX_FOUND_ENTITIES).await?;
                self.store.nearest(visible, &vector, &filter, MAX_PROFILE_MEMORIES).await?
            }
            None => {
                let mut hits = self.store.lexical(visible, described, &filter, MAX_PROFILE_MEMORIES).await?;
                let best = hits.first().map_or(1.0, |hit| hit.score.max(f64::MIN_POSITIVE));
                hits.iter_mut().for_each(|hit| hit.score /= best);
                hits
            }
        };
        for hit in hits {
            let mentioned = EntityQuery::MentionedBy(hit.id);
            for entity in self.store.entities(visible, &mentioned, MAX_FOUND_ENTITIES).await? {
                match found.iter_mut().find(|(known, _)| known.id == entity.id) {
                    Some((_, score)) => *score = score.max(hit.score),
                    None => found.push((entity, hit.score)),
                }
            }
        }
        let usual = self.model().map(|model| f64::from(model.similarity_threshold));
        let least = self.config.retrieval.threshold.or(usual).unwrap_or(0.0);
        found.retain(|(_, score)| *score >= least);
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.id.cmp(&b.0.id)));
        found.truncate(MAX_FOUND_ENTITIES);
        Ok(found)
    }

    /// What is known of the entity that goes by this name or has this id.
    pub async fn entity(&self, caller: &Caller, name: &str) -> Result<EntityProfile> {
        let visible = self.visible(caller, None).await?;
        let entity = self.entity_named(&visible, name).await?;
        let filter = Filter::at(self.now());
        let hits = self.store.memories_mentioning(&visible, &filter, &[entity.id], MAX_PROFILE_MEMORIES).await?;
        let ids: Vec<MemoryId> = hits.iter().map(|hit| hit.id).collect();
        Ok(EntityProfile { memories: self.store.fetch(&visible, &ids).await?, entity })
    }

    /// Merges two entities that are the same thing: `from` is found as `into` from now on.
    pub async fn merge_entities(&self, caller: &Caller, into: &str, from: &str) -> Result<Entity> {
        policy::require_writer(caller)?;
        let visible = self.visible(caller, None).await?;
        let (kept, taken) = (self.entity_named(&visible, into).await?, self.entity_named(&visible, from).await?);
        let action = Action::Unite { into: kept.id, from: taken.id };
        let scope = self.scope_of(&visible, &kept).await?;
        self.apply_one(caller, &scope, "merged on request", action).await?;
        self.entity_named(&visible, &kept.id.to_string()).await
    }

    /// Undoes a merge: the entity with this id is separate from `root` again.
    pub async fn split_entity(&self, caller: &Caller, id: EntityId, root: &str) -> Result<Entity> {
        policy::require_writer(caller)?;
        let visible = self.visible(caller, None).await?;
        let root = self.entity_named(&visible, root).await?;
        let scope = self.scope_of(&visible, &root).await?;
        self.apply_one(caller, &scope, "split on request", Action::Divide { scope: Some(scope.clone()), entity: id })
            .await?;
        self.entity_named(&visible, &root.canonical_name).await
    }

    /// What it takes to say whom and what a remembered text names, with links to others that name the same.
    pub(crate) async fn mentions_of(
        &self,
        visible: &Visible,
        scope: &Scope,
        addition: &Addition,
        replaced: Option<MemoryId>,
    ) -> Result<Vec<Action>> {
        let memory = &addition.memory;
        let voice = SpeakerIdentity::of(memory.actor_id.as_deref(), memory.identifiers.user_id.as_deref());
        // What only its writer sees does not name anything for others.
        if memory.access_policy.writer_only() || visible.categories().is_some() {
            return Ok(Vec::new());
        }
        let mut mentions = mentioned(&memory.content, &voice);
        let first: Vec<String> = first_words(&memory.content)
            .into_iter()
            .filter(|word| !voice.is_owner(&word.to_lowercase()))
            .filter(|word| mentions.iter().all(|one| !one.name.starts_with(word.as_str())))
            .collect();
        if mentions.is_empty() && first.is_empty() {
            return Ok(Vec::new());
        }
        let names = mentions.iter().flat_map(|one| std::iter::once(&one.name).chain(&one.aliases));
        let names: Vec<String> = names.chain(&first).cloned().collect();
        let own = policy::visible_for_maintenance(visible.tenant(), scope);
        let mut known = EntityRegister::new(self.store.entities(&own, &EntityQuery::Named(names), usize::MAX).await?);
        let known_names = known.names();
        let known_first = first.into_iter().filter(|word| known_names.contains(&word.to_lowercase()));
        mentions.extend(known_first.map(|name| Mention {
            name,
            entity_type: EntityType::Concept,
            aliases: Vec::new(),
        }));
        if mentions.is_empty() {
            return Ok(Vec::new());
        }
        let at = memory.created_at;
        let resolved = known.resolve(&mentions, at, || EntityId(self.new_id(at).0));
        let shared: Vec<(String, EntityId)> =
            mentions.iter().map(|mention| mention.name.clone()).zip(resolved.ids.iter().copied()).collect();
        let links = self.entity_links(&own, addition, &shared, &[], |id| Some(id) == replaced).await?;
        let named =
            resolved.named.into_iter().map(|entity| Action::Name { scope: scope.clone(), entity: Box::new(entity) });
        let united = resolved.united.into_iter().map(|(into, from)| Action::Unite { into, from });
        let spoken =
            resolved.ids.into_iter().map(|entity| Action::Mention { memory: memory.id, entity, counted: true });
        Ok(named.chain(united).chain(spoken).chain(links).collect())
    }

    pub(crate) async fn entity_named(&self, visible: &Visible, name: &str) -> Result<Entity> {
        let missing = || {
            Error::new(ErrorKind::NotFound, format!("no memory here mentions `{name}`"))
                .at("entity")
                .hint("`loci entity list` lists the entities")
        };
        if let Ok(id) = name.parse::<EntityId>() {
            let all = self.store.entities(visible, &EntityQuery::Known(EntityFilter::default()), usize::MAX).await?;
            return Ok(all.into_iter().find(|entity| entity.id == id).ok_or_else(missing)?);
        }
        let found = self.store.entities(visible, &EntityQuery::Named([name.to_owned()].to_vec()), usize::MAX).await?;
        Ok(found.into_iter().max_by_key(|entity| entity.mention_count).ok_or_else(missing)?)
    }

    /// The scope of an entity: that of a memory that speaks of it.
    pub(crate) async fn scope_of(&self, visible: &Visible, entity: &Entity) -> Result<Scope> {
        let filter = Filter::everything(self.now());
        let hits = self.store.memories_mentioning(visible, &filter, &[entity.id], 1).await?;
        let ids: Vec<MemoryId> = hits.iter().map(|hit| hit.id).collect();
        let Some(memory) = self.store.fetch(visible, &ids).await?.pop() else {
            return Err(Error::new(ErrorKind::NotFound, "no memory mentions it any more").at("entity").into());
        };
        Ok(memory.scope()?)
    }

    pub(crate) async fn apply_one(&self, caller: &Caller, scope: &Scope, reason: &str, action: Action) -> Result<()> {
        let change = self.change(caller, "operator", reason, action);
        let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes: vec![change] };
        Ok(self.apply(batch).await.map(drop)?)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn mention(name: &str, entity_type: EntityType, aliases: &[&str]) -> Mention {
        Mention { name: name.into(), entity_type, aliases: aliases.iter().map(|alias| (*alias).into()).collect() }
    }

    // Coverage: S1.22.
    #[test]
    fn names_and_aliases_lead_to_one_entity() {
        let at = "2026-06-01T12:00:00Z".parse().unwrap();
        let mut next = 0;
        let mut ids = || {
            next += 1;
            EntityId(Uuid::from_u128(next))
        };
        let mut known = EntityRegister::default();
        let person = EntityType::Person;
        let first = known.resolve(&[mention("Robert", person, &[]), mention("Bob", person, &[])], at, &mut ids);
        assert_eq!((first.named.len(), first.united.len()), (2, 0));
        // The names are then stored as one entity.
        let same = known.resolve(&[mention("Robert", person, &["Bob"])], at, &mut ids);
        assert_eq!((same.united, same.ids), (vec![(first.ids[0], first.ids[1])], vec![first.ids[0]]));
        // From now on both names lead to one, in any case.
        let later = known.resolve(&[mention("BOB", person, &[]), mention("robert", person, &["Bobby"])], at, &mut ids);
        assert_eq!(later.ids, [first.ids[0], first.ids[0]]);
        assert_eq!(later.named[0].aliases, ["Bob", "Bobby"]);
        assert!(later.united.is_empty());
        // Russian names are inflected.
        let dima = known.resolve(&[mention("Дима", person, &[]), mention("Димы", person, &[])], at, &mut ids);
        assert_eq!(dima.ids[0], dima.ids[1]);
    }

    #[test]
    fn a_concept_may_become_more() {
        let at = "2026-06-01T12:00:00Z".parse().unwrap();
        let mut known = EntityRegister::default();
        let mut ids = || EntityId(Uuid::from_u128(1));
        known.resolve(&[mention("Atlas", EntityType::Concept, &[])], at, &mut ids);
        let typed = known.resolve(&[mention("Atlas", EntityType::Project, &[])], at, &mut ids);
        assert_eq!(typed.named[0].entity_type, EntityType::Project);
        let again = known.resolve(&[mention("Atlas", EntityType::Concept, &[])], at, &mut ids);
        assert!(again.named.is_empty());
    }
}
