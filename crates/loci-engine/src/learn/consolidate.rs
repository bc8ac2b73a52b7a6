//! Consolidation: learns memories from the turns of a session.
//!
//! Turns are read once. Rules select sentences, which are kept as quotations or rewritten by a language model if
//! there is one. Each is reconciled with known memories. **Invariant:** all changes and the mark of the last turn
//! that was read are one transaction; a crash leaves nothing behind, and of two processes that do the same work one
//! is refused. Statements above the daily cap wait for the next day.

mod decide;
mod draft;

use std::collections::{BTreeMap, HashMap};

use jiff::{Timestamp, ToSpan};
use loci_store::{EntityFilter, EntityQuery};
use loci_types::{
    Action, Batch, Bookkeeping, Change, Edge, EntityId, JobKind, JobSpec, Memory, MemoryId, NoteValue, Provenance,
    Relation, Scope, Session, SessionFilter, Tenant, Vector, Visible,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::access::policy::{self, Caller};
use crate::learn::consent::{ConsentOutcome, PendingProposal};
use crate::learn::entity::EntityRegister;
use crate::learn::entity_links::FreshMention;
use crate::learn::extract::{
    Extraction, ExtractionContext, LearningCandidate, Mention, Speaker, Utterance, extract, points_back,
};
use crate::learn::insights::{CONFIDENCE, is_by_person};
use crate::lifecycle::rules::state::days_after;
use crate::prompt::render::as_name;
use crate::write::reconcile::KnownStatement;
use crate::{Engine, Result};

/// Number of turns that are read and committed together.
const TURNS_PER_COMMIT: usize = 200;
/// The same with a language model: smaller, so that a retry repeats few calls.
const TURNS_PER_COMMIT_WITH_MODEL: usize = 20;
/// Maximum number of entities of a scope that are loaded.
const MAX_ENTITIES: usize = 2_000;

/// The source type of what a session taught, and of summaries of sessions.
pub(crate) const DISTILLED: &str = "distillation";
/// The source role of learned memories.
pub(crate) const LEARNER: &str = "memory_agent";
/// The source type of learned memories in earlier versions.
const LEARNED_EARLIER: &str = "consolidation";

/// Whether a memory was learned from a conversation.
pub(crate) fn is_learned(memory: &Memory) -> bool {
    memory.source.as_ref().is_some_and(|source| match source.kind.as_str() {
        DISTILLED => source.role.as_deref() == Some(LEARNER),
        kind => kind == LEARNED_EARLIER,
    })
}

/// The result of a consolidation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, usize>,
    /// Requests to remember something for which no content was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// Until when the remaining turns wait, because the daily cap is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// The entities that they mention.
    mentioned: Vec<FreshMention>,
    /// The proposals of this round.
    pending: Vec<PendingProposal>,
    changes: Vec<Change>,
    report: ConsolidationReport,
}

