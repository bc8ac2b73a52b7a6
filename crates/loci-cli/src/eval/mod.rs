//! How well does recall find what it should?
//!
//! Each conversation goes into a fresh scratch store through the product's own `ingest`, and each
//! of its questions through the product's own `recall`, with the settings in force. There is no
//! path here that a user would not take.

mod corpus;
mod measure;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use loci_engine::{Caller, Engine, RecallHit, RecallRequest};
use loci_models::{Detail, Embedder};
use loci_types::Identifiers;
use serde_json::json;

use self::corpus::{Line, Question};
use self::measure::Measures;
use crate::settings::Settings;
use crate::wiring;

/// Which conversations and questions, and where the run goes.
#[derive(Debug, clap::Args)]
pub(crate) struct EvalArgs {
    /// Turns, one JSON object a line: {conv, id, session, pos, date, speaker, text, caption?}
    #[arg(long, value_name = "FILE")]
    corpus: PathBuf,
    /// Questions, one JSON object a line: {qid, conv, question, category?, evidence?}
    #[arg(long, value_name = "FILE")]
    questions: PathBuf,
    /// Where the run is written, a line for each question: its qid and the ranked ids
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Ids to rank for each question
    #[arg(long, default_value_t = 20)]
    limit: usize,
    /// Keep the stores in this folder, and ask those that are there instead of making them anew
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Also write why each hit was ranked as it was, a line for each question
    #[arg(long, value_name = "FILE")]
    explain: Option<PathBuf>,
}

/// How long things took.
#[derive(Default)]
struct Times {
    turns: usize,
    ingest: Duration,
    embed: Duration,
    query_embeddings: Vec<f64>,
    recalls: Vec<f64>,
}

/// Runs the questions and prints the measures.
pub(crate) async fn run(
    settings: &Settings,
    embedder: Option<Arc<dyn Embedder>>,
    args: EvalArgs,
    as_json: bool,
) -> Result<()> {
    let corpus: Vec<Line> = corpus::read(&args.corpus)?;
    let questions: Vec<Question> = corpus::read(&args.questions)?;
    let mut conversations: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    for line in &corpus {
        conversations.entry(&line.conv).or_default().push(line);
    }
    let file = std::fs::File::create(&args.out).with_context(|| format!("{} cannot be written", args.out.display()))?;
    let mut out = std::io::BufWriter::new(file);
    let mut explained = match &args.explain {
        Some(path) => Some(std::io::BufWriter::new(
            std::fs::File::create(path).with_context(|| format!("{} cannot be written", path.display()))?,
        )),
        None => None,
    };
    let (mut measures, mut times) = (Measures::default(), Times::default());
    let progress = crate::output::progress(questions.len() as u64, "questions");
    let asked: BTreeSet<&str> = conversations.keys().copied().collect();
    for (conversation, lines) in conversations {
        let scratch = tempfile::tempdir()?;
        let folder = args.keep.as_ref().map_or_else(|| scratch.path().to_owned(), |keep| keep.join(conversation));
        let known = folder.join("catalogue.db").exists();
        let engine = scratch_engine(settings, &folder, embedder.clone())?;
        if !known {
            ingest(&engine, conversation, &lines, &mut times).await?;
        }
        for question in questions.iter().filter(|question| question.conv == conversation) {
            let hits = ask(&engine, embedder.as_deref(), conversation, question, args.limit, &mut times).await?;
            if let Some(explained) = &mut explained {
                let why: Vec<_> = hits.iter().map(|(id, hit)| json!({ "id": id, "score": hit.score, "explain": hit.explain })).collect();
                writeln!(explained, "{}", json!({ "qid": question.qid, "hits": why }))?;
            }
            let ranked: Vec<String> = hits.into_iter().map(|(id, _)| id).collect();
            writeln!(out, "{}", json!({ "qid": question.qid, "ranked": ranked }))?;
            measures.add(question, &ranked);
            progress.inc(1);
        }
        engine.flush().await;
    }
    // A question about a conversation that is not there finds nothing, and counts as that.
    for question in questions.iter().filter(|question| !asked.contains(question.conv.as_str())) {
        writeln!(out, "{}", json!({ "qid": question.qid, "ranked": [] }))?;
        measures.add(question, &[]);
    }
    out.flush()?;
    if let Some(mut explained) = explained {
        explained.flush()?;
    }
    progress.finish_and_clear();
    report(&measures, &mut times, as_json);
    Ok(())
}

