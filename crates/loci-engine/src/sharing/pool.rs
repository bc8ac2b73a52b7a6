//! Pools: memories that agents share.
//!
//! The operator creates pools and manages their members; members contribute, recall and leave. A contribution keeps
//! its origin and stays when its contributor leaves. **Invariant:** a caller who is not a member receives the same
//! error as for a pool that does not exist.

use std::collections::BTreeMap;

use loci_store::{CatalogueChange, Page, Pool, PoolFilter, PoolMember, PoolRecord};
use loci_types::{Durability, Error, ErrorKind, Filter, Layer, Memory, MemoryId, Outcome, Receipt, Space};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::access::bounds;
use crate::access::policy::{self, Caller};
use crate::{Engine, NewMemory, Recall, RecallRequest, Result};

/// The metadata field of a contribution that names its original: `{space, id}`.
pub(crate) const CONTRIBUTED_FROM: &str = "contributedFrom";
/// Maximum number of agents that one call adds.
const MEMBERS: usize = 1_000;

/// A new pool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPool {
    /// The id of the pool, a URL-safe name.
    pub pool_id: String,
    /// The display name. Default: the id.
    #[serde(default)]
    pub name: Option<String>,
    /// The ids of the agents that are members from the start, at most 1,000.
    #[serde(default)]
    pub agent_ids: Vec<String>,
}

/// A pool with its members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PoolDetails {
    /// The pool.
    #[serde(flatten)]
    pub pool: Pool,
    /// The agents that are members, by name.
    pub members: Vec<PoolMember>,
}

impl Engine {
    /// Creates a pool with its first members. An existing one is not created again.
    pub async fn create_pool(&self, caller: &Caller, new: NewPool) -> Result<PoolDetails> {
        policy::require_operator(caller, "create pools")?;
        let NewPool { pool_id, name, agent_ids: members } = new;
        bounds::between("agentIds", members.len(), 0, MEMBERS)?;
        let name = name.unwrap_or_else(|| pool_id.clone());
        if name.trim().is_empty() {
            return Err(Error::invalid("name", "name is empty").hint("leave it out, or give it a value").into());
        }
        bounds::short("name", Some(&name), bounds::LABEL)?;
        self.check_pool(&caller.tenant, &pool_id).await?;
        let pool = Pool { pool_id, name, created_at: self.now() };
        if self
            .store
            .change_catalogue(&caller.tenant, CatalogueChange::CreatePool { pool: pool.clone(), members })
            .await?
            == 0
        {
            return Err(Error::new(ErrorKind::Conflict, format!("there is a pool `{}` already", pool.pool_id))
                .at("poolId")
                .hint("`loci pool join` lets agents in, `loci pool drop` removes it with all it holds")
                .into());
        }
        // As it is stored: times are kept to the microsecond.
        let made = self.store.pools(&caller.tenant, &PoolFilter::named(&pool.pool_id)).await?.pop();
        let PoolRecord { pool, members } = made.unwrap_or(PoolRecord { pool, members: Vec::new() });
        Ok(PoolDetails { pool, members })
    }

    /// The pools of the calling agent; all pools for an operator who names no agent.
    pub async fn pools(&self, caller: &Caller) -> Result<Vec<Pool>> {
        caller.identifiers.validate()?;
        if caller.identifiers.pool_id.is_some() && !caller.pool_implied {
            self.pool_named(caller).await?;
        }
        let filter = match &caller.identifiers.agent_id {
            Some(agent) => PoolFilter::of_member(agent),
            None if caller.operator => PoolFilter::default(),
            None => {
                return Err(Error::new(ErrorKind::MissingIdentifier, "agentId is missing")
                    .at("agentId")
                    .hint("give agentId (--agent NAME)")
                    .into());
            }
        };
        let reached = |pool: &Pool| caller.pools.as_ref().is_none_or(|pools| pools.contains(&pool.pool_id));
        let found = self.store.pools(&caller.tenant, &filter).await?;
        Ok(found.into_iter().map(|record| record.pool).filter(reached).collect())
    }

    /// The named pool, with its members.
    pub async fn pool(&self, caller: &Caller) -> Result<PoolDetails> {
        let slug = self.pool_named(caller).await?;
        let found = self.store.pools(&caller.tenant, &PoolFilter::named(&slug)).await?.pop();
        let PoolRecord { pool, members } = found.ok_or_else(|| policy::not_a_member(&slug))?;
        Ok(PoolDetails { pool, members })
    }

    /// Adds agents to a pool. Returns the number of new members.
    pub async fn join_pool(&self, caller: &Caller, slug: &str, agents: &[String]) -> Result<u64> {
        policy::require_operator(caller, "add members to a pool")?;
        bounds::between("agentIds", agents.len(), 1, MEMBERS)?;
        if self.store.pools(&caller.tenant, &PoolFilter::named(slug)).await?.is_empty() {
            return Err(missing(slug).into());
        }
        let join = CatalogueChange::JoinPool { pool: slug.to_owned(), agents: agents.to_vec(), at: self.now() };
        Ok(self.store.change_catalogue(&caller.tenant, join).await?)
    }

