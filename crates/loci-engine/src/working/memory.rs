//! One working memory: messages in order, tool results by call, and a scratchpad.
//!
//! Readers receive snapshots and do not block writers. Tokens are counted on demand, each text once; until then the
//! number of bytes is the upper bound, which is often enough.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use jiff::Timestamp;
use loci_store::tier::WorkingKey;
use loci_store::vectors::Arrays;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::access::policy::Caller;
use crate::prompt::pack::tokens::count_tokens;

/// Bytes that an entry costs beside its text.
const OVERHEAD: usize = 256;

/// A text whose tokens are counted when they are asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct TokenCount(OnceLock<u64>);

impl TokenCount {
    fn of(&self, text: &str) -> u64 {
        *self.0.get_or_init(|| count_tokens(text) as u64)
    }

    /// No fewer than there are: no token is shorter than a byte.
    fn at_most(&self, text: &str) -> u64 {
        self.0.get().copied().unwrap_or(text.len() as u64)
    }
}

/// A message that an agent has before it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkingMessage {
    /// Its id, which becomes the reference of its turn.
    pub id: Uuid,
    /// In which role it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The text.
    pub content: String,
    /// Who said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    /// The thread. Default: the session, or the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// When it was said.
    #[serde(rename = "createdAt")]
    pub at: Timestamp,
    /// Anything else, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Its vector, if it has one.
    #[serde(skip)]
    pub embedding: Option<Arc<[f32]>>,
    #[serde(skip)]
    pub(super) number: i64,
    #[serde(skip)]
    pub(super) count: TokenCount,
}

impl WorkingMessage {
    /// How many tokens it has.
    pub fn tokens(&self) -> u64 {
        self.count.of(&self.content)
    }

    fn bytes(&self) -> usize {
        OVERHEAD + self.content.len() + embedding_bytes(self.embedding.as_deref())
    }
}

/// What a tool answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call that asked for it.
    pub call_id: String,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The answer.
    pub content: Value,
    /// When it came.
    #[serde(rename = "createdAt", alias = "at")]
    pub at: Timestamp,
    /// Its vector, if it has one.
    #[serde(skip)]
    pub embedding: Option<Arc<[f32]>>,
    #[serde(skip)]
    pub(super) number: i64,
}

impl ToolResult {
    /// The answer as text.
    pub fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    fn bytes(&self) -> usize {
        OVERHEAD + self.call_id.len() + self.text().len() + embedding_bytes(self.embedding.as_deref())
    }
}

/// The vector itself, and its code among the others.
fn embedding_bytes(embedding: Option<&[f32]>) -> usize {
    embedding.map_or(0, |values| 6 * values.len())
}

/// A snapshot of what an agent has before it.
#[derive(Debug, Clone, Default)]
pub struct WorkingMemory {
    /// The messages that were not kept as turns yet, oldest first.
    pub messages: Vec<Arc<WorkingMessage>>,
    /// The results of tools, by the call.
    pub tool_results: BTreeMap<String, Arc<ToolResult>>,
    /// What the agent has noted for itself.
    pub scratchpad: Arc<str>,
}

impl WorkingMemory {
    /// How many tokens the messages have, counted by a real tokenizer.
    pub fn tokens(&self) -> u64 {
        self.messages.iter().map(|message| message.tokens()).sum()
    }

    fn tokens_at_most(&self) -> u64 {
        self.messages.iter().map(|message| message.count.at_most(&message.content)).sum()
    }
}

/// One working memory in this process.
pub(super) struct WorkingBuffer {
    pub(super) place: WorkingKey,
    /// Its place in the order of use.
    used: AtomicU64,
    /// When it was used, in microseconds.
    used_at: AtomicI64,
    /// Done when the tier was asked what it knows.
    pub(super) loaded: tokio::sync::OnceCell<()>,
    /// Locked while messages are flushed or removed.
    pub(super) flushing: tokio::sync::Mutex<()>,
    state: Mutex<BufferState>,
}

/// What is in it.
pub(super) struct BufferState {
    pub(super) memory: Arc<WorkingMemory>,
    /// The vectors of entries that have one, by the entry's number.
    pub(super) vectors: Option<Arrays>,
    /// Who wrote last: in whose name messages are kept as turns.
    pub(super) owner: Caller,
    /// Whether it was dropped: a holder must look up its successor.
    pub(super) gone: bool,
    bytes: usize,
    tokens_at_most: u64,
    numbers: i64,
}

