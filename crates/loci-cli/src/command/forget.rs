//! `loci forget`: how does a memory go?

use anyhow::Result;
use clap::Args;

use crate::arguments::ScopeFlags;
use crate::command::print_receipt;
use crate::context::{Context, Nobody};

/// Which memory, and why.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci forget 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50 --reason 'no longer true'
  loci restore 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50

A forgotten memory is hidden at once; `loci restore` brings it back until its purge date.")]
pub(crate) struct ForgetArgs {
    /// Id of the memory, whole or short
    id: String,
    /// The version that you saw
    #[arg(long, value_name = "NUMBER")]
    version: Option<u64>,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Hides a memory and prints the receipt.
pub(crate) async fn run(context: &Context, args: &ForgetArgs) -> Result<()> {
    let given = args.id.parse()?;
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let id = engine.resolve_id(&caller, &given).await?;
    let receipt = engine.forget(&caller, id, args.version, args.reason.as_deref()).await?;
    print_receipt(&receipt, context.json);
    Ok(())
}
