//! `loci dev eval`: measures the quality of recall, learning and reconciling.
//!
//! Turns go through the product's own `ingest`, memories through its `remember`, and questions through its `recall`, with the
//! settings in force. Everything goes through the public API of the engine, with one configuration for all sets.

mod ablation;
mod corpus;
mod measure;
mod memories;
mod pairs;
mod set;
mod talk;
mod waiting;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use loci_models::Embedder;
use loci_types::Error;
use serde_json::{Value, json};

use self::measure::Measures;
use self::set::{Answer, EvalOptions, Set, Times};
use loci_host::output;
use loci_host::settings::Settings;

/// Which conversations and questions, and where the run goes.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  loci dev eval --corpus turns.jsonl --questions questions.jsonl --out run.jsonl
  loci dev eval --corpus a.jsonl --questions qa.jsonl --corpus b.jsonl --questions qb.jsonl --ablation quality.md

A corpus holds turns or memories (`loci dev eval memories --help`). Turns are stored when they were said, and the questions are \
asked the day after the last one. Several sets are measured one after the other with the same configuration; the run holds \
the answers of all."
)]
pub struct EvalArgs {
    #[command(subcommand)]
    other: Option<Other>,
    /// Turns, one JSON object a line: {conv, id, session, pos, date, speaker, text, caption?}; may be repeated
    #[arg(long, value_name = "FILE")]
    corpus: Vec<PathBuf>,
    /// Questions, one JSON object a line: {qid, conv, question, category?, evidence?}; one file for each corpus
    #[arg(long, value_name = "FILE")]
    questions: Vec<PathBuf>,
    /// Where the run is written, a line for each question: its qid and the ranked ids
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Ids to rank for each question
    #[arg(long, default_value_t = 20)]
    limit: usize,
    /// Store everything now, however long ago it was said
    #[arg(long)]
    fresh: bool,
    /// Keep the stores in this folder, and ask those that are there instead of making them anew
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Also write why each hit was ranked as it was, a line for each question
    #[arg(long, value_name = "FILE")]
    explain: Option<PathBuf>,
    /// Measure once more with each part switched off, and write a report in Markdown
    #[arg(long, value_name = "FILE")]
    ablation: Option<PathBuf>,
}

/// What can be measured beside recall.
#[derive(Debug, clap::Subcommand)]
enum Other {
    /// Measure what happens when a new text meets stored ones
    Pairs(pairs::PairsArgs),
    /// Measure whether questions find single memories of different ages
    Memories(memories::MemoriesArgs),
    /// Measure what is learned from conversations
    Talk(talk::TalkArgs),
}

/// Runs the questions and prints the measures.
pub async fn run(
    settings: &Settings,
    embedder: Option<Arc<dyn Embedder>>,
    args: EvalArgs,
    as_json: bool,
) -> Result<()> {
    match args.other {
        Some(Other::Pairs(args)) => return pairs::run(settings, embedder, args, as_json).await,
        Some(Other::Memories(args)) => return memories::run(settings, embedder, args, as_json).await,
        Some(Other::Talk(args)) => return talk::run(settings, embedder, args, as_json).await,
        None => {}
    }
    if args.corpus.is_empty() {
        return Err(Error::invalid("corpus", "no corpus is given")
            .hint("`loci dev eval --help` shows examples")
            .into());
    }
    if args.corpus.len() != args.questions.len() {
        let (corpora, questions) = (args.corpus.len(), args.questions.len());
        let problem = format!("{corpora} corpora are given, but {questions} files of questions");
        return Err(Error::invalid("questions", problem).hint("give --questions once for each --corpus").into());
    }
    let scratch = tempfile::tempdir()?;
    let stores = args.keep.clone().unwrap_or_else(|| scratch.path().to_owned());
    let mut sets = Vec::new();
    for (corpus, questions) in args.corpus.iter().zip(&args.questions) {
        let options = EvalOptions { fresh: args.fresh, ..EvalOptions::default() };
        sets.push(Set::read(corpus, questions, &stores, options)?);
    }
    let mut out = args.out.as_deref().map(create).transpose()?;
    let mut explained = args.explain.as_deref().map(create).transpose()?;
    let mut reports = Vec::new();
    for set in &mut sets {
        set.store(settings, embedder.clone()).await?;
        let (answers, times) = set.ask(settings, embedder.clone(), args.limit).await?;
        let measures = set.measure(&answers);
        write_run(&answers, out.as_mut(), explained.as_mut())?;
        if as_json {
            reports.push(json!({ "set": set.name, "measures": measures.table(), "speed": times.figures() }));
        } else {
            print(set, &measures, &times);
        }
    }
    if as_json {
        output::json(&Value::Array(reports));
    }
    if let Some(report) = &args.ablation {
        let text = ablation::report(settings, embedder, &sets, args.limit).await?;
        std::fs::write(report, text).with_context(|| format!("{} cannot be written", report.display()))?;
    }
    Ok(())
}

fn create(path: &Path) -> Result<std::io::BufWriter<std::fs::File>> {
    let file = std::fs::File::create(path).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(std::io::BufWriter::new(file))
}

fn write_run(
    answers: &[Answer],
    mut out: Option<&mut impl Write>,
    mut explained: Option<&mut impl Write>,
) -> Result<()> {
    for answer in answers {
        let ranked: Vec<&String> = answer.hits.iter().map(|(id, _)| id).collect();
        let scores: Vec<f64> = answer.hits.iter().map(|(_, hit)| hit.score).collect();
        if let Some(out) = &mut out {
            let (answered, confidence) = (answer.answered, answer.confidence);
            let line = json!({
                "qid": answer.qid, "ranked": ranked, "scores": scores, "answered": answered, "confidence": confidence,
            });
            writeln!(out, "{line}")?;
        }
        if let Some(explained) = &mut explained {
            let why = |(id, hit): &(String, loci_engine::RecallHit)| json!({ "id": id, "score": hit.score, "explain": hit.explain });
            let hits: Vec<Value> = answer.hits.iter().map(why).collect();
            writeln!(explained, "{}", json!({ "qid": answer.qid, "hits": hits, "degraded": answer.degraded }))?;
        }
    }
    if let Some(out) = &mut out {
        out.flush()?;
    }
    if let Some(explained) = &mut explained {
        explained.flush()?;
    }
    Ok(())
}

fn print(set: &Set, measures: &Measures, times: &Times) {
    output::line(&output::strong(&set.name));
    output::line(&measures.to_string());
    let speed = times.figures();
    let number = |path: &str| speed.pointer(path).and_then(Value::as_f64).unwrap_or(0.0);
    if number("/lines") > 0.0 {
        output::line(&format!(
            "stored {} lines, {:.0} a second; embedded {:.0} a second",
            number("/lines"),
            number("/storedPerSecond"),
            number("/embeddedPerSecond")
        ));
    }
    output::line(&format!(
        "recall p50 {:.1} ms, p95 {:.1} ms; with the question's embedding p50 {:.1} ms, p95 {:.1} ms\n",
        number("/recallMs/p50"),
        number("/recallMs/p95"),
        number("/withEmbeddingMs/p50"),
        number("/withEmbeddingMs/p95")
    ));
}
