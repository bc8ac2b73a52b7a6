//! The cost of learning and of maintenance.
//!
//! Turns come in durably, sessions are learned from by rules, and a decay pass runs over a full store
//! while someone else goes on writing to it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use loci_engine::{Caller, Config, Engine, Fixed, MaintainRequest, MaintenanceStep, NewMemory, System, Turn};
use loci_store::prelude::*;
use loci_store::{SqliteOptions, SqliteStore};
use loci_types::{Action, Addition, Batch, Change, Identifiers, Provenance, Tenant};

use super::data;
use super::meter::{self, Sample};

const TURNS: usize = 2_000;
const SESSION: usize = 40;
const MEMORIES: u64 = 100_000;
/// Days until the pass runs: some have crossed a threshold, most have only aged.
const DAYS: i64 = 12;

/// What people say, some of it worth keeping; `{n}` is a number.
pub(super) const SAID: [&str; 20] = [
    "Good morning! How are you today?",
    "I live in Harbour Street {n} now, the flat is lovely.",
    "Could you write me a regex for dates?",
    "My sister Marta works at Fabrikam{n} as a nurse.",
    "haha that is funny",
    "We decided to use PostgreSQL {n} because the old one is out of support.",
    "What is the weather like in Porto?",
    "I prefer tea over coffee in the morning.",
    "Thanks a lot, that helps.",
    "The staging port is {n}.",
    "ok",
    "Our cluster has {n} nodes.",
    "If I lived in Rome I would eat ice cream every day.",
    "Remind me to renew the certificate by Friday.",
    "I'm tired, let's go on tomorrow.",
    "Project Atlas{n} uses Rust and Svelte.",
    "sounds good to me",
    "My favourite editor is Kakoune.",
    "Can you explain how TLS works?",
    "I'm allergic to peanuts, by the way.",
];

/// Measures ingesting, consolidating and a decay pass.
pub(super) async fn measure(folder: &Path, seed: u64, largest: usize) -> Result<()> {
    learning(&folder.join("learning")).await?;
    fading(&folder.join("fading"), seed, MEMORIES.min(largest as u64)).await
}

async fn learning(folder: &Path) -> Result<()> {
    let store = SqliteStore::open(folder, SqliteOptions::default())?;
    let engine = Engine::new(Arc::new(store), None, Arc::new(System), Config::default())?;
    let mut times = Sample::default();
    let before = meter::cpu();
    for number in 0..TURNS {
        let caller = Caller::new(Identifiers {
            user_id: Some(format!("user{}", number / SESSION % 10)),
            session_id: Some(format!("s{}", number / SESSION)),
            ..Identifiers::default()
        });
        let content = SAID[number * 7 % SAID.len()].replace("{n}", &(number % 97).to_string());
        let role = Some(if number % 2 == 0 { "user" } else { "assistant" }.to_owned());
        let thread_id = format!("t{}", number / SESSION % 10);
        let reference = Some(number.to_string());
        let start = Instant::now();
        engine.ingest(&caller, Turn { thread_id, content, role, reference, ..Turn::default() }).await?;
        times.add(start.elapsed());
    }
    meter::print("ingest", TURNS, "cpu_ms_per_turn", (meter::cpu() - before).as_secs_f64() * 1e3 / TURNS as f64);
    meter::print("ingest", TURNS, "ms_p50", times.at(0.5));
    meter::print("ingest", TURNS, "ms_p99", times.at(0.99));
    let operator = Caller::operator();
    let before = meter::cpu();
    for session in engine.sessions(&operator, loci_types::SessionFilter::default()).await? {
        engine.consolidate(&operator, &session.scope, &session.session_id).await?;
    }
    let spent = (meter::cpu() - before).as_secs_f64();
    meter::print("consolidate", TURNS, "turns_per_cpu_second", TURNS as f64 / spent);
    Ok(())
}

async fn fading(folder: &Path, seed: u64, memories: u64) -> Result<()> {
    let store = SqliteStore::open(folder, SqliteOptions::default())?;
    let start: Timestamp = "2026-01-01T00:00:00Z".parse()?;
    fill(&store, seed, memories, start).await?;
    let now = start.saturating_add(SignedDuration::from_hours(24 * DAYS))?;
    let engine = Engine::new(Arc::new(store.clone()), None, Arc::new(Fixed(now)), Config::default())?;
    let done = Arc::new(AtomicBool::new(false));
    let other = tokio::spawn(write_beside(store, now, done.clone()));
    let (wall, cpu) = (Instant::now(), meter::cpu());
    let only = MaintainRequest { only: vec![MaintenanceStep::Decay], ..MaintainRequest::default() };
    let report = engine.maintain(&Caller::operator(), only, |_| {}).await?;
    let (wall, cpu) = (wall.elapsed(), meter::cpu() - cpu);
    done.store(true, Ordering::Relaxed);
    let mut waits = other.await??;
    let n = memories as usize;
    meter::print("decay", n, "seconds", wall.as_secs_f64());
    meter::print("decay", n, "cpu_seconds", cpu.as_secs_f64());
    meter::print("decay", n, "aged", report.steps.iter().map(|step| step.aged).sum::<u64>() as f64);
    meter::print("decay", n, "moved", report.steps.iter().map(|step| step.changes).sum::<u64>() as f64);
    meter::print("decay beside", n, "write_ms_p50", waits.at(0.5));
    meter::print("decay beside", n, "write_ms_longest", waits.at(1.0));
    Ok(())
}

async fn fill(store: &SqliteStore, seed: u64, memories: u64, start: Timestamp) -> Result<()> {
    let space = data::scope(0)?.space();
    let numbers: Vec<u64> = (0..memories).collect();
    for chunk in numbers.chunks(2_000) {
        let change = |number: &u64| {
            let mut memory = data::memory(seed, *number, start);
            // One in a hundred fades faster and crosses its threshold within the time.
            memory.decay_rate = if number.is_multiple_of(100) { 0.2 } else { 0.02 };
            Change {
                action: Action::Add(Box::new(Addition::new(memory))),
                reason: "made up".to_owned(),
                provenance: Provenance::default(),
                at: start,
            }
        };
        let changes = chunk.iter().map(change).collect();
        store.apply(Batch { tenant: Tenant::default(), space: space.clone(), changes }).await?;
    }
    Ok(())
}

/// Writes to the same space until the pass is done, and notes how long each write waited.
async fn write_beside(store: SqliteStore, now: Timestamp, done: Arc<AtomicBool>) -> Result<Sample> {
    let engine = Engine::new(Arc::new(store), None, Arc::new(Fixed(now)), Config::default())?;
    let caller = Caller::new(data::identifiers(0));
    let mut waits = Sample::default();
    let mut number = 0;
    while !done.load(Ordering::Relaxed) {
        number += 1;
        let new = NewMemory { content: format!("written beside {number}"), as_is: true, ..NewMemory::default() };
        let start = Instant::now();
        engine.remember(&caller, new).await?;
        waits.add(start.elapsed());
    }
    Ok(waits)
}
