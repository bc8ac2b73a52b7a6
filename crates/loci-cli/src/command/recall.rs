//! `loci recall`: what matters to a question?

use anyhow::Result;
use clap::Args;
use jiff::Timestamp;
use loci_engine::{Recall, RecallHit, RecallRequest};
use loci_types::Memory;

use crate::arguments::{FilterFlags, ScopeFlags};
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// The question, and which memories may answer it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci recall what do I drink in the morning
  loci recall --user ann --limit 3 'which database did we choose' --explain
  loci recall --project atlas --layer project releases --json
  loci recall --at 2026-01-31 'what am I working on'")]
pub(crate) struct RecallArgs {
    /// The question
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// So many hits at most [default: 10]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Cosine below which likeness does not count, 0 to 1; default: retrieval.vector_floor
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    threshold: Option<f64>,
    /// Show which lanes found each hit, and what its score is made of
    #[arg(long)]
    explain: bool,
    /// Search by words alone
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
    #[command(flatten)]
    filter: FilterFlags,
}

/// Asks, and prints what was found.
pub(crate) async fn run(context: &Context, args: RecallArgs) -> Result<()> {
    let layers = args.filter.layers()?;
    let caller = context.caller(&args.scope, layers.is_some(), Nobody::User);
    let at = args.filter.at()?;
    args.filter.filter(Timestamp::UNIX_EPOCH)?;
    let engine = context.engine_with_model(args.no_embed, &caller).await?;
    let now = at.unwrap_or_else(|| engine.now());
    let request = RecallRequest {
        query: args.query.join(" "),
        layers,
        limit: args.limit,
        threshold: args.threshold,
        filter: Some(args.filter.filter(now)?),
        at: Some(now),
        ..RecallRequest::default()
    };
    let recall = engine.recall(&caller, request).await?;
    if context.json {
        output::json(&recall);
    } else {
        print(&recall, now, args.explain);
    }
    // The answer is out; counting it may wait for another process that writes.
    engine.flush().await;
    Ok(())
}

fn print(recall: &Recall, now: Timestamp, explain: bool) {
    if recall.hits.is_empty() {
        output::line("Nothing comes to mind. `loci list` shows what there is.");
    }
    let widest = recall.hits.len().to_string().len();
    for (place, hit) in recall.hits.iter().enumerate() {
        let indent = " ".repeat(widest + 3);
        let content = hit.memory.content.lines().collect::<Vec<_>>().join(&format!("\n{indent}"));
        output::line(&format!("{:>widest$}.  {}", place + 1, output::strong(&content)));
        output::line(&format!("{indent}{}", output::muted(&about(&hit.memory, Some(hit.score), now))));
    }
    if explain && !recall.hits.is_empty() {
        output::line("");
        output::line(&explanation(&recall.hits));
    }
}

/// What is worth knowing about a memory, in one line.
pub(crate) fn about(memory: &Memory, score: Option<f64>, now: Timestamp) -> String {
    let mut parts = vec![
        memory.kind.to_string(),
        memory.scope().map_or_else(|_| memory.layer.to_string(), |scope| scope.to_string()),
        shape::age(shape::since(memory), now),
    ];
    if let Some(score) = score {
        parts.push(format!("score {score:.3}"));
    }
    parts.push(memory.id.to_string());
    parts.join(" · ")
}

fn explanation(hits: &[RecallHit]) -> String {
    let rows = hits.iter().enumerate().map(|(place, hit)| {
        let explain = &hit.explain;
        let lane = |name: &str| {
            let found = explain.lanes.iter().find(|lane| lane.lane == name);
            found.map_or_else(|| "–".to_owned(), |lane| format!("#{} ({:.3})", lane.rank, lane.score))
        };
        vec![
            (place + 1).to_string(),
            shape::brief(&hit.memory.content, 28),
            lane("lexical"),
            lane("vector"),
            format!("{:.3}", explain.relevance),
            format!("{:.3}", explain.recency),
            format!("{:.3}", explain.utility),
            format!("×{:.2}", explain.boost),
            format!("+{:.3}", explain.layer),
            format!("{:.3}", hit.score),
        ]
    });
    let head = ["", "memory", "words", "meaning", "relevance", "recency", "utility", "kind", "layer", "score"];
    shape::table(&head, rows.collect())
}
