//! Integration tests of the engine on a real store, with a fixed clock and a stub of the embedding model.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

mod batched;
mod categories;
mod checkpoints;
mod entries;
mod export;
mod facts;
mod feed;
mod find;
mod graph;
mod graph_memory;
mod handed;
mod house;
mod idempotency;
mod identifiers;
mod laws;
mod layers;
mod learn;
mod life;
mod llm;
mod maintenance;
mod operations;
mod outside;
mod parsers;
mod pools;
mod rank;
mod recall;
mod redact;
mod requests;
mod rerank;
mod round_trips;
mod seeds;
mod session;
mod skew;
mod working;
