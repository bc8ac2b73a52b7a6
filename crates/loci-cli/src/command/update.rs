//! `loci update`: how is a memory corrected?

use anyhow::Result;
use clap::Args;
use loci_engine::Update;

use crate::arguments::ScopeFlags;
use crate::command::print_receipt;
use crate::context::{Context, Nobody};
use crate::details::Details;

/// Which memory, and what becomes of it. What is not named stays as it is; tags replace the old
/// ones, and metadata are laid over the old, where null removes a field.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci update ID I prefer green tea to coffee
  loci update ID --importance 0.9 --pin
  loci update ID --version 3 --tags drinks --tags morning
  loci update ID --meta ticket=43 --meta old=null

With --version the change is refused if someone else changed the memory first.")]
pub(crate) struct UpdateArgs {
    /// Id of the memory, whole or short
    id: String,
    /// The new text
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// The version that you saw
    #[arg(long, value_name = "NUMBER")]
    version: Option<u64>,
    #[command(flatten)]
    details: Details,
    /// Keep it whatever happens, or with `--pin=false` no longer
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pin: Option<bool>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Changes a memory and prints the receipt.
pub(crate) async fn run(context: &Context, args: UpdateArgs) -> Result<()> {
    let given = args.id.parse()?;
    let content = (!args.text.is_empty()).then(|| args.text.join(" "));
    // Only a new text needs a new vector.
    let without_model = content.is_none();
    let update = Update { version: args.version, pinned: args.pin, ..args.details.update(content)? };
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine_with_model(without_model, &caller).await?;
    let id = engine.resolve_id(&caller, &given).await?;
    let receipt = engine.update(&caller, id, update).await?;
    print_receipt(&receipt, context.json);
    Ok(())
}
