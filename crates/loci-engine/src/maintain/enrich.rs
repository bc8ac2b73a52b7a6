//! What is there to tell of those who are spoken of?

use loci_store::EntityFilter;
use loci_types::{Action, Entity, Filter, Memory, MemoryId};

use super::{Run, Step, StepReport};
use crate::curve::{Curve, age_days};
use crate::policy;
use crate::upkeep::profile::{Fact, profile};
use crate::{Engine, Result};

/// So many entities are described in one run.
const DESCRIBED: usize = 200;
/// From so many memories each.
const READ: usize = 20;

impl Engine {
    pub(super) async fn enrich_step(&self, run: &Run<'_>) -> Result<StepReport> {
        let mut report = StepReport::new(Step::Enrich);
        let whole = policy::whole(&run.caller.tenant);
        let mentions_min = u64::from(self.config.learning.mentions_for_summary);
        let filter = EntityFilter { mentions_min, without_summary: true };
        for entity in self.store.known_entities(&whole, &filter, DESCRIBED).await? {
            let why = format!("spoken of {} times", entity.mention_count);
            let Some(summary) = self.portrait(run, &entity).await? else { continue };
            report.tell(None, "describe", entity.canonical_name.clone(), &why);
            if run.dry {
                continue;
            }
            let scope = self.scope_of(&whole, &entity).await?;
            let entity = Box::new(Entity { summary: Some(summary), last_updated: run.at, ..entity });
            self.apply_run(run, &scope.space(), vec![(Action::Name { scope, entity }, why)]).await?;
        }
        Ok(report)
    }

    /// What the facts say of an entity. What only its writer may see is not told to others.
    async fn portrait(&self, run: &Run<'_>, entity: &Entity) -> Result<Option<String>> {
        let whole = policy::whole(&run.caller.tenant);
        let filter = Filter { kinds: self.told_kinds(), ..Filter::at(run.at) };
        let hits = self.store.mentioning(&whole, &filter, &[entity.id], READ).await?;
        let ids: Vec<MemoryId> = hits.iter().map(|hit| hit.id).collect();
        let mut memories = self.store.fetch(&whole, &ids).await?;
        memories.retain(|memory| !memory.access_policy.writer_only());
        if let Some(mind) = self.mind_for(&run.caller.tenant).await?.filter(|_| !run.dry && !memories.is_empty()) {
            let facts: Vec<String> = memories.iter().map(|memory| memory.content.clone()).collect();
            let before = mind.left().unwrap_or(0);
            let told = mind.entity_summary(&entity.canonical_name, &facts).await;
            self.settle(&run.caller.tenant, &mind, before).await?;
            return Ok(Some(told?.0).filter(|text| !text.trim().is_empty()));
        }
        let recency = |memory: &Memory| {
            let days = self.kinds.spec(&memory.kind).half_life_days;
            Curve::HalfLife { days }.left(age_days(memory.created_at, run.at))
        };
        let facts: Vec<Fact<'_>> = memories
            .iter()
            .map(|memory| Fact { content: &memory.content, importance: memory.importance, recency: recency(memory) })
            .collect();
        Ok(profile(&entity.canonical_name, &facts))
    }
}
