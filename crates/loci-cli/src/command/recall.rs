//! `loci recall`: finds the memories that answer a question.

use anyhow::Result;
use clap::Args;
use jiff::Timestamp;
use loci_engine::{ClueWeight, Explanation, NewerStatement};
use loci_types::Memory;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::asking::AskFlags;
use crate::command::print_warnings;
use crate::context::Context;
use crate::{output, shape};

/// The question, and which memories may answer it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci recall what do I drink in the morning
  loci recall --user ann --limit 3 'which database did we choose' --explain
  loci recall --project atlas --layer project releases --json
  loci recall --strategy recency 'what is new'
  loci recall --budget-tokens 512 'deployment plan'
  loci recall --now 2026-01-31 'what am I working on'

--pack, --budget-tokens or --format print the memories as one text for a prompt, which never has more tokens than its \
budget (vocabulary o200k_base). --json prints the answer of POST /v1/recall.")]
pub(crate) struct RecallArgs {
    #[command(flatten)]
    ask: AskFlags,
    /// Which searches decide: hybrid (all), rrf (fused ranks), semantic (vectors), lexical (words), recency or importance [default: retrieval.strategy, which is hybrid]
    #[arg(long, value_name = "STRATEGY", conflicts_with = "words_only")]
    strategy: Option<String>,
    /// Cursor of the next page: `nextCursor` of the page before
    #[arg(long)]
    cursor: Option<String>,
    /// Print the memories as one text for a prompt
    #[arg(long)]
    pack: bool,
    /// Maximum number of tokens of that text [default: 1000 for a simple question, 3000 for a complex one]
    #[arg(long, alias = "budget", value_name = "TOKENS")]
    budget_tokens: Option<usize>,
    /// How that text is written: markdown, bullets, messages or json
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Shorten memories that do not fit into the text instead of leaving them out
    #[arg(long, alias = "summarise")]
    summarize: bool,
    /// What --json returns for each memory of the text: full or bullets
    #[arg(long = "return", value_name = "SHAPE", value_parser = ["full", "bullets"], hide = true)]
    returns: Option<String>,
}

impl RecallArgs {
    /// The field `pack` of the body, if any of its flags is given.
    fn pack(&self) -> Option<Value> {
        let wanted = self.pack
            || self.budget_tokens.is_some()
            || self.format.is_some()
            || self.summarize
            || self.ask.after_revision.is_some();
        wanted.then(|| {
            let mut pack = Map::new();
            pack.extend(self.budget_tokens.map(|budget| ("budgetTokens".to_owned(), budget.into())));
            pack.extend(self.format.clone().map(|format| ("format".to_owned(), format.into())));
            if self.summarize {
                pack.insert("summarize".to_owned(), true.into());
            }
            pack.into()
        })
    }
}

/// What is printed if nothing was found.
const NO_ANSWER: &str = "No memory answers this. `loci list` lists all memories; `--threshold 0` shows the nearest.";

/// A result as the API returns it.
#[derive(Debug, Deserialize)]
struct Hit {
    memory: Memory,
    score: f64,
    newer: Option<NewerStatement>,
    explain: Option<Explanation>,
}

impl Hit {
    fn text(&self) -> String {
        loci_engine::shown(&self.memory, self.newer.as_ref())
    }
}

/// Asks, and prints what was found.
pub(crate) async fn run(context: &Context, args: RecallArgs) -> Result<()> {
    let pack = args.pack();
    if pack.is_some() {
        // The vocabulary is read while the model is loaded.
        std::thread::spawn(loci_engine::pack::tokens::prepare);
    }
    let further = |call: crate::api::Call| {
        call.field("strategy", &args.strategy).field("cursor", &args.cursor).field("pack", pack)
    };
    let (api, mut answer) = args.ask.ask(context, further).await?;
    if args.returns.as_deref() == Some("bullets") {
        answer["data"] = bullets(&answer)?.into();
    }
    print(context, &answer)?;
    // The answer is printed; counting it may wait for another process that writes.
    api.close().await;
    Ok(())
}

/// Prints an answer: as JSON, as the packed text, or as a list of results.
pub(crate) fn print(context: &Context, answer: &Value) -> Result<()> {
    if context.json {
        output::json(answer);
    } else if answer["pack"].is_object() {
        print_pack(answer);
    } else {
        print_hits(&serde_json::from_value::<Vec<Hit>>(answer["data"].clone())?, answer, context.now());
    }
    Ok(())
}

