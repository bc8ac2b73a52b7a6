//! Copies memories of a pool to the agent's own space.
//!
//! Copies belong to the named user, because an agent's memories are always about a user. A copy records the id and
//! the hash of its original, so a second run copies only what is new or has changed. Copies that the agent has
//! forgotten are not copied again, and memories that the agent wrote itself are not replaced.

use std::collections::HashMap;

use loci_store::Page;
use loci_types::{ContentHash, Filter, Identifiers, Layer, Memory, MemoryId, Outcome, Receipt, Scope, Source, Visible};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::access::policy::{self, Caller};
use crate::sharing::pool::{CONTRIBUTED_FROM, copy_of};
use crate::{Engine, NewMemory, Result, Update};

/// The metadata key in which a copy names its original.
const SYNCED_FROM: &str = "syncedFrom";
/// The type of its source.
const SOURCE: &str = "pool";
/// Number of memories that are read at once.
const MEMORIES_PER_READ: usize = 200;

/// The outcome of a synchronisation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PoolSync {
    /// The pool.
    pub pool_id: String,
    /// The agent to which it was brought.
    pub agent_id: String,
    /// The user whom the copies are about.
    pub user_id: String,
    /// Memories that the agent did not have.
    pub created: u64,
    /// Copies of what has changed in the pool since.
    pub updated: u64,
    /// What the agent had already, or had contributed itself.
    pub unchanged: u64,
}

/// Of what a memory is a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Origin {
    pool: String,
    id: MemoryId,
    hash: ContentHash,
    /// Who contributed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
}

/// A copy that the agent has, or had.
struct PoolCopy {
    id: MemoryId,
    hash: ContentHash,
    /// Whether it still stands, so that it can change.
    holds: bool,
}

/// One run.
struct SyncRun {
    pool: String,
    /// The agent for itself, without the pool.
    own: Caller,
    scope: Scope,
    /// What the caller sees of the pool.
    seen: Visible,
    known: HashMap<MemoryId, PoolCopy>,
}

impl Engine {
    /// Copies the memories of the named pool that the agent does not have yet to its own space. `progress` receives
    /// the number of memories that were processed, and the total.
    pub async fn sync_pool(&self, caller: &Caller, mut progress: impl FnMut(u64, u64) + Send) -> Result<PoolSync> {
        policy::require_writer(caller)?;
        let pool = self.pool_named(caller).await?;
        let Identifiers { agent_id, user_id, .. } = caller.identifiers.clone();
        let identifiers = Identifiers { agent_id, user_id, ..Identifiers::default() };
        let scope = Scope::new(Layer::Agent, &identifiers)?;
        let own = Caller { identifiers, ..caller.clone() };
        let seen = self.visible(caller, Some(&[Layer::Pool])).await?;
        let known = self.copies(&own, &pool).await?;
        let run = SyncRun { pool, own, scope, seen, known };
        let Identifiers { agent_id, user_id, .. } = run.own.identifiers.clone();
        let (agent_id, user_id) = (agent_id.unwrap_or_default(), user_id.unwrap_or_default());
        let mut done = PoolSync { pool_id: run.pool.clone(), agent_id, user_id, ..PoolSync::default() };
        let (filter, mut after, mut looked) = (Filter::at(self.now()), None, 0);
        loop {
            let listing = self.store.scan(&run.seen, &filter, Page { after, limit: MEMORIES_PER_READ }).await?;
            for memory in &listing.memories {
                match self.copy_memory(&run, memory).await? {
                    Outcome::Created => done.created += 1,
                    Outcome::None => done.unchanged += 1,
                    _ => done.updated += 1,
                }
            }
            looked += listing.memories.len() as u64;
            progress(looked, listing.total.max(looked));
            after = listing.next;
            if after.is_none() {
                return Ok(done);
            }
        }
    }

