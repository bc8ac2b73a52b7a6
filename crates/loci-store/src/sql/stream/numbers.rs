//! The sequences from which the rows of a space get their numbers.
//!
//! The ledger outlives the memories it is about and refers to them by row number, so a number must never be used twice.
//! A target continues after the greatest number that its source ever used, even if that row was deleted.

use crate::sql::{self, Connection};

/// The tables whose rows the database numbers, with the numbered column.
const COUNTERS: [(&str, &str); 7] = [
    ("scopes", "scope"),
    ("models", "model"),
    ("memories", "row"),
    ("entities", "entity"),
    ("jobs", "id"),
    ("facts", "fact"),
    ("checkpoints", "checkpoint"),
];

/// The greatest number that each sequence has given.
pub(super) fn read(connection: &dyn Connection) -> sql::SqlResult<Vec<i64>> {
    COUNTERS
        .iter()
        .map(|(table, column)| {
            let sql = format!("SELECT coalesce(max({column}), 0) FROM {table}");
            let greatest: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
            Ok(greatest.max(connection.last_number(table, column)?))
        })
        .collect()
}

/// Advances the sequences to these numbers. A sequence never goes back.
pub(super) fn advance(connection: &dyn Connection, numbers: &[i64]) -> sql::SqlResult<()> {
    for ((table, column), number) in COUNTERS.iter().zip(numbers) {
        if *number > connection.last_number(table, column)? {
            connection.set_last_number(table, column, *number)?;
        }
    }
    Ok(())
}
