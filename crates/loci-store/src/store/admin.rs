//! A part of a [`Store`](super::Store): what those who run it need.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{
    Edge, EdgeId, Entity, EntityId, Filter, Layer, Memory, MemoryId, Scope, Session, Space, State, Tenant, Visible,
};
use serde::Serialize;
use tokio::sync::watch;

use crate::{Indexed, Result, UserData};

/// Health, statistics, maintenance, erasure and export.
#[async_trait]
pub trait Administration: Send + Sync {
    /// What it is, if it can be read.
    async fn health(&self) -> Result<StoreHealth>;

    /// A number that grows whenever something may have been written, by whichever process. It may grow for nothing,
    /// and word may be lost for a while, so whoever waits for it also looks from time to time. None: it is not told.
    fn change_signal(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// The outside index that proposes for [`nearest`](super::Search::nearest), with what is needed to look after it; none: the
    /// store finds its neighbours itself.
    fn indexed(&self) -> Option<&Indexed> {
        None
    }

    /// The models whose vectors the visible spaces hold or held; costs the same at any size.
    async fn model_names(&self, visible: &Visible) -> Result<BTreeSet<String>>;

    /// What there is, counted.
    async fn stats(&self, visible: &Visible) -> Result<Stats>;

    /// The visible memories of a space that came after a place (0: from the first), in the order they
    /// came, as far as time is concerned, in whatever state.
    async fn list_for_ageing(
        &self,
        visible: &Visible,
        space: &Space,
        after: i64,
        limit: usize,
    ) -> Result<Vec<AgeingRow>>;

    /// The visible heads of a space's chains with more than `most` links, and how long those are.
    async fn long_chains(
        &self,
        visible: &Visible,
        space: &Space,
        most: usize,
        limit: usize,
    ) -> Result<Vec<(MemoryId, usize)>>;

    /// Sweeps up after a space: notes that no longer count, entities that nobody speaks of, free pages
    /// of the words. Returns how many rows went.
    async fn compact(&self, tenant: &Tenant, space: &Space, now: Timestamp) -> Result<u64>;

    /// What a user left in each space of the tenant, counted. Told to those who see the whole tenant; others hear
    /// nothing.
    async fn user_data(&self, visible: &Visible, user: &str) -> Result<BTreeMap<Space, UserData>>;

    /// Leaves nothing of what was removed from a tenant's spaces in freed pages, words and logs. Takes long, and holds
    /// writers up. None: it is done; otherwise what may be left, and why.
    async fn scrub(&self, tenant: &Tenant) -> Result<Option<String>>;

    /// Takes a lease, so that only one does a piece of work at a time, or gives it back if `lease` is zero. True if `holder` has
    /// it now.
    async fn lease(&self, tenant: &Tenant, name: &str, holder: &str, now: Timestamp, lease: Duration) -> Result<bool>;

    /// Looks for damage in everything that is visible, and mends what it can if told to.
    async fn check(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>>;

    /// The next page of an export of a space: what is visible and matches the filter, after the cursor. The filter does not
    /// apply to sessions.
    async fn export_page(
        &self,
        visible: &Visible,
        filter: &Filter,
        space: &Space,
        after: &ExportCursor,
        limit: usize,
    ) -> Result<ExportPage>;
}

/// A memory as far as time is concerned.
#[derive(Debug, Clone, PartialEq)]
pub struct AgeingRow {
    /// Which.
    pub id: MemoryId,
    /// Its kind.
    pub kind: String,
    /// Its layer.
    pub layer: Layer,
    /// Where it stands.
    pub state: State,
    /// How much it matters.
    pub importance: f64,
    /// How sure we were of it at `aged_at`.
    pub confidence: f64,
    /// Its relevance at `aged_at`.
    pub relevance: f64,
    /// How fast confidence fades.
    pub decay_rate: f64,
    /// Kept whatever happens.
    pub pinned: bool,
    /// How often recall returned it.
    pub access_count: u64,
    /// When recall last did.
    pub last_accessed_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it came into this store, if it was imported.
    pub imported_at: Option<Timestamp>,
    /// How far time was counted; none: not at all.
    pub aged_at: Option<Timestamp>,
    /// When it stops to be of use.
    pub expires_at: Option<Timestamp>,
    /// When it is removed for good.
    pub purge_at: Option<Timestamp>,
    /// Whether a newer one has replaced it.
    pub superseded: bool,
    /// Whose it is.
    pub user_id: Option<String>,
    /// Which agent's.
    pub agent_id: Option<String>,
    /// In which session it came.
    pub session_id: Option<String>,
    /// Its place in the order they came.
    pub place: i64,
}

/// What a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreHealth {
    /// What it is called: `sqlite`, `postgres`.
    pub name: String,
    /// The version of the database.
    pub version: String,
    /// Why it can be read and not written just now; none: it can be.
    pub read_only: Option<String>,
}

/// What there is, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Memories in whatever state.
    pub memories: u64,
    /// By layer.
    pub by_layer: BTreeMap<String, u64>,
    /// By kind.
    pub by_kind: BTreeMap<String, u64>,
    /// By state.
    pub by_state: BTreeMap<String, u64>,
    /// Edges by relation.
    pub edges: BTreeMap<String, u64>,
    /// Entities.
    pub entities: u64,
    /// Vectors by model.
    pub vectors: BTreeMap<String, u64>,
    /// Live memories without a vector.
    pub without_vector: u64,
    /// Ledger entries.
    pub ledger: u64,
    /// Jobs by state.
    pub jobs: BTreeMap<String, u64>,
    /// Spaces.
    pub spaces: u64,
    /// Bytes on disk; only for those whose reach is the whole tenant.
    pub bytes: u64,
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The file.
    pub file: String,
    /// What was looked at.
    pub check: String,
    /// What was found.
    pub problem: String,
    /// Whether it has been mended.
    pub repaired: bool,
}

/// How far an export of a space has come, in which of its sections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportCursor {
    /// Memories after a row (0: from the first), in the order they were added.
    Memories(i64),
    /// Edges after an id, by id, both ends of which are exported.
    Edges(Option<EdgeId>),
    /// Entities after an id, by id. A caller who sees the whole space gets all of them; others those that an exported memory
    /// mentions.
    Entities(Option<EntityId>),
    /// Sessions after a scope and a name, by scope and name. Whether turns are pending is not determined.
    Sessions(Option<(Scope, String)>),
}

/// A page of an export. Only the section of the cursor has items.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExportPage {
    /// Memories.
    pub memories: Vec<ExportedMemory>,
    /// Edges.
    pub edges: Vec<Edge>,
    /// Entities.
    pub entities: Vec<ExportedEntity>,
    /// Sessions.
    pub sessions: Vec<Session>,
    /// Where the next page of the section begins. None: it has no more items.
    pub next: Option<ExportCursor>,
}

/// A memory, and what its record does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedMemory {
    /// The record.
    pub memory: Memory,
    /// The time up to which it was aged. None: it was not aged yet.
    pub aged_at: Option<Timestamp>,
    /// Its row: the position in the order of additions.
    pub row: i64,
}

/// An entity by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedEntity {
    /// The scope that it belongs to.
    pub scope: Scope,
    /// The entity with its own names only.
    pub entity: Entity,
    /// The entity that it was united with.
    pub united_with: Option<EntityId>,
    /// The exported memories that mention it, by id.
    pub mentions: Vec<MemoryId>,
}
