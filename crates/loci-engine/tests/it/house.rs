//! A small house to test in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use loci_engine::{Caller, Config, Engine, Fixed, NewMemory, RecallRequest};
use loci_models::{Detail, Embedder, Embedding, Model, Reranker};
use loci_store::{SqliteOptions, SqliteStore};
use loci_testkit::vectors::hashed_vector;
use loci_types::{Identifiers, MemoryId, Receipt};

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

/// An engine on a folder of its own.
pub(crate) struct House {
    pub(crate) engine: Engine,
    pub(crate) embedder: Arc<Hashing>,
    _folder: tempfile::TempDir,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with(Config::default())
    }

    pub(crate) fn with(config: Config) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path(), SqliteOptions::default()).unwrap();
        let model =
            Model { name: "hashing".to_owned(), dimensions: DIMENSIONS, similarity_threshold: 0.3, max_tokens: 256 };
        let embedder = Arc::new(Hashing { model, up: AtomicBool::new(true) });
        let clock = Fixed("2026-06-01T12:00:00Z".parse().unwrap());
        let engine = Engine::new(Arc::new(store), Some(embedder.clone()), Arc::new(clock), config).unwrap();
        Self { engine, embedder, _folder: folder }
    }

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
