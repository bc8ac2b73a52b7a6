//! `loci checkpoint`: where did the work of a thread stand?

use std::io::Read;
use std::path::Path;

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_engine::{Caller, CheckpointRemoval, CheckpointRequest, NewCheckpoint, SavedCheckpoint};
use loci_types::{Error, ErrorKind, JSON, Outcome};
use serde_json::json;

use crate::arguments::{ScopeFlags, metadata};
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// What to do with checkpoints.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci checkpoint put --thread-id build state.json --id 2 --parent-id 1
  some-program | loci checkpoint put --thread-id build --format msgpack -
  loci checkpoint get --thread-id build > state.json
  loci checkpoint list --thread-id build --metadata step=2
  loci checkpoint history --thread-id build
  loci checkpoint delete --thread-id build --keep 5
  loci checkpoint threads --user ann

They lie in the agent's layer if --agent and --user are given, else in the user's. The same put again changes
nothing; something else under the same id is a conflict unless --replace is given.")]
pub(crate) struct CheckpointArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Put a checkpoint from a file, or with `-` from standard input
    Put(Box<PutArgs>),
    /// Write the bytes of a checkpoint to standard output; with --json, all of it
    Get(Box<OneArgs>),
    /// List the checkpoints of a thread, the newest first
    List(Box<ListArgs>),
    /// Show how a thread came to where it stands
    History(Box<ListArgs>),
    /// Remove a thread, one checkpoint of it, or all but the newest
    Delete(Box<DeleteArgs>),
    /// List the threads that have checkpoints
    Threads {
        /// So many at most
        #[arg(long, value_name = "NUMBER", default_value_t = 100)]
        limit: usize,
        #[command(flatten)]
        scope: ScopeFlags,
    },
}

