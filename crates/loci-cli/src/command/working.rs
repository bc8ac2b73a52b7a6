//! `loci working`: working memory of an agent, which is messages, tool results and a scratchpad.
//!
//! Working memory is in the process that serves it, and in Redis if that is set. On a data folder without Redis it would end
//! with the command, so these commands refuse to run there.

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_types::{Error, ErrorKind};
use serde_json::Value;

use crate::api::Call;
use crate::arguments::{PageFlags, ScopeFlags};
use crate::command::{entries, print_next_page, print_warnings};
use crate::context::{Context, Model};
use crate::{output, shape};

/// What to do with working memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  export LOCI_SERVER=http://127.0.0.1:7077
  loci working append --user ann --agent tutor --role user 'Which chapter were we at?'
  loci working tool call_7 --user ann --agent tutor --tool weather '{\"celsius\": 21}'
  loci working scratchpad --user ann --agent tutor 'first the proof, then the exercise'
  loci working get --user ann --agent tutor --json
  loci working search --user ann --agent tutor chapter
  loci working flush --user ann --agent tutor

Working memory needs a running server (--server) or Redis ([tiers] kind = \"redis\"): in a data folder alone it would be lost \
when the command ends. Above working.flush_tokens the messages are stored as turns of their conversation; `flush` does \
that at once.")]
pub(crate) struct WorkingArgs {
    #[command(subcommand)]
    command: WorkingCommand,
}

