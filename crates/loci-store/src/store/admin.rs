//! Administration of a [`Store`](super::Store).

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{
    Edge, EdgeId, Entity, EntityId, Filter, Layer, Memory, MemoryId, Scope, Session, Space, State, Tenant, Visible,
};
use serde::Serialize;
use tokio::sync::watch;

use crate::{Backup, BackupPlan, BackupProgress, Indexed, RestoreOutcome, RestorePlan, Result, UserData};

/// Health, statistics, maintenance, erasure and export.
#[async_trait]
pub trait Administration: Send + Sync {
    /// Name, version and health of the store. Fails if it cannot be read.
    async fn health(&self) -> Result<StoreHealth>;

    /// A counter that grows when any process may have written. It may grow without a write and may miss writes while
    /// its connection is down, so a waiting reader must also poll. None if the store has no such signal.
    fn change_signal(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Number of connections to the database that are in use. None if the store has no pool.
    fn busy_connections(&self) -> Option<usize> {
        None
    }

    /// The external index that serves [`nearest`](super::Search::nearest); none if the store searches itself.
    fn indexed(&self) -> Option<&Indexed> {
        None
    }

    /// The models whose vectors the visible spaces have or had. The cost does not depend on the number of vectors.
    async fn model_names(&self, visible: &Visible) -> Result<BTreeSet<String>>;

    /// Counts of the visible data.
    async fn stats(&self, visible: &Visible) -> Result<Stats>;

    /// The visible memories of a space after a row number (0 for the first), in the order of their rows, in any state.
    async fn list_for_ageing(
        &self,
        visible: &Visible,
        space: &Space,
        after: i64,
        limit: usize,
    ) -> Result<Vec<AgeingRow>>;

    /// The visible heads of a space's chains with more than `most` links, with the lengths of the chains.
    async fn long_chains(
        &self,
        visible: &Visible,
        space: &Space,
        most: usize,
        limit: usize,
    ) -> Result<Vec<(MemoryId, usize)>>;

    /// Deletes the expired notes of a space and its entities without mentions. Returns the number of deleted rows.
    async fn compact(&self, tenant: &Tenant, space: &Space, now: Timestamp) -> Result<u64>;

    /// Counts of a user's data in each space of the tenant. Empty unless the caller may read the whole tenant.
    async fn user_data(&self, visible: &Visible, user: &str) -> Result<BTreeMap<Space, UserData>>;

    /// Removes the remains of deleted data of a tenant from free pages and logs. It takes long and blocks writers.
    /// Returns none if everything was removed, otherwise what may be left and why.
    async fn scrub(&self, tenant: &Tenant) -> Result<Option<String>>;

    /// Takes or renews a lease on work that only one process may do at a time, or releases it if `lease` is zero.
    /// Returns whether `holder` has it now.
    async fn lease(&self, tenant: &Tenant, name: &str, holder: &str, now: Timestamp, lease: Duration) -> Result<bool>;

    /// Checks the visible spaces for damage, and repairs what it can if `repair` is set.
    async fn check(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>>;

    /// The next page of an export of a space after the cursor: the visible data that matches the filter. The filter
    /// does not apply to sessions.
    async fn export_page(
        &self,
        visible: &Visible,
        filter: &Filter,
        space: &Space,
        after: &ExportCursor,
        limit: usize,
    ) -> Result<ExportPage>;

    /// Writes a backup of the planned part of the store to `out`, while others write to the store. An error of `out`
    /// ends it.
    async fn write_backup(
        &self,
        plan: BackupPlan,
        out: Box<dyn Write + Send>,
        progress: BackupProgress,
    ) -> Result<Backup>;

    /// Restores a chain of backups. Nothing is changed before all of it is verified.
    async fn restore_backup(&self, plan: RestorePlan) -> Result<Vec<RestoreOutcome>>;
}

/// The fields of a memory that ageing needs.
#[derive(Debug, Clone, PartialEq)]
pub struct AgeingRow {
    /// The memory.
    pub id: MemoryId,
    /// Its kind.
    pub kind: String,
    /// Its layer.
    pub layer: Layer,
    /// Its state.
    pub state: State,
    /// Its importance, from 0 to 1.
    pub importance: f64,
    /// Its confidence at `aged_at`.
    pub confidence: f64,
    /// Its relevance at `aged_at`.
    pub relevance: f64,
    /// The rate at which its confidence decays; 0 for no decay.
    pub decay_rate: f64,
    /// Whether it is exempt from ageing.
    pub pinned: bool,
    /// Number of times that recall returned it.
    pub access_count: u64,
    /// When recall last returned it.
    pub last_accessed_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was imported into this store.
    pub imported_at: Option<Timestamp>,
    /// The time up to which ageing is applied; none if it was never aged.
    pub aged_at: Option<Timestamp>,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// When it is purged.
    pub purge_at: Option<Timestamp>,
    /// Whether a newer memory supersedes it.
    pub superseded: bool,
    /// Its user.
    pub user_id: Option<String>,
    /// Its agent.
    pub agent_id: Option<String>,
    /// Its session.
    pub session_id: Option<String>,
    /// Its row number, which grows with the order of additions.
    pub place: i64,
}

/// The health of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreHealth {
    /// The name of the store: `sqlite` or `postgres`.
    pub name: String,
    /// The version of the database.
    pub version: String,
    /// The reason why it cannot be written at present; none if it can.
    pub read_only: Option<String>,
}

/// Counts of the visible data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Number of memories in any state.
    pub memories: u64,
    /// Memories by layer.
    pub by_layer: BTreeMap<String, u64>,
    /// Memories by kind.
    pub by_kind: BTreeMap<String, u64>,
    /// Memories by state.
    pub by_state: BTreeMap<String, u64>,
    /// Edges by relation.
    pub edges: BTreeMap<String, u64>,
    /// Number of entities that a visible memory mentions. United ones count once.
    pub entities: u64,
    /// Number of active or decayed memories without a link and without a mention of an entity.
    pub orphans: u64,
    /// Vectors by model.
    pub vectors: BTreeMap<String, u64>,
    /// Number of active or decayed memories without a vector.
    pub without_vector: u64,
    /// Number of ledger entries about visible memories; all of them if the caller may read the whole tenant.
    pub ledger: u64,
    /// Jobs by state; empty unless the caller may read the whole tenant.
    pub jobs: BTreeMap<String, u64>,
    /// Number of spaces.
    pub spaces: u64,
    /// Bytes of the texts of the visible memories.
    pub content_bytes: u64,
    /// Bytes on disk; 0 unless the caller may read the whole tenant.
    pub bytes: u64,
}

/// A result of a check: damage, and whether it was repaired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The file, or the space on a server.
    pub file: String,
    /// The name of the check.
    pub check: String,
    /// The damage.
    pub problem: String,
    /// Whether it was repaired.
    pub repaired: bool,
}

/// The position of an export of a space: its section and the last item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportCursor {
    /// Memories after a row number (0 for the first), in the order of additions.
    Memories(i64),
    /// Edges after an id, by id, both ends of which are exported.
    Edges(Option<EdgeId>),
    /// Entities after an id, by id. A caller who sees the whole space gets all of them; others those that an exported
    /// memory mentions.
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
    /// The cursor of the next page of the section; none if it has no more items.
    pub next: Option<ExportCursor>,
}

/// A memory, and what its record does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedMemory {
    /// The record.
    pub memory: Memory,
    /// The time up to which ageing is applied; none if it was never aged.
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
