//! What is packed for a question: hits, the turns that they were learned from, and descriptions of entities.

use std::collections::HashMap;

use loci_store::EntityQuery;
use loci_types::{Class, Entity, Filter, Memory, MemoryId, Relation, Visible};

use crate::access::policy::Caller;
use crate::prompt::pack::origin::origin;
use crate::prompt::pack::{PackItem, Related, Share};
use crate::prompt::render::is_quotation;
use crate::recall::named_in;
use crate::text::normalise;
use crate::{Engine, Recall, RecallHit, RecallRequest, Result};

/// Maximum number of entities that are described.
const MAX_PROFILES: usize = 5;
/// Maximum number of turns that are shown as the source of one memory.
const MAX_SOURCES: usize = 2;

impl Engine {
    /// The hits as they are packed.
    pub(crate) fn items(&self, caller: &Caller, recall: &Recall) -> Vec<PackItem> {
        recall.hits.iter().map(|hit| self.item(caller, hit)).collect()
    }

    /// What is packed beside the hits: the turns that they were learned from, as evidence, and descriptions of the
    /// entities that the question names, or else of those that the best hit mentions.
    pub(crate) async fn surroundings(
        &self,
        caller: &Caller,
        asked: &RecallRequest,
        found: &Recall,
    ) -> Result<Vec<PackItem>> {
        // They are of today, so a question about the past gets none.
        if found.hits.is_empty() || asked.at.is_some_and(|at| at < self.now()) {
            return Ok(Vec::new());
        }
        let visible = self.visible(caller, asked.layers.as_deref()).await?;
        if !asked.filter.as_ref().is_none_or(is_unfiltered) {
            return Ok(Vec::new());
        }
        let mut items = self.sources(caller, &visible, found).await?;
        items.extend(self.profiles(&visible, &asked.query, found).await?);
        Ok(items)
    }

    fn item(&self, caller: &Caller, hit: &RecallHit) -> PackItem {
        let memory = &hit.memory;
        let turn = memory.thread_id.is_some() && (memory.actor_id.is_some() || memory.role.is_some());
        let share = match (memory.kind.name(), self.kinds.spec(&memory.kind).class) {
            ("person" | "project", _) => Share::Profiles,
            ("document", _) => Share::Evidence,
            (_, Class::Episodic) => Share::Temporal,
            _ => Share::Facts,
        };
        let related = |related: &crate::RelatedMemory| Related {
            id: related.id,
            text: related.content.clone(),
            relation: related.relation.name().to_owned(),
            origin: related.origin.clone(),
        };
        // Sources are evidence, with a share of their own.
        let related_memories = hit.explain.related.iter().filter(|one| one.relation != Relation::DerivedFrom);
        PackItem {
            id: memory.id,
            kind: memory.kind.name().to_owned(),
            category: memory.category.clone(),
            share,
            text: hit.text(),
            score: hit.score,
            // What was said is shown with its speaker and day already.
            event_time: memory.event_time.filter(|_| !is_quotation(memory)),
            related: related_memories.map(related).collect(),
            actor: memory.actor_id.clone().filter(|_| turn),
            role: memory.role.clone().filter(|_| turn),
            origin: origin(memory, caller.identifiers.agent_id.as_deref()),
            entity: None,
        }
    }

    /// The turns that hits were learned from, where they say more than the hit.
    async fn sources(&self, caller: &Caller, visible: &Visible, found: &Recall) -> Result<Vec<PackItem>> {
        let scores: HashMap<MemoryId, &RecallHit> = found.hits.iter().map(|hit| (hit.memory.id, hit)).collect();
        let ids: Vec<MemoryId> = scores.keys().copied().collect();
        let filter = Filter::everything(self.now());
        let edges = self.store.edges(visible, &filter, &ids, &[Relation::DerivedFrom]).await?;
        let mut of: HashMap<MemoryId, &RecallHit> = HashMap::new();
        for hit in &found.hits {
            let own = edges.iter().filter(|edge| edge.source_id == hit.memory.id);
            for source in own.map(|edge| edge.target_id).filter(|id| !scores.contains_key(id)).take(MAX_SOURCES) {
                // Hits come best first, so a turn counts for the best that was learned from it.
                of.entry(source).or_insert(hit);
            }
        }
        let turns = self.store.fetch(visible, &of.keys().copied().collect::<Vec<_>>()).await?;
        let adds = |turn: &&Memory| {
            let (hit, kind) = (of.get(&turn.id), self.kinds.spec(&turn.kind));
            kind.class == Class::Episodic
                && turn.state.is_live()
                && hit.is_some_and(|hit| !normalise(&hit.memory.content).contains(&normalise(&turn.content)))
        };
        let item = |turn: &Memory| PackItem {
            id: turn.id,
            kind: turn.kind.name().to_owned(),
            category: turn.category.clone(),
            share: Share::Evidence,
            text: turn.content.clone(),
            score: of.get(&turn.id).map_or(0.0, |hit| hit.score),
            event_time: Some(turn.when_said()),
            related: Vec::new(),
            actor: turn.actor_id.clone(),
            role: turn.role.clone(),
            origin: origin(turn, caller.identifiers.agent_id.as_deref()),
            entity: None,
        };
        Ok(turns.iter().filter(adds).map(item).collect())
    }

    /// The descriptions of entities.
    async fn profiles(&self, visible: &Visible, question: &str, found: &Recall) -> Result<Vec<PackItem>> {
        let Some(best) = found.hits.first() else { return Ok(Vec::new()) };
        let mut entities = self.store.entities(visible, &EntityQuery::Named(named_in(question)), usize::MAX).await?;
        if entities.is_empty() {
            entities = self.store.entities(visible, &EntityQuery::MentionedBy(best.memory.id), usize::MAX).await?;
        }
        entities.sort_by_key(|entity| std::cmp::Reverse(entity.mention_count));
        let described = entities.into_iter().filter_map(|entity| profile_item(&entity, best.score));
        Ok(described.take(MAX_PROFILES).collect())
    }
}

/// The description of an entity as an item; none if it has none.
fn profile_item(entity: &Entity, score: f64) -> Option<PackItem> {
    let summary = entity.summary.as_deref()?;
    let names = std::iter::once(entity.canonical_name.as_str()).chain(entity.aliases.iter().map(String::as_str));
    Some(PackItem {
        id: MemoryId(entity.id.0),
        kind: "entity".to_owned(),
        category: None,
        share: Share::Profiles,
        text: format!("{} ({}): {summary}", names.collect::<Vec<_>>().join(", "), entity.entity_type),
        score,
        event_time: None,
        related: Vec::new(),
        actor: None,
        role: None,
        origin: None,
        entity: Some(entity.canonical_name.clone()),
    })
}

/// Whether a filter selects no part of the memories but those of a user or an agent. A description is made of all
/// memories, so it is not an answer to a narrower question.
fn is_unfiltered(filter: &Filter) -> bool {
    let general = Filter { users: Vec::new(), agents: Vec::new(), ..filter.clone() };
    general == Filter::at(filter.now)
}
