//! The provenance of a memory: its sources, its chain of versions, its entities and links, and why it was written.

use loci_store::{EntityQuery, LedgerQuery};
use loci_types::{Edge, Entity, Filter, LedgerEntry, Memory, MemoryId, Relation, Visible};
use serde::{Deserialize, Serialize};

use crate::access::policy::Caller;
use crate::write::contradict::NewerStatement;
use crate::{Engine, Result};

/// Maximum length of the chain in the report.
const LONGEST_CHAIN: usize = 100;

/// Maximum number of ledger entries in the report.
const MAX_HISTORY: usize = 100;

/// The provenance of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Provenance))]
#[serde(rename_all = "camelCase")]
pub struct ProvenanceReport {
    /// The memory.
    pub memory: Memory,
    /// The memories that it was learned from.
    pub sources: Vec<Memory>,
    /// All versions of it, oldest first, including this one.
    pub chain: Vec<Memory>,
    /// The entities that it mentions.
    pub entities: Vec<Entity>,
    /// Its other links.
    pub edges: Vec<Edge>,
    /// The later statement that may contradict it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer: Option<NewerStatement>,
    /// Its ledger entries, oldest first.
    pub history: Vec<LedgerEntry>,
}

impl Engine {
    /// Returns the provenance of a memory.
    pub async fn explain(&self, caller: &Caller, id: MemoryId) -> Result<ProvenanceReport> {
        let visible = self.visible_by_id(caller).await?;
        let Some(memory) = self.store.fetch(&visible, &[id]).await?.pop() else {
            return Err(loci_store::Error::NotFound(id).into());
        };
        let (ids, filter) = ([id], Filter::everything(self.now()));
        let (mentioned, lines) = (EntityQuery::MentionedBy(id), LedgerQuery::Memory(id));
        let (edges, entities, history) = futures::join!(
            self.store.edges(&visible, &filter, &ids, &[]),
            self.store.entities(&visible, &mentioned, usize::MAX),
            self.store.ledger(&visible, &lines, MAX_HISTORY),
        );
        let (sources, edges): (Vec<Edge>, Vec<Edge>) = edges?
            .into_iter()
            .filter(|edge| edge.relation != Relation::Supersedes)
            .partition(|edge| edge.relation == Relation::DerivedFrom && edge.source_id == id);
        let sources: Vec<MemoryId> = sources.iter().map(|edge| edge.target_id).collect();
        Ok(ProvenanceReport {
            sources: self.store.fetch(&visible, &sources).await?,
            chain: self.chain(&visible, &memory).await?,
            entities: entities?,
            edges,
            newer: self.newer_visible(&visible, &ids).await?.remove(&id),
            history: history?.entries,
            memory,
        })
    }

    pub(crate) async fn chain(&self, visible: &Visible, memory: &Memory) -> Result<Vec<Memory>> {
        let mut chain = vec![memory.clone()];
        while let Some(older) = chain[0].supersedes_id
            && chain.len() < LONGEST_CHAIN
            && let Some(older) = self.store.fetch(visible, &[older]).await?.pop()
        {
            chain.insert(0, older);
        }
        while let Some(newer) = chain.last().and_then(|memory| memory.superseded_by_id)
            && chain.len() < LONGEST_CHAIN
            && let Some(newer) = self.store.fetch(visible, &[newer]).await?.pop()
        {
            chain.push(newer);
        }
        Ok(chain)
    }
}
