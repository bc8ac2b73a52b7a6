//! Where does a copy go on counting?
//!
//! The ledger outlives the memories it tells of and names them by their rows, so a row must never be
//! given twice. A copy goes on after the greatest number that its source ever gave, also when what had
//! it is gone.

use crate::sql::{self, Connection};

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
            Ok(there.max(connection.last_number(table, column)?))
        })
        .collect()
}

/// Makes the target go on after these.
pub(in crate::sql) fn go_on_after(connection: &dyn Connection, numbers: &[i64]) -> sql::Result<()> {
    for ((table, column), number) in COUNTED.iter().zip(numbers) {
        if *number <= connection.last_number(table, column)? {
            continue;
        }
        connection.set_last_number(table, column, *number)?;
    }
    Ok(())
}
