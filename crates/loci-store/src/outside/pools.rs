//! How do pools go with an outside index?
//!
//! All is handed on to the store; a pool that is dropped takes its collections along.

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{Space, Tenant};

use super::indexed::Indexed;
use crate::{Pool, PoolMember, Pools, Result};

#[async_trait]
impl Pools for Indexed {
    async fn create_pool(&self, tenant: &Tenant, pool: Pool, members: &[String]) -> Result<bool> {
        self.inner.store.create_pool(tenant, pool, members).await
    }

    async fn pools(&self, tenant: &Tenant) -> Result<Vec<Pool>> {
        self.inner.store.pools(tenant).await
    }

    async fn pool(&self, tenant: &Tenant, slug: &str) -> Result<Option<Pool>> {
        self.inner.store.pool(tenant, slug).await
    }

    async fn pools_of(&self, tenant: &Tenant, agent: &str) -> Result<Vec<Pool>> {
        self.inner.store.pools_of(tenant, agent).await
    }

    async fn in_pool(&self, tenant: &Tenant, pool: &str, agent: &str) -> Result<bool> {
        self.inner.store.in_pool(tenant, pool, agent).await
    }

    async fn members(&self, tenant: &Tenant, pool: &str) -> Result<Vec<PoolMember>> {
        self.inner.store.members(tenant, pool).await
    }

    async fn join_pool(&self, tenant: &Tenant, pool: &str, agents: &[String], at: Timestamp) -> Result<Option<u64>> {
        self.inner.store.join_pool(tenant, pool, agents, at).await
    }

    async fn leave_pool(&self, tenant: &Tenant, pool: &str, agent: &str) -> Result<bool> {
        self.inner.store.leave_pool(tenant, pool, agent).await
    }

    async fn drop_pool(&self, tenant: &Tenant, slug: &str) -> Result<bool> {
        let space = Space::Pool(slug.to_owned());
        self.with_collections(tenant, &space, self.inner.store.drop_pool(tenant, slug)).await
    }
}
