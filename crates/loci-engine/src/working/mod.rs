//! Working memory: the current messages, tool results and scratchpad of an agent.
//!
//! It belongs to a user, optionally to an agent and a session. It is in this process and bounded; messages beyond the
//! bounds are stored as turns of their conversation, in order, before they are dropped. With a tier it survives a
//! restart.

mod flush;
mod memories;
mod memory;
mod mirror;
mod query;
mod session;
mod shares;

use std::sync::Arc;

use jiff::Timestamp;
use loci_store::tier::WorkingKey;
use loci_types::{Error, ErrorKind, Outcome, contains_nul};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use self::memories::WorkingMemories;
use self::memory::{BufferState, WorkingBuffer};
pub use self::memory::{ToolResult, WorkingMemory, WorkingMessage};
use self::mirror::{Mirror, MirrorEntry, RestoredEntry, known};
pub use self::query::{FoundBy, WorkingHit, WorkingQuery};
pub use self::session::{Entry, EntryHit, EntryReceipt, NewEntry};
use crate::access::bounds;
use crate::access::policy::{self, Caller};
use crate::access::redact::Pass;
use crate::{Engine, Result, Turn, optional_instant};

/// Maximum number of dimensions of the vector of an entry.
const DIMENSIONS: usize = 16_384;

/// A message for working memory. Only the content is required.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct NewMessage {
    /// The text.
    pub content: String,
    /// The role: `user`, `assistant`, `tool` or `system`.
    pub role: Option<String>,
    /// The person or agent that said it.
    pub actor_id: Option<String>,
    /// The thread. Default: the session, or the agent.
    pub thread_id: Option<String>,
    /// When it was said: an instant, or a day. Default: now.
    #[serde(deserialize_with = "optional_instant")]
    pub created_at: Option<Timestamp>,
    /// Further fields, by name.
    pub metadata: Map<String, Value>,
    /// Its vector, if the caller has one.
    pub embedding: Option<Vec<f32>>,
    /// Whether its vector is computed while the caller waits, so that it is found by similarity.
    pub embed: bool,
}

/// A tool result for working memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct NewToolResult {
    /// The id of the tool call. A second result of the same call replaces the first.
    pub call_id: String,
    /// The name of the tool.
    pub tool: Option<String>,
    /// The result: text, or any JSON.
    pub content: Value,
    /// Its vector, if the caller has one.
    pub embedding: Option<Vec<f32>>,
    /// Whether its vector is computed while the caller waits, so that it is found by similarity.
    pub embed: bool,
}

/// The result of a write to working memory.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppendReceipt {
    /// Whether the entry is new, was replaced, or is unchanged.
    pub event: Outcome,
    /// The message, if one was appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Arc<WorkingMessage>>,
    /// The tool result, if one was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result: Option<Arc<ToolResult>>,
    /// The scratchpad, if it was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scratchpad: Option<String>,
    /// Number of messages in working memory after the write.
    #[serde(rename = "messageCount")]
    pub messages: usize,
    /// Number of messages that were stored as turns because of the token limit.
    #[serde(rename = "flushedCount")]
    pub flushed: usize,
    /// The names of the patterns that were masked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// Parts of the work that failed, although the write succeeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
}

impl AppendReceipt {
    fn new(event: Outcome, messages: usize, redacted: Vec<String>, degraded: Vec<String>) -> Self {
        let (message, tool_result, scratchpad) = (None, None, None);
        Self { event, message, tool_result, scratchpad, messages, flushed: 0, redacted, degraded }
    }
}

/// The content of working memory.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkingView {
    /// The messages that were not stored as turns yet, oldest first.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<WorkingMessage>))]
    pub messages: Vec<Arc<WorkingMessage>>,
    /// The tool results, by call.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<ToolResult>))]
    pub tool_results: Vec<Arc<ToolResult>>,
    /// The scratchpad of the agent.
    pub scratchpad: String,
    /// Number of tokens of the messages.
    pub tokens: u64,
    /// Parts of working memory that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
}

/// What was erased of a user outside of the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ErasedTiers {
    /// Number of working memories in this process.
    pub working: usize,
    /// Number of working memories and sessions in the tier, of all processes.
    pub tier: usize,
}

