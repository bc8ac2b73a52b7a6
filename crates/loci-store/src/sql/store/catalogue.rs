//! Tenants, agents, pools and credentials.

use async_trait::async_trait;
use loci_types::{Space, Tenant, slug};

use super::SqlStore;
use crate::sql::backend::{Backend, blocking};
use crate::sql::{Connection, catalogue, keys, pools};
use crate::{Agent, Catalogue, CatalogueChange, KeyQuery, PoolFilter, PoolRecord, Result};

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
            for space in backend.read_catalogue(|connection| catalogue::spaces(connection, &tenant))? {
                if backend.exists(&backend.open(&tenant, &space))? {
                    there.push(space);
                }
            }
            Ok(there)
        })
        .await
    }

    async fn agents(&self, tenant: &Tenant, slug: Option<&str>) -> Result<Vec<Agent>> {
        let (tenant, slug) = (tenant.clone(), slug.map(str::to_owned));
        self.read_catalogue(move |connection| match &slug {
            Some(slug) => Ok(catalogue::agent(connection, &tenant, slug)?.into_iter().collect()),
            None => catalogue::agents(connection, &tenant),
        })
        .await
    }

    async fn keys(&self, query: KeyQuery<'_>) -> Result<Vec<loci_types::Key>> {
        match query {
            KeyQuery::Id(id) => {
                let id = id.to_owned();
                self.read_catalogue(move |connection| Ok(keys::find(connection, &id)?.into_iter().collect())).await
            }
            KeyQuery::Tenant(tenant) => {
                let tenant = tenant.clone();
                self.read_catalogue(move |connection| keys::list(connection, &tenant)).await
            }
            KeyQuery::Any => self.read_catalogue(keys::any).await,
        }
    }

    async fn pools(&self, tenant: &Tenant, filter: &PoolFilter) -> Result<Vec<PoolRecord>> {
        let (tenant, filter) = (tenant.clone(), filter.clone());
        self.read_catalogue(move |connection| pools::list(connection, &tenant, &filter)).await
    }

    async fn change_catalogue(&self, tenant: &Tenant, change: CatalogueChange) -> Result<u64> {
        match &change {
            CatalogueChange::PutAgent(agent) => slug("agentId", &agent.agent_id)?,
            CatalogueChange::DropAgent(agent) => slug("agentId", agent)?,
            CatalogueChange::DropPool(pool) => slug("poolId", pool)?,
            CatalogueChange::CreatePool { pool, members } => {
                slug("poolId", &pool.pool_id)?;
                members.iter().try_for_each(|agent| slug("agentIds", agent))?;
            }
            CatalogueChange::JoinPool { agents, .. } => agents.iter().try_for_each(|agent| slug("agentIds", agent))?,
            CatalogueChange::PutKey(_)
            | CatalogueChange::RevokeKey { .. }
            | CatalogueChange::LeavePool { .. }
            | CatalogueChange::DropTenant => {}
        }
        match change {
            CatalogueChange::DropAgent(agent) => self.drop_space(tenant, Space::Agent(agent)).await.map(u64::from),
            CatalogueChange::DropPool(pool) => self.drop_space(tenant, Space::Pool(pool)).await.map(u64::from),
            CatalogueChange::DropTenant => self.drop_tenant(tenant).await,
            change => {
                let tenant = tenant.clone();
                self.write_catalogue(move |connection| write(connection, &tenant, &change)).await
            }
        }
    }
}

/// Applies a change that concerns only the catalogue.
fn write(connection: &dyn Connection, tenant: &Tenant, change: &CatalogueChange) -> crate::sql::SqlResult<u64> {
    match change {
        CatalogueChange::PutAgent(agent) => catalogue::put_agent(connection, tenant, agent).map(u64::from),
        CatalogueChange::PutKey(key) => keys::put(connection, key).map(|()| 1),
        CatalogueChange::RevokeKey { id, at } => keys::revoke(connection, tenant, id, *at).map(u64::from),
        CatalogueChange::CreatePool { pool, members } => {
            pools::create(connection, tenant, pool, members).map(u64::from)
        }
        CatalogueChange::JoinPool { pool, agents, at } => match pools::find(connection, tenant, pool)? {
            Some(_) => pools::join(connection, tenant, pool, agents, *at),
            None => Ok(0),
        },
        CatalogueChange::LeavePool { pool, agent } => pools::leave(connection, tenant, pool, agent),
        CatalogueChange::DropAgent(_) | CatalogueChange::DropPool(_) | CatalogueChange::DropTenant => Ok(0),
    }
}
