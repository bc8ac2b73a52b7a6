//! Which pools are there, and who is in them?
//!
//! A pool belongs to a tenant, and so do its members: the same name elsewhere is another pool. Who is not
//! listed is not in it; that is all a store knows of it. What membership opens is the engine's to say.

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::Tenant;
use serde::Serialize;

use crate::Result;

/// The part of a [`Store`](crate::Store) that knows the pools.
#[async_trait]
pub trait Pools: Send + Sync {
    /// Makes a pool with these members; false, and nothing is changed, if there is one of that name.
    async fn create_pool(&self, tenant: &Tenant, pool: Pool, members: &[String]) -> Result<bool>;

    /// The pools of a tenant, by name.
    async fn pools(&self, tenant: &Tenant) -> Result<Vec<Pool>>;

    /// One pool of a tenant.
    async fn pool(&self, tenant: &Tenant, slug: &str) -> Result<Option<Pool>>;

    /// The pools that an agent is in, by name.
    async fn pools_of(&self, tenant: &Tenant, agent: &str) -> Result<Vec<Pool>>;

    /// Whether an agent is in a pool that is there.
    async fn in_pool(&self, tenant: &Tenant, pool: &str, agent: &str) -> Result<bool>;

    /// The members of a pool, by name.
    async fn members(&self, tenant: &Tenant, pool: &str) -> Result<Vec<PoolMember>>;

    /// Adds members. How many are new; none: there is no such pool.
    async fn join_pool(&self, tenant: &Tenant, pool: &str, agents: &[String], at: Timestamp) -> Result<Option<u64>>;

    /// Takes a member out; false if it was none. What it wrote stays.
    async fn leave_pool(&self, tenant: &Tenant, pool: &str, agent: &str) -> Result<bool>;

    /// Removes a pool, its members and its space with everything in it; false if there was none.
    async fn drop_pool(&self, tenant: &Tenant, slug: &str) -> Result<bool>;
}

/// A pool of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Pool {
    /// Its URL-safe name, the `poolId`.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// An agent that is in a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PoolMember {
    /// Its slug.
    pub agent_id: String,
    /// Since when it is in.
    pub joined_at: Timestamp,
}
