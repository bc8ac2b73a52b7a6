//! `loci checkpoint`: checkpoints of agent threads, from which programs resume.

mod list;

use std::io::Read;

use anyhow::Result;
use clap::{Args, Subcommand};
use data_encoding::BASE64;
use loci_types::{Error, ErrorKind, JSON};
use serde_json::Value;

use crate::api::Call;
use crate::arguments::{ScopeFlags, metadata};
use crate::context::{Context, Model};
use crate::{output, shape};

/// What to do with checkpoints.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci checkpoint put --thread-id build state.json --checkpoint-id 2 --parent-id 1
  some-program | loci checkpoint put --thread-id build --data-format msgpack -
  loci checkpoint get --thread-id build > state.json
  loci checkpoint list --thread-id build --metadata step=2
  loci checkpoint history --thread-id build
  loci checkpoint delete --thread-id build --keep-newest 5 --yes
  loci checkpoint threads --user ann

Checkpoints belong to the agent and the user of the scope, or to the user alone. The same checkpoint again changes nothing; \
other content under the same id is a conflict unless --replace is given.")]
pub(crate) struct CheckpointArgs {
    #[command(subcommand)]
    command: CheckpointCommand,
}

#[derive(Debug, Subcommand)]
enum CheckpointCommand {
    /// Store a checkpoint from a file, or with `-` from standard input
    Put(Box<CheckpointPutArgs>),
    /// Write the data of a checkpoint to standard output; with --json the whole checkpoint
    Get(CheckpointGetArgs),
    /// List the checkpoints of a thread, newest first
    List(Box<list::CheckpointListArgs>),
    /// List a checkpoint, its parent, and so on to the first
    History(Box<list::CheckpointHistoryArgs>),
    /// Delete a thread, one checkpoint of it, or all but the newest; they cannot be restored
    Delete(Box<DeleteArgs>),
    /// List threads that have checkpoints, the latest first
    Threads(list::ThreadsArgs),
}

