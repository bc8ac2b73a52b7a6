//! The two ends of a migration: a tenant or a space in the source and in the target. All calls may block.

use std::sync::Arc;

use loci_types::{Space, Tenant};

use super::catalogue::{self, ENTRIES, SPACES};
use super::migrate::ComparedTable;
use super::page::{self, RowPage};
use super::row::{self, TableRow};
use super::table::{MigrationSide, TABLES, TableSpec};
use crate::sql::{self, Backend, Connection, Value, feed, keys};
use crate::{Error, Result};

/// The position before the first lead.
pub(super) const START: i64 = i64::MIN;

type Pairs<F, T> = (Vec<Arc<TenantPair<F, T>>>, Vec<Arc<SpacePair<F, T>>>);

/// The tenants and spaces of the source.
pub(super) fn survey<F: Backend, T: Backend>(from: &Arc<F>, to: &Arc<T>) -> Result<Pairs<F, T>> {
    if from.identity()? == to.identity()? {
        return Err(Error::Refused("the source and the target are the same store".to_owned()));
    }
    let half = from.read_catalogue(|connection| connection.keeps_half_vectors())?
        || to.read_catalogue(|connection| connection.keeps_half_vectors())?;
    let (mut tenants, mut spaces) = (Vec::new(), Vec::new());
    for name in from.read_catalogue(keys::tenants)? {
        let tenant = Tenant::new(&name)?;
        for row in from.read_catalogue(|connection| catalogue::rows_of(connection, &SPACES, &name))? {
            let [Value::Text(name), _, Value::Integer(created_at), Value::Integer(written)] = &row.values[..] else {
                continue;
            };
            let space: Space = name.parse()?;
            let (source, target) = (from.open(&tenant, &space), to.open(&tenant, &space));
            if *written != 0 {
                super::require_space(&**from, &source)?;
            }
            let measured = from.read(&source, |connection| {
                let count = |table| Ok(page::extent(connection, table, MigrationSide::Source)?.0);
                Ok((feed::end(connection)?, TABLES.iter().map(count).sum::<sql::SqlResult<u64>>()?))
            })?;
            let (end, rows) = measured.unwrap_or_default();
            let (from, to, tenant) = (from.clone(), to.clone(), tenant.clone());
            let (created_at, written) = (*created_at, *written != 0);
            let pair = SpacePair { from, to, tenant, space, source, target, half, created_at, written, end, rows };
            spaces.push(Arc::new(pair));
        }
        tenants.push(Arc::new(TenantPair { from: from.clone(), to: to.clone(), tenant }));
    }
    match tenants.is_empty() {
        true => Err(Error::Refused("the source is empty: there is nothing to copy".to_owned())),
        false => Ok((tenants, spaces)),
    }
}

/// A tenant in both stores.
pub(super) struct TenantPair<F, T> {
    from: Arc<F>,
    to: Arc<T>,
    tenant: Tenant,
}

impl<F: Backend, T: Backend> TenantPair<F, T> {
    /// Adds the entries of the catalogue that are missing in the target. Returns the number of rows added.
    pub(super) fn copy(&self) -> Result<u64> {
        let (mut added, name) = (0, self.tenant.name());
        for table in &ENTRIES {
            let rows = self.from.read_catalogue(|connection| catalogue::rows_of(connection, table, name))?;
            added += self.to.write_catalogue(|connection| {
                let mut added = 0;
                for row in rows {
                    if let ("tenants", Some(Value::Integer(at))) = (table.name, row.values.get(1)) {
                        catalogue::set_created_at(connection, table, name, name, *at)?;
                    }
                    added += catalogue::add(connection, table, row.values)?;
                }
                Ok(added)
            })?;
            self.compare(table)?;
        }
        Ok(added)
    }

    /// Checks that the target has every row of a table of the source. It may have others.
    pub(super) fn compare(&self, table: &TableSpec) -> Result<ComparedTable> {
        let name = self.tenant.name();
        let mut source = self.from.read_catalogue(|connection| catalogue::rows_of(connection, table, name))?;
        let mut target = self.to.read_catalogue(|connection| catalogue::rows_of(connection, table, name))?;
        target.retain(|found| source.iter().any(|row| row.key() == found.key()));
        if let Some(difference) = row::difference(&mut source, &mut target) {
            return Err(unlike(name.to_owned(), table, difference));
        }
        let mut digest = Digest::default();
        digest.add(&source);
        Ok(digest.finish(&self.tenant, None, table))
    }
}

