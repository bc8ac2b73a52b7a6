//! `loci correct`: how is it said that a memory was wrong?

use anyhow::Result;
use clap::Args;

use crate::arguments::ScopeFlags;
use crate::command::print_receipt;
use crate::context::{Context, Nobody};

/// Which memory, and what is right.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci correct ID My favourite colour is blue
  loci correct ID 'Ann works at Acme' --reason 'misheard'

What is right takes the place of what was wrong, and is sure. `loci undo` takes it back.")]
pub(crate) struct CorrectArgs {
    /// Id of the memory, whole or short
    id: String,
    /// What is right
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Leave the vector for later
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Corrects a memory and prints the receipt of the right one.
pub(crate) async fn run(context: &Context, args: &CorrectArgs) -> Result<()> {
    let given = args.id.parse()?;
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine_with_model(args.no_embed, &caller).await?;
    let id = engine.resolve_id(&caller, &given).await?;
    let receipt = engine.correct(&caller, id, &args.text.join(" "), args.reason.as_deref()).await?;
    print_receipt(&receipt, context.json);
    Ok(())
}
