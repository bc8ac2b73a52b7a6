//! The counters of a space.
//!
//! The ledger outlives the memories it is about and refers to them by row, so a row number must never be given twice. A
//! target continues after the greatest number that its source ever gave, even if the row that had it is gone.

use crate::sql::{self, Connection};

/// The tables whose rows the database numbers.
const COUNTERS: [(&str, &str); 7] = [
    ("scopes", "scope"),
    ("models", "model"),
    ("memories", "row"),
    ("entities", "entity"),
    ("jobs", "id"),
    ("facts", "fact"),
    ("checkpoints", "checkpoint"),
];

/// The greatest number that each counter has given.
pub(super) fn read(connection: &dyn Connection) -> sql::Result<Vec<i64>> {
    COUNTERS
        .iter()
        .map(|(table, column)| {
            let sql = format!("SELECT coalesce(max({column}), 0) FROM {table}");
            let greatest: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
            Ok(greatest.max(connection.last_number(table, column)?))
        })
        .collect()
}

/// Lets the counters continue after these numbers. A counter never goes back.
pub(super) fn advance(connection: &dyn Connection, numbers: &[i64]) -> sql::Result<()> {
    for ((table, column), number) in COUNTERS.iter().zip(numbers) {
        if *number > connection.last_number(table, column)? {
            connection.set_last_number(table, column, *number)?;
        }
    }
    Ok(())
}
