//! Reconciles a new memory with known ones and writes the result.
//!
//! Everything that is learned takes this path, from callers and from sessions: find known statements that it may
//! repeat or contradict, let [`reconcile`] decide, and make the changes that follow.

use jiff::Timestamp;
use loci_store::Page;
use loci_types::{
    Action, Addition, Batch, Bookkeeping, Class, Durability, Edge, EdgeId, Filter, JobKind, JobSpec, Memory, MemoryId,
    NoteValue, Outcome, Receipt, Relation, Scope, State, Visible,
};
use serde_json::{Value, json};

use crate::access::policy::{self, Caller};
use crate::learn::extract::SpeakerIdentity;
use crate::lifecycle::rules::state::days_after;
use crate::text::normalise;
use crate::write::reconcile::{AnalysedText, Decision, KnownStatement, Statement, reconcile};
use crate::write::remember::receipt;
use crate::{Engine, Result};

/// Maximum number of nearest memories that are compared with a new one.
const NEAREST: usize = 6;
/// Maximum number of memories about the same attribute of the same subject that are compared with a new one.
const CLAIMED: usize = 100;
/// Maximum number of attempts, when another writer replaces the same memory.
const MAX_ATTEMPTS: usize = 32;
/// Maximum number of memories that are recorded as returned to a thread, so that they are not learned from it again.
const RETURNED: usize = 64;
/// Days for which they are recorded.
const RETURNED_DAYS: i64 = 7;

/// The metadata field of a memory that is stored without reconciliation.
pub(crate) const AS_IS: &str = "asIs";
/// The metadata field of a quotation with the text that it answers.
pub(crate) const CONTEXT: &str = "context";

