//! Tests of the stores and the tiers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod archive;
mod chains;
mod contract;
mod copy;
#[cfg(feature = "encryption")]
mod encrypted;
mod erase;
mod faults;
mod formats;
mod guests;
mod listen;
mod model;
mod outside;
mod pgbouncer;
mod pgvector;
mod postgres;
mod postgres_faults;
mod postgres_large;
mod postgres_round_trips;
mod postgres_security;
mod postgres_skew;
mod postgres_spaces;
mod postgres_tls;
mod private;
mod shards;
mod spaces;
mod sqlite;
mod stand_in;
mod tier;
