//! The commands: their arguments, the calls that they make and what they print.

pub(crate) mod agent;
mod asking;
pub(crate) mod backup;
pub(crate) mod checkpoint;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod consent;
pub(crate) mod context;
pub(crate) mod doctor;
pub(crate) mod entity;
pub(crate) mod erase;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod fact;
pub(crate) mod import;
pub(crate) mod ingest;
pub(crate) mod init;
pub(crate) mod jobs;
pub(crate) mod key;
pub(crate) mod list;
pub(crate) mod maintain;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod migrate;
pub(crate) mod model;
pub(crate) mod operations;
pub(crate) mod pool;
pub(crate) mod recall;
pub(crate) mod reembed;
pub(crate) mod remember;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod stats;
mod stream;
mod task;
pub(crate) mod vectors;
pub(crate) mod working;

use std::process::ExitCode;

use anyhow::Result;
use loci_engine::in_time_zone;
use serde_json::Value;

use self::memory::{read, write};
use crate::arguments::{Arguments, Command, DevCommand, MemoryCommand, StoreCommand, UserCommand};
use crate::context::Context;
use crate::settings::{Settings, variable};
use crate::{output, shape};

/// Runs the command. Days in its flags and lines are read in `retrieval.time_zone`.
pub(crate) async fn run(arguments: Arguments) -> Result<ExitCode> {
    // These two must work when the configuration does not.
    match arguments.command {
        Command::Completions(args) => return done(completions::run(&args)),
        Command::Config(args) => return done(config::run(args, arguments.config, arguments.data, arguments.json)),
        _ => {}
    }
    let (settings, sources) = Settings::load(arguments.config.as_deref())?;
    if let Some(note) = &sources.note {
        output::note(note);
    }
    let mut context = Context {
        settings,
        sources,
        json: arguments.json,
        server: arguments.server.or_else(|| variable("LOCI_SERVER")),
        key: arguments.key.or_else(|| variable("LOCI_KEY")),
        key_is_bound: false,
        ca: arguments.ca.or_else(|| variable("LOCI_CA").map(Into::into)),
        data: arguments.data,
        tier: Default::default(),
    };
    context.read_bounds_of_key().await;
    let zone = context.settings.engine().retrieval.time_zone()?;
    in_time_zone(zone, run_with(&context, arguments.command)).await
}

async fn run_with(context: &Context, command: Command) -> Result<ExitCode> {
    match command {
        Command::Remember(args) => done(remember::run(context, *args).await),
        Command::Recall(args) => done(recall::run(context, *args).await),
        Command::Context(args) => done(context::run(context, *args).await),
        Command::List(args) => done(list::run(context, *args).await),
        Command::Get(args) => done(read::get(context, &args).await),
        Command::Update(args) => done(write::update(context, &args).await),
        Command::Forget(args) => done(write::forget(context, &args).await),
        Command::Restore(args) => done(write::restore(context, &args).await),
        Command::History(args) => done(read::history(context, &args).await),
        Command::Undo(args) => done(write::undo(context, &args).await),
        Command::Memory(command) => done(run_memory(context, command).await),
        Command::Ingest(args) => done(ingest::run(context, *args).await),
        Command::Session(args) => done(session::run(context, args).await),
        Command::Working(args) => done(working::run(context, *args).await),
        Command::Checkpoint(args) => done(checkpoint::run(context, args).await),
        Command::Entity(args) => done(entity::run(context, args).await),
        Command::Fact(args) => done(fact::run(context, args).await),
        Command::Consent(args) => done(consent::run(context, args).await),
        Command::Init(args) => done(init::run(context, &args).await),
        Command::Serve(args) => done(serve::run(context, args).await),
        Command::Mcp(args) => done(mcp::run(context, args).await),
        Command::Import(args) => done(import::run(context, &args).await),
        Command::Export(args) => done(export::run(context, &args).await),
        Command::Agent(args) => done(agent::run(context, args).await),
        Command::Pool(args) => done(pool::run(context, *args).await),
        Command::Key(args) => done(key::run(context, args).await),
        Command::User(UserCommand::Erase(args)) => done(erase::run(context, &args).await),
        Command::Store(command) => run_store(context, command).await,
        Command::Backup(args) => done(backup::run(context, args).await),
        Command::Model(args) => done(model::run(context, &args).await),
        Command::Dev(command) => done(run_dev(context, *command).await),
        Command::Config(_) | Command::Completions(_) => Ok(ExitCode::SUCCESS),
    }
}

