//! `loci list`: lists memories, newest first.

use anyhow::Result;
use clap::Args;
use loci_types::Memory;

use crate::api::Call;
use crate::arguments::{FilterFlags, ScopeFlags};
use crate::context::{Context, Model};
use crate::{output, shape};

/// Which memories.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci list
  loci list --user ann --kind decision --limit 20
  loci list --state soft_deleted
  loci list --everyone --json

--json prints the answer of GET /v1/memories: {\"data\": […], \"nextCursor\": …}.")]
pub(crate) struct ListArgs {
    /// Maximum number of memories, at most 1,000 [default: 50]
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Cursor of the next page: `nextCursor` of the page before
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
    #[command(flatten)]
    filter: FilterFlags,
}

/// Prints one page.
pub(crate) async fn run(context: &Context, args: ListArgs) -> Result<()> {
    let scope = context.scope(&args.scope);
    let filter = args.filter.parameters()?;
    let filtered = |call: Call| filter.iter().fold(call, |call, (name, value)| call.param(name, Some(value)));
    let api = context.api(Model::Skip).await?;
    let call = Call::get(&["v1", "memories"]).scope(&scope).param("limit", args.limit).param("cursor", args.cursor);
    let answer = api.call(filtered(call)).await?;
    if context.json {
        output::json(&answer);
        return Ok(());
    }
    let memories: Vec<Memory> = serde_json::from_value(answer["data"].clone())?;
    if memories.is_empty() {
        output::line(match filter.is_empty() {
            true => {
                "No memories in this scope. `loci remember TEXT` stores one; `--everyone` lists those of all scopes."
            }
            false => "No memory in this scope matches these filters.",
        });
        return Ok(());
    }
    let count = api.call(filtered(Call::get(&["v1", "memories", "count"]).scope(&scope))).await?;
    let now = context.now();
    let rows = memories.iter().map(|memory| {
        vec![
            memory.id.short(),
            memory.kind.to_string(),
            memory.scope().map_or_else(|_| memory.layer.to_string(), |scope| scope.to_string()),
            shape::age(shape::since(memory), now),
            shape::brief(&loci_engine::reported(memory), 120),
        ]
    });
    output::line(&shape::table(&["id", "kind", "scope", "time", "content"], rows.collect()));
    output::line(&output::muted(&format!("{} of {}", memories.len(), count["count"])));
    if let Some(cursor) = answer["nextCursor"].as_str() {
        output::line(&output::muted(&format!("next page: --cursor {cursor}")));
    }
    Ok(())
}