impl WorkingBuffer {
    pub(super) fn new(place: WorkingKey, owner: Caller) -> Self {
        let state = BufferState {
            memory: Arc::default(),
            vectors: None,
            owner,
            gone: false,
            bytes: 0,
            tokens_at_most: 0,
            numbers: 0,
        };
        Self {
            place,
            used: AtomicU64::new(0),
            used_at: AtomicI64::new(0),
            loaded: tokio::sync::OnceCell::new(),
            flushing: tokio::sync::Mutex::default(),
            state: Mutex::new(state),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, BufferState> {
        // Each step leaves the state whole, so a panic elsewhere has not broken it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn touch(&self, use_number: u64, now: Timestamp) {
        self.used.store(use_number, Ordering::Relaxed);
        self.used_at.store(now.as_microsecond(), Ordering::Relaxed);
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn used_at(&self) -> i64 {
        self.used_at.load(Ordering::Relaxed)
    }
}

impl BufferState {
    /// Bytes it holds, near enough.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the messages may have more tokens than this; only counting them tells.
    pub(super) fn may_exceed(&self, tokens: u64) -> bool {
        self.tokens_at_most > tokens
    }

    /// After tokens were counted: what is known now.
    pub(super) fn recount(&mut self) {
        self.tokens_at_most = self.memory.tokens_at_most();
    }

    /// Whether a vector of this length can lie beside the others.
    pub(super) fn takes(&self, embedding: &[f32]) -> bool {
        self.vectors.as_ref().is_none_or(|vectors| vectors.is_empty() || vectors.dimensions() == embedding.len())
    }

    fn index(&mut self, embedding: Option<&Arc<[f32]>>) -> i64 {
        self.numbers += 1;
        if let Some(embedding) = embedding {
            let fits = self.vectors.as_ref().is_some_and(|vectors| vectors.dimensions() == embedding.len());
            if !fits {
                self.vectors = Some(Arrays::new(embedding.len()));
            }
            if let Some(vectors) = &mut self.vectors {
                vectors.insert(self.numbers, embedding);
            }
        }
        self.numbers
    }

    fn unindex(&mut self, number: i64) {
        if let Some(vectors) = &mut self.vectors {
            vectors.remove(number);
        }
    }

    /// Adds a message at the end; how many bytes that took.
    pub(super) fn push(&mut self, mut message: WorkingMessage) -> (Arc<WorkingMessage>, usize) {
        message.number = self.index(message.embedding.as_ref());
        let (message, before) = (Arc::new(message), self.bytes);
        self.bytes += message.bytes();
        self.tokens_at_most += message.count.at_most(&message.content);
        Arc::make_mut(&mut self.memory).messages.push(message.clone());
        (message, self.bytes - before)
    }

    /// Puts in the result of a tool; the one whose place it took.
    pub(super) fn put(&mut self, mut result: ToolResult) -> (Arc<ToolResult>, Option<Arc<ToolResult>>) {
        result.number = self.index(result.embedding.as_ref());
        let result = Arc::new(result);
        self.bytes += result.bytes();
        let results = &mut Arc::make_mut(&mut self.memory).tool_results;
        let old = results.insert(result.call_id.clone(), result.clone());
        if let Some(old) = &old {
            self.bytes -= old.bytes();
            self.unindex(old.number);
        }
        (result, old)
    }

    /// Sets the scratchpad; what stood there.
    pub(super) fn note(&mut self, text: &str) -> (Arc<str>, Arc<str>) {
        let text: Arc<str> = text.into();
        let memory = Arc::make_mut(&mut self.memory);
        let old = std::mem::replace(&mut memory.scratchpad, text.clone());
        self.bytes = self.bytes + text.len() - old.len();
        (text, old)
    }

    /// Takes away messages from the front: those that `gone` says, until the first that it does not.
    pub(super) fn take_front(&mut self, gone: &[Arc<WorkingMessage>]) {
        let memory = Arc::make_mut(&mut self.memory);
        let same = |(held, gone): &(&Arc<WorkingMessage>, &Arc<WorkingMessage>)| held.id == gone.id;
        let count = memory.messages.iter().zip(gone).take_while(same).count();
        let taken: Vec<Arc<WorkingMessage>> = memory.messages.drain(..count).collect();
        for message in taken {
            self.bytes -= message.bytes();
            self.unindex(message.number);
        }
        self.recount();
    }

    /// Empties it; how many bytes that gave back.
    pub(super) fn clear(&mut self) -> usize {
        self.memory = Arc::default();
        self.vectors = None;
        self.tokens_at_most = 0;
        std::mem::take(&mut self.bytes)
    }
}
