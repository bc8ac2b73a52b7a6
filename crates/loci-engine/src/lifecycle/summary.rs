//! Summaries of sessions and scopes.
//!
//! A summary is made on request, or for a session that has grown long. The latter is stored as a memory with links to
//! its turns, and the tokens it saves are counted.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use loci_store::Page;
use loci_types::{
    Action, Batch, Bookkeeping, Error, Filter, Kind, Layer, Memory, MemoryId, NoteValue, Relation, Scope, Session,
    SessionFilter, Source, Tenant, Visible,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::access::policy::{self, Caller};
use crate::learn::consolidate::DISTILLED;
use crate::learn::llm::LlmClient;
use crate::lifecycle::summarize::{Summary, SummaryStrategy, Writer, summarize};
use crate::prompt::pack::tokens::count_tokens;
use crate::{Engine, NewMemory, Result};

/// Maximum number of memories that are summarized.
const MAX_SUMMARIZED: usize = 2_000;
/// Maximum length of a summary, in tokens.
const MAX_SUMMARY_TOKENS: usize = 1_000_000;
/// Number of memories that are read at once.
const MEMORIES_PER_READ: usize = 500;
/// The tag of summaries.
pub(crate) const TAG: &str = "summary";
/// The note of how many tokens summaries have saved.
pub(crate) const SAVED: &str = "summary tokens saved";
/// The note of how many summaries were kept.
pub(crate) const RUNS: &str = "summary runs";

/// Summaries that were made on request since this process started. They are not kept, so they are counted here.
#[derive(Debug, Default)]
pub(crate) struct RequestedSummaries {
    runs: AtomicU64,
    tokens_saved: AtomicU64,
}

/// The counts of summaries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SummaryCounts {
    /// How many were made.
    pub runs: u64,
    /// How many tokens they saved.
    pub tokens_saved: u64,
}

/// What is to be summarized.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SummarizeRequest {
    /// The session whose turns are summarized. Default: the memories of the scope, newest last.
    pub session: Option<String>,
    /// The strategy. Default: as configured.
    pub strategy: Option<SummaryStrategy>,
    /// Maximum number of tokens. Default: as configured.
    pub target_tokens: Option<usize>,
    /// Which memories, when no session is named.
    pub filter: Option<Filter>,
    /// The layers. Default: all that the identifiers allow.
    pub layers: Option<Vec<Layer>>,
}

/// A language model that writes summaries.
struct LlmWriter(LlmClient);

#[async_trait]
impl Writer for LlmWriter {
    async fn write(&self, texts: &[String], max_tokens: usize) -> Result<String> {
        self.0.summary(texts, max_tokens).await.map(|(text, _)| text)
    }
}

impl Engine {
    /// Summarizes what the caller may see. Nothing is kept.
    pub async fn summarize(&self, caller: &Caller, request: SummarizeRequest) -> Result<Summary> {
        crate::access::bounds::some_layers(request.layers.as_deref())?;
        let visible = self.visible(caller, request.layers.as_deref()).await?;
        let memories = match &request.session {
            Some(name) => {
                let name = &policy::session_named(caller, name)?;
                let filter = SessionFilter { session_id: Some(name.clone()), ..SessionFilter::default() };
                let mut found = self.store.sessions(&visible, &filter, 2).await?;
                if found.len() > 1 {
                    let message = format!("several scopes have a session `{name}`");
                    return Err(Error::invalid("sessionId", message)
                        .hint("name the owner, such as --user NAME")
                        .into());
                }
                let Some(session) = found.pop() else {
                    return Err(Error::new(loci_types::ErrorKind::NotFound, format!("unknown session `{name}`"))
                        .at("sessionId")
                        .hint("`loci session list` shows them")
                        .into());
                };
                self.whole_session(&visible, &session).await?
            }
            None => {
                let filter = request
                    .filter
                    .unwrap_or_else(|| Filter { kinds: self.non_episodic_kinds(), ..Filter::at(self.now()) });
                filter.validate()?;
                self.all_of(&visible, &filter).await?
            }
        };
        let rules = &self.config.summarization;
        let (strategy, target) =
            (request.strategy.unwrap_or(rules.strategy), request.target_tokens.unwrap_or(rules.target_tokens));
        crate::access::bounds::between("targetTokens", target, 1, MAX_SUMMARY_TOKENS)?;
        let summary = self.summary_of(&caller.tenant, &visible, &memories, strategy, target).await?;
        self.requested_summaries.runs.fetch_add(1, Ordering::Relaxed);
        self.requested_summaries.tokens_saved.fetch_add(summary.tokens_saved as u64, Ordering::Relaxed);
        Ok(summary)
    }

