//! One stream of rows for backup, restore and migration.
//!
//! Rows of every table are read in pages, in an encoding that does not depend on the database. A backup writes them to
//! a file of hashed frames; each space is read in one snapshot, while others write. A restore verifies a whole chain of
//! backups before it changes anything, and loads each space in one transaction. A migration writes the same pages to
//! another store, one transaction each, continues where it was interrupted, and compares every row of both stores at
//! the end. An export reads the visible part of a space as records, for JSON lines.

mod backup;
mod catalogue;
mod dump;
pub(super) mod export;
mod file;
mod frame;
mod load;
mod migrate;
mod numbers;
mod page;
mod pair;
mod part;
mod restore;
mod rewind;
mod row;
mod seal;
mod table;
mod verify;

use std::io::Write;
use std::path::{Path, PathBuf};

pub use self::backup::{
    Backup, BackupPlan, BackupProgress, BackupSpace, BackupStep, DeriveKeys, DerivedKeys, Manifest, RestoreOutcome,
    RestorePlan, RestorePoint,
};
pub use self::file::create_backup_file;
pub use self::migrate::{ComparedTable, MigrateOptions, MigratePhase, MigrateStep, MigrationReport, migrate};
pub use self::seal::BackupEncoding;
use super::{Backend, SqlStore, blocking};
use crate::encryption::EncryptionKey;
use crate::{Error, Result};

/// Writes a store, or a part of it, to a backup while others write to the store.
///
/// # Errors
/// If the store or the file fails, or an increment does not follow from the backup that it is based on.
#[expect(private_bounds, reason = "the backends are this crate's own")]
pub async fn create_backup<B: Backend, W: Write + Send + 'static>(
    from: &SqlStore<B>,
    plan: BackupPlan,
    out: W,
    progress: BackupProgress,
) -> Result<(Backup, W)> {
    let from = from.backend.clone();
    blocking(move || dump::dump(&*from, &plan, out, progress)).await
}

/// Verifies a full backup and the increments on top of it, in their order, from the first byte to the last. Encrypted ones
/// need the key.
///
/// # Errors
/// If a file is not a backup, is cut off or damaged, was made by a newer Loci, or does not follow from the one before it.
pub async fn verify_backup_chain(files: Vec<PathBuf>, key: Option<EncryptionKey>) -> Result<Vec<Backup>> {
    blocking(move || Ok(verify::chain(&files, key.as_ref())?.into_iter().map(|verified| verified.backup).collect()))
        .await
}

/// Verifies one backup, full or not, by itself.
///
/// # Errors
/// As [`verify_backup_chain`], except for what concerns the chain.
pub async fn verify_backup(file: PathBuf, key: Option<EncryptionKey>) -> Result<Backup> {
    blocking(move || Ok(verify::file(&file, key.as_ref())?.backup)).await
}

/// Restores a chain of backups. Nothing is changed before all of it is verified.
///
/// # Errors
/// As [`verify_backup_chain`]; and if a space is not empty and is not to be replaced, or the store fails.
#[expect(private_bounds, reason = "the backends are this crate's own")]
pub async fn restore_backup<B: Backend>(to: &SqlStore<B>, plan: RestorePlan) -> Result<Vec<RestoreOutcome>> {
    let (files, key) = (plan.files.clone(), plan.key.clone());
    let chain = blocking(move || verify::chain(&files, key.as_ref())).await?;
    restore::restore(&to.backend, &plan, &chain).await
}

/// Refuses a space that was written to and is gone: a copy without it would look complete.
fn require_space<B: Backend>(from: &B, open: &B::Open) -> Result<()> {
    match from.exists(open)? {
        true => Ok(()),
        false => Err(Error::Damaged {
            path: B::place_of(open).to_owned(),
            problem: "the space was written to, and its data is missing".to_owned(),
        }),
    }
}

/// A failure within a transaction: of the database, or of the file that is read or written.
enum StreamFailure {
    Database(super::SqlError),
    Other(Error),
}

impl From<super::SqlError> for StreamFailure {
    fn from(error: super::SqlError) -> Self {
        StreamFailure::Database(error)
    }
}

impl From<Error> for StreamFailure {
    fn from(error: Error) -> Self {
        StreamFailure::Other(error)
    }
}

impl From<loci_types::Error> for StreamFailure {
    fn from(error: loci_types::Error) -> Self {
        StreamFailure::Other(error.into())
    }
}

impl StreamFailure {
    /// The error of the store at a path.
    fn at(self, path: &Path) -> Error {
        match self {
            StreamFailure::Database(error) => Error::sql(path, error),
            StreamFailure::Other(error) => error,
        }
    }
}
