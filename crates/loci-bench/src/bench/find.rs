//! The cost of searches while a store grows.
//!
//! One store grows from a thousand memories to the largest asked for. At each size the same
//! questions are put: by vector and by words, for one user of a hundred and over everything.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use jiff::Timestamp;
use loci_engine::{Caller, policy};
use loci_store::prelude::*;
use loci_store::vectors::Query;
use loci_store::{SqliteOptions, SqliteStore};
use loci_types::{Action, Addition, Batch, Change, Filter, MemoryId, Provenance, Tenant, Vector, Visible};

use super::data::{self, DIMENSIONS, MODEL, USERS};
use super::meter::{self, Sample};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const QUESTIONS: u64 = 60;
const EXACT: u64 = 20;

/// Grows a store and measures it at each size.
pub(super) async fn measure(folder: &Path, seed: u64, largest: usize) -> Result<()> {
    let folder = folder.join("find");
    let mut size = 0;
    for next in SIZES.into_iter().filter(|size| *size <= largest) {
        let store = SqliteStore::open(&folder, SqliteOptions::default())?;
        grow(&store, "", seed, size, next).await?;
        size = next;
        drop(store);
        ask(&folder, seed, size).await?;
    }
    Ok(())
}

/// Fills a store with made-up memories. The name is put before what is printed.
pub(super) async fn grow(store: &dyn Store, name: &str, seed: u64, from: usize, until: usize) -> Result<()> {
    let progress = loci_host::output::progress((until - from) as u64, "memories");
    let at = Timestamp::UNIX_EPOCH;
    let (cpu, start) = (meter::cpu(), Instant::now());
    for first in (from..until).step_by(500) {
        let changes = (first..until.min(first + 500)).map(|number| {
            let number = number as u64;
            let vector = Vector { model: MODEL.to_owned(), values: data::vector(seed, number), token_states: None };
            let memory = data::memory(seed, number, at);
            let addition =
                Addition { unless: Some(memory.content_hash), vector: Some(vector), ..Addition::new(memory) };
            Change {
                action: Action::Add(Box::new(addition)),
                reason: "bench".to_owned(),
                provenance: Provenance::default(),
                at,
            }
        });
        let batch = Batch { tenant: Tenant::default(), space: data::scope(0)?.space(), changes: changes.collect() };
        progress.inc(batch.changes.len() as u64);
        store.apply(batch).await?;
    }
    progress.finish_and_clear();
    let added = (until - from) as f64;
    meter::print(
        &format!("{name}bulk add"),
        until,
        "cpu_ms_per_memory",
        (meter::cpu() - cpu).as_secs_f64() * 1e3 / added,
    );
    meter::print(&format!("{name}bulk add"), until, "per_second", added / start.elapsed().as_secs_f64());
    Ok(())
}

async fn ask(folder: &Path, seed: u64, size: usize) -> Result<()> {
    let filter = Filter::at(Timestamp::UNIX_EPOCH);
    let visible = policy::visible(&Caller::new(data::identifiers(0)), None)?;
    let start = Instant::now();
    let store = SqliteStore::open(folder, SqliteOptions::default())?;
    let first = store.nearest(&visible, &data::question(seed, 0), &filter, 10).await?;
    meter::print("open and answer", size, "ms", start.elapsed().as_secs_f64() * 1e3);
    anyhow::ensure!(!first.is_empty(), "the first answer is empty");
    questions(&store, "", seed, size).await
}

