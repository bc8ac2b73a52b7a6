//! Mirrors working memory to a tier, so that it survives a restart.
//!
//! One task sends every change to the tier in order, in the background. A tier that fails or lags loses its copy, but
//! never blocks the caller; the last error is reported. Only removals are awaited: removed entries must not come
//! back.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use data_encoding::BASE64;
use jiff::Timestamp;
use loci_store::tier::{Tier, TierResult, WorkingEntry, WorkingKey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::memory::{ToolResult, WorkingMessage};

/// Maximum number of commands that wait for the tier.
const MAX_QUEUED: usize = 16_384;
/// Maximum number of entries that are sent to the tier at once.
const MAX_BATCH: usize = 256;

/// The way to the tier.
pub(super) struct Mirror {
    tier: Arc<dyn Tier>,
    queue: OnceLock<mpsc::Sender<MirrorCommand>>,
    problem: Arc<Mutex<Option<String>>>,
}

/// Something that was put in.
#[derive(Clone)]
pub(super) enum MirrorEntry {
    Message(Arc<WorkingMessage>),
    Tool(Arc<ToolResult>),
    Scratchpad(Arc<str>),
}

/// A command for the task that writes to the tier.
enum MirrorCommand {
    Add(WorkingKey, MirrorEntry),
    Remove(WorkingKey, Vec<MirrorEntry>),
    Clear(WorkingKey, oneshot::Sender<TierResult<()>>),
    Flush(oneshot::Sender<()>),
}

impl Mirror {
    pub(super) fn new(tier: Arc<dyn Tier>) -> Self {
        Self { tier, queue: OnceLock::new(), problem: Arc::default() }
    }

    pub(super) fn tier(&self) -> &dyn Tier {
        &*self.tier
    }

    /// What is wrong with it.
    pub(super) fn problem(&self) -> Option<String> {
        let last = self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.or_else(|| self.tier.trouble())
    }

    pub(super) fn failed(&self, problem: String) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
    }

    fn queue(&self) -> &mpsc::Sender<MirrorCommand> {
        self.queue.get_or_init(|| {
            let (queue, steps) = mpsc::channel(MAX_QUEUED);
            tokio::spawn(run_mirror(self.tier.clone(), self.problem.clone(), steps));
            queue
        })
    }

    /// Queues an addition, without waiting.
    pub(super) fn add(&self, key: &WorkingKey, note: MirrorEntry) {
        if self.queue().try_send(MirrorCommand::Add(key.clone(), note)).is_err() {
            self.failed(format!("{} is behind: part of working memory is not in it yet", self.tier.name()));
        }
    }

    /// Queues the removal of a replaced entry, without waiting.
    pub(super) fn strike(&self, key: &WorkingKey, note: MirrorEntry) {
        if self.queue().try_send(MirrorCommand::Remove(key.clone(), vec![note])).is_err() {
            self.failed(format!("{} is behind: it still has data that was replaced", self.tier.name()));
        }
    }

    /// Queues removals.
    pub(super) async fn remove(&self, key: &WorkingKey, notes: Vec<MirrorEntry>) {
        // The task ends only with this mirror.
        let _ = self.queue().send(MirrorCommand::Remove(key.clone(), notes)).await;
    }

    /// Empties a working memory there, and returns when that is done.
    pub(super) async fn clear(&self, key: &WorkingKey) -> TierResult<()> {
        let (done, confirmed) = oneshot::channel();
        if self.queue().send(MirrorCommand::Clear(key.clone(), done)).await.is_err() {
            return self.tier.clear(key).await;
        }
        match confirmed.await {
            Ok(result) => result,
            Err(_) => self.tier.clear(key).await,
        }
    }

    /// Returns when all earlier commands were executed.
    pub(super) async fn caught_up(&self) {
        let Some(queue) = self.queue.get() else { return };
        let (done, confirmed) = oneshot::channel();
        if queue.send(MirrorCommand::Flush(done)).await.is_ok() {
            let _ = confirmed.await;
        }
    }
}

