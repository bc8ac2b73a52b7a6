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

    /// The agents of a tenant, by name: all, or the one with this slug.
    async fn agents(&self, tenant: &Tenant, slug: Option<&str>) -> Result<Vec<Agent>>;

    /// Credentials, oldest first, whether or not they still hold.
    async fn keys(&self, query: KeyQuery<'_>) -> Result<Vec<Key>>;

    /// The pools of a tenant that match, by name, with their members.
    async fn pools(&self, tenant: &Tenant, filter: &PoolFilter) -> Result<Vec<PoolRecord>>;

    /// Changes the catalogue in one transaction. Returns how many entries came or went.
    async fn change_catalogue(&self, tenant: &Tenant, change: CatalogueChange) -> Result<u64>;
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

/// Which credentials are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyQuery<'q> {
    /// The one with this id, whichever tenant it is for.
    Id(&'q str),
    /// All of a tenant.
    Tenant(&'q Tenant),
    /// One of any tenant, if there is any.
    Any,
}

/// Which pools are wanted. Conditions that are none always hold.
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

    /// The pools that this agent is in.
    pub fn of_member(agent: &str) -> Self {
        Self { slug: None, member: Some(agent.to_owned()) }
    }

    /// The pool with this slug, if this agent is in it.
    pub fn shared(slug: &str, agent: &str) -> Self {
        Self { slug: Some(slug.to_owned()), member: Some(agent.to_owned()) }
    }
}

/// A pool and who is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolRecord {
    /// The pool.
    pub pool: Pool,
    /// Its members, by name.
    pub members: Vec<PoolMember>,
}

/// A change of the catalogue.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a change of the catalogue is rare and short-lived")]
pub enum CatalogueChange {
    /// Registers an agent, or gives a known one its configuration; 1 if it is new.
    PutAgent(Agent),
    /// Removes an agent and its space with everything in it.
    DropAgent(String),
    /// Keeps a new credential; an id is taken once.
    PutKey(Key),
    /// Refuses a credential from an instant on; one that was revoked earlier stays so.
    RevokeKey {
        /// Its id.
        id: String,
        /// From when on.
        at: Timestamp,
    },
    /// Makes a pool with its first members; 0, and nothing is changed, if there is one of that name.
    CreatePool {
        /// The pool.
        pool: Pool,
        /// The slugs of its members.
        members: Vec<String>,
    },
    /// Adds members to a pool that is there.
    JoinPool {
        /// Its slug.
        pool: String,
        /// The slugs of the agents.
        agents: Vec<String>,
        /// When.
        at: Timestamp,
    },
    /// Takes a member out of a pool. What it wrote stays.
    LeavePool {
        /// The slug of the pool.
        pool: String,
        /// The slug of the agent.
        agent: String,
    },
    /// Removes a pool, its members and its space with everything in it.
    DropPool(String),
}
