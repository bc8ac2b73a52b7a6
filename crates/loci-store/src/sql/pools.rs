//! How are pools and their members kept?
//!
//! In the catalogue, beside the agents. A pool and its first members come in one transaction, and go in one
//! with the entry of its space.

use jiff::Timestamp;
use loci_types::Tenant;

use super::{Connection, OptionalExtension, Row, params};
use crate::{Pool, sql};

pub(crate) fn create(
    connection: &dyn Connection,
    tenant: &Tenant,
    pool: &Pool,
    members: &[String],
) -> sql::Result<bool> {
    let at = pool.created_at.as_microsecond();
    connection.execute(
        "INSERT INTO tenants (name, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        params![tenant.name(), at],
    )?;
    let made = connection.execute(
        "INSERT INTO pools (tenant, slug, name, created_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        params![tenant.name(), &pool.slug, &pool.name, at],
    )?;
    if made > 0 {
        join(connection, tenant, &pool.slug, members, pool.created_at)?;
    }
    Ok(made > 0)
}

pub(crate) fn join(
    connection: &dyn Connection,
    tenant: &Tenant,
    pool: &str,
    agents: &[String],
    at: Timestamp,
) -> sql::Result<u64> {
    let sql =
        "INSERT INTO pool_members (tenant, pool, agent, joined_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    let mut new = 0;
    for agent in agents {
        new += connection.execute(sql, params![tenant.name(), pool, agent, at.as_microsecond()])? as u64;
    }
    Ok(new)
}

pub(crate) fn find(connection: &dyn Connection, tenant: &Tenant, slug: &str) -> sql::Result<Option<Pool>> {
    connection
        .prepare_cached("SELECT slug, name, created_at FROM pools WHERE tenant = ?1 AND slug = ?2")?
        .query_row(params![tenant.name(), slug], read_pool)
        .optional()
}

pub(crate) fn read_pool(row: &dyn Row) -> sql::Result<Pool> {
    Ok(Pool { slug: row.get(0)?, name: row.get(1)?, created_at: instant(row.get(2)?) })
}

pub(crate) fn instant(at: i64) -> Timestamp {
    Timestamp::from_microsecond(at).unwrap_or_default()
}
