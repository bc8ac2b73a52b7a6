//! Migrates everything from one store to another: tenant by tenant, space by space, table by table.
//!
//! Pages are read as a dump reads them and written in one transaction each, with the same row numbers. Whatever
//! interrupts a migration, the same call continues where it stopped: rows that the target has are skipped. At the end
//! every row is read from both stores and compared. The source is never written to, and must not be written to by
//! others meanwhile.

use std::sync::Arc;

use serde::Serialize;

use super::pair::{Digest, START, SpacePair, TenantPair, survey};
use super::table::{TABLES, TableSpec};
use super::{catalogue, numbers, page};
use crate::sql::{Backend, SqlStore, Value, blocking, feed};
use crate::{Error, Result};

/// How to migrate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MigrateOptions {
    /// Whether the two stores are only compared. Default: false.
    pub verify_only: bool,
    /// Number of rows per transaction. Default: 1,000.
    pub page: usize,
}

impl Default for MigrateOptions {
    fn default() -> Self {
        Self { verify_only: false, page: 1_000 }
    }
}

/// What was done with some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigratePhase {
    /// They were in the target before.
    Present,
    /// They were written to the target and are durable.
    Copied,
    /// They were read from both stores and are equal.
    Verified,
}

/// Progress of a migration.
#[derive(Debug, Clone)]
pub struct MigrateStep<'s> {
    /// What was done.
    pub phase: MigratePhase,
    /// The tenant.
    pub tenant: &'s str,
    /// The space.
    pub space: &'s str,
    /// The table.
    pub table: &'static str,
    /// Number of rows.
    pub rows: u64,
    /// Number of rows in the whole source; each is present or copied once, and verified once.
    pub total: u64,
}

/// The result of a migration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MigrationReport {
    /// Number of rows that were written; 0 if the target had everything.
    pub copied: u64,
    /// Every table of every space, compared.
    pub tables: Vec<ComparedTable>,
}

/// A table that is the same in both stores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedTable {
    /// The tenant.
    pub tenant: String,
    /// The space; none for a table of the catalogue.
    pub space: Option<String>,
    /// The table.
    pub table: &'static str,
    /// Number of rows.
    pub rows: u64,
    /// BLAKE3 of its rows in the order of their keys. It depends neither on the database nor on the size of a page.
    pub hash: String,
}

