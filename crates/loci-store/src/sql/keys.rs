//! Stores the API keys in the catalogue.
//!
//! Only the hash of a secret is stored. A revoked key stays in the table, because access would be open if there were no
//! key at all.

use super::{Connection, OptionalExtension, Row, params};
use crate::sql;
use jiff::Timestamp;
use loci_types::{Key, Tenant};

const COLUMNS: &str = "id, name, hash, allows, created_at, expires_at, revoked_at";

/// Inserts a key, whose id must be new.
pub(crate) fn put(connection: &dyn Connection, key: &Key) -> sql::SqlResult<()> {
    let (tenant, at) = (key.grant.tenant.name(), key.created_at.as_microsecond());
    connection.execute(
        "INSERT INTO tenants (name, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        params![tenant, at],
    )?;
    let allows = serde_json::to_string(&key.grant).map_err(|error| unreadable(error.into()))?;
    connection.execute(
        "INSERT INTO keys (id, tenant, name, hash, allows, created_at, expires_at, revoked_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![&key.id, tenant, &key.name, key.hash, allows, at, micro(key.expires_at), micro(key.revoked_at)],
    )?;
    Ok(())
}

/// The key with this id, of any tenant.
pub(crate) fn find(connection: &dyn Connection, id: &str) -> sql::SqlResult<Option<Key>> {
    connection.query_row(&format!("SELECT {COLUMNS} FROM keys WHERE id = ?1"), params![id], read).optional()
}

/// The keys of a tenant, oldest first.
pub(crate) fn list(connection: &dyn Connection, tenant: &Tenant) -> sql::SqlResult<Vec<Key>> {
    connection.query_map(
        &format!("SELECT {COLUMNS} FROM keys WHERE tenant = ?1 ORDER BY created_at, id"),
        params![tenant.name()],
        read,
    )
}

/// Revokes a key at a time; an earlier revocation stays. Returns false if the key does not exist.
pub(crate) fn revoke(connection: &dyn Connection, tenant: &Tenant, id: &str, at: Timestamp) -> sql::SqlResult<bool> {
    let changed = connection.execute(
        "UPDATE keys SET revoked_at = CASE WHEN revoked_at < ?3 THEN revoked_at ELSE ?3 END WHERE tenant = ?1 AND id = ?2",
        params![tenant.name(), id, at],
    )?;
    Ok(changed > 0)
}

/// The names of all tenants, sorted.
pub(crate) fn tenants(connection: &dyn Connection) -> sql::SqlResult<Vec<String>> {
    connection.query_map("SELECT name FROM tenants ORDER BY name", params![], |row| row.get(0))
}

/// Any one key, to find out whether there is one.
pub(crate) fn any(connection: &dyn Connection) -> sql::SqlResult<Vec<Key>> {
    let sql = format!("SELECT {COLUMNS} FROM keys LIMIT 1");
    connection.query_map(&sql, params![], read)
}

fn micro(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::as_microsecond)
}

fn read(row: &dyn Row) -> sql::SqlResult<Key> {
    let allows: String = row.get(3)?;
    Ok(Key {
        id: row.get(0)?,
        name: row.get(1)?,
        hash: row.get(2)?,
        grant: serde_json::from_str(&allows).map_err(|error| unreadable(error.into()))?,
        created_at: row.get(4)?,
        expires_at: row.get(5)?,
        revoked_at: row.get(6)?,
    })
}

fn unreadable(error: Box<dyn std::error::Error + Send + Sync>) -> sql::SqlError {
    sql::SqlError::unreadable(error)
}
