//! Names of new tenants, agents and pools: none may differ from a known one by case only, or be no folder on some system.
//!
//! Agents are made by their first write, so every batch is checked. What an earlier version made stays usable.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use loci_store::PoolFilter;
use loci_types::{Space, Tenant, check_new_slug};

use crate::{Engine, Result};

/// Maximum number of agents that are remembered as known. Beyond it all are forgotten and looked up again.
const MAX_REMEMBERED: usize = 50_000;

/// The agents that were found to be known, so that a write of theirs asks the catalogue no more.
#[derive(Debug, Default)]
pub(crate) struct KnownAgents(Mutex<HashSet<(Tenant, String)>>);

impl KnownAgents {
    fn has(&self, tenant: &Tenant, slug: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&(tenant.clone(), slug.to_owned()))
    }

    fn add<'s>(&self, tenant: &Tenant, slugs: impl Iterator<Item = &'s str>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for slug in slugs {
            if known.len() >= MAX_REMEMBERED {
                known.clear();
            }
            known.insert((tenant.clone(), slug.to_owned()));
        }
    }

    /// Forgets all, after an agent was dropped: its name may be another's now.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Engine {
    /// Refuses a write to the space of an agent that would be new under a name too near to that of another.
    pub(crate) async fn check_agent_of(&self, tenant: &Tenant, space: &Space) -> loci_store::Result<()> {
        match space {
            Space::Agent(slug) => self.check_agent(tenant, slug).await,
            _ => Ok(()),
        }
    }

    /// The same for the name of an agent.
    pub(crate) async fn check_agent(&self, tenant: &Tenant, slug: &str) -> loci_store::Result<()> {
        if self.known_agents.has(tenant, slug) {
            return Ok(());
        }
        let registered = self.store.agents(tenant, None).await?;
        let spaces = self.store.spaces(tenant).await?;
        let in_spaces = spaces.iter().filter_map(|space| match space {
            Space::Agent(slug) => Some(slug.as_str()),
            _ => None,
        });
        let known: Vec<&str> = registered.iter().map(|agent| agent.agent_id.as_str()).chain(in_spaces).collect();
        check_new_slug("agentId", slug, known.iter().copied())?;
        self.known_agents.add(tenant, known.into_iter().chain([slug]));
        Ok(())
    }

    /// Refuses the name of a new pool that is too near to that of another.
    pub(crate) async fn check_pool(&self, tenant: &Tenant, slug: &str) -> Result<()> {
        let pools = self.store.pools(tenant, &PoolFilter::default()).await?;
        Ok(check_new_slug("poolId", slug, pools.iter().map(|record| record.pool.pool_id.as_str()))?)
    }

    /// Refuses the name of a new tenant that is too near to that of another.
    pub(crate) async fn check_tenant(&self, tenant: &Tenant) -> Result<()> {
        let tenants = self.store.tenants().await?;
        let default = Tenant::default();
        Ok(check_new_slug("tenant", tenant.name(), tenants.iter().chain([&default]).map(Tenant::name))?)
    }
}
