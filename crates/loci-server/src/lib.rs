//! Who may ask, and in what tongue?
//!
//! The door of the house: it speaks HTTP and MCP and knows the engine, never a store and no rule
//! of memory. Every request passes the guard first; what comes out of it is a `Who`, and only that
//! makes a caller. Without keys the door opens on the machine's own address alone.

mod app;
mod connection;
mod describe;
mod docs;
mod door;
mod error;
mod extract;
mod failure;
mod follow;
mod guard;
mod health;
mod idempotency;
mod mcp;
mod metrics;
mod openspec;
mod options;
mod router;
mod schedule;
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
pub use door::Door;
pub use error::Error;
pub use mcp::{Profile, Stdio};
pub use options::{AuthOptions, JwtOptions, LogFormat, McpOptions, ServerOptions};
pub use schedule::Schedule;
pub use shared::{Counted, Health, Shared};
pub use v1::{RecallAnswer, RecallCursor};
pub use webhook::WebhookOptions;

/// The published description of the HTTP surface, as JSON.
pub fn description() -> String {
    describe::print(&describe::described())
}
