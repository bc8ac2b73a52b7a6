//! Maintenance step: writes the descriptions of entities, and the vectors by which they are found.
//!
//! A description is written again when the memories that it was made of have changed. A vector is made of the names and
//! the description, or of the newest memories of an entity without one.

use loci_models::Detail;
use loci_store::{EntityFilter, EntityQuery};
use loci_types::{Action, Entity, Filter, Memory, MemoryId, Vector, fnv1a};
use serde_json::json;

use super::{MaintenanceRun, MaintenanceStep, StepReport};
use crate::access::policy;
use crate::lifecycle::curve::{Curve, age_days};
use crate::lifecycle::rules::profile::{ProfileFact, profile};
use crate::{Engine, Result};

/// Maximum number of entities that a run looks at.
const MAX_LOOKS: usize = 2_000;
/// Maximum number of entities that one run describes.
const MAX_ENTITIES: usize = 200;
/// Maximum number of entities whose vectors one run makes.
const MAX_VECTORS: usize = 2_000;
/// Maximum number of memories from which an entity is described.
const MAX_MEMORIES: usize = 20;
/// Maximum number of memories that stand for an entity without a description.
const MAX_EXCERPTS: usize = 3;
/// The attribute of an entity with the fingerprint of the memories that its description was made of.
const DESCRIBED_FROM: &str = "describedFrom";

impl Engine {
    pub(super) async fn enrich_step(&self, run: &MaintenanceRun<'_>) -> Result<StepReport> {
        let mut report = StepReport::new(MaintenanceStep::Enrich);
        let whole = policy::visible_tenant(&run.caller.tenant);
        let mentions_min = u64::from(self.config.learning.mentions_for_summary);
        let filter = EntityFilter { mentions_min, ..EntityFilter::default() };
        let mut described = 0;
        let mut entities = self.store.entities(&whole, &EntityQuery::Known(filter), usize::MAX).await?;
        // Where there are more than one run looks at, each day begins with others; those without a description come first.
        if entities.len() > MAX_LOOKS {
            let day = usize::try_from(run.at.as_second() / 86_400).unwrap_or(0);
            let places = entities.len();
            entities.rotate_left(day.wrapping_mul(MAX_LOOKS) % places);
        }
        entities.sort_by_key(|entity| entity.summary.is_some());
        for (looked, entity) in entities.into_iter().take(MAX_LOOKS).enumerate() {
            if described == MAX_ENTITIES {
                break;
            }
            if !run.dry && looked % MAX_ENTITIES == MAX_ENTITIES - 1 {
                self.take_turn(run).await?;
            }
            let memories = self.memories_for_portrait(run, &entity).await?;
            let basis = json!(fingerprint(&memories));
            if entity.summary.is_some() && entity.attributes.get(DESCRIBED_FROM) == Some(&basis) {
                continue;
            }
            // One that cannot be described does not keep the others from it.
            let summary = match self.portrait(run, &entity, memories).await {
                Ok(None) if entity.summary.is_none() => continue,
                Ok(summary) => summary,
                Err(error) => {
                    report.problem.get_or_insert_with(|| format!("an entity was not described: {error}"));
                    continue;
                }
            };
            described += 1;
            let why = match entity.summary {
                None => format!("mentioned {} times", entity.mention_count),
                Some(_) => "its memories have changed".to_owned(),
            };
            report.add_planned(None, "describe", entity.canonical_name.clone(), &why);
            if run.dry {
                continue;
            }
            let scope = self.scope_of(&whole, &entity).await?;
            let mut entity = Entity { summary, updated_at: run.at, ..entity };
            entity.attributes.insert(DESCRIBED_FROM.to_owned(), basis);
            let name = Action::Name { scope: scope.clone(), entity: Box::new(entity) };
            self.apply_run(run, &scope.space(), vec![(name, why)]).await?;
        }
        if !run.dry {
            self.embed_entities(run, &mut report).await?;
        }
        Ok(report)
    }

