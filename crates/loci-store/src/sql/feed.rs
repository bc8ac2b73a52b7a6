//! Reads the ledger of a space from a position.
//!
//! Sequence numbers follow the order of commits, so a reader that continues after the last number it has seen misses no
//! entry. Entries that the caller may not see are skipped, and the position moves past them.

use loci_types::{Space, Visible};

use super::clause::{self, Clause};
use super::read::ENTRY;
use super::row;
use super::{Connection, Value, params, params_from_iter};
use crate::Feed;
use crate::sql;

/// Number of entries that one call examines.
const LOOKED_AT: i64 = 1_000;

/// The sequence number of the last entry; 0 if there is none.
pub(crate) fn end(connection: &dyn Connection) -> sql::SqlResult<i64> {
    connection.query_row("SELECT coalesce(max(sequence), 0) FROM ledger", params![], |row| row.get(0))
}

/// The first visible entries after a sequence number.
pub(crate) fn page(
    connection: &dyn Connection,
    space: &Space,
    visible: &Visible,
    after: i64,
    limit: usize,
) -> sql::SqlResult<Feed> {
    let end = end(connection)?;
    if limit == 0 || end <= after {
        return Ok(Feed { entries: Vec::new(), position: after });
    }
    // None of these scopes exists, so no entry is about them.
    let Some(clause) = Clause::visible(connection, space, visible)? else {
        return Ok(Feed { entries: Vec::new(), position: end });
    };
    let last = end.min(after.max(0).saturating_add(LOOKED_AT));
    let sql = format!(
        "SELECT {ENTRY} FROM ledger l LEFT JOIN memories m ON m.row = l.memory \
         WHERE l.sequence > ? AND l.sequence <= ? AND {} ORDER BY l.sequence LIMIT ?",
        clause.ledger_condition()
    );
    let mut values = vec![Value::Integer(after), Value::Integer(last)];
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    let entries: Vec<_> =
        connection.query_map(&sql, params_from_iter(values), |row| row::read_entry(&space.name(), row))?;
    if entries.is_empty() && !clause.has_scopes(connection)? {
        return Ok(Feed { entries, position: end });
    }
    let full = entries.last().filter(|_| entries.len() >= limit);
    let position = full.map_or(last, |entry| entry.sequence);
    Ok(Feed { entries, position })
}