/// The memories of the packed text, each on one line.
fn bullets(answer: &Value) -> Result<Vec<Value>> {
    let cited = &answer["pack"]["cited"];
    let hits: Vec<Hit> = serde_json::from_value(answer["data"].clone())?;
    let cited = |hit: &&Hit| cited.as_array().is_some_and(|ids| ids.contains(&json!(hit.memory.id)));
    let bullet = |hit: &Hit| {
        let label = hit.memory.category.as_deref().unwrap_or_else(|| hit.memory.kind.name());
        let text = hit.text().split_whitespace().collect::<Vec<_>>().join(" ");
        json!({ "id": hit.memory.id, "category": hit.memory.category, "text": format!("[{label}] {text}") })
    };
    Ok(hits.iter().filter(cited).map(bullet).collect())
}

fn print_pack(answer: &Value) {
    let pack = &answer["pack"];
    match pack["text"].as_str().unwrap_or_default() {
        "" => output::note(NO_ANSWER),
        text => output::line(text),
    }
    let count = |name: &str| pack[name].as_array().map_or(0, Vec::len);
    output::note(&output::muted(&format!(
        "{} of {} tokens, {} {}, {} left out, revision {}",
        pack["tokens"],
        pack["budgetTokens"],
        count("cited"),
        if count("cited") == 1 { "memory" } else { "memories" },
        count("leftOut"),
        pack["revision"]
    )));
    print_warnings(answer);
}

/// Prints the hits, the best first.
fn print_hits(hits: &[Hit], answer: &Value, now: Timestamp) {
    print_warnings(answer);
    if hits.is_empty() {
        return output::line(NO_ANSWER);
    }
    let widest = hits.len().to_string().len();
    for (place, hit) in hits.iter().enumerate() {
        let indent = " ".repeat(widest + 3);
        let content = hit.text().lines().map(str::to_owned).collect::<Vec<_>>().join(&format!("\n{indent}"));
        output::line(&format!("{:>widest$}.  {}", place + 1, output::strong(&content)));
        output::line(&format!("{indent}{}", output::muted(&about(&hit.memory, Some(hit.score), now))));
    }
    if answer["answered"] == "unsure" {
        output::line(&output::muted("These are related, but may not answer the question."));
    }
    if hits.iter().any(|hit| hit.explain.is_some()) {
        output::line("");
        output::line(&explanation(hits));
    }
}

/// The most useful fields of a memory, on one line.
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

/// One line for each term of the score of each hit.
fn explanation(hits: &[Hit]) -> String {
    let lines = hits.iter().enumerate();
    let lines = lines.filter_map(|(place, hit)| Some(one_explanation(place + 1, hit, hit.explain.as_ref()?)));
    let lines: Vec<String> = lines.collect();
    let confidence = hits.first().and_then(|hit| hit.explain.as_ref()).map_or(1.0, |explain| explain.confidence);
    format!("confidence that these answer the question: {confidence:.2}\n\n{}", lines.join("\n\n"))
}

fn one_explanation(place: usize, hit: &Hit, explain: &Explanation) -> String {
    let terms = &explain.terms;
    let lanes: Vec<String> = explain.lanes.iter().map(|lane| format!("{} #{}", lane.lane, lane.rank)).collect();
    let mut lines = vec![
        format!("{place}. {}", shape::brief(&hit.text(), 60)),
        format!("found by   {}", if lanes.is_empty() { "being next to a hit".to_owned() } else { lanes.join(", ") }),
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
        lines.push(clues(explain));
    }
    let indent = "\n     ";
    lines.join(indent)
}

/// The clues of a hit, the strongest first, and which memories it overrides.
fn clues(explain: &Explanation) -> String {
    let mut clues: Vec<&ClueWeight> = explain.clues.iter().filter(|clue| clue.weight != 0.0).collect();
    clues.sort_by(|a, b| (b.value * b.weight).abs().total_cmp(&(a.value * a.weight).abs()));
    let terms: Vec<String> =
        clues.iter().map(|clue| format!("{} {:+.2}", clue.clue, clue.value * clue.weight)).collect();
    let mut line = format!("evidence   {:.2}: {}", explain.evidence, terms.join(", "));
    if explain.kind != 0.0 {
        line.push_str(&format!(", its kind {:+.2}", explain.kind));
    }
    if explain.lift != 0.0 {
        line.push_str(&format!(", lifted {:+.2} above what it replaces", explain.lift));
    }
    for id in &explain.overrides {
        line.push_str(&format!("\n      overrides {id}, which says the same"));
    }
    for id in &explain.sources {
        line.push_str(&format!("\n      learned from {id}"));
    }
    for related in &explain.related {
        line.push_str(&format!(
            "\n      {} {}: {}",
            related.relation,
            related.id.short(),
            shape::brief(&related.content, 60)
        ));
    }
    line
}