impl Engine {
    /// Reconciles one new memory and writes it.
    pub(crate) async fn reconcile_and_write(
        &self,
        caller: &Caller,
        scope: Scope,
        visible: Visible,
        mut addition: Addition,
        reason: &str,
    ) -> Result<Receipt> {
        let embedded = addition.vector.is_some();
        let thread = addition.memory.thread_id.clone();
        let returned = self.already_returned(&visible, &scope, thread.as_deref(), &addition.memory.content).await?;
        // What was returned from a pool that the caller has left since counts no more.
        if let Some(returned) = returned
            && self.visible_by_id(caller).await?.admits(&returned)
        {
            return Ok(unchanged(&returned));
        }
        let statement = statement(&addition.memory);
        let single =
            statement.reading.claim().is_some_and(|claim| claim.single) && visibility_group(&addition.memory).is_none();
        for attempt in 1.. {
            let known = self.neighbours(&visible, &addition, None).await?;
            // A caller who sees only some of them must not learn what else exists.
            let whole = single && !visible.is_partial() && known.len() < CLAIMED;
            addition.seen = whole.then(|| known.iter().map(|one| one.id).collect());
            let decision = reconcile(&statement, &known, &self.config.bands);
            if let Decision::Skip { of, .. } = &decision {
                let known = self.one(&visible, *of).await?;
                return Ok(unchanged(&known));
            }
            let reason = if matches!(decision, Decision::Add { .. }) { reason } else { decision.reason() };
            let mut actions = self.actions(&visible, &decision, addition.clone()).await?;
            actions.extend(self.relations(&addition, &known, &decision));
            let replaced = match &decision {
                Decision::Supersede { old, .. } => Some(*old),
                _ => None,
            };
            actions.extend(self.mentions_of(&visible, &scope, &addition, replaced).await?);
            let changes = actions.into_iter().map(|action| {
                let mut change = self.change(caller, "hotpath", reason, action);
                change.provenance.thread.clone_from(&thread);
                change
            });
            let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes: changes.collect() };
            match self.apply(batch).await {
                Ok(applied) => {
                    self.forget_features(&decision);
                    return receipt(applied.first(), embedded, false);
                }
                // Someone else has replaced or changed what this was about.
                Err(
                    loci_store::Error::Refused(_) | loci_store::Error::NotFound(_) | loci_store::Error::Conflict { .. },
                ) if attempt < MAX_ATTEMPTS && !matches!(decision, Decision::Add { .. }) => {}
                Err(loci_store::Error::Overtaken(_)) if attempt < MAX_ATTEMPTS => {}
                Err(error) => return Err(error.into()),
            }
        }
        unreachable!("the last try returns")
    }

    /// Finds known memories that may be about the same: by claim, by vector, and without a vector by words.
    pub(crate) async fn neighbours(
        &self,
        visible: &Visible,
        addition: &Addition,
        except: Option<MemoryId>,
    ) -> Result<Vec<KnownStatement>> {
        let memory = &addition.memory;
        let filter = Filter { kinds: self.non_episodic_kinds(), ..Filter::at(memory.created_at) };
        let near = match &addition.vector {
            Some(vector) => match self.store.nearest(visible, vector, &filter, NEAREST).await {
                Ok(near) => Some(near),
                // A write does not fail because an index is away; it only knows less of its neighbours.
                Err(error) if error.is_of_index() => None,
                Err(error) => return Err(error.into()),
            },
            None => None,
        };
        let mut found: Vec<(MemoryId, Option<f64>)> = match near {
            Some(near) => near.into_iter().map(|hit| (hit.id, Some(hit.score))).collect(),
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
        // A private memory is not compared with shared ones: the result would reveal it.
        // What stands in a graph is kept as it is.
        memories.retain(|known| visibility_group(known) == visibility_group(memory) && !crate::graph::is_part(known));
        let similarity = |id: MemoryId| found.iter().find(|(found, _)| *found == id).and_then(|(_, cosine)| *cosine);
        Ok(memories.iter().map(|known| neighbour(known, similarity(known.id))).collect())
    }

    /// The kinds of statements, as opposed to events.
    pub(crate) fn non_episodic_kinds(&self) -> Vec<String> {
        self.kinds.iter().filter(|spec| spec.class != Class::Episodic).map(|spec| spec.name.clone()).collect()
    }

    /// The changes that carry out a decision. The first one writes the new memory.
    pub(crate) async fn actions(
        &self,
        visible: &Visible,
        decision: &Decision,
        mut addition: Addition,
    ) -> Result<Vec<Action>> {
        Ok(match decision {
            Decision::Skip { .. } => Vec::new(),
            Decision::Add { .. } => vec![Action::Add(Box::new(addition))],
            Decision::AddAsHistory { until, .. } => {
                addition.memory.valid_until = addition.memory.valid_until.or(Some(*until));
                vec![Action::Add(Box::new(addition))]
            }
            Decision::Supersede { old, .. } => {
                let known = self.one(visible, *old).await?;
                let memory = &mut addition.memory;
                memory.category = memory.category.take().or_else(|| known.category.clone());
                memory.pinned |= known.pinned;
                let length = self.chain(visible, &known).await?.len() + 1;
                let distil = (length > self.config.lifecycle.distil_above).then(|| {
                    Action::Bookkeeping(Bookkeeping::Enqueue(distil_job(
                        addition.memory.id,
                        addition.memory.created_at,
                    )))
                });
                let replace = Action::Supersede { old: *old, new: Box::new(addition) };
                std::iter::once(replace).chain(distil).collect()
            }
        })
    }

    /// Links to statements that it may contradict, and to the nearest memories that are near enough and stay.
    pub(crate) fn relations(&self, addition: &Addition, known: &[KnownStatement], decision: &Decision) -> Vec<Action> {
        if !matches!(decision, Decision::Add { .. } | Decision::Supersede { .. }) {
            return Vec::new();
        }
        let (bands, memory) = (&self.config.bands, &addition.memory);
        let replaced = |id: MemoryId| matches!(decision, Decision::Supersede { old, .. } if *old == id);
        let mut near: Vec<(f64, MemoryId)> = known
            .iter()
            .filter(|one| !replaced(one.id))
            .filter_map(|one| one.similarity.filter(|cosine| *cosine >= bands.link).map(|cosine| (cosine, one.id)))
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let link = |source, target, relation, strength| {
            Action::Link(self.edge(source, target, relation, strength, memory.created_at))
        };
        let related = near.into_iter().take(bands.links);
        let mut links: Vec<Action> =
            related.map(|(strength, target)| link(memory.id, target, Relation::RelatedTo, strength.min(1.0))).collect();
        for id in decision.contradicts() {
            let earlier = known.iter().find(|one| one.id == *id).is_none_or(|one| one.said_at <= memory.when_said());
            let (later, earlier) = if earlier { (memory.id, *id) } else { (*id, memory.id) };
            links.push(link(later, earlier, Relation::MayContradict, 1.0));
        }
        links
    }

    /// An edge that is valid from now on.
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

    /// The memory that recall returned to this thread and that the text only repeats.
    pub(crate) async fn already_returned(
        &self,
        visible: &Visible,
        scope: &Scope,
        thread: Option<&str>,
        text: &str,
    ) -> Result<Option<Memory>> {
        let Some(thread) = thread else { return Ok(None) };
        let returned = self.returned(visible, scope, thread).await?;
        Ok(returned.into_iter().find(|memory| repeats(text, &memory.content)))
    }

    /// The memories that recall returned to a thread recently.
    pub(crate) async fn returned(&self, visible: &Visible, scope: &Scope, thread: &str) -> Result<Vec<Memory>> {
        let notes = self.store.notes(visible, &scope.space(), &[returned_key(thread)], self.now()).await?;
        let ids =
            notes.into_iter().flat_map(|(_, ids)| serde_json::from_value::<Vec<MemoryId>>(ids).unwrap_or_default());
        let ids: Vec<MemoryId> = ids.collect();
        // They were returned to this very thread, from whatever layer; here they are only compared.
        let mut returned = self.store.fetch(&policy::visible_tenant(visible.tenant()), &ids).await?;
        // What was forgotten or replaced since may be said anew.
        returned.retain(|memory| memory.state.is_live() && memory.superseded_by_id.is_none());
        Ok(returned)
    }

    /// Records what recall returned to a thread, for as long as it may be repeated.
    pub(crate) async fn note_returned(&self, caller: &Caller, thread: &str, returned: Vec<MemoryId>) -> Result<()> {
        let scope = self.target(caller, None).await?;
        if returned.is_empty() {
            return Ok(());
        }
        let visible = policy::visible_scope(caller, &scope, None);
        let before = self.store.notes(&visible, &scope.space(), &[returned_key(thread)], self.now()).await?;
        let mut ids: Vec<MemoryId> = before
            .into_iter()
            .flat_map(|(_, ids)| serde_json::from_value::<Vec<MemoryId>>(ids).unwrap_or_default())
            .collect();
        ids.retain(|id| !returned.contains(id));
        ids.extend(returned);
        let ids = ids.split_off(ids.len().saturating_sub(RETURNED));
        let until = Some(days_after(self.now(), RETURNED_DAYS));
        let (space, value) = (scope.space(), NoteValue::Set(json!(ids)));
        let note =
            Action::Bookkeeping(Bookkeeping::Note { scope: Some(scope), key: returned_key(thread), value, until });
        let change = self.change(caller, "context", "returned", note);
        self.record_access_in_background(caller.tenant.clone(), space, change).await;
        Ok(())
    }

    pub(crate) fn forget_features(&self, decision: &Decision) {
        if let Decision::Supersede { old, .. } = decision {
            self.feature_cache.forget(*old);
        }
    }
}

