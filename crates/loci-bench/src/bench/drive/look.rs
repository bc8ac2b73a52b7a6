//! Counts and sizes of the store.

use std::collections::HashMap;

use anyhow::{Context, Result};
use loci_engine::{Caller, policy};
use loci_store::Page;
use loci_types::{Filter, Memory, MemoryId};
use serde_json::{Value, json};

use super::worker::{NUMBER, Opened};

const PAGE: usize = 1_000;

/// How many memories can be read.
pub(super) async fn count(opened: &Opened) -> Result<Value> {
    Ok(json!({ "count": everything(opened).await?.len() }))
}

/// Which ones.
pub(super) async fn numbers(opened: &Opened) -> Result<Value> {
    let mut numbers: Vec<u64> = everything(opened).await?.into_iter().map(|(number, _)| number).collect();
    numbers.sort_unstable();
    Ok(json!({ "numbers": numbers }))
}

/// The ids that the harness knows by number.
pub(super) async fn ids(opened: &Opened) -> Result<HashMap<u64, MemoryId>> {
    Ok(everything(opened).await?.into_iter().collect())
}

/// The number under which the harness knows a memory.
pub(super) fn number(memory: &Memory) -> Result<u64> {
    memory.metadata.get(NUMBER).and_then(Value::as_u64).context("a memory has no number; who else wrote here?")
}

async fn everything(opened: &Opened) -> Result<Vec<(u64, MemoryId)>> {
    let visible = policy::visible(&Caller::operator(), None)?;
    let filter = Filter::at(opened.engine.now());
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let listing = opened.store.scan(&visible, &filter, Page { after, limit: PAGE }).await?;
        for memory in &listing.memories {
            found.push((number(memory)?, memory.id));
        }
        after = listing.next;
        if after.is_none() {
            return Ok(found);
        }
    }
}

/// What the system says of this process.
pub(super) fn memory() -> Result<Value> {
    let status = std::fs::read_to_string("/proc/self/status").context("this system does not tell")?;
    let kilobytes = |name: &str| {
        let rest = status.lines().find_map(|line| line.strip_prefix(name))?;
        rest.split_whitespace().next()?.parse::<u64>().ok()
    };
    Ok(json!({ "rss_kb": kilobytes("VmRSS:"), "anonymous_kb": kilobytes("RssAnon:") }))
}
