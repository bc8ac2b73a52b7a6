//! Measures how a new text is reconciled with stored ones.
//!
//! Each line is a user of its own. The known texts and then the new one are remembered as an agent would; what is visible by
//! default, what went to the history and what was linked is written down.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use loci_engine::{Caller, Engine, ListRequest, MaintainRequest, NewMemory};
use loci_models::Embedder;
use loci_types::{Filter, Identifiers, Memory, Relation};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{corpus, create};
use loci_host::settings::Settings;
use loci_host::{output, wiring};

/// Which pairs, and where the run goes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loci dev eval pairs --pairs reconcile.jsonl --out run.jsonl
  loci dev eval pairs --pairs reconcile.jsonl --out run.jsonl --night

A run line is {\"id\", \"event\", \"visible\": [texts], \"history\": [texts], \"linked\": [[new, known], …]}.")]
pub(super) struct PairsArgs {
    /// Pairs, one JSON object a line: {id, known, new}, where `known` is a list of texts
    #[arg(long, value_name = "FILE")]
    pairs: PathBuf,
    /// Where the run is written, one line for each pair
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Run maintenance once before looking
    #[arg(long)]
    night: bool,
}

#[derive(Debug, Deserialize)]
struct Pair {
    id: String,
    known: Vec<String>,
    new: String,
}

/// Remembers every pair and writes down what became of it.
pub(super) async fn run(
    settings: &Settings,
    embedder: Option<Arc<dyn Embedder>>,
    args: PairsArgs,
    as_json: bool,
) -> Result<()> {
    let pairs: Vec<Pair> = corpus::read(&args.pairs)?;
    let mut out = create(&args.out)?;
    let folder = tempfile::tempdir()?;
    let engine = wiring::engine(settings, folder.path(), embedder, Arc::new(loci_engine::System)).await?;
    let progress = output::progress(pairs.len() as u64, "pairs");
    let mut events = Vec::new();
    for pair in &pairs {
        let caller = caller(&pair.id);
        let mut event = Value::Null;
        for text in pair.known.iter().chain([&pair.new]) {
            let new = NewMemory { content: text.clone(), ..NewMemory::default() };
            event = json!(engine.remember(&caller, new).await?.event);
        }
        events.push(event);
        progress.inc(1);
    }
    progress.finish_and_clear();
    if args.night {
        engine.maintain(&Caller::operator(), MaintainRequest::default(), |_| {}).await?;
    }
    for (pair, event) in pairs.iter().zip(events) {
        writeln!(out, "{}", line(&engine, pair, &event).await?)?;
    }
    out.flush()?;
    let summary = json!({ "pairs": pairs.len(), "out": args.out, "night": args.night });
    if as_json {
        output::json(&summary);
    } else {
        output::line(&format!("{} pairs written to {}", pairs.len(), args.out.display()));
    }
    Ok(())
}

async fn line(engine: &Engine, pair: &Pair, event: &Value) -> Result<Value> {
    let caller = caller(&pair.id);
    let list = async |filter: Filter| -> Result<Vec<Memory>> {
        let request = ListRequest { filter: Some(filter), limit: Some(100), ..ListRequest::default() };
        Ok(engine.list(&caller, request).await?.memories)
    };
    let visible = list(Filter::at(engine.now())).await?;
    let mut history = list(Filter::everything(engine.now())).await?;
    history.retain(|memory| visible.iter().all(|seen| seen.id != memory.id));
    let mut linked = Vec::new();
    for memory in &visible {
        for edge in engine.edges(&caller, memory.id, &[Relation::MayContradict]).await? {
            if edge.source_id == memory.id
                && let Some(known) = visible.iter().find(|known| known.id == edge.target_id)
            {
                linked.push(json!([memory.content, known.content]));
            }
        }
    }
    let texts = |memories: &[Memory]| memories.iter().map(|memory| memory.content.clone()).collect::<Vec<_>>();
    Ok(json!({
        "id": pair.id, "event": event, "visible": texts(&visible), "history": texts(&history), "linked": linked,
    }))
}

fn caller(user: &str) -> Caller {
    Caller::new(Identifiers { user_id: Some(user.to_owned()), ..Identifiers::default() })
}
