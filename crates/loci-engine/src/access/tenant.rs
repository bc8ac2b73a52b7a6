//! Tenants: listing them, their usage, and their removal.
//!
//! An admin of the tenant `default` operates the store and manages all tenants; other admins see their own.

use std::path::Path;

use loci_store::{CatalogueChange, KeyQuery};
use loci_types::{Error, ErrorKind, Grant, Tenant};
use serde::Serialize;

use crate::access::policy::{self, Caller};
use crate::{Engine, IssuedKey, NewKey, Result};

/// What a tenant holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantUsage {
    /// The tenant.
    pub tenant: Tenant,
    /// Number of memories in any state.
    pub memories: u64,
    /// Bytes on disk; 0 if the store does not know.
    pub bytes: u64,
    /// Number of spaces.
    pub spaces: u64,
    /// Number of keys that are neither revoked nor expired.
    pub keys: u64,
}

/// A tenant that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemovedTenant {
    /// The tenant.
    pub tenant: Tenant,
    /// Number of spaces that were removed.
    pub spaces: u64,
    /// What may be left outside of the store, and why.
    pub left: Vec<String>,
}

impl Engine {
    /// The tenants that the caller looks after, by name: all for who runs the store, else their own.
    pub async fn tenants_of(&self, caller: &Caller) -> Result<Vec<Tenant>> {
        policy::require_operator(caller, "list tenants")?;
        if policy::is_store_operator(caller) { self.tenants(caller).await } else { Ok(vec![caller.tenant.clone()]) }
    }

    /// What a tenant holds. One that the caller does not look after is not found.
    pub async fn tenant_usage(&self, caller: &Caller, tenant: &Tenant) -> Result<TenantUsage> {
        if !self.tenants_of(caller).await?.contains(tenant) {
            return Err(unknown(tenant.name()));
        }
        let stats = self.store.stats(&policy::visible_tenant(tenant)).await?;
        let (now, keys) = (self.now(), self.store.keys(KeyQuery::Tenant(tenant)).await?);
        Ok(TenantUsage {
            tenant: tenant.clone(),
            memories: stats.memories,
            bytes: stats.bytes,
            spaces: stats.spaces,
            keys: keys.iter().filter(|key| key.holds(now)).count() as u64,
        })
    }

    /// Creates a tenant with its first key, which is an admin's.
    pub async fn create_tenant(&self, caller: &Caller, tenant: Tenant, key_name: String) -> Result<IssuedKey> {
        policy::require_store_operator(caller, "create tenants")?;
        if self.store.tenants().await?.contains(&tenant) {
            let message = format!("there is a tenant `{}` already", tenant.name());
            return Err(Error::new(ErrorKind::Conflict, message).at("tenant").hint("choose another name").into());
        }
        let operator = Caller { tenant: tenant.clone(), ..Caller::operator() };
        self.create_key(&operator, NewKey { name: key_name, grant: Grant::whole(tenant), expires_at: None }).await
    }

    /// Refuses the removal of a tenant before any of it is begun.
    pub async fn check_tenant_removal(&self, caller: &Caller, tenant: &Tenant) -> Result<()> {
        policy::require_store_operator(caller, "remove tenants")?;
        if *tenant == Tenant::default() {
            return Err(Error::invalid("tenant", "the tenant `default` cannot be removed").into());
        }
        match self.store.tenants().await?.contains(tenant) {
            true => Ok(()),
            false => Err(unknown(tenant.name())),
        }
    }

    /// Removes a tenant with its keys, memories, agents, pools and backups. One that is interrupted is finished by
    /// removing the tenant again.
    pub async fn remove_tenant(
        &self,
        caller: &Caller,
        tenant: &Tenant,
        backups: Option<&Path>,
    ) -> Result<RemovedTenant> {
        self.check_tenant_removal(caller, tenant).await?;
        self.write_waiting().await;
        self.working.drop_tenant(tenant.name());
        self.known_agents.clear();
        let spaces = self.store.change_catalogue(tenant, CatalogueChange::DropTenant).await?;
        self.feature_cache.clear();
        if let Some(folder) = backups {
            self.remove_backups_of(tenant, folder)?;
        }
        let mut left = vec!["earlier backups and exports outside the store still contain the data".to_owned()];
        if self.tier.is_some() {
            left.push("working memory and session entries of the tenant in a tier stay until they expire".to_owned());
        }
        Ok(RemovedTenant { tenant: tenant.clone(), spaces, left })
    }
}

fn unknown(tenant: &str) -> crate::Error {
    Error::new(ErrorKind::NotFound, format!("unknown tenant `{tenant}`"))
        .at("tenant")
        .hint("list the tenants to see their names")
        .into()
}