impl Engine {
    /// Appends a message. Above the token limit, messages are stored as turns first; if that fails they stay, and the
    /// receipt says so.
    pub async fn append(&self, caller: &Caller, new: NewMessage) -> Result<AppendReceipt> {
        policy::require_writer(caller)?;
        let place = policy::working_key(caller)?;
        if let Some(thread) = &new.thread_id {
            self.check_thread(caller, &self.target(caller, None).await?, thread).await?;
        }
        let (message, redacted) = self.message(&place, new).await?;
        let vector = message.embedding.clone();
        let cost = message.content.len() + vector.as_deref().map_or(0, |values| 6 * values.len());
        let mut appended = None;
        let slot = self
            .changed(&place, caller, (cost, vector.as_deref()), |state, mirror| {
                let (message, bytes) = state.push(message.clone());
                appended = Some(message.clone());
                if let Some(mirror) = mirror {
                    mirror.add(&place, MirrorEntry::Message(message));
                }
                (bytes, 0)
            })
            .await?;
        let mut degraded = self.working_degraded();
        let flushed = match self.flush_if_over(&slot).await {
            Ok(flushed) => flushed,
            Err(error) => {
                tracing::warn!(%error, "working memory could not be stored as turns");
                degraded.push(format!("flush: {}", error.kind().code()));
                0
            }
        };
        let messages = slot.state().memory.messages.len();
        Ok(AppendReceipt {
            message: appended,
            flushed,
            ..AppendReceipt::new(Outcome::Created, messages, redacted, degraded)
        })
    }

    /// Stores a tool result.
    pub async fn put_tool_result(&self, caller: &Caller, new: NewToolResult) -> Result<AppendReceipt> {
        policy::require_writer(caller)?;
        let place = policy::working_key(caller)?;
        let (result, redacted) = self.tool_result(new).await?;
        let (cost, vector) = (result.text().len(), result.embedding.clone());
        let (mut event, mut written) = (Outcome::Created, None);
        let slot = self
            .changed(&place, caller, (cost, vector.as_deref()), |state, mirror| {
                let before = state.bytes();
                let (result, old) = state.put(result.clone());
                event = if old.is_some() { Outcome::Updated } else { Outcome::Created };
                written = Some(result.clone());
                if let Some(mirror) = mirror {
                    mirror.add(&place, MirrorEntry::Tool(result));
                }
                // What it took the place of is struck out behind; until then the later one counts.
                if let (Some(mirror), Some(old)) = (mirror, old) {
                    mirror.strike(&place, MirrorEntry::Tool(old));
                }
                grown(before, state.bytes())
            })
            .await?;
        let messages = slot.state().memory.messages.len();
        Ok(AppendReceipt {
            tool_result: written,
            ..AppendReceipt::new(event, messages, redacted, self.working_degraded())
        })
    }

    /// Sets the scratchpad.
    pub async fn set_scratchpad(&self, caller: &Caller, text: &str) -> Result<AppendReceipt> {
        policy::require_writer(caller)?;
        let place = policy::working_key(caller)?;
        let mut text = text.to_owned();
        bounds::short("scratchpad", Some(&text), SCRATCHPAD)?;
        let mut pass = Pass::strict(&self.redactor);
        pass.text("scratchpad", &mut text)?;
        let mut event = Outcome::Updated;
        let slot = self
            .changed(&place, caller, (text.len(), None), |state, mirror| {
                let before = state.bytes();
                let (new, old) = state.note(&text);
                event = if new == old { Outcome::None } else { Outcome::Updated };
                if let Some(mirror) = mirror {
                    mirror.add(&place, MirrorEntry::Scratchpad(new));
                    if !old.is_empty() {
                        mirror.strike(&place, MirrorEntry::Scratchpad(old));
                    }
                }
                grown(before, state.bytes())
            })
            .await?;
        let messages = slot.state().memory.messages.len();
        let (redacted, degraded) = (pass.found(), self.working_degraded());
        Ok(AppendReceipt { scratchpad: Some(text), ..AppendReceipt::new(event, messages, redacted, degraded) })
    }

    /// A snapshot of working memory.
    pub async fn working(&self, caller: &Caller) -> Result<Arc<WorkingMemory>> {
        let place = policy::working_key(caller)?;
        if self.working.mirror.is_none() && self.working.find(&place).is_none() {
            return Ok(Arc::default());
        }
        let slot = self.slot(&place, caller).await;
        let memory = slot.state().memory.clone();
        if self.working.mirror.is_some() {
            self.make_room(&slot, 0).await;
        }
        Ok(memory)
    }

