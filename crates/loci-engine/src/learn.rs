//! How does something new find its place among what is known?
//!
//! Everything that is learned goes this way, whether someone told it or a session was read: look
//! for what it may repeat or contradict, let [`reconcile`] decide, and make the changes that follow.

use jiff::Timestamp;
use loci_store::Page;
use loci_types::{
    Action, Addition, Batch, Class, Edge, EdgeId, Filter, JobKind, JobSpec, Memory, MemoryId, NewContent, NoteValue,
    Outcome, Patch, Receipt, Relation, Revision, Scope, State, Vector, Visible,
};
use serde_json::json;

use crate::engine::embed_job;
use crate::extract::claim::claim_of;
use crate::policy::{self, Caller};
use crate::reconcile::{Decision, Neighbour, Statement, reconcile};
use crate::remember::{Embed, receipt};
use crate::text::{embedding_text, normalise};
use crate::upkeep::fate::days_after;
use crate::{Engine, Result};

/// So many of the nearest are looked at.
const NEAREST: usize = 6;
/// So many of those about the same side of the same thing.
const CLAIMED: usize = 100;
/// Someone else may replace the same memory at the same moment; then it is looked at anew.
const TRIES: usize = 32;
/// So many memories that recall told a thread are remembered.
const TOLD: usize = 64;
/// For so many days.
const TOLD_DAYS: i64 = 7;

/// How far it is looked for what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Where someone waits.
    Quick,
    /// Where nobody does.
    Thorough,
}

