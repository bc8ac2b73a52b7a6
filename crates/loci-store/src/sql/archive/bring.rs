//! How does a space come back?
//!
//! In one transaction: what is there goes, the rows of the chain come in, the ledger is taken back as far as is
//! wished, and words are made anew. Whatever fails, everything is as it was. The numbers of the ledger never go
//! back where someone may have read it: a line tells that it was restored, after the last that was ever there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use loci_types::{Identifier, Scope, Space, Tenant};

use super::frame::{Place, Reader, Sort};
use super::look::{Looked, columns_of};
use super::{Backup, Derive, RestorePlan, Restored, Until, rows, unwind};
use crate::sql::backend::blocking;
use crate::sql::copy::catalogue::{self, List, SPACES};
use crate::sql::copy::line::Line;
use crate::sql::copy::table::{self, Put, TABLES};
use crate::sql::copy::{numbers, page};
use crate::sql::{Backend, Connection, Value, feed, params, row, words};
use crate::text::Analyser;
use crate::{Error, Result};

/// Brings back what is meant of a chain that was looked through.
pub(super) async fn bring<F: Backend>(to: &Arc<F>, plan: &RestorePlan, chain: &[Looked]) -> Result<Vec<Restored>> {
    let Some(last) = chain.last() else { return Ok(Vec::new()) };
    let meant = meant(plan, &last.backup)?;
    if plan.until.is_some() && meant.len() != 1 {
        return Err(loci_types::Error::invalid("space", "lines are counted in each space for itself")
            .hint("name the one space that is to go back: --agent, --pool or --space shared")
            .into());
    }
    if !plan.replace {
        for (tenant, space) in &meant {
            let (floor, open) = (to.clone(), to.open(tenant, plan.rename.as_ref().unwrap_or(space)));
            let end = blocking(move || floor.read(&open, |connection| feed::end(connection))).await?.unwrap_or(0);
            if end > 0 {
                return Err(occupied(tenant, plan.rename.as_ref().unwrap_or(space)));
            }
        }
    }
    if plan.space.is_none() {
        let (floor, path, tenant) = (to.clone(), last.path.clone(), plan.tenant.clone());
        // What the last of the chain says counts: an earlier one would bring back what was revoked or left since.
        blocking(move || lists(&*floor, &path, tenant.as_ref())).await?;
    }
    let mut restored = Vec::new();
    for (tenant, space) in meant {
        restored.push(bring_space(to, plan, chain, tenant, space).await?);
    }
    Ok(restored)
}

/// The spaces that are to come back.
fn meant(plan: &RestorePlan, last: &Backup) -> Result<Vec<(Tenant, Space)>> {
    let mut meant = Vec::new();
    for known in &last.spaces {
        let (tenant, space) = (Tenant::new(&known.tenant)?, known.space.parse::<Space>()?);
        let wanted = plan.tenant.as_ref().is_none_or(|wanted| *wanted == tenant)
            && plan.space.as_ref().is_none_or(|wanted| *wanted == space);
        if wanted {
            meant.push((tenant, space));
        }
    }
    if meant.is_empty() && (plan.space.is_some() || plan.tenant.is_some()) {
        let held: Vec<String> = last.spaces.iter().map(|known| format!("{}/{}", known.tenant, known.space)).collect();
        return Err(loci_types::Error::invalid("space", "the backup does not hold what was named")
            .hint(format!("it holds {}", held.join(", ")))
            .into());
    }
    if let Some(rename) = &plan.rename {
        let alike = |(_, space): &(Tenant, Space)| std::mem::discriminant(space) == std::mem::discriminant(rename);
        if meant.len() != 1 || !meant.iter().all(alike) || *rename == Space::Shared {
            return Err(loci_types::Error::invalid("as", "only one agent can become another, and one pool another")
                .hint("name the agent of the backup with --agent, and the one it becomes with --as")
                .into());
        }
    }
    Ok(meant)
}

fn occupied(tenant: &Tenant, space: &Space) -> Error {
    loci_types::Error::new(
        loci_types::ErrorKind::Conflict,
        format!("{}/{space} is not empty; nothing was changed", tenant.name()),
    )
    .at("replace")
    .hint("--replace puts the backup in its place; what lies there now is gone then")
    .into()
}

