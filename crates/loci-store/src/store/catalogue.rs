//! A part of a [`Store`](super::Store): tenants, agents, pools and credentials.
//!
//! A pool belongs to a tenant, and so do its members: the same name elsewhere is another pool. What membership opens is
//! decided by the engine.

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{Key, Space, Tenant};
use serde::{Deserialize, Serialize};

use crate::Result;

/// Which tenants, spaces, agents, pools and credentials there are.
#[async_trait]
pub trait Catalogue: Send + Sync {
    /// The tenants that there are, by name: those that something was written for, or a credential made.
    async fn tenants(&self) -> Result<Vec<Tenant>>;

    /// The spaces of a tenant that were written to.
    async fn spaces(&self, tenant: &Tenant) -> Result<Vec<Space>>;

    /// Registers an agent and its configuration; true if it is new.
    async fn create_agent(&self, tenant: &Tenant, agent: Agent) -> Result<bool>;

    /// The agents of a tenant.
    async fn agents(&self, tenant: &Tenant) -> Result<Vec<Agent>>;

    /// One agent of a tenant.
    async fn agent(&self, tenant: &Tenant, slug: &str) -> Result<Option<Agent>>;

    /// Removes an agent and its space with everything in it; false if there was none.
    async fn drop_agent(&self, tenant: &Tenant, slug: &str) -> Result<bool>;

    /// Keeps a new credential; an id is taken once.
    async fn put_key(&self, key: Key) -> Result<()>;

    /// The credential with this id, whoever's it is and whether or not it still counts.
    async fn key(&self, id: &str) -> Result<Option<Key>>;

    /// The credentials of a tenant, oldest first.
    async fn keys(&self, tenant: &Tenant) -> Result<Vec<Key>>;

    /// Refuses a credential from an instant on; what was revoked earlier stays so. False if there is none.
    async fn revoke_key(&self, tenant: &Tenant, id: &str, at: Timestamp) -> Result<bool>;

    /// Whether any credential was ever made here, for whatever tenant.
    async fn has_keys(&self) -> Result<bool>;

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

/// An agent of a tenant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// Its URL-safe name.
    pub slug: String,
    /// Its own configuration: weights, limit, threshold, categories.
    pub config: serde_json::Value,
    /// When it was registered.
    pub created_at: Timestamp,
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