/// Called after every page. Its error interrupts the migration, which the next call continues.
type Progress<'p> = &'p mut (dyn FnMut(&MigrateStep<'_>) -> Result<()> + Send);

/// Copies everything from one store to another, and compares.
///
/// # Errors If both are the same store, the source is empty, the target holds something else, a store fails, or the
/// stores differ at the end.
#[expect(private_bounds, reason = "the backends are this crate's own")]
pub async fn migrate<F: Backend, T: Backend>(
    from: &SqlStore<F>,
    to: &SqlStore<T>,
    options: MigrateOptions,
    progress: Progress<'_>,
) -> Result<MigrationReport> {
    let (from, to) = (from.backend.clone(), to.backend.clone());
    let (tenants, spaces) = blocking(move || survey(&from, &to)).await?;
    let total = spaces.iter().map(|space| space.rows).sum();
    let mut migration = Migration { options, progress, total, report: MigrationReport::default() };
    if !options.verify_only {
        // Every space of the target is checked before anything is written.
        for space in &spaces {
            on(space, |space| TABLES.iter().try_for_each(|table| space.reached(table).map(drop))).await?;
        }
        for tenant in &tenants {
            migration.report.copied += on(tenant, TenantPair::copy).await?;
        }
        for space in &spaces {
            migration.copy_space(space).await?;
        }
    }
    let compared = migration.compare(&tenants, &spaces).await;
    // If the source was written to, that is the cause of any difference.
    for space in &spaces {
        let now = on(space, |space| space.source(feed::end)).await?;
        if now != space.end {
            return Err(Error::Overtaken(format!(
                "the source was written to while it was copied: the ledger of {} went from line {} to {now}; \
                 stop its writers and run the migration again",
                space.name(),
                space.end
            )));
        }
    }
    compared.map(|()| migration.report)
}

/// Runs work of a pair that may block.
async fn on<P: Send + Sync + 'static, V: Send + 'static>(
    pair: &Arc<P>,
    work: impl FnOnce(&P) -> Result<V> + Send + 'static,
) -> Result<V> {
    let pair = pair.clone();
    blocking(move || work(&pair)).await
}

/// A migration that is running.
struct Migration<'p> {
    options: MigrateOptions,
    progress: Progress<'p>,
    /// Number of rows in the source.
    total: u64,
    report: MigrationReport,
}

impl Migration<'_> {
    async fn copy_space<F: Backend, T: Backend>(&mut self, space: &Arc<SpacePair<F, T>>) -> Result<()> {
        on(space, |space| catalogue::register_space(&*space.to, &space.tenant, &space.target, space.created_at))
            .await?;
        for table in TABLES {
            self.copy_table(space, table).await?;
        }
        let given = on(space, |space| space.source(numbers::read)).await?;
        if given.iter().any(|number| *number > 0) {
            space.write(move |connection| numbers::advance(connection, &given)).await?;
        }
        match space.written {
            true => on(space, |space| space.to.note_written(&space.tenant, &space.target)).await,
            false => Ok(()),
        }
    }

    async fn copy_table<F: Backend, T: Backend>(
        &mut self,
        space: &Arc<SpacePair<F, T>>,
        table: &'static TableSpec,
    ) -> Result<()> {
        let (mut after, present) = on(space, move |space| space.reached(table)).await?;
        self.step(MigratePhase::Present, space, table, present)?;
        let (limit, before) = (self.options.page.max(1), self.report.copied);
        while let Some(page) = on(space, move |space| space.page(table, after, limit)).await? {
            let (count, analyser) = (page.rows.len() as u64, space.to.analyser().clone());
            let rows: Vec<Vec<Value>> = page.rows.into_iter().map(|row| row.values).collect();
            let written = space.write(move |connection| page::write(connection, table, &rows, &analyser)).await;
            written.map_err(|error| match error {
                Error::Refused(problem) => Error::Refused(format!("{}: {problem}", table.name)),
                error => error,
            })?;
            after = page.through;
            self.report.copied += count;
            self.step(MigratePhase::Copied, space, table, count)?;
        }
        match self.report.copied > before {
            true => space.write(move |connection| page::analyse(connection, table)).await,
            false => Ok(()),
        }
    }

    async fn compare<F: Backend, T: Backend>(
        &mut self,
        tenants: &[Arc<TenantPair<F, T>>],
        spaces: &[Arc<SpacePair<F, T>>],
    ) -> Result<()> {
        for tenant in tenants {
            let compared: Vec<ComparedTable> =
                on(tenant, |tenant| catalogue::tables().map(|table| tenant.compare(table)).collect()).await?;
            self.report.tables.extend(compared);
        }
        for space in spaces {
            for table in TABLES {
                let (mut after, mut digest) = (START, Digest::default());
                let limit = self.options.page.max(1);
                while let Some(page) = on(space, move |space| space.compare(table, after, limit)).await? {
                    digest.add(&page.rows);
                    after = page.through;
                    self.step(MigratePhase::Verified, space, table, page.rows.len() as u64)?;
                }
                self.report.tables.push(digest.finish(&space.tenant, Some(&space.space), table));
            }
        }
        Ok(())
    }

    fn step<F: Backend, T: Backend>(
        &mut self,
        phase: MigratePhase,
        space: &SpacePair<F, T>,
        table: &TableSpec,
        rows: u64,
    ) -> Result<()> {
        let (tenant, space, total) = (space.tenant.name(), space.space.name(), self.total);
        (self.progress)(&MigrateStep { phase, tenant, space: &space, table: table.name, rows, total })
    }
}
