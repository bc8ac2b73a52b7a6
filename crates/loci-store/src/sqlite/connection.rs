//! The store's SQL and transactions on a SQLite connection.

use rusqlite::types::{ToSqlOutput, Value as Owned, ValueRef as SqliteValue};
use rusqlite::{Connection as SqliteConnection, params_from_iter};

use crate::sql::{Connection, Dialect, Row, SqlError, SqlResult, Value, ValueRef, vector_bytes};
use crate::terms::encode;

/// The SQL dialect of SQLite.
static DIALECT: Dialect = Dialect {
    integers: "json_each(?) j",
    ids: "(SELECT unhex(value) AS value FROM json_each(?)) j",
    last_block: "substr(m.id, 11, 6)",
    texts: "(SELECT value FROM json_each(?))",
    // Compared as JSON text: `->` gives the canonical form of the field.
    metadata: "(m.metadata -> ('$.' || json_quote(?))) = json(?)",
    put_vector: "INSERT INTO vectors (memory, model, vector, token_states) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (memory, model) DO UPDATE SET vector = excluded.vector, token_states = excluded.token_states",
    put_vector_by_name: "INSERT INTO vectors (memory, model, vector, token_states) \
                         SELECT ?1, o.model, ?3, ?4 FROM models o WHERE o.name = ?2 AND o.dimensions = ?5 \
                         ON CONFLICT (memory, model) DO UPDATE SET vector = excluded.vector, \
                         token_states = excluded.token_states",
    skip_locked: "",
    ordered_join: "CROSS JOIN",
    byte_order: "",
    key_prefix: "",
    terms_table: "words",
    now: "CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
    lists_are_values: false,
    lateral: false,
    index_hints: true,
};

impl Connection for SqliteConnection {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn run(&self, sql: &str, values: &[Value]) -> SqlResult<usize> {
        Ok(self.prepare_cached(sql)?.execute(params_from_iter(values))?)
    }

    fn visit(&self, sql: &str, values: &[Value], each: &mut dyn FnMut(&dyn Row) -> SqlResult<bool>) -> SqlResult<()> {
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            if !each(row)? {
                break;
            }
        }
        Ok(())
    }

    fn put_terms(&self, row: i64, _: i64, terms: &[String], answers: Option<i64>) -> SqlResult<()> {
        let put = "INSERT INTO words (memory, answers, terms) VALUES (?1, ?2, ?3)";
        self.prepare_cached(put)?.execute((row, answers, encode(terms)))?;
        Ok(())
    }

    fn clear_terms(&self, row: i64) -> SqlResult<()> {
        self.prepare_cached("DELETE FROM words WHERE memory = ?1")?.execute([row])?;
        Ok(())
    }

    fn last_number(&self, table: &str, _: &str) -> SqlResult<i64> {
        let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?1";
        Ok(self.prepare_cached(sql)?.query_row([table], |row| row.get(0))?)
    }

    fn set_last_number(&self, table: &str, _: &str, number: i64) -> SqlResult<()> {
        // A table without AUTOINCREMENT has no sequence: SQLite uses the greatest row number plus one.
        let counted = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND sql LIKE '%AUTOINCREMENT%')";
        if self.prepare_cached(counted)?.query_row([table], |row| row.get(0))? {
            self.prepare_cached("DELETE FROM sqlite_sequence WHERE name = ?1")?.execute([table])?;
            let put = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
            self.prepare_cached(put)?.execute((table, number))?;
        }
        Ok(())
    }

    fn overwrite_deleted(&self) -> SqlResult<()> {
        Ok(self.pragma_update(None, "secure_delete", true)?)
    }
}

impl Row for rusqlite::Row<'_> {
    fn value(&self, column: usize) -> SqlResult<ValueRef<'_>> {
        Ok(match self.get_ref(column)? {
            SqliteValue::Null => ValueRef::Null,
            SqliteValue::Integer(number) => ValueRef::Integer(number),
            SqliteValue::Real(number) => ValueRef::Real(number),
            SqliteValue::Text(text) => ValueRef::Text(std::str::from_utf8(text).map_err(SqlError::unreadable)?),
            SqliteValue::Blob(bytes) => ValueRef::Blob(bytes),
        })
    }

    fn column(&self, name: &str) -> SqlResult<usize> {
        Ok(self.as_ref().column_index(name)?)
    }
}

