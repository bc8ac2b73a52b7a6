//! Which credentials were made here?
//!
//! They lie in the catalogue, beside tenants and agents. Only the hash of a secret is kept; a key
//! that was revoked stays, so that nobody can be let in by taking the last one away.

use jiff::Timestamp;
use loci_types::{Key, Tenant};
use rusqlite::{Connection, OptionalExtension, Row, params};

const COLUMNS: &str = "id, name, hash, allows, created_at, expires_at, revoked_at";

/// Keeps a new key; its id must be new.
pub(super) fn put(connection: &mut Connection, key: &Key) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let (tenant, at) = (key.grant.tenant.name(), key.created_at.as_microsecond());
    transaction.execute("INSERT OR IGNORE INTO tenants (name, created_at) VALUES (?1, ?2)", params![tenant, at])?;
    let allows = serde_json::to_string(&key.grant).map_err(|error| to_sqlite(error.into()))?;
    transaction.execute(
        "INSERT INTO keys (id, tenant, name, hash, allows, created_at, expires_at, revoked_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![key.id, tenant, key.name, key.hash, allows, at, micro(key.expires_at), micro(key.revoked_at)],
    )?;
    transaction.commit()
}

/// The key with this id, whoever's it is.
pub(super) fn find(connection: &Connection, id: &str) -> rusqlite::Result<Option<Key>> {
    connection.prepare_cached(&format!("SELECT {COLUMNS} FROM keys WHERE id = ?1"))?.query_row([id], read).optional()
}

/// The keys of a tenant, oldest first.
pub(super) fn list(connection: &Connection, tenant: &Tenant) -> rusqlite::Result<Vec<Key>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM keys WHERE tenant = ?1 ORDER BY created_at, id"))?
        .query_map([tenant.name()], read)?
        .collect()
}

/// Refuses a key from an instant on; false if it is not there. What was revoked earlier stays so.
pub(super) fn revoke(connection: &Connection, tenant: &Tenant, id: &str, at: Timestamp) -> rusqlite::Result<bool> {
    let changed = connection.execute(
        "UPDATE keys SET revoked_at = min(coalesce(revoked_at, ?3), ?3) WHERE tenant = ?1 AND id = ?2",
        params![tenant.name(), id, at.as_microsecond()],
    )?;
    Ok(changed > 0)
}

/// The tenants that are known, by name.
pub(super) fn tenants(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection.prepare_cached("SELECT name FROM tenants ORDER BY name")?.query_map([], |row| row.get(0))?.collect()
}

/// Whether any key was ever made here.
pub(super) fn any(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM keys)")?.query_row([], |row| row.get(0))
}

fn micro(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::as_microsecond)
}

fn instant(at: Option<i64>) -> Option<Timestamp> {
    at.and_then(|at| Timestamp::from_microsecond(at).ok())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Key> {
    let allows: String = row.get(3)?;
    Ok(Key {
        id: row.get(0)?,
        name: row.get(1)?,
        hash: row.get(2)?,
        grant: serde_json::from_str(&allows).map_err(|error| to_sqlite(error.into()))?,
        created_at: instant(row.get(4)?).unwrap_or_default(),
        expires_at: instant(row.get(5)?),
        revoked_at: instant(row.get(6)?),
    })
}

fn to_sqlite(error: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(3, rusqlite::types::Type::Text, error)
}
