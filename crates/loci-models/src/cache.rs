//! A cache of embeddings in this process.
//!
//! [`Cached`] stores the results of an embedder by model, detail and text. A hit is exactly what the embedder would
//! return. Memory is bounded: sentence vectors by number, and the much larger token states by bytes. A second cache,
//! which several processes share ([`crate::shared`]), can be placed behind it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use moka::future::Cache;
use moka::policy::EvictionPolicy;

use crate::embedder::{Detail, Embedder, Embedding, Model};
use crate::error::Error;
use crate::shared::{Shared, SharedCache};

/// The limits of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of sentence vectors. Default: 10,000.
    pub entries: u64,
    /// Maximum size in bytes of all embeddings with token states. Default: 64 MiB.
    pub token_bytes: u32,
    /// How long an entry is kept after it was inserted. Default: 24 hours.
    pub lifetime: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 10_000, token_bytes: 64 << 20, lifetime: Duration::from_secs(24 * 60 * 60) }
    }
}

/// Counters of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Number of texts that were found, here or in the shared cache.
    pub hits: u64,
    /// Number of texts that were embedded.
    pub misses: u64,
}

type Key = [u8; 32];

/// How a caller waits for the embedder: see [`Embedder::embed`] and [`Embedder::embed_soon`].
#[derive(Debug, Clone, Copy)]
enum Haste {
    Patient,
    Soon,
    /// Soon, and as questions: see [`Embedder::embed_questions`].
    Question,
}

