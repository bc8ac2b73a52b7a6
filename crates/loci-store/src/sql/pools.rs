//! How are pools and their members kept?
//!
//! In the catalogue, beside the agents. A pool and its first members come in one transaction, and go in one
//! with the entry of its space.

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{Space, Tenant, slug};

use super::floor::{Floor, blocking};
use super::ways::Ways;
use super::{Connection, OptionalExtension, Row, params};
use crate::{Pool, PoolMember, Pools, Result, sql};

#[async_trait]
impl<F: Floor> Pools for F {
    async fn create_pool(&self, tenant: &Tenant, pool: Pool, members: &[String]) -> Result<bool> {
        slug("poolId", &pool.slug)?;
        members.iter().try_for_each(|agent| slug("members", agent))?;
        let (tenant, members) = (tenant.clone(), members.to_vec());
        self.told(move |connection| create(connection, &tenant, &pool, &members)).await
    }

    async fn pools(&self, tenant: &Tenant) -> Result<Vec<Pool>> {
        let tenant = tenant.clone();
        self.asked(move |connection| {
            connection
                .prepare_cached("SELECT slug, name, created_at FROM pools WHERE tenant = ?1 ORDER BY slug")?
                .query_map(params![tenant.name()], read_pool)?
                .collect()
        })
        .await
    }

    async fn pool(&self, tenant: &Tenant, slug: &str) -> Result<Option<Pool>> {
        let (tenant, slug) = (tenant.clone(), slug.to_owned());
        self.asked(move |connection| find(connection, &tenant, &slug)).await
    }

    async fn pools_of(&self, tenant: &Tenant, agent: &str) -> Result<Vec<Pool>> {
        let (tenant, agent) = (tenant.clone(), agent.to_owned());
        let sql = "SELECT p.slug, p.name, p.created_at FROM pools p JOIN pool_members m \
                   ON m.tenant = p.tenant AND m.pool = p.slug WHERE m.tenant = ?1 AND m.agent = ?2 ORDER BY p.slug";
        self.asked(move |connection| {
            connection.prepare_cached(sql)?.query_map(params![tenant.name(), &agent], read_pool)?.collect()
        })
        .await
    }

    async fn in_pool(&self, tenant: &Tenant, pool: &str, agent: &str) -> Result<bool> {
        let (tenant, pool, agent) = (tenant.clone(), pool.to_owned(), agent.to_owned());
        let sql = "SELECT EXISTS (SELECT 1 FROM pool_members WHERE tenant = ?1 AND pool = ?2 AND agent = ?3)";
        self.asked(move |connection| {
            connection.prepare_cached(sql)?.query_row(params![tenant.name(), &pool, &agent], |row| row.get(0))
        })
        .await
    }

    async fn members(&self, tenant: &Tenant, pool: &str) -> Result<Vec<PoolMember>> {
        let (tenant, pool) = (tenant.clone(), pool.to_owned());
        let sql = "SELECT agent, joined_at FROM pool_members WHERE tenant = ?1 AND pool = ?2 ORDER BY agent";
        let read = |row: &dyn Row| Ok(PoolMember { agent_id: row.get(0)?, joined_at: instant(row.get(1)?) });
        self.asked(move |connection| {
            connection.prepare_cached(sql)?.query_map(params![tenant.name(), &pool], read)?.collect()
        })
        .await
    }

    async fn join_pool(&self, tenant: &Tenant, pool: &str, agents: &[String], at: Timestamp) -> Result<Option<u64>> {
        agents.iter().try_for_each(|agent| slug("members", agent))?;
        let (tenant, pool, agents) = (tenant.clone(), pool.to_owned(), agents.to_vec());
        self.told(move |connection| match find(connection, &tenant, &pool)? {
            Some(_) => join(connection, &tenant, &pool, &agents, at).map(Some),
            None => Ok(None),
        })
        .await
    }

    async fn leave_pool(&self, tenant: &Tenant, pool: &str, agent: &str) -> Result<bool> {
        let (tenant, pool, agent) = (tenant.clone(), pool.to_owned(), agent.to_owned());
        let sql = "DELETE FROM pool_members WHERE tenant = ?1 AND pool = ?2 AND agent = ?3";
        self.told(move |connection| connection.execute(sql, params![tenant.name(), &pool, &agent]).map(|gone| gone > 0))
            .await
    }

    async fn drop_pool(&self, tenant: &Tenant, pool: &str) -> Result<bool> {
        slug("poolId", pool)?;
        let (floor, tenant, space) = (self.clone(), tenant.clone(), Space::Pool(pool.to_owned()));
        blocking(move || floor.drop_space(&tenant, &floor.open(&tenant, &space))).await
    }
}

fn create(connection: &dyn Connection, tenant: &Tenant, pool: &Pool, members: &[String]) -> sql::Result<bool> {
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

fn join(
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

fn find(connection: &dyn Connection, tenant: &Tenant, slug: &str) -> sql::Result<Option<Pool>> {
    connection
        .prepare_cached("SELECT slug, name, created_at FROM pools WHERE tenant = ?1 AND slug = ?2")?
        .query_row(params![tenant.name(), slug], read_pool)
        .optional()
}

fn read_pool(row: &dyn Row) -> sql::Result<Pool> {
    Ok(Pool { slug: row.get(0)?, name: row.get(1)?, created_at: instant(row.get(2)?) })
}

fn instant(at: i64) -> Timestamp {
    Timestamp::from_microsecond(at).unwrap_or_default()
}
