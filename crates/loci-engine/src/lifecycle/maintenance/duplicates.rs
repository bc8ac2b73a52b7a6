//! Maintenance step: finds duplicates and replaced statements among stored memories.
//!
//! The table of `reconcile` is applied again to pairs that were not compared when they were written: memories that are
//! recent, important or much used, and those similar to them. The decisions are the same as at write time. A language model may settle pairs that the
//! rules left open, but the table has the veto. A compared pair has a fingerprint and is not compared again for a
//! while; the number of pairs per scope and day is bounded.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use loci_types::{
    Action, Addition, Bookkeeping, Class, Filter, Kind, Memory, MemoryId, NoteValue, Patch, Relation, Revision, Scope,
    Space, Vector,
};
use serde_json::json;

use super::{MaintenanceRun, MaintenanceStep, StepReport};
use crate::access::policy;
use crate::learn::llm::Verdict;
use crate::lifecycle::rules::state::{days_after, days_before};
use crate::write::contradict::settled_key;
use crate::write::reconcile::write::{neighbour, statement};
use crate::write::reconcile::{Decision, may_replace, reconcile};
use crate::{Engine, Result};

/// Number of memories that are read at once.
const MEMORIES_PER_READ: usize = 1_000;
/// What was added or changed within these days is compared.
const NEW_DAYS: u32 = 3;
/// What has at least this importance is compared whatever its age: 3 of 5.
const IMPORTANT: f64 = 0.5;
/// Maximum number of memories of a space that are compared in one night although they are not recent.
const MAX_OTHERS: usize = 2_000;
/// Number of memories that are not recent and are looked at, for each pair that a scope may compare.
const LOOKS_PER_PAIR: usize = 4;
/// Maximum age of the memories they are compared with.
const OLD_DAYS: u32 = 90;

/// Two memories that may say the same, the one said earlier first.
struct Pair {
    scope: Scope,
    older: Memory,
    newer: Memory,
    similarity: Option<f64>,
}

/// What may still be compared in a scope.
#[derive(Debug, Clone, Copy, Default)]
struct ScopePairs {
    /// Number of pairs.
    left: usize,
    /// Number of memories that are not recent whose neighbours were searched.
    looked_at: usize,
}

impl Engine {
    pub(super) async fn dedup_step(&self, run: &MaintenanceRun<'_>) -> Result<StepReport> {
        let mut report = StepReport::new(MaintenanceStep::Dedup);
        if !self.config.bands.reconcile {
            return Ok(report);
        }
        for space in self.all_spaces(&run.caller.tenant).await? {
            let pairs = self.pairs(run, &space).await?;
            let decisions = self.judge(run, &pairs, &mut report).await?;
            let mut gone: Vec<MemoryId> = Vec::new();
            let mut actions: Vec<(Action, String)> = Vec::new();
            for (pair, decision) in pairs.iter().zip(decisions) {
                if !run.dry {
                    actions.push((self.fingerprint(run, pair), "compared".to_owned()));
                    actions.push((counted(run, pair), "counted".to_owned()));
                }
                // One that has just gone is compared no more.
                if gone.contains(&pair.older.id) || gone.contains(&pair.newer.id) {
                    continue;
                }
                let reason = decision.reason().to_owned();
                let (what, goes, action) = match &decision {
                    Decision::Skip { .. } => ("merge", &pair.newer, merged(&pair.older, &pair.newer)),
                    Decision::Supersede { .. } => ("replace", &pair.older, merged(&pair.newer, &pair.older)),
                    Decision::Add { contradicts, .. } if !contradicts.is_empty() => {
                        let edge = self.edge(pair.newer.id, pair.older.id, Relation::MayContradict, 1.0, run.at);
                        report.add_planned(
                            Some(pair.newer.id),
                            "link",
                            pair.newer.content.chars().take(80).collect(),
                            &reason,
                        );
                        actions.push((Action::Link(edge), reason));
                        continue;
                    }
                    Decision::Add { .. } | Decision::AddAsHistory { .. } => continue,
                };
                gone.push(goes.id);
                self.feature_cache.forget(pair.older.id);
                self.feature_cache.forget(pair.newer.id);
                report.add_planned(Some(goes.id), what, goes.content.chars().take(80).collect(), &reason);
                actions.push((action, reason));
            }
            if !run.dry {
                self.apply_run(run, &space, actions).await?;
            }
        }
        Ok(report)
    }

