//! `loci supersede`: how does something new take the place of something old?

use anyhow::Result;
use clap::Args;
use loci_engine::NewMemory;
use loci_types::Source;

use crate::arguments::{ScopeFlags, metadata, moment};
use crate::command::print_receipt;
use crate::context::{Context, Nobody};

/// Which memory, and what is so instead. What is not named is as it was with the old one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci supersede ID I live in Lisbon
  loci supersede ID --valid-from 2026-03-01 'The office is in Lisbon'

The old one stays readable: `loci chain ID` shows both, and `loci recall --as-of` what held then. If it
was never true, `loci correct` says so.")]
pub(crate) struct SupersedeArgs {
    /// Its id
    id: String,
    /// What is so now
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Another kind
    #[arg(long)]
    kind: Option<String>,
    /// Another category
    #[arg(long)]
    category: Option<String>,
    /// Other tags; may be repeated
    #[arg(long)]
    tag: Vec<String>,
    /// How much it matters, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    importance: Option<f64>,
    /// How sure you are, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    confidence: Option<f64>,
    /// Keep it whatever happens
    #[arg(long)]
    pin: bool,
    /// When it happened
    #[arg(long, value_name = "TIME")]
    event_time: Option<String>,
    /// Since when it holds; the old one held until then
    #[arg(long, value_name = "TIME")]
    valid_from: Option<String>,
    /// Until when it holds
    #[arg(long, value_name = "TIME")]
    valid_until: Option<String>,
    /// When it stops to be of use
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// How it was acquired
    #[arg(long, value_name = "TYPE")]
    source: Option<String>,
    /// Anything else, by name; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    meta: Vec<String>,
    /// Leave the vector for later
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Replaces a memory and prints the receipt of the new one.
pub(crate) async fn run(context: &Context, args: SupersedeArgs) -> Result<()> {
    let id = args.id.parse()?;
    let new = NewMemory {
        content: args.text.join(" "),
        kind: args.kind,
        category: args.category,
        tags: args.tag,
        metadata: metadata(&args.meta)?,
        source: args.source.map(|kind| Source { kind, ..Source::default() }),
        importance: args.importance,
        confidence: args.confidence,
        pinned: args.pin,
        event_time: moment("eventTime", args.event_time.as_deref())?,
        valid_from: moment("validFrom", args.valid_from.as_deref())?,
        valid_until: moment("validUntil", args.valid_until.as_deref())?,
        expires_at: moment("expiresAt", args.expires.as_deref())?,
        ..NewMemory::default()
    };
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine_with_model(args.no_embed, &caller).await?;
    let receipt = engine.supersede(&caller, id, new).await?;
    print_receipt(&receipt, context.json);
    Ok(())
}
