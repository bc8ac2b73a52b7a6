//! Measures speed and recall of a vector scan.
//!
//! Usage: `vector_scan [largest] [corpus.f32 queries.f32]`. The vectors have 384 dimensions. They are seeded, up to
//! `largest` (default: 1,000,000), or read from two raw files of little-endian `f32` and also grown to `largest` by
//! adding differences of pairs. It prints one line of JSON per figure.
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

#[path = "../src/vectors/tests/seeded.rs"]
mod seeded;

use std::time::Instant;

use loci_store::vectors::{Arrays, Query};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

const DIMENSIONS: usize = 384;
const TOP: usize = 10;
const ASKED: usize = 40;
const QUERIES: usize = 100;

fn main() -> std::io::Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let largest = given.first().and_then(|largest| largest.parse().ok()).unwrap_or(1_000_000);
    if let [_, corpus, queries] = &given[..] {
        let (corpus, queries) = (read(corpus)?, read(queries)?);
        let every = (queries.len() / DIMENSIONS / QUERIES).max(1);
        let queries: Vec<Query> =
            queries.chunks_exact(DIMENSIONS).step_by(every).take(QUERIES).map(Query::new).collect();
        measure("file", &corpus, &queries);
        for many in [100_000, 1_000_000].into_iter().filter(|&many| many <= largest) {
            measure("file-grown", &grow(&corpus, many), &queries);
        }
        return Ok(());
    }
    for many in [1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|&many| many <= largest) {
        let mut source = seeded::Seeded::new(11, many, DIMENSIONS);
        let corpus: Vec<f32> = (0..many).flat_map(|_| source.next()).collect();
        let queries: Vec<Query> = (0..QUERIES).map(|_| Query::new(&source.next())).collect();
        measure("seeded", &corpus, &queries);
    }
    Ok(())
}

fn measure(work: &str, corpus: &[f32], queries: &[Query]) {
    let many = corpus.len() / DIMENSIONS;
    let vector = |key: i64| &corpus[key as usize * DIMENSIONS..][..DIMENSIONS];
    let mut arrays = Arrays::new(DIMENSIONS);
    let start = Instant::now();
    for key in 0..many as i64 {
        arrays.insert(key, vector(key));
    }
    let insert = start.elapsed().as_secs_f64() * 1e6 / many as f64;

    let ask = |query: &Query, keep: &dyn Fn(i64) -> bool| {
        best(query, arrays.nearest(query, ASKED, keep).into_iter().map(|found| found.key), vector)
    };
    let (mut hits, mut times) = (0, Vec::new());
    for query in queries {
        let expect = best(query, 0..many as i64, vector);
        ask(query, &|_| true);
        let start = Instant::now();
        let found = ask(query, &|_| true);
        times.push(start.elapsed().as_secs_f64() * 1e3);
        hits += expect.iter().filter(|key| found.contains(key)).count();
    }
    report(work, many, "nearest_p50_ms", median(&mut times));
    report(work, many, "recall_at_10", hits as f64 / (queries.len() * TOP.min(many)) as f64);

    // One in a hundred matches: searched with a filter, and with the list of matching keys.
    let few: Vec<i64> = (0..many as i64).step_by(100).collect();
    let (mut hits, mut hits_among, mut filtered, mut among) = (0, 0, Vec::new(), Vec::new());
    for query in queries {
        let expect = best(query, few.iter().copied(), vector);
        let start = Instant::now();
        let found = ask(query, &|key| key % 100 == 0);
        filtered.push(start.elapsed().as_secs_f64() * 1e3);
        hits += expect.iter().filter(|key| found.contains(key)).count();
        let start = Instant::now();
        let found = best(query, arrays.nearest_among(query, ASKED, &few).into_iter().map(|found| found.key), vector);
        among.push(start.elapsed().as_secs_f64() * 1e3);
        hits_among += expect.iter().filter(|key| found.contains(key)).count();
    }
    report(work, many, "filtered_1pc_p50_ms", median(&mut filtered));
    report(work, many, "filtered_1pc_recall_at_10", hits as f64 / (queries.len() * TOP.min(few.len())) as f64);
    report(work, many, "among_1pc_p50_ms", median(&mut among));
    report(work, many, "among_1pc_recall_at_10", hits_among as f64 / (queries.len() * TOP.min(few.len())) as f64);
    report(work, many, "bytes_per_vector", arrays.bytes() as f64 / many as f64);
    report(work, many, "insert_us", insert);
}

/// The exact best of some keys.
fn best<'a>(query: &Query, keys: impl Iterator<Item = i64>, vector: impl Fn(i64) -> &'a [f32]) -> Vec<i64> {
    let mut scored: Vec<(f32, i64)> = keys.map(|key| (query.exact(vector(key)), key)).collect();
    scored.sort_unstable_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    scored.truncate(TOP);
    scored.into_iter().map(|(_, key)| key).collect()
}

/// Grows a corpus with vectors like its own: each is one vector plus half the difference of two others.
fn grow(corpus: &[f32], many: usize) -> Vec<f32> {
    let mut random = SmallRng::seed_from_u64(5);
    let mut grown = corpus.to_vec();
    let mut any = || {
        let row = random.random_range(0..corpus.len() / DIMENSIONS);
        &corpus[row * DIMENSIONS..][..DIMENSIONS]
    };
    while grown.len() < many * DIMENSIONS {
        let (one, two, three) = (any(), any(), any());
        let vector = one.iter().zip(two).zip(three).map(|((one, two), three)| one + 0.5 * (two - three)).collect();
        grown.extend(seeded::unit(vector));
    }
    grown
}

fn read(path: &str) -> std::io::Result<Vec<f32>> {
    let bytes = std::fs::read(path)?;
    Ok(bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect())
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

fn report(work: &str, many: usize, metric: &str, value: f64) {
    println!(r#"{{"work":"{work}","n":{many},"metric":"{metric}","value":{value:.5}}}"#);
}
