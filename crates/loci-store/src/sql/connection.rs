//! The interface of a database connection, common to both drivers.
//!
//! The SQL of the store is written once and runs through [`Connection`]; each backend implements it for its connection
//! type. Differences in syntax are in the [`Dialect`], differences in behaviour are methods here. All calls may block.

use super::dialect::Dialect;
use super::value::{ColumnRef, Get, Value, ValueRef};
use super::{SqlError, SqlResult};

/// A connection with an open transaction on one space, or on the catalogue.
pub(crate) trait Connection {
    /// The SQL dialect of this database.
    fn dialect(&self) -> &'static Dialect;

    /// Runs a statement and returns the number of rows it changed.
    fn run(&self, sql: &str, values: &[Value]) -> SqlResult<usize>;

    /// Runs a query and calls `each` for every row until it returns false.
    fn visit(&self, sql: &str, values: &[Value], each: &mut dyn FnMut(&dyn Row) -> SqlResult<bool>) -> SqlResult<()>;

    /// Runs a statement whose result is not needed. PostgreSQL sends it together with the next statement, which then
    /// also reports its error; SQLite runs it at once.
    fn run_later(&self, sql: &str, values: Vec<Value>) -> SqlResult<()> {
        self.run(sql, &values).map(drop)
    }

    /// Disables the statement timeout for this transaction, for administrative work of unbounded size.
    fn without_timeout(&self) -> SqlResult<()> {
        Ok(())
    }

    /// Stores the terms of a memory that has none yet. `answers` is the row of the question whose terms are included.
    fn put_terms(&self, row: i64, scope: i64, terms: &[String], answers: Option<i64>) -> SqlResult<()>;

    /// Removes the terms of a memory.
    fn clear_terms(&self, row: i64) -> SqlResult<()>;

    /// The last value of the sequence of a table's column; 0 if it has none.
    fn last_number(&self, table: &str, column: &str) -> SqlResult<i64>;

    /// Sets the sequence of a table's column, which continues after this value.
    fn set_last_number(&self, table: &str, column: &str, number: i64) -> SqlResult<()>;

    /// Updates the planner's statistics of tables after a bulk load. SQLite needs none.
    fn analyse(&self, _tables: &[&str]) -> SqlResult<()> {
        Ok(())
    }

    /// Whether vectors are stored in half precision.
    fn keeps_half_vectors(&self) -> SqlResult<bool> {
        Ok(false)
    }

    /// Overwrites deleted content from here on in this transaction. PostgreSQL does nothing here; its tables are
    /// rewritten by `scrub`.
    fn overwrite_deleted(&self) -> SqlResult<()> {
        Ok(())
    }
}

/// One row of a result.
pub(crate) trait Row {
    /// The value of a column.
    fn value(&self, column: usize) -> SqlResult<ValueRef<'_>>;

    /// The number of the column with this name.
    fn column(&self, name: &str) -> SqlResult<usize>;
}

/// A statement is prepared once per connection, when it first runs.
impl dyn Connection + '_ {
    /// Runs a statement and returns the number of rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: impl Into<Vec<Value>>) -> SqlResult<usize> {
        self.run(sql, &values.into())
    }

    /// The first row of the result; [`SqlError::NoRow`] if there is none.
    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        values: impl Into<Vec<Value>>,
        read: impl FnOnce(&dyn Row) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let (mut read, mut found) = (Some(read), None);
        self.visit(sql, &values.into(), &mut |row| {
            found = read.take().map(|read| read(row)).transpose()?;
            Ok(false)
        })?;
        found.ok_or(SqlError::NoRow)
    }

    /// All rows of the result, converted by `read`.
    pub(crate) fn query_map<T>(
        &self,
        sql: &str,
        values: impl Into<Vec<Value>>,
        mut read: impl FnMut(&dyn Row) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        let mut found = Vec::new();
        self.visit(sql, &values.into(), &mut |row| {
            found.push(read(row)?);
            Ok(true)
        })?;
        Ok(found)
    }

    /// Whether the result has a row.
    pub(crate) fn exists(&self, sql: &str, values: impl Into<Vec<Value>>) -> SqlResult<bool> {
        self.query_row(sql, values, |_| Ok(())).optional().map(|found| found.is_some())
    }
}

impl dyn Row + '_ {
    /// The value of a column, by number or by name.
    pub(crate) fn get<C: ColumnRef, T: Get>(&self, column: C) -> SqlResult<T> {
        T::from_value(self.value(column.number(self)?)?)
    }
}

/// Turns [`SqlError::NoRow`] into none.
pub(crate) trait OptionalExtension<T> {
    /// None if no row matches.
    fn optional(self) -> SqlResult<Option<T>>;
}

impl<T> OptionalExtension<T> for SqlResult<T> {
    fn optional(self) -> SqlResult<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(SqlError::NoRow) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