impl Engine {
    /// Learns from a session, from the first turn that was not read yet. Idempotent.
    pub async fn consolidate(&self, caller: &Caller, scope: &Scope, session: &str) -> Result<ConsolidationReport> {
        policy::require_operator(caller, "consolidate sessions")?;
        let visible = policy::visible_for_maintenance(&caller.tenant, scope);
        let mut report = ConsolidationReport::default();
        loop {
            let filter = SessionFilter { session_id: Some(session.to_owned()), ..SessionFilter::default() };
            let Some(found) = self.store.sessions(&visible, &filter, 1).await?.pop() else { return Ok(report) };
            let most = if self.llm.is_some() { TURNS_PER_COMMIT_WITH_MODEL } else { TURNS_PER_COMMIT };
            let turns = self.store.pending_turns(&visible, scope, session, most).await?;
            if turns.is_empty() {
                self.promote(&caller.tenant, &found).await?;
                return Ok(report);
            }
            match self.learn_from_turns(&caller.tenant, &found, &turns).await {
                Ok(more) => {
                    report.add(more);
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

    /// Learns from these turns of a session, in one transaction.
    async fn learn_from_turns(
        &self,
        tenant: &Tenant,
        session: &Session,
        turns: &[Memory],
    ) -> Result<ConsolidationReport> {
        let at = self.now();
        let visible = policy::visible_for_maintenance(tenant, &session.scope);
        let known = self.store.entities(&visible, &EntityQuery::Known(EntityFilter::default()), MAX_ENTITIES).await?;
        let returned = self.returned(&visible, &session.scope, &session.thread_id).await?;
        let mut report = ConsolidationReport::default();
        let entities = EntityRegister::new(known);
        let (mut found, read) = self.extract_candidates(tenant, session, turns, &entities, &mut report).await?;
        limit_each_turn(&mut found.candidates, self.config.learning.writes_per_turn);
        let left = self.left_today(&visible, &session.scope, at).await?;
        let most = self.config.learning.writes_per_user_per_day as usize;
        let learned = limit_day(&mut found.candidates, &turns[..read], left, most);
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
        let mut run = ConsolidationRun {
            tenant,
            session,
            visible,
            at,
            returned,
            entities,
            fresh: Vec::new(),
            mentioned: Vec::new(),
            pending: Vec::new(),
            changes: Vec::new(),
            report,
        };
        let mentions: HashMap<MemoryId, Vec<Mention>> = found.mentions.into_iter().collect();
        let named = self.mention_turns(&mut run, &mentions);
        self.link_causes(&mut run, turns);
        let additions = self.draft_memories(&run, &found.candidates).await?;
        for (candidate, addition) in found.candidates.iter().zip(additions) {
            self.reconcile_candidate(&mut run, candidate, addition, &named).await?;
        }
        self.add_mark(&mut run, last);
        let changes = std::mem::take(&mut run.changes);
        self.apply(Batch { tenant: tenant.clone(), space: session.scope.space(), changes }).await?;
        Ok(run.report)
    }

    /// Extracts candidates from these turns. Returns also how many turns were read: all, unless the tokens of a
    /// language model run out.
    async fn extract_candidates(
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

    /// Records the entities that the turns mention; each turn counts once.
    fn mention_turns(
        &self,
        run: &mut ConsolidationRun<'_>,
        mentions: &HashMap<MemoryId, Vec<Mention>>,
    ) -> HashMap<MemoryId, Vec<(String, EntityId)>> {
        let (at, scope) = (run.at, run.session.scope.clone());
        let mut named = HashMap::new();
        for (turn, mentions) in mentions {
            let resolved = run.entities.resolve(mentions, at, || EntityId(self.new_id(at).0));
            run.report.entities += resolved.named.len();
            for entity in resolved.named {
                run.push(Action::Name { scope: scope.clone(), entity: Box::new(entity) }, "named");
            }
            for (into, from) in resolved.united {
                run.push(Action::Unite { into, from }, "merged: same name");
            }
            for entity in &resolved.ids {
                run.push(Action::Mention { memory: *turn, entity: *entity, counted: true }, "mentioned");
            }
            let names = mentions.iter().map(|mention| mention.name.clone());
            named.insert(*turn, names.zip(resolved.ids).collect());
        }
        named
    }

    /// Links turns of people that say outright that the turn before brought them about.
    fn link_causes(&self, run: &mut ConsolidationRun<'_>, turns: &[Memory]) {
        let people: Vec<&Memory> = turns.iter().filter(|turn| is_by_person(turn)).collect();
        for pair in people.windows(2).filter(|pair| pair[0].thread_id == pair[1].thread_id) {
            if let Some(connective) = points_back(&pair[1].content) {
                let edge = self.edge(pair[0].id, pair[1].id, Relation::Causal, 1.0, run.at);
                let (confidence, predicate) = (CONFIDENCE, Some(connective.to_owned()));
                run.push(Action::Link(Edge { confidence, predicate, ..edge }), "a turn says what brought it about");
            }
        }
    }

    /// Adds counts, further jobs and the mark.
    fn add_mark(&self, run: &mut ConsolidationRun<'_>, last: &Memory) {
        let (scope, at) = (run.session.scope.clone(), run.at);
        let written = run.report.added + run.report.superseded;
        let refused: usize = run.report.refused.values().sum();
        run.count(Some(scope.clone()), learned_key(at), written as f64, Some(days_after(at, 2)));
        run.count(None, WRITTEN.to_owned(), (written + run.report.proposed) as f64, None);
        run.count(None, REFUSED.to_owned(), refused as f64, None);
        run.count(None, MISSED.to_owned(), run.report.missed.len() as f64, None);
        let session = run.session.session_id.clone();
        if run.session.ended_at.is_some() && self.llm.is_some() {
            for kind in [JobKind::Insight, JobKind::Causal] {
                run.push(
                    Bookkeeping::Enqueue(follow_up(kind, &scope, &session, at)),
                    "follow-up of a consolidated session",
                );
            }
        }
        let expect = run.session.consolidated_through;
        // Counts alone: a line of the ledger about one turn must not keep the words of another.
        let report = json!({
            "turns": run.report.turns, "added": run.report.added, "superseded": run.report.superseded,
            "skipped": run.report.skipped, "proposed": run.report.proposed, "linked": run.report.linked,
            "refused": refused, "missed": run.report.missed.len(),
        });
        let learned = Bookkeeping::Consolidate { scope, session, expect, through: last.id, report };
        run.push(learned, "session consolidated");
        // The mark comes first: if it has moved, the batch fails at once.
        run.changes.rotate_right(1);
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

    fn propose(&mut self, asked: ConsentOutcome, why: &str) {
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
    /// Adds the counts of another consolidation.
    pub fn add(&mut self, more: Self) {
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
fn limit_each_turn(candidates: &mut Vec<LearningCandidate>, most: u32) {
    let mut by_turn: HashMap<MemoryId, u32> = HashMap::new();
    candidates.retain(|candidate| {
        let Some(turn) = candidate.from.first() else { return true };
        let count = by_turn.entry(*turn).or_default();
        *count += 1;
        candidate.requested || *count <= most
    });
}

/// Drops the candidates of turns above the daily cap. Returns the number of turns that are learned from now.
fn limit_day(candidates: &mut Vec<LearningCandidate>, turns: &[Memory], left: usize, most: usize) -> usize {
    if candidates.len() <= left {
        return turns.len();
    }
    // A turn with more facts than the limit of a day would never be learned from.
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
