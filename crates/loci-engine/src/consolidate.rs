//! What does a session teach?
//!
//! Its turns are read once: statements worth keeping are drawn out (by rules, or by a language model
//! where there is one), each finds its place among what is known, and all of it is written in one
//! transaction with the mark of how far the session was read. If the process dies, nothing of it has
//! happened; if two do the same work, one of them finds it done.

use std::collections::HashMap;

use jiff::Timestamp;
use loci_store::EntityFilter;
use loci_types::{
    Action, Addition, Batch, Change, Class, Entity, EntityId, Error, ErrorKind, JobKind, JobSpec, Memory, MemoryId,
    NoteValue, Provenance, Relation, Scope, Session, SessionFilter, Source, Tenant, Vector, Visible,
};
use serde::Serialize;
use serde_json::json;

use crate::consent::{Consented, Pending};
use crate::entity::resolve;
use crate::extract::claim::claim_of;
use crate::extract::{Candidate, Mention, Speaker, Surroundings, Utterance, extract};
use crate::learn::{Reach, neighbour, repeats, statement};
use crate::policy::{self, Caller};
use crate::reconcile::{Decision, Neighbour, claim_key, reconcile};
use crate::text::embedding_text;
use crate::upkeep::fate::days_after;
use crate::{Engine, NewMemory, Result, writing};

/// So many turns are read together.
const TURNS: usize = 200;
/// So many entities of a scope are known by name.
const ENTITIES: usize = 2_000;

/// What a session taught.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Consolidated {
    /// Turns that were read.
    pub turns: usize,
    /// Statements that were drawn out of them.
    pub candidates: usize,
    /// Memories that are new.
    pub added: usize,
    /// Memories that took up what was said.
    pub merged: usize,
    /// Memories that were replaced.
    pub superseded: usize,
    /// Statements that were known.
    pub skipped: usize,
    /// Statements that wait for consent.
    pub proposed: usize,
    /// Statements that were refused, by the writing rules or by the caps.
    pub refused: usize,
    /// Entities that are new or have new names.
    pub entities: usize,
}

/// One round of learning, as it grows.
struct Lesson<'a> {
    tenant: &'a Tenant,
    session: &'a Session,
    visible: Visible,
    at: Timestamp,
    told: Vec<Memory>,
    known: Vec<Entity>,
    /// What this round has added, which later statements meet as well.
    fresh: Vec<(Neighbour, Option<Vector>)>,
    /// Whom statements about oneself are about.
    speakers: Vec<String>,
    /// What this round has proposed.
    pending: Vec<Pending>,
    changes: Vec<Change>,
    /// Statements that keep the writing rules at once, and all of them.
    passed: (u32, u32),
    report: Consolidated,
}

