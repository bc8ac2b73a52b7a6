//! The number of instructions of an operation, which does not depend on the load of the machine.
//!
//! `scripts/guard.sh` counts instructions: it runs an operation N times and 2 N times on copies of one store, and
//! the difference divided by N is what one of them takes. Start, settings, opening and the first, cold answers
//! are in both runs and cancel out.
//!
//! **Invariant: what is done depends on the operation and its number alone.** One thread asks, the clock stands
//! still, and everything is made up from the seed.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use loci_engine::{Caller, Config, Engine, Fixed, NewMemory, RecallRequest, Turn, policy};
use loci_models::local::MINILM;
use loci_models::{Detail, Embedder, Local};
use loci_store::prelude::*;
use loci_store::{SqliteOptions, SqliteStore};
use loci_types::{Filter, Identifiers, SessionFilter, Shard, Vector};
use serde_json::Value;

use super::recall::{self, Instantly, Whose};
use super::{data, life};
use loci_host::settings::Settings;

/// Twenty tokens with the two markers at its ends.
const SENTENCE: &str = "The user prefers short answers and has been learning the cello with a teacher in Porto.";
const TURNS: u64 = 1_000;
const LARGE: u64 = 10_000;
const QUESTIONS: u64 = 8;
const SESSIONS: u64 = 16;