impl Engine {
    /// Finds the place of one new memory and keeps it.
    pub(crate) async fn learn_one(
        &self,
        caller: &Caller,
        scope: Scope,
        mut addition: Addition,
        embed: Embed,
        reason: &str,
    ) -> Result<Receipt> {
        if embed == Embed::Now {
            addition.vector = self.embed_one(&embedding_text(&addition.memory)).await;
        }
        let embedded = addition.vector.is_some();
        if !embedded {
            addition.jobs.extend(self.embed_jobs(addition.memory.id, addition.memory.created_at));
        }
        let claim = claim_of(&addition.memory.content);
        let categories = self.settings_of(caller).await?.categories;
        let visible = policy::only(caller, &scope, categories);
        let thread = addition.memory.thread_id.clone();
        let told = self.told_before(&visible, &scope, thread.as_deref(), &addition.memory.content).await?;
        // What was told from a pool that the caller has left since counts no more.
        if let Some(told) = told
            && self.visible(caller, None).await?.admits(&told)
        {
            return Ok(unchanged(&told));
        }
        for attempt in 1.. {
            let known = self.neighbours(&visible, &addition, None, Reach::Quick).await?;
            // Whoever sees only some of them cannot tell what else there is.
            let single = claim.as_ref().is_some_and(|claim| claim.single) && circle(&addition.memory).is_none();
            let whole = single && visible.categories().is_none() && known.len() < CLAIMED;
            addition.seen = whole.then(|| known.iter().map(|one| one.id).collect());
            let memory = &addition.memory;
            let statement = statement(memory, claim.as_ref(), memory.kind.name() == "correction");
            let decision = reconcile(&statement, &known, &self.config.bands);
            if let Decision::Skip { of, .. } = &decision {
                let known = self.one(&visible, *of).await?;
                return Ok(unchanged(&known));
            }
            let reason = if matches!(decision, Decision::Add { .. }) { reason } else { decision.reason() };
            let mut actions = self.actions(&visible, &decision, addition.clone()).await?;
            actions.extend(self.relations(&addition, &known, &decision));
            let changes = actions.into_iter().map(|action| {
                let mut change = self.change(caller, "hotpath", reason, action);
                change.provenance.thread.clone_from(&thread);
                change
            });
            let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes: changes.collect() };
            match self.store.apply(batch).await {
                Ok(applied) => {
                    // A merge is two changes; what the caller asked for ends with the second.
                    let place = usize::from(matches!(decision, Decision::Merge { .. }));
                    self.shelf_forgets(&decision);
                    return receipt(applied.get(place), embedded, false);
                }
                // Someone else has replaced or changed what this was about.
                Err(
                    loci_store::Error::Refused(_) | loci_store::Error::NotFound(_) | loci_store::Error::Conflict { .. },
                ) if attempt < TRIES && !matches!(decision, Decision::Add { .. }) => {}
                Err(loci_store::Error::Overtaken(_)) if attempt < TRIES => {}
                Err(error) => return Err(error.into()),
            }
        }
        unreachable!("the last try returns")
    }

    /// What is known and may be about the same: by what it claims, by its vector, and without one
    /// perhaps by its words.
    pub(crate) async fn neighbours(
        &self,
        visible: &Visible,
        addition: &Addition,
        except: Option<MemoryId>,
        reach: Reach,
    ) -> Result<Vec<Neighbour>> {
        let memory = &addition.memory;
        let filter = Filter { kinds: self.told_kinds(), ..Filter::at(memory.created_at) };
        let near = match &addition.vector {
            Some(vector) => match self.store.nearest(visible, vector, &filter, NEAREST).await {
                Ok(near) => Some(near),
                // A write does not fail because an index is away; it only knows less of its neighbours.
                Err(loci_store::Error::Unavailable { part, .. }) if part != "postgres" => None,
                Err(error) => return Err(error.into()),
            },
            None => None,
        };
        let mut found: Vec<(MemoryId, Option<f64>)> = match near {
            Some(near) => near.into_iter().map(|hit| (hit.id, Some(hit.score))).collect(),
            // Looking by words costs more than a write should; what is said again in other words is
            // found when a session is learned from, and in the night.
            None if reach == Reach::Quick => Vec::new(),
            None => {
                let near = self.store.lexical(visible, &memory.content, &filter, NEAREST).await?;
                near.into_iter().map(|hit| (hit.id, None)).collect()
            }
        };
        found.retain(|(id, similarity)| {
            Some(*id) != except && *id != memory.id && similarity.is_none_or(|cosine| cosine >= self.config.bands.later)
        });
        let mut memories: Vec<Memory> = Vec::new();
        if let Some(twin) = addition.unless {
            let page = Page { after: None, limit: 1 };
            memories = self.store.scan(visible, &Filter { twin: Some(twin), ..filter.clone() }, page).await?.memories;
        }
        if let Some(claim) = addition.claim {
            let page = Page { after: None, limit: CLAIMED };
            let same = self.store.scan(visible, &Filter { claim: Some(claim), ..filter }, page).await?.memories;
            let unknown: Vec<Memory> =
                same.into_iter().filter(|one| memories.iter().all(|known| known.id != one.id)).collect();
            memories.extend(unknown);
        }
        memories.retain(|known| Some(known.id) != except && known.id != memory.id);
        let missing: Vec<MemoryId> =
            found.iter().map(|(id, _)| *id).filter(|id| memories.iter().all(|known| known.id != *id)).collect();
        memories.extend(self.store.fetch(visible, &missing).await?);
        // What only its writer sees meets nothing that others see, or it would be told to them.
        // What stands in a graph is kept as it is.
        memories.retain(|known| circle(known) == circle(memory) && !crate::graph::is_part(known));
        let similarity = |id: MemoryId| found.iter().find(|(found, _)| *found == id).and_then(|(_, cosine)| *cosine);
        Ok(memories.iter().map(|known| neighbour(known, similarity(known.id))).collect())
    }

    /// The kinds that say what is so; turns only say what happened.
    pub(crate) fn told_kinds(&self) -> Vec<String> {
        self.kinds.iter().filter(|spec| spec.class != Class::Episodic).map(|spec| spec.name.clone()).collect()
    }

    /// The changes that a decision means. The first one writes the new memory.
    pub(crate) async fn actions(
        &self,
        visible: &Visible,
        decision: &Decision,
        mut addition: Addition,
    ) -> Result<Vec<Action>> {
        Ok(match decision {
            Decision::Skip { .. } => Vec::new(),
            Decision::Add { .. } => vec![Action::Add(Box::new(addition))],
            Decision::Before { until, .. } => {
                addition.memory.valid_until = addition.memory.valid_until.or(Some(*until));
                vec![Action::Add(Box::new(addition))]
            }
            Decision::Merge { into, .. } => {
                let known = self.one(visible, *into).await?;
                merged(&known, addition)
            }
            Decision::Supersede { old, .. } => {
                let known = self.one(visible, *old).await?;
                addition.memory.category = addition.memory.category.or_else(|| known.category.clone());
                let length = self.chain(visible, &known).await?.len() + 1;
                let distil = (length > self.config.lifecycle.distil_above)
                    .then(|| Action::Enqueue(distil_job(addition.memory.id, addition.memory.created_at)));
                let replace = Action::Supersede { old: *old, new: Box::new(addition) };
                std::iter::once(replace).chain(distil).collect()
            }
        })
    }

    /// Links to the nearest, as far as they are near enough and stay.
    pub(crate) fn relations(&self, addition: &Addition, known: &[Neighbour], decision: &Decision) -> Vec<Action> {
        if !matches!(decision, Decision::Add { .. } | Decision::Supersede { .. }) {
            return Vec::new();
        }
        let bands = &self.config.bands;
        let replaced = |id: MemoryId| matches!(decision, Decision::Supersede { old, .. } if *old == id);
        let mut near: Vec<(f64, MemoryId)> = known
            .iter()
            .filter(|one| !replaced(one.id))
            .filter_map(|one| one.similarity.filter(|cosine| *cosine >= bands.link).map(|cosine| (cosine, one.id)))
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let at = addition.memory.created_at;
        let link = |(strength, target): (f64, MemoryId)| {
            Action::Link(self.edge(addition.memory.id, target, Relation::RelatedTo, strength.min(1.0), at))
        };
        near.into_iter().take(bands.links).map(link).collect()
    }

    /// An edge that holds from now on.
    pub(crate) fn edge(
        &self,
        source: MemoryId,
        target: MemoryId,
        relation: Relation,
        strength: f64,
        at: Timestamp,
    ) -> Edge {
        Edge {
            id: EdgeId(self.new_id(at).0),
            source_id: source,
            target_id: target,
            relation,
            predicate: None,
            strength,
            confidence: 1.0,
            valid_from: at,
            valid_until: None,
            evidence: Vec::new(),
            created_at: at,
        }
    }

    /// The memory that recall told this thread and that the text only repeats.
    pub(crate) async fn told_before(
        &self,
        visible: &Visible,
        scope: &Scope,
        thread: Option<&str>,
        text: &str,
    ) -> Result<Option<Memory>> {
        let Some(thread) = thread else { return Ok(None) };
        let told = self.told(visible, scope, thread).await?;
        Ok(told.into_iter().find(|memory| repeats(text, &memory.content)))
    }

    /// What recall has told a thread lately.
    pub(crate) async fn told(&self, visible: &Visible, scope: &Scope, thread: &str) -> Result<Vec<Memory>> {
        let notes = self.store.notes(visible, &scope.space(), &[told_key(thread)], self.now()).await?;
        let ids =
            notes.into_iter().flat_map(|(_, ids)| serde_json::from_value::<Vec<MemoryId>>(ids).unwrap_or_default());
        let ids: Vec<MemoryId> = ids.collect();
        // They were told to this very thread, from whatever layer; here they are only compared.
        let mut told = self.store.fetch(&policy::whole(visible.tenant()), &ids).await?;
        // What was forgotten or replaced since may be said anew.
        told.retain(|memory| memory.state.is_live() && memory.superseded_by_id.is_none());
        Ok(told)
    }

    /// Notes what recall tells a thread, for as long as that may be repeated.
    pub(crate) async fn note_told(&self, caller: &Caller, thread: &str, told: Vec<MemoryId>) -> Result<()> {
        let scope = self.target(caller, None).await?;
        if told.is_empty() {
            return Ok(());
        }
        let visible = policy::only(caller, &scope, None);
        let before = self.store.notes(&visible, &scope.space(), &[told_key(thread)], self.now()).await?;
        let mut ids: Vec<MemoryId> = before
            .into_iter()
            .flat_map(|(_, ids)| serde_json::from_value::<Vec<MemoryId>>(ids).unwrap_or_default())
            .collect();
        ids.retain(|id| !told.contains(id));
        ids.extend(told);
        let ids = ids.split_off(ids.len().saturating_sub(TOLD));
        let until = Some(days_after(self.now(), TOLD_DAYS));
        let (space, value) = (scope.space(), NoteValue::Set(json!(ids)));
        let note = Action::Note { scope: Some(scope), key: told_key(thread), value, until };
        let change = self.change(caller, "context", "told", note);
        self.touch_behind(caller.tenant.clone(), space, change).await;
        Ok(())
    }

    pub(crate) fn shelf_forgets(&self, decision: &Decision) {
        if let Decision::Merge { into: id, .. } | Decision::Supersede { old: id, .. } = decision {
            self.shelf.forget(*id);
        }
    }
}

