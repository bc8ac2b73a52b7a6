//! `loci checkpoint list`, `history` and `threads`: pages of checkpoints and of threads.

use anyhow::Result;
use clap::Args;
use serde_json::Value;

use crate::api::Call;
use crate::arguments::{PageFlags, ScopeFlags, metadata};
use crate::command::{entries, print_next_page};
use crate::context::{Context, Model};
use crate::{output, shape};

/// Which checkpoints.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci checkpoint list --thread-id build
  loci checkpoint list --thread-id build --metadata step=2 --include-data --json")]
pub(super) struct CheckpointListArgs {
    /// Thread
    #[arg(long, alias = "thread", value_name = "THREAD")]
    thread_id: String,
    /// Part of the program [default: all parts]
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// Only checkpoints that were stored before the one with this id
    #[arg(long, alias = "before", value_name = "ID")]
    before_id: Option<String>,
    /// A metadata field that has exactly this value; may be repeated, then all must
    #[arg(long, alias = "meta", value_name = "KEY=VALUE")]
    metadata: Vec<String>,
    /// Include data and pending writes, with --json
    #[arg(long, alias = "with-data")]
    include_data: bool,
    #[command(flatten)]
    page: PageFlags,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Where the history starts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci checkpoint history --thread-id build
  loci checkpoint history --thread-id build --checkpoint-id 2 --json")]
pub(super) struct CheckpointHistoryArgs {
    /// Thread
    #[arg(long, alias = "thread", value_name = "THREAD")]
    thread_id: String,
    /// Part of the program [default: the whole program]
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// Checkpoint with which the history starts [default: the newest]
    #[arg(long, alias = "id", value_name = "ID")]
    checkpoint_id: Option<String>,
    /// Include data and pending writes, with --json
    #[arg(long, alias = "with-data")]
    include_data: bool,
    #[command(flatten)]
    page: PageFlags,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Lists the checkpoints of a thread, newest first.
pub(super) async fn list(context: &Context, args: &CheckpointListArgs) -> Result<()> {
    let conditions = Value::Object(metadata(&args.metadata)?);
    let call = Call::get(&["v1", "threads", &args.thread_id, "checkpoints"])
        .scope(&context.scope(&args.scope))
        .param("namespace", args.namespace.as_ref())
        .param("beforeId", args.before_id.as_ref())
        .param("metadata", (!args.metadata.is_empty()).then_some(conditions))
        .param("includeData", args.include_data.then_some(true));
    print_checkpoints(context, args.page.of(call)).await
}

/// Lists a checkpoint and those that it came from.
pub(super) async fn history(context: &Context, args: &CheckpointHistoryArgs) -> Result<()> {
    let call = Call::get(&["v1", "threads", &args.thread_id, "history"])
        .scope(&context.scope(&args.scope))
        .param("namespace", args.namespace.as_ref())
        .param("checkpointId", args.checkpoint_id.as_ref())
        .param("includeData", args.include_data.then_some(true));
    print_checkpoints(context, args.page.of(call)).await
}

async fn print_checkpoints(context: &Context, call: Call) -> Result<()> {
    let answer = context.api(Model::Skip).await?.call(call).await?;
    context.print(&answer, |answer| {
        if entries(answer).is_empty() {
            return output::line("No checkpoints. `loci checkpoint threads` lists the threads that have some.");
        }
        let row = |one: &Value| {
            let fields = ["id", "parentId", "namespace", "format", "bytes"].iter();
            fields.map(|name| shape::cell(&one[*name])).chain([shape::time(&one["createdAt"])]).collect()
        };
        let head = ["id", "parent", "namespace", "format", "bytes", "stored at"];
        output::line(&shape::table(&head, entries(answer).iter().map(row).collect()));
        print_next_page(answer);
    });
    Ok(())
}

/// Which threads.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci checkpoint threads
  loci checkpoint threads --user ann --limit 10 --json")]
pub(super) struct ThreadsArgs {
    #[command(flatten)]
    page: PageFlags,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Lists threads that have checkpoints.
pub(super) async fn threads(context: &Context, args: &ThreadsArgs) -> Result<()> {
    let call = Call::get(&["v1", "threads"]).scope(&context.scope(&args.scope));
    let answer = context.api(Model::Skip).await?.call(args.page.of(call)).await?;
    context.print(&answer, |answer| {
        if entries(answer).is_empty() {
            return output::line("No threads. `loci checkpoint put` stores the first checkpoint of one.");
        }
        let row = |thread: &Value| {
            vec![
                shape::cell(&thread["threadId"]),
                shape::cell(&thread["checkpoints"]),
                shape::cell(&thread["latestId"]),
                shape::time(&thread["updatedAt"]),
            ]
        };
        let head = ["thread", "checkpoints", "newest", "stored at"];
        output::line(&shape::table(&head, entries(answer).iter().map(row).collect()));
        print_next_page(answer);
    });
    Ok(())
}