    /// Makes the vectors of entities that have none of the present model.
    async fn embed_entities(&self, run: &MaintenanceRun<'_>, report: &mut StepReport) -> Result<()> {
        let Some(embedder) = &self.embedder else { return Ok(()) };
        let whole = policy::visible_tenant(&run.caller.tenant);
        let model = embedder.model().name.clone();
        let missing = EntityFilter { without_vector_of: Some(model.clone()), ..EntityFilter::default() };
        let entities = self.store.entities(&whole, &EntityQuery::Known(missing), MAX_VECTORS).await?;
        for page in entities.chunks(MAX_ENTITIES) {
            let (mut texts, mut places) = (Vec::new(), Vec::new());
            for entity in page {
                let memories = self.memories_for_portrait(run, entity).await?;
                let Some(space) = memories.first().and_then(|memory| memory.scope().ok()).map(|scope| scope.space())
                else {
                    continue;
                };
                texts.push(text_of(entity, &memories));
                places.push((entity.id, space));
            }
            let made = match embedder.embed(&texts, Detail::Sentence).await {
                Ok(made) => made,
                Err(error) => {
                    report.problem.get_or_insert_with(|| format!("entities were not embedded: {error}"));
                    return Ok(());
                }
            };
            for ((entity, space), made) in places.into_iter().zip(made) {
                let vector = Vector { model: model.clone(), values: made.vector, token_states: None };
                let action = Action::EmbedEntity { entity, vector };
                self.apply_run(run, &space, vec![(action, "entity described".to_owned())]).await?;
            }
            self.take_turn(run).await?;
        }
        Ok(())
    }

    /// The newest facts about an entity. Private memories are not used, because others see the description.
    async fn memories_for_portrait(&self, run: &MaintenanceRun<'_>, entity: &Entity) -> Result<Vec<Memory>> {
        let whole = policy::visible_tenant(&run.caller.tenant);
        let filter = Filter { kinds: self.non_episodic_kinds(), ..Filter::at(run.at) };
        let hits = self.store.memories_mentioning(&whole, &filter, &[entity.id], MAX_MEMORIES).await?;
        let ids: Vec<MemoryId> = hits.iter().map(|hit| hit.id).collect();
        let mut memories = self.store.fetch(&whole, &ids).await?;
        memories.retain(|memory| !memory.access_policy.writer_only());
        Ok(memories)
    }

    /// Describes an entity by its facts.
    async fn portrait(
        &self,
        run: &MaintenanceRun<'_>,
        entity: &Entity,
        mut memories: Vec<Memory>,
    ) -> Result<Option<String>> {
        if let Some(llm) = self.llm_for(&run.caller.tenant).await?.filter(|_| !run.dry && !memories.is_empty()) {
            // Oldest first, with the day on which each was said: where notes disagree the later one counts.
            memories.sort_by_key(Memory::when_said);
            let dated = |memory: &Memory| match crate::is_quotation(memory) {
                true => crate::reported(memory).into_owned(),
                false => format!("{}: {}", &memory.when_said().to_string()[..10], memory.content),
            };
            let facts: Vec<String> = memories.iter().map(dated).collect();
            let before = llm.left().unwrap_or(0);
            let summary = llm.entity_summary(&entity.canonical_name, &facts).await;
            self.record_spending(&run.caller.tenant, &llm, before).await?;
            return Ok(Some(summary?.0).filter(|text| !text.trim().is_empty()));
        }
        let recency = |memory: &Memory| {
            let days = self.kinds.spec(&memory.kind).half_life_days;
            Curve::HalfLife { days }.left(age_days(memory.created_at, run.at))
        };
        let texts: Vec<_> = memories.iter().map(crate::reported).collect();
        let facts: Vec<ProfileFact<'_>> = memories
            .iter()
            .zip(&texts)
            .map(|(memory, text)| ProfileFact {
                content: text,
                importance: memory.importance,
                recency: recency(memory),
            })
            .collect();
        Ok(profile(&entity.canonical_name, &facts))
    }
}

/// A fingerprint of memories and their versions, whatever their order.
fn fingerprint(memories: &[Memory]) -> String {
    let mut versions: Vec<String> = memories.iter().map(|memory| format!("{}:{}", memory.id, memory.version)).collect();
    versions.sort_unstable();
    format!("{:016x}", fnv1a(versions.join(" ").as_bytes()))
}

/// What the vector of an entity is made of.
fn text_of(entity: &Entity, memories: &[Memory]) -> String {
    let names: Vec<&str> = std::iter::once(&entity.canonical_name).chain(&entity.aliases).map(String::as_str).collect();
    let description = match &entity.summary {
        Some(summary) => summary.clone(),
        None => memories.iter().take(MAX_EXCERPTS).map(|one| one.content.as_str()).collect::<Vec<_>>().join(" "),
    };
    format!("{} ({}): {description}", names.join(", "), entity.entity_type)
}