/// Whether a text says no more than what recall told, word for word.
pub(crate) fn repeats(text: &str, told: &str) -> bool {
    let (text, told) = (normalise(text), normalise(told));
    !told.is_empty() && (text == told || (text.contains(&told) && text.len() < told.len() + 40))
}

/// The name of the note of what recall told a thread.
pub(crate) fn told_key(thread: &str) -> String {
    format!("told {thread}")
}

/// A new memory as it meets what is known.
pub(crate) fn statement<'a>(
    memory: &'a Memory,
    claim: Option<&'a crate::extract::Claim>,
    corrects: bool,
) -> Statement<'a> {
    Statement {
        content: &memory.content,
        hash: memory.content_hash,
        claim,
        corrects,
        since: since(memory),
        until: memory.valid_until,
        now: memory.created_at,
    }
}

/// A known memory as something new meets it.
pub(crate) fn neighbour(memory: &Memory, similarity: Option<f64>) -> Neighbour {
    Neighbour {
        id: memory.id,
        content: memory.content.clone(),
        hash: memory.content_hash,
        claim: claim_of(&memory.content),
        similarity,
        since: since(memory),
        confirmed: memory.pinned || memory.decay_rate == 0.0,
    }
}

fn since(memory: &Memory) -> Timestamp {
    memory.valid_from.or(memory.event_time).unwrap_or(memory.created_at)
}

