//! Writes a backup while others write to the store.
//!
//! Each space is read in one snapshot, so its rows and its ledger are of one moment. An increment holds the ledger
//! entries since its base, the present rows of every memory that one of them is about or that was used or aged since,
//! and all rows of tables that are small or have no ledger entries: entities, sessions, notes, jobs, facts,
//! checkpoints.

use std::collections::HashSet;
use std::io::Write;

use jiff::{SignedDuration, Timestamp};
use loci_types::{Space, Tenant};

use super::backup::{Backup, BackupPlan, BackupProgress, BackupSpace, BackupStep, FORMAT, Manifest};
use super::frame::{FrameKind, FrameWriter};
use super::row::{self, TableRow};
use super::table::{Load, MigrationSide, TABLES, TableSpec};
use super::{StreamFailure, catalogue, numbers, page};
use crate::sql::{self, Backend, Connection, OptionalExtension, Value, feed, keys, params};
use crate::{Error, Result};

/// Number of rows that are read at once.
const PAGE: usize = 500;
/// Checkpoints may have many megabytes each, so fewer are read at once.
const CHECKPOINT_PAGE: usize = 4;
/// The greatest allowed difference between the clocks of writers.
const SKEW: SignedDuration = SignedDuration::from_hours(1);

/// Writes a backup.
pub(super) fn dump<B: Backend, W: Write>(
    from: &B,
    plan: &BackupPlan,
    out: W,
    progress: BackupProgress,
) -> Result<(Backup, W)> {
    let manifest = Manifest {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: plan.at,
        store: from.health()?.name,
        tenant: plan.tenant.as_ref().map(|tenant| tenant.name().to_owned()),
        space: plan.space.as_ref().map(Space::name),
        base: plan.since.as_ref().map(|base| base.digest.clone()),
        compressed: plan.encoding.compress,
        encrypted: plan.encoding.key.is_some(),
    };
    if let Some(base) = &plan.since {
        require_same_part(&base.manifest, &manifest)?;
    }
    let mut dump = Dump { writer: FrameWriter::new(out, &plan.encoding)?, progress, spaces: Vec::new(), rows: 0 };
    dump.writer.put_json(FrameKind::Manifest, &manifest)?;
    let tenants = match &plan.tenant {
        Some(tenant) => vec![tenant.clone()],
        None => from.read_catalogue(keys::tenants)?.iter().map(|name| Tenant::new(name)).collect::<Result<_, _>>()?,
    };
    for tenant in &tenants {
        let mut spaces = from.read_catalogue(|connection| sql::catalogue::spaces(connection, tenant))?;
        if plan.space.is_none() {
            for table in catalogue::tables() {
                let rows = from.read_catalogue(|connection| catalogue::rows_of(connection, table, tenant.name()))?;
                dump.write_rows(FrameKind::Catalogue, table, &rows)?;
            }
        }
        spaces.retain(|space| plan.space.as_ref().is_none_or(|wanted| wanted == space));
        if let (Some(wanted), true) = (&plan.space, spaces.is_empty()) {
            return Err(loci_types::Error::invalid("space", format!("tenant {} has no space {wanted}", tenant.name()))
                .hint("check the tenant and the name of the agent or pool")
                .into());
        }
        for space in &spaces {
            let base = plan.since.as_ref().and_then(|base| BaseSpace::of(base, tenant, space));
            let created_at = from.read_catalogue(|connection| sql::catalogue::created_at(connection, tenant, space))?;
            let open = from.open(tenant, space);
            if from.read_catalogue(|connection| sql::catalogue::was_written(connection, tenant, space))? {
                super::require_space(from, &open)?;
            }
            let dumped =
                from.read(&open, |connection| match dump.space(connection, (tenant, space, created_at), base) {
                    Ok(()) => Ok(Ok(())),
                    Err(StreamFailure::Database(error)) => Err(error),
                    Err(StreamFailure::Other(error)) => Ok(Err(error)),
                })?;
            dumped.transpose()?;
        }
    }
    let Dump { mut writer, spaces, rows, .. } = dump;
    let backup = Backup { manifest, spaces, rows, digest: writer.digest() };
    writer.put_json(FrameKind::End, &backup)?;
    Ok((backup, writer.finish()?))
}

/// Refuses an increment that holds another part of the store than its base.
fn require_same_part(base: &Manifest, new: &Manifest) -> Result<()> {
    if base.tenant == new.tenant && base.space == new.space {
        return Ok(());
    }
    Err(loci_types::Error::invalid("since", "the base backup holds another part of the store")
        .hint("use the same tenant and space, or make a full backup")
        .into())
}

/// A space in the backup that an increment is based on.
#[derive(Clone, Copy)]
struct BaseSpace<'b> {
    space: &'b BackupSpace,
    created_at: Timestamp,
}

impl<'b> BaseSpace<'b> {
    fn of(base: &'b Backup, tenant: &Tenant, space: &Space) -> Option<Self> {
        let held = |held: &&BackupSpace| held.tenant == tenant.name() && held.space == space.name();
        base.spaces.iter().find(held).map(|space| BaseSpace { space, created_at: base.manifest.created_at })
    }
}

/// A backup that is being written.
struct Dump<W> {
    writer: FrameWriter<W>,
    progress: BackupProgress,
    spaces: Vec<BackupSpace>,
    rows: u64,
}