#[derive(Debug, Subcommand)]
enum WorkingCommand {
    /// Append a message
    Append {
        /// Text of the message
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
        /// Role of the speaker: user, assistant, tool, system
        #[arg(long)]
        role: Option<String>,
        /// Who said it
        #[arg(long, alias = "actor", value_name = "NAME")]
        actor_id: Option<String>,
        /// Conversation that it belongs to [default: the session, or the agent]
        #[arg(long, alias = "thread", value_name = "THREAD")]
        thread_id: Option<String>,
        /// Compute its vector, so that it is found by similarity
        #[arg(long)]
        embed: bool,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Store the result of a tool; it replaces an earlier result of the same call
    Tool {
        /// Id of the call
        #[arg(value_name = "CALL")]
        call_id: String,
        /// Result: JSON, or any text
        #[arg(value_name = "RESULT")]
        content: String,
        /// Name of the tool
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
        /// Compute its vector, so that it is found by similarity
        #[arg(long)]
        embed: bool,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Replace the text of the scratchpad
    Scratchpad {
        /// New text
        text: String,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Show messages, tool results and the scratchpad
    Get {
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Search messages and tool results, best first
    #[command(alias = "query")]
    Search {
        /// Query
        #[arg(required = true, value_name = "QUERY")]
        query: Vec<String>,
        #[command(flatten)]
        page: PageFlags,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Store the messages as turns of their conversation now
    Flush {
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Remove everything; messages that were not stored as turns are lost
    Clear {
        /// Do not ask for confirmation
        #[arg(short, long)]
        yes: bool,
        #[command(flatten)]
        scope: ScopeFlags,
    },
}

/// Runs a command on working memory.
pub(crate) async fn run(context: &Context, args: WorkingArgs) -> Result<()> {
    require_lasting(context, "working memory")?;
    match args.command {
        WorkingCommand::Append { text, role, actor_id, thread_id, embed, scope } => {
            let call = Call::post(&["v1", "working", "messages"])
                .field("content", text.join(" "))
                .field("role", role)
                .field("actorId", actor_id)
                .field("threadId", thread_id)
                .field("embed", embed);
            write(context, &scope, embed, call).await
        }
        WorkingCommand::Tool { call_id, content, tool, embed, scope } => {
            let content = serde_json::from_str(&content).unwrap_or(Value::String(content));
            let call = Call::post(&["v1", "working", "tool-results"])
                .field("callId", call_id)
                .field("content", content)
                .field("tool", tool)
                .field("embed", embed);
            write(context, &scope, embed, call).await
        }
        WorkingCommand::Scratchpad { text, scope } => {
            let call = Call::put(&["v1", "working", "scratchpad"]).field("text", text);
            write(context, &scope, false, call).await
        }
        WorkingCommand::Get { scope } => get(context, &scope).await,
        WorkingCommand::Search { query, page, scope } => search(context, &query.join(" "), &page, &scope).await,
        WorkingCommand::Flush { scope } => flush(context, &scope).await,
        WorkingCommand::Clear { yes, scope } => clear(context, &scope, yes).await,
    }
}

/// Refuses a command whose data would be lost when it ends: the data are in the process that serves them, and this process is
/// about to end.
pub(super) fn require_lasting(context: &Context, what: &str) -> Result<()> {
    if context.server.is_some() || context.tier()?.is_some() {
        return Ok(());
    }
    let message = format!("{what} would be lost when this command ends, because neither a server nor Redis is set");
    Err(Error::new(ErrorKind::Configuration, message)
        .at("server")
        .hint("use a running server with --server URL (`loci serve` starts one), or set [tiers] kind = \"redis\"")
        .into())
}

/// Sends a write and prints the answer.
async fn write(context: &Context, flags: &ScopeFlags, embed: bool, call: Call) -> Result<()> {
    let scope = context.scope_of_write(flags)?;
    let api = context.api(if embed { Model::Load } else { Model::Skip }).await?;
    let mut answer = api.call(call.scope(&scope)).await?;
    if context.server.is_none() {
        // Redis is written in the background, and nobody else reports a failure of that once this process has ended.
        api.close().await;
        let view = api.call(Call::get(&["v1", "working"]).scope(&scope)).await?;
        if !view["degraded"].is_null() {
            answer["degraded"] = view["degraded"].clone();
        }
    }
    context.print(&answer, |answer| {
        let data = &answer["data"];
        let id = output::muted(answer["id"].as_str().unwrap_or_default());
        match (data["messageCount"].as_u64(), answer["event"].as_str()) {
            (Some(count), _) => match data["flushedCount"].as_u64().unwrap_or(0) {
                0 => output::line(&format!("appended, messages: {count} {id}")),
                flushed => output::line(&format!("appended, messages: {count}, stored as turns: {flushed} {id}")),
            },
            (None, Some("ADD")) => output::line(&format!("stored {id}")),
            (None, Some("NONE")) => output::line(&format!("unchanged {id}")),
            (None, _) => output::line(&format!("replaced {id}")),
        }
        print_warnings(answer);
    });
    Ok(())
}

async fn get(context: &Context, scope: &ScopeFlags) -> Result<()> {
    let call = Call::get(&["v1", "working"]).scope(&context.scope(scope));
    let answer = context.api(Model::Skip).await?.call(call).await?;
    context.print(&answer, |view| {
        print_warnings(view);
        let list = |name: &str| view[name].as_array().cloned().unwrap_or_default();
        let messages = list("messages");
        for message in &messages {
            let role = message["role"].as_str().unwrap_or("–");
            let time = output::muted(&shape::time(&message["createdAt"]));
            output::line(&format!("{time} {role}: {}", shape::cell(&message["content"])));
        }
        for result in list("toolResults") {
            let (tool, call) = (result["tool"].as_str().unwrap_or("tool"), shape::cell(&result["callId"]));
            output::line(&format!("{tool} {call}: {}", shape::brief(&shape::plain(&result["content"]), 200)));
        }
        if let Some(text) = view["scratchpad"].as_str().filter(|text| !text.is_empty()) {
            output::line(&format!("scratchpad: {text}"));
        }
        output::line(&output::muted(&format!(
            "{}, {}",
            shape::count(messages.len() as u64, "message"),
            shape::count(view["tokens"].as_u64().unwrap_or_default(), "token")
        )));
    });
    Ok(())
}

async fn search(context: &Context, query: &str, page: &PageFlags, scope: &ScopeFlags) -> Result<()> {
    let call = Call::post(&["v1", "working", "search"]).scope(&context.scope(scope)).field("query", query);
    let answer = context.api(Model::Load).await?.call(page.in_body(call)).await?;
    context.print(&answer, |answer| {
        if entries(answer).is_empty() {
            return output::line("No message and no tool result matches.");
        }
        let row = |hit: &Value| {
            let (message, result) = (&hit["message"], &hit["toolResult"]);
            let text = match message["content"].as_str() {
                Some(text) => text.to_owned(),
                None => format!("{}: {}", shape::cell(&result["callId"]), shape::cell(&result["content"])),
            };
            let score = hit["score"].as_f64().unwrap_or_default();
            vec![format!("{score:.2}"), shape::cell(&hit["foundBy"]), shape::brief(&text, 80)]
        };
        output::line(&shape::table(&["score", "found by", "content"], entries(answer).iter().map(row).collect()));
        print_next_page(answer);
    });
    Ok(())
}

async fn flush(context: &Context, scope: &ScopeFlags) -> Result<()> {
    let api = context.api(Model::Skip).await?;
    let answer = api.call(Call::post(&["v1", "working", "flush"]).scope(&context.scope(scope))).await?;
    context.print(&answer, |answer| output::line(&format!("messages stored as turns: {}", answer["flushedCount"])));
    api.close().await;
    Ok(())
}

async fn clear(context: &Context, scope: &ScopeFlags, yes: bool) -> Result<()> {
    context.confirm("removes working memory with the messages that were not stored as turns", yes)?;
    let api = context.api(Model::Skip).await?;
    let answer = api.call(Call::delete(&["v1", "working"]).scope(&context.scope(scope))).await?;
    context.print(&answer, |_| output::line("working memory is empty"));
    api.close().await;
    Ok(())
}
