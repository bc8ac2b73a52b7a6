//! The cost of recall while the store grows.
//!
//! Turns of made-up conversations with vectors and token states; a hundred users share the store,
//! and one more, the fixed one, has a thousand turns at every size. The question's own encoding is
//! left out: a stand-in for the model answers at once with made-up states. Everything else is the
//! product's path: lanes, neighbours, late interaction, score, fetch.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use loci_engine::{Caller, Config, Engine, Fixed, RecallRequest};
use loci_models::local::MINILM as MODEL;
use loci_models::projection::PACKED;
use loci_models::{Detail, Embedder, Embedding, Model, Token};
use loci_store::prelude::*;
use loci_store::{SqliteOptions, SqliteStore};
use loci_types::{Action, Addition, Batch, Change, Identifiers, Kind, Memory, Provenance, Tenant, Vector};

use super::data::{self, DIMENSIONS};
use super::meter::{self, Sample};

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const FIXED: u64 = 1_000;
/// Number of turns of a session.
pub(super) const SESSION: u64 = 20;
/// Number of tokens of a turn that have states.
pub(super) const TOKENS: usize = 12;
const QUESTIONS: u64 = 1_000;

/// Grows a store and asks it at each size.
pub(super) async fn measure(folder: &Path, seed: u64, largest: usize) -> Result<()> {
    let folder = folder.join("recall");
    let mut size = 0;
    for next in SIZES.into_iter().filter(|size| *size <= largest) {
        let store = SqliteStore::open(&folder, SqliteOptions::default())?;
        if size == 0 {
            // The fixed user's turns come first and stay where they are.
            add(&store, seed, 0..FIXED, Whose::Fixed).await?;
        }
        add(&store, seed, FIXED + size as u64..FIXED + next as u64, Whose::Shared).await?;
        size = next;
        drop(store);
        ask(&folder, seed, size).await?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Whose {
    Fixed,
    Shared,
}

pub(super) fn identifiers(number: u64, whose: Whose) -> Identifiers {
    match whose {
        Whose::Fixed => Identifiers { user_id: Some("fixed".to_owned()), ..data::identifiers(number) },
        Whose::Shared => data::identifiers(number),
    }
}

/// Turn `number`: a user and an assistant take turns, twenty to a session, a day between sessions.
fn turn(seed: u64, number: u64, whose: Whose) -> Memory {
    let place = if whose == Whose::Fixed { number } else { number / data::USERS as u64 };
    let at = start().saturating_add(SignedDuration::from_hours(24 * (place / SESSION) as i64)).unwrap_or_default();
    let identifiers = identifiers(number, whose);
    let session = format!("{}-{}", identifiers.user_id.as_deref().unwrap_or_default(), place / SESSION);
    Memory {
        identifiers: Identifiers { session_id: Some(session), ..identifiers.clone() },
        thread_id: identifiers.user_id.clone(),
        role: Some(if place.is_multiple_of(2) { "user" } else { "assistant" }.to_owned()),
        event_time: Some(at),
        kind: Kind::stored(Kind::EPISODIC),
        ..data::memory(seed, number, start())
    }
}

/// When it all begins.
pub(super) fn start() -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap_or_default()
}

pub(super) async fn add(store: &SqliteStore, seed: u64, numbers: std::ops::Range<u64>, whose: Whose) -> Result<()> {
    let progress = loci_host::output::progress(numbers.end - numbers.start, "turns");
    let scope = data::scope(0)?;
    for first in numbers.clone().step_by(500) {
        let changes = (first..numbers.end.min(first + 500)).map(|number| {
            let states = data::bytes(seed, number, TOKENS * PACKED);
            let values = data::vector(seed, number);
            let vector = Vector { model: MODEL.to_owned(), values, token_states: Some(states) };
            let addition = Addition { vector: Some(vector), ..Addition::new(turn(seed, number, whose)) };
            Change {
                action: Action::Add(Box::new(addition)),
                reason: "bench".to_owned(),
                provenance: Provenance::default(),
                at: start(),
            }
        });
        let batch = Batch { tenant: Tenant::default(), space: scope.space(), changes: changes.collect() };
        progress.inc(batch.changes.len() as u64);
        store.apply(batch).await?;
    }
    progress.finish_and_clear();
    Ok(())
}

async fn ask(folder: &Path, seed: u64, size: usize) -> Result<()> {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(folder, SqliteOptions::default())?);
    let embedder: Arc<dyn Embedder> = Arc::new(Instantly::new(seed));
    let engine = Engine::new(store, Some(embedder), Arc::new(Fixed(start())), Config::default())?;
    let pick = |question: u64| FIXED + question.wrapping_mul(0x9e37_79b9_7f4a_7c15) % size as u64;
    let request = |number: u64| RecallRequest {
        query: format!("when did we talk of {}", data::words(seed, number)),
        uncounted: true,
        ..RecallRequest::default()
    };
    let mut first = Sample::default();
    for user in 0..data::USERS as u64 {
        let number = FIXED + user;
        let began = Instant::now();
        engine.recall(&Caller::new(identifiers(number, Whose::Shared)), request(number)).await?;
        first.add(began.elapsed());
    }
    meter::print("recall, a user's first question", size, "ms_p50", first.at(0.5));
    // The features of a memory are computed the first time it is ranked, so questions get cheaper for a while.
    for (work, from) in
        [("recall, one of 100 users, the next ten", 0), ("recall, one of 100 users, later", QUESTIONS * 4)]
    {
        for question in QUESTIONS..from {
            let number = pick(question);
            engine.recall(&Caller::new(identifiers(number, Whose::Shared)), request(number)).await?;
        }
        let (mut cpu, mut wall) = (Sample::default(), Sample::default());
        for question in from..from + QUESTIONS {
            let number = pick(question);
            let caller = Caller::new(identifiers(number, Whose::Shared));
            let (spent, began) = (meter::cpu(), Instant::now());
            let recall = engine.recall(&caller, request(number)).await?;
            wall.add(began.elapsed());
            cpu.add(meter::cpu() - spent);
            // Made-up words are about nothing, so there may be no hits; everyone must have been asked.
            anyhow::ensure!(recall.degraded.is_empty(), "a question was not answered in full");
        }
        meter::print(work, size, "ms_p50", wall.at(0.5));
        meter::print(work, size, "ms_p99", wall.at(0.99));
        meter::print(work, size, "cpu_ms_p50", cpu.at(0.5));
    }
    let (mut cpu, mut wall) = (Sample::default(), Sample::default());
    let caller = Caller::new(identifiers(0, Whose::Fixed));
    for question in 0..QUESTIONS / 2 {
        let (spent, began) = (meter::cpu(), Instant::now());
        engine.recall(&caller, request(question % FIXED)).await?;
        wall.add(began.elapsed());
        cpu.add(meter::cpu() - spent);
    }
    meter::print("recall, a user with 1,000 turns", size, "ms_p50", wall.at(0.5));
    meter::print("recall, a user with 1,000 turns", size, "cpu_ms_p50", cpu.at(0.5));
    meter::print("recall", size, "resident_mb", meter::resident() as f64 / 1e6);
    Ok(())
}

/// A stand-in for the model: made-up states for each word, at once.
pub(super) struct Instantly {
    seed: u64,
    model: Model,
}

impl Instantly {
    pub(super) fn new(seed: u64) -> Self {
        let name = MODEL.to_owned();
        Self { seed, model: Model { name, dimensions: DIMENSIONS, similarity_threshold: 0.3, max_tokens: 256 } }
    }
}

#[async_trait]
impl Embedder for Instantly {
    fn model(&self) -> &Model {
        &self.model
    }

    async fn embed(&self, texts: &[String], _: Detail) -> Result<Vec<Embedding>, loci_models::Error> {
        let embed = |text: &String| {
            let number = text.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
            let token = |(at, word): (usize, &str)| Token {
                id: at as u32,
                piece: word.to_owned(),
                state: data::vector(self.seed, number.wrapping_add(at as u64)),
            };
            let tokens = text.split(' ').enumerate().map(token).collect();
            Embedding { vector: data::question(self.seed, number).values, tokens }
        };
        Ok(texts.iter().map(embed).collect())
    }
}