impl<W: Write> Dump<W> {
    /// Writes a space as it is in the snapshot of this connection.
    fn space(
        &mut self,
        connection: &dyn Connection,
        (tenant, space, created_at): (&Tenant, &Space, i64),
        base: Option<BaseSpace<'_>>,
    ) -> Result<(), StreamFailure> {
        let sequence = feed::end(connection)?;
        if let Some(base) = base
            && let Some(reason) = stale(connection, base.space, sequence)?
        {
            let problem = format!("no increment can be made of {space}: {reason}; make a full backup");
            return Err(Error::Overtaken(problem).into());
        }
        let since = base.map_or(0, |base| base.space.sequence);
        let head = BackupSpace {
            tenant: tenant.name().to_owned(),
            space: space.name(),
            created_at,
            sequence,
            line: entry_hash(connection, sequence)?,
            since,
            numbers: numbers::read(connection)?,
            rows: 0,
        };
        self.writer.put_json(FrameKind::Space, &head)?;
        self.spaces.push(head);
        let changed = base.map(|base| changed(connection, since, base.created_at)).transpose()?;
        for rows in changed.iter().flat_map(|rows| rows.chunks(1 << 16)) {
            let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
            self.writer.put(FrameKind::Changed, &bytes)?;
        }
        for table in TABLES.iter().filter(|table| table.load != Load::Terms) {
            match (&changed, table.memory_columns()) {
                (Some(rows), Some(columns)) => self.rows_of_memories(connection, table, columns, rows)?,
                (Some(_), None) if table.name == "ledger" => self.rows_after(connection, table, since)?,
                _ => self.rows_after(connection, table, i64::MIN)?,
            }
        }
        Ok(())
    }

    /// Writes all rows of a table after a lead.
    fn rows_after(
        &mut self,
        connection: &dyn Connection,
        table: &'static TableSpec,
        mut after: i64,
    ) -> Result<(), StreamFailure> {
        let limit = if table.name.starts_with("checkpoint") { CHECKPOINT_PAGE } else { PAGE };
        while let Some(page) = page::next(connection, table, MigrationSide::Source, after, limit, false)? {
            self.table_rows(table, &page.rows)?;
            after = page.through;
        }
        Ok(())
    }

    /// Writes the rows of a table that belong to these memories.
    fn rows_of_memories(
        &mut self,
        connection: &dyn Connection,
        table: &'static TableSpec,
        columns: &[&str],
        memories: &[i64],
    ) -> Result<(), StreamFailure> {
        let list = format!("IN (SELECT value FROM {})", connection.dialect().integers);
        let condition = columns.iter().map(|column| format!("{column} {list}")).collect::<Vec<_>>().join(" OR ");
        let sql = format!("SELECT {} FROM {} WHERE {condition}", table.column_list(), table.name);
        let mut seen = HashSet::new();
        for memories in memories.chunks(PAGE) {
            let values = vec![Value::Integers(memories.to_vec()); columns.len()];
            let mut rows: Vec<TableRow> =
                connection.query_map(&sql, values, |row| TableRow::read(row, table, false))?;
            if columns.len() > 1 {
                // An edge between memories of two chunks is found twice.
                rows.retain(|row| seen.insert(row.key().to_vec()));
            }
            self.table_rows(table, &rows)?;
        }
        Ok(())
    }

    /// Writes rows of a table of the last space and reports them.
    fn table_rows(&mut self, table: &'static TableSpec, rows: &[TableRow]) -> Result<()> {
        self.write_rows(FrameKind::Rows, table, rows)?;
        let (Some(space), rows) = (self.spaces.last_mut(), rows.len() as u64) else { return Ok(()) };
        space.rows += rows;
        let (tenant, space) = (space.tenant.clone(), space.space.clone());
        (self.progress)(&BackupStep { tenant, space, table: table.name, rows });
        Ok(())
    }

    fn write_rows(&mut self, kind: FrameKind, table: &TableSpec, rows: &[TableRow]) -> Result<()> {
        self.rows += rows.len() as u64;
        row::pack(table, rows, |frame| self.writer.put(kind, frame))
    }
}

/// The row numbers of memories that have changed.
fn changed(connection: &dyn Connection, since: i64, at: Timestamp) -> sql::SqlResult<Vec<i64>> {
    let at = at.saturating_sub(SKEW).unwrap_or(at).as_microsecond();
    connection.query_map(
        "SELECT memory FROM ledger WHERE sequence > ?1 AND memory IS NOT NULL UNION \
             SELECT row FROM memories WHERE last_accessed_at >= ?2 OR aged_at >= ?2",
        params![since, at],
        |row| row.get(0),
    )
}

/// The reason why no increment can follow the base; none if it can.
fn stale(connection: &dyn Connection, base: &BackupSpace, end: i64) -> sql::SqlResult<Option<&'static str>> {
    if end < base.sequence || entry_hash(connection, base.sequence)? != base.line {
        return Ok(Some("its ledger is not the one of the base backup"));
    }
    for (condition, reason) in [
        // An erasure also empties older ledger entries, whose content the base still has.
        ("event = 'erase'", "something was erased since"),
        (
            "memory IS NULL AND event IN ('restore', 'embed')",
            "it was restored, or vectors of a model were dropped since",
        ),
    ] {
        let sql = format!("SELECT 1 FROM ledger WHERE sequence > ?1 AND {condition} LIMIT 1");
        if connection.exists(&sql, params![base.sequence])? {
            return Ok(Some(reason));
        }
    }
    Ok(None)
}

/// The hash of a ledger entry: of its number, time, event and memory.
fn entry_hash(connection: &dyn Connection, sequence: i64) -> sql::SqlResult<String> {
    let entry: Option<(i64, String, Option<[u8; 16]>)> = connection
        .query_row("SELECT at, event, memory_id FROM ledger WHERE sequence = ?1", params![sequence], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&sequence.to_le_bytes());
    if let Some((at, event, memory)) = entry {
        hasher.update(&at.to_le_bytes()).update(event.as_bytes()).update(&memory.unwrap_or_default());
    }
    Ok(hasher.finalize().to_hex().to_string())
}
