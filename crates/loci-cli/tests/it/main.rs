//! The real binary, driven as a person or a script would drive it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod bad;
mod bring;
mod carry;
mod crash;
mod drive;
mod encrypted;
mod events;
mod files;
mod fleet;
mod guard;
mod https;
mod keeping;
mod life;
mod mcp;
mod migrate;
mod model;
mod names;
mod pages;
mod plain;
mod pools;
mod processes;
mod project;
mod quarantine;
mod recall;
mod reference;
mod rules;
mod run;
mod seeds;
mod serve;
mod things;
mod traces;
mod verbs;
mod working;
