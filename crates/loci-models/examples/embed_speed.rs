//! Measures the speed of the local model on this machine.
//!
//! `cargo run --release --example embed_speed -p loci-models -- <model folder> [full]`

#![allow(clippy::print_stdout, reason = "an example speaks to a person")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use loci_models::local::Precision;
use loci_models::{Detail, Embedder, Error, Local};

const SENTENCE: &str =
    "The user prefers short answers and has been learning the cello with a teacher in Porto since May.";

fn main() -> Result<(), Error> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        println!("usage: embed_speed <model folder> [full]");
        return Ok(());
    };
    let start = Instant::now();
    let full = std::env::args_os().nth(2).is_some_and(|word| word == "full");
    let local = Local::load_with(&folder, if full { Precision::Full } else { Precision::Eight })?;
    println!("{}: loaded in {:.0?}", local.model().name, start.elapsed());

    let one = vec![SENTENCE.to_owned()];
    let tokens = local.embed_blocking(&one, Detail::Tokens)?[0].tokens.len();
    let before = cpu();
    let mut times = timed(100, || local.embed_blocking(&one, Detail::Tokens).map(drop))?;
    let spent = (cpu() - before) / 100;
    times.sort();
    println!("one sentence of {tokens} tokens: median {:.2?}, p95 {:.2?}, CPU {spent:.2?}", times[50], times[95]);

    for (what, repeat) in [("short", 1), ("medium", 3), ("long", 12)] {
        let texts: Vec<_> = (0..64).map(|n| format!("{n} {}", [SENTENCE].repeat(repeat).join(" "))).collect();
        let before = cpu();
        let times = timed(3, || local.embed_blocking(&texts, Detail::Sentence).map(drop))?;
        let spent = (cpu() - before) / 3 / texts.len() as u32;
        let best = times.iter().min().copied().unwrap_or_default();
        let rate = texts.len() as f64 / best.as_secs_f64();
        println!("{what} texts ({} tokens): {rate:.0}/s, CPU {spent:.2?} each", tokens * repeat);
    }
    Ok(())
}

fn timed(rounds: usize, mut work: impl FnMut() -> Result<(), Error>) -> Result<Vec<Duration>, Error> {
    (0..rounds)
        .map(|_| {
            let start = Instant::now();
            work().map(|()| start.elapsed())
        })
        .collect()
}

/// The processor time of this process, where the system tells it in hundredths of a second. Unlike
/// the clock on the wall it means something on a busy machine.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}