    /// The pairs of a space that are worth a look, a bounded number for each scope and day.
    async fn pairs(&self, run: &MaintenanceRun<'_>, space: &Space) -> Result<Vec<Pair>> {
        let most = self.config.learning.pairs_per_user_per_day as usize;
        let (whole, new) = (policy::visible_tenant(&run.caller.tenant), days_before(run.at, NEW_DAYS));
        let (mut pairs, mut scopes): (Vec<Pair>, BTreeMap<String, ScopePairs>) = (Vec::new(), BTreeMap::new());
        for chunk in self.compared(run, space).await?.chunks(MEMORIES_PER_READ) {
            let found = self.store.fetch(&whole, chunk).await?;
            let mut found: HashMap<MemoryId, Memory> = found.into_iter().map(|memory| (memory.id, memory)).collect();
            for memory in chunk.iter().filter_map(|id| found.remove(id)) {
                if memory.access_policy.writer_only() || crate::graph::is_part(&memory) {
                    continue;
                }
                let scope = memory.scope()?;
                let counted = match scopes.entry(scope.key()) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(self.scope_pairs(run, &scope, most).await?),
                };
                let recent = memory.created_at.max(memory.updated_at) >= new;
                if counted.left == 0 || !recent && counted.looked_at >= LOOKS_PER_PAIR * most {
                    continue;
                }
                counted.looked_at += usize::from(!recent);
                for pair in self.pairs_of(run, &scope, memory).await? {
                    let known = pairs.iter().any(|one| one.older.id == pair.older.id && one.newer.id == pair.newer.id);
                    if counted.left > 0 && !known {
                        counted.left -= 1;
                        pairs.push(pair);
                    }
                }
            }
        }
        Ok(pairs)
    }

    /// The memories of a space that are compared with their neighbours: what was added or changed lately, what matters and
    /// what is used most. The latest come first, then the others in an order that changes every day, so that each has its
    /// turn.
    async fn compared(&self, run: &MaintenanceRun<'_>, space: &Space) -> Result<Vec<MemoryId>> {
        let (whole, new) = (policy::visible_tenant(&run.caller.tenant), days_before(run.at, NEW_DAYS));
        let layers = &self.config.consolidation.target_layers;
        let (mut lately, mut others, mut after) = (Vec::new(), Vec::new(), 0);
        loop {
            let page = self.store.list_for_ageing(&whole, space, after, MEMORIES_PER_READ).await?;
            let here = page.iter().filter(|memory| {
                let lasting = self.kinds.spec(&Kind::stored(memory.kind.clone())).class != Class::Episodic;
                let layer = layers.is_empty() || layers.contains(&memory.layer);
                lasting && layer && memory.state.is_live() && !memory.superseded
            });
            for memory in here {
                match memory.created_at.max(memory.updated_at) >= new {
                    true => lately.push(memory.id),
                    false => others.push((memory.id, memory.importance, memory.access_count)),
                }
            }
            match page.last() {
                Some(last) if page.len() == MEMORIES_PER_READ => after = last.place,
                _ => break,
            }
        }
        let used = top_decile(others.iter().map(|(_, _, count)| *count).collect());
        others.retain(|(_, importance, count)| *importance >= IMPORTANT || used.is_some_and(|least| *count >= least));
        let day = &run.at.to_string()[..10];
        others.sort_by_cached_key(|(id, ..)| *blake3::hash(format!("{day} {id}").as_bytes()).as_bytes());
        lately.extend(others.into_iter().map(|(id, ..)| id).take(MAX_OTHERS));
        Ok(lately)
    }

    /// How many pairs of a scope may still be compared today; none if it has too few memories to consolidate.
    async fn scope_pairs(&self, run: &MaintenanceRun<'_>, scope: &Scope, most: usize) -> Result<ScopePairs> {
        let seen = policy::visible_for_maintenance(&run.caller.tenant, scope);
        let trigger = self.config.consolidation.max_memories_before_trigger;
        let filter = Filter { kinds: self.non_episodic_kinds(), ..Filter::at(run.at) };
        if trigger > 0 && self.store.count(&seen, &filter).await? <= trigger as u64 {
            return Ok(ScopePairs::default());
        }
        let notes = self.store.notes(&seen, &scope.space(), &[compared_key(run.at)], run.at).await?;
        let today = notes.iter().filter_map(|(_, count)| count.as_f64()).sum::<f64>() as usize;
        Ok(ScopePairs { left: most.saturating_sub(today), looked_at: 0 })
    }

    async fn pairs_of(&self, run: &MaintenanceRun<'_>, scope: &Scope, memory: Memory) -> Result<Vec<Pair>> {
        let seen = policy::visible_for_maintenance(&run.caller.tenant, scope);
        let model = self.model().map_or("", |model| &model.name);
        let vector: Option<Vector> =
            self.store.vectors(&seen, model, &[memory.id]).await?.pop().map(|(_, vector)| vector);
        let claim = self.claim_of(&memory);
        let came = memory.created_at;
        let mut addition = Addition { claim, vector, ..Addition::new(memory) };
        // What holds now is asked for, whenever it came.
        addition.memory.created_at = run.at;
        let known = self.neighbours(&seen, &addition, None).await?;
        let ids: Vec<MemoryId> = known.iter().map(|one| one.id).collect();
        let others = self.store.fetch(&seen, &ids).await?;
        let mut pairs = Vec::new();
        for other in others {
            let similarity = known.iter().find(|one| one.id == other.id).and_then(|one| one.similarity);
            let mut memory = addition.memory.clone();
            memory.created_at = came;
            let later = (other.when_said(), other.id) < (memory.when_said(), memory.id);
            let (older, newer) = if later { (other, memory) } else { (memory, other) };
            let pair = Pair { scope: scope.clone(), older, newer, similarity };
            if pair.older.created_at >= days_before(run.at, OLD_DAYS) && self.is_unseen(run, &pair).await? {
                pairs.push(pair);
            }
        }
        Ok(pairs)
    }

    async fn is_unseen(&self, run: &MaintenanceRun<'_>, pair: &Pair) -> Result<bool> {
        let seen = policy::visible_for_maintenance(&run.caller.tenant, &pair.scope);
        let keys = [key(pair), settled_key(pair.older.id, pair.newer.id)];
        Ok(self.store.notes(&seen, &pair.scope.space(), &keys, run.at).await?.is_empty())
    }

    fn fingerprint(&self, run: &MaintenanceRun<'_>, pair: &Pair) -> Action {
        let until = Some(days_after(run.at, i64::from(self.config.bands.fingerprint_days)));
        Action::Bookkeeping(Bookkeeping::Note {
            scope: Some(pair.scope.clone()),
            key: key(pair),
            value: NoteValue::Set(json!(true)),
            until,
        })
    }

    /// What becomes of each pair. A language model is asked only what rules left open.
    async fn judge(&self, run: &MaintenanceRun<'_>, pairs: &[Pair], report: &mut StepReport) -> Result<Vec<Decision>> {
        let mut decisions: Vec<Decision> = pairs.iter().map(|pair| self.by_rules(pair)).collect();
        let Some(llm) = self.llm_for(&run.caller.tenant).await?.filter(|_| !run.dry) else { return Ok(decisions) };
        let open = |place: &usize| matches!(decisions[*place], Decision::Add { .. });
        let open: Vec<usize> = (0..pairs.len()).filter(open).collect();
        let asked: Vec<(String, String)> = open
            .iter()
            .map(|place| {
                (crate::reported(&pairs[*place].older).into_owned(), crate::reported(&pairs[*place].newer).into_owned())
            })
            .collect();
        let before = llm.left().unwrap_or(0);
        let verdicts = llm.same_fact(&asked).await;
        self.record_spending(&run.caller.tenant, &llm, before).await?;
        let (mut vetoed, mut void) = (0, 0);
        for (place, verdict) in open.into_iter().zip(verdicts?.0) {
            let pair = &pairs[place];
            match verdict {
                Verdict::Contradicts { .. }
                    if may_replace(&statement(&pair.newer), &neighbour(&pair.older, pair.similarity)) =>
                {
                    let reason = "contradiction found by a language model".to_owned();
                    decisions[place] = Decision::Supersede { old: pair.older.id, contradicts: Vec::new(), reason };
                }
                // What says the same without a word more was found by rules; anything else would be lost.
                Verdict::Same { .. } | Verdict::Contradicts { .. } => vetoed += 1,
                Verdict::Void => void += 1,
                Verdict::Different | Verdict::Unanswered => {}
            }
        }
        if vetoed + void > 0 {
            let reason = format!("{vetoed} verdicts of the language model were vetoed, {void} were void");
            report.problem.get_or_insert(reason);
        }
        Ok(decisions)
    }

    fn by_rules(&self, pair: &Pair) -> Decision {
        let (older, newer) = (neighbour(&pair.older, pair.similarity), neighbour(&pair.newer, pair.similarity));
        // What is to be kept as it is stays, whichever came first.
        if older.as_is || newer.as_is {
            return Decision::Add { contradicts: Vec::new(), reason: "kept as it is".to_owned() };
        }
        reconcile(&statement(&pair.newer), &[older], &self.config.bands)
    }
}

