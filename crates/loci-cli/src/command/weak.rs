//! `loci weak`: which facts should someone look at before they are gone?

use anyhow::Result;
use clap::Args;
use serde_json::json;

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// How weak, and how many.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci weak
  loci weak --below 0.8 --user ann --json

`loci confirm ID` keeps what is right, `loci correct ID` mends what is wrong, `loci forget ID` lets it go.")]
pub(crate) struct WeakArgs {
    /// Less sure than this, 0 to 1 [default: lifecycle.decayed_below]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    below: Option<f64>,
    /// So many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Prints the weakest facts first.
pub(crate) async fn run(context: &Context, args: &WeakArgs) -> Result<()> {
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let facts = context.engine().await?.weak_facts(&caller, args.below, args.limit).await?;
    if context.json {
        output::json(&json!({ "facts": facts }));
    } else if facts.is_empty() {
        output::line("Nothing is fading.");
    } else {
        let rows = facts.iter().map(|fact| {
            vec![
                format!("{:.2}", fact.confidence_now),
                fact.gone_at.map_or_else(|| "–".to_owned(), |at| at.strftime("%Y-%m-%d").to_string()),
                shape::brief(&loci_engine::reported(&fact.memory), 120),
                fact.memory.id.short(),
            ]
        });
        output::line(&shape::table(&["confidence today", "gone on", "what", "id"], rows.collect()));
    }
    Ok(())
}
