//! `loci pin`: how is a memory kept whatever happens?

use anyhow::Result;
use clap::Args;

use crate::arguments::ScopeFlags;
use crate::command::print_receipt;
use crate::context::{Context, Nobody};

/// Which memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci pin 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50
  loci pin 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50 --off

`loci list --pinned` shows what is pinned.")]
pub(crate) struct PinArgs {
    /// Id of the memory, whole or short
    id: String,
    /// No longer
    #[arg(long)]
    off: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Pins a memory, or no longer, and prints the receipt.
pub(crate) async fn run(context: &Context, args: &PinArgs) -> Result<()> {
    let given = args.id.parse()?;
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let id = engine.resolve_id(&caller, &given).await?;
    let receipt = engine.pin(&caller, id, !args.off).await?;
    print_receipt(&receipt, context.json);
    Ok(())
}