/// Whether a text has the same words as a returned memory. A text with more words is learned.
pub(crate) fn repeats(text: &str, returned: &str) -> bool {
    let returned = normalise(returned);
    !returned.is_empty() && normalise(text) == returned
}

/// The key of the note with what recall returned to a thread. It is stored data, so its form is fixed.
pub(crate) fn returned_key(thread: &str) -> String {
    format!("told {thread}")
}

/// Analyses the text of a memory.
pub(crate) fn analyse(memory: &Memory) -> AnalysedText {
    let voice = SpeakerIdentity::of(memory.actor_id.as_deref(), memory.identifiers.user_id.as_deref());
    let context = memory.metadata.get(CONTEXT).and_then(Value::as_str);
    AnalysedText::of(&memory.content, context, &voice)
}

/// A new memory as a statement.
pub(crate) fn statement(memory: &Memory) -> Statement {
    Statement {
        hash: memory.content_hash,
        reading: analyse(memory),
        said_at: memory.when_said(),
        copied: crate::sharing::pool_sync::is_copy(memory),
        confirmed: is_confirmed(memory),
    }
}

/// A known memory as a statement.
pub(crate) fn neighbour(memory: &Memory, similarity: Option<f64>) -> KnownStatement {
    KnownStatement {
        id: memory.id,
        hash: memory.content_hash,
        reading: analyse(memory),
        similarity,
        said_at: memory.when_said(),
        confirmed: is_confirmed(memory),
        as_is: memory.metadata.get(AS_IS) == Some(&Value::Bool(true)),
        copied: crate::sharing::pool_sync::is_copy(memory),
    }
}

fn is_confirmed(memory: &Memory) -> bool {
    memory.pinned || memory.decay_rate == 0.0
}

/// Who may see a memory within its scope: everyone (`None`), or only its writer.
fn visibility_group(memory: &Memory) -> Option<&str> {
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

/// The receipt if nothing was written because the memory is known.
fn unchanged(memory: &Memory) -> Receipt {
    debug_assert_ne!(memory.state, State::SoftDeleted);
    Receipt {
        id: memory.id,
        event: Outcome::None,
        version: memory.version,
        embedding_generated: false,
        embedding_regenerated: false,
        redacted: Vec::new(),
        durability: Durability::Durable,
    }
}
