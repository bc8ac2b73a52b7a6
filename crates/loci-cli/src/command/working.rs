//! `loci working`: what does an agent have before it?

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_engine::{AppendReceipt, Caller, Engine, NewMessage, NewToolResult, WorkingHit, WorkingQuery, WorkingView};
use serde_json::{Value, json};

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// What to do with working memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci working append --user ann --agent tutor --role user 'Which chapter were we at?'
  loci working tool call_7 --user ann --agent tutor --tool weather '{\"celsius\": 21}'
  loci working scratchpad --user ann --agent tutor 'first the proof, then the exercise'
  loci working get --user ann --agent tutor --json
  loci working query --user ann --agent tutor chapter

Working memory is in the process that serves, and in the tier behind it. It outlives this command only with
[tiers] kind = \"redis\"; without one, `append` keeps nothing. Above working.flush_tokens the messages are kept as
turns of their conversation; `flush` does that at once.")]
pub(crate) struct WorkingArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Put a message at the end
    Append {
        /// The text
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
        /// In which role: user, assistant, tool, system
        #[arg(long)]
        role: Option<String>,
        /// Who said it
        #[arg(long, alias = "actor", value_name = "NAME")]
        actor_id: Option<String>,
        /// The conversation; default: the session, or the agent
        #[arg(long, alias = "thread", value_name = "THREAD")]
        thread_id: Option<String>,
        /// Make its vector, so that it is found by meaning
        #[arg(long)]
        embed: bool,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Put in what a tool answered
    Tool {
        /// The call that asked for it
        call: String,
        /// The answer: JSON, or any text
        content: String,
        /// The tool
        #[arg(long)]
        tool: Option<String>,
        /// Make its vector, so that it is found by meaning
        #[arg(long)]
        embed: bool,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Set the scratchpad
    Scratchpad {
        /// The text, in place of what stood there
        text: String,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Show everything that is there
    Get {
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Show what is about something
    Query {
        /// The question
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
        /// So many at the most
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Keep the messages as turns of their conversation now
    Flush {
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Empty it
    Clear {
        #[command(flatten)]
        scope: ScopeFlags,
    },
}

/// Looks after a working memory.
pub(crate) async fn run(context: &Context, args: WorkingArgs) -> Result<()> {
    warn_of_its_end(context)?;
    match args.verb {
        Verb::Append { text, role, actor_id, thread_id, embed, scope } => {
            let (caller, engine) = opened(context, &scope, embed).await?;
            let new = NewMessage { content: text.join(" "), role, actor_id, thread_id, embed, ..NewMessage::default() };
            let appended = engine.append(&caller, new).await?;
            engine.flush().await;
            print_receipt(context, &engine, appended);
        }
        Verb::Tool { call, content, tool, embed, scope } => {
            let (caller, engine) = opened(context, &scope, embed).await?;
            let content = serde_json::from_str(&content).unwrap_or(Value::String(content));
            let new = NewToolResult { call_id: call, tool, content, embed, ..NewToolResult::default() };
            let put = engine.put_tool_result(&caller, new).await?;
            engine.flush().await;
            print_receipt(context, &engine, put);
        }
        Verb::Scratchpad { text, scope } => {
            let (caller, engine) = opened(context, &scope, false).await?;
            let set = engine.set_scratchpad(&caller, &text).await?;
            engine.flush().await;
            print_receipt(context, &engine, set);
        }
        Verb::Get { scope } => {
            let (caller, engine) = opened(context, &scope, false).await?;
            shown(context, &engine.working_view(&caller).await?);
        }
        Verb::Query { text, limit, scope } => {
            let (caller, engine) = opened(context, &scope, true).await?;
            let asked = WorkingQuery { query: text.join(" "), limit, ..WorkingQuery::default() };
            found(context, &engine.query_working(&caller, asked).await?);
        }
        Verb::Flush { scope } => {
            let (caller, engine) = opened(context, &scope, false).await?;
            let flushed = engine.flush_working(&caller).await?;
            engine.flush().await;
            match context.json {
                true => output::json(&json!({ "flushedCount": flushed })),
                false => output::line(&format!("{flushed} messages are kept as turns")),
            }
        }
        Verb::Clear { scope } => {
            let (caller, engine) = opened(context, &scope, false).await?;
            engine.clear_working(&caller).await?;
            match context.json {
                true => output::json(&json!({ "cleared": true })),
                false => output::line("cleared"),
            }
        }
    }
    Ok(())
}

/// Without a tier everything of it ends with this process, and whoever calls must know.
pub(crate) fn warn_of_its_end(context: &Context) -> Result<()> {
    if context.tier()?.is_none() {
        let hint = "set [tiers] kind = \"redis\" and its address, or ask a server that runs";
        output::warn("no tier is set: nothing of this is left when the command ends", Some(hint));
    }
    Ok(())
}

async fn opened(context: &Context, scope: &ScopeFlags, model: bool) -> Result<(Caller, Engine)> {
    let caller = context.caller(scope, false, Nobody::User);
    let engine = context.engine_with_model(!model, &caller).await?;
    Ok((caller, engine))
}

fn print_receipt(context: &Context, engine: &Engine, mut appended: AppendReceipt) {
    // The tier is written in the background: whether that failed is known only now.
    for problem in engine.working_degraded() {
        if !appended.degraded.contains(&problem) {
            appended.degraded.push(problem);
        }
    }
    if context.json {
        return output::json(&appended);
    }
    for problem in &appended.degraded {
        output::warn(problem, None);
    }
    let flushed = if appended.flushed > 0 { format!(", {} kept as turns", appended.flushed) } else { String::new() };
    output::line(&format!("there ({} messages{flushed})", appended.messages));
}

fn shown(context: &Context, view: &WorkingView) {
    if context.json {
        return output::json(view);
    }
    for problem in &view.degraded {
        output::warn(problem, None);
    }
    for message in &view.messages {
        let role = message.role.as_deref().unwrap_or("–");
        output::line(&format!("{} {role}: {}", output::muted(&shape::instant(message.at)), message.content));
    }
    for result in &view.tool_results {
        let tool = result.tool.as_deref().unwrap_or("tool");
        output::line(&format!("{tool} {}: {}", result.call_id, shape::brief(&result.text(), 200)));
    }
    if !view.scratchpad.is_empty() {
        output::line(&format!("scratchpad: {}", view.scratchpad));
    }
    output::line(&output::muted(&format!("{} messages, {} tokens", view.messages.len(), view.tokens)));
}

fn found(context: &Context, hits: &[WorkingHit]) {
    if context.json {
        return output::json(&json!({ "hits": hits }));
    }
    if hits.is_empty() {
        return output::line("Nothing of it is before the agent.");
    }
    let row = |hit: &WorkingHit| {
        let text = match (&hit.message, &hit.tool_result) {
            (Some(message), _) => message.content.clone(),
            (None, Some(result)) => format!("{}: {}", result.call_id, result.text()),
            (None, None) => String::new(),
        };
        vec![format!("{:.2}", hit.score), format!("{:?}", hit.found_by).to_lowercase(), shape::brief(&text, 80)]
    };
    output::line(&shape::table(&["score", "by", "entry"], hits.iter().map(row).collect()));
}
