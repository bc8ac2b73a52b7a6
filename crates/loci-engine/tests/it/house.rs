//! Test fixtures: an engine on a store with a clock and a stub of the embedding model.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::Timestamp;
use loci_engine::llm::LlmClient;
use loci_engine::{Caller, Clock, Config, Engine, ListRequest, NewMemory, RecallRequest, Turn};
use loci_models::{Detail, Embedder, Embedding, Model, Reranker};
use loci_store::tier::Tier;
use loci_store::{SqliteOptions, SqliteStore, Store};
use loci_testkit::vectors::hashed_vector;
use loci_types::{Identifiers, Memory, MemoryId, Receipt, Shard, Space};

const DIMENSIONS: usize = 256;

/// A stand-in for a model: hashes words, knows nothing of meaning, and can be switched off.
pub(crate) struct Hashing {
    model: Model,
    up: AtomicBool,
}

#[async_trait]
impl Embedder for Hashing {
    fn model(&self) -> &Model {
        &self.model
    }

    async fn embed(&self, texts: &[String], _: Detail) -> Result<Vec<Embedding>, loci_models::Error> {
        if !self.up.load(Ordering::Relaxed) {
            return Err(loci_models::Error::ModelMissing { looked: Vec::new() });
        }
        let made = |text: &String| Embedding { vector: hashed_vector(text, DIMENSIONS), tokens: Vec::new() };
        Ok(texts.iter().map(made).collect())
    }
}

/// A clock that moves only when a test moves it.
pub(crate) struct Hands(Mutex<Timestamp>);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// An engine on a folder of its own.
pub(crate) struct House {
    pub(crate) engine: Engine,
    pub(crate) embedder: Arc<Hashing>,
    clock: Arc<Hands>,
    pub(crate) folder: tempfile::TempDir,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with(Config::default())
    }

    pub(crate) fn with(config: Config) -> Self {
        Self::made(config, |folder, _| Arc::new(SqliteStore::open(folder, SqliteOptions::default()).unwrap()))
    }

    /// A house on another store.
    pub(crate) fn on(store: impl FnOnce(&Path, Arc<dyn Clock>) -> Arc<dyn Store>) -> Self {
        Self::made(Config::default(), store)
    }

    fn made(config: Config, store: impl FnOnce(&Path, Arc<dyn Clock>) -> Arc<dyn Store>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let model =
            Model { name: "hashing".to_owned(), dimensions: DIMENSIONS, similarity_threshold: 0.3, max_tokens: 256 };
        let embedder = Arc::new(Hashing { model, up: AtomicBool::new(true) });
        let clock = Arc::new(Hands(Mutex::new("2026-06-01T12:00:00Z".parse().unwrap())));
        let store = store(folder.path(), clock.clone());
        let engine = Engine::new(store, Some(embedder.clone()), clock.clone(), config).unwrap();
        Self { engine, embedder, clock, folder }
    }

    /// Another engine on the same folder, as another process would have.
    pub(crate) fn neighbour(&self) -> Engine {
        let store = SqliteStore::open(self.folder.path(), SqliteOptions::default()).unwrap();
        let config = self.engine.config().clone();
        Engine::new(Arc::new(store), Some(self.embedder.clone()), self.clock.clone(), config).unwrap()
    }

    /// The same folder by other rules.
    pub(crate) fn reopened(self, config: Config) -> Self {
        let store = SqliteStore::open(self.folder.path(), SqliteOptions::default()).unwrap();
        let engine = Engine::new(Arc::new(store), Some(self.embedder.clone()), self.clock.clone(), config).unwrap();
        Self { engine, ..self }
    }

    /// The same house, with a tier that outlives it.
    pub(crate) fn with_tier(self, tier: Arc<dyn Tier>) -> Self {
        Self { engine: self.engine.with_tier(tier), ..self }
    }

    /// The file of the space where a user lies, to do something to it behind the engine's back.
    pub(crate) fn file_of(&self, user: &str) -> rusqlite::Connection {
        let space = Space::Users(Shard::of(user)).name();
        rusqlite::Connection::open(self.folder.path().join("tenants/default/spaces").join(space).join("loci.db"))
            .unwrap()
    }

    /// The file of the shared space.
    pub(crate) fn shared_file(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.folder.path().join("tenants/default/spaces/shared/loci.db")).unwrap()
    }

    /// From now on the store cannot keep a memory of Ana's with this word in it: it fails as a database does that is ill, not as
    /// one that refuses.
    pub(crate) fn break_at(&self, word: &str) {
        let broken = format!(
            "CREATE TRIGGER broken BEFORE INSERT ON memories WHEN NEW.content LIKE '%{word}%'
             BEGIN SELECT abs(-9223372036854775807 - length(NEW.content) / length(NEW.content)); END"
        );
        self.file_of("ana").execute_batch(&broken).unwrap();
    }

    /// Now it can again.
    pub(crate) fn heal(&self) {
        self.file_of("ana").execute_batch("DROP TRIGGER broken").unwrap();
    }

    /// The turns that are kept of a caller, oldest first.
    pub(crate) async fn turns(&self, caller: &Caller) -> Vec<String> {
        let mut turns = Vec::new();
        let mut cursor = None;
        loop {
            let request = ListRequest { limit: Some(100), cursor, ..ListRequest::default() };
            let page = self.engine.list(caller, request).await.unwrap();
            turns.extend(page.memories.into_iter().filter(|memory| memory.kind.name() == "episodic"));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        turns.sort_by_key(|memory| memory.id);
        turns.into_iter().map(|memory| memory.content).collect()
    }

    /// The same house, with a language model.
    pub(crate) fn with_llm(self, mind: LlmClient) -> Self {
        Self { engine: self.engine.with_llm(mind), ..self }
    }

    /// Lets days pass, or with a negative number the clock jump back.
    pub(crate) fn later(&self, days: i64) {
        self.after(jiff::SignedDuration::from_hours(24 * days));
    }

    /// Lets this much time pass.
    pub(crate) fn after(&self, time: jiff::SignedDuration) {
        let mut now = self.clock.0.lock().unwrap();
        *now = now.saturating_add(time).unwrap();
    }

    /// One turn of a conversation.
    pub(crate) async fn say(&self, caller: &Caller, thread: &str, role: &str, content: &str) -> MemoryId {
        let turn = Turn {
            thread_id: thread.into(),
            content: content.into(),
            role: Some(role.into()),
            actor_id: (role == "user").then(|| "ana".to_owned()),
            ..Turn::default()
        };
        self.engine.ingest(caller, turn).await.unwrap()[0].id
    }

    /// Ends a session and learns from it.
    pub(crate) async fn end(&self, caller: &Caller, session: &str) {
        self.engine.end_session(caller, session).await.unwrap();
        self.engine.work(&Caller::operator(), &[], 100).await.unwrap();
    }

    /// What is known and holds, by kind and text, newest first, without turns.
    pub(crate) async fn known(&self, caller: &Caller) -> Vec<Memory> {
        let request = ListRequest { limit: Some(100), ..ListRequest::default() };
        let mut memories = self.engine.list(caller, request).await.unwrap().memories;
        memories.retain(|memory| memory.kind.name() != "episodic");
        memories
    }
}

