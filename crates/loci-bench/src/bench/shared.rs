//! The same measurements on a PostgreSQL server.
//!
//! The same memories and questions go to files and to PostgreSQL in one run. Each store is named before
//! what is reported. The reported CPU is that of this process; the server has its own.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use jiff::Timestamp;
use loci_store::Store;
use loci_types::{Action, Addition, Batch, Change, Provenance, Tenant};

use super::meter::{self, Sample};
use super::{data, find};
use loci_host::settings::Settings;
use loci_host::store::{self, Postgres, StoreKind, StoreSettings};

/// Durable writes, one after another.
const WRITES: u64 = 200;

/// Fills both stores and asks both.
pub(super) async fn measure(settings: &Settings, folder: &Path, seed: u64, size: usize) -> Result<()> {
    let schema = format!("bench_{}", uuid::Uuid::new_v4().simple());
    let settings = Settings { postgres: Postgres { schema, ..settings.postgres.clone() }, ..settings.clone() };
    for (name, kind) in [("sqlite: ", StoreKind::Sqlite), ("postgres: ", StoreKind::Postgres)] {
        let settings = Settings { store: StoreSettings { kind, ..settings.store.clone() }, ..settings.clone() };
        let store: Arc<dyn Store> = store::open(&settings, &folder.join("shared"), Some(data::DIMENSIONS)).await?;
        find::grow(store.as_ref(), name, seed, 0, size).await?;
        find::questions(store.as_ref(), name, seed, size).await?;
        writes(&store, name, seed, size).await?;
        let stats = store.stats(&loci_engine::policy::visible(&loci_engine::Caller::operator(), None)?).await?;
        meter::print(&format!("{name}rows"), size, "bytes_per_memory", stats.bytes as f64 / stats.memories as f64);
    }
    loci_host::output::note(&format!(
        "the schema {} stays on the server; drop it when it is not needed any more",
        settings.postgres.schema
    ));
    Ok(())
}

/// Adds one memory after another, each durable before the next.
async fn writes(store: &Arc<dyn Store>, name: &str, seed: u64, size: usize) -> Result<()> {
    let (mut cpu, mut wall) = (Sample::default(), Sample::default());
    for number in size as u64..size as u64 + WRITES {
        let memory = data::memory(seed, number, Timestamp::UNIX_EPOCH);
        let change = Change {
            action: Action::Add(Box::new(Addition::new(memory))),
            reason: "bench".to_owned(),
            provenance: Provenance::default(),
            at: Timestamp::UNIX_EPOCH,
        };
        let batch = Batch { tenant: Tenant::default(), space: data::scope(0)?.space(), changes: vec![change] };
        let (began, start) = (meter::cpu(), Instant::now());
        store.apply(batch).await?;
        wall.add(start.elapsed());
        cpu.add(meter::cpu() - began);
    }
    meter::print(&format!("{name}durable add"), size, "cpu_ms_p50", cpu.at(0.5));
    meter::print(&format!("{name}durable add"), size, "ms_p50", wall.at(0.5));
    Ok(())
}
