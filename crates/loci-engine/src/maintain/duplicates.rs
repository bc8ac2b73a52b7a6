//! What says the same twice?
//!
//! Memories that came lately are compared with those that are like them. A pair that was looked at
//! has a fingerprint and is not looked at again for a while; so many pairs of a user are, each night.

use std::collections::BTreeMap;

use loci_store::Ageing;
use loci_types::{Action, Addition, Class, Kind, Memory, MemoryId, NoteValue, Patch, Revision, Scope, Space, Vector};
use serde_json::json;

use super::{Run, Step, StepReport};
use crate::extract::claim::claim_of;
use crate::extract::differ::numeric_step;
use crate::learn::{Reach, neighbour, statement};
use crate::mind::Verdict;
use crate::policy;
use crate::reconcile::{Decision, claim_key, reconcile};
use crate::upkeep::fate::{days_after, days_before};
use crate::{Engine, Result};

/// So many are read at once.
const PAGE: usize = 1_000;
/// What came within so many days is compared.
const NEW_DAYS: u32 = 3;
/// With what is no older than this.
const OLD_DAYS: u32 = 90;

/// Two memories that may say the same, the older first.
struct Pair {
    scope: Scope,
    older: Memory,
    newer: Memory,
    similarity: Option<f64>,
}

impl Engine {
    pub(super) async fn dedup_step(&self, run: &Run<'_>) -> Result<StepReport> {
        let mut report = StepReport::new(Step::Dedup);
        for space in self.all_spaces(&run.caller.tenant).await? {
            let pairs = self.pairs(run, &space).await?;
            let decisions = self.judge(run, &pairs).await?;
            let mut gone: Vec<MemoryId> = Vec::new();
            let mut actions: Vec<(Action, String)> = Vec::new();
            for (pair, decision) in pairs.iter().zip(decisions) {
                if !run.dry {
                    actions.push((self.fingerprint(run, pair), "compared".to_owned()));
                }
                let Some(decision) = decision else { continue };
                // One that has just gone is compared no more.
                if gone.contains(&pair.older.id) || gone.contains(&pair.newer.id) {
                    continue;
                }
                let (stays, goes, patch) = outcome(pair, &decision);
                gone.push(goes.id);
                let what = if matches!(decision, Decision::Supersede { .. }) { "replace" } else { "merge" };
                report.tell(Some(goes.id), what, goes.content.chars().take(80).collect(), decision.reason());
                self.shelf.forget(stays.id);
                let into = Revision { id: stays.id, expect: None, patch, vector: None, jobs: Vec::new() };
                let merge = Action::Merge { into: Box::new(into), from: vec![goes.id] };
                actions.push((merge, decision.reason().to_owned()));
            }
            if !run.dry {
                self.apply_run(run, &space, actions).await?;
            }
        }
        Ok(report)
    }

