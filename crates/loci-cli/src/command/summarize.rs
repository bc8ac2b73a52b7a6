//! `loci summarize`: what is said, in few words?

use anyhow::Result;
use clap::Args;
use loci_engine::{Caller, SummarizeRequest};
use loci_types::{Error, Filter, Identifiers};

use crate::arguments::{FilterFlags, ScopeFlags};
use crate::context::{Context, Nobody};
use crate::output;

/// What to summarize, and how short.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci summarize --session monday
  loci summarize --user ann --tokens 200
  loci summarize --project atlas --kind decision --strategy extractive --json

With --session it is the turns of that session, else what is known to the names given. Nothing is kept.
Without a language model the sentences that say most are chosen; `llm` in the configuration sets one.")]
pub(crate) struct SummarizeArgs {
    /// How: simple, hierarchical, extractive or map_reduce [default: summarization.strategy]
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<String>,
    /// Length of the summary in tokens [default: summarization.target_tokens]
    #[arg(long, value_name = "NUMBER")]
    tokens: Option<usize>,
    #[command(flatten)]
    scope: ScopeFlags,
    #[command(flatten)]
    filter: FilterFlags,
}

/// Prints a summary, and beside it what it saves.
pub(crate) async fn run(context: &Context, args: SummarizeArgs) -> Result<()> {
    let strategy = args.strategy.as_deref().map(str::parse).transpose()?;
    if args.filter.layers()?.is_some() {
        return Err(Error::invalid("layer", "a summary is of all layers that the names open")
            .hint("name only those whose memories are meant")
            .into());
    }
    let mut identifiers = args.scope.identifiers();
    let session = identifiers.session_id.take();
    // A session that stands alone is looked for everywhere, as `loci session` does.
    let caller = if session.is_some() && identifiers == Identifiers::default() {
        Caller::operator()
    } else {
        context.caller(&args.scope, false, Nobody::User)
    };
    args.filter.filter(jiff::Timestamp::UNIX_EPOCH)?;
    let engine = context.engine_with_model(false, &caller).await?;
    let filter = args.filter.resolve(&engine, &caller, engine.now()).await?;
    // Without any flag the engine chooses: what is known, and not every turn.
    let filter = (filter != Filter::at(filter.now)).then_some(filter);
    let request = SummarizeRequest { session, strategy, target_tokens: args.tokens, filter, layers: None };
    let summary = engine.summarize(&caller, request).await?;
    if context.json {
        output::json(&summary);
        return Ok(());
    }
    if summary.text.is_empty() {
        output::line("There is nothing to summarize.");
    } else {
        output::line(&summary.text);
        output::note(&format!(
            "{} tokens instead of {}, {} saved ({})",
            summary.tokens_after, summary.tokens_before, summary.tokens_saved, summary.strategy
        ));
    }
    Ok(())
}