/// Lists become JSON text for `json_each`; vectors become bytes.
impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let hex = |id: &[u8; 16]| data_encoding::HEXLOWER.encode(id);
        Ok(match self {
            Value::Null => ToSqlOutput::Borrowed(SqliteValue::Null),
            Value::Integer(value) => ToSqlOutput::Borrowed(SqliteValue::Integer(*value)),
            Value::Real(value) => ToSqlOutput::Borrowed(SqliteValue::Real(*value)),
            Value::Text(value) => ToSqlOutput::Borrowed(SqliteValue::Text(value.as_bytes())),
            Value::Blob(value) => ToSqlOutput::Borrowed(SqliteValue::Blob(value)),
            Value::Integers(values) => ToSqlOutput::Owned(Owned::Text(json(values))),
            Value::Texts(values) => ToSqlOutput::Owned(Owned::Text(json(values))),
            Value::Ids(values) => ToSqlOutput::Owned(Owned::Text(json(&values.iter().map(hex).collect::<Vec<_>>()))),
            Value::Floats(values) => ToSqlOutput::Owned(Owned::Blob(vector_bytes(values))),
            Value::Vectors(values) => ToSqlOutput::Owned(Owned::Text(json(values))),
        })
    }
}

/// The JSON text of a list of numbers or texts, whose serialisation does not fail.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// A transaction that is rolled back unless it is committed. `BEGIN` and `COMMIT` are cached statements: those of the
/// driver are prepared each time, which costs as much as a short read.
pub(super) struct Transaction<'c> {
    connection: &'c SqliteConnection,
    open: bool,
}

impl<'c> Transaction<'c> {
    /// Begins a transaction whose reads see one snapshot.
    pub(super) fn read(connection: &'c SqliteConnection) -> rusqlite::Result<Self> {
        Self::begin(connection, "BEGIN")
    }

    /// Begins a write transaction; waits for the write lock of the file.
    pub(super) fn write(connection: &'c SqliteConnection) -> rusqlite::Result<Self> {
        Self::begin(connection, "BEGIN IMMEDIATE")
    }

    fn begin(connection: &'c SqliteConnection, sql: &str) -> rusqlite::Result<Self> {
        run_cached(connection, sql)?;
        Ok(Self { connection, open: true })
    }

    /// Commits the transaction; its changes are durable.
    pub(super) fn commit(mut self) -> rusqlite::Result<()> {
        // If the commit fails, dropping this value rolls back.
        run_cached(self.connection, "COMMIT")?;
        self.open = false;
        Ok(())
    }

    /// Rolls back the transaction.
    pub(super) fn rollback(mut self) -> rusqlite::Result<()> {
        self.open = false;
        self.end()
    }

    /// Runs work in a savepoint, which is rolled back if the work fails.
    pub(super) fn within<T, E>(&self, work: impl FnOnce() -> SqlResult<T, E>) -> rusqlite::Result<SqlResult<T, E>> {
        run_cached(self.connection, "SAVEPOINT part")?;
        let done = work();
        // A full or failing disk rolls back the whole transaction, and the savepoint with it.
        if !self.is_gone() {
            if done.is_err() {
                run_cached(self.connection, "ROLLBACK TO part")?;
            }
            run_cached(self.connection, "RELEASE part")?;
        }
        Ok(done)
    }

    /// Whether SQLite has rolled back the transaction by itself.
    pub(super) fn is_gone(&self) -> bool {
        self.connection.is_autocommit()
    }

    fn end(&self) -> rusqlite::Result<()> {
        if self.is_gone() { Ok(()) } else { run_cached(self.connection, "ROLLBACK") }
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.open {
            // The error cannot be returned; a connection that cannot roll back fails at its next use.
            drop(self.end());
        }
    }
}

fn run_cached(connection: &SqliteConnection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.raw_execute().map(drop)
}
