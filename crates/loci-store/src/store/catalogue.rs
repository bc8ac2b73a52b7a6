//! Tenants, agents, pools and credentials of a [`Store`](super::Store).
//!
//! A pool and its members belong to one tenant: the same name in another tenant is another pool. The engine decides
//! what membership permits.

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{Key, Space, Tenant};
use serde::{Deserialize, Serialize};

use crate::Result;

/// The tenants, spaces, agents, pools and credentials of a store.
#[async_trait]
pub trait Catalogue: Send + Sync {
    /// All tenants, by name. A tenant exists once something was written or a credential was created for it.
    async fn tenants(&self) -> Result<Vec<Tenant>>;

    /// The spaces of a tenant that were written to.
    async fn spaces(&self, tenant: &Tenant) -> Result<Vec<Space>>;

    /// The agents of a tenant, by slug: all, or the one with this slug.
    async fn agents(&self, tenant: &Tenant, slug: Option<&str>) -> Result<Vec<Agent>>;

    /// Credentials, oldest first, including revoked and expired ones.
    async fn keys(&self, query: KeyQuery<'_>) -> Result<Vec<Key>>;

    /// The pools of a tenant that match the filter, by slug, with their members.
    async fn pools(&self, tenant: &Tenant, filter: &PoolFilter) -> Result<Vec<PoolRecord>>;

    /// Changes the catalogue in one transaction. Returns the number of entries that were added, changed or removed; see
    /// [`CatalogueChange`].
    async fn change_catalogue(&self, tenant: &Tenant, change: CatalogueChange) -> Result<u64>;
}

/// An agent of a tenant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// The id of the agent, a URL-safe name. Called `slug` in exports of format 1.
    #[serde(alias = "slug")]
    pub agent_id: String,
    /// Its own settings: weights, limit, threshold, categories. Called `config` in exports of format 1.
    #[serde(alias = "config")]
    pub settings: serde_json::Value,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// A pool of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Pool {
    /// The id of the pool, a URL-safe name.
    pub pool_id: String,
    /// Its display name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A member of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PoolMember {
    /// The slug of the agent.
    pub agent_id: String,
    /// When it joined.
    pub created_at: Timestamp,
}

/// Selects credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyQuery<'q> {
    /// The one with this id, of any tenant.
    Id(&'q str),
    /// All of a tenant.
    Tenant(&'q Tenant),
    /// Any one credential, to find out whether there is one.
    Any,
}

/// Selects pools. A condition that is none always matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolFilter {
    /// The pool has this slug.
    pub slug: Option<String>,
    /// This agent is a member.
    pub member: Option<String>,
}

impl PoolFilter {
    /// The pool with this slug.
    pub fn named(slug: &str) -> Self {
        Self { slug: Some(slug.to_owned()), member: None }
    }

    /// The pools of which this agent is a member.
    pub fn of_member(agent: &str) -> Self {
        Self { slug: None, member: Some(agent.to_owned()) }
    }

    /// The pool with this slug, if this agent is a member.
    pub fn shared(slug: &str, agent: &str) -> Self {
        Self { slug: Some(slug.to_owned()), member: Some(agent.to_owned()) }
    }
}

/// A pool with its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolRecord {
    /// The pool.
    pub pool: Pool,
    /// Its members, by slug.
    pub members: Vec<PoolMember>,
}

/// A change of the catalogue.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a change of the catalogue is rare and short-lived")]
pub enum CatalogueChange {
    /// Registers an agent, or changes the configuration of an existing one. Returns 1 if it is new.
    PutAgent(Agent),
    /// Removes an agent and its space with all its data.
    DropAgent(String),
    /// Stores a new credential. Fails if the id exists.
    PutKey(Key),
    /// Revokes a credential at a time; an earlier revocation stays.
    RevokeKey {
        /// Its id.
        id: String,
        /// The time of the revocation.
        at: Timestamp,
    },
    /// Creates a pool with its first members. Returns 0 and changes nothing if the slug exists.
    CreatePool {
        /// The pool.
        pool: Pool,
        /// The slugs of its members.
        members: Vec<String>,
    },
    /// Adds members to an existing pool. Returns the number of new members.
    JoinPool {
        /// Its slug.
        pool: String,
        /// The slugs of the agents.
        agents: Vec<String>,
        /// The time of joining.
        at: Timestamp,
    },
    /// Removes a member from a pool. Its memories stay.
    LeavePool {
        /// The slug of the pool.
        pool: String,
        /// The slug of the agent.
        agent: String,
    },
    /// Removes a pool, its members and its space with all its data.
    DropPool(String),
    /// Removes the tenant: its credentials first, so that nobody writes any more, then its spaces with all their data,
    /// its agents and its pools. Returns the number of spaces. One that is interrupted is finished by the next.
    DropTenant,
}
