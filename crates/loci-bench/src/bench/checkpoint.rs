//! The cost of checkpoints.
//!
//! A checkpoint of 1 MiB is saved and loaded again. Beside it, in turns, a bare driver inserts a row of the same bytes
//! into a plain file with the same sync, and reads it back: the ratio of the two tells what Loci adds.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use loci_engine::{Caller, Config, Engine, NewCheckpoint, System};
use loci_store::{SqliteOptions, SqliteStore};
use rusqlite::{Connection, params};

use super::data;
use super::meter::{self, Sample};

const BYTES: usize = 1 << 20;
const ROUNDS: usize = 100;

/// Measures saving and loading.
pub(super) async fn measure(folder: &Path, seed: u64) -> Result<()> {
    let folder = folder.join("checkpoint");
    let store = SqliteStore::open(&folder, SqliteOptions::default())?;
    let engine = Engine::new(Arc::new(store), None, Arc::new(System), Config::default())?;
    let caller = Caller::new(data::identifiers(0));
    let bare = bare(&folder.join("bare.db"))?;
    let [mut save, mut load, mut bare_save, mut bare_load] = [(); 4].map(|()| Sample::default());
    for round in 0..ROUNDS {
        let bytes = noise(seed ^ round as u64);
        let new = NewCheckpoint {
            thread_id: "bench".to_owned(),
            id: Some(round.to_string()),
            parent_id: round.checked_sub(1).map(|before| before.to_string()),
            format: "bytes".to_owned(),
            data: bytes.clone(),
            ..NewCheckpoint::default()
        };
        let start = Instant::now();
        engine.put_checkpoint(&caller, new).await?;
        save.add(start.elapsed());

        let start = Instant::now();
        bare.prepare_cached("INSERT INTO kept (id, data) VALUES (?1, ?2)")?.execute(params![round, &bytes])?;
        bare_save.add(start.elapsed());

        let start = Instant::now();
        let (kept, _) = engine.checkpoint(&caller, "bench", "", None).await?;
        load.add(start.elapsed());
        anyhow::ensure!(kept.data.as_ref() == Some(&bytes), "what was loaded is not what was saved");

        let start = Instant::now();
        let read: Vec<u8> =
            bare.prepare_cached("SELECT data FROM kept WHERE id = ?1")?.query_row([round], |row| row.get(0))?;
        bare_load.add(start.elapsed());
        anyhow::ensure!(read == bytes, "the bare driver lost something");
    }
    for (work, sample, beside) in
        [("checkpoint save", &mut save, &mut bare_save), ("checkpoint load", &mut load, &mut bare_load)]
    {
        meter::print(work, BYTES, "ms_p50", sample.at(0.5));
        meter::print(work, BYTES, "ms_p99", sample.at(0.99));
        meter::print(work, BYTES, "bare_ms_p50", beside.at(0.5));
        meter::print(work, BYTES, "ratio_to_bare", sample.at(0.5) / beside.at(0.5).max(f64::MIN_POSITIVE));
    }
    Ok(())
}

/// A plain file with one table, synced as Loci syncs.
fn bare(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute("CREATE TABLE kept (id INTEGER PRIMARY KEY, data BLOB NOT NULL)", [])?;
    Ok(connection)
}

/// Bytes that nothing can make smaller.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..BYTES / 8).flat_map(|_| next().to_le_bytes()).collect()
}
