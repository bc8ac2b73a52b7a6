//! How is a table walked, and how does a page of it come in?

use super::line::Line;
use super::table::{End, Put, Table};
use crate::sql::dialect::Dialect;
use crate::sql::{self, Connection, Value, params, words};
use crate::text::Analyser;

/// Rows that go into one statement; few enough for the bounds of both databases on values.
const TOGETHER: usize = 32;

/// Up to where the next page goes: after a number, some rows long, and no lead is parted. None: it is
/// the end.
pub(in crate::sql) fn next(
    connection: &dyn Connection,
    table: &Table,
    end: End,
    after: i64,
    rows: usize,
) -> sql::Result<Option<i64>> {
    let (from, lead) = (table.rows(end, connection.dialect()), table.lead);
    let sql =
        format!("SELECT max(n) FROM (SELECT {lead} AS n FROM {from} WHERE {lead} > ?1 ORDER BY {lead} LIMIT ?2) p");
    connection.query_row(&sql, params![after, rows], |row| row.get(0))
}

/// The rows after a number, up to another.
pub(in crate::sql) fn lines(
    connection: &dyn Connection,
    table: &Table,
    end: End,
    (after, through): (i64, i64),
    halves: bool,
) -> sql::Result<Vec<Line>> {
    let (from, lead) = (table.rows(end, connection.dialect()), table.lead);
    let sql = format!("SELECT {} FROM {from} WHERE {lead} > ?1 AND {lead} <= ?2", table.names());
    connection
        .prepare_cached(&sql)?
        .query_map(params![after, through], |row| Line::read(row, table.columns, table.key, halves))?
        .collect()
}

/// How far a target has come: its greatest lead.
pub(in crate::sql) fn greatest(connection: &dyn Connection, table: &Table) -> sql::Result<Option<i64>> {
    let (from, lead) = (table.rows(End::To, connection.dialect()), table.lead);
    connection.query_row(&format!("SELECT max({lead}) FROM {from}"), [], |row| row.get(0))
}

/// How many rows there are.
pub(in crate::sql) fn count(connection: &dyn Connection, table: &Table, end: End) -> sql::Result<u64> {
    let from = table.rows(end, connection.dialect());
    connection.query_row(&format!("SELECT count(*) FROM {from}"), [], |row| row.get(0))
}

/// Writes a page.
pub(in crate::sql) fn put(
    connection: &dyn Connection,
    table: &Table,
    lines: &[Line],
    analyser: &Analyser,
) -> sql::Result<()> {
    match table.put {
        Put::Row => insert(connection, table, lines),
        Put::Vector => {
            let mut statement = connection.prepare_cached(connection.dialect().put_vector())?;
            lines.iter().try_for_each(|line| statement.execute(line.values.clone()).map(drop))
        }
        Put::Union => {
            let mut statement = connection.prepare_cached("UPDATE entities SET united_with = ?2 WHERE entity = ?1")?;
            lines.iter().try_for_each(|line| statement.execute(line.values.clone()).map(drop))
        }
        Put::Words => lines.iter().try_for_each(|line| match line.values.first() {
            Some(Value::Integer(row)) => words::write(connection, analyser, *row),
            _ => Ok(()),
        }),
    }
}

fn insert(connection: &dyn Connection, table: &Table, lines: &[Line]) -> sql::Result<()> {
    let sql = |rows: usize| {
        let row = format!("({})", vec!["?"; table.columns.len()].join(", "));
        format!("INSERT INTO {} ({}) VALUES {}", table.name, table.names(), vec![row; rows].join(", "))
    };
    let (many, one) = (sql(TOGETHER), sql(1));
    let mut pages = lines.chunks_exact(TOGETHER);
    for page in pages.by_ref() {
        let values: Vec<Value> = page.iter().flat_map(|line| line.values.iter().cloned()).collect();
        connection.execute(&many, values)?;
    }
    pages.remainder().iter().try_for_each(|line| connection.execute(&one, line.values.clone()).map(drop))
}

/// Tells the database what it now has. PostgreSQL chooses its ways by what it knows of a table, and of one
/// that was filled a moment ago it knows nothing: each look at a memory would be a walk through all of them.
pub(in crate::sql) fn look_over(connection: &dyn Connection, table: &Table) -> sql::Result<()> {
    if connection.dialect() == Dialect::Sqlite {
        return Ok(());
    }
    let tables: &[&str] = match table.put {
        Put::Row | Put::Vector => &[table.name],
        Put::Union => &["entities"],
        Put::Words => &["documents", "words"],
    };
    tables.iter().try_for_each(|name| connection.query_row("SELECT look_over(?1)", params![*name], |_| Ok(())))
}

/// Whether a database keeps vectors in half precision.
pub(in crate::sql) fn halves(connection: &dyn Connection) -> sql::Result<bool> {
    match connection.dialect() {
        Dialect::Sqlite => Ok(false),
        Dialect::Postgres => connection.query_row(
            "SELECT t.typname = 'halfvec' FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid \
             WHERE a.attrelid = 'vectors'::regclass AND a.attname = 'vector'",
            [],
            |row| row.get(0),
        ),
    }
}
