//! The contribution of each part of recall.
//!
//! The same questions again with one part switched off at a time. The report says what recall loses
//! and what the part costs in time and in bytes.

use std::fmt::Write;
use std::sync::Arc;

use anyhow::Result;
use loci_engine::{Clue, Weights};
use loci_models::Embedder;

use super::set::Set;
use loci_host::settings::Settings;

/// A part of recall.
struct Part {
    name: &'static str,
    off: fn(&mut Settings),
    /// Whether it needs no model either.
    without_model: bool,
}

const PARTS: &[Part] = &[
    Part { name: "everything on", off: |_| {}, without_model: false },
    Part {
        name: "late interaction",
        off: |settings| settings.retrieval.late_interaction = false,
        without_model: false,
    },
    Part { name: "sentence vectors", off: |settings| silence(settings, &[Clue::Meaning]), without_model: false },
    Part { name: "words (BM25, pairs)", off: |settings| silence(settings, WORDS), without_model: false },
    Part { name: "speaker", off: |settings| silence(settings, &[Clue::Speaker]), without_model: false },
    Part { name: "role", off: |settings| silence(settings, &[Clue::Role]), without_model: false },
    Part { name: "dates", off: |settings| silence(settings, &[Clue::Date]), without_model: false },
    Part { name: "when and how many", off: |settings| silence(settings, &[Clue::Tells]), without_model: false },
    Part { name: "questions count less", off: |settings| silence(settings, &[Clue::Asks]), without_model: false },
    Part { name: "what lasts counts more", off: |settings| silence(settings, &[Clue::Lasting]), without_model: false },
    Part { name: "graph", off: |settings| silence(settings, &[Clue::Graph]), without_model: false },
    Part { name: "recency and utility", off: relevance_alone, without_model: false },
    Part { name: "the model (words alone)", off: |_| {}, without_model: true },
];

const WORDS: &[Clue] = &[Clue::Words, Clue::Asked, Clue::Pairs];

fn silence(settings: &mut Settings, clues: &[Clue]) {
    for clue in clues {
        settings.retrieval.clues.insert(*clue, 0.0);
    }
}

fn relevance_alone(settings: &mut Settings) {
    settings.retrieval.weights = Weights { similarity: 1.0, recency: 0.0, utility: 0.0 };
}

/// Measures every part and writes the report.
pub(super) async fn report(
    settings: &Settings,
    embedder: Option<Arc<dyn Embedder>>,
    sets: &[Set],
    limit: usize,
) -> Result<String> {
    let mut text = String::from(HEAD);
    for set in sets {
        let (answers, _) = set.ask(settings, embedder.clone(), limit).await?;
        let measures = set.measure(&answers);
        let cell = |name: &str| {
            let (low, high) = measures.interval(name);
            format!("{:.3} ({low:.3}–{high:.3})", measures.mean(name))
        };
        let refused = measures.refused().map_or_else(String::new, |share| format!("{share:.2}"));
        let (count, name) = (measures.count(), &set.name);
        let cells: Vec<String> = ["hit@1", "hit@5", "recall@10", "ndcg@10"].into_iter().map(cell).collect();
        writeln!(text, "| {name} | {count} | {} | {refused} |", cells.join(" | "))?;
    }
    text.push_str(PARTS_HEAD);
    for set in sets {
        write!(text, " {} | | |", set.name)?;
    }
    text.push('\n');
    text.push_str("|---|");
    sets.iter().for_each(|_| text.push_str("---|---|---|"));
    text.push_str("\n| |");
    sets.iter().for_each(|_| text.push_str(" hit@1 | R@10 | recall p50 |"));
    text.push('\n');
    for part in PARTS {
        let mut changed = settings.clone();
        (part.off)(&mut changed);
        let model = embedder.clone().filter(|_| !part.without_model);
        write!(text, "| {}{} |", if part.name == PARTS[0].name { "" } else { "without " }, part.name)?;
        for set in sets {
            let (answers, times) = set.ask(&changed, model.clone(), limit).await?;
            let measures = set.measure(&answers);
            let (first, ten) = (measures.mean("hit@1"), measures.mean("recall@10"));
            write!(text, " {first:.3} | {ten:.3} | {:.1} ms |", times.median())?;
        }
        text.push('\n');
    }
    text.push_str("\n## Bytes a turn\n\n| | vector | token states |\n|---|---|---|\n");
    for set in sets {
        let (vector, states) = set.bytes(settings, embedder.clone()).await?;
        writeln!(text, "| {} | {vector:.0} | {states:.0} |", set.name)?;
    }
    text.push_str(CLUES);
    for clue in Clue::ALL {
        let (long, short) = clue.weight();
        let more = if short == 0.0 {
            String::new()
        } else {
            format!(" {} {} / tokens", if short < 0.0 { "-" } else { "+" }, short.abs())
        };
        writeln!(text, "| `{clue}` | {} | {long}{more} |", clue.about())?;
    }
    Ok(text)
}

const HEAD: &str = "# How well recall finds

This page is written by a command; run it on memories and conversations of your own:

<!-- Not run: it needs labelled conversations and takes minutes. -->
```sh no-run
loci dev eval --corpus A/corpus.jsonl --questions A/questions.jsonl \\
              --corpus B/corpus.jsonl --questions B/questions.jsonl --ablation docs/quality.md
```

Every turn and every memory is stored at its own time, and the questions are asked the day after the last turn, or today for
memories that give their age. Each conversation has its own store; memories of several users share one. Hit@k:
all of a question's evidence is among the first k, at 1 one of it is first, and before what it replaced. R@10 is the share of
the evidence among the first ten. Means are over questions that have evidence, with the interval of 95 in 100 resamplings of
the questions. `refused` is the share of questions that nothing answers and that got no answer. One configuration, the
default, serves all sets.

| | questions | hit@1 | hit@5 | R@10 | nDCG@10 | refused |
|---|---|---|---|---|---|---|
";

const PARTS_HEAD: &str = "
## Each part switched off

Times are of a whole recall on a shared machine, without encoding the question: read them against each other and not alone.

| |";

const CLUES: &str = "
Token states are four bits for each of 128 dimensions, 64 bytes for every token that says something; switch them off
with `retrieval.late_interaction = false` in `loci.toml`. Evidence without them costs no bytes beside the words and
the vector.

## The clues

Evidence is the weighted sum of these; `loci recall --explain` shows them for every hit. `[retrieval.clues]` in `loci.toml`
changes a weight.

| clue | what it says | weight |
|---|---|---|
";
