//! `loci history`: what happened to a memory?

use anyhow::Result;
use clap::Args;
use loci_types::LedgerEntry;
use serde_json::Value;

use crate::arguments::{ScopeFlags, instant};
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// Which memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci history 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50
  loci history 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50 --json

`loci undo LINE` takes a line back.")]
pub(crate) struct HistoryArgs {
    /// Id of the memory, whole or short
    id: String,
    /// So many entries at most
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    limit: usize,
    /// As if it were then: nothing that happened later
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Prints the ledger of one memory, oldest first.
pub(crate) async fn run(context: &Context, args: &HistoryArgs) -> Result<()> {
    let given = args.id.parse()?;
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let then = instant("at", args.at.as_deref())?;
    let engine = context.engine().await?;
    let id = engine.resolve_id(&caller, &given).await?;
    let mut history = engine.history(&caller, id, args.limit).await?;
    history.events.retain(|entry| then.is_none_or(|then| entry.at <= then));
    if context.json {
        output::json(&history);
        return Ok(());
    }
    let rows = history.events.iter().map(|entry| {
        vec![
            entry.sequence.to_string(),
            shape::instant(entry.at),
            entry.event.clone(),
            entry.version.map_or_else(String::new, |version| version.to_string()),
            entry.actor.clone().or_else(|| entry.node.clone()).unwrap_or_default(),
            entry.reason.clone(),
            change(entry),
        ]
    });
    output::line(&shape::table(&["line", "time", "event", "version", "by", "reason", "change"], rows.collect()));
    // Lines of the space that `undo` takes by default need no name.
    let usual = engine.space_of(&context.caller(&args.scope, false, Nobody::User)).await?.name();
    if let Some(entry) = history.events.iter().find(|entry| entry.space != usual) {
        output::line(&output::muted(&format!("these lines are of the space {0}: --space {0}", entry.space)));
    }
    Ok(())
}

/// Each field that changed, from what to what.
fn change(entry: &LedgerEntry) -> String {
    let empty = serde_json::Map::new();
    let old = entry.old.as_ref().and_then(Value::as_object).unwrap_or(&empty);
    let new = entry.new.as_ref().and_then(Value::as_object).unwrap_or(&empty);
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort();
    names.dedup();
    let short =
        |value: Option<&Value>| value.map_or_else(|| "–".to_owned(), |value| shape::brief(&shape::plain(value), 40));
    let lines = names.iter().map(|name| match (old.get(*name), new.get(*name)) {
        (None, new) => format!("{name}: {}", short(new)),
        (old, new) => format!("{name}: {} → {}", short(old), short(new)),
    });
    lines.collect::<Vec<_>>().join("\n")
}
