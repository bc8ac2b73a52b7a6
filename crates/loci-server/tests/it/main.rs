//! The door, from outside: a real port, a real client.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

mod bad;
mod carry;
mod checkpoints;
mod contract;
mod description;
mod errors;
mod events;
mod facts;
mod graph;
mod guard;
mod hostile;
mod house;
mod idempotency;
mod isolation;
mod keys;
mod life;
mod memories;
mod openspec;
mod pools;
mod postgres;
mod query;
mod ready;
mod recall;
mod rules;
mod sessions;
mod shared;
mod sources;
mod sse;
mod summaries;
mod tenants;
mod tokens;
mod upkeep;
mod working;