/// Tells the tier what happened, in order.
async fn run_mirror(
    tier: Arc<dyn Tier>,
    problem: Arc<Mutex<Option<String>>>,
    mut steps: mpsc::Receiver<MirrorCommand>,
) {
    let record_result = |result: Result<(), String>| {
        *problem.lock().unwrap_or_else(PoisonError::into_inner) = result.err();
    };
    let mut next = steps.recv().await;
    while let Some(step) = next.take() {
        match step {
            MirrorCommand::Add(key, note) => {
                let mut entries = vec![entry_of(&note)];
                while entries.len() < MAX_BATCH {
                    match steps.try_recv() {
                        Ok(MirrorCommand::Add(other, note)) if other == key => entries.push(entry_of(&note)),
                        Ok(other) => {
                            next = Some(other);
                            break;
                        }
                        Err(_) => break,
                    }
                }
                record_result(tier.append(&key, &entries).await.map(drop).map_err(|error| error.to_string()));
            }
            MirrorCommand::Remove(key, notes) => {
                let gone: Vec<WorkingEntry> = notes.iter().map(entry_of).collect();
                record_result(tier.remove(&key, &gone).await.map(drop).map_err(|error| error.to_string()));
            }
            MirrorCommand::Clear(key, done) => drop(done.send(tier.clear(&key).await)),
            MirrorCommand::Flush(done) => drop(done.send(())),
        }
        if next.is_none() {
            next = steps.recv().await;
        }
    }
}

/// An entry as it is written. The same entry is always written alike: so it is found when it is to go.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StoredEntry {
    sort: String,
    id: Uuid,
    role: Option<String>,
    content: Value,
    actor_id: Option<String>,
    thread_id: Option<String>,
    at: Timestamp,
    metadata: Map<String, Value>,
    call_id: String,
    tool: Option<String>,
    embedding: Option<String>,
}

impl Default for StoredEntry {
    fn default() -> Self {
        Self {
            sort: String::new(),
            id: Uuid::nil(),
            role: None,
            content: Value::Null,
            actor_id: None,
            thread_id: None,
            at: Timestamp::UNIX_EPOCH,
            metadata: Map::new(),
            call_id: String::new(),
            tool: None,
            embedding: None,
        }
    }
}

fn entry_of(note: &MirrorEntry) -> WorkingEntry {
    let (tokens, written) = match note {
        MirrorEntry::Message(message) => (
            message.tokens(),
            StoredEntry {
                sort: "message".to_owned(),
                id: message.id,
                role: message.role.clone(),
                content: json!(message.content),
                actor_id: message.actor_id.clone(),
                thread_id: message.thread_id.clone(),
                at: message.at,
                metadata: message.metadata.clone(),
                embedding: message.embedding.as_deref().map(encoded),
                ..StoredEntry::default()
            },
        ),
        MirrorEntry::Tool(result) => (
            0,
            StoredEntry {
                sort: "tool".to_owned(),
                content: result.content.clone(),
                at: result.at,
                call_id: result.call_id.clone(),
                tool: result.tool.clone(),
                embedding: result.embedding.as_deref().map(encoded),
                ..StoredEntry::default()
            },
        ),
        MirrorEntry::Scratchpad(text) => {
            (0, StoredEntry { sort: "scratchpad".to_owned(), content: json!(&**text), ..StoredEntry::default() })
        }
    };
    WorkingEntry { tokens, value: serde_json::to_value(written).unwrap_or_default() }
}

/// What was put in, read back. What cannot be read was not written by this version, and is passed over.
pub(super) enum RestoredEntry {
    Message(Box<WorkingMessage>),
    Tool(ToolResult),
    Scratchpad(String),
}

pub(super) fn known(entry: WorkingEntry) -> Option<RestoredEntry> {
    let written: StoredEntry = serde_json::from_value(entry.value).ok()?;
    let embedding = written.embedding.as_deref().and_then(decoded);
    match written.sort.as_str() {
        "message" => Some(RestoredEntry::Message(Box::new(WorkingMessage {
            id: written.id,
            role: written.role,
            content: written.content.as_str()?.to_owned(),
            actor_id: written.actor_id,
            thread_id: written.thread_id,
            at: written.at,
            metadata: written.metadata,
            embedding,
            number: 0,
            count: Default::default(),
        }))),
        "tool" => Some(RestoredEntry::Tool(ToolResult {
            call_id: written.call_id,
            tool: written.tool,
            content: written.content,
            at: written.at,
            embedding,
            number: 0,
        })),
        "scratchpad" => Some(RestoredEntry::Scratchpad(written.content.as_str()?.to_owned())),
        _ => None,
    }
}

/// A vector as text.
pub(super) fn encoded(values: &[f32]) -> String {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    BASE64.encode(&bytes)
}

/// A vector read back.
pub(super) fn decoded(text: &str) -> Option<Arc<[f32]>> {
    let bytes = BASE64.decode(text.as_bytes()).ok()?;
    let read = |four: &[u8]| Some(f32::from_le_bytes(four.try_into().ok()?));
    bytes.chunks(4).map(read).collect()
}
