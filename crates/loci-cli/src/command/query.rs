//! `loci query`: what matters, within a budget, ready for a prompt?

use anyhow::Result;
use clap::Args;
use loci_engine::pack::Format;
use loci_engine::{QueryRequest, QueryResponse, RecallRequest};
use loci_types::Error;
use serde_json::{Value, json};

use super::asking::AskFlags;
use crate::context::Context;
use crate::output;

/// The question, its budget and its form.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci query 'deployment plan' --user ann --budget 512
  loci query 'deployment plan' --agent planner --user ann --category tasks --top-k 3 --json
  loci query 'what changed' --user ann --since 41 --format bullets
  loci query 'deployment plan' --user ann --return full --json

The text never has more tokens than the budget, counted with the o200k_base vocabulary. With --json:
{\"results\":[{\"id\",\"category\",\"text\"}],\"text\",\"tokens\",\"revision\",\"leftOut\",\"degraded\"}; with
--return full each result is the whole memory with its score and explanation.")]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    ask: AskFlags,
    /// The most tokens [default: 1000 for a simple question, 3000 for a complex one]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// How it is written: markdown, bullets, messages or json
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    format: String,
    /// What --json returns for each hit: bullets or full
    #[arg(long = "return", value_name = "WHAT", default_value = "bullets")]
    returns: String,
    /// Shorten what does not fit instead of leaving it out
    #[arg(long)]
    summarise: bool,
    /// Also tell what changed since this revision
    #[arg(long, value_name = "REVISION")]
    since: Option<i64>,
    /// Only what changed in this conversation
    #[arg(long, value_name = "THREAD", requires = "since")]
    since_in: Option<String>,
    /// The conversation that is told: what it repeats of this is not learned anew
    #[arg(long, value_name = "THREAD")]
    for_thread: Option<String>,
}

/// Asks, and prints what fits.
pub(crate) async fn run(context: &Context, args: QueryArgs) -> Result<()> {
    let format: Format = args.format.parse()?;
    let full = match args.returns.as_str() {
        "bullets" => false,
        "full" => true,
        other => {
            let error = Error::invalid("return", format!("`{other}` is neither bullets nor full"));
            return Err(error.hint("use --return bullets or --return full").into());
        }
    };
    // The vocabulary is read while the model is loaded.
    std::thread::spawn(loci_engine::pack::tokens::prepare);
    let asked = args.ask.prepare(context).await?;
    let request = QueryRequest {
        recall: RecallRequest { for_thread: args.for_thread, ..asked.request },
        format,
        budget_tokens: args.budget,
        summarise: args.summarise,
        since: args.since,
        thread_id: args.since_in,
    };
    let answer = asked.engine.query(&asked.caller, request).await?;
    if context.json {
        output::json(&told(&answer, full));
    } else {
        output::line(&answer.text);
        let left = answer.left_out.len();
        output::note(&output::muted(&format!(
            "{} of {} tokens, {} memories, {left} left out, revision {}",
            answer.tokens,
            answer.budget_tokens,
            answer.cited.len(),
            answer.revision
        )));
    }
    asked.engine.flush().await;
    Ok(())
}

/// The answer as tools take it.
fn told(answer: &QueryResponse, full: bool) -> Value {
    let cited = answer.hits.iter().filter(|hit| answer.cited.contains(&hit.memory.id));
    let results: Vec<Value> = cited
        .map(|hit| {
            if full {
                return json!(hit);
            }
            json!({ "id": hit.memory.id, "category": hit.memory.category, "text": hit.bullet() })
        })
        .collect();
    json!({
        "results": results,
        "text": answer.text,
        "tokens": answer.tokens,
        "budgetTokens": answer.budget_tokens,
        "revision": answer.revision,
        "leftOut": answer.left_out,
        "shortened": answer.shortened,
        "intent": answer.intent,
        "degraded": answer.degraded,
    })
}
