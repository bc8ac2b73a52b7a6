//! How is a database asked, whichever it is?
//!
//! The rules of the floor are written once, in SQL that SQLite and PostgreSQL both understand, and
//! run through this thin face of the two drivers. Rows and statements of SQLite are handed on as they
//! are. A statement for PostgreSQL is [put into its dialect](super::dialect) and prepared once per
//! connection; its rows come at once. Whoever works here may block.

use super::dialect::{self, Dialect};
use super::value::{Get, Place, Value};
use super::{Error, Result};
use crate::postgres::Session;

/// A connection with an open transaction on one space, or on the catalogue.
#[derive(Clone, Copy)]
pub(crate) enum Connection<'c> {
    /// A file.
    Sqlite(&'c rusqlite::Connection),
    /// A session, bound to its tenant and space by row-level security.
    Postgres(&'c Session),
}

/// A statement that was made ready.
pub(crate) enum Statement<'c> {
    Sqlite(rusqlite::CachedStatement<'c>),
    Postgres(&'c Session, tokio_postgres::Statement),
}

/// One row of an answer.
#[derive(Clone, Copy)]
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl<'c> Connection<'c> {
    /// Which of the two it is.
    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Connection::Sqlite(_) => Dialect::Sqlite,
            Connection::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Makes a statement ready, or finds it ready.
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'c>> {
        match self {
            Connection::Sqlite(connection) => Ok(Statement::Sqlite(connection.prepare_cached(sql)?)),
            Connection::Postgres(session) => {
                let statement = session.prepare(&dialect::for_postgres(sql))?;
                Ok(Statement::Postgres(session, statement))
            }
        }
    }

    /// Runs a statement that has no answer. Returns how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: impl Into<Vec<Value>>) -> Result<usize> {
        self.prepare_cached(sql)?.execute(values)
    }

    /// The first row of the answer.
    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        values: impl Into<Vec<Value>>,
        read: impl FnOnce(&dyn Row) -> Result<T>,
    ) -> Result<T> {
        self.prepare_cached(sql)?.query_row(values, read)
    }
}

impl Statement<'_> {
    /// Runs it. Returns how many rows it changed.
    pub(crate) fn execute(&mut self, values: impl Into<Vec<Value>>) -> Result<usize> {
        let values = values.into();
        match self {
            Statement::Sqlite(statement) => Ok(statement.execute(rusqlite::params_from_iter(values))?),
            Statement::Postgres(session, statement) => session.execute(statement, &values),
        }
    }

    /// The first row of the answer; [`Error::NoRow`] if there is none.
    pub(crate) fn query_row<T>(
        &mut self,
        values: impl Into<Vec<Value>>,
        read: impl FnOnce(&dyn Row) -> Result<T>,
    ) -> Result<T> {
        let values = values.into();
        match self {
            Statement::Sqlite(statement) => {
                let mut rows = statement.query(rusqlite::params_from_iter(values))?;
                let row = rows.next()?.ok_or(Error::NoRow)?;
                read(&Row::Sqlite(row))
            }
            Statement::Postgres(session, statement) => {
                let rows = session.query(statement, &values)?;
                read(&Row::Postgres(rows.first().ok_or(Error::NoRow)?))
            }
        }
    }

    /// Every row of the answer, read.
    pub(crate) fn query_map<T>(
        &mut self,
        values: impl Into<Vec<Value>>,
        mut read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<std::vec::IntoIter<Result<T>>> {
        let values = values.into();
        let mut found = Vec::new();
        match self {
            Statement::Sqlite(statement) => {
                let mut rows = statement.query(rusqlite::params_from_iter(values))?;
                while let Some(row) = rows.next()? {
                    found.push(read(&Row::Sqlite(row)));
                }
            }
            Statement::Postgres(session, statement) => {
                let rows = session.query(statement, &values)?;
                found.extend(rows.iter().map(|row| read(&Row::Postgres(row))));
            }
        }
        Ok(found.into_iter())
    }

    /// Whether the answer has a row.
    pub(crate) fn exists(&mut self, values: impl Into<Vec<Value>>) -> Result<bool> {
        self.query_row(values, |_| Ok(())).optional().map(|found| found.is_some())
    }
}

impl Row<'_> {
    /// The value of a column, by number or by name.
    pub(crate) fn get<P: Place, T: Get>(&self, place: P) -> Result<T> {
        match self {
            Row::Sqlite(row) => Ok(row.get(place)?),
            Row::Postgres(row) => T::from_postgres(row, place),
        }
    }
}

/// Reads "there is none" as an answer.
pub(crate) trait OptionalExtension<T> {
    /// None if there was no row.
    fn optional(self) -> Result<Option<T>>;
}

impl<T> OptionalExtension<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(Error::NoRow | Error::Sqlite(rusqlite::Error::QueryReturnedNoRows)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
