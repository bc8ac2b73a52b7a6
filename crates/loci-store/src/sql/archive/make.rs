//! How is a backup made while others write?
//!
//! Each space is read in one snapshot, so its rows and its ledger are of one moment. An increment holds the
//! lines of the ledger since its base, every memory that one of them is about, or that was used or aged since,
//! as it is now, and all of what is small or has no line: entities, sessions, notes, jobs, facts, checkpoints.

use std::io::Write;

use jiff::{SignedDuration, Timestamp};
use loci_types::{Space, Tenant};

use super::frame::{Sort, Writer};
use super::rows::{FULL, Packed};
use super::{Backup, BackupPlan, BackupProgress, BackupSpace, BackupStep, FORMAT, Manifest};
use crate::sql::copy::catalogue::{LISTS, SPACES};
use crate::sql::copy::line::Line;
use crate::sql::copy::table::{End, Put, TABLES, Table};
use crate::sql::copy::{numbers, page, table};
use crate::sql::{self, Connection, Floor, OptionalExtension, Value, feed, keys, params};
use crate::{Error, Result};

/// Rows that are read at once.
const PAGE: usize = 500;
/// Clocks of those who write may differ by so much.
const SKEW: SignedDuration = SignedDuration::from_hours(1);

/// Writes a backup.
pub(super) fn make<F: Floor, W: Write>(
    from: &F,
    store: &str,
    plan: &BackupPlan,
    out: W,
    progress: BackupProgress,
) -> Result<(Backup, W)> {
    let manifest = Manifest {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: plan.at,
        store: store.to_owned(),
        tenant: plan.tenant.as_ref().map(|tenant| tenant.name().to_owned()),
        space: plan.space.as_ref().map(Space::name),
        base: plan.since.as_ref().map(|base| base.digest.clone()),
    };
    if let Some(base) = &plan.since {
        same_part(&base.manifest, &manifest)?;
    }
    let mut making = Making { writer: Writer::new(out)?, progress, spaces: Vec::new(), rows: 0 };
    making.writer.put_json(Sort::Manifest, &manifest)?;
    let tenants = match &plan.tenant {
        Some(tenant) => vec![tenant.clone()],
        None => {
            let names = from.ask(keys::tenants)?;
            names.iter().map(|name| Tenant::new(name)).collect::<Result<_, _>>()?
        }
    };
    for tenant in &tenants {
        let mut spaces = from.ask(|connection| sql::catalogue::spaces(connection, tenant))?;
        if plan.space.is_none() {
            making.lists(from, tenant)?;
        }
        spaces.retain(|space| plan.space.as_ref().is_none_or(|wanted| wanted == space));
        if let (Some(wanted), true) = (&plan.space, spaces.is_empty()) {
            return Err(loci_types::Error::invalid("space", format!("tenant {} has no space {wanted}", tenant.name()))
                .hint("`loci stats` shows what there is")
                .into());
        }
        for space in &spaces {
            making.space(from, tenant, space, plan.since.as_ref())?;
        }
    }
    let Making { mut writer, spaces, rows, .. } = making;
    let backup = Backup { manifest, spaces, rows, digest: writer.digest() };
    writer.put_json(Sort::End, &backup)?;
    Ok((backup, writer.finish()?))
}

/// An increment holds the same part of the store as its base.
fn same_part(base: &Manifest, new: &Manifest) -> Result<()> {
    if base.tenant == new.tenant && base.space == new.space {
        return Ok(());
    }
    Err(loci_types::Error::invalid("since", "the backup to go on from holds another part of the store")
        .hint("name the same tenant and space, or make a full backup")
        .into())
}

struct Making<W> {
    writer: Writer<W>,
    progress: BackupProgress,
    spaces: Vec<BackupSpace>,
    rows: u64,
}

impl<W: Write> Making<W> {
    /// The lists of the catalogue.
    fn lists<F: Floor>(&mut self, from: &F, tenant: &Tenant) -> Result<()> {
        for list in LISTS.iter().chain([&SPACES]) {
            let lines = from.ask(|connection| list.lines(connection, tenant.name()))?;
            self.pack(list.name, Sort::List, &lines)?;
        }
        Ok(())
    }

