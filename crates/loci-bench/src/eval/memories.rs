//! Measures recall of single memories of any age.
//!
//! Each memory is remembered for its user at the time it tells, and each question is asked for its user.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use loci_models::Embedder;
use serde_json::json;

use super::set::{EvalOptions, Set};
use super::{create, print, write_run};
use loci_host::output;
use loci_host::settings::Settings;

/// Which memories and questions, and where the run goes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loci dev eval memories --corpus facts.jsonl --questions questions.jsonl --out run.jsonl
  loci dev eval memories --corpus facts.jsonl --questions questions.jsonl --waiting

A run line is {\"qid\", \"ranked\": [ids], \"scores\", \"answered\": yes | unsure | no, \"confidence\"}.")]
pub(super) struct MemoriesArgs {
    /// Memories, one JSON object a line: {id, user, text, createdDaysAgo}
    #[arg(long, value_name = "FILE")]
    corpus: PathBuf,
    /// Questions, one JSON object a line: {qid, user, question, category?, evidence?, stale?}
    #[arg(long, value_name = "FILE")]
    questions: PathBuf,
    /// Where the run is written, a line for each question
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also write why each hit was ranked as it was, a line for each question
    #[arg(long, value_name = "FILE")]
    explain: Option<PathBuf>,
    /// Ids to rank for each question
    #[arg(long, default_value_t = 10)]
    limit: usize,
    /// Keep the store in this folder, and ask what is there instead of making it anew
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Store everything now, however old it is
    #[arg(long)]
    fresh: bool,
    /// Store every memory beside what is known, without comparing them
    #[arg(long)]
    as_is: bool,
    /// Leave the memories that answer a question without their vectors
    #[arg(long)]
    waiting: bool,
    /// Number of times that all questions are asked first, which counts their results as used
    #[arg(long, value_name = "TIMES", default_value_t = 0)]
    repeat: usize,
}

/// Stores the memories, asks the questions and prints the measures.
pub(super) async fn run(
    settings: &Settings,
    embedder: Option<Arc<dyn Embedder>>,
    args: MemoriesArgs,
    as_json: bool,
) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let stores = args.keep.unwrap_or_else(|| scratch.path().to_owned());
    let options = EvalOptions { fresh: args.fresh, as_is: args.as_is, waiting: args.waiting, repeat: args.repeat };
    let mut set = Set::read(&args.corpus, &args.questions, &stores, options)?;
    let mut out = args.out.as_deref().map(create).transpose()?;
    let mut explained = args.explain.as_deref().map(create).transpose()?;
    set.store(settings, embedder.clone()).await?;
    let (answers, times) = set.ask(settings, embedder, args.limit).await?;
    let measures = set.measure(&answers);
    write_run(&answers, out.as_mut(), explained.as_mut())?;
    if let Some(out) = &mut out {
        out.flush()?;
    }
    if as_json {
        output::json(&json!({ "set": set.name, "measures": measures.table(), "speed": times.figures() }));
    } else {
        print(&set, &measures, &times);
    }
    Ok(())
}
