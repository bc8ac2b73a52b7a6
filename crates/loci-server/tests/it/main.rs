//! The door, from outside: a real port, a real client.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

mod admin;
mod bad;
mod by_filter;
mod carry;
mod description;
mod errors;
mod events;
mod facts;
mod graph;
mod guard;
mod hostile;
mod house;
mod idempotency;
mod import;
mod isolation;
mod keys;
mod life;
mod memories;
mod memory_vectors;
mod openspec;
mod pools;
mod postgres;
mod query;
mod ready;
mod recall;
mod sessions;
mod shared;
mod sse;
mod summaries;
mod tenants;
mod threads;
mod tokens;
mod upkeep;
mod webhooks;
mod working;
