//! `loci search`: what is like a text, layer by layer?

use anyhow::Result;
use clap::Args;

use super::asking::AskFlags;
use crate::command::recall::about;
use crate::context::Context;
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
    #[command(flatten)]
    ask: AskFlags,
}

/// Searches, and prints what was found.
pub(crate) async fn run(context: &Context, args: SearchArgs) -> Result<()> {
    let asked = args.ask.prepare(context).await?;
    let now = asked.now;
    let response = asked.engine.search(&asked.caller, asked.request).await?;
    if context.json {
        output::json(&response);
        return Ok(());
    }
    if response.results.is_empty() {
        output::line("Nothing is like it. `loci list` shows what there is.");
    }
    for hit in &response.results {
        output::line(&output::strong(&loci_engine::reported(&hit.memory)));
        output::line(&format!("  {}", output::muted(&about(&hit.memory, Some(hit.score), now))));
    }
    let layers: Vec<_> = response.searched_layers.iter().map(ToString::to_string).collect();
    output::line(&output::muted(&format!("{} found in {}", response.total_count, layers.join(", "))));
    Ok(())
}
