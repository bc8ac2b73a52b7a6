//! Working memory, session entries, shared embeddings and rate limits: data that must be fast and may be lost.
//!
//! A [`Tier`] must never hold the only copy of data that was acknowledged as durable: its content may be lost at any
//! time. [`ProcessTier`] keeps it in this process, [`RedisTier`] in Redis for several servers, and [`FallbackTier`]
//! uses a process tier while Redis is unavailable.

mod fair;
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

/// The settings of a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierOptions {
    /// The prefix of every key, so that several installations can share one server. Default: `loci`.
    pub prefix: String,
    /// Time to live of working memory after its last read or write. Default: 24 h.
    pub working_idle: Duration,
    /// Maximum number of entries of one working memory; the oldest are removed first. Default: 10,000.
    pub working_entries: usize,
    /// Time to live of the entries of a session after the last write. Default: 1 h.
    pub session_idle: Duration,
    /// Maximum number of entries of one session; the oldest are removed first. Default: 100,000.
    pub session_entries: usize,
    /// Time to live of a shared embedding. Default: 7 days.
    pub embedding_life: Duration,
    /// Timeout of a call to a server. Calls with more than 64 entries get 1 ms more per entry. Default: 250 ms.
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

/// The key of a working memory: that of an agent for a user, or for a user in one session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WorkingKey {
    /// The tenant.
    pub tenant: String,
    /// The agent; empty if there is none.
    pub agent: String,
    /// The user.
    pub user: String,
    /// The session, if each has a working memory of its own.
    pub session: Option<String>,
}

/// The key of a session of a user.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// The tenant.
    pub tenant: String,
    /// The agent; empty if there is none.
    pub agent: String,
    /// The user.
    pub user: String,
    /// The session, or the thread if there are no sessions.
    pub session: String,
}

/// An entry of working memory.
///
/// The token count must stay the first field: Redis reads it there without parsing the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkingEntry {
    /// Number of tokens in a prompt.
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

/// The decision of a rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateDecision {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// Number of further requests that are allowed at once.
    pub left: u32,
    /// The time until the next request is allowed; zero if it is allowed now.
    pub retry_after: Duration,
    /// The time until a full burst is allowed again.
    pub full_after: Duration,
}

/// The health of a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierHealth {
    /// The tier that answered.
    pub name: &'static str,
    /// The version of its server.
    pub version: String,
    /// The latency of the health check.
    pub latency: Duration,
    /// The problem, if the fallback serves calls.
    pub degraded: Option<String>,
}

/// An error of a tier. None of them loses durable data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TierError {
    /// One call took longer than its deadline.
    #[error("{name} did not answer within {milliseconds} ms")]
    Timeout {
        /// The tier.
        name: &'static str,
        /// The deadline in milliseconds.
        milliseconds: u128,
    },
    /// The server cannot be reached or refuses all calls at present.
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
        /// The message of the server.
        problem: String,
    },
    /// The address cannot be used.
    #[error("the address of {name} cannot be used: {problem}")]
    Address {
        /// The tier.
        name: &'static str,
        /// The problem; never the address itself, which may contain a password.
        problem: String,
    },
}

impl TierError {
    /// The kind of this error for callers of the engine.
    pub fn kind(&self) -> ErrorKind {
        match self {
            TierError::Timeout { .. } | TierError::Unreachable { .. } | TierError::Failed { .. } => ErrorKind::Provider,
            TierError::Address { .. } => ErrorKind::Configuration,
        }
    }
}

/// The result of a call of a tier.
pub type TierResult<T> = Result<T, TierError>;

/// Storage for data that must be fast and may be lost.
///
/// Names in keys may contain any characters; different keys never collide. All data has a time to live, and every call
/// a timeout. A call that failed may have taken effect, because the answer may have been lost.
#[async_trait]
pub trait Tier: Send + Sync {
    /// The name of this tier.
    fn name(&self) -> &'static str;

    /// The known problem of a tier whose fallback serves calls. Makes no call.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// Checks whether the tier answers, and measures its latency.
    async fn health(&self) -> TierResult<TierHealth>;

    /// Appends entries to a working memory, removes the oldest beyond the limit, and returns the number of entries
    /// left.
    async fn append(&self, key: &WorkingKey, entries: &[WorkingEntry]) -> TierResult<usize>;

    /// Returns all entries of a working memory, oldest first. Reading renews its time to live.
    async fn read(&self, key: &WorkingKey) -> TierResult<Vec<WorkingEntry>>;

    /// Keeps the longest run of newest entries with at most `tokens` in total, removes all older ones, and returns the
    /// number of removed entries.
    async fn trim(&self, key: &WorkingKey, tokens: u64) -> TierResult<usize>;

    /// Removes, for each of these, the first equal entry, and returns the number of removed entries.
    async fn remove(&self, key: &WorkingKey, entries: &[WorkingEntry]) -> TierResult<usize>;

    /// Removes a working memory.
    async fn clear(&self, key: &WorkingKey) -> TierResult<()>;

    /// Puts an entry into a session and extends the session to `life` from now, or to the configured time. A longer
    /// remaining time is kept.
    async fn put(&self, key: &SessionKey, entry: &SessionEntry, life: Option<Duration>) -> TierResult<()>;

    /// Returns the latest entries of a session, newest first; of the same microsecond the greater id first. Reading
    /// does not extend the session.
    async fn latest(&self, key: &SessionKey, limit: usize) -> TierResult<Vec<SessionEntry>>;

    /// Removes a session.
    async fn end(&self, key: &SessionKey) -> TierResult<()>;

    /// Removes all working memories and sessions of a user, of all agents, and returns their number. The time of the
    /// erasure is kept for [`erased`](Self::erased) as long as working memory lasts.
    async fn erase_user(&self, tenant: &str, user: &str, at: Timestamp) -> TierResult<usize>;

    /// Returns when a user was last erased, so that another process does not write back data that it still holds.
    async fn erased(&self, tenant: &str, user: &str) -> TierResult<Option<Timestamp>>;

    /// Returns the embeddings with these keys, in their order.
    async fn embeddings(&self, keys: &[String]) -> TierResult<Vec<Option<Vec<u8>>>>;

    /// Stores embeddings.
    async fn keep_embeddings(&self, entries: &[(String, Vec<u8>)]) -> TierResult<()>;

    /// Counts one request of `key` against a rate limit, atomically. Refused requests are not counted. A rate or burst
    /// of 0 is treated as 1.
    async fn take(&self, key: &str, per_second: u32, burst: u32) -> TierResult<RateDecision>;
}
