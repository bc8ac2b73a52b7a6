//! Working memory, session entries, shared embeddings and rate limits: data that must be fast and may be lost.
//!
//! A [`Tier`] is never the only place of something that was acknowledged as durable: whatever is in it may be gone
//! with the next call, and nothing breaks. [`ProcessTier`] keeps it in this process, [`RedisTier`] in Redis for several
//! servers, and [`FallbackTier`] uses the one while the other is unavailable.

mod fallback;
mod process;
mod redis;

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::ErrorKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::fallback::FallbackTier;
pub use self::process::ProcessTier;
pub use self::redis::RedisTier;

/// The bounds of a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierOptions {
    /// The prefix of every key, so that several installations may share one server.
    pub prefix: String,
    /// How long working memory lasts after it was last read or written.
    pub working_idle: Duration,
    /// Maximum number of entries of one working memory; the oldest go first.
    pub working_entries: usize,
    /// How long the entries of a session last after the latest was written.
    pub session_idle: Duration,
    /// Maximum number of entries of one session; the oldest go first.
    pub session_entries: usize,
    /// How long a shared embedding lasts.
    pub embedding_life: Duration,
    /// How long a call of a server may take. Calls that read or write many entries get more, by their number.
    pub deadline: Duration,
}

impl Default for TierOptions {
    fn default() -> Self {
        Self {
            prefix: "loci".to_owned(),
            working_idle: Duration::from_secs(24 * 60 * 60),
            working_entries: 10_000,
            session_idle: Duration::from_secs(60 * 60),
            session_entries: 100_000,
            embedding_life: Duration::from_secs(7 * 24 * 60 * 60),
            deadline: Duration::from_millis(250),
        }
    }
}

/// Names a working memory: that of an agent for a user, or for a user in one session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WorkingKey {
    /// The tenant.
    pub tenant: String,
    /// The agent; empty if there is none.
    pub agent: String,
    /// The user, whose working memories can be cleared all at once.
    pub user: String,
    /// The session, where each has a working memory of its own.
    pub session: Option<String>,
}

/// Names a session of a user, with an agent or without one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// The tenant.
    pub tenant: String,
    /// The agent; empty if there is none.
    pub agent: String,
    /// The user, whose sessions can be dropped all at once.
    pub user: String,
    /// The session, or the thread where there are no sessions.
    pub session: String,
}

/// An entry of working memory.
///
/// The token count must stay the first field: Redis reads it there without parsing the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkingEntry {
    /// The number of tokens it takes in a prompt.
    pub tokens: u64,
    /// The content.
    pub value: Value,
}

/// An entry of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// Its id. A second entry with the same id replaces the first.
    pub id: String,
    /// Its time, by which entries are ordered.
    pub at: Timestamp,
    /// Its importance, from 0 to 1.
    pub importance: f64,
    /// The content.
    pub value: Value,
}

/// The answer of a rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateDecision {
    /// Whether the request may go on.
    pub allowed: bool,
    /// How many more requests may follow at once.
    pub left: u32,
    /// How long to wait before the next request may go on; zero if it may at once.
    pub retry_after: Duration,
    /// How long until a whole burst is allowed again.
    pub full_after: Duration,
}

/// The health of a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierHealth {
    /// The tier that answered.
    pub name: &'static str,
    /// The version of the server behind it.
    pub version: String,
    /// How long the answer took.
    pub latency: Duration,
    /// The problem, if the tier works without a part of itself.
    pub degraded: Option<String>,
}