    /// The summaries that callers of all tenants have requested since this engine was made.
    pub fn requested_summaries(&self) -> SummaryCounts {
        SummaryCounts {
            runs: self.requested_summaries.runs.load(Ordering::Relaxed),
            tokens_saved: self.requested_summaries.tokens_saved.load(Ordering::Relaxed),
        }
    }

    async fn summary_of(
        &self,
        tenant: &Tenant,
        visible: &Visible,
        memories: &[Memory],
        strategy: SummaryStrategy,
        target: usize,
    ) -> Result<Summary> {
        let texts: Vec<String> = memories.iter().map(spoken).collect();
        let vectors = self.vectors_of(visible, memories).await?;
        let llm = self.llm_for(tenant).await?;
        let before = llm.as_ref().and_then(LlmClient::left).unwrap_or(0);
        let writer = llm.clone().map(LlmWriter);
        let writer = writer.as_ref().map(|writer| writer as &dyn Writer);
        let made = summarize(&texts, vectors.as_deref(), strategy, target, writer).await;
        if let Some(llm) = &llm {
            self.record_spending(tenant, llm, before).await?;
        }
        made
    }

    /// A vector for each, or none if any is missing.
    async fn vectors_of(&self, visible: &Visible, memories: &[Memory]) -> Result<Option<Vec<Vec<f32>>>> {
        let Some(model) = self.model() else { return Ok(None) };
        let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
        let found = self.store.vectors(visible, &model.name, &ids).await?;
        Ok((found.len() == ids.len()).then(|| found.into_iter().map(|(_, vector)| vector.values).collect()))
    }

    /// How many tokens a session has, if it has too many since its last summary.
    pub(crate) async fn tokens_to_summarize(&self, tenant: &Tenant, session: &Session) -> Result<Option<usize>> {
        let visible = policy::visible_for_maintenance(tenant, &session.scope);
        let known = self.summarized(&visible, &session.scope, &session.session_id).await?;
        if known.as_ref().is_some_and(|known| known.tokens == usize::MAX) {
            return Ok(None);
        }
        let turns = self.whole_session(&visible, session).await?;
        let threshold =
            self.config.summarization.threshold_tokens.saturating_add(known.map_or(0, |known| known.tokens));
        // The numbers of the records are estimates, by which most sessions are surely below the threshold.
        let estimated: usize = turns.iter().map(|turn| turn.tokens as usize).sum();
        if estimated.saturating_mul(2) <= threshold {
            return Ok(None);
        }
        let tokens = tokens_of(&turns);
        Ok((tokens > threshold).then_some(tokens))
    }

    /// The last summary of a session.
    async fn summarized(&self, visible: &Visible, scope: &Scope, session: &str) -> Result<Option<Summarized>> {
        let notes = self.store.notes(visible, &scope.space(), &[summarized_key(session)], self.now()).await?;
        let Some((_, value)) = notes.into_iter().next() else { return Ok(None) };
        // Earlier versions noted the id alone, and summarized a session once.
        let once = || serde_json::from_value(value.clone()).map(|memory| Summarized { memory, tokens: usize::MAX });
        Ok(serde_json::from_value(value.clone()).or_else(|_| once()).ok())
    }

