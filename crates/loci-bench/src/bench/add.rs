//! The cost of a durable remember.
//!
//! Beside it runs a bare loop that inserts the very same rows into a file of the same layout, one
//! transaction each, in interleaved rounds: the disk's sync time changes from minute to minute,
//! the ratio of two neighbouring rounds much less.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use loci_engine::{Caller, Config, Engine, NewMemory, System};
use loci_store::{SqliteOptions, SqliteStore};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::{data, meter};

const ROUNDS: usize = 6;
const ALONE: usize = 150;
const TOGETHER: usize = 3_200;
const CALLERS: usize = 64;

/// Measures one caller, sixty-four callers, and the bare loop beside them.
pub(super) async fn measure(folder: &Path, seed: u64) -> Result<()> {
    let folder = folder.join("add");
    let store = SqliteStore::open(&folder, SqliteOptions::default())?;
    let engine = Arc::new(Engine::new(Arc::new(store.clone()), None, Arc::new(System), Config::default())?);
    let mut number = 0;
    remember(&engine, seed, number).await?;
    let space = folder.join("tenants/default/spaces/agent_memory_bench/loci.db");
    let mut bare = Bare::beside(&space, &folder.join("bare.db"))?;

    let (mut alone, mut together, mut bare_rate) = (Vec::new(), Vec::new(), Vec::new());
    let (mut alone_commits, mut together_commits) = (0, 0);
    for _ in 0..ROUNDS {
        let (commits, start) = (store.commits(), Instant::now());
        for _ in 0..ALONE {
            number += 1;
            remember(&engine, seed, number).await?;
        }
        alone.push(ALONE as f64 / start.elapsed().as_secs_f64());
        alone_commits += store.commits() - commits;

        bare_rate.push(bare.replay(&space, ALONE)?);

        let (commits, start) = (store.commits(), Instant::now());
        let callers = (0..CALLERS).map(|caller| {
            let engine = engine.clone();
            let first = number + 1 + (caller * TOGETHER / CALLERS) as u64;
            tokio::spawn(async move {
                for offset in 0..TOGETHER / CALLERS {
                    remember(&engine, seed, first + offset as u64).await?;
                }
                anyhow::Ok(())
            })
        });
        for caller in callers.collect::<Vec<_>>() {
            caller.await??;
        }
        number += TOGETHER as u64;
        together.push(TOGETHER as f64 / start.elapsed().as_secs_f64());
        together_commits += store.commits() - commits;
    }
    let ratio = |rates: &[f64]| median(rates.iter().zip(&bare_rate).map(|(rate, bare)| rate / bare).collect());
    meter::print("add bare", 1, "per_second", median(bare_rate.clone()));
    meter::print("add", 1, "per_second", median(alone.clone()));
    meter::print("add", 1, "ratio_to_bare", ratio(&alone));
    meter::print("add", 1, "syncs_per_add", alone_commits as f64 / (ROUNDS * ALONE) as f64);
    meter::print("add", CALLERS, "per_second", median(together.clone()));
    meter::print("add", CALLERS, "ratio_to_bare", ratio(&together));
    meter::print("add", CALLERS, "syncs_per_add", together_commits as f64 / (ROUNDS * TOGETHER) as f64);
    Ok(())
}

async fn remember(engine: &Engine, seed: u64, number: u64) -> Result<()> {
    // One user only, so that the bare loop needs no scopes of its own.
    let new = NewMemory { content: data::text(seed, number), kind: Some("fact".to_owned()), ..NewMemory::default() };
    engine.remember(&Caller::new(data::identifiers(0)), new).await?;
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// A file of the same layout that is written without Loci.
struct Bare {
    connection: Connection,
    last: i64,
}

impl Bare {
    fn beside(space: &Path, path: &Path) -> Result<Self> {
        let source = Connection::open(space)?;
        source.execute("VACUUM INTO ?1", [path.to_str().context("the scratch folder has no plain name")?])?;
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        Ok(Self { connection, last: 1 })
    }

    /// Inserts the next `count` memories of the space with their words, ledger lines and jobs, and
    /// returns the number of rows per second. The rows are read before the time starts.
    fn replay(&mut self, space: &Path, count: usize) -> Result<f64> {
        let source = Connection::open(space)?;
        let mut rows = Vec::with_capacity(count);
        for row in self.last + 1..=self.last + count as i64 {
            rows.push((
                read(&source, "SELECT * FROM memories WHERE row = ?1", row)?,
                read(&source, "SELECT * FROM words WHERE memory = ?1", row)?,
                read(&source, "SELECT * FROM ledger WHERE memory = ?1", row)?,
                read(&source, "SELECT * FROM jobs WHERE id = ?1", row)?,
            ));
        }
        // The rows between belong to the round of many callers; they are not replayed.
        self.last = source.query_row("SELECT max(row) FROM memories", [], |row| row.get(0))?;
        self.last += TOGETHER as i64;
        let start = Instant::now();
        for (memory, words, ledger, job) in &rows {
            let transaction = self.connection.transaction()?;
            insert(&transaction, "memories", memory)?;
            insert(&transaction, "words", words)?;
            insert(&transaction, "ledger", ledger)?;
            insert(&transaction, "jobs", job)?;
            transaction.commit()?;
        }
        Ok(count as f64 / start.elapsed().as_secs_f64())
    }
}

fn read(connection: &Connection, sql: &str, row: i64) -> Result<Vec<Value>> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns = statement.column_count();
    Ok(statement.query_row([row], |row| (0..columns).map(|column| row.get(column)).collect())?)
}

fn insert(connection: &Connection, table: &str, values: &[Value]) -> Result<()> {
    let places = vec!["?"; values.len()].join(", ");
    connection.prepare_cached(&format!("INSERT INTO {table} VALUES ({places})"))?.execute(params_from_iter(values))?;
    Ok(())
}