/// Puts the questions to a store of this size. The name is put before what is printed.
pub(super) async fn questions(store: &dyn Store, name: &str, seed: u64, size: usize) -> Result<()> {
    let whole = policy::visible(&Caller::operator(), None)?;
    let of_user = |number: u64| policy::visible(&Caller::new(data::identifiers(number)), None);
    let filter = Filter::at(Timestamp::UNIX_EPOCH);
    let pick = |question: u64| question.wrapping_mul(0x9e37_79b9_7f4a_7c15) % size as u64;

    let (mut cpu, mut wall, mut found, mut wanted) = (Sample::default(), Sample::default(), 0, 0);
    for question in 0..QUESTIONS {
        let number = pick(question);
        let (visible, vector) = (of_user(number)?, data::question(seed, number));
        // The first look at a user loads its vectors; what counts is the ones after.
        store.nearest(&visible, &vector, &filter, 10).await?;
        let (began, start) = (meter::cpu(), Instant::now());
        let hits = store.nearest(&visible, &vector, &filter, 10).await?;
        wall.add(start.elapsed());
        cpu.add(meter::cpu() - began);
        let of_user = (0..size as u64).filter(|other| other % USERS as u64 == number % USERS as u64);
        let exact = &exact(seed, of_user, std::slice::from_ref(&vector))[0];
        wanted += exact.len();
        found += hits.iter().filter(|hit| exact.contains(&hit.id)).count();
    }
    meter::print(&format!("{name}vector top-10, one of 100 users"), size, "cpu_ms_p50", cpu.at(0.5));
    meter::print(&format!("{name}vector top-10, one of 100 users"), size, "ms_p50", wall.at(0.5));
    meter::print(&format!("{name}vector top-10, one of 100 users"), size, "recall", found as f64 / wanted as f64);

    let named = |work: &str| format!("{name}{work}");
    words(store, seed, size, &named("words top-10, one of 100 users"), &filter, &pick, &of_user).await?;
    words(store, seed, size, &named("words top-10, everything"), &filter, &pick, &|_| Ok(whole.clone())).await?;
    everything(store, &named("vector top-10, everything"), seed, size, &filter, &whole, &pick).await
}

async fn words(
    store: &dyn Store,
    seed: u64,
    size: usize,
    work: &str,
    filter: &Filter,
    pick: &(dyn Fn(u64) -> u64 + Sync),
    visible: &(dyn Fn(u64) -> Result<Visible, loci_types::Error> + Sync),
) -> Result<()> {
    let (mut cpu, mut wall) = (Sample::default(), Sample::default());
    for question in 0..QUESTIONS {
        let number = pick(question);
        let (visible, text) = (visible(number)?, data::words(seed, number));
        let (began, start) = (meter::cpu(), Instant::now());
        store.lexical(&visible, &text, filter, 10).await?;
        wall.add(start.elapsed());
        cpu.add(meter::cpu() - began);
    }
    meter::print(work, size, "cpu_ms_p50", cpu.at(0.5));
    meter::print(work, size, "ms_p50", wall.at(0.5));
    Ok(())
}

async fn everything(
    store: &dyn Store,
    work: &str,
    seed: u64,
    size: usize,
    filter: &Filter,
    whole: &Visible,
    pick: &(dyn Fn(u64) -> u64 + Sync),
) -> Result<()> {
    let vectors: Vec<Vector> = (0..EXACT).map(|question| data::question(seed, pick(question))).collect();
    store.nearest(whole, &vectors[0], filter, 10).await?;
    let (mut cpu, mut wall, mut answers) = (Sample::default(), Sample::default(), Vec::new());
    for vector in &vectors {
        store.nearest(whole, vector, filter, 10).await?;
        let (began, start) = (meter::cpu(), Instant::now());
        answers.push(store.nearest(whole, vector, filter, 10).await?);
        wall.add(start.elapsed());
        cpu.add(meter::cpu() - began);
    }
    meter::print(work, size, "cpu_ms_p50", cpu.at(0.5));
    meter::print(work, size, "ms_p50", wall.at(0.5));
    meter::print(work, size, "resident_mb", meter::resident() as f64 / 1e6);
    let exact = exact(seed, 0..size as u64, &vectors);
    let wanted: usize = exact.iter().map(Vec::len).sum();
    let found: usize =
        answers.iter().zip(&exact).map(|(hits, exact)| hits.iter().filter(|hit| exact.contains(&hit.id)).count()).sum();
    meter::print(work, size, "recall", found as f64 / wanted as f64);
    Ok(())
}

/// The true ten nearest of each question, by looking at every vector once.
fn exact(seed: u64, numbers: impl Iterator<Item = u64>, questions: &[Vector]) -> Vec<Vec<MemoryId>> {
    let queries: Vec<Query> = questions.iter().map(|question| Query::new(&question.values)).collect();
    let mut best: Vec<Vec<(f32, u64)>> = vec![Vec::new(); queries.len()];
    for number in numbers {
        let vector = data::vector(seed, number);
        debug_assert_eq!(vector.len(), DIMENSIONS);
        for (query, best) in queries.iter().zip(&mut best) {
            let similarity = query.exact(&vector);
            if best.len() < 10 || similarity > best[9].0 {
                let place = best.partition_point(|(other, _)| *other >= similarity);
                best.insert(place, (similarity, number));
                best.truncate(10);
            }
        }
    }
    let id = |(_, number): &(f32, u64)| data::memory(seed, *number, Timestamp::UNIX_EPOCH).id;
    best.iter().map(|best| best.iter().map(id).collect()).collect()
}
