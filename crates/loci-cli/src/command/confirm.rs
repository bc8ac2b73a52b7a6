//! `loci confirm`: how is it said that a memory is right?

use anyhow::Result;
use clap::Args;

use crate::arguments::ScopeFlags;
use crate::command::print_receipt;
use crate::context::{Context, Nobody};

/// Which memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci weak
  loci confirm 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50

A confirmed memory is sure and no longer fades.")]
pub(crate) struct ConfirmArgs {
    /// Id of the memory, whole or short
    id: String,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Confirms a memory and prints the receipt.
pub(crate) async fn run(context: &Context, args: &ConfirmArgs) -> Result<()> {
    let given = args.id.parse()?;
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let id = engine.resolve_id(&caller, &given).await?;
    let receipt = engine.confirm(&caller, id).await?;
    print_receipt(&receipt, context.json);
    Ok(())
}
