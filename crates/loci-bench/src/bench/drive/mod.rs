//! The driver by which a harness measures Loci beside other systems.
//!
//! One JSON object per line comes in, one goes out; nothing else is written to standard output. What
//! each command means stands in `docs/performance.md`. The engine and the store are those of every other verb;
//! only the vectors are not made here but looked up, so that embedding does not blur what else costs.
//! **Invariant:** a command that fails is answered, and the next is read.

mod ask;
mod data;
mod given;
mod look;
mod spent;
mod text;
mod worker;
mod write;

use std::io::BufRead;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use self::worker::Worker;
use loci_host::settings::Settings;

/// What the harness asks for.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Command {
    Hello,
    Open { folder: PathBuf, data: PathBuf },
    Load { from: u64, until: u64 },
    Add { from: u64, until: u64, callers: usize, vectors: bool },
    Find { from: u64, until: u64, k: usize },
    Hybrid { from: u64, until: u64, k: usize },
    Update { from: u64, until: u64 },
    Delete { from: u64, until: u64 },
    Mixed { seconds: f64, from: u64 },
    Count,
    Numbers,
    Acknowledge { from: u64, until: u64 },
    Memory,
    TextAdd { from: u64, until: u64 },
    TextFind { from: u64, until: u64, k: usize },
    Close,
}

/// Answers until it is closed or its input ends.
pub(super) async fn run(settings: &Settings) -> Result<()> {
    let mut worker = Worker::new(settings.clone());
    let mut line = String::new();
    loop {
        line.clear();
        // Nothing else runs meanwhile, so a thread that blocks here is in nobody's way.
        if std::io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(());
        }
        let command = serde_json::from_str(&line).context("not a command");
        let (last, answer) = match command {
            Ok(Command::Close) => {
                worker.close();
                (true, Ok(json!({})))
            }
            Ok(command) => (false, answer(&mut worker, command).await),
            Err(error) => (false, Err(error)),
        };
        loci_host::output::json(&answer.unwrap_or_else(|error| json!({ "error": format!("{error:#}") })));
        if last {
            return Ok(());
        }
    }
}

async fn answer(worker: &mut Worker, command: Command) -> Result<Value> {
    match command {
        Command::Hello => Ok(json!({ "peer": "loci", "version": env!("CARGO_PKG_VERSION") })),
        Command::Open { folder, data } => worker.open(&folder, data).await,
        Command::Load { from, until } => write::load(worker.opened()?, from..until).await,
        Command::Add { from, until, callers, vectors } => {
            write::add(worker.opened()?, from..until, callers, vectors).await
        }
        Command::Acknowledge { from, until } => write::acknowledge(worker.opened()?, from..until).await,
        Command::Update { from, until } => write::update(worker.opened()?, from..until).await,
        Command::Delete { from, until } => write::delete(worker.opened()?, from..until).await,
        Command::Find { from, until, k } => ask::find(worker.opened()?, from..until, k).await,
        Command::Hybrid { from, until, k } => ask::hybrid(worker.opened()?, from..until, k).await,
        Command::Mixed { seconds, from } => ask::mixed(worker.opened()?, seconds, from).await,
        Command::Count => look::count(worker.opened()?).await,
        Command::Numbers => look::numbers(worker.opened()?).await,
        Command::Memory => look::memory(),
        Command::TextAdd { from, until } => text::add(&worker.with_model().await?, from..until).await,
        Command::TextFind { from, until, k } => text::find(&worker.with_model().await?, from..until, k).await,
        Command::Close => Ok(json!({})),
    }
}
