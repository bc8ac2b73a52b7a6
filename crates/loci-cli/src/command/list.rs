//! `loci list`: what is there, page by page?

use anyhow::Result;
use clap::Args;
use loci_engine::ListRequest;

use crate::arguments::{FilterFlags, ScopeFlags};
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// Which memories, and which page of them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci list
  loci list --user ann --kind decision --created-after 2026-01-01
  loci list --state soft_deleted
  loci list --limit 20 --cursor CURSOR --json")]
pub(crate) struct ListArgs {
    /// Maximum number of memories, 1 to 1000 [default: 50]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Where the page starts: the cursor that the page before ended with
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
    #[command(flatten)]
    filter: FilterFlags,
}

/// Prints one page.
pub(crate) async fn run(context: &Context, args: ListArgs) -> Result<()> {
    let layers = args.filter.layers()?;
    let caller = context.caller(&args.scope, layers.is_some(), Nobody::User);
    let engine = context.engine().await?;
    let filter = args.filter.resolve(&engine, &caller, engine.now()).await?;
    let now = filter.now;
    let request = ListRequest { layers, filter: Some(filter), cursor: args.cursor, limit: args.limit };
    let page = engine.list(&caller, request).await?;
    if context.json {
        output::json(&page);
        return Ok(());
    }
    if page.memories.is_empty() {
        output::line("Nothing is here. `loci remember` puts something in.");
        return Ok(());
    }
    let rows = page.memories.iter().map(|memory| {
        vec![
            memory.id.short(),
            memory.kind.to_string(),
            memory.scope().map_or_else(|_| memory.layer.to_string(), |scope| scope.to_string()),
            shape::age(shape::since(memory), now),
            shape::brief(&loci_engine::reported(memory), 120),
        ]
    });
    output::line(&shape::table(&["id", "kind", "whose", "when", "content"], rows.collect()));
    output::line(&output::muted(&format!("{} of {}", page.memories.len(), page.total_count)));
    if let Some(cursor) = page.next_cursor {
        output::line(&output::muted(&format!("next page: --cursor {cursor}")));
    }
    Ok(())
}
