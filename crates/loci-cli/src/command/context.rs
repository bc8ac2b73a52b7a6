//! `loci context`: fills a model's window with the system prompt, memories, history and the question.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use loci_engine::pack::context::Message;
use loci_types::Error;
use serde_json::json;

use super::asking::AskFlags;
use crate::command::print_warnings;
use crate::context::Context;
use crate::output;

/// What the window is filled with.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci context 'plan my week' --user ann --window 8000 --system 'You are a planner.'
  loci context 'plan my week' --user ann --history turns.jsonl --json

The history is one JSON object a line: {\"role\":\"user\",\"content\":\"…\"}, oldest first. What is printed are \
messages for a chat model: the system text with what is remembered, the latest turns that fit, the input. The JSON \
form is the answer of POST /v1/recall with `window`.")]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    ask: AskFlags,
    /// Number of tokens of the model's window
    #[arg(long, value_name = "TOKENS", default_value_t = 128_000)]
    window: usize,
    /// System prompt
    #[arg(long, value_name = "TEXT", default_value = "")]
    system: String,
    /// The description of a tool; may be repeated
    #[arg(long, value_name = "TEXT")]
    tool: Vec<String>,
    /// File with the turns so far
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// How memories are written: markdown, bullets, messages or json
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Shorten memories that do not fit instead of leaving them out
    #[arg(long, alias = "summarise")]
    summarize: bool,
}

/// Fills the window and prints its messages.
pub(crate) async fn run(context: &Context, args: ContextArgs) -> Result<()> {
    let history = args.history.as_deref().map(read_history).transpose()?.unwrap_or_default();
    std::thread::spawn(loci_engine::pack::tokens::prepare);
    let mut window = json!({
        "tokens": args.window, "system": args.system, "tools": args.tool, "history": history,
        "summarize": args.summarize,
    });
    if let Some(format) = args.format {
        window["format"] = format.into();
    }
    let (api, answer) = args.ask.ask(context, |call| call.field("window", window)).await?;
    context.print(&answer, |answer| {
        let window = &answer["window"];
        for message in window["messages"].as_array().into_iter().flatten() {
            let text = |name: &str| message[name].as_str().unwrap_or_default();
            output::line(&format!("{}\n{}\n", output::strong(&format!("[{}]", text("role"))), text("content")));
        }
        let parts = window["tokens"].as_object().into_iter().flatten();
        let tokens: u64 = parts.filter_map(|(_, count)| count.as_u64()).sum();
        let summary = format!("{tokens} tokens of {}, revision {}", args.window, window["revision"]);
        output::note(&output::muted(&summary));
        print_warnings(answer);
    });
    api.close().await;
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
