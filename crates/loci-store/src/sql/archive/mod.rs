//! How is everything put into one file, and brought back from it?
//!
//! A backup is a file of [frames](frame), each with its own hash: a manifest, the lists of the catalogue, the
//! rows of each space as they stood at one line of its ledger, and an end that sums it all up. It is made
//! while others write, and it is the same whichever database it was made of, so it can be brought back to
//! either. An increment holds what has changed since another backup; a chain is one full backup and the
//! increments made on top of it. A chain is looked through to its end before anything is brought back, and
//! each space comes back in one transaction: what is there stays as it is until the new is whole.

mod bring;
mod frame;
mod look;
mod make;
mod rows;
mod unwind;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use loci_types::{ContentHash, Memory, Space, Tenant};
use serde::{Deserialize, Serialize};

use super::backend::blocking;
use super::copy::Side;
use crate::Result;

/// The version of the format.
const FORMAT: u32 = 1;

/// What to back up.
#[derive(Debug, Clone)]
pub struct BackupPlan {
    /// One tenant; none: all.
    pub tenant: Option<Tenant>,
    /// One space of it; none: all of them, and the catalogue.
    pub space: Option<Space>,
    /// The backup that this one goes on from; none: everything is put in.
    pub since: Option<Backup>,
    /// When it is made.
    pub at: Timestamp,
}

/// What a backup says of itself, before and after its rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Backup {
    /// The manifest.
    #[serde(flatten)]
    pub manifest: Manifest,
    /// The spaces, and how far the ledger of each had come.
    pub spaces: Vec<BackupSpace>,
    /// Rows in it.
    pub rows: u64,
    /// What names this backup: BLAKE3 over the hashes of its frames.
    pub digest: String,
}

/// The first frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The version of the format.
    pub format: u32,
    /// The version of Loci that made it.
    pub program: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// What it was made of: `sqlite` or `postgres`.
    pub store: String,
    /// The one tenant that is in it; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The one space that is in it; none: all, and the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// The digest of the backup that it goes on from; none: it is full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

/// A space in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupSpace {
    /// Its tenant.
    pub tenant: String,
    /// Its name.
    pub space: String,
    /// When it was made, in microseconds.
    pub created_at: i64,
    /// The last line of its ledger that is in the backup.
    pub sequence: i64,
    /// The hash of that line, by which an increment knows that it goes on from the same ledger.
    pub line: String,
    /// The line after which this backup begins; 0: it is full.
    #[serde(default)]
    pub since: i64,
    /// The greatest numbers that were given there.
    pub numbers: Vec<i64>,
    /// Rows of it.
    #[serde(default)]
    pub rows: u64,
}

/// A step that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupStep {
    /// The tenant.
    pub tenant: String,
    /// The space.
    pub space: String,
    /// The table.
    pub table: &'static str,
    /// How many rows it was.
    pub rows: u64,
}

/// Whom progress is told to.
pub type BackupProgress = Box<dyn FnMut(&BackupStep) + Send>;

/// How far to go back from what the backup holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// To this line of the ledger.
    Sequence(i64),
    /// To the last line that was written by then.
    Time(Timestamp),
}

/// What follows from the words of a memory, by rules that are not the store's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derived {
    /// The hash of its words.
    pub hash: ContentHash,
    /// The key under which the same thing would be found again.
    pub unless: Option<ContentHash>,
    /// What it is about.
    pub claim: Option<ContentHash>,
}

/// Tells what follows from the words of a memory.
pub type Derive = Arc<dyn Fn(&Memory) -> Derived + Send + Sync>;

/// What to bring back, and where to.
#[derive(Clone)]
pub struct RestorePlan {
    /// The chain: a full backup, and the increments on top of it in their order.
    pub files: Vec<PathBuf>,
    /// One tenant of it; none: all.
    pub tenant: Option<Tenant>,
    /// One space of it; none: all, and the catalogue.
    pub space: Option<Space>,
    /// Another agent or pool that the one space is brought back as.
    pub rename: Option<Space>,
    /// How far to go back; none: all of what the backup holds.
    pub until: Option<Until>,
    /// Whether what lies in the place is replaced; otherwise it must be empty.
    pub replace: bool,
    /// When.
    pub at: Timestamp,
    /// What follows from the words of a memory that goes back to earlier ones.
    pub derive: Derive,
}

/// What was brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    /// The tenant.
    pub tenant: String,
    /// The space it became.
    pub space: String,
    /// How many memories it has.
    pub memories: u64,
    /// The last line of the ledger that counts.
    pub sequence: i64,
    /// Lines that were taken back.
    pub unwound: u64,
    /// Memories that were there at that line and cannot come back: they were purged or erased since.
    pub lost: u64,
}

/// Puts a store, or a part of it, into one file, while others write to it.
///
/// # Errors
/// If the store or the file fails, or an increment does not follow from the backup it is made on.
pub async fn back_up<W: Write + Send + 'static>(
    from: &Side,
    plan: BackupPlan,
    out: W,
    progress: BackupProgress,
) -> Result<(Backup, W)> {
    match from.clone() {
        Side::Sqlite(store) => blocking(move || make::make(&*store.backend, "sqlite", &plan, out, progress)).await,
        Side::Postgres(store) => blocking(move || make::make(&*store.backend, "postgres", &plan, out, progress)).await,
    }
}

/// Looks through a chain of backups from its first byte to its last.
///
/// # Errors
/// If a file is no backup, is cut off or damaged, was made by a newer Loci, or does not follow from the one
/// before it.
pub async fn look_through(files: Vec<PathBuf>) -> Result<Vec<Backup>> {
    blocking(move || Ok(look::chain(&files)?.into_iter().map(|looked| looked.backup).collect())).await
}

/// Looks through one backup, whatever it goes on from.
///
/// # Errors
/// As [`look_through`], but for the chain.
pub async fn look_at(file: PathBuf) -> Result<Backup> {
    blocking(move || Ok(look::file(&file)?.backup)).await
}

/// Brings a chain of backups back. Nothing is changed before all of it was looked through.
///
/// # Errors
/// As [`look_through`]; and if the place is not empty and is not to be replaced, or the store fails.
pub async fn restore(to: &Side, plan: RestorePlan) -> Result<Vec<Restored>> {
    let files = plan.files.clone();
    let chain = blocking(move || look::chain(&files)).await?;
    match to {
        Side::Sqlite(store) => bring::bring(&store.backend, &plan, &chain).await,
        Side::Postgres(store) => bring::bring(&store.backend, &plan, &chain).await,
    }
}
