//! The tables of the catalogue: tenants, agents, keys with the hashes of their secrets, pools and spaces.
//!
//! Leases are left out: they are valid only in the store where they were taken.

use std::sync::Arc;

use loci_types::Tenant;

use super::row::TableRow;
use super::table::{TableSpec, columns};
use crate::sql::{self, Backend, Connection, Value, params};
use crate::{Error, Result};

/// The entries of the catalogue, parents before children. The lead is the column that names the tenant.
pub(super) static ENTRIES: [TableSpec; 5] = [
    TableSpec::plain("tenants", "name", 1, columns! { Text name, Integer created_at }),
    TableSpec::plain("agents", "tenant", 1, columns! { Text slug tenant config, Integer created_at }),
    TableSpec::plain(
        "keys",
        "tenant",
        1,
        columns! { Text id tenant name, Bytes hash, Text allows, Integer created_at expires_at revoked_at },
    ),
    TableSpec::plain("pools", "tenant", 1, columns! { Text slug tenant name, Integer created_at }),
    TableSpec::plain("pool_members", "tenant", 2, columns! { Text pool agent tenant, Integer joined_at }),
];

/// The spaces of a tenant. Each is registered when its rows are loaded.
pub(super) static SPACES: TableSpec =
    TableSpec::plain("spaces", "tenant", 1, columns! { Text name tenant, Integer created_at written });

/// All tables of the catalogue.
pub(super) fn tables() -> impl Iterator<Item = &'static TableSpec> {
    ENTRIES.iter().chain([&SPACES])
}

/// A table of the catalogue by its name.
pub(super) fn by_name(name: &str) -> Option<&'static TableSpec> {
    tables().find(|table| table.name == name)
}

/// The rows of a tenant.
pub(super) fn rows_of(connection: &dyn Connection, table: &TableSpec, tenant: &str) -> sql::SqlResult<Vec<TableRow>> {
    let sql = format!("SELECT {} FROM {} WHERE {} = ?1", table.column_list(), table.name, table.lead);
    connection.query_map(&sql, params![tenant], |row| TableRow::read(row, table, false))
}

/// Whether there is a row with this key.
pub(super) fn has(connection: &dyn Connection, table: &TableSpec, row: &[Value]) -> sql::SqlResult<bool> {
    let mut conditions: Vec<String> =
        table.columns.iter().take(table.key).map(|(name, _)| format!("{name} = ?")).collect();
    let mut values = row[..table.key.min(row.len())].to_vec();
    conditions.push(format!("{} = ?", table.lead));
    values.extend(table.text(row, table.lead).map(Value::from));
    let sql = format!("SELECT 1 FROM {} WHERE {}", table.name, conditions.join(" AND "));
    connection.exists(&sql, values)
}

/// Adds a row if it is missing. Returns the number of rows added.
pub(super) fn add(connection: &dyn Connection, table: &TableSpec, row: Vec<Value>) -> sql::SqlResult<u64> {
    Ok(connection.execute(&format!("{} ON CONFLICT DO NOTHING", table.insert(1)), row)? as u64)
}

/// Gives a tenant or a space the creation time of its source, also if the target had one of this name.
pub(super) fn set_created_at(
    connection: &dyn Connection,
    table: &TableSpec,
    tenant: &str,
    name: &str,
    at: i64,
) -> sql::SqlResult<()> {
    let (table, column) = (table.name, table.lead);
    let sql = format!("UPDATE {table} SET created_at = ?3 WHERE {column} = ?1 AND name = ?2 AND created_at <> ?3");
    connection.execute(&sql, params![tenant, name, at]).map(drop)
}

/// Registers a space with the creation time of its source.
pub(super) fn register_space<B: Backend>(to: &B, tenant: &Tenant, open: &Arc<B::Open>, created_at: i64) -> Result<()> {
    let at = jiff::Timestamp::from_microsecond(created_at)
        .map_err(|error| Error::sql(B::place_of(open), sql::SqlError::unreadable(error)))?;
    to.prepare(tenant, open, at)?;
    let name = B::space_of(open).name();
    to.write_catalogue(|connection| set_created_at(connection, &SPACES, tenant.name(), &name, created_at))
}