/// Adds the entries of the catalogue that are missing. A pool that is there keeps the members it has now: a backup
/// lets nobody in again who has left.
fn lists<F: Backend>(to: &F, path: &Path, tenant: Option<&Tenant>) -> Result<()> {
    let mut reader = Reader::open(path)?;
    let mut entries: Vec<(&'static List, Vec<Value>)> = Vec::new();
    loop {
        let (sort, bytes) = reader.next()?;
        match sort {
            Sort::End => break,
            Sort::List => {
                let Some((name, rows)) = rows::unpack(&bytes, columns_of(Sort::List)) else { continue };
                let Some(list) = catalogue::list(name) else { continue };
                let meant = |row: &Vec<Value>| tenant.is_none_or(|tenant| list.is_of(row, tenant.name()));
                entries.extend(rows.into_iter().filter(meant).map(|row| (list, row)));
            }
            _ => {}
        }
    }
    to.tell(|connection| {
        let mut there = std::collections::HashSet::new();
        for (list, row) in entries.iter().filter(|(list, _)| list.name == "pools") {
            if list.has(connection, row)? {
                there.insert((list.text(row, "tenant").map(str::to_owned), list.text(row, "slug").map(str::to_owned)));
            }
        }
        for (list, row) in &mut entries {
            let pool = (list.text(row, "tenant").map(str::to_owned), list.text(row, "pool").map(str::to_owned));
            if list.name == "pool_members" && there.contains(&pool) {
                continue;
            }
            // A space is written once its rows are here.
            if let Some(written) = list.value_mut(row, "written") {
                *written = Value::Integer(0);
            }
            list.put(connection, &[Line::made(row.clone(), 1)])?;
        }
        Ok(())
    })
}

async fn bring_space<F: Backend>(
    to: &Arc<F>,
    plan: &RestorePlan,
    chain: &[Looked],
    tenant: Tenant,
    space: Space,
) -> Result<Restored> {
    let target = plan.rename.clone().unwrap_or_else(|| space.clone());
    let open = to.open(&tenant, &target);
    let held: Vec<_> = chain
        .iter()
        .filter_map(|looked| {
            looked.of(tenant.name(), &space.name()).map(|(known, place)| (known, looked.path.clone(), place))
        })
        .collect();
    let latest = held.last().map(|(known, ..)| (known.created_at, known.numbers.clone()));
    let (created_at, numbers) = latest.unwrap_or_default();
    let written = held.iter().any(|(known, ..)| known.rows > 0);
    let (floor, place, owner, name) = (to.clone(), open.clone(), tenant.clone(), target.name());
    blocking(move || {
        let at = row::from_micros(created_at).map_err(|error| Error::said(F::place_of(&place), error))?;
        floor.prepare(&owner, &place, at)?;
        floor.tell(|connection| catalogue::date(connection, &SPACES, owner.name(), &name, created_at))
    })
    .await?;
    let bringing = Bringing {
        parts: held.into_iter().map(|(_, path, place)| (path, place)).collect(),
        tenant: tenant.name().to_owned(),
        space,
        target: target.clone(),
        until: plan.until,
        at: plan.at,
        derive: plan.derive.clone(),
        numbers,
        analyser: to.analyser().clone(),
        place: F::place_of(&open).to_owned(),
    };
    let place = F::place_of(&open).to_owned();
    let restored = to
        .write_long(&open, move |connection| {
            connection.without_timeout().map_err(|error| Error::said(&place, error))?;
            bringing.run(connection)
        })
        .await?;
    if written {
        let (floor, owner) = (to.clone(), tenant.clone());
        blocking(move || floor.note_written(&owner, &open)).await?;
    }
    Ok(restored)
}

/// A space on its way back. May be run again if its transaction did not come to its end.
struct Bringing {
    /// Where it lies in each file that holds something of it.
    parts: Vec<(PathBuf, Place)>,
    tenant: String,
    /// Its name in the backup.
    space: Space,
    /// Its name from now on.
    target: Space,
    until: Option<Until>,
    at: Timestamp,
    derive: Derive,
    numbers: Vec<i64>,
    analyser: Arc<Analyser>,
    place: PathBuf,
}

impl Bringing {
    fn run(&self, connection: &dyn Connection) -> Result<Restored> {
        let said = |error| Error::said(&self.place, error);
        let before = feed::end(connection).map_err(said)?;
        for (path, place) in &self.parts {
            self.take_in(connection, path, *place)?;
        }
        let whole = feed::end(connection).map_err(said)?;
        let unwound = match self.until {
            Some(until) => unwind::unwind(connection, &self.place, until, &self.derive)?,
            None => unwind::Unwound::default(),
        };
        let sequence = feed::end(connection).map_err(said)?;
        let rows: Vec<i64> = connection
            .prepare_cached("SELECT row FROM memories ORDER BY row")
            .and_then(|mut read| read.query_map(params![], |row| row.get(0))?.collect())
            .map_err(said)?;
        rows.iter().try_for_each(|row| words::write(connection, &self.analyser, *row)).map_err(said)?;
        numbers::go_on_after(connection, &self.numbers).map_err(said)?;
        if before > 0 {
            self.mark(connection, before.max(whole) + 1, sequence).map_err(said)?;
        }
        TABLES.iter().try_for_each(|table| page::look_over(connection, table)).map_err(said)?;
        Ok(Restored {
            tenant: self.tenant.clone(),
            space: self.target.name(),
            memories: rows.len() as u64,
            sequence,
            unwound: unwound.lines,
            lost: unwound.lost,
        })
    }

    /// Takes the rows of one file in.
    fn take_in(&self, connection: &dyn Connection, path: &Path, place: Place) -> Result<()> {
        let said = |error| Error::said(&self.place, error);
        let mut reader = Reader::resume(path, place)?;
        let head: super::BackupSpace = match reader.next()? {
            (Sort::Space, bytes) => reader.json(&bytes)?,
            _ => return Err(reader.wrong("was changed while it was read")),
        };
        // One that was dropped and made anew since the base begins from nothing.
        let increment = head.since > 0;
        if increment { clear_small(connection) } else { clear(connection) }.map_err(said)?;
        loop {
            let (sort, bytes) = reader.next()?;
            match sort {
                Sort::End | Sort::Space => return Ok(()),
                Sort::Changed => {
                    let (rows, _) = bytes.as_chunks::<8>();
                    let mut gone = connection.prepare_cached("DELETE FROM memories WHERE row = ?1").map_err(said)?;
                    rows.iter()
                        .try_for_each(|row| gone.execute(params![i64::from_le_bytes(*row)]).map(drop))
                        .map_err(said)?;
                }
                Sort::Rows => {
                    let (name, rows) = rows::unpack(&bytes, columns_of(sort))
                        .ok_or_else(|| reader.wrong("has rows that cannot be understood"))?;
                    let table = table::table(name).ok_or_else(|| reader.wrong("has rows of an unknown table"))?;
                    let mut rows: Vec<Vec<Value>> = rows.into_iter().filter(|row| self.belongs(table, row)).collect();
                    rows.iter_mut().try_for_each(|row| self.renamed(table, row))?;
                    if increment && matches!(table.name, "scopes" | "models") {
                        rows = self.new_ones(connection, table, rows)?;
                    }
                    let lines: Vec<Line> = rows.into_iter().map(|row| Line::made(row, table.key)).collect();
                    page::put(connection, table, &lines, &self.analyser).map_err(said)?;
                }
                _ => {}
            }
        }
    }

    /// Those whose number is not there yet.
    fn new_ones(
        &self,
        connection: &dyn Connection,
        table: &table::Table,
        rows: Vec<Vec<Value>>,
    ) -> Result<Vec<Vec<Value>>> {
        let sql = format!("SELECT 1 FROM {} WHERE {} = ?1", table.name, table.lead);
        let mut new = Vec::new();
        for row in rows {
            let number = row.first().cloned().unwrap_or(Value::Null);
            let there = connection.prepare_cached(&sql).and_then(|mut find| find.exists(vec![number]));
            if !there.map_err(|error| Error::said(&self.place, error))? {
                new.push(row);
            }
        }
        Ok(new)
    }

    /// Work that was queued for the old name would look for memories under it.
    fn belongs(&self, table: &table::Table, row: &[Value]) -> bool {
        let embeds = matches!(table.value(row, "kind"), Some(Value::Text(kind)) if kind == "embed");
        table.name != "jobs" || self.space == self.target || embeds
    }

    /// Gives a row the name that its space has from now on.
    fn renamed(&self, table: &table::Table, row: &mut [Value]) -> Result<()> {
        if self.space == self.target {
            return Ok(());
        }
        let (which, old, new) = match (&self.space, &self.target) {
            (Space::Agent(old), Space::Agent(new)) => (Identifier::Agent, old, new),
            (Space::Pool(old), Space::Pool(new)) => (Identifier::Pool, old, new),
            _ => return Ok(()),
        };
        match table.name {
            "scopes" => {
                if let Some(Value::Text(key)) = table.value_mut(row, "key") {
                    let scope = Scope::from_key(key)?;
                    let mut identifiers = scope.identifiers();
                    if identifiers.get(which) == Some(old) {
                        identifiers.set(which, Some(new.clone()));
                    }
                    *key = Scope::new(scope.layer(), &identifiers)?.key();
                }
            }
            "memories" => {
                let column = if which == Identifier::Agent { "agent_id" } else { "pool_id" };
                if let Some(Value::Text(name)) = table.value_mut(row, column)
                    && name == old
                {
                    name.clone_from(new);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The line that tells followers of the ledger that everything before it is not what they read.
    fn mark(&self, connection: &dyn Connection, sequence: i64, through: i64) -> crate::sql::Result<()> {
        let told = serde_json::json!({ "restored": { "through": through } }).to_string();
        connection
            .execute(
                "INSERT INTO ledger (sequence, at, event, new, node, reason) VALUES (?1, ?2, 'restore', ?3, 'operator', ?4)",
                params![sequence, self.at.as_microsecond(), told, "restored from a backup"],
            )
            .map(drop)
    }
}

/// Takes everything of a space away.
fn clear(connection: &dyn Connection) -> crate::sql::Result<()> {
    for table in TABLES.iter().rev().filter(|table| matches!(table.put, Put::Row | Put::Vector)) {
        connection.execute(&format!("DELETE FROM {}", table.name), [])?;
    }
    Ok(())
}

/// Takes away what an increment has all of.
fn clear_small(connection: &dyn Connection) -> crate::sql::Result<()> {
    for table in TABLES.iter().rev().filter(|table| table.put == Put::Row && table::comes_whole(table.name)) {
        connection.execute(&format!("DELETE FROM {}", table.name), [])?;
    }
    Ok(())
}
