//! Decides what becomes of one learned statement.
//!
//! It is reconciled with known memories and with those of this round, by the same table as `remember`. What needs
//! consent becomes a proposal; the rest is added with its sources, entities and facts.

use std::collections::HashMap;

use loci_types::{Action, Addition, EntityId, MemoryId, Relation, Vector};

use super::ConsolidationRun;
use crate::learn::entity_links::FreshMention;
use crate::learn::extract::LearningCandidate;
use crate::write::reconcile::write::{neighbour, repeats, statement};
use crate::write::reconcile::{Decision, KnownStatement, reconcile};
use crate::{Engine, Result};

impl Engine {
    /// Reconciles one candidate with what is known, and adds the changes that follow to the run.
    pub(super) async fn reconcile_candidate(
        &self,
        run: &mut ConsolidationRun<'_>,
        candidate: &LearningCandidate,
        mut addition: Addition,
        named: &HashMap<MemoryId, Vec<(String, EntityId)>>,
    ) -> Result<()> {
        let memory = &addition.memory;
        if let Some(returned) = run.returned.iter().find(|returned| repeats(&memory.content, &returned.content)) {
            tracing::debug!(memory = %returned.id, "recall returned this to the thread; it is not learned again");
            run.report.skipped += 1;
            return Ok(());
        }
        let mut known = self.neighbours(&run.visible, &addition, None).await?;
        // What this round has replaced no longer holds; what it has added does.
        known.retain(|one| !run.replaced(one.id));
        known.extend(run.fresh.iter().map(|(one, vector)| KnownStatement {
            similarity: cosine(vector.as_ref(), addition.vector.as_ref()),
            ..one.clone()
        }));
        let single = candidate.claims.iter().any(|claim| claim.single);
        addition.seen = single.then(|| known.iter().map(|one| one.id).collect());
        let decision = reconcile(&statement(&addition.memory), &known, &self.config.bands);
        let why = format!("{} (learned: {})", decision.reason(), candidate.pattern);
        if let Decision::Skip { of, .. } = &decision {
            run.report.skipped += 1;
            // Said again: one more source for what is known.
            for turn in &candidate.from {
                let edge = self.edge(*of, *turn, Relation::DerivedFrom, 1.0, run.at);
                run.push(Action::Link(edge), &why);
            }
            return Ok(());
        }
        let asked = self.consent_needed(&run.visible, &mut run.pending, candidate, &addition, &decision).await?;
        if let Some(asked) = asked {
            run.propose(asked, &why);
            return Ok(());
        }
        let sure = addition.memory.confidence;
        let id = self.write_decision(run, &decision, addition.clone(), &known, &why).await?;
        let entities = self.add_sources(run, candidate, id, named, &why);
        let links =
            self.entity_links(&run.visible, &addition, &entities, &run.mentioned, |id| run.replaced(id)).await?;
        for link in links {
            run.push(link, "mentions the same entity");
        }
        run.mentioned.extend(entities.into_iter().map(|(_, entity)| FreshMention {
            entity,
            memory: id,
            vector: addition.vector.clone(),
        }));
        let scope = run.session.scope.clone();
        for claim in &candidate.claims {
            if let Some(action) = self.triple(&scope, candidate.kind, Some(claim), (id, sure), run.at) {
                run.push(action, &why);
            }
        }
        Ok(())
    }

    /// Writes a decision. Returns the memory that now has the statement.
    async fn write_decision(
        &self,
        run: &mut ConsolidationRun<'_>,
        decision: &Decision,
        addition: Addition,
        known: &[KnownStatement],
        why: &str,
    ) -> Result<MemoryId> {
        let one = neighbour(&addition.memory, None);
        let (id, vector) = (addition.memory.id, addition.vector.clone());
        let actions = match decision {
            // What was learned a moment ago is not in the store yet.
            Decision::Supersede { old, .. } if run.fresh.iter().any(|(one, _)| one.id == *old) => {
                vec![Action::Supersede { old: *old, new: Box::new(addition.clone()) }]
            }
            _ => self.actions(&run.visible, decision, addition.clone()).await?,
        };
        match decision {
            Decision::Supersede { old, .. } => {
                run.report.superseded += 1;
                run.fresh.retain(|(one, _)| one.id != *old);
            }
            _ => run.report.added += 1,
        }
        run.report.linked += decision.contradicts().len();
        self.forget_features(decision);
        for action in actions.into_iter().chain(self.relations(&addition, known, decision)) {
            run.push(action, why);
        }
        if !matches!(decision, Decision::AddAsHistory { .. }) {
            run.fresh.push((one, vector));
        }
        Ok(id)
    }

    /// Adds sources and entities of a memory. Returns the entities.
    fn add_sources(
        &self,
        run: &mut ConsolidationRun<'_>,
        candidate: &LearningCandidate,
        id: MemoryId,
        named: &HashMap<MemoryId, Vec<(String, EntityId)>>,
        why: &str,
    ) -> Vec<(String, EntityId)> {
        let mut entities: Vec<(String, EntityId)> = Vec::new();
        for turn in &candidate.from {
            let edge = self.edge(id, *turn, Relation::DerivedFrom, 1.0, run.at);
            run.push(Action::Link(edge), why);
            for (name, entity) in named.get(turn).into_iter().flatten() {
                if candidate.content.contains(name.as_str()) {
                    run.push(Action::Mention { memory: id, entity: *entity, counted: false }, "mentioned");
                    entities.push((name.clone(), *entity));
                }
            }
        }
        entities
    }
}

fn cosine(a: Option<&Vector>, b: Option<&Vector>) -> Option<f64> {
    let (a, b) = (a?, b?);
    (a.model == b.model).then(|| f64::from(loci_models::dot(&a.values, &b.values)).max(0.0))
}
