//! Makes the memories of candidates, with their vectors, before they are reconciled.

use loci_types::{Addition, Memory, Source};
use serde_json::{Map, json};

use super::{ConsolidationRun, DISTILLED, LEARNER};
use crate::access::policy::Caller;
use crate::learn::extract::LearningCandidate;
use crate::prompt::render::{DATES, SAID};
use crate::write::reconcile::claim_key;
use crate::write::reconcile::write::CONTEXT;
use crate::{Engine, NewMemory, Result};

impl Engine {
    /// The memories of the candidates, with their vectors.
    pub(super) async fn draft_memories(
        &self,
        run: &ConsolidationRun<'_>,
        candidates: &[LearningCandidate],
    ) -> Result<Vec<Addition>> {
        let scope = &run.session.scope;
        let mut caller = Caller { tenant: run.tenant.clone(), ..Caller::new(scope.identifiers()) };
        caller.identifiers.session_id.get_or_insert_with(|| run.session.session_id.clone());
        let mut additions = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let new = NewMemory {
                content: candidate.content.clone(),
                layer: Some(scope.layer()),
                kind: Some(candidate.kind.to_owned()),
                category: self.config.learning.categories.get(candidate.kind).cloned(),
                importance: Some(candidate.importance),
                confidence: Some(candidate.confidence),
                event_time: candidate.event_time,
                said_at: Some(candidate.said_at),
                valid_from: candidate.valid_from.filter(|from| *from <= run.at),
                actor_id: candidate.actor.clone(),
                role: Some("user".to_owned()),
                source: Some(Source {
                    kind: DISTILLED.to_owned(),
                    role: Some(LEARNER.to_owned()),
                    reference: Some(run.session.session_id.clone()),
                }),
                metadata: self.metadata_of(candidate),
                ..NewMemory::default()
            };
            let mut addition = self.admit_into(&caller, scope, new, None)?;
            addition.claim =
                candidate.claims.iter().find(|claim| claim.single).or(candidate.claims.first()).map(claim_key);
            additions.push(addition);
        }
        let memories: Vec<&Memory> = additions.iter().map(|addition| &addition.memory).collect();
        match self.embed_or_wait(&memories).await {
            Some(vectors) => {
                for (addition, vector) in additions.iter_mut().zip(vectors) {
                    addition.vector = Some(vector);
                }
            }
            None => {
                for addition in &mut additions {
                    addition.jobs.extend(self.embed_jobs(addition.memory.id, run.at));
                }
            }
        }
        Ok(additions)
    }

    /// The metadata of a learned memory. A quotation has the day on which it was said; a rewritten one has none.
    fn metadata_of(&self, candidate: &LearningCandidate) -> Map<String, serde_json::Value> {
        let mut metadata = Map::from_iter([("pattern".to_owned(), json!(candidate.pattern))]);
        if candidate.quoted {
            let said = candidate.said_at.to_zoned(self.time_zone.clone()).strftime("%Y-%m-%d").to_string();
            metadata.insert(SAID.to_owned(), json!(said));
        }
        if let Some(context) = &candidate.context {
            metadata.insert(CONTEXT.to_owned(), json!(context));
        }
        if !candidate.dates.is_empty() {
            metadata.insert(DATES.to_owned(), json!(candidate.dates));
        }
        metadata
    }
}