    /// The pairs of a space that are worth a look, so many for each user.
    async fn pairs(&self, run: &Run<'_>, space: &Space) -> Result<Vec<Pair>> {
        let (tenant, most) = (&run.caller.tenant, self.config.learning.pairs_per_user_per_day as usize);
        let (mut pairs, mut after): (Vec<Pair>, i64) = (Vec::new(), 0);
        let mut by_scope: BTreeMap<String, usize> = BTreeMap::new();
        let new = days_before(run.at, NEW_DAYS);
        loop {
            let page = self.store.ages(&policy::whole(tenant), space, after, PAGE).await?;
            let lately = |memory: &&Ageing| {
                let told = self.kinds.spec(&Kind::stored(memory.kind.clone())).class != Class::Episodic;
                told && memory.state.is_live() && !memory.superseded && memory.created_at >= new
            };
            let ids: Vec<MemoryId> = page.iter().filter(lately).map(|memory| memory.id).collect();
            let mut new = self.store.fetch(&policy::whole(tenant), &ids).await?;
            new.retain(|memory| !memory.access_policy.writer_only() && !crate::graph::is_part(memory));
            for memory in new {
                let scope = memory.scope()?;
                let count = by_scope.entry(scope.key()).or_default();
                for pair in self.pairs_of(run, &scope, memory).await? {
                    let known = pairs.iter().any(|one| one.older.id == pair.older.id && one.newer.id == pair.newer.id);
                    if *count < most && !known {
                        *count += 1;
                        pairs.push(pair);
                    }
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = last.place,
                _ => return Ok(pairs),
            }
        }
    }

    async fn pairs_of(&self, run: &Run<'_>, scope: &Scope, memory: Memory) -> Result<Vec<Pair>> {
        let seen = policy::upkeep(&run.caller.tenant, scope);
        let model = self.model().map_or("", |model| &model.name);
        let vector: Option<Vector> =
            self.store.vectors(&seen, model, &[memory.id]).await?.pop().map(|(_, vector)| vector);
        let claim = claim_of(&memory.content).as_ref().map(claim_key);
        let came = memory.created_at;
        let mut addition = Addition { claim, vector, ..Addition::new(memory) };
        // What holds now is asked for, whenever it came.
        addition.memory.created_at = run.at;
        let known = self.neighbours(&seen, &addition, None, Reach::Thorough).await?;
        let ids: Vec<MemoryId> = known.iter().map(|one| one.id).collect();
        let others = self.store.fetch(&seen, &ids).await?;
        let mut pairs = Vec::new();
        for other in others {
            let similarity = known.iter().find(|one| one.id == other.id).and_then(|one| one.similarity);
            let mut memory = addition.memory.clone();
            memory.created_at = came;
            let (older, newer) = if other.id < memory.id { (other, memory) } else { (memory, other) };
            let pair = Pair { scope: scope.clone(), older, newer, similarity };
            if pair.older.created_at >= days_before(run.at, OLD_DAYS) && self.is_unseen(run, &pair).await? {
                pairs.push(pair);
            }
        }
        Ok(pairs)
    }

    async fn is_unseen(&self, run: &Run<'_>, pair: &Pair) -> Result<bool> {
        let seen = policy::upkeep(&run.caller.tenant, &pair.scope);
        Ok(self.store.notes(&seen, &pair.scope.space(), &[key(pair)], run.at).await?.is_empty())
    }

    fn fingerprint(&self, run: &Run<'_>, pair: &Pair) -> Action {
        let until = Some(days_after(run.at, i64::from(self.config.bands.fingerprint_days)));
        Action::Note { scope: Some(pair.scope.clone()), key: key(pair), value: NoteValue::Set(json!(true)), until }
    }

    /// What becomes of each pair; none: both stay. A language model is asked only what rules cannot tell.
    async fn judge(&self, run: &Run<'_>, pairs: &[Pair]) -> Result<Vec<Option<Decision>>> {
        let mut decisions: Vec<Option<Decision>> = pairs.iter().map(|pair| self.by_rules(pair)).collect();
        let Some(mind) = self.mind_for(&run.caller.tenant).await?.filter(|_| !run.dry) else { return Ok(decisions) };
        let open: Vec<usize> = (0..pairs.len()).filter(|place| decisions[*place].is_none()).collect();
        let asked: Vec<(String, String)> = open
            .iter()
            .map(|place| (pairs[*place].older.content.clone(), pairs[*place].newer.content.clone()))
            .collect();
        let before = mind.left().unwrap_or(0);
        let verdicts = mind.same_fact(&asked).await;
        self.settle(&run.caller.tenant, &mind, before).await?;
        for (place, verdict) in open.into_iter().zip(verdicts?.0) {
            let (older, why) = (pairs[place].older.id, "judged by a language model".to_owned());
            decisions[place] = match verdict {
                Verdict::Same { .. } => Some(Decision::Skip { of: older, reason: format!("the same, {why}") }),
                Verdict::Contradicts { .. } => {
                    Some(Decision::Supersede { old: older, reason: format!("a contradiction, {why}") })
                }
                Verdict::Different | Verdict::Unanswered => None,
            };
        }
        Ok(decisions)
    }

    fn by_rules(&self, pair: &Pair) -> Option<Decision> {
        let claim = claim_of(&pair.newer.content);
        let known = neighbour(&pair.older, pair.similarity);
        let statement = statement(&pair.newer, claim.as_ref(), false);
        let decision = reconcile(&statement, &[known], &self.config.bands);
        match decision {
            Decision::Add { .. } if numeric_step(&pair.older.content, &pair.newer.content) => {
                Some(Decision::Supersede { old: pair.older.id, reason: "a step of the same quantity".to_owned() })
            }
            Decision::Add { .. } | Decision::Before { .. } => None,
            decision => Some(decision),
        }
    }
}

/// Which of the two stays, which goes, and what the one that stays takes over.
fn outcome<'a>(pair: &'a Pair, decision: &Decision) -> (&'a Memory, &'a Memory, Patch) {
    let tags = |stays: &Memory, goes: &Memory| {
        let mut tags = stays.tags.clone();
        tags.extend(goes.tags.iter().filter(|tag| !stays.tags.contains(tag)).cloned().collect::<Vec<_>>());
        (tags != stays.tags).then_some(tags)
    };
    // What is replaced, or says less, goes; of two that say the same the older stays.
    let (stays, goes) = match decision {
        Decision::Supersede { .. } | Decision::Merge { .. } => (&pair.newer, &pair.older),
        Decision::Skip { .. } | Decision::Add { .. } | Decision::Before { .. } => (&pair.older, &pair.newer),
    };
    let importance = (goes.importance > stays.importance).then_some(goes.importance);
    (stays, goes, Patch { tags: tags(stays, goes), importance, ..Patch::default() })
}

/// The fingerprint of a pair: which two, and how alike, to two digits.
fn key(pair: &Pair) -> String {
    format!("pair {} {} {:.2}", pair.older.id, pair.newer.id, pair.similarity.unwrap_or(0.0))
}
