//! Consolidation: learns memories from the turns of a session.
//!
//! Turns are read once. Rules select sentences, which are kept as quotations or rewritten by a language model if
//! there is one. Each is reconciled with known memories. **Invariant:** all changes and the mark of the last turn
//! that was read are one transaction; a crash leaves nothing behind, and of two processes that do the same work one
//! is refused. Statements above the daily cap wait for the next day.

use std::collections::{BTreeMap, HashMap};

use jiff::{Timestamp, ToSpan};
use loci_store::{EntityFilter, EntityQuery};
use loci_types::{
    Action, Addition, Batch, Bookkeeping, Change, EntityId, JobKind, JobSpec, Memory, MemoryId, NoteValue, Provenance,
    Relation, Scope, Session, SessionFilter, Source, Tenant, Vector, Visible,
};
use serde::Serialize;
use serde_json::{Map, json};

use crate::access::policy::{self, Caller};
use crate::learn::consent::{ConsentOutcome, PendingProposal};
use crate::learn::entity::EntityRegister;
use crate::learn::extract::{Extraction, ExtractionContext, LearningCandidate, Mention, Speaker, Utterance, extract};
use crate::learn::session::unknown_session;
use crate::lifecycle::rules::ageing::days_after;
use crate::prompt::render::{DATES, SAID, as_name};
use crate::write::reconcile::write::{CONTEXT, neighbour, repeats, statement};
use crate::write::reconcile::{Decision, KnownStatement, claim_key, reconcile};
use crate::{Engine, NewMemory, Result};

/// Number of turns that are read and committed together.
const TURNS_PER_COMMIT: usize = 200;
/// The same with a language model: smaller, so that a retry repeats few calls.
const TURNS_WITH_MODEL: usize = 20;
/// Maximum number of entities of a scope that are loaded.
const ENTITIES: usize = 2_000;

/// The source type of learned memories.
pub(crate) const LEARNED: &str = "consolidation";

/// Whether a memory was learned from a conversation.
pub(crate) fn is_learned(memory: &Memory) -> bool {
    memory.source.as_ref().is_some_and(|source| source.kind == LEARNED)
}

/// The result of a consolidation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConsolidationReport {
    /// Number of turns that were read.
    pub turns: usize,
    /// Number of sentences that were selected.
    pub candidates: usize,
    /// Number of new memories.
    pub added: usize,
    /// Number of replaced memories.
    pub superseded: usize,
    /// Number of sentences that add nothing to known memories.
    pub skipped: usize,
    /// Number of sentences that wait for consent.
    pub proposed: usize,
    /// Number of memories that were linked because they may contradict each other.
    pub linked: usize,
    /// Number of entities that are new or have new names.
    pub entities: usize,
    /// Number of refused statements of a language model, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, usize>,
    /// Requests to remember something for which no content was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// Until when the remaining turns wait, because the daily cap is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_until: Option<Timestamp>,
}

/// One round of consolidation, as it is built up.
struct ConsolidationRun<'a> {
    tenant: &'a Tenant,
    session: &'a Session,
    visible: Visible,
    at: Timestamp,
    /// What recall returned to the thread.
    returned: Vec<Memory>,
    entities: EntityRegister,
    /// The statements added by this round, with which later ones are compared as well.
    fresh: Vec<(KnownStatement, Option<Vector>)>,
    /// The proposals of this round.
    pending: Vec<PendingProposal>,
    changes: Vec<Change>,
    report: ConsolidationReport,
}

