//! Was this text embedded a moment ago?
//!
//! [`Cached`] remembers what an embedder said, by model, detail and content. It never changes an
//! answer: a hit is what the embedder would say again. Memory is bounded: sentence vectors by
//! number, and the far larger token states by their bytes. Behind it there may be a cache that
//! several processes share ([`crate::shared`]).

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

/// How much is remembered, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many sentence vectors.
    pub entries: u64,
    /// How many bytes of embeddings with token states.
    pub token_bytes: u32,
    /// For how long after it was made.
    pub lifetime: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 10_000, token_bytes: 64 << 20, lifetime: Duration::from_secs(24 * 60 * 60) }
    }
}

/// How often the cache was asked, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Texts that were known.
    pub hits: u64,
    /// Texts that had to be embedded.
    pub misses: u64,
}

type Key = [u8; 32];

/// An embedder with a memory.
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
    /// Remembers what `embedder` says, within the usual limits.
    pub fn new(embedder: E) -> Self {
        Self::with_limits(embedder, Limits::default())
    }

    /// Remembers what `embedder` says, within `limits`.
    pub fn with_limits(embedder: E, limits: Limits) -> Self {
        // Least recently used goes first. Moka's own choice would rather refuse a new text than
        // drop a popular one, and a conversation asks for the new one again.
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

    /// Looks for what is not known here in `shared`, and tells it what had to be embedded.
    pub fn sharing(mut self, shared: Arc<dyn SharedCache>) -> Self {
        self.shared = Some(Shared(shared));
        self
    }

    /// How often the cache was asked, and what came of it.
    pub fn stats(&self) -> Stats {
        Stats { hits: self.hits.load(Ordering::Relaxed), misses: self.misses.load(Ordering::Relaxed) }
    }

    /// The embedder behind the cache.
    pub fn inner(&self) -> &E {
        &self.embedder
    }

    /// Drops what is over the limits now rather than soon.
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

    fn key(&self, text: &str) -> Key {
        let mut hasher = blake3::Hasher::new();
        let name = self.embedder.model().name.as_bytes();
        // The length keeps a name and a text from running into each other.
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name);
        hasher.update(text.as_bytes());
        hasher.finalize().into()
    }

    /// Embeds what nobody knows, one answer per text.
    async fn ask(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        self.misses.fetch_add(texts.len() as u64, Ordering::Relaxed);
        let fresh = self.embedder.embed(texts, detail).await?;
        if fresh.len() != texts.len() {
            let problem = format!("{} embeddings came for {} texts", fresh.len(), texts.len());
            return Err(Error::Inference { problem });
        }
        Ok(fresh)
    }

    /// The same, but first asks whether another process knows.
    async fn ask_others_first(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        let Some(shared) = &self.shared else { return self.ask(texts, detail).await };
        let model = self.model();
        let Some(found) = shared.look(model, texts, detail).await else { return self.ask(texts, detail).await };
        let unknown = texts.iter().zip(&found).filter(|(_, found)| found.is_none());
        let unknown: Vec<String> = unknown.map(|(text, _)| text.clone()).collect();
        self.hits.fetch_add((texts.len() - unknown.len()) as u64, Ordering::Relaxed);
        if unknown.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        let fresh = self.ask(&unknown, detail).await?;
        shared.tell(model, unknown.iter().zip(&fresh), detail).await;
        let mut fresh = fresh.into_iter();
        Ok(found.into_iter().filter_map(|found| found.or_else(|| fresh.next())).collect())
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Cached<E> {
    fn model(&self) -> &Model {
        self.embedder.model()
    }

    async fn embed(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        let cache = self.cache(detail);
        // Each text is either known or stands at some place among the missing, where a text
        // that comes twice stands once.
        let mut found = Vec::with_capacity(texts.len());
        let (mut missing, mut places) = (Vec::new(), HashMap::new());
        for text in texts {
            let key = self.key(text);
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
        let fresh = self.ask_others_first(&missing, detail).await?;
        for (key, place) in places {
            cache.insert(key, fresh[place].clone()).await;
        }
        Ok(found.into_iter().map(|found| found.unwrap_or_else(|place| fresh[place].clone())).collect())
    }
}

/// The bytes of an embedding, near enough.
fn weight(embedding: &Embedding) -> u32 {
    let tokens: usize = embedding.tokens.iter().map(|token| token.state.len() * 4 + token.piece.len() + 64).sum();
    u32::try_from(embedding.vector.len() * 4 + tokens + 64).unwrap_or(u32::MAX)
}
