//! `loci search`: what is like a text, layer by layer?

use anyhow::Result;
use clap::Args;
use jiff::Timestamp;
use loci_engine::SearchRequest;

use crate::arguments::{FilterFlags, ScopeFlags};
use crate::command::recall::about;
use crate::context::{Context, Nobody};
use crate::output;

/// The text, and where to look.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci search 'hot drinks'
  loci search --user ann --project atlas --layer user --layer project deadlines
  loci search --threshold 0.5 --json 'hot drinks'

Results come by layer, the most specific first, and then by similarity. The JSON form is
{\"results\":[{\"memory\",\"score\",\"layer\"}],\"totalCount\",\"searchedLayers\",\"degraded\"}.")]
pub(crate) struct SearchArgs {
    /// The text
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// So many results per layer at most [default: 10]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Similarity below which nothing counts, 0 to 1; default: the model's own
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    threshold: Option<f64>,
    #[command(flatten)]
    scope: ScopeFlags,
    #[command(flatten)]
    filter: FilterFlags,
}

/// Searches, and prints what was found.
pub(crate) async fn run(context: &Context, args: SearchArgs) -> Result<()> {
    let layers = args.filter.layers()?;
    let caller = context.caller(&args.scope, layers.is_some(), Nobody::User);
    let at = args.filter.at()?;
    args.filter.filter(Timestamp::UNIX_EPOCH)?;
    let engine = context.engine_with_model(false, &caller).await?;
    let now = at.unwrap_or_else(|| engine.now());
    let request = SearchRequest {
        query: args.query.join(" "),
        layers,
        limit: args.limit,
        threshold: args.threshold,
        filter: Some(args.filter.filter(now)?),
        at: Some(now),
        ..SearchRequest::default()
    };
    let response = engine.search(&caller, request).await?;
    if context.json {
        output::json(&response);
        return Ok(());
    }
    if response.results.is_empty() {
        output::line("Nothing is like it. `loci list` shows what there is.");
    }
    for hit in &response.results {
        output::line(&output::strong(&hit.memory.content));
        output::line(&format!("  {}", output::muted(&about(&hit.memory, Some(hit.score), now))));
    }
    let layers: Vec<_> = response.searched_layers.iter().map(ToString::to_string).collect();
    output::line(&output::muted(&format!("{} found in {}", response.total_count, layers.join(", "))));
    Ok(())
}
