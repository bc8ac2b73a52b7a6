//! `loci stats`: how much is there?

use std::collections::BTreeMap;

use anyhow::Result;
use clap::Args;
use loci_engine::LearningStats;
use loci_store::Stats;
use serde::Serialize;

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

/// What there is, and how learning goes for those who see all of it.
#[derive(Debug, Serialize)]
struct Counted {
    #[serde(flatten)]
    stats: Stats,
    #[serde(skip_serializing_if = "Option::is_none")]
    learned: Option<LearningStats>,
}

/// Prints the counts.
pub(crate) async fn run(context: &Context, args: &StatsArgs) -> Result<()> {
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let counted = Counted { stats: engine.stats(&caller).await?, learned: engine.learned(&caller).await? };
    if context.json {
        output::json(&counted);
        return Ok(());
    }
    let Counted { stats, learned } = counted;
    let mut rows = vec![row("memories", stats.memories)];
    rows.extend(by("  layer", &stats.by_layer));
    rows.extend(by("  kind", &stats.by_kind));
    rows.extend(by("  state", &stats.by_state));
    rows.extend(by("vectors of", &stats.vectors));
    rows.push(row("without a vector", stats.without_vector));
    rows.extend(by("edges", &stats.edges));
    rows.extend(by("jobs", &stats.jobs));
    rows.push(row("entities", stats.entities));
    rows.push(row("ledger entries", stats.ledger));
    rows.push(row("spaces", stats.spaces));
    if stats.bytes > 0 {
        rows.push(vec!["on disk".to_owned(), shape::size(stats.bytes)]);
    }
    rows.extend(learned.iter().flat_map(learned_rows));
    output::line(&shape::table(&["what", "how many"], rows));
    Ok(())
}

/// How learning goes.
fn learned_rows(learned: &LearningStats) -> Vec<Vec<String>> {
    let mut rows = vec![row("memories learned from sessions", learned.statements)];
    if learned.refused > 0 {
        rows.push(row("  refused statements of the language model", learned.refused));
    }
    if learned.missed > 0 {
        rows.push(row("  requests to remember with nothing to keep", learned.missed));
    }
    rows.push(row("tokens saved by summaries", learned.tokens_saved));
    rows.push(row("language model tokens today", learned.llm_tokens_today));
    rows
}

fn row(name: &str, count: u64) -> Vec<String> {
    vec![name.to_owned(), count.to_string()]
}

fn by(name: &str, counts: &BTreeMap<String, u64>) -> impl Iterator<Item = Vec<String>> {
    counts.iter().map(move |(what, count)| row(&format!("{name} {what}"), *count))
}