    /// The content of working memory, for people and clients.
    pub async fn working_view(&self, caller: &Caller) -> Result<WorkingView> {
        let memory = self.working(caller).await?;
        Ok(WorkingView {
            tokens: memory.tokens(),
            messages: memory.messages.clone(),
            tool_results: memory.tool_results.values().cloned().collect(),
            scratchpad: memory.scratchpad.to_string(),
            degraded: self.working_degraded(),
        })
    }

    /// Clears working memory, here and in the tier. Messages that were not stored as turns are lost.
    pub async fn clear_working(&self, caller: &Caller) -> Result<()> {
        policy::require_writer(caller)?;
        let place = policy::working_key(caller)?;
        if let Some(slot) = self.working.find(&place) {
            // What is on its way to the store arrives first, so that nothing is half there.
            let _turn = slot.flushing.lock().await;
            let freed = slot.state().clear();
            self.working.shrank(&place, freed);
        }
        if let Some(mirror) = &self.working.mirror {
            mirror.clear(&place).await.map_err(away)?;
        }
        Ok(())
    }

    /// Clears all data of a user outside of the store: in this process, and in the tier also that of other processes,
    /// which then drop what they hold. Queued writes are written first, so erase the data in the store after this.
    pub async fn erase_working(&self, caller: &Caller, user: &str) -> Result<ErasedTiers> {
        policy::require_user(caller, user)?;
        let tenant = caller.tenant.name();
        self.write_waiting().await;
        let theirs =
            |slot: &Arc<WorkingBuffer>| (slot.place.tenant.as_str(), slot.place.user.as_str()) == (tenant, user);
        for slot in self.working.all().into_iter().filter(theirs) {
            let _turn = slot.flushing.lock().await;
            let mut state = slot.state();
            self.working.shrank(&slot.place, state.clear());
        }
        let working = self.working.drop_user(tenant, user);
        self.working.mirrored_up_to_now().await;
        let tier = match &self.tier {
            Some(tier) => tier.erase_user(tenant, user, self.now()).await.map_err(away)?,
            None => 0,
        };
        Ok(ErasedTiers { working, tier })
    }

    /// The last error of the tier, without asking it.
    pub fn working_degraded(&self) -> Vec<String> {
        let problem = self.working.mirror.as_ref().and_then(Mirror::problem);
        problem.map(|problem| format!("tier: {problem}")).into_iter().collect()
    }

    /// Changes the working memory of a key, which is created if absent. The change returns how many bytes were added
    /// and removed.
    async fn changed(
        &self,
        place: &WorkingKey,
        caller: &Caller,
        (cost, embedding): (usize, Option<&[f32]>),
        mut change: impl FnMut(&mut BufferState, Option<&Mirror>) -> (usize, usize),
    ) -> Result<Arc<WorkingBuffer>> {
        loop {
            let slot = self.slot(place, caller).await;
            self.make_room(&slot, cost).await;
            if !self.working.fits(&self.config.working, place, cost) {
                return Err(full().into());
            }
            let mut state = slot.state();
            // Someone may have dropped it between finding and holding it.
            if state.gone {
                continue;
            }
            if embedding.is_some_and(|embedding| !state.takes(embedding)) {
                return Err(Error::invalid("embedding", "embedding is longer or shorter than those before it")
                    .hint("use one model for all entries")
                    .into());
            }
            if state.owner != *caller {
                state.owner = caller.clone();
            }
            let (came, went) = change(&mut state, self.working.mirror.as_ref());
            self.working.grew(place, came);
            self.working.shrank(place, went);
            drop(state);
            return Ok(slot);
        }
    }

    /// The working memory of a key, with what the tier holds of it. One that was idle for too long is stored as turns
    /// and starts empty.
    async fn slot(&self, place: &WorkingKey, caller: &Caller) -> Arc<WorkingBuffer> {
        loop {
            let now = self.now();
            let slot = self.working.find_or_make(place, caller, now);
            let used = slot.used();
            if now.as_microsecond() - slot.used_at() >= memories::idle_micros(&self.config.working)
                && self.evict(&slot, used).await
            {
                continue;
            }
            self.working.touch(&slot, now);
            if let Some(mirror) = &self.working.mirror
                && !slot.loaded.initialized()
            {
                slot.loaded.get_or_init(|| self.load(&slot, mirror)).await;
            }
            return slot;
        }
    }