fn scratch_engine(settings: &Settings, folder: &Path, embedder: Option<Arc<dyn Embedder>>) -> Result<Engine> {
    Ok(wiring::engine(settings, folder, embedder, Arc::new(loci_engine::System))?)
}

fn caller(conversation: &str, session: Option<String>) -> Caller {
    Caller::new(Identifiers {
        agent_id: Some("eval".to_owned()),
        user_id: Some(conversation.to_owned()),
        session_id: session,
        ..Identifiers::default()
    })
}

async fn ingest(engine: &Engine, conversation: &str, lines: &[&Line], times: &mut Times) -> Result<()> {
    let start = Instant::now();
    for line in lines {
        engine.ingest(&caller(conversation, Some(line.session())), line.turn()).await?;
    }
    times.ingest += start.elapsed();
    times.turns += lines.len();
    let start = Instant::now();
    while engine.embed_waiting(&Caller::operator(), 1024).await? > 0 {}
    times.embed += start.elapsed();
    Ok(())
}

/// The ids that recall ranks, each once: a long turn may lie in several pieces.
async fn ask(
    engine: &Engine,
    embedder: Option<&dyn Embedder>,
    conversation: &str,
    question: &Question,
    limit: usize,
    times: &mut Times,
) -> Result<Vec<(String, RecallHit)>> {
    if let Some(embedder) = embedder {
        // Into the cache, so that the time of recall is seen without the model's.
        let start = Instant::now();
        embedder.embed(std::slice::from_ref(&question.question), Detail::Tokens).await?;
        times.query_embeddings.push(start.elapsed().as_secs_f64() * 1e3);
    }
    // Questions are independent of each other: asking one must not change the answer to the next.
    let request = RecallRequest {
        query: question.question.clone(),
        limit: Some(limit),
        uncounted: true,
        ..RecallRequest::default()
    };
    let start = Instant::now();
    let recall = engine.recall(&caller(conversation, None), request).await?;
    times.recalls.push(start.elapsed().as_secs_f64() * 1e3);
    let mut ranked: Vec<(String, RecallHit)> = Vec::with_capacity(limit);
    for hit in recall.hits {
        let Some(id) = hit.memory.source.as_ref().and_then(|source| source.reference.clone()) else { continue };
        if !ranked.iter().any(|(known, _)| *known == id) {
            ranked.push((id, hit));
        }
    }
    Ok(ranked)
}

fn report(measures: &Measures, times: &mut Times, as_json: bool) {
    let mut whole = times.recalls.clone();
    for (whole, embedding) in whole.iter_mut().zip(&times.query_embeddings) {
        *whole += embedding;
    }
    whole.sort_by(f64::total_cmp);
    times.recalls.sort_by(f64::total_cmp);
    let at = |sorted: &[f64], share: f64| sorted.get((sorted.len() as f64 * share) as usize).copied().unwrap_or(0.0);
    let speed = json!({
        "turns": times.turns,
        "ingestPerSecond": times.turns as f64 / times.ingest.as_secs_f64().max(1e-9),
        "embedPerSecond": times.turns as f64 / times.embed.as_secs_f64().max(1e-9),
        "recallMs": { "p50": at(&times.recalls, 0.5), "p95": at(&times.recalls, 0.95) },
        "withEmbeddingMs": { "p50": at(&whole, 0.5), "p95": at(&whole, 0.95) },
    });
    if as_json {
        crate::output::line(&json!({ "measures": measures.table(), "speed": speed }).to_string());
        return;
    }
    crate::output::line(&measures.to_string());
    crate::output::line(&format!(
        "ingested {} turns, {:.0} a second; embedded {:.0} a second\nrecall p50 {:.1} ms, p95 {:.1} ms; with the question's embedding p50 {:.1} ms, p95 {:.1} ms",
        times.turns,
        speed["ingestPerSecond"].as_f64().unwrap_or(0.0),
        speed["embedPerSecond"].as_f64().unwrap_or(0.0),
        at(&times.recalls, 0.5),
        at(&times.recalls, 0.95),
        at(&whole, 0.5),
        at(&whole, 0.95),
    ));
}