    fn space<F: Floor>(&mut self, from: &F, tenant: &Tenant, space: &Space, base: Option<&Backup>) -> Result<()> {
        let open = from.open(tenant, space);
        let created_at = from.ask(|connection| sql::catalogue::created_at(connection, tenant, space))?;
        let before = base.and_then(|base| base.of(tenant.name(), &space.name()).map(|known| (known, base)));
        // What the file says is told apart from what the database says.
        let mut failed = None;
        let read = from.read(&open, |connection| {
            let made = self.snapshot(connection, (tenant, space, created_at), before);
            made.map_err(|error| {
                let told = sql::Error::Lost(error.to_string());
                failed = Some(error);
                told
            })
        });
        match failed {
            Some(error) => Err(error),
            None => read.map(drop),
        }
    }

    fn snapshot(
        &mut self,
        connection: &dyn Connection,
        (tenant, space, created_at): (&Tenant, &Space, i64),
        before: Option<(&BackupSpace, &Backup)>,
    ) -> Result<()> {
        let said = |error| Error::said(std::path::Path::new(&space.name()), error);
        let sequence = feed::end(connection).map_err(said)?;
        let since = before.map_or(0, |(known, _)| known.sequence);
        if let Some((known, _)) = before {
            follows(connection, known, sequence).map_err(said)?.map_err(|why| stale(space, why))?;
        }
        let head = BackupSpace {
            tenant: tenant.name().to_owned(),
            space: space.name(),
            created_at,
            sequence,
            line: line_hash(connection, sequence).map_err(said)?,
            since,
            numbers: numbers::given(connection).map_err(said)?,
            rows: 0,
        };
        self.writer.put_json(Sort::Space, &head)?;
        self.spaces.push(head);
        let changed = match before {
            None => None,
            Some((known, base)) => Some(changed(connection, known.sequence, base.manifest.created_at).map_err(said)?),
        };
        if let Some(rows) = &changed {
            for rows in rows.chunks(1 << 16) {
                let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
                self.writer.put(Sort::Changed, &bytes)?;
            }
        }
        for table in TABLES.iter().filter(|table| table.put != Put::Words) {
            match (&changed, table::by_memory(table.name)) {
                (Some(rows), Some(columns)) => self.some(connection, table, columns, rows, &said)?,
                (Some(_), None) if table.name == "ledger" => self.all(connection, table, since, &said)?,
                _ => self.all(connection, table, i64::MIN, &said)?,
            }
        }
        Ok(())
    }

    /// All rows of a table after a number.
    fn all(
        &mut self,
        connection: &dyn Connection,
        table: &'static Table,
        mut after: i64,
        said: &dyn Fn(sql::Error) -> Error,
    ) -> Result<()> {
        // A checkpoint may have many megabytes.
        let rows = if table.name.starts_with("checkpoint") { 4 } else { PAGE };
        while let Some(through) = page::next(connection, table, End::From, after, rows).map_err(said)? {
            let lines = page::lines(connection, table, End::From, (after, through), false).map_err(said)?;
            self.table(table, &lines)?;
            after = through;
        }
        Ok(())
    }

    /// The rows of a table that belong to some memories.
    fn some(
        &mut self,
        connection: &dyn Connection,
        table: &'static Table,
        columns: &[&str],
        rows: &[i64],
        said: &dyn Fn(sql::Error) -> Error,
    ) -> Result<()> {
        let own = format!("IN (SELECT value FROM {})", connection.dialect().integers());
        let asked = columns.iter().map(|column| format!("{column} {own}")).collect::<Vec<_>>().join(" OR ");
        let sql = format!("SELECT {} FROM {} WHERE {asked}", table.names(), table.name);
        let mut told = std::collections::HashSet::new();
        for rows in rows.chunks(PAGE) {
            let values: Vec<Value> = columns.iter().map(|_| Value::Integers(rows.to_vec())).collect();
            let lines: sql::Result<Vec<Line>> = connection.prepare_cached(&sql).and_then(|mut statement| {
                statement.query_map(values, |row| Line::read(row, table.columns, table.key, false))?.collect()
            });
            let mut lines = lines.map_err(said)?;
            if columns.len() > 1 {
                // An edge between memories of two pages is found twice.
                lines.retain(|line| told.insert(line.key.clone()));
            }
            self.table(table, &lines)?;
        }
        Ok(())
    }

