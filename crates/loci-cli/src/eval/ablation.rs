//! What is each part worth?
//!
//! The same questions again with one part switched off at a time. The report says what recall loses
//! and what the part costs in time and in bytes.

use std::fmt::Write;
use std::sync::Arc;

use anyhow::Result;
use loci_engine::{Clue, Weights};
use loci_models::Embedder;

use super::set::Set;
use crate::settings::Settings;

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
    Part { name: "sentence vectors as evidence", off: |settings| silence(settings, SENTENCE), without_model: false },
    Part { name: "words (BM25, pairs)", off: |settings| silence(settings, WORDS), without_model: false },
    Part { name: "neighbours and session", off: |settings| silence(settings, SURROUNDINGS), without_model: false },
    Part { name: "speaker", off: |settings| silence(settings, &[Clue::Speaker]), without_model: false },
    Part { name: "role", off: |settings| silence(settings, ROLE), without_model: false },
    Part { name: "dates", off: |settings| silence(settings, &[Clue::Date]), without_model: false },
    Part {
        name: "when and how many",
        off: |settings| silence(settings, &[Clue::When, Clue::Count]),
        without_model: false,
    },
    Part { name: "questions count less", off: |settings| silence(settings, &[Clue::Asks]), without_model: false },
    Part { name: "graph", off: |settings| silence(settings, &[Clue::Graph]), without_model: false },
    Part { name: "recency and utility", off: relevance_alone, without_model: false },
    Part { name: "the model (words alone)", off: |_| {}, without_model: true },
];

const SENTENCE: &[Clue] = &[Clue::Meaning, Clue::Context, Clue::Around];
const WORDS: &[Clue] = &[Clue::Words, Clue::Own, Clue::Brief, Clue::Spelling, Clue::Coverage, Clue::Pairs];
const SURROUNDINGS: &[Clue] = &[
    Clue::Near,
    Clue::Wide,
    Clue::Session,
    Clue::Context,
    Clue::Around,
    Clue::TokensNear,
    Clue::TokensWide,
    Clue::TokensSession,
];
const ROLE: &[Clue] = &[Clue::Role, Clue::Addressed, Clue::Summary, Clue::Order];

fn silence(settings: &mut Settings, clues: &[Clue]) {
    for clue in clues {
        settings.retrieval.clues.insert(*clue, 0.0);
        settings.retrieval.clues_without_tokens.insert(*clue, 0.0);
    }
}

fn relevance_alone(settings: &mut Settings) {
    settings.retrieval.weights = Weights { similarity: 1.0, recency: 0.0, utility: 0.0 };
    settings.retrieval.score_threshold = 0.0;
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
        write!(text, " {} | | |", set.name)?;
    }
    text.push('\n');
    text.push_str("|---|");
    sets.iter().for_each(|_| text.push_str("---|---|---|"));
    text.push_str("\n| |");
    sets.iter().for_each(|_| text.push_str(" R@10 | nDCG@10 | recall p50 |"));
    text.push('\n');
    for part in PARTS {
        let mut changed = settings.clone();
        (part.off)(&mut changed);
        let model = embedder.clone().filter(|_| !part.without_model);
        write!(text, "| {}{} |", if part.name == PARTS[0].name { "" } else { "without " }, part.name)?;
        for set in sets {
            let (answers, times) = set.ask(&changed, model.clone(), limit).await?;
            let table = set.measure(&answers).table();
            let mean = |name: &str| table["ALL"][name].as_f64().unwrap_or(0.0);
            write!(text, " {:.3} | {:.3} | {:.1} ms |", mean("recall@10"), mean("ndcg@10"), times.median())?;
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
        writeln!(
            text,
            "| `{clue}` | {} | {} | {} |",
            clue.about(),
            clue.weight_with_tokens(),
            clue.weight_without_tokens()
        )?;
    }
    Ok(text)
}

const HEAD: &str = "# How well recall finds

This page is written by a command; run it on conversations of your own:

```sh
loci eval --corpus A/corpus.jsonl --questions A/questions.jsonl \\
          --corpus B/corpus.jsonl --questions B/questions.jsonl --ablation docs/quality.md
```

Each conversation lies in a store of its own; the unit is one turn; R@10 is the share of a question's evidence among
the first ten hits, averaged over questions that have evidence. One configuration, the default, serves all sets. Each
row switches one part off. Times are of a whole recall on a shared machine, without encoding the question: read them
against each other and not alone.

## Each part switched off

| |";

const CLUES: &str = "
Token states are four bits for each of 128 dimensions, 64 bytes for every token that says something; switch them off
with `retrieval.late_interaction = false` in `loci.toml`. Evidence without them costs no bytes beside the words and
the vector.

## The clues

Evidence is the weighted sum of these; `loci recall --explain` shows them for every hit. `[retrieval.clues]` changes a
weight where token states can be compared, `[retrieval.clues_without_tokens]` where words and perhaps sentence vectors
are all there is: without a model, or with one behind an endpoint that tells no token states.

| clue | what it says | weight | without tokens |
|---|---|---|---|
";