/// One memory takes up another, with its tags and importance.
fn merged(stays: &Memory, goes: &Memory) -> Action {
    let mut tags = stays.tags.clone();
    tags.extend(goes.tags.iter().filter(|tag| !stays.tags.contains(tag)).cloned().collect::<Vec<_>>());
    let patch = Patch {
        tags: (tags != stays.tags).then_some(tags),
        importance: (goes.importance > stays.importance).then_some(goes.importance),
        pinned: (goes.pinned && !stays.pinned).then_some(true),
        ..Patch::default()
    };
    let into = Revision { id: stays.id, expect: None, patch, vector: None, jobs: Vec::new() };
    Action::Merge { into: Box::new(into), from: vec![goes.id] }
}

/// Counts a pair among those of its scope that were compared today.
fn counted(run: &MaintenanceRun<'_>, pair: &Pair) -> Action {
    Action::Bookkeeping(Bookkeeping::Note {
        scope: Some(pair.scope.clone()),
        key: compared_key(run.at),
        value: NoteValue::Add(1.0),
        until: Some(days_after(run.at, 2)),
    })
}

/// The key of the number of pairs that were compared on a day.
fn compared_key(at: Timestamp) -> String {
    format!("pairs {}", &at.to_string()[..10])
}

/// The least of the greatest tenth of these counts of uses. `None` if nothing was used.
fn top_decile(mut counts: Vec<u64>) -> Option<u64> {
    counts.retain(|count| *count > 0);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts.get(counts.len().div_ceil(10).saturating_sub(1)).copied()
}

/// The fingerprint of a pair: which two, and how alike, to two digits.
fn key(pair: &Pair) -> String {
    format!("pair {} {} {:.2}", pair.older.id, pair.newer.id, pair.similarity.unwrap_or(0.0))
}
