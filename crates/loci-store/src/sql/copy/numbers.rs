//! Where does a copy go on counting?
//!
//! The ledger outlives the memories it tells of and names them by their rows, so a row must never be
//! given twice. A copy goes on after the greatest number that its source ever gave, also when what had
//! it is gone.

use crate::sql::dialect::Dialect;
use crate::sql::{self, Connection, params};

/// The tables whose rows the database numbers.
const COUNTED: [(&str, &str); 7] = [
    ("scopes", "scope"),
    ("models", "model"),
    ("memories", "row"),
    ("entities", "entity"),
    ("jobs", "id"),
    ("facts", "fact"),
    ("checkpoints", "checkpoint"),
];

/// The greatest numbers that were given, in the order of the tables.
pub(in crate::sql) fn given(connection: &dyn Connection) -> sql::Result<Vec<i64>> {
    COUNTED
        .iter()
        .map(|(table, column)| {
            let there: i64 =
                connection
                    .query_row(&format!("SELECT coalesce(max({column}), 0) FROM {table}"), [], |row| row.get(0))?;
            Ok(there.max(counter(connection, table, column)?))
        })
        .collect()
}

/// Makes the target go on after these.
pub(in crate::sql) fn go_on_after(connection: &dyn Connection, numbers: &[i64]) -> sql::Result<()> {
    for ((table, column), number) in COUNTED.iter().zip(numbers) {
        if *number <= counter(connection, table, column)? {
            continue;
        }
        match connection.dialect() {
            Dialect::Sqlite if keeps_count(connection, table)? => {
                connection.execute("DELETE FROM sqlite_sequence WHERE name = ?1", params![*table])?;
                connection
                    .execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)", params![*table, *number])?;
            }
            // Without a counter the next number is the one after the greatest that is there.
            Dialect::Sqlite => {}
            Dialect::Postgres => {
                let sql = format!("SELECT setval(pg_get_serial_sequence('{table}', '{column}')::regclass, ?1::bigint)");
                connection.query_row(&sql, params![*number], |_| Ok(()))?;
            }
        }
    }
    Ok(())
}

/// What the database's own counter says; 0 if it has none.
fn counter(connection: &dyn Connection, table: &str, column: &str) -> sql::Result<i64> {
    let sql = match connection.dialect() {
        Dialect::Sqlite => format!("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '{table}'"),
        Dialect::Postgres => {
            format!(
                "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('{table}', '{column}')::regclass), 0)"
            )
        }
    };
    connection.query_row(&sql, [], |row| row.get(0))
}

/// Whether numbers of this table are never given twice.
fn keeps_count(connection: &dyn Connection, table: &str) -> sql::Result<bool> {
    let sql =
        "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND sql LIKE '%AUTOINCREMENT%')";
    connection.query_row(sql, params![table], |row| row.get(0))
}