impl Engine {
    /// Learns from a session, from the first turn that was not read yet. Idempotent.
    pub async fn consolidate(&self, caller: &Caller, scope: &Scope, session: &str) -> Result<ConsolidationReport> {
        policy::require_operator(caller, "learns from sessions")?;
        let visible = policy::visible_for_maintenance(&caller.tenant, scope);
        let mut report = ConsolidationReport::default();
        loop {
            let filter = SessionFilter { session_id: Some(session.to_owned()), ..SessionFilter::default() };
            let Some(found) = self.store.sessions(&visible, &filter, 1).await?.pop() else { return Ok(report) };
            let most = if self.llm.is_some() { TURNS_WITH_MODEL } else { TURNS_PER_COMMIT };
            let turns = self.store.pending_turns(&visible, scope, session, most).await?;
            if turns.is_empty() {
                self.promote(&caller.tenant, &found).await?;
                return Ok(report);
            }
            match self.lesson(&caller.tenant, &found, &turns).await {
                Ok(more) => {
                    report.take(more);
                    if report.waits_until.is_some() {
                        return Ok(report);
                    }
                }
                // Another process was faster: the remaining turns are read again.
                Err(crate::Error::Store(loci_store::Error::Overtaken(_))) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Resets a session so that it is learned from again, from its first turn, after rules or a model have improved.
    /// Known statements are not added twice.
    pub async fn learn_again(&self, caller: &Caller, name: &str) -> Result<()> {
        policy::require_writer(caller)?;
        let filter = SessionFilter { session_id: Some(name.to_owned()), ..SessionFilter::default() };
        let found = self.sessions(caller, filter).await?;
        if found.is_empty() {
            return Err(unknown_session(name).into());
        }
        for session in found {
            let (scope, at) = (session.scope.clone(), self.now());
            let actions = [
                Action::Bookkeeping(Bookkeeping::Unlearn { scope: scope.clone(), session: name.to_owned() }),
                Action::Bookkeeping(Bookkeeping::Enqueue(crate::learn::session::consolidate_job(&scope, name, at))),
            ];
            let changes =
                actions.into_iter().map(|action| self.change(caller, "operator", "learned from again", action));
            let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes: changes.collect() };
            self.store.apply(batch).await?;
        }
        Ok(())
    }

    async fn lesson(&self, tenant: &Tenant, session: &Session, turns: &[Memory]) -> Result<ConsolidationReport> {
        let at = self.now();
        let visible = policy::visible_for_maintenance(tenant, &session.scope);
        let known = self.store.entities(&visible, &EntityQuery::Known(EntityFilter::default()), ENTITIES).await?;
        let returned = self.returned(&visible, &session.scope, &session.thread_id).await?;
        let mut report = ConsolidationReport::default();
        let entities = EntityRegister::new(known);
        let (mut found, read) = self.candidates(tenant, session, turns, &entities, &mut report).await?;
        keep_few(&mut found.candidates, self.config.learning.writes_per_turn);
        let left = self.left_today(&visible, &session.scope, at).await?;
        let most = self.config.learning.writes_per_user_per_day as usize;
        let learned = within_cap(&mut found.candidates, &turns[..read], left, most);
        if learned < read {
            report.waits_until = Some(next_day(at));
        }
        let turns = &turns[..learned];
        let is_read = |id: MemoryId| turns.iter().any(|turn| turn.id == id);
        found.missed.retain(|missed| is_read(missed.turn));
        found.mentions.retain(|(turn, _)| is_read(*turn));
        self.withhold_names(&mut found);
        report.turns = turns.len();
        report.candidates = found.candidates.len();
        report.missed = found.missed.into_iter().map(|missed| missed.request).collect();
        let Some(last) = turns.last() else {
            return Ok(ConsolidationReport { waits_until: Some(next_day(at)), ..report });
        };
        let mut lesson = ConsolidationRun {
            tenant,
            session,
            visible,
            at,
            returned,
            entities,
            fresh: Vec::new(),
            pending: Vec::new(),
            changes: Vec::new(),
            report,
        };
        let mentions: HashMap<MemoryId, Vec<Mention>> = found.mentions.into_iter().collect();
        let named = self.mention_turns(&mut lesson, &mentions);
        let additions = self.drafts(&lesson, &found.candidates).await?;
        for (candidate, addition) in found.candidates.iter().zip(additions) {
            self.place(&mut lesson, candidate, addition, &named).await?;
        }
        self.finish(&mut lesson, last);
        let changes = std::mem::take(&mut lesson.changes);
        self.store.apply(Batch { tenant: tenant.clone(), space: session.scope.space(), changes }).await?;
        Ok(lesson.report)
    }

    /// Extracts candidates from these turns. Returns also how many turns were read: all, unless the tokens of a
    /// language model run out.
    async fn candidates(
        &self,
        tenant: &Tenant,
        session: &Session,
        turns: &[Memory],
        entities: &EntityRegister,
        report: &mut ConsolidationReport,
    ) -> Result<(Extraction, usize)> {
        let names: Vec<Option<String>> = turns.iter().map(|turn| turn.actor_id.as_deref().and_then(as_name)).collect();
        let utterances: Vec<Utterance<'_>> =
            turns.iter().zip(&names).map(|(turn, name)| utterance(turn, name.as_deref())).collect();
        let owner = session.scope.identifiers().user_id;
        let surroundings = ExtractionContext { time_zone: self.time_zone.clone(), known: entities.names(), owner };
        let mut found = extract(&utterances, &surroundings);
        let Some(llm) = self.llm_for(tenant).await? else { return Ok((found, turns.len())) };
        let before = llm.left().unwrap_or(0);
        let rewritten = llm.rewrite_all(&utterances, std::mem::take(&mut found.candidates), &surroundings).await;
        self.record_spending(tenant, &llm, before).await?;
        let rewritten = rewritten?.0;
        for reason in rewritten.refused {
            *report.refused.entry(reason.to_owned()).or_default() += 1;
        }
        found.candidates = rewritten.candidates;
        if rewritten.read < turns.len() {
            report.waits_until = Some(next_day(self.now()));
            found.missed.retain(|missed| turns[..rewritten.read].iter().any(|turn| turn.id == missed.turn));
        }
        Ok((found, rewritten.read))
    }

    /// How many memories may still be learned for a user today.
    async fn left_today(&self, visible: &Visible, scope: &Scope, at: Timestamp) -> Result<usize> {
        let notes = self.store.notes(visible, &scope.space(), &[learned_key(at)], at).await?;
        let today: f64 = notes.iter().filter_map(|(_, count)| count.as_f64()).sum();
        Ok((f64::from(self.config.learning.writes_per_user_per_day) - today).max(0.0) as usize)
    }

    /// The memories of the candidates, with their vectors.
    async fn drafts(&self, lesson: &ConsolidationRun<'_>, candidates: &[LearningCandidate]) -> Result<Vec<Addition>> {
        let scope = &lesson.session.scope;
        let mut caller = Caller { tenant: lesson.tenant.clone(), ..Caller::new(scope.identifiers()) };
        caller.identifiers.session_id.get_or_insert_with(|| lesson.session.session_id.clone());
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
                valid_from: candidate.valid_from.filter(|from| *from <= lesson.at),
                actor_id: candidate.actor.clone(),
                role: Some("user".to_owned()),
                source: Some(Source {
                    kind: LEARNED.to_owned(),
                    role: Some("memory_agent".to_owned()),
                    reference: Some(lesson.session.session_id.clone()),
                }),
                metadata: self.metadata_of(candidate),
                ..NewMemory::default()
            };
            let mut addition = self.admit(&caller, scope, new, None)?;
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
                    addition.jobs.extend(self.embed_jobs(addition.memory.id, lesson.at));
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

    /// Reconciles one statement.
    async fn place(
        &self,
        lesson: &mut ConsolidationRun<'_>,
        candidate: &LearningCandidate,
        mut addition: Addition,
        named: &HashMap<MemoryId, Vec<(String, EntityId)>>,
    ) -> Result<()> {
        let memory = &addition.memory;
        if let Some(returned) = lesson.returned.iter().find(|returned| repeats(&memory.content, &returned.content)) {
            tracing::debug!(memory = %returned.id, "recall returned this to the thread; it is not learned again");
            lesson.report.skipped += 1;
            return Ok(());
        }
        let mut known = self.neighbours(&lesson.visible, &addition, None).await?;
        // What this round has replaced no longer holds; what it has added does.
        known.retain(|one| !lesson.replaced(one.id));
        known.extend(lesson.fresh.iter().map(|(one, vector)| KnownStatement {
            similarity: cosine(vector.as_ref(), addition.vector.as_ref()),
            ..one.clone()
        }));
        let single = candidate.claims.iter().any(|claim| claim.single);
        addition.seen = single.then(|| known.iter().map(|one| one.id).collect());
        let decision = reconcile(&statement(&addition.memory), &known, &self.config.bands);
        let why = format!("{} (learned: {})", decision.reason(), candidate.pattern);
        if let Decision::Skip { of, .. } = &decision {
            lesson.report.skipped += 1;
            // Said again: one more source for what is known.
            for turn in &candidate.from {
                let edge = self.edge(*of, *turn, Relation::DerivedFrom, 1.0, lesson.at);
                lesson.push(Action::Link(edge), &why);
            }
            return Ok(());
        }
        let asked = self.consent_needed(&lesson.visible, &mut lesson.pending, candidate, &addition, &decision).await?;
        if let Some(asked) = asked {
            lesson.ask(asked, &why);
            return Ok(());
        }
        let sure = addition.memory.confidence;
        let id = self.write(lesson, &decision, addition, &known, &why).await?;
        self.attach(lesson, candidate, id, named, &why);
        let scope = lesson.session.scope.clone();
        for claim in &candidate.claims {
            if let Some(action) = self.triple(&scope, candidate.kind, Some(claim), (id, sure), lesson.at) {
                lesson.push(action, &why);
            }
        }
        Ok(())
    }

    /// Writes a decision. Returns the memory that now has the statement.
    async fn write(
        &self,
        lesson: &mut ConsolidationRun<'_>,
        decision: &Decision,
        addition: Addition,
        known: &[KnownStatement],
        why: &str,
    ) -> Result<MemoryId> {
        let one = neighbour(&addition.memory, None);
        let (id, vector) = (addition.memory.id, addition.vector.clone());
        let actions = match decision {
            // What was learned a moment ago is not in the store yet.
            Decision::Supersede { old, .. } if lesson.fresh.iter().any(|(one, _)| one.id == *old) => {
                vec![Action::Supersede { old: *old, new: Box::new(addition.clone()) }]
            }
            _ => self.actions(&lesson.visible, decision, addition.clone()).await?,
        };
        match decision {
            Decision::Supersede { old, .. } => {
                lesson.report.superseded += 1;
                lesson.fresh.retain(|(one, _)| one.id != *old);
            }
            _ => lesson.report.added += 1,
        }
        lesson.report.linked += decision.contradicts().len();
        self.forget_features(decision);
        for action in actions.into_iter().chain(self.relations(&addition, known, decision)) {
            lesson.push(action, why);
        }
        if !matches!(decision, Decision::AddAsHistory { .. }) {
            lesson.fresh.push((one, vector));
        }
        Ok(id)
    }

    /// Records the entities that the turns mention; each turn counts once.
    fn mention_turns(
        &self,
        lesson: &mut ConsolidationRun<'_>,
        mentions: &HashMap<MemoryId, Vec<Mention>>,
    ) -> HashMap<MemoryId, Vec<(String, EntityId)>> {
        let (at, scope) = (lesson.at, lesson.session.scope.clone());
        let mut named = HashMap::new();
        for (turn, mentions) in mentions {
            let resolved = lesson.entities.resolve(mentions, at, || EntityId(self.new_id(at).0));
            lesson.report.entities += resolved.named.len();
            for entity in resolved.named {
                lesson.push(Action::Name { scope: scope.clone(), entity: Box::new(entity) }, "named");
            }
            for (into, from) in resolved.united {
                lesson.push(Action::Unite { into, from }, "they go by the same name");
            }
            for entity in &resolved.ids {
                lesson.push(Action::Mention { memory: *turn, entity: *entity, counted: true }, "mentioned");
            }
            let names = mentions.iter().map(|mention| mention.name.clone());
            named.insert(*turn, names.zip(resolved.ids).collect());
        }
        named
    }

    /// Adds sources and entities of a memory.
    fn attach(
        &self,
        lesson: &mut ConsolidationRun<'_>,
        candidate: &LearningCandidate,
        id: MemoryId,
        named: &HashMap<MemoryId, Vec<(String, EntityId)>>,
        why: &str,
    ) {
        for turn in &candidate.from {
            let edge = self.edge(id, *turn, Relation::DerivedFrom, 1.0, lesson.at);
            lesson.push(Action::Link(edge), why);
            for (name, entity) in named.get(turn).into_iter().flatten() {
                if candidate.content.contains(name.as_str()) {
                    lesson.push(Action::Mention { memory: id, entity: *entity, counted: false }, "mentioned");
                }
            }
        }
    }

    /// Adds counts, further jobs and the mark.
    fn finish(&self, lesson: &mut ConsolidationRun<'_>, last: &Memory) {
        let (scope, at) = (lesson.session.scope.clone(), lesson.at);
        let written = lesson.report.added + lesson.report.superseded;
        let refused: usize = lesson.report.refused.values().sum();
        lesson.count(Some(scope.clone()), learned_key(at), written as f64, Some(days_after(at, 2)));
        lesson.count(None, WRITTEN.to_owned(), (written + lesson.report.proposed) as f64, None);
        lesson.count(None, REFUSED.to_owned(), refused as f64, None);
        lesson.count(None, MISSED.to_owned(), lesson.report.missed.len() as f64, None);
        let session = lesson.session.session_id.clone();
        if lesson.session.ended_at.is_some() && self.llm.is_some() {
            for kind in [JobKind::Insight, JobKind::Causal] {
                lesson.push(Bookkeeping::Enqueue(follow_up(kind, &scope, &session, at)), "after a session");
            }
        }
        let expect = lesson.session.consolidated_through;
        // Counts alone: a line of the ledger about one turn must not keep the words of another.
        let report = json!({
            "turns": lesson.report.turns, "added": lesson.report.added, "superseded": lesson.report.superseded,
            "skipped": lesson.report.skipped, "proposed": lesson.report.proposed, "linked": lesson.report.linked,
            "refused": refused, "missed": lesson.report.missed.len(),
        });
        let learned = Bookkeeping::Consolidate { scope, session, expect, through: last.id, report };
        lesson.push(learned, "learned from");
        // The mark comes first: if it has moved, the batch fails at once.
        lesson.changes.rotate_right(1);
    }
}

/// Keys of the counts of learned statements, of refused statements of a language model, and of requests without
/// content.
pub(crate) const WRITTEN: &str = "learned";
pub(crate) const REFUSED: &str = "learned refused";
pub(crate) const MISSED: &str = "learned missed";

impl ConsolidationRun<'_> {
    fn push(&mut self, action: impl Into<Action>, reason: &str) {
        let provenance = Provenance {
            actor: Some("loci".to_owned()),
            node: "worker".to_owned(),
            thread: Some(self.session.thread_id.clone()),
            request: None,
        };
        self.changes.push(Change { action: action.into(), reason: reason.to_owned(), provenance, at: self.at });
    }

    fn count(&mut self, scope: Option<Scope>, key: String, more: f64, until: Option<Timestamp>) {
        if more > 0.0 {
            self.push(Bookkeeping::Note { scope, key, value: NoteValue::Add(more), until }, "counted");
        }
    }

    fn ask(&mut self, asked: ConsentOutcome, why: &str) {
        self.report.proposed += usize::from(asked.new);
        self.report.skipped += usize::from(!asked.new);
        for action in asked.actions {
            self.push(action, &format!("{why}; {}", asked.reason));
        }
    }

    /// Whether a change of this round has replaced a memory.
    fn replaced(&self, id: MemoryId) -> bool {
        self.changes.iter().any(|change| match &change.action {
            Action::Supersede { old, .. } => *old == id,
            Action::Decide { over, .. } => *over == Some(id),
            _ => false,
        })
    }
}

impl ConsolidationReport {
    pub(crate) fn take(&mut self, more: Self) {
        self.turns += more.turns;
        self.candidates += more.candidates;
        self.added += more.added;
        self.superseded += more.superseded;
        self.skipped += more.skipped;
        self.proposed += more.proposed;
        self.linked += more.linked;
        self.entities += more.entities;
        for (reason, count) in more.refused {
            *self.refused.entry(reason).or_default() += count;
        }
        self.missed.extend(more.missed);
        self.waits_until = self.waits_until.max(more.waits_until);
    }
}

/// Drops candidates above the limit of one turn. Explicit requests are kept.
fn keep_few(candidates: &mut Vec<LearningCandidate>, most: u32) {
    let mut by_turn: HashMap<MemoryId, u32> = HashMap::new();
    candidates.retain(|candidate| {
        let Some(turn) = candidate.from.first() else { return true };
        let count = by_turn.entry(*turn).or_default();
        *count += 1;
        candidate.requested || *count <= most
    });
}

/// Drops the candidates of turns above the daily cap. Returns the number of turns that are learned from now.
fn within_cap(candidates: &mut Vec<LearningCandidate>, turns: &[Memory], left: usize, most: usize) -> usize {
    if candidates.len() <= left {
        return turns.len();
    }
    // A turn that teaches more than a whole day may would wait for ever.
    if left == most
        && let Some(first) = turns.first()
        && candidates.get(left).is_some_and(|one| one.from.first() == Some(&first.id))
    {
        candidates.truncate(left);
        return 1;
    }
    let waits = candidates[left].from.first().copied();
    let read = turns.iter().position(|turn| Some(turn.id) == waits).unwrap_or(turns.len());
    candidates.retain(|candidate| turns[..read].iter().any(|turn| candidate.from.contains(&turn.id)));
    read
}

fn next_day(at: Timestamp) -> Timestamp {
    let zoned = at.to_zoned(jiff::tz::TimeZone::UTC);
    zoned
        .tomorrow()
        .and_then(|day| day.start_of_day())
        .map_or_else(|_| at.saturating_add(24.hours()).unwrap_or(at), |day| day.timestamp())
}

fn cosine(a: Option<&Vector>, b: Option<&Vector>) -> Option<f64> {
    let (a, b) = (a?, b?);
    (a.model == b.model).then(|| f64::from(loci_models::dot(&a.values, &b.values)).max(0.0))
}

/// The key of the number of memories learned on a day.
fn learned_key(at: Timestamp) -> String {
    format!("learned {}", &at.to_string()[..10])
}

fn follow_up(kind: JobKind, scope: &Scope, session: &str, at: Timestamp) -> JobSpec {
    JobSpec {
        kind,
        payload: json!({ "scope": scope.key(), "session": session }),
        unique: Some(format!("{} {} {session}", kind.name(), scope.key())),
        run_after: at,
    }
}

/// A turn as the extractor reads it. A turn without role and name is by the user.
fn utterance<'a>(turn: &'a Memory, name: Option<&'a str>) -> Utterance<'a> {
    let speaker = match turn.role.as_deref() {
        Some("user" | "human") => Speaker::User(name),
        Some("assistant" | "agent" | "ai") => Speaker::Assistant,
        Some(_) => Speaker::Tool,
        None => turn.actor_id.as_deref().map_or(Speaker::User(None), Speaker::Named),
    };
    let actor = turn.actor_id.as_deref();
    Utterance { id: turn.id, text: &turn.content, speaker, actor, at: turn.when_said() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_the_cap_waits_with_its_turn() {
        // Tested through the engine in tests/it/session.rs; here only the arithmetic of days.
        let at: Timestamp = "2026-06-01T22:15:00Z".parse().unwrap();
        assert_eq!(next_day(at).to_string(), "2026-06-02T00:00:00Z");
    }
}
