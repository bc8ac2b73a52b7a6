//! Which command does what?
//!
//! One verb a file: its own arguments, its help and what it prints.

pub(crate) mod agent;
mod asking;
pub(crate) mod backup;
pub(crate) mod chain;
pub(crate) mod checkpoint;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod confirm;
pub(crate) mod consent;
pub(crate) mod context;
pub(crate) mod correct;
pub(crate) mod doctor;
pub(crate) mod edges;
pub(crate) mod entity;
pub(crate) mod erase;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod fact;
pub(crate) mod forget;
pub(crate) mod get;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod ingest;
pub(crate) mod init;
pub(crate) mod jobs;
pub(crate) mod key;
pub(crate) mod list;
pub(crate) mod maintain;
pub(crate) mod mcp;
pub(crate) mod migrate;
pub(crate) mod model;
pub(crate) mod operations;
pub(crate) mod pin;
pub(crate) mod pool;
pub(crate) mod query;
pub(crate) mod recall;
pub(crate) mod reembed;
pub(crate) mod remember;
pub(crate) mod resolve;
pub(crate) mod restore;
pub(crate) mod restore_backup;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod stats;
mod stream;
pub(crate) mod summarize;
pub(crate) mod supersede;
pub(crate) mod undo;
pub(crate) mod update;
pub(crate) mod vectors;
pub(crate) mod weak;
pub(crate) mod working;

use std::process::ExitCode;

use anyhow::Result;
use loci_engine::in_time_zone;
use loci_types::{Outcome, Receipt};

use crate::arguments::{Arguments, Command};
use crate::context::Context;
use crate::output;
use crate::settings::Settings;

/// Runs the command. Days in its flags and lines are read in `retrieval.time_zone`.
pub(crate) async fn run(arguments: Arguments) -> Result<ExitCode> {
    // These two must work when the configuration does not.
    match arguments.command {
        Command::Completions(args) => return done(completions::run(&args)),
        Command::Config(args) => return done(config::run(args, arguments.config, arguments.data, arguments.json)),
        _ => {}
    }
    let (settings, sources) = Settings::load(arguments.config.as_deref())?;
    let context = Context { settings, sources, json: arguments.json, data: arguments.data, tier: Default::default() };
    let zone = context.settings.engine().retrieval.time_zone()?;
    in_time_zone(zone, run_with(&context, arguments.command)).await
}

async fn run_with(context: &Context, command: Command) -> Result<ExitCode> {
    match command {
        Command::Init(args) => done(init::run(context, &args).await),
        Command::Agent(args) => done(agent::run(context, args).await),
        Command::Pool(args) => done(pool::run(context, *args).await),
        Command::Key(args) => done(key::run(context, args).await),
        Command::Remember(args) => done(remember::run(context, *args).await),
        Command::Ingest(args) => done(ingest::run(context, *args).await),
        Command::Recall(args) => done(recall::run(context, *args).await),
        Command::Query(args) => done(query::run(context, *args).await),
        Command::Context(args) => done(context::run(context, *args).await),
        Command::Explain(args) => done(explain::run(context, &args).await),
        Command::Search(args) => done(search::run(context, *args).await),
        Command::Get(args) => done(get::run(context, &args).await),
        Command::List(args) => done(list::run(context, *args).await),
        Command::Update(args) => done(update::run(context, *args).await),
        Command::Forget(args) => done(forget::run(context, &args).await),
        Command::Restore(args) => done(restore::run(context, &args).await),
        Command::History(args) => done(history::run(context, &args).await),
        Command::Supersede(args) => done(supersede::run(context, *args).await),
        Command::Correct(args) => done(correct::run(context, &args).await),
        Command::Confirm(args) => done(confirm::run(context, &args).await),
        Command::Resolve(args) => done(resolve::run(context, &args).await),
        Command::Pin(args) => done(pin::run(context, &args).await),
        Command::Chain(args) => done(chain::run(context, &args).await),
        Command::Edges(args) => done(edges::run(context, &args).await),
        Command::Undo(args) => done(undo::run(context, &args).await),
        Command::Session(args) => done(session::run(context, args).await),
        Command::Working(args) => done(working::run(context, *args).await),
        Command::Consent(args) => done(consent::run(context, args).await),
        Command::Entity(args) => done(entity::run(context, args).await),
        Command::Fact(args) => done(fact::run(context, args).await),
        Command::Checkpoint(args) => done(checkpoint::run(context, args).await),
        Command::Weak(args) => done(weak::run(context, &args).await),
        Command::Summarize(args) => done(summarize::run(context, *args).await),
        Command::Jobs(args) => done(jobs::run(context, args).await),
        Command::Maintain(args) => done(maintain::run(context, &args).await),
        Command::Events(args) => done(events::run(context, *args).await),
        Command::Operations(args) => done(operations::run(context, args).await),
        Command::Stats(args) => done(stats::run(context, &args).await),
        Command::Doctor(args) => doctor::run(context, &args).await,
        Command::Export(args) => done(export::run(context, &args).await),
        Command::Import(args) => done(import::run(context, &args).await),
        Command::Backup(args) => done(backup::run(context, &args).await),
        Command::RestoreBackup(args) => done(restore_backup::run(context, &args).await),
        Command::Erase(args) => done(erase::run(context, &args).await),
        Command::Migrate(args) => done(migrate::run(context, &args).await),
        Command::Reembed(args) => done(reembed::run(context, &args).await),
        Command::Model(args) => done(model::run(context, &args).await),
        Command::Vectors(args) => vectors::run(context, &args).await,
        Command::Serve(args) => done(serve::run(context, args).await),
        Command::Mcp(args) => done(mcp::run(context, args).await),
        Command::Eval(args) => {
            let embedder = context.embedder().await?;
            done(crate::eval::run(&context.settings, embedder, args, context.json).await)
        }
        Command::Bench(args) => done(crate::bench::run(&context.settings, args, context.json).await),
        Command::Config(_) | Command::Completions(_) => Ok(ExitCode::SUCCESS),
    }
}

fn done(result: Result<()>) -> Result<ExitCode> {
    result.map(|()| ExitCode::SUCCESS)
}

/// Prints what became of something new. The id is that of the memory that says it now.
fn print_learned(receipt: &Receipt, as_json: bool) {
    match receipt.event {
        Outcome::None if !as_json => print_told("known already", receipt),
        _ => print_receipt(receipt, as_json),
    }
}

/// Prints what a write did.
fn print_receipt(receipt: &Receipt, as_json: bool) {
    if as_json {
        return output::json(receipt);
    }
    let told = match receipt.event {
        Outcome::Created => "remembered",
        Outcome::None => "nothing to do: already so",
        Outcome::Updated => "updated",
        Outcome::Merged => "merged into",
        Outcome::Superseded => "took the place of an older one",
        Outcome::Deleted => "forgotten",
        Outcome::Restored => "restored",
        Outcome::Erased => "erased",
    };
    print_told(told, receipt);
}

fn print_told(told: &str, receipt: &Receipt) {
    output::line(&format!("{told} {}", output::muted(&format!("{} v{}", receipt.id, receipt.version))));
    if !receipt.redacted.is_empty() {
        output::note(&format!("masked: {}", receipt.redacted.join(", ")));
    }
}
