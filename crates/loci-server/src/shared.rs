//! The interface to a rate limiter that several servers share.
//!
//! The program that starts the server provides it; without one, each server limits rates on its own.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

/// A rate limiter that several servers share.
#[async_trait]
pub trait SharedLimiter: Send + Sync + fmt::Debug {
    /// Counts a request of `key` for all servers. Returns `None` if that is not possible; the server then counts alone.
    async fn take(&self, key: &str, per_second: u32, burst: u32) -> Option<RateDecision>;

    /// The health of the limiter.
    async fn health(&self) -> SharedHealth;
}

/// The decision about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateDecision {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// Number of requests that may still follow at once.
    pub left: u32,
    /// How long to wait if the request is not allowed.
    pub retry_after: Duration,
    /// Time until a whole burst is allowed again.
    pub full_after: Duration,
}

/// The health of a shared limiter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedHealth {
    /// The name of the implementation.
    pub name: String,
    /// The version of the service behind it.
    pub version: String,
    /// The time that it took to answer.
    pub latency: Duration,
    /// The problem, if servers currently have to do without it.
    pub degraded: Option<String>,
}