impl Engine {
    /// Learns from a session, as far as that has not been done. Doing it twice does it once.
    pub async fn consolidate(&self, caller: &Caller, scope: &Scope, session: &str) -> Result<Consolidated> {
        policy::operator(caller, "learns from sessions")?;
        let visible = policy::upkeep(&caller.tenant, scope);
        let mut report = Consolidated::default();
        loop {
            let filter = SessionFilter { name: Some(session.to_owned()), ..SessionFilter::default() };
            let Some(found) = self.store.sessions(&visible, &filter, 1).await?.pop() else { return Ok(report) };
            let turns = self.store.unlearned(&visible, scope, session, TURNS).await?;
            if turns.is_empty() {
                self.promote(&caller.tenant, &found).await?;
                return Ok(report);
            }
            match self.lesson(&caller.tenant, &found, &turns).await {
                Ok(more) if more.turns < turns.len() => {
                    let message = "the language model's tokens for today ran out; the rest is learned later";
                    return Err(Error::new(ErrorKind::RateLimited, message).into());
                }
                Ok(more) => report.take(&more),
                // Someone else was quicker: what is left is looked at again.
                Err(crate::Error::Store(loci_store::Error::Overtaken(_))) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn lesson(&self, tenant: &Tenant, session: &Session, turns: &[Memory]) -> Result<Consolidated> {
        let at = self.now();
        let visible = policy::upkeep(tenant, &session.scope);
        let known = self.store.known_entities(&visible, &EntityFilter::default(), ENTITIES).await?;
        let told = self.told(&visible, &session.scope, &session.thread_id).await?;
        let (candidates, turns) = self.candidates(tenant, turns, &known).await?;
        let Some(last) = turns.last() else { return Ok(Consolidated::default()) };
        let mut lesson = Lesson {
            tenant,
            session,
            visible,
            at,
            told,
            known,
            fresh: Vec::new(),
            speakers: speakers(turns),
            pending: Vec::new(),
            changes: Vec::new(),
            passed: (0, 0),
            report: Consolidated { turns: turns.len(), candidates: candidates.len(), ..Consolidated::default() },
        };
        let candidates = self.within_rules(&mut lesson, candidates).await?;
        let additions = self.drafts(&lesson, &candidates, turns).await?;
        for (candidate, addition) in candidates.iter().zip(additions) {
            self.place(&mut lesson, candidate, addition).await?;
        }
        self.finish(&mut lesson, last);
        let batch = Batch {
            tenant: tenant.clone(),
            space: session.scope.space(),
            changes: std::mem::take(&mut lesson.changes),
        };
        self.store.apply(batch).await?;
        Ok(lesson.report)
    }

    /// The statements in these turns, and the turns that were read.
    async fn candidates<'t>(
        &self,
        tenant: &Tenant,
        turns: &'t [Memory],
        known: &[Entity],
    ) -> Result<(Vec<Candidate>, &'t [Memory])> {
        let names: Vec<Option<String>> = turns.iter().map(|turn| turn.actor_id.as_deref().and_then(as_name)).collect();
        let utterances: Vec<Utterance<'_>> =
            turns.iter().zip(&names).map(|(turn, name)| utterance(turn, name.as_deref())).collect();
        if let Some(mind) = self.mind_for(tenant).await? {
            let before = mind.left().unwrap_or(0);
            let learned = mind.extract(&utterances).await;
            self.settle(tenant, &mind, before).await?;
            let (learned, _) = learned?;
            // What it wrote is taken apart like anything else.
            let claimed = |candidate: Candidate| Candidate { claim: claim_of(&candidate.content), ..candidate };
            return Ok((learned.candidates.into_iter().map(claimed).collect(), &turns[..learned.read]));
        }
        let mention = |entity: &Entity| Mention {
            name: entity.canonical_name.clone(),
            entity_type: entity.entity_type,
            aliases: entity.aliases.clone(),
        };
        let surroundings =
            Surroundings { time_zone: self.time_zone.clone(), known: known.iter().map(mention).collect() };
        Ok((extract(&utterances, &surroundings), turns))
    }

    /// Those that keep the writing rules and the caps: so many a turn, so many a day.
    async fn within_rules(&self, lesson: &mut Lesson<'_>, candidates: Vec<Candidate>) -> Result<Vec<Candidate>> {
        let limits = &self.config.learning;
        let day = learned_key(lesson.at);
        let notes = self.store.notes(&lesson.visible, &lesson.session.scope.space(), &[day], lesson.at).await?;
        let today: f64 = notes.iter().filter_map(|(_, count)| count.as_f64()).sum();
        let mut left = (f64::from(limits.writes_per_user_per_day) - today).max(0.0) as usize;
        let mut by_turn: HashMap<MemoryId, u32> = HashMap::new();
        let mut kept = Vec::new();
        for mut candidate in candidates {
            let class = self.class_of(&candidate.kind);
            lesson.passed.1 += 1;
            if writing::validate(&candidate.content, class).is_empty() {
                lesson.passed.0 += 1;
            } else if let Some(short) =
                writing::trim(&candidate.content, class).filter(|short| writing::validate(short, class).is_empty())
            {
                candidate.content = short;
            } else {
                lesson.report.refused += 1;
                continue;
            }
            let of_turn = by_turn.entry(candidate.from.first().copied().unwrap_or(lesson_id(lesson))).or_default();
            if *of_turn >= limits.writes_per_turn || left == 0 {
                lesson.report.refused += 1;
                continue;
            }
            *of_turn += 1;
            left -= 1;
            kept.push(candidate);
        }
        Ok(kept)
    }

    fn class_of(&self, kind: &str) -> Class {
        self.kinds.iter().find(|spec| spec.name == kind).map_or(Class::Semantic, |spec| spec.class)
    }

    /// The memories that the candidates would be, with their vectors.
    async fn drafts(&self, lesson: &Lesson<'_>, candidates: &[Candidate], turns: &[Memory]) -> Result<Vec<Addition>> {
        let scope = &lesson.session.scope;
        let caller = Caller { tenant: lesson.tenant.clone(), ..Caller::new(scope.identifiers()) };
        let mut additions = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let new = NewMemory {
                content: candidate.content.clone(),
                layer: Some(scope.layer()),
                kind: Some(candidate.kind.clone()),
                importance: candidate.importance,
                confidence: Some(candidate.confidence),
                event_time: candidate.event_time,
                valid_from: candidate.valid_from.or_else(|| said_at(candidate, turns, lesson.at)),
                expires_at: candidate.expires_at,
                source: Some(Source {
                    kind: "consolidation".to_owned(),
                    role: Some("memory_agent".to_owned()),
                    reference: Some(lesson.session.name.clone()),
                }),
                metadata: [("pattern".to_owned(), json!(candidate.pattern))].into_iter().collect(),
                ..NewMemory::default()
            };
            let mut addition = self.admit(&caller, scope, new, None)?;
            addition.claim = candidate.claim.as_ref().map(claim_key);
            additions.push(addition);
        }
        let texts: Vec<String> = additions.iter().map(|addition| embedding_text(&addition.memory)).collect();
        match self.embed_or_wait(&texts).await {
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

    /// Finds the place of one statement.
    async fn place(&self, lesson: &mut Lesson<'_>, candidate: &Candidate, mut addition: Addition) -> Result<()> {
        let memory = &addition.memory;
        if let Some(told) = lesson.told.iter().find(|told| repeats(&memory.content, &told.content)) {
            tracing::debug!(memory = %told.id, "recall told this thread; it is not learned again");
            lesson.report.skipped += 1;
            return Ok(());
        }
        let mut known = self.neighbours(&lesson.visible, &addition, None, Reach::Thorough).await?;
        // What this round has replaced no longer holds; what it has added does.
        known.retain(|one| !lesson.replaced(one.id));
        known.extend(lesson.fresh.iter().map(|(one, vector)| Neighbour {
            similarity: cosine(vector.as_ref(), addition.vector.as_ref()),
            ..one.clone()
        }));
        let single = candidate.claim.as_ref().is_some_and(|claim| claim.single);
        addition.seen = single.then(|| known.iter().map(|one| one.id).collect());
        let memory = &addition.memory;
        let statement = statement(memory, candidate.claim.as_ref(), candidate.corrects);
        let mut decision = reconcile(&statement, &known, &self.config.bands);
        if matches!(decision, Decision::Add { .. }) && candidate.corrects && candidate.claim.is_none() {
            decision = corrected(&known, &self.config.bands).unwrap_or(decision);
        }
        let why = format!("{} (learned by `{}`)", decision.reason(), candidate.pattern);
        if let Decision::Skip { of, .. } = &decision {
            lesson.report.skipped += 1;
            // Said again: one more source for what is known.
            for turn in &candidate.from {
                let edge = self.edge(*of, *turn, Relation::DerivedFrom, 1.0, lesson.at);
                lesson.push(Action::Link(edge), &why);
            }
            return Ok(());
        }
        let asked = self
            .consent_needed(&lesson.visible, &mut lesson.pending, &lesson.speakers, candidate, &addition, &decision)
            .await?;
        if let Some(asked) = asked {
            lesson.ask(asked, &why);
            return Ok(());
        }
        let sure = addition.memory.confidence;
        let id = self.write(lesson, &decision, addition, &known, &why).await?;
        self.attach(lesson, candidate, id, &why);
        let scope = lesson.session.scope.clone();
        let triple = self.triple(&scope, &candidate.kind, candidate.claim.as_ref(), (id, sure), lesson.at);
        if let Some(action) = triple {
            lesson.push(action, &why);
        }
        Ok(())
    }

    /// Writes what a decision means. Returns the memory that now says it.
    async fn write(
        &self,
        lesson: &mut Lesson<'_>,
        decision: &Decision,
        addition: Addition,
        known: &[Neighbour],
        why: &str,
    ) -> Result<MemoryId> {
        let mut one = neighbour(&addition.memory, None);
        let vector = addition.vector.clone();
        let fresh = |id: MemoryId| lesson.fresh.iter().any(|(one, _)| one.id == id);
        let (id, actions) = match decision {
            Decision::Merge { into, .. } if !fresh(*into) => {
                (*into, self.actions(&lesson.visible, decision, addition.clone()).await?)
            }
            // What was learned a moment ago is not in the store yet: it is replaced by what says more.
            Decision::Merge { into: old, .. } | Decision::Supersede { old, .. } if fresh(*old) => {
                (addition.memory.id, vec![Action::Supersede { old: *old, new: Box::new(addition.clone()) }])
            }
            _ => (addition.memory.id, self.actions(&lesson.visible, decision, addition.clone()).await?),
        };
        match decision {
            Decision::Merge { .. } => lesson.report.merged += 1,
            Decision::Supersede { .. } => lesson.report.superseded += 1,
            _ => lesson.report.added += 1,
        }
        if let Decision::Merge { into: old, .. } | Decision::Supersede { old, .. } = decision {
            lesson.fresh.retain(|(one, _)| one.id != *old);
        }
        self.shelf_forgets(decision);
        for action in actions.into_iter().chain(self.relations(&addition, known, decision)) {
            lesson.push(action, why);
        }
        one.id = id;
        lesson.fresh.push((one, vector));
        Ok(id)
    }

    /// Its sources, and the things it speaks of.
    fn attach(&self, lesson: &mut Lesson<'_>, candidate: &Candidate, id: MemoryId, why: &str) {
        for turn in &candidate.from {
            let edge = self.edge(id, *turn, Relation::DerivedFrom, 1.0, lesson.at);
            lesson.push(Action::Link(edge), why);
        }
        let at = lesson.at;
        let resolved = resolve(&candidate.entities, &mut lesson.known, at, || EntityId(self.new_id(at).0));
        lesson.report.entities += resolved.named.len();
        let scope = lesson.session.scope.clone();
        for entity in resolved.named {
            lesson.push(Action::Name { scope: scope.clone(), entity: Box::new(entity) }, "spoken of");
        }
        for entity in &resolved.ids {
            lesson.push(Action::Mention { memory: id, entity: *entity }, "spoken of");
            for turn in &candidate.from {
                lesson.push(Action::Mention { memory: *turn, entity: *entity }, "spoken of");
            }
        }
        for (into, from) in resolved.united {
            lesson.push(Action::Unite { into, from }, "they go by the same name");
        }
    }

    /// What the round comes to: counts, further work, and the mark.
    fn finish(&self, lesson: &mut Lesson<'_>, last: &Memory) {
        let (scope, at) = (lesson.session.scope.clone(), lesson.at);
        let written = lesson.report.added + lesson.report.merged + lesson.report.superseded;
        let until = Some(days_after(at, 2));
        lesson.count(Some(scope.clone()), learned_key(at), written as f64, until);
        lesson.count(None, PASSED.to_owned(), f64::from(lesson.passed.0), None);
        lesson.count(None, WRITTEN.to_owned(), f64::from(lesson.passed.1), None);
        let session = lesson.session.name.clone();
        if lesson.session.ended_at.is_some() {
            for kind in [JobKind::Insight, JobKind::Causal] {
                lesson.push(Action::Enqueue(follow_up(kind, &scope, &session, at)), "after a session");
            }
        }
        let expect = lesson.session.consolidated_through;
        lesson.push(Action::Consolidate { scope, session, expect, through: last.id }, "learned from");
        // The mark comes first: whoever finds it moved has nothing more to find out.
        lesson.changes.rotate_right(1);
    }
}

/// Counts of statements that kept the writing rules at once, and of all.
pub(crate) const PASSED: &str = "writing passed";
pub(crate) const WRITTEN: &str = "writing all";

impl Lesson<'_> {
    fn push(&mut self, action: Action, reason: &str) {
        let provenance = Provenance {
            actor: Some("loci".to_owned()),
            node: "worker".to_owned(),
            thread: Some(self.session.thread_id.clone()),
            request: None,
        };
        self.changes.push(Change { action, reason: reason.to_owned(), provenance, at: self.at });
    }

    fn count(&mut self, scope: Option<Scope>, key: String, more: f64, until: Option<Timestamp>) {
        if more > 0.0 {
            self.push(Action::Note { scope, key, value: NoteValue::Add(more), until }, "counted");
        }
    }

    fn ask(&mut self, asked: Consented, why: &str) {
        self.report.proposed += usize::from(asked.new);
        self.report.skipped += usize::from(!asked.new);
        for action in asked.actions {
            self.push(action, &format!("{why}; {}", asked.reason));
        }
    }

    /// Whether a change of this round has replaced or changed a memory.
    fn replaced(&self, id: MemoryId) -> bool {
        self.changes.iter().any(|change| match &change.action {
            Action::Supersede { old, .. } => *old == id,
            Action::Merge { into, from } => into.id == id || from.contains(&id),
            Action::Decide { over, .. } => *over == Some(id),
            _ => false,
        })
    }
}

impl Consolidated {
    fn take(&mut self, more: &Self) {
        self.turns += more.turns;
        self.candidates += more.candidates;
        self.added += more.added;
        self.merged += more.merged;
        self.superseded += more.superseded;
        self.skipped += more.skipped;
        self.proposed += more.proposed;
        self.refused += more.refused;
        self.entities += more.entities;
    }
}

/// When a statement was made, where its turn tells: of two that contradict each other the later said
/// holds, whenever they come in.
fn said_at(candidate: &Candidate, turns: &[Memory], now: Timestamp) -> Option<Timestamp> {
    let said = turns.iter().filter(|turn| candidate.from.contains(&turn.id)).filter_map(|turn| turn.event_time);
    said.max().filter(|said| *said <= now)
}

/// What a correction most likely corrects: the nearest, if it is near at all.
fn corrected(known: &[Neighbour], bands: &crate::config::Bands) -> Option<Decision> {
    let near = known.iter().filter(|one| one.similarity.is_some_and(|cosine| cosine >= bands.check));
    let nearest = near.max_by(|a, b| a.similarity.unwrap_or(0.0).total_cmp(&b.similarity.unwrap_or(0.0)))?;
    Some(Decision::Supersede { old: nearest.id, reason: "a correction of what is nearest".to_owned() })
}

fn cosine(a: Option<&Vector>, b: Option<&Vector>) -> Option<f64> {
    let (a, b) = (a?, b?);
    (a.model == b.model).then(|| f64::from(loci_models::dot(&a.values, &b.values)).max(0.0))
}

fn lesson_id(lesson: &Lesson<'_>) -> MemoryId {
    lesson.session.consolidated_through.unwrap_or(MemoryId(uuid::Uuid::nil()))
}

/// The count of what was learned on a day.
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

/// The subjects by which statements about their speakers go.
fn speakers(turns: &[Memory]) -> Vec<String> {
    let named = turns.iter().filter(|turn| turn.role.as_deref() != Some("assistant"));
    let names = named.filter_map(|turn| turn.actor_id.as_deref()).map(str::to_lowercase);
    let mut all: Vec<String> = names.chain(["user".to_owned(), "пользователь".to_owned()]).collect();
    all.sort();
    all.dedup();
    all
}

/// A turn as it is read for what it teaches.
fn utterance<'a>(turn: &'a Memory, name: Option<&'a str>) -> Utterance<'a> {
    let speaker = match turn.role.as_deref() {
        Some("user" | "human") => Speaker::User(name),
        Some("assistant" | "agent" | "ai") => Speaker::Assistant,
        Some(_) => Speaker::Tool,
        None => turn.actor_id.as_deref().map_or(Speaker::User(None), Speaker::Named),
    };
    Utterance { id: turn.id, text: &turn.content, speaker, at: turn.event_time.unwrap_or(turn.created_at) }
}

/// The name that an actor's id is, if it looks like one.
fn as_name(actor: &str) -> Option<String> {
    let plain = |c: char| c.is_alphabetic() || matches!(c, ' ' | '-' | '\'');
    let mut letters = actor.chars();
    let first = letters.next().filter(|c| c.is_alphabetic())?;
    let generic = ["user", "me", "human", "default", "admin", "test"].contains(&actor.to_lowercase().as_str());
    (actor.chars().count() <= 40 && actor.chars().all(plain) && !generic)
        .then(|| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_looks_like_a_name_is_one() {
        for (actor, expect) in [
            ("ana", Some("Ana")),
            ("Mary-Jane O'Neil", Some("Mary-Jane O'Neil")),
            ("мария", Some("Мария")),
            ("user", None),
            ("u-1029", None),
            ("ana@example.org", None),
            ("", None),
        ] {
            assert_eq!(as_name(actor).as_deref(), expect, "{actor}");
        }
    }
}
