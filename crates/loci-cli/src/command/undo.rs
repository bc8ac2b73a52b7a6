//! `loci undo`: how is something taken back?

use anyhow::Result;
use clap::Args;

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::output;

/// Which line of the ledger.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci history 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50
  loci undo 42
  loci undo 42 --user ann
  loci undo 7 --space agent_memory_helper

Takes back one line that `loci history` shows, if nothing that came later stands on it. An undo is a
line itself, and can be undone.")]
pub(crate) struct UndoArgs {
    /// Its number within the space
    #[arg(value_name = "LINE", allow_negative_numbers = true)]
    sequence: i64,
    /// The space [default: that of the most specific layer the names below open, else that of your default user]
    #[arg(long, value_name = "NAME")]
    space: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Takes a line back and tells what was done.
pub(crate) async fn run(context: &Context, args: &UndoArgs) -> Result<()> {
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let space = match &args.space {
        Some(name) => name.parse()?,
        None => engine.space_of(&context.caller(&args.scope, false, Nobody::User)).await?,
    };
    let undone = engine.undo(&caller, &space, args.sequence).await?;
    if context.json {
        output::json(&undone);
    } else {
        output::line(&format!("{} of line {} is taken back: {}", undone.event, undone.sequence, undone.done));
    }
    Ok(())
}