    /// Summarizes a session and keeps the summary. Returns the memory.
    pub(crate) async fn summarize_session(
        &self,
        tenant: &Tenant,
        scope: &Scope,
        session: &str,
    ) -> Result<Option<MemoryId>> {
        let visible = policy::visible_for_maintenance(tenant, scope);
        let Some(found) = self.session_of(&visible, scope, session).await? else { return Ok(None) };
        let turns = self.whole_session(&visible, &found).await?;
        let rules = &self.config.summarization;
        let summary = self.summary_of(tenant, &visible, &turns, rules.strategy, rules.target_tokens).await?;
        if summary.text.is_empty() {
            return Ok(None);
        }
        let (at, within) = (self.now(), Caller { tenant: tenant.clone(), ..Caller::new(scope.identifiers()) });
        let most = self.config.limits.content_characters;
        let new = NewMemory {
            content: summary.text.chars().take(most).collect(),
            layer: Some(scope.layer()),
            kind: Some(Kind::EPISODIC.to_owned()),
            tags: vec![TAG.to_owned()],
            event_time: turns.first().and_then(|turn| turn.event_time),
            source: Some(Source { kind: DISTILLED.to_owned(), role: None, reference: Some(session.to_owned()) }),
            metadata: [(
                "summary".to_owned(),
                json!({
                    "strategy": summary.strategy, "usedLlm": summary.used_llm,
                    "tokensBefore": summary.tokens_before, "tokensAfter": summary.tokens_after,
                }),
            )]
            .into_iter()
            .collect(),
            ..NewMemory::default()
        };
        let mut addition = self.admit_into(&within, scope, new, None)?;
        addition.unless = None;
        addition.jobs.extend(self.embed_jobs(addition.memory.id, at));
        let id = addition.memory.id;
        // A session that has grown since has one summary, which replaces the one before.
        let before = match self.summarized(&visible, scope, session).await? {
            Some(known) => self.store.fetch(&visible, &[known.memory]).await?.pop(),
            None => None,
        };
        let before = before.filter(|memory| memory.state.is_live() && memory.superseded_by_id.is_none());
        let mut actions = vec![match before {
            Some(before) => Action::Supersede { old: before.id, new: Box::new(addition) },
            None => Action::Add(Box::new(addition)),
        }];
        // The first and the last turn identify the summarized range.
        let ends = turns.first().into_iter().chain(turns.last().filter(|_| turns.len() > 1));
        actions.extend(ends.map(|turn| Action::Link(self.edge(id, turn.id, Relation::DerivedFrom, 1.0, at))));
        actions.push(note(None, RUNS, NoteValue::Add(1.0)));
        actions.push(note(None, SAVED, NoteValue::Add(summary.tokens_saved as f64)));
        let known = Summarized { memory: id, tokens: tokens_of(&turns) };
        actions.push(note(Some(scope.clone()), &summarized_key(session), NoteValue::Set(json!(known))));
        let operator = Caller { tenant: tenant.clone(), ..Caller::operator() };
        let changes = actions
            .into_iter()
            .map(|action| self.change(&operator, "worker", "summary of a long conversation", action))
            .collect();
        self.apply(Batch { tenant: tenant.clone(), space: scope.space(), changes }).await?;
        Ok(Some(id))
    }

    async fn whole_session(&self, visible: &Visible, session: &Session) -> Result<Vec<Memory>> {
        let filter = Filter {
            kinds: vec![Kind::EPISODIC.to_owned()],
            threads: vec![session.thread_id.clone()],
            sessions: if session.session_id == session.thread_id {
                Vec::new()
            } else {
                vec![session.session_id.clone()]
            },
            source_types: vec!["conversation".to_owned()],
            ..Filter::at(self.now())
        };
        let mut turns = self.all_of(visible, &filter).await?;
        let name = Some(session.session_id.as_str());
        turns.retain(|turn| turn.identifiers.session_id.as_deref().or(turn.thread_id.as_deref()) == name);
        Ok(turns)
    }

    /// The newest of the matching memories, in the order in which they were added.
    async fn all_of(&self, visible: &Visible, filter: &Filter) -> Result<Vec<Memory>> {
        let mut found: Vec<Memory> = Vec::new();
        let mut after = None;
        while found.len() < MAX_SUMMARIZED {
            let listing = self.store.scan(visible, filter, Page { after, limit: MEMORIES_PER_READ }).await?;
            found.extend(listing.memories);
            after = listing.next;
            if after.is_none() {
                break;
            }
        }
        found.reverse();
        Ok(found)
    }
}

/// What is noted of the last summary of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Summarized {
    /// The summary.
    memory: MemoryId,
    /// How many tokens the session had.
    tokens: usize,
}

/// The tokens of these memories.
fn tokens_of(memories: &[Memory]) -> usize {
    memories.iter().map(|memory| count_tokens(&memory.content)).sum()
}

/// A memory as it is summarized: a turn with who said it.
fn spoken(memory: &Memory) -> String {
    match memory.actor_id.as_deref().or(memory.role.as_deref()) {
        Some(speaker) if memory.thread_id.is_some() => format!("{speaker}: {}", memory.content),
        _ => memory.content.clone(),
    }
}

fn note(scope: Option<Scope>, key: &str, value: NoteValue) -> Action {
    Action::Bookkeeping(Bookkeeping::Note { scope, key: key.to_owned(), value, until: None })
}

// The key is stored, and keeps the spelling of earlier versions.
fn summarized_key(session: &str) -> String {
    format!("summarised {session}")
}
