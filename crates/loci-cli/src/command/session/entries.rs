//! `loci session put` and `loci session recent`: entries of a session, which live as long as the session.

use anyhow::Result;
use clap::Args;
use serde_json::Value;

use crate::api::Call;
use crate::arguments::{self, PageFlags, ScopeFlags};
use crate::command::working::require_lasting;
use crate::command::{entries, print_next_page, print_warnings};
use crate::context::{Context, Model};
use crate::{output, shape};

/// The entry.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  export LOCI_SERVER=http://127.0.0.1:7077
  loci session put monday --user ann --importance 0.8 'Ann asked to be reminded of the exam'
  loci session put monday --user ann --entry-id exam --ttl-seconds 86400 'The exam is on Friday'

Entries need a running server (--server) or Redis ([tiers] kind = \"redis\").")]
pub(super) struct EntryPutArgs {
    /// Id of the session
    #[arg(value_name = "SESSION")]
    session_id: String,
    /// Text of the entry
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Id of the entry; an entry with the same id is replaced [default: a new one]
    #[arg(long, alias = "id", value_name = "ID")]
    entry_id: Option<String>,
    /// Importance, 0 to 1 [default: by the text]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = arguments::number)]
    importance: Option<Value>,
    /// Lifetime of the session from now on, in seconds [default: tiers.session_ttl_seconds]
    #[arg(long, alias = "ttl", value_name = "SECONDS")]
    ttl_seconds: Option<u64>,
    /// Compute its vector, so that it is found by similarity
    #[arg(long)]
    embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Stores an entry.
pub(super) async fn put(context: &Context, args: EntryPutArgs) -> Result<()> {
    require_lasting(context, "an entry of a session")?;
    let api = context.api(if args.embed { Model::Load } else { Model::Skip }).await?;
    let call = Call::post(&["v1", "sessions", &args.session_id, "entries"])
        .scope(&context.scope_of_write(&args.scope)?)
        .field("content", args.text.join(" "))
        .field("id", args.entry_id)
        .field("importance", args.importance)
        .field("ttlSeconds", args.ttl_seconds)
        .field("embed", args.embed);
    let answer = api.call(call).await?;
    context.print(&answer, |answer| {
        let stored = if answer["event"] == "ADD" { "stored" } else { "replaced" };
        let importance = answer["data"]["importance"].as_f64().unwrap_or_default();
        let id = output::muted(answer["id"].as_str().unwrap_or_default());
        output::line(&format!("{stored}, importance {importance:.2} {id}"));
        print_warnings(answer);
    });
    api.close().await;
    Ok(())
}

/// Which entries.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  export LOCI_SERVER=http://127.0.0.1:7077
  loci session recent monday --user ann
  loci session recent monday --user ann --query exam --limit 3 --json

Entries need a running server (--server) or Redis ([tiers] kind = \"redis\").")]
pub(super) struct RecentArgs {
    /// Id of the session
    #[arg(value_name = "SESSION")]
    session_id: String,
    /// Only entries that match this query, best first; the latest 1,000 entries are compared
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    #[command(flatten)]
    page: PageFlags,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Lists or searches the entries of a session.
pub(super) async fn recent(context: &Context, args: &RecentArgs) -> Result<()> {
    require_lasting(context, "an entry of a session")?;
    let api = context.api(if args.query.is_some() { Model::Load } else { Model::Skip }).await?;
    let call = Call::get(&["v1", "sessions", &args.session_id, "entries"])
        .scope(&context.scope(&args.scope))
        .param("query", args.query.as_ref());
    let answer = api.call(args.page.of(call)).await?;
    context.print(&answer, |answer| {
        if entries(answer).is_empty() {
            return output::line("No entries. `loci session put` stores one.");
        }
        let number = |value: &Value| value.as_f64().map_or_else(|| "–".to_owned(), |number| format!("{number:.2}"));
        let row = |entry: &Value| {
            vec![
                shape::time(&entry["createdAt"]),
                number(&entry["importance"]),
                number(&entry["score"]),
                shape::brief(&shape::cell(&entry["content"]), 80),
                shape::cell(&entry["id"]),
            ]
        };
        let head = ["time", "importance", "score", "content", "id"];
        output::line(&shape::table(&head, entries(answer).iter().map(row).collect()));
        print_next_page(answer);
    });
    Ok(())
}
