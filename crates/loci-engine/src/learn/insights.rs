//! Asks a language model, after a session, for causal links between turns and for insights about the user.
//!
//! Without a language model there are no insights, and a cause only where a turn says so (`learn/extract/cause.rs`).

use jiff::{SignedDuration, Timestamp};
use loci_store::Page;
use loci_types::{
    Action, Addition, Batch, Bookkeeping, Filter, Memory, MemoryId, NoteValue, Relation, Scope, Session, SessionFilter,
    Source, TimeRange, Visible,
};
use serde_json::json;

use crate::access::policy::{self, Caller};
use crate::learn::llm::{Direction, InsightDraft};
use crate::{Engine, NewMemory, Result};

/// Maximum number of turns of a session that are read.
const MAX_TURNS: usize = 100;
/// Number of the latest turns from which insights are drawn.
const MAX_RECENT_TURNS: usize = 5;
/// Number of new facts from which insights are drawn.
const MAX_NEW_FACTS: usize = 3;
/// Maximum number of characters of the conversation that the language model receives.
const MAX_SNIPPET_CHARACTERS: usize = 1_000;
/// How sure a causal edge is.
pub(crate) const CONFIDENCE: f64 = 0.7;
/// The note of when insights were last looked for.
const LOOKED: &str = "insight";
/// The category of insights.
const CATEGORY: &str = "relationship_dynamic";

