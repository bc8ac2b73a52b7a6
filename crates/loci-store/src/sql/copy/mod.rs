//! How does everything go from one store to another?
//!
//! Tenant by tenant, space by space, table by table, in pages that are one transaction each. Rows keep
//! their numbers. Whatever ends a copy, the same call goes on where it stopped: what the target has is
//! passed over. At the end every row is read back from both sides and compared; nothing else makes a
//! copy whole. The source is never written to, and must not be written to by others meanwhile.

pub(in crate::sql) mod catalogue;
pub(in crate::sql) mod line;
pub(in crate::sql) mod numbers;
pub(in crate::sql) mod page;
mod pair;
mod run;
pub(in crate::sql) mod table;

use std::sync::Arc;

use serde::Serialize;

use self::run::Run;
use super::Backend;
use crate::{Error, PostgresStore, Result, SqliteStore};

/// One end of a copy.
#[derive(Clone)]
pub enum Side {
    /// A data folder.
    Sqlite(SqliteStore),
    /// A schema on a server.
    Postgres(PostgresStore),
}

impl From<SqliteStore> for Side {
    fn from(store: SqliteStore) -> Self {
        Side::Sqlite(store)
    }
}

impl From<PostgresStore> for Side {
    fn from(store: PostgresStore) -> Self {
        Side::Postgres(store)
    }
}

/// How to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyOptions {
    /// Whether the two sides are only compared.
    pub verify_only: bool,
    /// How many rows are one transaction.
    pub page: usize,
}

impl Default for CopyOptions {
    fn default() -> Self {
        Self { verify_only: false, page: 1_000 }
    }
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyPhase {
    /// Rows were in the target before.
    There,
    /// Rows were written to the target and are durable.
    Copied,
    /// Rows were read back from both sides and are the same.
    Verified,
}

/// A step of a copy that was done.
#[derive(Debug, Clone)]
pub struct CopyStep<'s> {
    /// What was done.
    pub phase: CopyPhase,
    /// The tenant.
    pub tenant: &'s str,
    /// The space.
    pub space: &'s str,
    /// The table.
    pub table: &'static str,
    /// How many rows it was.
    pub rows: u64,
    /// How many rows the whole source has; each is there or copied once, and verified once.
    pub whole: u64,
}

/// What came of a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Copied {
    /// Rows that were written; none: everything was there.
    pub copied: u64,
    /// Every table of every space, compared.
    pub tables: Vec<CopiedTable>,
}

/// A table that is the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CopiedTable {
    /// The tenant.
    pub tenant: String,
    /// The space; none: the catalogue.
    pub space: Option<String>,
    /// The table.
    pub table: &'static str,
    /// Its rows.
    pub rows: u64,
    /// BLAKE3 of its rows in the order of their keys, the same for both sides.
    pub hash: String,
}

/// Copies everything from one store to another, and compares. `progress` is told of every page; its
/// failure ends the copy, which goes on there the next time.
///
/// # Errors
/// If both sides are the same store, the source is empty, the target holds something else, a side
/// fails, or the sides differ at the end.
pub async fn copy(
    from: &Side,
    to: &Side,
    options: CopyOptions,
    progress: &mut (dyn FnMut(&CopyStep<'_>) -> Result<()> + Send),
) -> Result<Copied> {
    if from.name().await? == to.name().await? {
        return Err(Error::Refused("the source and the target are the same store".to_owned()));
    }
    match (from, to) {
        (Side::Sqlite(from), Side::Sqlite(to)) => through(&from.backend, &to.backend, options, progress).await,
        (Side::Sqlite(from), Side::Postgres(to)) => through(&from.backend, &to.backend, options, progress).await,
        (Side::Postgres(from), Side::Sqlite(to)) => through(&from.backend, &to.backend, options, progress).await,
        (Side::Postgres(from), Side::Postgres(to)) => through(&from.backend, &to.backend, options, progress).await,
    }
}

async fn through<F: Backend, T: Backend>(
    from: &Arc<F>,
    to: &Arc<T>,
    options: CopyOptions,
    progress: &mut (dyn FnMut(&CopyStep<'_>) -> Result<()> + Send),
) -> Result<Copied> {
    Run::new(from.clone(), to.clone(), options, progress).await?.run().await
}

impl Side {
    /// A name that no other store has.
    async fn name(&self) -> Result<String> {
        let side = self.clone();
        super::backend::blocking(move || match side {
            Side::Sqlite(store) => Ok(store.backend.name()),
            // Two servers do not start in the same microsecond.
            Side::Postgres(store) => store.backend.ask(|connection| {
                let sql = "SELECT concat_ws(' ', current_database()::text, current_schema()::text, \
                           extract(epoch FROM pg_postmaster_start_time())::text)";
                connection.query_row(sql, [], |row| row.get(0))
            }),
        })
        .await
    }
}
