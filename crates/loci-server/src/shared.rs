//! What do several servers share?
//!
//! As much of it as the door needs to know: a counter of requests, and how it is. Whoever starts the
//! server brings it; without one, each server counts for itself.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

/// Something that several servers reach.
#[async_trait]
pub trait Shared: Send + Sync + fmt::Debug {
    /// Counts a request of `key` for all servers; none if it cannot, so that the server counts alone.
    async fn take(&self, key: &str, per_second: u32, burst: u32) -> Option<Counted>;

    /// How it is.
    async fn health(&self) -> Health;
}

/// What came of counting a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Whether it may go on.
    pub allowed: bool,
    /// How many more may follow at once.
    pub left: u32,
    /// How long to wait, if it may not.
    pub retry_after: Duration,
    /// How long until a whole burst may come again.
    pub full_after: Duration,
}

/// How it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// What it is called.
    pub name: String,
    /// The version of what stands behind it.
    pub version: String,
    /// How long it took to answer.
    pub latency: Duration,
    /// What is wrong, if each server has to do without it.
    pub degraded: Option<String>,
}
