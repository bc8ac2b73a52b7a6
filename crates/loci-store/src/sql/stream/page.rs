//! Reads and writes a table page by page.

use super::row::TableRow;
use super::table::{Load, MigrationSide, TableSpec};
use crate::sql::{self, Connection, Value, params, words};
use crate::text::Analyser;

/// Number of rows in one INSERT; small enough for the limits of both databases on parameters.
const INSERT_ROWS: usize = 32;

/// The rows of a page, and the lead of the last one.
pub(super) struct RowPage {
    pub(super) through: i64,
    pub(super) rows: Vec<TableRow>,
}

/// The next page after a lead: at least `limit` rows if the table has that many, and all rows of its last lead. None if
/// there are no more rows.
pub(super) fn next(
    connection: &dyn Connection,
    table: &TableSpec,
    end: MigrationSide,
    after: i64,
    limit: usize,
    half: bool,
) -> sql::SqlResult<Option<RowPage>> {
    let (source, lead) = (table.source(end, connection.dialect()), table.lead);
    let sql =
        format!("SELECT max(n) FROM (SELECT {lead} AS n FROM {source} WHERE {lead} > ?1 ORDER BY {lead} LIMIT ?2) p");
    let Some(through) = connection.query_row(&sql, params![after, limit], |row| row.get(0))? else { return Ok(None) };
    Ok(Some(RowPage { through, rows: range(connection, table, end, (after, through), half)? }))
}

/// The rows after a lead, up to and including another.
pub(super) fn range(
    connection: &dyn Connection,
    table: &TableSpec,
    end: MigrationSide,
    (after, through): (i64, i64),
    half: bool,
) -> sql::SqlResult<Vec<TableRow>> {
    let (source, lead) = (table.source(end, connection.dialect()), table.lead);
    let sql = format!("SELECT {} FROM {source} WHERE {lead} > ?1 AND {lead} <= ?2", table.column_list());
    connection.query_map(&sql, params![after, through], |row| TableRow::read(row, table, half))
}

/// The number of rows and the greatest lead.
pub(super) fn extent(
    connection: &dyn Connection,
    table: &TableSpec,
    end: MigrationSide,
) -> sql::SqlResult<(u64, Option<i64>)> {
    let sql = format!("SELECT count(*), max({}) FROM {}", table.lead, table.source(end, connection.dialect()));
    connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Inserts rows, which must not exist yet.
pub(super) fn write(
    connection: &dyn Connection,
    table: &TableSpec,
    rows: &[Vec<Value>],
    analyser: &Analyser,
) -> sql::SqlResult<()> {
    let each = |sql: &str, rows: &[Vec<Value>]| -> sql::SqlResult<()> {
        rows.iter().try_for_each(|row| connection.execute(sql, row.clone()).map(drop))
    };
    match table.load {
        Load::Insert => {
            let (many, chunks) = (table.insert(INSERT_ROWS), rows.chunks_exact(INSERT_ROWS));
            let rest = chunks.remainder();
            for chunk in chunks {
                connection.execute(&many, chunk.concat())?;
            }
            each(&table.insert(1), rest)
        }
        Load::Vector => each(connection.dialect().put_vector, rows),
        Load::Union => each("UPDATE entities SET united_with = ?2 WHERE entity = ?1", rows),
        Load::Terms => rows.iter().try_for_each(|row| match row.first() {
            Some(Value::Integer(row)) => words::write(connection, analyser, *row),
            _ => Ok(()),
        }),
    }
}

/// Updates the planner's statistics of a table after a bulk load. Without them PostgreSQL scans all memories to look up
/// one.
pub(super) fn analyse(connection: &dyn Connection, table: &TableSpec) -> sql::SqlResult<()> {
    connection.analyse(match table.load {
        Load::Insert | Load::Vector => std::slice::from_ref(&table.name),
        Load::Union => &["entities"],
        Load::Terms => &["documents", "words"],
    })
}
