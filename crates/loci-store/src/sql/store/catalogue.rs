//! Tenants, agents, pools and credentials.

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{Key, Space, Tenant, slug};

use super::SqlStore;
use crate::sql::backend::{Backend, blocking};
use crate::sql::{Row, catalogue, keys, params, pools};
use crate::{Agent, Catalogue, Pool, PoolMember, Result};

#[async_trait]
impl<B: Backend> Catalogue for SqlStore<B> {
    async fn tenants(&self) -> Result<Vec<Tenant>> {
        let names = self.read_catalogue(keys::tenants).await?;
        names.iter().map(|name| Ok(Tenant::new(name)?)).collect()
    }

    async fn spaces(&self, tenant: &Tenant) -> Result<Vec<Space>> {
        let (backend, tenant) = (self.backend.clone(), tenant.clone());
        blocking(move || {
            let mut there = Vec::new();
            for space in backend.ask(|connection| catalogue::spaces(connection, &tenant))? {
                if backend.exists(&backend.open(&tenant, &space))? {
                    there.push(space);
                }
            }
            Ok(there)
        })
        .await
    }

    async fn create_agent(&self, tenant: &Tenant, agent: Agent) -> Result<bool> {
        loci_types::slug("agentId", &agent.slug)?;
        let tenant = tenant.clone();
        self.write_catalogue(move |connection| catalogue::put_agent(connection, &tenant, &agent)).await
    }

    async fn agents(&self, tenant: &Tenant) -> Result<Vec<Agent>> {
        let tenant = tenant.clone();
        self.read_catalogue(move |connection| catalogue::agents(connection, &tenant)).await
    }

    async fn agent(&self, tenant: &Tenant, slug: &str) -> Result<Option<Agent>> {
        let (tenant, slug) = (tenant.clone(), slug.to_owned());
        self.read_catalogue(move |connection| catalogue::agent(connection, &tenant, &slug)).await
    }

    async fn drop_agent(&self, tenant: &Tenant, slug: &str) -> Result<bool> {
        loci_types::slug("agentId", slug)?;
        self.drop_space(tenant, Space::Agent(slug.to_owned())).await
    }

    async fn put_key(&self, key: Key) -> Result<()> {
        self.write_catalogue(move |connection| keys::put(connection, &key)).await
    }

    async fn key(&self, id: &str) -> Result<Option<Key>> {
        let id = id.to_owned();
        self.read_catalogue(move |connection| keys::find(connection, &id)).await
    }

    async fn keys(&self, tenant: &Tenant) -> Result<Vec<Key>> {
        let tenant = tenant.clone();
        self.read_catalogue(move |connection| keys::list(connection, &tenant)).await
    }

    async fn revoke_key(&self, tenant: &Tenant, id: &str, at: Timestamp) -> Result<bool> {
        let (tenant, id) = (tenant.clone(), id.to_owned());
        self.write_catalogue(move |connection| keys::revoke(connection, &tenant, &id, at)).await
    }

    async fn has_keys(&self) -> Result<bool> {
        self.read_catalogue(keys::any).await
    }

    async fn create_pool(&self, tenant: &Tenant, pool: Pool, members: &[String]) -> Result<bool> {
        slug("poolId", &pool.slug)?;
        members.iter().try_for_each(|agent| slug("members", agent))?;
        let (tenant, members) = (tenant.clone(), members.to_vec());
        self.write_catalogue(move |connection| pools::create(connection, &tenant, &pool, &members)).await
    }

    async fn pools(&self, tenant: &Tenant) -> Result<Vec<Pool>> {
        let tenant = tenant.clone();
        self.read_catalogue(move |connection| {
            connection
                .prepare_cached("SELECT slug, name, created_at FROM pools WHERE tenant = ?1 ORDER BY slug")?
                .query_map(params![tenant.name()], pools::read_pool)?
                .collect()
        })
        .await
    }

    async fn pool(&self, tenant: &Tenant, slug: &str) -> Result<Option<Pool>> {
        let (tenant, slug) = (tenant.clone(), slug.to_owned());
        self.read_catalogue(move |connection| pools::find(connection, &tenant, &slug)).await
    }

    async fn pools_of(&self, tenant: &Tenant, agent: &str) -> Result<Vec<Pool>> {
        let (tenant, agent) = (tenant.clone(), agent.to_owned());
        let sql = "SELECT p.slug, p.name, p.created_at FROM pools p JOIN pool_members m \
                   ON m.tenant = p.tenant AND m.pool = p.slug WHERE m.tenant = ?1 AND m.agent = ?2 ORDER BY p.slug";
        self.read_catalogue(move |connection| {
            connection.prepare_cached(sql)?.query_map(params![tenant.name(), &agent], pools::read_pool)?.collect()
        })
        .await
    }

    async fn in_pool(&self, tenant: &Tenant, pool: &str, agent: &str) -> Result<bool> {
        let (tenant, pool, agent) = (tenant.clone(), pool.to_owned(), agent.to_owned());
        let sql = "SELECT EXISTS (SELECT 1 FROM pool_members WHERE tenant = ?1 AND pool = ?2 AND agent = ?3)";
        self.read_catalogue(move |connection| {
            connection.prepare_cached(sql)?.query_row(params![tenant.name(), &pool, &agent], |row| row.get(0))
        })
        .await
    }

    async fn members(&self, tenant: &Tenant, pool: &str) -> Result<Vec<PoolMember>> {
        let (tenant, pool) = (tenant.clone(), pool.to_owned());
        let sql = "SELECT agent, joined_at FROM pool_members WHERE tenant = ?1 AND pool = ?2 ORDER BY agent";
        let read = |row: &dyn Row| Ok(PoolMember { agent_id: row.get(0)?, joined_at: pools::instant(row.get(1)?) });
        self.read_catalogue(move |connection| {
            connection.prepare_cached(sql)?.query_map(params![tenant.name(), &pool], read)?.collect()
        })
        .await
    }

    async fn join_pool(&self, tenant: &Tenant, pool: &str, agents: &[String], at: Timestamp) -> Result<Option<u64>> {
        agents.iter().try_for_each(|agent| slug("members", agent))?;
        let (tenant, pool, agents) = (tenant.clone(), pool.to_owned(), agents.to_vec());
        self.write_catalogue(move |connection| match pools::find(connection, &tenant, &pool)? {
            Some(_) => pools::join(connection, &tenant, &pool, &agents, at).map(Some),
            None => Ok(None),
        })
        .await
    }

    async fn leave_pool(&self, tenant: &Tenant, pool: &str, agent: &str) -> Result<bool> {
        let (tenant, pool, agent) = (tenant.clone(), pool.to_owned(), agent.to_owned());
        let sql = "DELETE FROM pool_members WHERE tenant = ?1 AND pool = ?2 AND agent = ?3";
        self.write_catalogue(move |connection| {
            connection.execute(sql, params![tenant.name(), &pool, &agent]).map(|gone| gone > 0)
        })
        .await
    }

    async fn drop_pool(&self, tenant: &Tenant, pool: &str) -> Result<bool> {
        slug("poolId", pool)?;
        self.drop_space(tenant, Space::Pool(pool.to_owned())).await
    }
}
