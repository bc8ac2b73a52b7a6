//! `loci context`: what goes into a model's window?

use std::io::BufRead;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use loci_engine::pack::Format;
use loci_engine::pack::context::{Message, Window};
use loci_engine::{ContextRequest, RecallRequest};
use loci_server::RecallAnswer;
use loci_types::Error;

use super::asking::AskFlags;
use crate::context::Context;
use crate::output;

/// What the window is filled with.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci context 'plan my week' --user ann --window 8000 --system 'You are a planner.'
  loci context 'plan my week' --user ann --history turns.jsonl --json

The history is one JSON object a line: {\"role\":\"user\",\"content\":\"…\"}, oldest first. What is printed are
messages for a chat model: the system text with what is remembered, the latest turns that fit, the input. The JSON
form is the answer of POST /v1/recall with `window`.")]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    ask: AskFlags,
    /// Tokens of the model's window
    #[arg(long, value_name = "TOKENS", default_value_t = 128_000)]
    window: usize,
    /// What the model is told to be
    #[arg(long, value_name = "TEXT", default_value = "")]
    system: String,
    /// The description of a tool; may be repeated
    #[arg(long, value_name = "TEXT")]
    tool: Vec<String>,
    /// The turns so far
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// How memories are written: markdown, bullets, messages or json
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    format: String,
    /// Shorten memories that do not fit instead of leaving them out
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

/// Builds the context and prints it.
pub(crate) async fn run(context: &Context, args: ContextArgs) -> Result<()> {
    let format: Format = args.format.parse()?;
    let history = args.history.as_deref().map(read_history).transpose()?.unwrap_or_default();
    std::thread::spawn(loci_engine::pack::tokens::prepare);
    let asked = args.ask.prepare(context).await?;
    let request = ContextRequest {
        system: args.system,
        tools: args.tool,
        history,
        window: Window { summarize: args.summarize, ..Window::of(args.window) },
        format,
        recall: RecallRequest { for_thread: args.for_thread_id, ..asked.request },
        since: args.after_revision,
        thread_id: args.changes_thread_id,
    };
    let built = asked.engine.context(&asked.caller, request).await?;
    if context.json {
        output::json(&RecallAnswer::with_window(built, args.explain));
    } else {
        for message in &built.context.messages {
            output::line(&format!("{}\n{}\n", output::strong(&format!("[{}]", message.role)), message.content));
        }
        output::note(&output::muted(&format!(
            "{} tokens of {}, revision {}",
            built.context.tokens.sum(),
            args.window,
            built.revision
        )));
    }
    asked.engine.flush().await;
    Ok(())
}

fn read_history(path: &Path) -> Result<Vec<Message>> {
    let unreadable =
        |error: std::io::Error| Error::invalid("history", format!("{} cannot be read: {error}", path.display()));
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut turns = Vec::new();
    for (number, line) in std::io::BufReader::new(file).lines().enumerate() {
        let line = line.with_context(|| format!("{} line {}", path.display(), number + 1))?;
        if line.trim().is_empty() {
            continue;
        }
        turns.push(serde_json::from_str(&line).map_err(|error| {
            Error::invalid("history", format!("{} line {}: {error}", path.display(), number + 1))
                .hint("one JSON object a line: {\"role\":\"user\",\"content\":\"…\"}")
        })?);
    }
    Ok(turns)
}