/// A failure of a tier. None of them loses anything durable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TierError {
    /// One call took longer than its deadline.
    #[error("{name} did not answer within {milliseconds} ms")]
    Timeout {
        /// The tier.
        name: &'static str,
        /// The deadline.
        milliseconds: u128,
    },
    /// The server cannot be reached or serves nobody at present.
    #[error("{name} cannot be reached: {problem}")]
    Unreachable {
        /// The tier.
        name: &'static str,
        /// The reason.
        problem: String,
    },
    /// The server refused this one call.
    #[error("{name} failed: {problem}")]
    Failed {
        /// The tier.
        name: &'static str,
        /// What the server said.
        problem: String,
    },
    /// The address cannot be used.
    #[error("the address of {name} cannot be used: {problem}")]
    Address {
        /// The tier.
        name: &'static str,
        /// What is wrong with it; never the address, which may hold a password.
        problem: String,
    },
}

impl TierError {
    /// The kind of this failure, as callers of the engine see it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            TierError::Timeout { .. } | TierError::Unreachable { .. } | TierError::Failed { .. } => ErrorKind::Provider,
            TierError::Address { .. } => ErrorKind::Configuration,
        }
    }
}

/// The result of a call of a tier.
pub type TierResult<T> = Result<T, TierError>;

/// A place for data that must be fast and may be lost.
///
/// Names in keys may hold any characters: two keys that differ never collide. Everything is bounded in time. A call
/// that failed may have taken effect all the same: the answer may be what was lost.
#[async_trait]
pub trait Tier: Send + Sync {
    /// The name of this tier.
    fn name(&self) -> &'static str;

    /// The known problem of a tier that works without a part of itself. Asks no server.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// Asks whether the tier answers, and how quickly.
    async fn health(&self) -> TierResult<TierHealth>;

    /// Adds entries to the end of a working memory, in their order, and returns how many it then has.
    /// The oldest go when there are too many.
    async fn append(&self, key: &WorkingKey, entries: &[WorkingEntry]) -> TierResult<usize>;

    /// Returns all of a working memory, the oldest first. Reading counts as use.
    async fn read(&self, key: &WorkingKey) -> TierResult<Vec<WorkingEntry>>;

    /// Keeps the newest entries that together have at most `tokens`, and returns how many were removed. The
    /// newest entries are a run: an older one is not kept for being small.
    async fn trim(&self, key: &WorkingKey, tokens: u64) -> TierResult<usize>;

    /// Removes the first entry that is equal to each of these, and returns how many were removed.
    async fn remove(&self, key: &WorkingKey, entries: &[WorkingEntry]) -> TierResult<usize>;

    /// Empties a working memory.
    async fn clear(&self, key: &WorkingKey) -> TierResult<()>;

    /// Puts an entry into a session and prolongs the session to `life` from now, or to the configured time. A
    /// session that was given longer keeps it.
    async fn put(&self, key: &SessionKey, entry: &SessionEntry, life: Option<Duration>) -> TierResult<()>;

    /// Returns the latest entries of a session, the newest first; of the same microsecond, the greater id first.
    /// Reading does not prolong the session.
    async fn latest(&self, key: &SessionKey, limit: usize) -> TierResult<Vec<SessionEntry>>;

    /// Drops a session.
    async fn end(&self, key: &SessionKey) -> TierResult<()>;

    /// Clears every working memory and drops every session of a user, whoever made them, and returns how many there
    /// were. The time of the erasure is kept for [`erased`](Self::erased) for as long as working memory lasts.
    async fn erase_user(&self, tenant: &str, user: &str, at: Timestamp) -> TierResult<usize>;

    /// Returns when a user was last erased, so that another process does not bring back what it still holds.
    async fn erased(&self, tenant: &str, user: &str) -> TierResult<Option<Timestamp>>;

    /// Returns the bytes kept under each of these keys, in their order.
    async fn embeddings(&self, keys: &[String]) -> TierResult<Vec<Option<Vec<u8>>>>;

    /// Keeps bytes under keys.
    async fn keep_embeddings(&self, entries: &[(String, Vec<u8>)]) -> TierResult<()>;

    /// Counts one request of `key` against a rate, atomically. Refused requests are not counted. A rate or burst of 0
    /// counts as 1.
    async fn take(&self, key: &str, per_second: u32, burst: u32) -> TierResult<RateDecision>;
}