/// A space in both stores.
pub(super) struct SpacePair<F: Backend, T: Backend> {
    from: Arc<F>,
    pub(super) to: Arc<T>,
    pub(super) tenant: Tenant,
    pub(super) space: Space,
    source: Arc<F::Open>,
    pub(super) target: Arc<T::Open>,
    /// Whether one of the stores has vectors in half precision.
    half: bool,
    pub(super) created_at: i64,
    /// Whether anything was ever written to it.
    pub(super) written: bool,
    /// The last sequence number of the source's ledger when the migration began.
    pub(super) end: i64,
    /// Number of rows in the source.
    pub(super) rows: u64,
}

impl<F: Backend, T: Backend> SpacePair<F, T> {
    /// Tenant and space, for error messages.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.tenant.name(), self.space.name())
    }

    /// Reads from the source.
    pub(super) fn source<V: Default>(&self, work: impl FnOnce(&dyn Connection) -> sql::SqlResult<V>) -> Result<V> {
        Ok(self.from.read(&self.source, |connection| work(connection))?.unwrap_or_default())
    }

    /// Reads from the target.
    fn target<V: Default>(&self, work: impl FnOnce(&dyn Connection) -> sql::SqlResult<V>) -> Result<V> {
        Ok(self.to.read(&self.target, |connection| work(connection))?.unwrap_or_default())
    }

    /// Writes to the target in one transaction.
    pub(super) async fn write(
        &self,
        mut work: impl FnMut(&dyn Connection) -> sql::SqlResult<()> + Send + 'static,
    ) -> Result<()> {
        let path = T::place_of(&self.target).to_owned();
        let work = move |connection: &dyn Connection| work(connection).map_err(|error| Error::sql(&path, error));
        self.to.write(&self.target, work).await
    }

    /// The next page of the source.
    pub(super) fn page(&self, table: &TableSpec, after: i64, limit: usize) -> Result<Option<RowPage>> {
        self.source(|connection| page::next(connection, table, MigrationSide::Source, after, limit, self.half))
    }

    /// The greatest lead and the number of rows of a table in the target. Fails with [`Error::Occupied`] unless the
    /// rows of that lead equal those of the source.
    pub(super) fn reached(&self, table: &TableSpec) -> Result<(i64, u64)> {
        let rows =
            |connection: &dyn Connection, end, last| page::range(connection, table, end, (last - 1, last), self.half);
        let found = self.target(|connection| {
            let (count, last) = page::extent(connection, table, MigrationSide::Target)?;
            last.map(|last| Ok((last, count, rows(connection, MigrationSide::Target, last)?))).transpose()
        })?;
        let Some((last, count, mut target)) = found else { return Ok((START, 0)) };
        let mut source = self.source(|connection| rows(connection, MigrationSide::Source, last))?;
        match row::difference(&mut source, &mut target) {
            None => Ok((last, count)),
            Some((key, problem)) => {
                let (place, table) = (self.name(), table.name.to_owned());
                Err(Error::Occupied { place, table, key, problem: problem.to_owned() })
            }
        }
    }

    /// Compares the next page of both stores. Returns none if neither has more rows.
    pub(super) fn compare(&self, table: &TableSpec, after: i64, limit: usize) -> Result<Option<RowPage>> {
        let mut page = self.page(table, after, limit)?;
        let mut target = self.target(|connection| match &page {
            Some(page) => page::range(connection, table, MigrationSide::Target, (after, page.through), self.half),
            // One row is enough to detect that the target has more.
            None => Ok(page::next(connection, table, MigrationSide::Target, after, 1, self.half)?
                .map(|page| page.rows)
                .unwrap_or_default()),
        })?;
        let source = page.as_mut().map_or(&mut [][..], |page| &mut page.rows[..]);
        match row::difference(source, &mut target) {
            None => Ok(page),
            Some(difference) => Err(unlike(self.name(), table, difference)),
        }
    }
}

/// The hash of the rows of a table, and their number.
#[derive(Default)]
pub(super) struct Digest {
    rows: u64,
    hasher: blake3::Hasher,
}

impl Digest {
    /// Adds rows, which must be in the order of their keys.
    pub(super) fn add(&mut self, rows: &[TableRow]) {
        self.rows += rows.len() as u64;
        for row in rows {
            self.hasher.update(blake3::hash(&row.bytes).as_bytes());
        }
    }

    pub(super) fn finish(self, tenant: &Tenant, space: Option<&Space>, table: &TableSpec) -> ComparedTable {
        let hash = self.hasher.finalize().to_hex().to_string();
        let (tenant, space) = (tenant.name().to_owned(), space.map(Space::name));
        ComparedTable { tenant, space, table: table.name, rows: self.rows, hash }
    }
}

/// The error of a target that differs from its source.
fn unlike(place: String, table: &TableSpec, (key, problem): (String, &str)) -> Error {
    Error::Unlike { place, table: table.name.to_owned(), key, problem: problem.to_owned() }
}