/// What `guard` runs, and how often.
#[derive(Debug, clap::Args)]
pub(super) struct GuardArgs {
    /// What `guard` runs
    #[arg(long, hide = true, value_enum, default_value = "remember")]
    operation: Operation,
    /// How often `guard` runs it
    #[arg(long, hide = true, default_value_t = 1)]
    times: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Operation {
    /// A durable add, without a vector, to a store of a thousand turns
    Remember,
    /// The whole path of recall over a thousand turns, with a given vector
    Recall,
    /// The nearest ten of a scope of ten thousand
    Nearest,
    /// A sentence of twenty tokens through one layer of the local model
    Embed,
    /// What rules learn from a session of twenty turns
    Consolidate,
}

/// Runs the operation on the store in the folder, and makes that store first if it is not there.
pub(super) fn run(settings: &Settings, folder: &Path, seed: u64, args: &GuardArgs) -> Result<()> {
    // A runtime of one thread: which worker steals which task is luck, and luck is counted too.
    let alone = || -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(work(settings, folder, seed, args))
    };
    let done = std::thread::scope(|scope| scope.spawn(alone).join());
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

async fn work(settings: &Settings, folder: &Path, seed: u64, args: &GuardArgs) -> Result<()> {
    let folder = folder.join("guard");
    if !folder.exists() {
        match args.operation {
            Operation::Embed => thin(settings, &folder)?,
            other => prepare(&folder, seed, other).await?,
        }
    }
    if args.operation == Operation::Embed {
        return embed(&folder, args.times).await;
    }
    let store = SqliteStore::open(&folder, SqliteOptions::default())?;
    match args.operation {
        Operation::Remember => remember(store, seed, args.times).await,
        Operation::Recall => recall(store, seed, args.times).await,
        Operation::Nearest => nearest(store, seed, args.times).await,
        Operation::Consolidate => consolidate(store, args.times).await,
        Operation::Embed => Ok(()),
    }
}

async fn prepare(folder: &Path, seed: u64, operation: Operation) -> Result<()> {
    let store = SqliteStore::open(folder, SqliteOptions::default())?;
    match operation {
        Operation::Nearest => recall::add(&store, seed, 0..LARGE, Whose::Fixed).await,
        Operation::Consolidate => tell(store).await,
        _ => recall::add(&store, seed, 0..TURNS, Whose::Fixed).await,
    }
}

fn engine(store: SqliteStore, embedder: Option<Arc<dyn Embedder>>) -> Result<Engine> {
    Ok(Engine::new(Arc::new(store), embedder, Arc::new(Fixed(recall::start())), Config::default())?)
}

fn caller() -> Caller {
    Caller::new(recall::identifiers(0, Whose::Fixed))
}

async fn remember(store: SqliteStore, seed: u64, times: u64) -> Result<()> {
    let (engine, caller) = (engine(store, None)?, caller());
    for number in TURNS..TURNS + times {
        let content = data::text(seed, number);
        engine.remember(&caller, NewMemory { content, kind: Some("fact".to_owned()), ..NewMemory::default() }).await?;
    }
    Ok(())
}

async fn recall(store: SqliteStore, seed: u64, times: u64) -> Result<()> {
    let (engine, caller) = (engine(store, Some(Arc::new(Instantly::new(seed))))?, caller());
    // The first time a memory is weighed its features are computed, so every question is asked once before.
    for number in (0..QUESTIONS).chain((0..times).map(|number| number % QUESTIONS)) {
        let query = format!("when did we talk of {}", data::words(seed, number * 97));
        let request = RecallRequest { query, uncounted: true, ..RecallRequest::default() };
        let found = engine.recall(&caller, request).await?;
        ensure!(found.degraded.is_empty(), "a question was not answered in full");
    }
    Ok(())
}

async fn nearest(store: SqliteStore, seed: u64, times: u64) -> Result<()> {
    let visible = policy::visible(&caller(), None)?;
    let filter = Filter::at(recall::start());
    for number in 0..=times {
        let question = Vector { model: MINILM.to_owned(), ..data::question(seed, number * 97) };
        let hits = store.nearest(&visible, &question, &filter, 10).await?;
        ensure!(hits.len() == 10, "the scope is not full");
    }
    Ok(())
}

async fn embed(folder: &Path, times: u64) -> Result<()> {
    let model = Local::load(folder)?;
    let texts = [SENTENCE.to_owned()];
    for _ in 0..=times {
        model.embed(&texts, Detail::Sentence).await?;
    }
    Ok(())
}

/// The model on this machine with the first of its layers alone: all of them take minutes to count and tell no more.
fn thin(settings: &Settings, folder: &Path) -> Result<()> {
    let whole = loci_models::local::look(&loci_host::wiring::places(settings)).context("run `make model`")?;
    let mut config: Value = serde_json::from_slice(&fs::read(whole.join("config.json"))?)?;
    config["num_hidden_layers"] = Value::from(1);
    fs::create_dir_all(folder)?;
    for name in ["tokenizer.json", "model.safetensors"] {
        fs::copy(whole.join(name), folder.join(name))?;
    }
    Ok(fs::write(folder.join("config.json"), config.to_string())?)
}

/// Sessions to learn from, each of a user of its own, so that none is dearer than another. All users are of one shard:
/// opening the file of another one would be counted too.
async fn tell(store: SqliteStore) -> Result<()> {
    let engine = engine(store, None)?;
    let users = (0_u64..).map(|number| format!("user{number}")).filter(|name| Shard::of(name) == Shard::of("user0"));
    for (session, user) in (0..SESSIONS).zip(users) {
        let caller = Caller::new(Identifiers {
            user_id: Some(user),
            session_id: Some(format!("s{session:02}")),
            ..Identifiers::default()
        });
        let turn = |(number, said): (usize, &&str)| Turn {
            thread_id: format!("t{session}"),
            content: said.replace("{n}", &(session + 10).to_string()),
            role: Some(if number % 5 == 4 { "assistant" } else { "user" }.to_owned()),
            reference: Some(number.to_string()),
            ..Turn::default()
        };
        engine.ingest_many(&caller, life::SAID.iter().enumerate().map(turn).collect()).await?;
    }
    Ok(())
}

async fn consolidate(store: SqliteStore, times: u64) -> Result<()> {
    let engine = engine(store, None)?;
    let operator = Caller::operator();
    let mut sessions = engine.sessions(&operator, SessionFilter::default()).await?;
    sessions.sort_by(|one, other| one.session_id.cmp(&other.session_id));
    ensure!(times <= sessions.len() as u64, "there are only {} sessions", sessions.len());
    for session in sessions.iter().take(times as usize) {
        let learned = engine.consolidate(&operator, &session.scope, &session.session_id).await?;
        ensure!(learned.turns == life::SAID.len(), "a session was learned from before");
    }
    Ok(())
}
