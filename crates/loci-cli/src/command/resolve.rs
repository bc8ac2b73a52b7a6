//! `loci resolve`: which of two memories that may contradict each other holds?

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::arguments::ScopeFlags;
use crate::command::print_receipt;
use crate::context::{Context, Nobody};

/// Which two memories, and which of them holds.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci explain ID                           # shows what it may contradict
  loci resolve ID OTHER --keep newer
  loci resolve ID OTHER --keep both         # they do not contradict each other

What does not hold stays readable in the chain of the other: `loci chain ID`.")]
pub(crate) struct ResolveArgs {
    /// The id of one
    id: String,
    /// The id of the other
    other: String,
    /// Which one holds
    #[arg(long, value_enum)]
    keep: Keep,
    #[command(flatten)]
    scope: ScopeFlags,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Keep {
    /// The one that was said later
    Newer,
    /// The one that was said earlier
    Older,
    /// Both: they do not contradict each other
    Both,
}

/// Settles it and prints the receipt.
pub(crate) async fn run(context: &Context, args: &ResolveArgs) -> Result<()> {
    let given = [args.id.parse()?, args.other.parse()?];
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let keep = match args.keep {
        Keep::Newer => loci_engine::Keep::Newer,
        Keep::Older => loci_engine::Keep::Older,
        Keep::Both => loci_engine::Keep::Both,
    };
    let engine = context.engine().await?;
    let (one, other) = (engine.resolve_id(&caller, &given[0]).await?, engine.resolve_id(&caller, &given[1]).await?);
    let receipt = engine.resolve(&caller, one, other, keep).await?;
    match args.keep {
        Keep::Both if !context.json => crate::output::line("settled: both stay, and neither is marked any more"),
        _ => print_receipt(&receipt, context.json),
    }
    Ok(())
}