/// The known one takes the new words; both are kept, and the merge can be undone.
fn merged(known: &Memory, mut addition: Addition) -> Vec<Action> {
    // It is replaced at once, so that it stands in nobody's way.
    let unless = addition.unless.take();
    let memory = &addition.memory;
    let content = NewContent {
        text: memory.content.clone(),
        hash: memory.content_hash,
        unless,
        claim: addition.claim,
        tokens: memory.tokens,
    };
    let mut tags = known.tags.clone();
    tags.extend(memory.tags.iter().filter(|tag| !known.tags.contains(tag)).cloned().collect::<Vec<_>>());
    let patch = Patch {
        content: Some(content),
        tags: (tags != known.tags).then_some(tags),
        importance: (memory.importance > known.importance).then_some(memory.importance),
        confidence: (memory.confidence > known.confidence).then_some(memory.confidence),
        ..Patch::default()
    };
    let from = vec![memory.id];
    let vector: Option<Vector> = addition.vector.take();
    // Where nobody waits for the vector of what is new, nobody waits for that of both.
    let waits = vector.is_none() && !addition.jobs.is_empty();
    let jobs = if waits { vec![embed_job(known.id, memory.created_at)] } else { Vec::new() };
    addition.jobs.clear();
    let revision = Revision { id: known.id, expect: Some(known.version), patch, vector, jobs };
    vec![Action::Add(Box::new(addition)), Action::Merge { into: Box::new(revision), from }]
}

/// Who may see a memory within its scope: everyone, or its writer.
fn circle(memory: &Memory) -> Option<&str> {
    let writer = || memory.actor_id.as_deref().or(memory.identifiers.user_id.as_deref()).unwrap_or_default();
    memory.access_policy.writer_only().then(writer)
}

fn distil_job(head: MemoryId, at: Timestamp) -> JobSpec {
    JobSpec {
        kind: JobKind::Distil,
        payload: json!({ "memory": head }),
        unique: Some(format!("distil {head}")),
        run_after: at,
    }
}

/// Nothing was written: it is known.
fn unchanged(memory: &Memory) -> Receipt {
    debug_assert_ne!(memory.state, State::SoftDeleted);
    Receipt {
        id: memory.id,
        event: Outcome::None,
        version: memory.version,
        embedding_generated: false,
        embedding_regenerated: false,
        redacted: Vec::new(),
        durability: loci_types::Durability::Durable,
    }
}