impl Engine {
    /// Links turns of a session that brought others about. Returns how many links there are.
    pub async fn find_causes(&self, caller: &Caller, scope: &Scope, session: &str) -> Result<usize> {
        policy::require_operator(caller, "look for causes")?;
        let visible = policy::visible_for_maintenance(&caller.tenant, scope);
        let mut turns = self.turns_of(&visible, scope, session).await?;
        // What an assistant answers in between is neither a cause nor an effect of what people tell.
        turns.retain(is_by_person);
        let most = self.config.learning.causal_pairs_per_night as usize;
        let pairs: Vec<(&Memory, &Memory)> = turns.windows(2).map(|pair| (&pair[0], &pair[1])).collect();
        let Some(llm) = self.llm_for(&caller.tenant).await? else { return Ok(0) };
        let asked: Vec<(String, String)> =
            pairs.iter().take(most).map(|(a, b)| (a.content.clone(), b.content.clone())).collect();
        let before = llm.left().unwrap_or(0);
        let judged = llm.causes(&asked).await;
        self.record_spending(&caller.tenant, &llm, before).await?;
        let ends = |((a, b), direction): (&(&Memory, &Memory), Option<Direction>)| match direction? {
            Direction::Forward => Some((a.id, b.id)),
            Direction::Backward => Some((b.id, a.id)),
        };
        let found: Vec<(MemoryId, MemoryId)> = pairs.iter().zip(judged?.0).filter_map(ends).collect();
        let at = self.now();
        let changes = found.iter().map(|(from, to)| {
            let mut edge = self.edge(*from, *to, Relation::Causal, 1.0, at);
            edge.confidence = CONFIDENCE;
            self.change(caller, "worker", "cause found by a language model", Action::Link(edge))
        });
        let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes: changes.collect() };
        self.apply(batch).await?;
        Ok(found.len())
    }

    /// Keeps insight from a session, at most once in a while. Returns how much that is.
    pub async fn find_insights(&self, caller: &Caller, scope: &Scope, session: &str) -> Result<usize> {
        policy::require_operator(caller, "look for insights")?;
        let visible = policy::visible_for_maintenance(&caller.tenant, scope);
        let at = self.now();
        let looked = self.store.notes(&visible, &scope.space(), &[LOOKED.to_owned()], at).await?;
        if !looked.is_empty() {
            return Ok(0);
        }
        let turns = self.turns_of(&visible, scope, session).await?;
        let said: Vec<&Memory> = turns.iter().filter(|turn| turn.role.as_deref() != Some("assistant")).collect();
        let latest: Vec<&str> =
            said.iter().skip(said.len().saturating_sub(MAX_RECENT_TURNS)).map(|turn| turn.content.as_str()).collect();
        let facts = self.news(&visible, &turns, at).await?;
        let found = self.insights_of(caller, &turns, &latest, &facts).await?;
        if found.is_empty() {
            return Ok(0);
        }
        let rest = SignedDuration::from_hours(i64::from(self.config.learning.insight_hours));
        let until = Some(at.saturating_add(rest).unwrap_or(at));
        let note = Action::Bookkeeping(Bookkeeping::Note {
            scope: Some(scope.clone()),
            key: LOOKED.to_owned(),
            value: NoteValue::Set(json!(at)),
            until,
        });
        let mut actions = vec![note];
        let drafts: Vec<Addition> =
            found.iter().map(|insight| self.insight_draft(caller, scope, session, insight)).collect::<Result<_>>()?;
        for addition in drafts {
            let id = addition.memory.id;
            actions.push(Action::Add(Box::new(addition)));
            actions.extend(
                said.iter()
                    .rev()
                    .take(MAX_RECENT_TURNS)
                    .map(|turn| Action::Link(self.edge(id, turn.id, Relation::DerivedFrom, 1.0, at))),
            );
        }
        let reason = "insight from a session";
        let changes = actions.into_iter().map(|action| self.change(caller, "worker", reason, action)).collect();
        self.apply(Batch { tenant: caller.tenant.clone(), space: scope.space(), changes }).await?;
        Ok(found.len())
    }

    async fn insights_of(
        &self,
        caller: &Caller,
        turns: &[Memory],
        latest: &[&str],
        facts: &[String],
    ) -> Result<Vec<InsightDraft>> {
        let Some(llm) = self.llm_for(&caller.tenant).await? else { return Ok(Vec::new()) };
        let latest: Vec<String> = latest.iter().map(|text| (*text).to_owned()).collect();
        let all: String = turns.iter().map(|turn| turn.content.as_str()).collect::<Vec<_>>().join("\n");
        let skip = all.chars().count().saturating_sub(MAX_SNIPPET_CHARACTERS);
        let snippet: String = all.chars().skip(skip).collect();
        let before = llm.left().unwrap_or(0);
        let drafts = llm.insights(&latest, facts, &snippet).await;
        self.record_spending(&caller.tenant, &llm, before).await?;
        Ok(drafts?.0)
    }

    /// The latest facts since the turns began.
    async fn news(&self, visible: &Visible, turns: &[Memory], at: Timestamp) -> Result<Vec<String>> {
        let since = turns.first().map(|turn| turn.created_at);
        let created = TimeRange { from: since, until: None };
        let filter = Filter { kinds: self.non_episodic_kinds(), created, ..Filter::at(at) };
        let page = Page { after: None, limit: MAX_NEW_FACTS };
        let new = self.store.scan(visible, &filter, page).await?.memories;
        Ok(new.iter().map(|memory| crate::reported(memory).into_owned()).collect())
    }

    fn insight_draft(&self, caller: &Caller, scope: &Scope, session: &str, insight: &InsightDraft) -> Result<Addition> {
        let within = Caller { tenant: caller.tenant.clone(), ..Caller::new(scope.identifiers()) };
        let new = NewMemory {
            content: insight.summary.clone(),
            layer: Some(scope.layer()),
            kind: Some("insight".to_owned()),
            category: Some(CATEGORY.to_owned()),
            tags: insight.tags.clone(),
            importance: Some(insight.importance),
            source: Some(Source {
                kind: "reflection".to_owned(),
                role: Some("memory_agent".to_owned()),
                reference: Some(session.to_owned()),
            }),
            ..NewMemory::default()
        };
        let mut addition = self.admit_into(&within, scope, new, None)?;
        // A statement that occurs twice gets two links; maintenance merges the duplicates.
        addition.unless = None;
        addition.jobs.extend(self.embed_jobs(addition.memory.id, addition.memory.created_at));
        Ok(addition)
    }

    /// The latest turns of a session, in the order they came.
    pub(crate) async fn turns_of(&self, visible: &Visible, scope: &Scope, session: &str) -> Result<Vec<Memory>> {
        let Some(session) = self.session_of(visible, scope, session).await? else { return Ok(Vec::new()) };
        let filter = Filter {
            kinds: vec![loci_types::Kind::EPISODIC.to_owned()],
            threads: vec![session.thread_id.clone()],
            sessions: if session.session_id == session.thread_id {
                Vec::new()
            } else {
                vec![session.session_id.clone()]
            },
            source_types: vec!["conversation".to_owned()],
            ..Filter::at(self.now())
        };
        let page = Page { after: None, limit: MAX_TURNS };
        let mut turns = self.store.scan(visible, &filter, page).await?.memories;
        turns.retain(|turn| {
            turn.identifiers.session_id.as_deref().or(turn.thread_id.as_deref()) == Some(session.session_id.as_str())
        });
        turns.reverse();
        Ok(turns)
    }

    pub(crate) async fn session_of(&self, visible: &Visible, scope: &Scope, name: &str) -> Result<Option<Session>> {
        let filter = SessionFilter { session_id: Some(name.to_owned()), ..SessionFilter::default() };
        let found = self.store.sessions(visible, &filter, 10).await?;
        Ok(found.into_iter().find(|session| session.scope == *scope))
    }
}

/// Whether a turn is by a person, as opposed to an assistant, a tool or a system.
pub(crate) fn is_by_person(turn: &Memory) -> bool {
    matches!(turn.role.as_deref(), None | Some("user" | "human"))
}
