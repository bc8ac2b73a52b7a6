//! Stores pools and their members in the catalogue.
//!
//! A pool and its first members are created in one transaction, and deleted in one together with the entry of its
//! space.

use jiff::Timestamp;
use loci_types::Tenant;

use super::{Connection, OptionalExtension, Row, params};
use crate::{Pool, PoolFilter, PoolMember, PoolRecord, sql};

/// Creates a pool with its first members. Returns false if it exists already.
pub(crate) fn create(
    connection: &dyn Connection,
    tenant: &Tenant,
    pool: &Pool,
    members: &[String],
) -> sql::SqlResult<bool> {
    let at = pool.created_at.as_microsecond();
    connection.execute(
        "INSERT INTO tenants (name, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        params![tenant.name(), at],
    )?;
    let made = connection.execute(
        "INSERT INTO pools (tenant, slug, name, created_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        params![tenant.name(), &pool.pool_id, &pool.name, at],
    )?;
    if made > 0 {
        join(connection, tenant, &pool.pool_id, members, pool.created_at)?;
    }
    Ok(made > 0)
}

/// Adds members. Returns the number of new ones.
pub(crate) fn join(
    connection: &dyn Connection,
    tenant: &Tenant,
    pool: &str,
    agents: &[String],
    at: Timestamp,
) -> sql::SqlResult<u64> {
    let sql =
        "INSERT INTO pool_members (tenant, pool, agent, joined_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    let mut new = 0;
    for agent in agents {
        new += connection.execute(sql, params![tenant.name(), pool, agent, at])? as u64;
    }
    Ok(new)
}

pub(crate) fn find(connection: &dyn Connection, tenant: &Tenant, slug: &str) -> sql::SqlResult<Option<Pool>> {
    connection
        .query_row(
            "SELECT slug, name, created_at FROM pools WHERE tenant = ?1 AND slug = ?2",
            params![tenant.name(), slug],
            read_pool,
        )
        .optional()
}

pub(crate) fn read_pool(row: &dyn Row) -> sql::SqlResult<Pool> {
    Ok(Pool { pool_id: row.get(0)?, name: row.get(1)?, created_at: row.get(2)? })
}

/// Removes a member. Returns the number of removed rows.
pub(crate) fn leave(connection: &dyn Connection, tenant: &Tenant, pool: &str, agent: &str) -> sql::SqlResult<u64> {
    let sql = "DELETE FROM pool_members WHERE tenant = ?1 AND pool = ?2 AND agent = ?3";
    Ok(connection.execute(sql, params![tenant.name(), pool, agent])? as u64)
}

/// The pools that match, with their members.
pub(crate) fn list(
    connection: &dyn Connection,
    tenant: &Tenant,
    filter: &PoolFilter,
) -> sql::SqlResult<Vec<PoolRecord>> {
    let (mut sql, mut values) =
        ("SELECT p.slug, p.name, p.created_at FROM pools p WHERE p.tenant = ?".to_owned(), params![tenant.name()]);
    if let Some(slug) = &filter.slug {
        sql.push_str(" AND p.slug = ?");
        values.push(slug.into());
    }
    if let Some(member) = &filter.member {
        sql.push_str(
            " AND EXISTS (SELECT 1 FROM pool_members m WHERE m.tenant = p.tenant AND m.pool = p.slug AND m.agent = ?)",
        );
        values.push(member.into());
    }
    sql.push_str(" ORDER BY p.slug");
    let found: Vec<Pool> = connection.query_map(&sql, values, read_pool)?;
    let members = "SELECT agent, joined_at FROM pool_members WHERE tenant = ?1 AND pool = ?2 ORDER BY agent";
    let read = |row: &dyn Row| Ok(PoolMember { agent_id: row.get(0)?, created_at: row.get(1)? });
    let mut records = Vec::with_capacity(found.len());
    for pool in found {
        let members = connection.query_map(members, params![tenant.name(), &pool.pool_id], read)?;
        records.push(PoolRecord { pool, members });
    }
    Ok(records)
}
