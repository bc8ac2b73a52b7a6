//! The server: HTTP, OpenSpec and MCP over one engine.
//!
//! It translates requests into calls of the engine and contains no rules of memory; it never uses a store directly.
//! Every request passes the guard first, which produces a `Principal`; a `Caller` is made only from that. Without keys the
//! server listens on loopback addresses only.

mod app;
mod body_check;
mod connection;
mod console;
mod describe;
mod docs;
mod error;
mod event_stream;
mod extract;
mod failure;
mod guard;
mod health;
mod idempotency;
mod in_process;
mod mcp;
mod metrics;
mod openspec;
mod options;
mod peer;
mod router;
mod schedule;
mod server;
mod shared;
mod short_ids;
mod strict;
mod task;
mod usage;
mod v1;
mod webhook;
mod worker;

pub(crate) use app::App;
pub use app::Options;
pub use axum::body::Body;
pub use axum::http::Request;
pub use error::Error;
pub use in_process::InProcess;
pub use mcp::{Profile, Stdio};
pub use options::{AuthOptions, JwtOptions, LogFormat, McpOptions, ServerOptions};
pub use schedule::Schedule;
pub use server::Server;
pub use shared::{RateDecision, SharedHealth, SharedLimiter};
pub use v1::{RecallAnswer, RecallCursor};
pub use webhook::WebhookOptions;

/// The published description of the HTTP surface, as JSON.
pub fn description() -> String {
    describe::print(&describe::described())
}