/// A user in a session.
pub(crate) fn in_session(name: &str, session: &str) -> Caller {
    let mut caller = user(name);
    caller.identifiers.session_id = Some(session.to_owned());
    caller
}

impl House {
    /// The same house, with someone who reads the hits once more.
    pub(crate) fn with_reranker(self, reranker: Arc<dyn Reranker>) -> Self {
        Self { engine: self.engine.with_reranker(reranker), ..self }
    }

    /// Switches the model on or off.
    pub(crate) fn model(&self, up: bool) {
        self.embedder.up.store(up, Ordering::Relaxed);
    }

    pub(crate) async fn remember(&self, caller: &Caller, content: &str) -> Receipt {
        self.engine.remember(caller, new(content)).await.unwrap()
    }

    /// The contents that recall returns, best first.
    pub(crate) async fn recall(&self, caller: &Caller, query: &str) -> Vec<String> {
        let recall = self.engine.recall(caller, ask(query)).await.unwrap();
        recall.hits.into_iter().map(|hit| hit.memory.content).collect()
    }
}

pub(crate) fn new(content: &str) -> NewMemory {
    NewMemory { content: content.to_owned(), ..NewMemory::default() }
}

pub(crate) fn ask(query: &str) -> RecallRequest {
    RecallRequest { query: query.to_owned(), ..RecallRequest::default() }
}

pub(crate) fn user(name: &str) -> Caller {
    Caller::new(Identifiers { user_id: Some(name.to_owned()), ..Identifiers::default() })
}

pub(crate) fn unknown() -> MemoryId {
    "0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50".parse().unwrap()
}
