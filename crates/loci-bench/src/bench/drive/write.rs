//! The cost of writing.
//!
//! Everything but `load` goes through the verbs of the engine, one call per memory, and is durable when the call
//! returns. `load` goes through the store's own door with many changes at once.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt};
use jiff::Timestamp;
use loci_engine::{Engine, Update};
use loci_types::{Action, Addition, Batch, Change, Layer, Memory, MemoryId, Provenance, Scope, Tenant};
use serde_json::{Value, json};
use uuid::Uuid;

use super::data::Row;
use super::given::Given;
use super::look;
use super::spent::Spent;
use super::worker::{NUMBER, Opened, caller, identifiers, new_memory};
use crate::bench::data;
use crate::bench::meter::Sample;

/// Number of changes in one transaction of a load.
const TOGETHER: usize = 2_000;
/// Number of transactions in progress: one is written while the next is read.
const ON_THE_WAY: usize = 2;

/// Loads in bulk.
pub(super) async fn load(opened: &Opened, span: Range<u64>) -> Result<Value> {
    let mut rows = opened.data.memories(span)?;
    let spent = Spent::begin();
    let at = opened.engine.now();
    let batches = std::iter::from_fn(|| {
        let rows: Result<Vec<Row>> = rows.by_ref().take(TOGETHER).collect();
        rows.map(|rows| (!rows.is_empty()).then_some(rows)).transpose()
    });
    futures::stream::iter(batches)
        .map(|rows| async {
            let changes = rows?.into_iter().map(|row| change(row, at)).collect();
            let space = Scope::new(Layer::Agent, &identifiers("any"))?.space();
            opened.store.apply(Batch { tenant: Tenant::default(), space, changes }).await?;
            anyhow::Ok(())
        })
        .buffered(ON_THE_WAY)
        .try_for_each(|()| async { Ok(()) })
        .await?;
    Ok(spent.figures())
}

fn change(row: Row, at: Timestamp) -> Change {
    let vector = Given::vector(&row);
    let mut metadata = serde_json::Map::new();
    metadata.insert(NUMBER.to_owned(), row.number.into());
    let memory = Memory {
        id: loaded_id(row.number, at),
        identifiers: identifiers(&row.user),
        content_hash: loci_engine::content_hash(&row.text),
        tokens: loci_engine::estimate_tokens(&row.text),
        content: row.text,
        metadata,
        ..data::memory(0, row.number, at)
    };
    let addition = Addition { unless: Some(memory.content_hash), vector: Some(vector), ..Addition::new(memory) };
    Change {
        action: Action::Add(Box::new(addition)),
        reason: "bench".to_owned(),
        provenance: Provenance::default(),
        at,
    }
}

/// An id of the moment that is larger for larger numbers.
fn loaded_id(number: u64, at: Timestamp) -> MemoryId {
    let milliseconds = u128::from(at.as_millisecond().unsigned_abs());
    MemoryId(Uuid::from_u128((milliseconds << 80) | (0x7 << 76) | (0x2 << 62) | u128::from(number)))
}

/// Adds one by one, by several callers at once.
pub(super) async fn add(opened: &Opened, span: Range<u64>, callers: usize, vectors: bool) -> Result<Value> {
    anyhow::ensure!(callers > 0, "nobody calls");
    let mut shares: Vec<Vec<Row>> = (0..callers).map(|_| Vec::new()).collect();
    for (place, row) in opened.data.memories(span)?.enumerate() {
        let row = row?;
        if vectors {
            opened.given.give(&row.text, &row.vector);
        }
        shares[place % callers].push(row);
    }
    let engine = if vectors { &opened.engine } else { &opened.wordy };
    let spent = Spent::begin();
    let mut sample = Sample::default();
    // Whoever calls does so from a task of the runtime, as a server's requests do.
    let tasks: Vec<_> = shares.into_iter().map(|rows| tokio::spawn(one_by_one(engine.clone(), rows))).collect();
    for task in tasks {
        sample.take(task.await??);
    }
    let figures = spent.with(&mut sample);
    opened.given.clear();
    Ok(figures)
}

async fn one_by_one(engine: Arc<Engine>, rows: Vec<Row>) -> Result<Sample> {
    let mut sample = Sample::default();
    for row in &rows {
        let (caller, new) = (caller(&row.user), new_memory(row));
        let start = Instant::now();
        engine.remember(&caller, new).await?;
        sample.add(start.elapsed());
    }
    Ok(sample)
}

/// Adds one by one and says so after each, until someone kills the process or nothing is left.
pub(super) async fn acknowledge(opened: &Opened, span: Range<u64>) -> Result<Value> {
    for row in opened.data.memories(span)? {
        let row = row?;
        opened.given.give(&row.text, &row.vector);
        opened.engine.remember(&caller(&row.user), new_memory(&row)).await?;
        opened.given.clear();
        loci_host::output::json(&json!({ "added": row.number }));
    }
    Ok(json!({ "done": true }))
}

/// Changes texts, with vectors that are given.
pub(super) async fn update(opened: &Opened, span: Range<u64>) -> Result<Value> {
    let ids = look::ids(opened).await?;
    let mut rows: Vec<Row> = opened.data.memories(span)?.collect::<Result<_>>()?;
    for row in &mut rows {
        row.text.push_str(" (changed)");
        opened.given.give(&row.text, &row.vector);
    }
    let (spent, mut sample) = (Spent::begin(), Sample::default());
    for row in rows {
        let id = *ids.get(&row.number).with_context(|| format!("memory {} does not exist", row.number))?;
        let update = Update { content: Some(row.text), ..Update::default() };
        let start = Instant::now();
        opened.engine.update(&caller(&row.user), id, update).await?;
        sample.add(start.elapsed());
    }
    let figures = spent.with(&mut sample);
    opened.given.clear();
    Ok(figures)
}

/// Takes memories away, as a user does.
pub(super) async fn delete(opened: &Opened, span: Range<u64>) -> Result<Value> {
    let ids = look::ids(opened).await?;
    let rows: Vec<Row> = opened.data.memories(span)?.collect::<Result<_>>()?;
    let (spent, mut sample) = (Spent::begin(), Sample::default());
    for row in rows {
        let id = *ids.get(&row.number).with_context(|| format!("memory {} does not exist", row.number))?;
        let start = Instant::now();
        opened.engine.forget(&caller(&row.user), id, None, None).await?;
        sample.add(start.elapsed());
    }
    Ok(spent.with(&mut sample))
}