async fn run_memory(context: &Context, command: MemoryCommand) -> Result<()> {
    match command {
        MemoryCommand::Supersede(args) => write::supersede(context, &args).await,
        MemoryCommand::Correct(args) => write::correct(context, &args).await,
        MemoryCommand::Confirm(args) => write::confirm(context, &args).await,
        MemoryCommand::Resolve(args) => write::resolve(context, &args).await,
        MemoryCommand::Pin(args) => write::pin(context, &args).await,
        MemoryCommand::Chain(args) => read::chain(context, &args).await,
        MemoryCommand::Links(args) => read::links(context, &args).await,
        MemoryCommand::Explain(args) => read::explain(context, &args).await,
        MemoryCommand::Fading(args) => read::fading(context, &args).await,
    }
}

async fn run_store(context: &Context, command: StoreCommand) -> Result<ExitCode> {
    match command {
        StoreCommand::Stats(args) => done(stats::run(context, &args).await),
        StoreCommand::Maintain(args) => done(maintain::run(context, &args).await),
        StoreCommand::Jobs(args) => done(jobs::run(context, args).await),
        StoreCommand::Events(args) => done(events::run(context, *args).await),
        StoreCommand::Operations(args) => done(operations::run(context, args).await),
        StoreCommand::Doctor(args) => doctor::run(context, &args).await,
        StoreCommand::Migrate(args) => done(migrate::run(context, &args).await),
        StoreCommand::Reembed(args) => done(reembed::run(context, &args).await),
        StoreCommand::Vectors(args) => vectors::run(context, &args).await,
    }
}

async fn run_dev(context: &Context, command: DevCommand) -> Result<()> {
    match command {
        DevCommand::Eval(args) => {
            let embedder = context.embedder().await?;
            loci_bench::eval::run(&context.settings, embedder, *args, context.json).await
        }
        DevCommand::Bench(args) => loci_bench::bench::run(&context.settings, args, context.json).await,
    }
}

fn done(result: Result<()>) -> Result<ExitCode> {
    result.map(|()| ExitCode::SUCCESS)
}

/// Prints the answer to a write of a memory.
fn print_write(context: &Context, answer: &Value) {
    context.print(answer, |answer| {
        let outcome = match answer["event"].as_str().unwrap_or_default() {
            "ADD" => "remembered",
            "NONE" => "unchanged",
            "UPDATE" => "updated",
            "MERGE" => "merged into",
            "SUPERSEDE" => "remembered",
            "DELETE" => "forgotten",
            "RESTORE" => "restored",
            "ERASE" => "erased",
            other => other,
        };
        let kind = answer["data"]["kind"].as_str().map_or_else(String::new, |kind| format!(" as {kind}"));
        let kind = match answer["event"].as_str() {
            Some("ADD") => kind,
            Some("SUPERSEDE") => format!("{kind}, replacing an older memory"),
            _ => String::new(),
        };
        let id = answer["id"].as_str().unwrap_or_default();
        let version = answer["version"].as_u64().map_or_else(String::new, |version| format!(" v{version}"));
        output::line(&format!("{outcome}{kind} {}", output::muted(&format!("{id}{version}"))));
        print_warnings(answer);
    });
}

/// Prints what was masked and what could not be done.
fn print_warnings(answer: &Value) {
    let words = |name: &str| {
        let list = answer[name].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    if !words("redacted").is_empty() {
        output::note(&format!("masked: {}", words("redacted")));
    }
    match words("degraded").as_str() {
        "" => {}
        // A missing model was reported when the command began.
        "vector" if output::has_warned() => {}
        "vector" => output::warn(
            "vector search was not available, so this is the result of the other searches",
            Some("`loci model` shows the embedding models; with --server, see the log of the server"),
        ),
        parts => output::warn(&format!("incomplete, because these parts were not available: {parts}"), None),
    }
}

/// Prints how to read the next page of a list, if there is one.
fn print_next_page(answer: &Value) {
    if let Some(cursor) = answer["nextCursor"].as_str() {
        output::line(&output::muted(&format!("next page: --cursor {cursor}")));
    }
}

/// The entries of a page.
fn entries(answer: &Value) -> &[Value] {
    answer["data"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Prints a page of a list as a table, or `empty` if it has no entries.
fn print_page(context: &Context, answer: &Value, heads: &[&str], row: impl Fn(&Value) -> Vec<String>, empty: &str) {
    context.print(answer, |answer| {
        if entries(answer).is_empty() {
            return output::line(empty);
        }
        output::line(&shape::table(heads, entries(answer).iter().map(row).collect()));
        print_next_page(answer);
    });
}
