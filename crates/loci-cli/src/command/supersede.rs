//! `loci supersede`: how does something new take the place of something old?

use anyhow::Result;
use clap::Args;
use loci_engine::NewMemory;

use crate::arguments::ScopeFlags;
use crate::command::print_receipt;
use crate::context::{Context, Nobody};
use crate::details::Details;

/// Which memory, and what is so instead. What is not named is as it was with the old one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci supersede ID I live in Lisbon
  loci supersede ID --valid-from 2026-03-01 'The office is in Lisbon'

The old one stays readable: `loci chain ID` shows both, and `loci recall --as-of` what held then. If it
was never true, `loci correct` says so.")]
pub(crate) struct SupersedeArgs {
    /// Id of the memory, whole or short
    id: String,
    /// What is so now
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    #[command(flatten)]
    details: Details,
    /// Keep it whatever happens
    #[arg(long)]
    pin: bool,
    /// Leave the vector for later
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Replaces a memory and prints the receipt of the new one.
pub(crate) async fn run(context: &Context, args: SupersedeArgs) -> Result<()> {
    let given = args.id.parse()?;
    let new = NewMemory { pinned: args.pin, ..args.details.memory(args.text.join(" "))? };
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine_with_model(args.no_embed, &caller).await?;
    let id = engine.resolve_id(&caller, &given).await?;
    let receipt = engine.supersede(&caller, id, new).await?;
    print_receipt(&receipt, context.json);
    Ok(())
}