#[derive(Debug, Args)]
struct CheckpointPutArgs {
    /// File with the data; `-` is standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// Thread
    #[arg(long, alias = "thread", value_name = "THREAD")]
    thread_id: String,
    /// Part of the program [default: the whole program]
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// Id of the checkpoint [default: a new one]
    #[arg(long, alias = "id", value_name = "ID")]
    checkpoint_id: Option<String>,
    /// Id of the checkpoint that it came from
    #[arg(long, alias = "parent", value_name = "ID")]
    parent_id: Option<String>,
    /// Format of the data, a label of the caller: `json` is checked, any other is stored as bytes
    #[arg(long, alias = "format", value_name = "NAME", default_value = JSON)]
    data_format: String,
    /// Metadata field; may be repeated
    #[arg(long, alias = "meta", value_name = "KEY=VALUE")]
    metadata: Vec<String>,
    /// Id that must be the newest of the thread; an empty one if there must be none yet
    #[arg(long, value_name = "ID")]
    expect_parent: Option<String>,
    /// Replace a checkpoint with the same id
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

#[derive(Debug, Args)]
struct CheckpointGetArgs {
    /// Thread
    #[arg(long, alias = "thread", value_name = "THREAD")]
    thread_id: String,
    /// Part of the program [default: the whole program]
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// Id of the checkpoint [default: the newest]
    #[arg(long, alias = "id", value_name = "ID")]
    checkpoint_id: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

#[derive(Debug, Args)]
struct DeleteArgs {
    /// Thread
    #[arg(long, alias = "thread", value_name = "THREAD")]
    thread_id: String,
    /// Only this checkpoint
    #[arg(long, alias = "id", value_name = "ID", conflicts_with = "keep_newest")]
    checkpoint_id: Option<String>,
    /// Part of the program that --checkpoint-id belongs to [default: the whole program]
    #[arg(long, value_name = "NAME", requires = "checkpoint_id")]
    namespace: Option<String>,
    /// Number of newest checkpoints that stay in each namespace, at least 1
    #[arg(long, alias = "keep", value_name = "NUMBER")]
    keep_newest: Option<usize>,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Runs a command on checkpoints.
pub(crate) async fn run(context: &Context, args: CheckpointArgs) -> Result<()> {
    match args.command {
        CheckpointCommand::Put(args) => put(context, *args).await,
        CheckpointCommand::Get(args) => get(context, &args).await,
        CheckpointCommand::List(args) => list::list(context, &args).await,
        CheckpointCommand::History(args) => list::history(context, &args).await,
        CheckpointCommand::Delete(args) => delete(context, &args).await,
        CheckpointCommand::Threads(args) => list::threads(context, &args).await,
    }
}

/// The data of a file as the API takes them: JSON as it is, other bytes as base64.
fn data_of(file: &str, format: &str) -> Result<Value> {
    let mut bytes = Vec::new();
    let read = match file {
        "-" => std::io::stdin().lock().read_to_end(&mut bytes).map(drop),
        path => std::fs::read(path).map(|read| bytes = read),
    };
    read.map_err(|error| {
        Error::new(ErrorKind::InvalidInput, format!("{file} cannot be read: {error}"))
            .at("file")
            .hint("name a file, or `-` for standard input")
    })?;
    if format != JSON {
        return Ok(Value::String(BASE64.encode(&bytes)));
    }
    let data = serde_json::from_slice(&bytes).map_err(|error| {
        Error::invalid("data", format!("{file} is not JSON: {error}"))
            .hint("add --data-format NAME, such as --data-format msgpack, for data that are not JSON")
    })?;
    Ok(data)
}

async fn put(context: &Context, args: CheckpointPutArgs) -> Result<()> {
    let data = data_of(&args.file, &args.data_format)?;
    let call = Call::post(&["v1", "threads", &args.thread_id, "checkpoints"])
        .scope(&context.scope(&args.scope))
        .fields([("data".to_owned(), data)].into_iter().collect())
        .field("namespace", args.namespace)
        .field("id", args.checkpoint_id)
        .field("parentId", args.parent_id)
        .field("format", args.data_format)
        .field("metadata", metadata(&args.metadata)?)
        .field("expectParent", args.expect_parent)
        .field("replace", args.replace);
    let api = context.api(Model::Skip).await?;
    let answer = api.call(call).await?;
    context.print(&answer, |answer| {
        let outcome = match answer["event"].as_str() {
            Some("NONE") => "unchanged",
            Some("UPDATE") => "replaced",
            _ => "stored",
        };
        output::line(&format!("{outcome} {}", output::muted(&shape::cell(&answer["id"]))));
    });
    api.close().await;
    Ok(())
}

async fn get(context: &Context, args: &CheckpointGetArgs) -> Result<()> {
    let thread = ["v1", "threads", args.thread_id.as_str()];
    let call = match &args.checkpoint_id {
        None => Call::get(&thread),
        Some(id) => Call::get(&[&thread[..], &["checkpoints", id]].concat()),
    };
    let call = call.scope(&context.scope(&args.scope)).param("namespace", args.namespace.as_ref());
    let answer = context.api(Model::Skip).await?.call(call).await?;
    let data = &answer["data"];
    let bytes = match data.as_str() {
        Some(text) if answer["format"] != JSON => BASE64.decode(text.as_bytes())?,
        _ => data.to_string().into_bytes(),
    };
    context.print(&answer, |_| output::bytes(&bytes));
    Ok(())
}

async fn delete(context: &Context, args: &DeleteArgs) -> Result<()> {
    let (scope, thread) = (context.scope(&args.scope), &args.thread_id);
    let (call, what) = match (&args.checkpoint_id, args.keep_newest) {
        (Some(id), _) => {
            let call = Call::delete(&["v1", "threads", thread, "checkpoints", id]);
            (
                call.param("namespace", args.namespace.as_ref()),
                format!("deletes the checkpoint `{id}` of the thread `{thread}`"),
            )
        }
        (None, Some(keep)) => {
            let call = Call::post(&["v1", "threads", thread, "prune"]).field("keep", keep);
            (call, format!("deletes all but the newest {keep} checkpoints of each namespace of the thread `{thread}`"))
        }
        (None, None) => (
            Call::delete(&["v1", "threads", thread]),
            format!("deletes the thread `{thread}` with all its checkpoints"),
        ),
    };
    context.confirm(&what, args.yes)?;
    let api = context.api(Model::Skip).await?;
    let answer = api.call(call.scope(&scope)).await?;
    context.print(&answer, |answer| match answer["removedCount"].as_u64() {
        Some(count) => output::line(&format!("checkpoints deleted: {count}")),
        None => output::line("deleted"),
    });
    api.close().await;
    Ok(())
}
