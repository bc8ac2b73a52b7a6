//! `loci query`: what matters, within a budget, ready for a prompt?

use anyhow::Result;
use clap::Args;
use loci_engine::pack::Format;
use loci_engine::{QueryRequest, RecallHit, RecallRequest};
use loci_server::RecallAnswer;
use loci_types::Error;
use serde_json::{Value, json};

use super::asking::AskFlags;
use crate::context::Context;
use crate::output;

/// The question, its budget and its form.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci query 'deployment plan' --user ann --budget-tokens 512
  loci query 'deployment plan' --agent planner --user ann --category tasks --top-k 3 --json
  loci query 'what changed' --user ann --after-revision 41 --format bullets
  loci query 'deployment plan' --user ann --return bullets --json

The text never has more tokens than the budget, counted with the o200k_base vocabulary. The JSON form is the answer
of POST /v1/recall with `pack`; with --return bullets its `data` has only {\"id\",\"category\",\"text\"} of the
memories in the text.")]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    ask: AskFlags,
    /// Maximum number of tokens [default: 1000 for a simple question, 3000 for a complex one]
    #[arg(long, alias = "budget", value_name = "TOKENS")]
    budget_tokens: Option<usize>,
    /// How it is written: markdown, bullets, messages or json
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    format: String,
    /// What --json returns for each memory: full or bullets
    #[arg(long = "return", value_name = "WHAT", default_value = "full")]
    returns: String,
    /// Shorten what does not fit instead of leaving it out
    #[arg(long, alias = "summarise")]
    summarize: bool,
    /// List first what changed after this revision, which is `revision` of an earlier answer
    #[arg(long, alias = "since", value_name = "REVISION")]
    after_revision: Option<i64>,
    /// List only changes of this conversation
    #[arg(long, alias = "since-in", value_name = "THREAD", requires = "after_revision")]
    changes_thread_id: Option<String>,
    /// The conversation that receives the answer: what it repeats of it is not learned from it again
    #[arg(long, alias = "for-thread", value_name = "THREAD")]
    for_thread_id: Option<String>,
    /// With --json, how each score is made up
    #[arg(long)]
    explain: bool,
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
        recall: RecallRequest { for_thread: args.for_thread_id, ..asked.request },
        format,
        budget_tokens: args.budget_tokens,
        summarize: args.summarize,
        since: args.after_revision,
        thread_id: args.changes_thread_id,
    };
    let answer = asked.engine.query(&asked.caller, request).await?;
    if context.json {
        let cited = answer.hits.iter().filter(|hit| answer.cited.contains(&hit.memory.id));
        let bullets: Vec<Value> = cited.map(bullet).collect();
        let mut printed = serde_json::to_value(RecallAnswer::with_pack(answer, args.explain))?;
        if !full {
            printed["data"] = bullets.into();
        }
        output::json(&printed);
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

/// A memory of the text, in few words.
fn bullet(hit: &RecallHit) -> Value {
    json!({ "id": hit.memory.id, "category": hit.memory.category, "text": hit.bullet() })
}
