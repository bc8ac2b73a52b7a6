//! Measures concurrent first queries on a large scope: the number of loads and the memory they need.
//!
//! Usage: `scope_load FOLDER [memories] [callers]`. The first run writes the scope (default: 200,000 memories with
//! seeded vectors of 384 dimensions) into FOLDER and ends; later runs query it from all callers (default: 64) at once.
//! It prints one line of JSON per figure.
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

#[path = "../src/vectors/tests/seeded.rs"]
mod seeded;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use loci_store::prelude::*;
use loci_store::{Error, SqliteOptions, SqliteStore};
use loci_testkit::samples::{addition, at, batch, change, id, memory, now, user, visible};
use loci_types::{Action, Vector};

const DIMENSIONS: usize = 384;
const BATCH: u64 = 1_000;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(given.first().map_or("scope-load", String::as_str));
    let number = |at: usize, usual: u64| given.get(at).and_then(|given| given.parse().ok()).unwrap_or(usual);
    let (memories, callers) = (number(1, 200_000), number(2, 64));
    let fill = !folder.exists();
    let store = SqliteStore::open(folder, SqliteOptions::default())?;
    if fill { write(&store, memories).await } else { ask(&store, memories, callers).await }
}

async fn write(store: &SqliteStore, memories: u64) -> Result<(), Error> {
    let anna = user("anna");
    let mut source = seeded::Seeded::new(11, memories as usize, DIMENSIONS);
    let mut written = 0;
    for first in (0..memories).step_by(BATCH as usize) {
        let add = |number: u64, values: Vec<f32>| {
            let words = (0..24).map(|place| format!("word{} ", (number * 31 + place * 977) % 9_973));
            // The number makes the text unique, because the store keeps equal texts of a scope once.
            let mut memory = memory(number, &anna, &format!("number{number} {}", words.collect::<String>()));
            memory.thread_id = Some(format!("thread-{}", number / 40));
            let mut addition = addition(memory);
            addition.vector = Some(Vector { model: "seeded".to_owned(), values, token_states: None });
            change(at(number as i64), Action::Add(Box::new(addition)))
        };
        let changes = (first..memories.min(first + BATCH)).map(|number| add(number, source.next())).collect();
        let outcomes = store.apply(batch(&anna.space(), changes)).await?;
        let new = (first..).zip(outcomes).filter(|(number, outcome)| outcome.id == Some(id(*number)));
        written += new.count();
    }
    println!(r#"{{"metric":"written","value":{written}}}"#);
    Ok(())
}

async fn ask(store: &SqliteStore, memories: u64, callers: u64) -> Result<(), Error> {
    let before = resident("RssAnon");
    let (peak, done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let watch = std::thread::spawn({
        let (peak, done) = (Arc::clone(&peak), Arc::clone(&done));
        move || {
            while !done.load(Ordering::Relaxed) {
                peak.fetch_max(resident("RssAnon"), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    });
    let start = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for caller in 0..callers {
        let store = store.clone();
        tasks.spawn(async move {
            let seen = visible(&[user("anna")]);
            let values = seeded::Seeded::new(caller, 200, DIMENSIONS).next();
            let vector = Vector { model: "seeded".to_owned(), values, token_states: None };
            let near = store.nearest(&seen, &vector, &now(), 10).await?;
            let words = store.lexical(&seen, "word31 word977", &now(), 10).await?;
            let ids: Vec<_> = near.iter().map(|hit| hit.id).collect();
            let turn_runs = store.around(&seen, &now(), &ids, 2).await?;
            Ok::<_, Error>((near.len(), words.len(), turn_runs.len()))
        });
    }
    let answers = tasks.join_all().await.into_iter().collect::<Result<Vec<_>, _>>()?;
    let seconds = start.elapsed().as_secs_f64();
    done.store(true, Ordering::Relaxed);
    drop(watch.join());
    let (loads, bytes) = store.cache_usage();
    let grown = peak.load(Ordering::Relaxed).saturating_sub(before);
    let report = |metric: &str, value: f64| {
        println!(r#"{{"n":{memories},"callers":{callers},"metric":"{metric}","value":{value:.3}}}"#);
    };
    report("answered", answers.iter().filter(|(near, ..)| *near == 10).count() as f64);
    report("seconds", seconds);
    report("parts_loaded", loads as f64);
    report("cached_bytes", bytes as f64);
    report("peak_anonymous_bytes", grown as f64);
    report("peak_to_cached", grown as f64 / bytes.max(1) as f64);
    report("peak_resident_with_mapped_file_bytes", resident("VmHWM") as f64);
    Ok(())
}

/// A value of `/proc/self/status` in bytes; 0 if it is missing.
fn resident(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).map_or(0, |kilobytes| kilobytes << 10)
}
