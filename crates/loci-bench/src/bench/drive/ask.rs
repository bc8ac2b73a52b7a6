//! The cost of searching.
//!
//! `find` is the store's search by vector within what a user sees, with the memories that it found; `hybrid` is the
//! whole of recall. Access is not counted, since the others count none.

use std::ops::Range;
use std::time::Instant;

use anyhow::{Context, Result};
use loci_engine::{RecallRequest, policy};
use loci_types::{Filter, Memory, MemoryId};
use serde_json::{Value, json};

use super::data::Row;
use super::given::Given;
use super::look;
use super::spent::Spent;
use super::worker::{Opened, caller, new_memory};
use crate::bench::meter::Sample;

/// Number of results of a search in the mixed load.
const WANTED: usize = 10;

/// By vector, within each question's user.
pub(super) async fn find(opened: &Opened, span: Range<u64>, k: usize) -> Result<Value> {
    let rows: Vec<Row> = opened.data.queries(span)?.collect::<Result<_>>()?;
    let (spent, mut sample, mut ranked) = (Spent::begin(), Sample::default(), Vec::with_capacity(rows.len()));
    for row in &rows {
        let start = Instant::now();
        let near = nearest(opened, row, k).await?;
        sample.add(start.elapsed());
        ranked.push(near.iter().map(look::number).collect::<Result<Vec<u64>>>()?);
    }
    let mut figures = spent.with(&mut sample);
    figures["ranked"] = json!(ranked);
    Ok(figures)
}

async fn nearest(opened: &Opened, row: &Row, k: usize) -> Result<Vec<Memory>> {
    let visible = policy::visible(&caller(&row.user), None)?;
    let filter = Filter::at(opened.engine.now());
    let hits = opened.store.nearest(&visible, &Given::vector(row), &filter, k).await?;
    let ids: Vec<MemoryId> = hits.into_iter().map(|hit| hit.id).collect();
    Ok(opened.store.fetch(&visible, &ids).await?)
}

/// By everything that recall has.
pub(super) async fn hybrid(opened: &Opened, span: Range<u64>, k: usize) -> Result<Value> {
    let rows: Vec<Row> = opened.data.queries(span)?.collect::<Result<_>>()?;
    for row in &rows {
        opened.given.give(&row.text, &row.vector);
    }
    let (spent, mut sample, mut ranked) = (Spent::begin(), Sample::default(), Vec::with_capacity(rows.len()));
    for row in &rows {
        let request = question(&row.text, k);
        let start = Instant::now();
        let recall = opened.engine.recall(&caller(&row.user), request).await?;
        sample.add(start.elapsed());
        anyhow::ensure!(recall.degraded.is_empty(), "a lane was not asked: {:?}", recall.degraded);
        ranked.push(recall.hits.iter().map(|hit| look::number(&hit.memory)).collect::<Result<Vec<u64>>>()?);
    }
    let mut figures = spent.with(&mut sample);
    opened.given.clear();
    figures["ranked"] = json!(ranked);
    Ok(figures)
}

/// A question as recall takes it.
pub(super) fn question(text: &str, k: usize) -> RecallRequest {
    RecallRequest { query: text.to_owned(), limit: Some(k), uncounted: true, ..RecallRequest::default() }
}

/// Nine searches and one addition, repeated for a number of seconds.
pub(super) async fn mixed(opened: &Opened, seconds: f64, from: u64) -> Result<Value> {
    let queries = opened.data.all_queries()?;
    anyhow::ensure!(!queries.is_empty(), "there are no questions");
    let mut memories = opened.data.memories(from..u64::MAX)?;
    let (mut finding, mut adding) = (Sample::default(), Sample::default());
    let mut operations = 0_usize;
    let spent = Spent::begin();
    while spent.elapsed() < seconds {
        if operations % 10 == 9 {
            let row = memories.next().context("there are no memories left to add")??;
            opened.given.give(&row.text, &row.vector);
            let (caller, new) = (caller(&row.user), new_memory(&row));
            let start = Instant::now();
            opened.engine.remember(&caller, new).await?;
            adding.add(start.elapsed());
            opened.given.clear();
        } else {
            let row = &queries[operations % queries.len()];
            let start = Instant::now();
            nearest(opened, row, WANTED).await?;
            finding.add(start.elapsed());
        }
        operations += 1;
    }
    Ok(json!({
        "operations": operations,
        "cpu": spent.cpu(),
        "find_p50_ms": finding.at(0.5),
        "find_p99_ms": finding.at(0.99),
        "add_p50_ms": adding.at(0.5),
        "add_p99_ms": adding.at(0.99),
    }))
}
