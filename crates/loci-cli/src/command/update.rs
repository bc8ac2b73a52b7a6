//! `loci update`: how is a memory corrected?

use anyhow::Result;
use clap::Args;
use loci_engine::Update;
use loci_types::Source;

use crate::arguments::{ScopeFlags, metadata, moment};
use crate::command::print_receipt;
use crate::context::{Context, Nobody};

/// Which memory, and what becomes of it. What is not named stays as it is.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci update ID I prefer green tea to coffee
  loci update ID --importance 0.9 --pin
  loci update ID --version 3 --tag drinks --tag morning
  loci update ID --meta ticket=43 --meta old=null

With --version the change is refused if someone else changed the memory first.")]
pub(crate) struct UpdateArgs {
    /// Its id
    id: String,
    /// The new text
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// The version that you saw
    #[arg(long, value_name = "NUMBER")]
    version: Option<u64>,
    /// A new kind
    #[arg(long)]
    kind: Option<String>,
    /// A new category
    #[arg(long)]
    category: Option<String>,
    /// New tags in place of the old ones; may be repeated
    #[arg(long)]
    tag: Option<Vec<String>>,
    /// A new importance, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    importance: Option<f64>,
    /// A new confidence, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    confidence: Option<f64>,
    /// Keep it whatever happens, or with `--pin=false` no longer
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pin: Option<bool>,
    /// When it happened
    #[arg(long, value_name = "TIME")]
    event_time: Option<String>,
    /// Since when it holds
    #[arg(long, value_name = "TIME")]
    valid_from: Option<String>,
    /// Until when it held
    #[arg(long, value_name = "TIME")]
    valid_until: Option<String>,
    /// When it stops to be of use
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// How it was acquired
    #[arg(long, value_name = "TYPE")]
    source: Option<String>,
    /// Metadata laid over the old; null removes a field; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    meta: Vec<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Changes a memory and prints the receipt.
pub(crate) async fn run(context: &Context, args: UpdateArgs) -> Result<()> {
    let id = args.id.parse()?;
    let metadata = metadata(&args.meta)?;
    let content = (!args.text.is_empty()).then(|| args.text.join(" "));
    // Only a new text needs a new vector.
    let without_model = content.is_none();
    let update = Update {
        version: args.version,
        content,
        kind: args.kind,
        category: args.category,
        tags: args.tag,
        metadata: (!metadata.is_empty()).then_some(metadata),
        source: args.source.map(|kind| Source { kind, ..Source::default() }),
        importance: args.importance,
        confidence: args.confidence,
        pinned: args.pin,
        event_time: moment("eventTime", args.event_time.as_deref())?,
        valid_from: moment("validFrom", args.valid_from.as_deref())?,
        valid_until: moment("validUntil", args.valid_until.as_deref())?,
        expires_at: moment("expiresAt", args.expires.as_deref())?,
        ..Update::default()
    };
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine_with_model(without_model, &caller).await?;
    let receipt = engine.update(&caller, id, update).await?;
    print_receipt(&receipt, context.json);
    Ok(())
}
