//! Maintenance step: writes the descriptions of entities.

use loci_store::{EntityFilter, EntityQuery};
use loci_types::{Action, Entity, Filter, Memory, MemoryId};

use super::{MaintenanceRun, MaintenanceStep, StepReport};
use crate::access::policy;
use crate::lifecycle::curve::{Curve, age_days};
use crate::lifecycle::rules::profile::{ProfileFact, profile};
use crate::{Engine, Result};

/// Maximum number of entities that one run describes.
const MAX_ENTITIES: usize = 200;
/// Maximum number of memories from which an entity is described.
const MAX_MEMORIES: usize = 20;

impl Engine {
    pub(super) async fn enrich_step(&self, run: &MaintenanceRun<'_>) -> Result<StepReport> {
        let mut report = StepReport::new(MaintenanceStep::Enrich);
        let whole = policy::visible_tenant(&run.caller.tenant);
        let mentions_min = u64::from(self.config.learning.mentions_for_summary);
        let filter = EntityFilter { mentions_min, without_summary: true };
        for entity in self.store.entities(&whole, &EntityQuery::Known(filter.clone()), MAX_ENTITIES).await? {
            let why = format!("mentioned {} times", entity.mention_count);
            // One that cannot be described does not keep the others from it.
            let summary = match self.portrait(run, &entity).await {
                Ok(Some(summary)) => summary,
                Ok(None) => continue,
                Err(error) => {
                    report.problem.get_or_insert_with(|| format!("an entity was not described: {error}"));
                    continue;
                }
            };
            report.add_planned(None, "describe", entity.canonical_name.clone(), &why);
            if run.dry {
                continue;
            }
            let scope = self.scope_of(&whole, &entity).await?;
            let entity = Box::new(Entity { summary: Some(summary), updated_at: run.at, ..entity });
            self.apply_run(run, &scope.space(), vec![(Action::Name { scope, entity }, why)]).await?;
        }
        Ok(report)
    }

    /// Describes an entity by its facts. Private memories are not used, because others see the description.
    async fn portrait(&self, run: &MaintenanceRun<'_>, entity: &Entity) -> Result<Option<String>> {
        let whole = policy::visible_tenant(&run.caller.tenant);
        let filter = Filter { kinds: self.non_episodic_kinds(), ..Filter::at(run.at) };
        let hits = self.store.memories_mentioning(&whole, &filter, &[entity.id], MAX_MEMORIES).await?;
        let ids: Vec<MemoryId> = hits.iter().map(|hit| hit.id).collect();
        let mut memories = self.store.fetch(&whole, &ids).await?;
        memories.retain(|memory| !memory.access_policy.writer_only());
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
