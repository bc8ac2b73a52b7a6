//! `loci session summarize`: a summary of a session, or of memories. Nothing is stored.

use anyhow::Result;
use clap::Args;

use crate::api::Call;
use crate::arguments::{FilterFlags, ScopeFlags};
use crate::context::{Context, Model};
use crate::output;

/// What to summarize, and how.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci session summarize monday --user ann
  loci session summarize --user ann --target-tokens 200
  loci session summarize --project atlas --kind decision --method extractive --json

With a session its turns are summarized, else the memories of the scope that match the filters; filters do not apply to \
turns. Without a language model (`llm` in the configuration) the sentences that say most are chosen.")]
pub(super) struct SummarizeArgs {
    /// Session whose turns are summarized [default: memories, not turns]
    #[arg(value_name = "SESSION", conflicts_with = "session")]
    name: Option<String>,
    /// Method: simple, hierarchical, extractive or map_reduce [default: summarization.strategy]
    #[arg(long, alias = "strategy", value_name = "METHOD")]
    method: Option<String>,
    /// Maximum number of tokens of the summary [default: summarization.target_tokens]
    #[arg(long, alias = "tokens", value_name = "NUMBER")]
    target_tokens: Option<usize>,
    #[command(flatten)]
    scope: ScopeFlags,
    #[command(flatten)]
    filter: FilterFlags,
}

/// Prints a summary, and on standard error the number of tokens that it saves.
pub(super) async fn run(context: &Context, mut args: SummarizeArgs) -> Result<()> {
    // `--session NAME` selects the turns of a session and not its layer, which holds other memories.
    let session = args.name.take().or_else(|| args.scope.take_session());
    let call = Call::post(&["v1", "summaries"])
        .scope(&context.scope(&args.scope))
        .field("sessionId", session)
        .field("strategy", args.method)
        .field("targetTokens", args.target_tokens)
        .field("filter", args.filter.object()?);
    let answer = context.api(Model::Load).await?.call(call).await?;
    context.print(&answer, |summary| {
        let text = summary["text"].as_str().unwrap_or_default();
        if text.is_empty() {
            return output::line("There is nothing to summarize.");
        }
        output::line(text);
        if summary["tokensSaved"] == 0 {
            return output::note("the text is short enough already");
        }
        output::note(&format!(
            "{} tokens instead of {}, {} saved ({})",
            summary["tokensAfter"],
            summary["tokensBefore"],
            summary["tokensSaved"],
            summary["strategy"].as_str().unwrap_or_default()
        ));
    });
    Ok(())
}