    /// The copies from this pool that the agent has or had, by what they are copies of.
    async fn copies(&self, own: &Caller, pool: &str) -> Result<HashMap<MemoryId, PoolCopy>> {
        let visible = self.visible(own, Some(&[Layer::Agent])).await?;
        let filter = Filter { source_types: vec![SOURCE.to_owned()], ..Filter::everything(self.now()) };
        let (mut known, mut after) = (HashMap::<MemoryId, PoolCopy>::new(), None);
        loop {
            let listing = self.store.scan(&visible, &filter, Page { after, limit: MEMORIES_PER_READ }).await?;
            for memory in &listing.memories {
                let Some(origin) = origin(memory).filter(|origin| origin.pool == pool) else { continue };
                let holds = memory.state.is_live() && memory.superseded_by_id.is_none();
                // An existing copy is preferred to a deleted one.
                if holds || !known.contains_key(&origin.id) {
                    known.insert(origin.id, PoolCopy { id: memory.id, hash: origin.hash, holds });
                }
            }
            after = listing.next;
            if after.is_none() {
                return Ok(known);
            }
        }
    }

    /// Brings one memory of the pool, if the agent has not had it.
    async fn copy_memory(&self, run: &SyncRun, memory: &Memory) -> Result<Outcome> {
        if contributed_by(memory, &run.scope) {
            return Ok(Outcome::None);
        }
        let metadata = copy_metadata(run, memory);
        if let Some(copy) = run.known.get(&memory.id) {
            if copy.hash == memory.content_hash || !copy.holds {
                return Ok(Outcome::None);
            }
            let content = Some(memory.content.clone());
            let update = Update { content, metadata: Some(metadata), ..Update::default() };
            return Ok(self.update(&run.own, copy.id, update).await?.event);
        }
        let mut new = NewMemory {
            layer: Some(Layer::Agent),
            source: Some(Source {
                kind: SOURCE.to_owned(),
                reference: Some(memory.id.to_string()),
                ..Source::default()
            }),
            // What the agent knows itself is not replaced by what others say.
            as_is: true,
            // The speaker is recorded, so that the copy is erased with them.
            actor_id: memory.actor_id.clone().or_else(|| memory.identifiers.user_id.clone()),
            ..copy_of(memory)
        };
        new.metadata.remove(CONTRIBUTED_FROM);
        new.metadata.extend(metadata);
        match self.older_copy(run, memory).await? {
            Some(older) => {
                let Receipt { event, .. } = self.supersede(&run.own, older, new).await?;
                Ok(if event == Outcome::None { event } else { Outcome::Superseded })
            }
            None => Ok(self.remember(&run.own, new).await?.event),
        }
    }

    /// The copy of what this memory replaces in the pool, if it still stands.
    async fn older_copy(&self, run: &SyncRun, memory: &Memory) -> Result<Option<MemoryId>> {
        if memory.supersedes_id.is_none() {
            return Ok(None);
        }
        let versions = self.chain(&run.seen, memory).await?;
        let copies = versions.iter().rev().filter_map(|version| run.known.get(&version.id));
        Ok(copies.filter(|copy| copy.holds).map(|copy| copy.id).next())
    }
}

/// Whether a memory is a copy of what others said in a pool.
pub(crate) fn is_copy(memory: &Memory) -> bool {
    memory.source.as_ref().is_some_and(|source| source.kind == SOURCE)
}

fn origin(memory: &Memory) -> Option<Origin> {
    serde_json::from_value(memory.metadata.get(SYNCED_FROM)?.clone()).ok()
}

/// What a copy of this memory says of where it comes from.
fn copy_metadata(run: &SyncRun, memory: &Memory) -> Map<String, Value> {
    let (pool, agent_id) = (run.pool.clone(), memory.identifiers.agent_id.clone());
    let origin = Origin { pool, id: memory.id, hash: memory.content_hash, agent_id };
    [(SYNCED_FROM.to_owned(), json!(origin))].into_iter().collect()
}

/// Whether a memory of a pool is a copy of one that this agent has.
fn contributed_by(memory: &Memory, scope: &Scope) -> bool {
    let space = memory.metadata.get(CONTRIBUTED_FROM).and_then(|from| from.get("space"));
    let own = memory.identifiers.agent_id == scope.identifiers().agent_id;
    own && space.and_then(Value::as_str) == Some(scope.space().name().as_str())
}
