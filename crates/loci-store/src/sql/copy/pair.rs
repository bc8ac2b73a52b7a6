//! How are the two copies of one space read and compared?
//!
//! Everything here may block.

use std::sync::Arc;

use loci_types::{Space, Tenant};

use super::line::{self, Line};
use super::page;
use super::table::{End, TABLES, Table};
use crate::sql::{self, Connection, Floor, feed};
use crate::{Error, Result};

/// Before the first number.
pub(super) const START: i64 = i64::MIN;

/// A space on both sides.
pub(super) struct Pair<F: Floor, T: Floor> {
    pub(super) from: F,
    pub(super) to: T,
    pub(super) tenant: Tenant,
    pub(super) space: Space,
    pub(super) theirs: Arc<F::Open>,
    pub(super) ours: Arc<T::Open>,
    /// Whether one of the sides keeps vectors in half precision.
    pub(super) halves: bool,
}

impl<F: Floor, T: Floor> Clone for Pair<F, T> {
    fn clone(&self) -> Self {
        Self {
            from: self.from.clone(),
            to: self.to.clone(),
            tenant: self.tenant.clone(),
            space: self.space.clone(),
            theirs: self.theirs.clone(),
            ours: self.ours.clone(),
            halves: self.halves,
        }
    }
}

/// A page of the source.
pub(super) struct Page {
    pub(super) through: i64,
    pub(super) lines: Vec<Line>,
}

/// A page that is the same on both sides.
pub(super) struct Same {
    pub(super) through: i64,
    pub(super) rows: u64,
    pub(super) hashed: Vec<[u8; 32]>,
}

impl<F: Floor, T: Floor> Pair<F, T> {
    /// Which space it is, for people.
    pub(super) fn place(&self) -> String {
        format!("{}/{}", self.tenant.name(), self.space.name())
    }

    fn read_from<V: Default>(&self, work: impl FnOnce(&dyn Connection) -> sql::Result<V>) -> Result<V> {
        Ok(self.from.read(&self.theirs, work)?.unwrap_or_default())
    }

    fn read_to<V: Default>(&self, work: impl FnOnce(&dyn Connection) -> sql::Result<V>) -> Result<V> {
        Ok(self.to.read(&self.ours, work)?.unwrap_or_default())
    }

    /// How many rows the source has.
    pub(super) fn rows(&self) -> Result<u64> {
        self.read_from(|connection| {
            TABLES.iter().try_fold(0, |sum, table| Ok(sum + page::count(connection, table, End::From)?))
        })
    }

    /// The number of the last line of the source's ledger.
    pub(super) fn end(&self) -> Result<i64> {
        self.read_from(feed::end)
    }

    /// The greatest numbers that the source has given.
    pub(super) fn given(&self) -> Result<Vec<i64>> {
        self.read_from(super::numbers::given)
    }

    /// The next page of the source.
    pub(super) fn page(&self, table: &Table, after: i64, rows: usize) -> Result<Option<Page>> {
        self.read_from(|connection| {
            let Some(through) = page::next(connection, table, End::From, after, rows)? else { return Ok(None) };
            let lines = page::lines(connection, table, End::From, (after, through), self.halves)?;
            Ok(Some(Page { through, lines }))
        })
    }

    /// How far the target has come in a table, and how many rows that is. What is there last must be what
    /// the source has there; otherwise the target holds something else.
    pub(super) fn reached(&self, table: &Table) -> Result<(i64, u64)> {
        let found = self.read_to(|connection| {
            let Some(last) = page::greatest(connection, table)? else { return Ok(None) };
            let lines = page::lines(connection, table, End::To, (last - 1, last), self.halves)?;
            Ok(Some((last, page::count(connection, table, End::To)?, lines)))
        })?;
        let Some((last, count, ours)) = found else { return Ok((START, 0)) };
        let theirs =
            self.read_from(|connection| page::lines(connection, table, End::From, (last - 1, last), self.halves))?;
        match line::difference(theirs, ours) {
            None => Ok((last, count)),
            Some((key, problem)) => {
                let (place, table) = (self.place(), table.name);
                Err(Error::Occupied { place, table: table.to_owned(), key, problem: problem.to_owned() })
            }
        }
    }

    /// Compares the next page of both sides; none: both are at their end.
    pub(super) fn same(&self, table: &Table, after: i64, rows: usize) -> Result<Option<Same>> {
        let page = self.page(table, after, rows)?;
        let through = page.as_ref().map_or(i64::MAX, |page| page.through);
        let mut theirs = page.map(|page| page.lines).unwrap_or_default();
        let ours = self.read_to(|connection| match theirs.is_empty() {
            // One row is enough to tell that there are more.
            true => match page::next(connection, table, End::To, after, 1)? {
                Some(through) => page::lines(connection, table, End::To, (after, through), self.halves),
                None => Ok(Vec::new()),
            },
            false => page::lines(connection, table, End::To, (after, through), self.halves),
        })?;
        if theirs.is_empty() && ours.is_empty() {
            return Ok(None);
        }
        if let Some((key, problem)) = line::difference(theirs.clone(), ours) {
            return Err(unlike(&self.place(), table.name, key, problem));
        }
        theirs.sort_by(|one, other| one.key.cmp(&other.key));
        let hashed = theirs.iter().map(|line| *blake3::hash(&line.bytes).as_bytes()).collect();
        Ok(Some(Same { through, rows: theirs.len() as u64, hashed }))
    }
}

/// The failure of a copy that is not what it was made from.
pub(super) fn unlike(place: &str, table: &str, key: String, problem: &str) -> Error {
    Error::Unlike { place: place.to_owned(), table: table.to_owned(), key, problem: problem.to_owned() }
}
