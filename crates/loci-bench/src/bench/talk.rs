//! The cost of recall in long conversations with common words.
//!
//! Ten users with a tenth of the store each, and turns whose words meet as those of real talk do: the commonest
//! word that says something stands in a tenth of all turns. So a question has postings of thousands of turns to
//! walk and its pool is as large as a pool gets. A store that is kept and queried again is not created again.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use loci_engine::{Caller, Config, Engine, Fixed, RecallRequest};
use loci_models::local::MINILM as MODEL;
use loci_models::projection::PACKED;
use loci_store::prelude::*;
use loci_store::{SqliteOptions, SqliteStore};
use loci_types::{Action, Addition, Batch, Change, Identifiers, Kind, Memory, Provenance, Tenant, Vector};

use super::data;
use super::meter::{self, Sample};
use super::recall::{Instantly, SESSION, TOKENS, start};

const SIZES: [usize; 2] = [10_000, 100_000];
const USERS: u64 = 10;
const QUESTIONS: u64 = 500;

/// Makes a store of each size and asks it.
pub(super) async fn measure(folder: &Path, seed: u64, largest: usize) -> Result<()> {
    for size in SIZES.into_iter().filter(|size| *size <= largest) {
        let folder = folder.join(format!("talk-{size}"));
        if !folder.exists() {
            add(&SqliteStore::open(&folder, SqliteOptions::default())?, seed, size as u64).await?;
        }
        ask(&folder, seed, size).await?;
    }
    Ok(())
}

fn identifiers(number: u64) -> Identifiers {
    Identifiers { user_id: Some(format!("talker{}", number % USERS)), ..data::identifiers(number) }
}

/// Turn `number`: one of twenty in its session, the user and the assistant in turns.
fn turn(seed: u64, number: u64) -> Memory {
    let (place, identifiers) = (number / USERS, identifiers(number));
    let session = format!("{}-{}", identifiers.user_id.as_deref().unwrap_or_default(), place / SESSION);
    let content = data::talk(seed, number);
    Memory {
        thread_id: identifiers.user_id.clone(),
        identifiers: Identifiers { session_id: Some(session), ..identifiers },
        role: Some(if place.is_multiple_of(2) { "user" } else { "assistant" }.to_owned()),
        kind: Kind::stored(Kind::EPISODIC),
        content_hash: loci_engine::content_hash(&content),
        content,
        ..data::memory(seed, number, start())
    }
}

async fn add(store: &SqliteStore, seed: u64, size: u64) -> Result<()> {
    let progress = loci_host::output::progress(size, "turns");
    let scope = data::scope(0)?;
    for first in (0..size).step_by(500) {
        let changes = (first..size.min(first + 500)).map(|number| {
            let token_states = Some(data::bytes(seed, number, TOKENS * PACKED));
            let vector = Vector { model: MODEL.to_owned(), values: data::vector(seed, number), token_states };
            let addition = Addition { vector: Some(vector), ..Addition::new(turn(seed, number)) };
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
    let engine = Engine::new(store, Some(Arc::new(Instantly::new(seed))), Arc::new(Fixed(start())), Config::default())?;
    let pick = |question: u64| question.wrapping_mul(0x9e37_79b9_7f4a_7c15) % size as u64;
    // The first round takes memories apart that the second finds at hand.
    for (work, from) in [("recall, one of 10 users, first", 0), ("recall, one of 10 users, later", QUESTIONS)] {
        let (mut cpu, mut wall) = (Sample::default(), Sample::default());
        for question in from..from + QUESTIONS {
            let number = pick(question);
            let said = data::talk(seed, number);
            let words: Vec<&str> = said.split(' ').take(4).collect();
            let query = format!("when did we talk of {}", words.join(" "));
            let caller = Caller::new(identifiers(number));
            let (spent, began) = (meter::cpu(), Instant::now());
            let request = RecallRequest { query, uncounted: true, ..RecallRequest::default() };
            engine.recall(&caller, request).await?;
            wall.add(began.elapsed());
            cpu.add(meter::cpu() - spent);
        }
        meter::print(work, size, "ms_p50", wall.at(0.5));
        meter::print(work, size, "ms_p99", wall.at(0.99));
        meter::print(work, size, "cpu_ms_p50", cpu.at(0.5));
    }
    meter::print("recall, one of 10 users", size, "resident_mb", meter::resident() as f64 / 1e6);
    Ok(())
}