    fn table(&mut self, table: &'static Table, lines: &[Line]) -> Result<()> {
        self.pack(table.name, Sort::Rows, lines)?;
        let Some(space) = self.spaces.last_mut() else { return Ok(()) };
        space.rows += lines.len() as u64;
        let (tenant, space) = (space.tenant.clone(), space.space.clone());
        (self.progress)(&BackupStep { tenant, space, table: table.name, rows: lines.len() as u64 });
        Ok(())
    }

    fn pack(&mut self, name: &str, sort: Sort, lines: &[Line]) -> Result<()> {
        let mut packed = Packed::new(name);
        for line in lines {
            packed.push(line);
            if packed.bytes.len() >= FULL {
                self.writer.put(sort, &packed.bytes)?;
                packed = Packed::new(name);
            }
        }
        if packed.rows > 0 {
            self.writer.put(sort, &packed.bytes)?;
        }
        self.rows += lines.len() as u64;
        Ok(())
    }
}

impl Backup {
    /// What it holds of a space.
    pub(super) fn of(&self, tenant: &str, space: &str) -> Option<&BackupSpace> {
        self.spaces.iter().find(|known| known.tenant == tenant && known.space == space)
    }
}

/// The rows of the memories that something happened to.
fn changed(connection: &dyn Connection, since: i64, at: Timestamp) -> sql::Result<Vec<i64>> {
    let at = at.saturating_sub(SKEW).unwrap_or(at).as_microsecond();
    connection
        .prepare_cached(
            "SELECT memory FROM ledger WHERE sequence > ?1 AND memory IS NOT NULL UNION \
             SELECT row FROM memories WHERE last_accessed_at >= ?2 OR aged_at >= ?2",
        )?
        .query_map(params![since, at], |row| row.get(0))?
        .collect()
}

/// Whether the ledger goes on from what the base knew, or why not.
fn follows(connection: &dyn Connection, known: &BackupSpace, end: i64) -> sql::Result<Result<(), &'static str>> {
    if end < known.sequence || line_hash(connection, known.sequence)? != known.line {
        return Ok(Err("its ledger is not the one that the backup to go on from was made of"));
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM ledger WHERE sequence > ?1 AND event = 'erase')";
    let erased: bool = connection.query_row(sql, params![known.sequence], |row| row.get(0))?;
    if erased {
        // Lines before that were emptied too, and the base still has them.
        return Ok(Err("something was erased since"));
    }
    let sql =
        "SELECT EXISTS (SELECT 1 FROM ledger WHERE sequence > ?1 AND memory IS NULL AND event IN ('restore', 'embed'))";
    let all_at_once: bool = connection.query_row(sql, params![known.sequence], |row| row.get(0))?;
    Ok(if all_at_once { Err("it was restored, or vectors of a model were dropped since") } else { Ok(()) })
}

fn stale(space: &Space, why: &str) -> Error {
    Error::Overtaken(format!("no increment can be made of {space}: {why}; make a full backup"))
}

/// What names a line of the ledger: its number, time, event and memory.
pub(super) fn line_hash(connection: &dyn Connection, sequence: i64) -> sql::Result<String> {
    let line: Option<(i64, String, Option<[u8; 16]>)> = connection
        .query_row("SELECT at, event, memory_id FROM ledger WHERE sequence = ?1", params![sequence], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&sequence.to_le_bytes());
    if let Some((at, event, memory)) = line {
        hasher.update(&at.to_le_bytes()).update(event.as_bytes()).update(&memory.unwrap_or_default());
    }
    Ok(hasher.finalize().to_hex().to_string())
}
