//! `loci stats`: how much is there?

use std::collections::BTreeMap;

use anyhow::Result;
use clap::Args;

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// Of whose memories.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci stats
  loci stats --user ann --json")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Prints the counts.
pub(crate) async fn run(context: &Context, args: &StatsArgs) -> Result<()> {
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let stats = context.engine()?.stats(&caller).await?;
    if context.json {
        output::json(&stats);
        return Ok(());
    }
    let mut rows = vec![vec!["memories".to_owned(), stats.memories.to_string()]];
    let mut by = |name: &str, counts: &BTreeMap<String, u64>| {
        rows.extend(counts.iter().map(|(what, count)| vec![format!("{name} {what}"), count.to_string()]));
    };
    by("  layer", &stats.by_layer);
    by("  kind", &stats.by_kind);
    by("  state", &stats.by_state);
    by("vectors of", &stats.vectors);
    rows.push(vec!["without a vector".to_owned(), stats.without_vector.to_string()]);
    let mut by = |name: &str, counts: &BTreeMap<String, u64>| {
        rows.extend(counts.iter().map(|(what, count)| vec![format!("{name} {what}"), count.to_string()]));
    };
    by("edges", &stats.edges);
    by("jobs", &stats.jobs);
    rows.push(vec!["entities".to_owned(), stats.entities.to_string()]);
    rows.push(vec!["ledger entries".to_owned(), stats.ledger.to_string()]);
    rows.push(vec!["spaces".to_owned(), stats.spaces.to_string()]);
    if stats.bytes > 0 {
        rows.push(vec!["on disk".to_owned(), shape::size(stats.bytes)]);
    }
    output::line(&shape::table(&["what", "how many"], rows));
    Ok(())
}
