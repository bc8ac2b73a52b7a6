//! `loci recall`: what matters to a question?

use anyhow::Result;
use clap::Args;
use jiff::Timestamp;
use loci_engine::{Answered, ClueWeight, Recall, RecallHit};
use loci_server::{RecallAnswer, RecallCursor};
use loci_types::{Error, Memory};

use super::asking::AskFlags;
use crate::context::Context;
use crate::{output, shape};

/// The question, and which memories may answer it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci recall what do I drink in the morning
  loci recall --user ann --limit 3 'which database did we choose' --explain
  loci recall --project atlas --layer project releases --json
  loci recall --strategy recency 'what is new'
  loci recall --now 2026-01-31 'what am I working on'

`loci query` writes the same within a budget of tokens, ready for a prompt. The JSON form is the answer of
POST /v1/recall.")]
pub(crate) struct RecallArgs {
    #[command(flatten)]
    ask: AskFlags,
    /// Which searches decide: hybrid (all of them), semantic (vectors), lexical (words), recency or importance
    #[arg(long, value_name = "STRATEGY", default_value = "hybrid")]
    strategy: String,
    /// The conversation that receives the answer: what it repeats of it is not learned from it again
    #[arg(long, alias = "for-thread", value_name = "THREAD")]
    for_thread_id: Option<String>,
    /// Show which searches found each result, and how its score is made up
    #[arg(long)]
    explain: bool,
    /// The next page: the `nextCursor` of the page before, as `--json` prints it
    #[arg(long)]
    cursor: Option<String>,
}

/// Asks, and prints what was found.
pub(crate) async fn run(context: &Context, args: RecallArgs) -> Result<()> {
    let strategy = args.strategy.parse()?;
    let page = match &args.cursor {
        Some(text) => RecallCursor::parse(text).ok_or_else(|| {
            Error::invalid("cursor", "cursor is not one that recall printed")
                .hint("give the nextCursor of the page before, or leave it out for the first page")
        })?,
        None => RecallCursor::default(),
    };
    let mut asked = args.ask.prepare(context).await?;
    asked.request.strategy = strategy;
    asked.request.returned = page.returned().to_vec();
    asked.request.for_thread = args.for_thread_id;
    let recall = asked.engine.recall(&asked.caller, asked.request).await?;
    if context.json {
        output::json(&RecallAnswer::new(recall, args.explain, &page));
    } else {
        print(&recall, asked.now, args.explain);
    }
    // The answer is out; counting it may wait for another process that writes.
    asked.engine.flush().await;
    Ok(())
}

fn print(recall: &Recall, now: Timestamp, explain: bool) {
    if recall.hits.is_empty() {
        output::line(
            "Nothing that is known is about it. `loci list` shows what there is; `--threshold 0` the nearest there is.",
        );
    }
    print_hits(recall, now);
    if recall.answered == Answered::Unsure {
        output::line(&output::muted("These are about it, but may not answer it."));
    }
    if explain && !recall.hits.is_empty() {
        output::line("");
        output::line(&explanation(&recall.hits));
    }
}

/// The hits, best first.
pub(crate) fn print_hits(recall: &Recall, now: Timestamp) {
    let widest = recall.hits.len().to_string().len();
    for (place, hit) in recall.hits.iter().enumerate() {
        let indent = " ".repeat(widest + 3);
        let content = hit.text().lines().map(str::to_owned).collect::<Vec<_>>().join(&format!("\n{indent}"));
        output::line(&format!("{:>widest$}.  {}", place + 1, output::strong(&content)));
        output::line(&format!("{indent}{}", output::muted(&about(&hit.memory, Some(hit.score), now))));
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
    parts.push(memory.id.short());
    parts.join(" · ")
}

/// For each hit one line per term of its score, in plain words, and what spoke for it most.
fn explanation(hits: &[RecallHit]) -> String {
    let lines: Vec<String> = hits.iter().enumerate().map(|(place, hit)| one_explanation(place + 1, hit)).collect();
    let confidence = hits.first().map_or(1.0, |hit| hit.explain.confidence);
    format!("confidence that these are about the question: {confidence:.2}\n\n{}", lines.join("\n\n"))
}

fn one_explanation(place: usize, hit: &RecallHit) -> String {
    let (explain, terms) = (&hit.explain, &hit.explain.terms);
    let lanes: Vec<String> = explain.lanes.iter().map(|lane| format!("{} #{}", lane.lane, lane.rank)).collect();
    let mut lines = vec![
        format!("{place}. {}", shape::brief(&hit.text(), 60)),
        format!("found by   {}", if lanes.is_empty() { "standing beside a hit".to_owned() } else { lanes.join(", ") }),
        format!("relevance  {:.3} × {}", terms.relevance, explain.weights.similarity),
    ];
    if terms.closeness >= 0.005 {
        let share =
            if terms.closeness > 0.995 { String::new() } else { format!(", counted {:.2} times", terms.closeness) };
        lines.push(format!("recency    {:.3} × {}{share}", terms.recency, explain.weights.recency));
        lines.push(format!("utility    {:.3} × {}{share}", terms.utility, explain.weights.utility));
        if terms.layer + terms.relation > 0.0 {
            lines.push(format!(
                "layer      {:.3}, relations {:.3}, of what is left to 1{share}",
                terms.layer, terms.relation
            ));
        }
    } else {
        lines.push(
            "recency, utility, layer and relations do not count: it is clearly less relevant than the best".to_owned(),
        );
    }
    lines.push(format!("score      {:.3}", hit.score));
    if let Some(passage) = &explain.passage {
        lines.push(format!("passage    {}", shape::brief(passage, 100)));
    }
    if !explain.clues.is_empty() {
        lines.push(clues(hit));
    }
    let indent = "\n     ";
    lines.join(indent)
}

/// What spoke for a hit and against it, the loudest first, and whom it overrides.
fn clues(hit: &RecallHit) -> String {
    let mut clues: Vec<&ClueWeight> = hit.explain.clues.iter().filter(|clue| clue.weight != 0.0).collect();
    clues.sort_by(|a, b| (b.value * b.weight).abs().total_cmp(&(a.value * a.weight).abs()));
    let terms: Vec<String> =
        clues.iter().map(|clue| format!("{} {:+.2}", clue.clue, clue.value * clue.weight)).collect();
    let mut line = format!("evidence   {:.2}: {}", hit.explain.evidence, terms.join(", "));
    if hit.explain.kind != 0.0 {
        line.push_str(&format!(", its kind {:+.2}", hit.explain.kind));
    }
    if hit.explain.lift != 0.0 {
        line.push_str(&format!(", lifted {:+.2} above what it replaces or speaks for", hit.explain.lift));
    }
    for id in &hit.explain.overrides {
        line.push_str(&format!("\n      overrides {id}, which says the same"));
    }
    for id in &hit.explain.sources {
        line.push_str(&format!("\n      learned from {id}"));
    }
    for related in &hit.explain.related {
        line.push_str(&format!(
            "\n      {} {}: {}",
            related.relation,
            related.id.short(),
            shape::brief(&related.content, 60)
        ));
    }
    line
}
