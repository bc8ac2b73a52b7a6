//! `loci restore`: how does a forgotten memory come back?

use anyhow::Result;
use clap::Args;

use crate::arguments::ScopeFlags;
use crate::command::print_receipt;
use crate::context::{Context, Nobody};

/// Which memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci list --state soft_deleted
  loci restore 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50")]
pub(crate) struct RestoreArgs {
    /// Id of the memory, whole or short
    id: String,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Brings a memory back and prints the receipt.
pub(crate) async fn run(context: &Context, args: &RestoreArgs) -> Result<()> {
    let given = args.id.parse()?;
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let id = engine.resolve_id(&caller, &given).await?;
    let receipt = engine.restore(&caller, id).await?;
    print_receipt(&receipt, context.json);
    Ok(())
}
