//! `loci store stats`: counts of memories, vectors and jobs.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::Args;
use jiff::Timestamp;
use serde::Deserialize;

use crate::api::Call;
use crate::arguments::ScopeFlags;
use crate::context::{Context, Model};
use crate::{output, shape};

/// The scope that is counted.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci store stats
  loci store stats --everyone
  loci store stats --user ann --json")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    scope: ScopeFlags,
}

type StoreCounts = BTreeMap<String, u64>;

/// `Statistics` of the HTTP API.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statistics {
    memories: u64,
    by_layer: StoreCounts,
    by_kind: StoreCounts,
    by_state: StoreCounts,
    vectors: StoreCounts,
    without_vector: u64,
    edges: StoreCounts,
    jobs: StoreCounts,
    entities: u64,
    orphans: u64,
    ledger: u64,
    spaces: u64,
    content_bytes: u64,
    bytes: u64,
    learned: Option<Learned>,
    #[serde(default)]
    maintained: BTreeMap<String, Timestamp>,
}

/// What was learned from sessions.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Learned {
    statements: u64,
    refused: u64,
    missed: u64,
    #[serde(default)]
    summaries: u64,
    tokens_saved: u64,
    llm_tokens_today: u64,
}

/// Prints the counts.
pub(crate) async fn run(context: &Context, args: &StatsArgs) -> Result<()> {
    let call = Call::get(&["v1", "stats"]).scope(&context.scope(&args.scope));
    let answer = context.api(Model::Skip).await?.call(call).await?;
    let stats: Statistics = serde_json::from_value(answer.clone())?;
    context.print(&answer, |_| output::line(&shape::table(&["what", "count"], rows(&stats))));
    Ok(())
}

fn rows(stats: &Statistics) -> Vec<Vec<String>> {
    let mut rows = vec![row("memories", stats.memories)];
    rows.extend(by("  layer", &stats.by_layer));
    rows.extend(by("  kind", &stats.by_kind));
    rows.extend(by("  state", &stats.by_state));
    rows.extend(by("vectors of", &stats.vectors));
    rows.push(row("without a vector", stats.without_vector));
    rows.extend(by("links", &stats.edges));
    rows.extend(by("jobs", &stats.jobs));
    rows.push(row("entities", stats.entities));
    rows.push(row("memories without links or entities", stats.orphans));
    rows.push(row("ledger entries", stats.ledger));
    rows.push(row("spaces", stats.spaces));
    rows.push(vec!["texts".to_owned(), shape::size(stats.content_bytes)]);
    if stats.bytes > 0 {
        rows.push(vec!["on disk".to_owned(), shape::size(stats.bytes)]);
    }
    if let Some(learned) = &stats.learned {
        rows.push(row("memories learned from sessions", learned.statements));
        rows.push(row("  refused statements of the language model", learned.refused));
        rows.push(row("  requests to remember without a memory", learned.missed));
        rows.push(row("summaries of long conversations", learned.summaries));
        rows.push(row("tokens saved by summaries", learned.tokens_saved));
        rows.push(row("tokens of the language model today", learned.llm_tokens_today));
    }
    rows.extend(
        stats.maintained.iter().map(|(step, at)| vec![format!("last maintenance: {step}"), shape::instant(*at)]),
    );
    rows
}

fn row(name: &str, count: u64) -> Vec<String> {
    vec![name.to_owned(), count.to_string()]
}

fn by(name: &str, counts: &StoreCounts) -> impl Iterator<Item = Vec<String>> {
    counts.iter().map(move |(what, count)| row(&format!("{name} {what}"), *count))
}
