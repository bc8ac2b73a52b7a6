//! The cost of writing and asking from text, with the real model.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use async_trait::async_trait;
use loci_engine::Engine;
use loci_models::{Detail, Embedder, Embedding, Error, Model};
use serde_json::{Value, json};

use super::ask::question;
use super::data::Row;
use super::look;
use super::spent::Spent;
use super::worker::{Opened, caller, new_memory};
use crate::bench::meter::{self, Sample};

/// An open store with an engine that embeds.
pub(super) struct WithModel<'a> {
    pub(super) opened: &'a Opened,
    pub(super) engine: Arc<Engine>,
    pub(super) metered: Arc<Metered>,
}

/// An embedder that counts what it takes. Only one caller asks at a time, so all that the process does meanwhile is
/// its work.
pub(super) struct Metered {
    embedder: Arc<dyn Embedder>,
    nanoseconds: AtomicU64,
}

impl Metered {
    pub(super) fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, nanoseconds: AtomicU64::new(0) }
    }

    fn spent(&self) -> f64 {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)).as_secs_f64()
    }
}

#[async_trait]
impl Embedder for Metered {
    fn model(&self) -> &Model {
        self.embedder.model()
    }

    async fn embed(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        let before = meter::cpu();
        let made = self.embedder.embed(texts, detail).await;
        let spent = (meter::cpu() - before).as_nanos();
        self.nanoseconds.fetch_add(u64::try_from(spent).unwrap_or(u64::MAX), Ordering::Relaxed);
        made
    }
}

/// Adds texts that are embedded here.
pub(super) async fn add(with: &WithModel<'_>, span: Range<u64>) -> Result<Value> {
    let rows: Vec<Row> = with.opened.data.memories(span)?.collect::<Result<_>>()?;
    warm(with).await?;
    let (before, spent, mut sample) = (with.metered.spent(), Spent::begin(), Sample::default());
    for row in &rows {
        let (caller, new) = (caller(&row.user), new_memory(row));
        let start = Instant::now();
        with.engine.remember(&caller, new).await?;
        sample.add(start.elapsed());
    }
    let mut figures = spent.with(&mut sample);
    figures["embedding_cpu"] = json!(with.metered.spent() - before);
    Ok(figures)
}

/// Asks with texts that are embedded here, by everything that recall has.
pub(super) async fn find(with: &WithModel<'_>, span: Range<u64>, k: usize) -> Result<Value> {
    let rows: Vec<Row> = with.opened.data.queries(span)?.collect::<Result<_>>()?;
    warm(with).await?;
    let (before, spent, mut sample) = (with.metered.spent(), Spent::begin(), Sample::default());
    let mut ranked = Vec::with_capacity(rows.len());
    for row in &rows {
        let start = Instant::now();
        let recall = with.engine.recall(&caller(&row.user), question(&row.text, k)).await?;
        sample.add(start.elapsed());
        ranked.push(recall.hits.iter().map(|hit| look::number(&hit.memory)).collect::<Result<Vec<u64>>>()?);
    }
    let mut figures = spent.with(&mut sample);
    figures["embedding_cpu"] = json!(with.metered.spent() - before);
    figures["ranked"] = json!(ranked);
    Ok(figures)
}

/// The first text pays for what is made once.
async fn warm(with: &WithModel<'_>) -> Result<()> {
    with.metered.embed(&["the first text pays for what is made once".to_owned()], Detail::Tokens).await?;
    Ok(())
}
