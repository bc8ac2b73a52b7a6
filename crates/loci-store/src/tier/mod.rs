//! What lives fast and may be lost?
//!
//! A [`Tier`] holds working memory, the newest of a session, embeddings that another server has
//! already paid for, and the rates of callers. It is never the only place of something that was
//! acknowledged as durable: whatever is in it may be gone with the next call, and nothing breaks.

mod process;
mod redis;
mod sheltered;

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::ErrorKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::process::ProcessTier;
pub use self::redis::RedisTier;
pub use self::sheltered::Sheltered;

/// What is kept, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierOptions {
    /// What every key begins with, so that several may share one server.
    pub prefix: String,
    /// How long working memory lasts after it was last read or written.
    pub working_idle: Duration,
    /// The most entries of one working memory; the oldest go first.
    pub working_entries: usize,
    /// How long the entries of a session last after the latest was written.
    pub session_idle: Duration,
    /// The most entries of one session; the oldest go first.
    pub session_entries: usize,
    /// How long a shared embedding lasts.
    pub embedding_life: Duration,
    /// How long a server is waited for before it counts as away.
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

/// Whose working memory: an agent's for a user, or for a user in one session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Desk {
    /// The tenant.
    pub tenant: String,
    /// The agent; empty: none.
    pub agent: String,
    /// The user, whose desks can be cleared all at once.
    pub user: String,
    /// The session, where each has a desk of its own.
    pub session: Option<String>,
}

/// A session of a user, with an agent or with none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Conversation {
    /// The tenant.
    pub tenant: String,
    /// The agent; empty: none.
    pub agent: String,
    /// The user, whose sessions can be dropped all at once.
    pub user: String,
    /// The session, or the thread where there are no sessions.
    pub session: String,
}

/// An entry of working memory.
///
/// The count comes first in the written form too: Redis reads it there without parsing the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Jotting {
    /// What it costs in a prompt.
    pub tokens: u64,
    /// What was noted.
    pub value: Value,
}

/// An entry of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// Its id: a second entry with the same one takes the place of the first.
    pub id: String,
    /// When it was.
    pub at: Timestamp,
    /// How much it matters, from 0 to 1.
    pub importance: f64,
    /// What was said.
    pub value: Value,
}

/// What came of a request to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Whether it may go on.
    pub allowed: bool,
    /// How many more may follow at once.
    pub left: u32,
    /// How long to wait before the next one may go on; zero if it may at once.
    pub retry_after: Duration,
    /// How long until a whole burst may come again.
    pub full_after: Duration,
}

/// How a tier is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierHealth {
    /// Which tier answered.
    pub name: &'static str,
    /// The version of what stands behind it.
    pub version: String,
    /// How long it took.
    pub latency: Duration,
    /// What is wrong, if the tier works without a part of itself.
    pub degraded: Option<String>,
}

/// A failure of a tier. None of them loses anything durable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TierError {
    /// It did not answer in time.
    #[error("{name} did not answer within {milliseconds} ms")]
    Late {
        /// The tier.
        name: &'static str,
        /// How long was waited.
        milliseconds: u128,
    },
    /// It cannot be reached, or refused.
    #[error("{name} failed: {problem}")]
    Failed {
        /// The tier.
        name: &'static str,
        /// What it said.
        problem: String,
    },
    /// It cannot be reached with these settings.
    #[error("the address of {name} cannot be used: {problem}")]
    Address {
        /// The tier.
        name: &'static str,
        /// What is wrong with it; never the address, which may hold a password.
        problem: String,
    },
}

impl TierError {
    /// What sort of failure this is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            TierError::Late { .. } | TierError::Failed { .. } => ErrorKind::Provider,
            TierError::Address { .. } => ErrorKind::Configuration,
        }
    }
}

/// The result of something a tier did.
pub type TierResult<T> = Result<T, TierError>;

/// What lives fast and may be lost.
///
/// Names in desks, conversations and keys may hold any characters: two that differ never meet.
/// Everything is bounded in time, and nothing outlives its time by more than a moment. A call that failed may
/// have been done all the same: the answer may be what was lost.
#[async_trait]
pub trait Tier: Send + Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// What is wrong, as far as is known without asking: it works without a part of itself.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// Whether it answers, and how quickly.
    async fn health(&self) -> TierResult<TierHealth>;

    /// Adds entries to the end of a working memory, in their order, and returns how many it then has.
    /// The oldest go when there are too many.
    async fn append(&self, desk: &Desk, jottings: &[Jotting]) -> TierResult<usize>;

    /// All of a working memory, the oldest first. Reading counts as use.
    async fn read(&self, desk: &Desk) -> TierResult<Vec<Jotting>>;

    /// Keeps the newest entries that together have at most `tokens`, and returns how many went. The
    /// newest entries are a run: an older one is not kept for being small.
    async fn trim(&self, desk: &Desk, tokens: u64) -> TierResult<usize>;

    /// Takes out the first entry that is equal to each of these, and returns how many went.
    async fn remove(&self, desk: &Desk, jottings: &[Jotting]) -> TierResult<usize>;

    /// Empties a working memory.
    async fn clear(&self, desk: &Desk) -> TierResult<()>;

    /// Puts an entry into a session, which lives on from now: for `life`, or else as long as is set. A
    /// session that was promised more keeps it.
    async fn put(&self, conversation: &Conversation, entry: &SessionEntry, life: Option<Duration>) -> TierResult<()>;

    /// The latest entries of a session, the newest first; of the same microsecond, the greater id
    /// first.
    /// Reading does not make the session live longer.
    async fn latest(&self, conversation: &Conversation, limit: usize) -> TierResult<Vec<SessionEntry>>;

    /// Drops a session.
    async fn end(&self, conversation: &Conversation) -> TierResult<()>;

    /// Clears every desk and drops every session of a user, whoever made them, and returns how many there
    /// were. That it happened, and when, is told by [`erased`](Self::erased) for as long as working memory lasts.
    async fn erase_user(&self, tenant: &str, user: &str, at: Timestamp) -> TierResult<usize>;

    /// When a user was last erased, so that another process does not bring back what it still holds.
    async fn erased(&self, tenant: &str, user: &str) -> TierResult<Option<Timestamp>>;

    /// What is kept under each of these keys, in their order.
    async fn embeddings(&self, keys: &[String]) -> TierResult<Vec<Option<Vec<u8>>>>;

    /// Keeps bytes under keys.
    async fn keep_embeddings(&self, entries: &[(String, Vec<u8>)]) -> TierResult<()>;

    /// Counts one request of `key` against a rate, in one step that nobody can come between. Refused
    /// requests are not counted. A rate or burst of 0 counts as 1.
    async fn take(&self, key: &str, per_second: u32, burst: u32) -> TierResult<Taken>;
}