/// An embedder with a cache.
#[derive(Debug)]
pub struct Cached<E> {
    embedder: E,
    sentences: Cache<Key, Embedding>,
    tokens: Cache<Key, Embedding>,
    shared: Option<Shared>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl<E: Embedder> Cached<E> {
    /// Caches the results of `embedder` within the default limits.
    pub fn new(embedder: E) -> Self {
        Self::with_limits(embedder, Limits::default())
    }

    /// Caches the results of `embedder` within `limits`.
    pub fn with_limits(embedder: E, limits: Limits) -> Self {
        // LRU eviction: the default policy of moka may refuse a new entry to keep a popular one, but a conversation
        // soon needs the new text again.
        let cache = || Cache::builder().time_to_live(limits.lifetime).eviction_policy(EvictionPolicy::lru());
        Self {
            embedder,
            sentences: cache().max_capacity(limits.entries).build(),
            tokens: cache()
                .max_capacity(limits.token_bytes.into())
                .weigher(|_: &Key, embedding: &Embedding| weight(embedding))
                .build(),
            shared: None,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Adds a second cache that several processes share. It is read on a miss and gets every new embedding.
    pub fn sharing(mut self, shared: Arc<dyn SharedCache>) -> Self {
        self.shared = Some(Shared(shared));
        self
    }

    /// Returns the counters of the cache.
    pub fn stats(&self) -> Stats {
        Stats { hits: self.hits.load(Ordering::Relaxed), misses: self.misses.load(Ordering::Relaxed) }
    }

    /// Returns the embedder behind the cache.
    pub fn inner(&self) -> &E {
        &self.embedder
    }

    /// Runs pending evictions now instead of later.
    pub async fn settle(&self) {
        self.sentences.run_pending_tasks().await;
        self.tokens.run_pending_tasks().await;
    }

    fn cache(&self, detail: Detail) -> &Cache<Key, Embedding> {
        match detail {
            Detail::Sentence => &self.sentences,
            Detail::Tokens => &self.tokens,
        }
    }

    fn key(&self, text: &str, haste: Haste) -> Key {
        let mut hasher = match haste {
            Haste::Question => blake3::Hasher::new_derive_key("loci question"),
            Haste::Patient | Haste::Soon => blake3::Hasher::new(),
        };
        let name = self.embedder.model().name.as_bytes();
        // The length prefix separates the name from the text.
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name);
        hasher.update(text.as_bytes());
        hasher.finalize().into()
    }

    /// Calls the embedder and checks that it returns one embedding per text.
    async fn ask(&self, texts: &[String], detail: Detail, haste: Haste) -> Result<Vec<Embedding>, Error> {
        self.misses.fetch_add(texts.len() as u64, Ordering::Relaxed);
        let fresh = match haste {
            Haste::Patient => self.embedder.embed(texts, detail).await?,
            Haste::Soon => self.embedder.embed_soon(texts, detail).await?,
            Haste::Question => self.embedder.embed_questions(texts, detail).await?,
        };
        if fresh.len() != texts.len() {
            let problem = format!("the embedder returned {} embeddings for {} texts", fresh.len(), texts.len());
            return Err(Error::Inference { problem });
        }
        Ok(fresh)
    }

    /// Reads the shared cache first, embeds the texts that it does not have, and writes those to it.
    async fn ask_others_first(&self, texts: &[String], detail: Detail, haste: Haste) -> Result<Vec<Embedding>, Error> {
        // Other processes share the vectors of texts.
        let shared = self.shared.as_ref().filter(|_| !matches!(haste, Haste::Question));
        let Some(shared) = shared else { return self.ask(texts, detail, haste).await };
        let model = self.model();
        let Some(found) = shared.get(model, texts, detail).await else { return self.ask(texts, detail, haste).await };
        let unknown = texts.iter().zip(&found).filter(|(_, found)| found.is_none());
        let unknown: Vec<String> = unknown.map(|(text, _)| text.clone()).collect();
        self.hits.fetch_add((texts.len() - unknown.len()) as u64, Ordering::Relaxed);
        if unknown.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        let fresh = self.ask(&unknown, detail, haste).await?;
        shared.put(model, unknown.iter().zip(&fresh), detail).await;
        let mut fresh = fresh.into_iter();
        Ok(found.into_iter().filter_map(|found| found.or_else(|| fresh.next())).collect())
    }

    /// Returns the embeddings from the cache, and asks for those that it does not have.
    async fn find_or_ask(&self, texts: &[String], detail: Detail, haste: Haste) -> Result<Vec<Embedding>, Error> {
        let cache = self.cache(detail);
        // Each text is either found or has an index into `missing`, which lists a repeated text once.
        let mut found = Vec::with_capacity(texts.len());
        let (mut missing, mut places) = (Vec::new(), HashMap::new());
        for text in texts {
            let key = self.key(text, haste);
            found.push(match cache.get(&key).await {
                Some(embedding) => Ok(embedding),
                None => Err(*places.entry(key).or_insert_with(|| {
                    missing.push(text.clone());
                    missing.len() - 1
                })),
            });
        }
        self.hits.fetch_add((texts.len() - missing.len()) as u64, Ordering::Relaxed);
        if missing.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        let fresh = self.ask_others_first(&missing, detail, haste).await?;
        for (key, place) in places {
            cache.insert(key, fresh[place].clone()).await;
        }
        Ok(found.into_iter().map(|found| found.unwrap_or_else(|place| fresh[place].clone())).collect())
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Cached<E> {
    fn model(&self) -> &Model {
        self.embedder.model()
    }

    async fn embed(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        self.find_or_ask(texts, detail, Haste::Patient).await
    }

    async fn embed_soon(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        self.find_or_ask(texts, detail, Haste::Soon).await
    }

    async fn embed_questions(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        let haste = if self.embedder.distinguishes_questions() { Haste::Question } else { Haste::Soon };
        self.find_or_ask(texts, detail, haste).await
    }

    fn distinguishes_questions(&self) -> bool {
        self.embedder.distinguishes_questions()
    }

    async fn health(&self) -> Result<(), Error> {
        self.embedder.health().await
    }
}

/// Returns the approximate size of an embedding in bytes.
fn weight(embedding: &Embedding) -> u32 {
    let tokens: usize = embedding.tokens.iter().map(|token| token.state.len() * 4 + token.piece.len() + 64).sum();
    u32::try_from(embedding.vector.len() * 4 + tokens + 64).unwrap_or(u32::MAX)
}