#[derive(Debug, Args)]
struct PutArgs {
    /// The file with the bytes; `-` is standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// The thread
    #[arg(long, alias = "thread", value_name = "NAME")]
    thread_id: String,
    /// The part of the program
    #[arg(long, value_name = "NAME", default_value = "")]
    namespace: String,
    /// Its id [default: a new one]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// The checkpoint it came from
    #[arg(long, alias = "parent", value_name = "ID")]
    parent_id: Option<String>,
    /// A label of the bytes, chosen by the caller: `json` is checked and shown as JSON, any other is kept as it is
    #[arg(long, value_name = "NAME", default_value = JSON)]
    format: String,
    /// What is said about it; may be repeated
    #[arg(long, alias = "meta", value_name = "KEY=VALUE")]
    metadata: Vec<String>,
    /// Refuse if the newest of the thread is another; an empty text: if there is any
    #[arg(long, value_name = "ID")]
    expect_parent: Option<String>,
    /// Take the place of one with the same id
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

#[derive(Debug, Args)]
struct OneArgs {
    /// The thread
    #[arg(long, alias = "thread", value_name = "NAME")]
    thread_id: String,
    /// The part of the program
    #[arg(long, value_name = "NAME", default_value = "")]
    namespace: String,
    /// The checkpoint [default: the newest]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// The thread
    #[arg(long, alias = "thread", value_name = "NAME")]
    thread_id: String,
    /// The part of the program [default: all in a list, the whole in a history]
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// This one; a history starts there
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Only checkpoints that were stored before the one with this id
    #[arg(long, alias = "before", value_name = "ID")]
    before_id: Option<String>,
    /// Metadata that must be so; may be repeated
    #[arg(long, alias = "meta", value_name = "KEY=VALUE")]
    metadata: Vec<String>,
    /// Tell their data too, with --json
    #[arg(long, alias = "with-data")]
    include_data: bool,
    /// So many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    scope: ScopeFlags,
}

#[derive(Debug, Args)]
struct DeleteArgs {
    /// The thread
    #[arg(long, alias = "thread", value_name = "NAME")]
    thread_id: String,
    /// Only this checkpoint
    #[arg(long, value_name = "ID", conflicts_with = "keep")]
    id: Option<String>,
    /// The part of the program that --id belongs to
    #[arg(long, value_name = "NAME", default_value = "")]
    namespace: String,
    /// Keep so many of the newest of each namespace
    #[arg(long, value_name = "NUMBER")]
    keep: Option<usize>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Looks after checkpoints.
pub(crate) async fn run(context: &Context, args: CheckpointArgs) -> Result<()> {
    match args.verb {
        Verb::Put(args) => put(context, *args).await,
        Verb::Get(args) => get(context, &args).await,
        Verb::List(args) => list(context, *args, false).await,
        Verb::History(args) => list(context, *args, true).await,
        Verb::Delete(args) => delete(context, *args).await,
        Verb::Threads { limit, scope } => threads(context, &scope, limit).await,
    }
}

fn caller(context: &Context, scope: &ScopeFlags) -> Caller {
    context.caller(scope, false, Nobody::User)
}

fn bytes_of(file: &str) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    let read = match file {
        "-" => std::io::stdin().lock().read_to_end(&mut data).map(drop),
        path => std::fs::read(Path::new(path)).map(|bytes| data = bytes),
    };
    read.map_err(|error| {
        Error::new(ErrorKind::InvalidInput, format!("{file} cannot be read: {error}"))
            .at("file")
            .hint("name a file, or `-` for standard input")
    })?;
    Ok(data)
}

async fn put(context: &Context, args: PutArgs) -> Result<()> {
    let new = NewCheckpoint {
        data: bytes_of(&args.file)?,
        thread_id: args.thread_id,
        namespace: args.namespace,
        id: args.id,
        parent_id: args.parent_id,
        format: args.format,
        metadata: metadata(&args.metadata)?,
        expect_parent: args.expect_parent,
        replace: args.replace,
    };
    let put = context.engine().await?.put_checkpoint(&caller(context, &args.scope), new).await?;
    if context.json {
        output::json(&put);
        return Ok(());
    }
    let told = match put.event {
        Outcome::None => "nothing to do: already so",
        Outcome::Updated => "replaced",
        _ => "put",
    };
    output::line(&format!("{told} {}", output::muted(&put.id)));
    Ok(())
}

async fn get(context: &Context, args: &OneArgs) -> Result<()> {
    let (engine, caller) = (context.engine().await?, caller(context, &args.scope));
    let kept = engine.checkpoint(&caller, &args.thread_id, &args.namespace, args.id.as_deref()).await?;
    if context.json {
        output::json(&SavedCheckpoint::from(kept));
    } else {
        output::bytes(&kept.0.data.unwrap_or_default());
    }
    Ok(())
}

async fn list(context: &Context, args: ListArgs, by_parent: bool) -> Result<()> {
    let caller = caller(context, &args.scope);
    let request = CheckpointRequest {
        thread_id: args.thread_id,
        namespace: args.namespace,
        id: args.id,
        before: args.before_id,
        metadata: metadata(&args.metadata)?,
        data: args.include_data && context.json,
        offset: 0,
        limit: Some(args.limit),
    };
    let engine = context.engine().await?;
    let found = match by_parent {
        true => engine.checkpoint_history(&caller, request).await?,
        false => engine.checkpoints(&caller, request).await?,
    };
    let found: Vec<SavedCheckpoint> = found.into_iter().map(SavedCheckpoint::from).collect();
    if context.json {
        output::json(&json!({ "checkpoints": found }));
    } else if found.is_empty() {
        output::line("There is no such checkpoint. `loci checkpoint threads` shows which threads have some.");
    } else {
        let row = |one: &SavedCheckpoint| {
            vec![
                one.id.clone(),
                one.parent_id.clone().unwrap_or_default(),
                one.namespace.clone(),
                one.format.clone(),
                one.bytes.to_string(),
                one.created_at.to_string(),
            ]
        };
        let head = ["id", "parent", "namespace", "format", "bytes", "put"];
        output::line(&shape::table(&head, found.iter().map(row).collect()));
    }
    Ok(())
}

async fn delete(context: &Context, args: DeleteArgs) -> Result<()> {
    let which = match (args.id, args.keep) {
        (Some(id), _) => CheckpointRemoval::One { namespace: args.namespace, id },
        (None, Some(keep)) => CheckpointRemoval::AllBut(keep),
        (None, None) => CheckpointRemoval::Thread,
    };
    let caller = caller(context, &args.scope);
    let removed = context.engine().await?.delete_checkpoints(&caller, &args.thread_id, which).await?;
    if context.json {
        output::json(&json!({ "removed": removed }));
    } else {
        output::line(&format!("removed {removed}"));
    }
    Ok(())
}

async fn threads(context: &Context, scope: &ScopeFlags, limit: usize) -> Result<()> {
    let threads = context.engine().await?.checkpoint_threads(&caller(context, scope), 0, limit).await?;
    if context.json {
        output::json(&json!({ "threads": threads }));
    } else if threads.is_empty() {
        output::line("No thread has a checkpoint here.");
    } else {
        let rows = threads.iter().map(|thread| {
            vec![
                thread.thread_id.clone(),
                thread.checkpoints.to_string(),
                thread.latest_id.clone(),
                thread.updated_at.to_string(),
            ]
        });
        output::line(&shape::table(&["thread", "checkpoints", "newest", "put"], rows.collect()));
    }
    Ok(())
}
