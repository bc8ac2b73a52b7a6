//! The cost of working memory.
//!
//! Working memory beside a plain `HashMap` that holds the same messages for the same agents, in the same run: a
//! ratio tells more than a clock on a shared machine. Each figure is the median over batches of calls, since one call is
//! shorter than looking at the clock.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use loci_engine::{Caller, Config, Engine, NewMessage, System, Working, WorkingQuery};
use loci_store::{SqliteOptions, SqliteStore};
use loci_types::Identifiers;

use super::data;
use super::meter;

/// Entries of the working memory that is asked.
const ENTRIES: u64 = 1_000;
/// Agents whose working memories are there.
const AGENTS: u64 = 100;
/// Batches, and calls in each.
const BATCHES: usize = 200;
const CALLS: usize = 50;
/// Hits of a question.
const WANTED: usize = 10;

/// One line of the table.
struct Figure {
    work: &'static str,
    n: u64,
    /// Microseconds a call, here and in the map.
    ours: f64,
    plain: f64,
}

/// A message as a plain map would hold it.
#[derive(Clone)]
struct Plain {
    content: String,
    vector: Vec<f32>,
}

/// Measures getting, appending and asking.
pub(super) async fn measure(folder: &Path, seed: u64, as_json: bool) -> Result<()> {
    let store = SqliteStore::open(&folder.join("working"), SqliteOptions::default())?;
    // Nothing is flushed while it is measured.
    let config = Config { working: Working { flush_tokens: u64::MAX, ..Working::default() }, ..Config::default() };
    let engine = Engine::new(Arc::new(store), None, Arc::new(System), config)?;
    let mut plain: HashMap<String, Vec<Plain>> = HashMap::new();
    for agent in 0..AGENTS {
        for number in 0..if agent == 0 { ENTRIES } else { 20 } {
            let (content, vector) = (data::text(seed, number), data::vector(seed, number));
            engine.append(&caller(agent), message(content.clone(), Some(vector.clone()))).await?;
            plain.entry(key(agent)).or_default().push(Plain { content, vector });
        }
    }
    let figures = [
        getting(&engine, &plain).await?,
        appending(&engine, &mut plain, seed).await?,
        asking(&engine, &plain, seed).await?,
    ];
    for figure in &figures {
        print(figure, as_json);
    }
    Ok(())
}

async fn getting(engine: &Engine, plain: &HashMap<String, Vec<Plain>>) -> Result<Figure> {
    let (caller, key) = (caller(0), key(0));
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for _ in 0..BATCHES {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(engine.working(&caller).await?.messages.len());
        }
        ours.push(start.elapsed());
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(plain.get(black_box(&key)).map(Vec::len));
        }
        theirs.push(start.elapsed());
    }
    Ok(Figure { work: "working get", n: ENTRIES, ours: median(ours), plain: median(theirs) })
}

async fn appending(engine: &Engine, plain: &mut HashMap<String, Vec<Plain>>, seed: u64) -> Result<Figure> {
    let (caller, key) = (caller(1), key(1));
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for batch in 0..BATCHES {
        let texts: Vec<String> = (0..CALLS).map(|call| data::text(seed, (batch * CALLS + call) as u64)).collect();
        let given = texts.clone();
        let start = Instant::now();
        for content in given {
            engine.append(&caller, message(content, None)).await?;
        }
        ours.push(start.elapsed());
        let start = Instant::now();
        for content in texts {
            plain.entry(key.clone()).or_default().push(Plain { content, vector: Vec::new() });
        }
        theirs.push(start.elapsed());
    }
    Ok(Figure { work: "working append", n: (BATCHES * CALLS) as u64, ours: median(ours), plain: median(theirs) })
}

async fn asking(engine: &Engine, plain: &HashMap<String, Vec<Plain>>, seed: u64) -> Result<Figure> {
    let (caller, key) = (caller(0), key(0));
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for batch in 0..BATCHES as u64 {
        let question = data::question(seed, batch % ENTRIES).values;
        let ask =
            || WorkingQuery { query: String::new(), embedding: Some(question.clone()), offset: 0, limit: Some(WANTED) };
        let asked: Vec<WorkingQuery> = (0..10).map(|_| ask()).collect();
        let start = Instant::now();
        for ask in asked {
            black_box(engine.query_working(&caller, ask).await?);
        }
        ours.push(start.elapsed() * (CALLS as u32) / 10);
        let start = Instant::now();
        for _ in 0..10 {
            black_box(scanned(plain.get(&key).map_or(&[][..], Vec::as_slice), &question));
        }
        theirs.push(start.elapsed() * (CALLS as u32) / 10);
    }
    Ok(Figure { work: "working query", n: ENTRIES, ours: median(ours), plain: median(theirs) })
}

/// What one would write who has only a map: compare all, sort, take the best, and copy them out.
fn scanned(entries: &[Plain], question: &[f32]) -> Vec<(f32, String)> {
    let mut scored: Vec<(f32, &Plain)> = entries.iter().map(|entry| (cosine(&entry.vector, question), entry)).collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    scored.into_iter().take(WANTED).map(|(score, entry)| (score, entry.content.clone())).collect()
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let dot: f32 = one.iter().zip(other).map(|(one, other)| one * other).sum();
    let length = |values: &[f32]| values.iter().map(|value| value * value).sum::<f32>().sqrt();
    dot / (length(one) * length(other))
}

/// The median of batches, in microseconds a call.
fn median(mut batches: Vec<std::time::Duration>) -> f64 {
    batches.sort();
    batches.get(batches.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e6 / CALLS as f64)
}

fn print(figure: &Figure, as_json: bool) {
    let Figure { work, n, ours, plain } = *figure;
    let ratio = if plain > 0.0 { ours / plain } else { 0.0 };
    if as_json {
        meter::print(work, n as usize, "us_p50", ours);
        meter::print(work, n as usize, "map_us_p50", plain);
        meter::print(work, n as usize, "ratio", ratio);
        return;
    }
    loci_host::output::line(&format!("{work:<16} {n:>6}  {ours:>9.2} µs  map {plain:>9.3} µs  ratio {ratio:>8.1}"));
}

fn caller(agent: u64) -> Caller {
    let identifiers = Identifiers {
        agent_id: Some(format!("agent{agent}")),
        user_id: Some("bench".to_owned()),
        ..Identifiers::default()
    };
    Caller::new(identifiers)
}

fn key(agent: u64) -> String {
    format!("default agent{agent} bench")
}

fn message(content: String, embedding: Option<Vec<f32>>) -> NewMessage {
    NewMessage { content, role: Some("user".to_owned()), embedding, ..NewMessage::default() }
}