    /// Removes an agent from the named pool: the operator may remove any, an agent only itself. Its contributions
    /// stay in the pool, and its copies stay with the agent.
    pub async fn leave_pool(&self, caller: &Caller, agent: &str) -> Result<()> {
        policy::require_writer(caller)?;
        let slug = named(caller)?.to_owned();
        if !caller.operator {
            self.pool_named(caller).await?;
            if caller.identifiers.agent_id.as_deref() != Some(agent) {
                return Err(Error::new(ErrorKind::Unauthorized, "an agent may only remove itself from a pool")
                    .at("agentId")
                    .hint("ask the operator")
                    .into());
            }
        }
        if self
            .store
            .change_catalogue(
                &caller.tenant,
                CatalogueChange::LeavePool { pool: slug.clone(), agent: agent.to_owned() },
            )
            .await?
            > 0
        {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotFound, format!("agent `{agent}` is not in pool `{slug}`"))
            .at("agentId")
            .hint("`loci pool show` lists the members")
            .into())
    }

    /// Removes a pool with everything in it.
    pub async fn drop_pool(&self, caller: &Caller, slug: &str) -> Result<()> {
        policy::require_operator(caller, "remove pools")?;
        match self.store.change_catalogue(&caller.tenant, CatalogueChange::DropPool(slug.to_owned())).await? {
            0 => Err(missing(slug).into()),
            _ => Ok(()),
        }
    }

    /// Adds a memory to the named pool. It is reconciled with the memories of the pool.
    pub async fn contribute(&self, caller: &Caller, new: NewMemory) -> Result<Receipt> {
        self.pool_named(caller).await?;
        self.remember(caller, NewMemory { layer: Some(Layer::Pool), ..new }).await
    }

    /// Adds a copy of a visible memory to the named pool. The copy records its original; if the memory has changed
    /// since it was last contributed, the new copy replaces the old.
    pub async fn contribute_memory(&self, caller: &Caller, id: MemoryId) -> Result<Receipt> {
        policy::require_writer(caller)?;
        self.pool_named(caller).await?;
        let memory = self.one(&self.visible_by_id(caller).await?, id).await?;
        may_be_shared(&memory)?;
        let space = match memory.scope()?.space() {
            // Copies that were made before users had shards name the space of then.
            Space::Users(_) => Space::Shared,
            space => space,
        };
        let from = json!({ "space": space.name(), "id": memory.id });
        let pool = self.visible(caller, Some(&[Layer::Pool])).await?;
        let same = Filter {
            agents: caller.identifiers.agent_id.iter().cloned().collect(),
            metadata: BTreeMap::from([(CONTRIBUTED_FROM.to_owned(), from.clone())]),
            ..Filter::at(self.now())
        };
        let before = self.store.scan(&pool, &same, Page { after: None, limit: 1 }).await?.memories.pop();
        let mut new = copy_of(&memory);
        new.layer = Some(Layer::Pool);
        new.metadata.insert(CONTRIBUTED_FROM.to_owned(), from);
        match before {
            Some(before) if before.content_hash == memory.content_hash => Ok(unchanged(&before)),
            Some(before) => self.supersede(caller, before.id, new).await,
            None => self.remember(caller, new).await,
        }
    }

    /// Recalls memories of the named pool only.
    pub async fn query_pool(&self, caller: &Caller, request: RecallRequest) -> Result<Recall> {
        self.pool_named(caller).await?;
        self.recall(caller, RecallRequest { layers: Some(vec![Layer::Pool]), ..request }).await
    }

    /// The named pool, if the caller is a member.
    pub(crate) async fn pool_named(&self, caller: &Caller) -> Result<String> {
        let slug = named(caller)?;
        policy::target_in(caller, &self.membership(caller).await?, Some(Layer::Pool))?;
        Ok(slug.to_owned())
    }
}

/// The part of a memory that is copied: its content, not its scope or its scores.
pub(crate) fn copy_of(memory: &Memory) -> NewMemory {
    NewMemory {
        content: memory.content.clone(),
        kind: Some(memory.kind.name().to_owned()),
        category: memory.category.clone(),
        tags: memory.tags.clone(),
        metadata: memory.metadata.clone(),
        source: memory.source.clone(),
        knowledge_pointer: memory.knowledge_pointer.clone(),
        importance: Some(memory.importance),
        confidence: Some(memory.confidence),
        event_time: memory.event_time,
        valid_from: memory.valid_from,
        valid_until: memory.valid_until,
        expires_at: memory.expires_at,
        actor_id: memory.actor_id.clone(),
        role: memory.role.clone(),
        ..NewMemory::default()
    }
}

fn may_be_shared(memory: &Memory) -> Result<()> {
    crate::write::supersede::in_use(memory)?;
    let id = memory.id;
    if memory.layer == Layer::Pool {
        return Err(Error::invalid("memoryId", format!("memory {id} already belongs to a pool")).into());
    }
    if memory.access_policy.writer_only() {
        return Err(Error::invalid("memoryId", format!("only its writer may see memory {id}"))
            .hint("give it another accessPolicy first")
            .into());
    }
    Ok(())
}

fn named(caller: &Caller) -> Result<&str, Error> {
    caller.identifiers.pool_id.as_deref().ok_or_else(|| {
        Error::new(ErrorKind::MissingIdentifier, "poolId is missing").at("poolId").hint("give poolId (--pool NAME)")
    })
}

fn missing(slug: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("unknown pool `{slug}`")).at("poolId").hint("`loci pool list` shows them")
}

fn unchanged(memory: &Memory) -> Receipt {
    Receipt {
        id: memory.id,
        event: Outcome::None,
        version: memory.version,
        embedding_generated: false,
        embedding_regenerated: false,
        redacted: Vec::new(),
        durability: Durability::Durable,
    }
}