    /// Loads the content of the tier.
    async fn load(&self, slot: &WorkingBuffer, mirror: &Mirror) {
        // What was taken away must not come back because the tier has not heard of it yet.
        mirror.caught_up().await;
        let entries = match mirror.tier().read(&slot.place).await {
            Ok(entries) => entries,
            Err(error) => return mirror.failed(error.to_string()),
        };
        let mut state = slot.state();
        let before = state.bytes();
        for entry in entries.into_iter().filter_map(known) {
            match entry {
                RestoredEntry::Message(message) => drop(state.push(*message)),
                RestoredEntry::Tool(result) => drop(state.put(result)),
                RestoredEntry::Scratchpad(text) => drop(state.note(&text)),
            }
        }
        self.working.grew(&slot.place, state.bytes() - before);
    }

    /// Validates a message and makes its entry, so that it can later be stored as a turn.
    async fn message(&self, place: &WorkingKey, new: NewMessage) -> Result<(WorkingMessage, Vec<String>)> {
        let mut turn = Turn {
            thread_id: new.thread_id.clone().unwrap_or_else(|| flush::thread(place)),
            content: new.content,
            actor_id: new.actor_id,
            role: new.role,
            event_time: new.created_at,
            metadata: new.metadata,
            ..Turn::default()
        };
        let mut pass = Pass::strict(&self.redactor);
        pass.turn(&mut turn)?;
        self.check_turn(&turn)?;
        let embedding = self.vector_of(&turn.content, new.embedding, new.embed).await?;
        let at = new.created_at.unwrap_or_else(|| self.now());
        let message = WorkingMessage {
            id: self.new_id(self.now()).0,
            role: turn.role,
            content: turn.content,
            actor_id: turn.actor_id,
            thread_id: new.thread_id,
            at,
            metadata: turn.metadata,
            embedding,
            number: 0,
            count: memory::TokenCount::default(),
        };
        Ok((message, pass.found()))
    }

    async fn tool_result(&self, new: NewToolResult) -> Result<(ToolResult, Vec<String>)> {
        if new.call_id.trim().is_empty() {
            return Err(Error::invalid("callId", "callId is empty").hint("give the id of the tool call").into());
        }
        bounds::short("callId", Some(&new.call_id), bounds::REFERENCE)?;
        bounds::short("tool", new.tool.as_deref(), bounds::LABEL)?;
        if contains_nul(&new.content) {
            return Err(Error::nul("content").into());
        }
        let mut fields = Map::from_iter([("content".to_owned(), new.content)]);
        let mut pass = Pass::strict(&self.redactor);
        pass.metadata(&mut fields)?;
        let content = fields.remove("content").unwrap_or_default();
        let (call_id, tool, at) = (new.call_id, new.tool, self.now());
        let mut result = ToolResult { call_id, tool, content, at, embedding: None, number: 0 };
        result.embedding = self.vector_of(&result.text(), new.embedding, new.embed).await?;
        Ok((result, pass.found()))
    }

    /// The vector of an entry: the given one, or a computed one on request.
    async fn vector_of(&self, text: &str, given: Option<Vec<f32>>, make: bool) -> Result<Option<Arc<[f32]>>> {
        let Some(given) = given else {
            let made = if make { self.embed_text(text).await } else { None };
            return Ok(made.map(Into::into));
        };
        let expect = self.model().map_or(given.len(), |model| model.dimensions);
        if given.len() != expect || given.is_empty() || given.len() > DIMENSIONS || given.iter().any(|v| !v.is_finite())
        {
            let message = format!("embedding has {} numbers, but must have {expect}, all finite", given.len());
            return Err(Error::invalid("embedding", message).hint("leave it out, or set embed instead").into());
        }
        Ok(Some(given.into()))
    }
}

/// Maximum length of a scratchpad, in characters.
const SCRATCHPAD: usize = 1 << 20;

fn grown(before: usize, after: usize) -> (usize, usize) {
    (after.saturating_sub(before), before.saturating_sub(after))
}

fn full() -> Error {
    Error::new(ErrorKind::RateLimited, "working memory is full, and nothing in it can be stored elsewhere")
        .hint("clear what is not needed, or raise working.bytes")
}

/// The error for a failure of the tier where it is required.
fn away(error: loci_store::tier::TierError) -> Error {
    Error::new(error.kind(), error.to_string()).hint("ask again when it answers; `/readyz` shows how it is")
}
