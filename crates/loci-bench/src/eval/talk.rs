//! Measures what is learned from conversations.
//!
//! Each conversation is a user and a thread of its own. Its turns are ingested in order, with role, actor and time; each of
//! its sessions is ended and learned from before the next. What is learned and visible by default is written down as it is
//! shown, with the turns it comes from.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use jiff::Timestamp;
use loci_engine::{Caller, ConsolidationReport, Engine, ListRequest, Turn, shown};
use loci_models::Embedder;
use loci_types::{Filter, Identifiers, Memory, MemoryId, Relation};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{corpus, create};
use loci_host::settings::Settings;
use loci_host::{output, wiring};

/// Which turns, and where the run goes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loci dev eval talk --turns talk.jsonl --out run.jsonl

A run line is {\"conv\", \"id\", \"kind\", \"text\", \"turns\": [pos]} for everything that is learned and visible.")]
pub(super) struct TalkArgs {
    /// Turns, one JSON object a line: {conv, session, pos, time, role, actor, text}
    #[arg(long, value_name = "FILE")]
    turns: PathBuf,
    /// Where the run is written, one line for each learned memory
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Deserialize)]
struct TalkLine {
    conv: String,
    session: Value,
    pos: u64,
    time: Timestamp,
    role: Option<String>,
    actor: Option<String>,
    text: String,
}

/// Learns from every conversation and writes down what was learned.
pub(super) async fn run(
    settings: &Settings,
    embedder: Option<Arc<dyn Embedder>>,
    args: TalkArgs,
    as_json: bool,
) -> Result<()> {
    let lines: Vec<TalkLine> = corpus::read(&args.turns)?;
    let mut out = create(&args.out)?;
    let folder = tempfile::tempdir()?;
    let engine = wiring::engine(settings, folder.path(), embedder, Arc::new(loci_engine::System)).await?;
    let mut conversations: Vec<&str> = lines.iter().map(|line| line.conv.as_str()).collect();
    conversations.dedup();
    let progress = output::progress(lines.len() as u64, "turns");
    let (mut learned, mut kept) = (Vec::<ConsolidationReport>::new(), 0);
    for conversation in &conversations {
        let turns: Vec<&TalkLine> = lines.iter().filter(|line| line.conv == *conversation).collect();
        for session in turns.chunk_by(|a, b| a.session == b.session) {
            let name = session_name(session[0]);
            for line in session {
                engine.ingest(&caller(conversation, Some(&name)), turn(line)).await?;
                progress.inc(1);
            }
            engine.end_session(&caller(conversation, None), &name).await?;
            let worked = engine.work(&Caller::operator(), &[], 1_000).await?;
            learned.push(worked.learned);
            while engine.embed_waiting(&Caller::operator(), 1_024).await? > 0 {}
        }
        for value in found(&engine, conversation).await? {
            writeln!(out, "{value}")?;
            kept += 1;
        }
    }
    progress.finish_and_clear();
    out.flush()?;
    let missed: Vec<&String> = learned.iter().flat_map(|one| &one.missed).collect();
    let proposed: usize = learned.iter().map(|one| one.proposed).sum();
    let summary =
        json!({ "turns": lines.len(), "learned": kept, "proposed": proposed, "missed": missed, "out": args.out });
    let text = format!(
        "{kept} memories learned from {} turns, {proposed} wait for consent, {} requests missed",
        lines.len(),
        missed.len()
    );
    if as_json {
        output::json(&summary);
    } else {
        output::line(&text);
    }
    Ok(())
}

fn session_name(line: &TalkLine) -> String {
    match &line.session {
        Value::String(text) => text.clone(),
        other => format!("s{other}"),
    }
}

fn turn(line: &TalkLine) -> Turn {
    Turn {
        thread_id: line.conv.clone(),
        content: line.text.clone(),
        actor_id: line.actor.clone(),
        role: line.role.clone(),
        event_time: Some(line.time),
        reference: Some(line.pos.to_string()),
        ..Turn::default()
    }
}

/// What is learned and visible, with the positions of its turns.
async fn found(engine: &Engine, conversation: &str) -> Result<Vec<Value>> {
    let caller = caller(conversation, None);
    let (types, roles) = (vec!["distillation".to_owned()], vec!["memory_agent".to_owned()]);
    let filter = Filter { source_types: types, source_roles: roles, ..Filter::at(engine.now()) };
    let mut memories: Vec<Memory> = Vec::new();
    let mut cursor = None;
    loop {
        let request = ListRequest { filter: Some(filter.clone()), limit: Some(100), cursor, ..ListRequest::default() };
        let page = engine.list(&caller, request).await?;
        memories.extend(page.memories);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    memories.sort_by_key(|memory| (memory.when_said(), memory.id));
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let newer = engine.newer(&caller, &ids).await?;
    let mut found = Vec::new();
    for memory in &memories {
        let edges = engine.edges(&caller, memory.id, &[Relation::DerivedFrom]).await?;
        let mut turns = Vec::new();
        for edge in edges.iter().filter(|edge| edge.source_id == memory.id) {
            let turn = engine.get(&caller, edge.target_id).await?;
            let reference = turn.source.and_then(|source| source.reference);
            turns.extend(reference.and_then(|reference| reference.parse::<u64>().ok()));
        }
        turns.sort_unstable();
        let text = shown(memory, newer.get(&memory.id));
        found.push(json!({
            "conv": conversation, "id": memory.id, "kind": memory.kind.name(), "text": text, "turns": turns,
        }));
    }
    Ok(found)
}

fn caller(conversation: &str, session: Option<&str>) -> Caller {
    Caller::new(Identifiers {
        user_id: Some(conversation.to_owned()),
        session_id: session.map(str::to_owned),
        ..Identifiers::default()
    })
}
