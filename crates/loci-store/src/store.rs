//! Where does a memory lie, and how is it reached?
//!
//! Two doors: every write is a [`Batch`] given to [`Store::apply`]; every read carries a
//! [`Visible`]. What a store must keep is tested by the contract suite in the testkit, which every
//! implementation runs.
//!
//! What other systems ask of a storage provider, and where it is here:
//!
//! | asked for | here |
//! |---|---|
//! | name, version, health | [`Store::health`] |
//! | initialize | opening one: `SqliteStore::open`, `PostgresStore::open`; both make or renew their schema |
//! | shutdown | dropping it; what was acknowledged is durable already, so nothing is left to flush |
//! | bulk add, bulk delete | [`Store::apply`] with many changes: one transaction, all or none |
//! | retry | `Retry` of an outside index; PostgreSQL's own transactions are run again when the server undid them |

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{
    Batch, Edge, Entity, EntityId, Filter, Job, JobKind, JobRecord, Key, Layer, LedgerEntry, Memory, MemoryId, Outcome,
    Relation, Scope, Session, SessionFilter, Space, State, Tenant, TimeRange, Vector, Visible,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::{Belongings, Carry, Checkpoints, Cursor, Facts, Indexed, Pools, Result, VectorFeed};

/// A place where memories lie, with the triples and checkpoints of their scopes.
///
/// A read names who sees:
///
/// ```
/// use loci_store::{Page, SqliteStore, Store};
/// use loci_types::{Filter, MemoryId, Visible};
///
/// async fn named(store: &SqliteStore, visible: &Visible, filter: &Filter, page: Page, id: MemoryId) {
///     drop(store.fetch(visible, &[id]).await);
///     drop(store.scan(visible, filter, page).await);
/// }
/// ```
///
/// One that forgets it does not compile:
///
/// ```compile_fail,E0061
/// # use loci_store::{Page, SqliteStore, Store};
/// # use loci_types::{Filter, MemoryId, Visible};
/// async fn forgotten(store: &SqliteStore, filter: &Filter, page: Page, id: MemoryId) {
///     drop(store.fetch(&[id]).await);
/// }
/// ```
///
/// ```compile_fail,E0061
/// # use loci_store::{Page, SqliteStore, Store};
/// # use loci_types::{Filter, MemoryId, Visible};
/// async fn forgotten(store: &SqliteStore, filter: &Filter, page: Page, id: MemoryId) {
///     drop(store.scan(filter, page).await);
/// }
/// ```
#[async_trait]
pub trait Store: Carry + Facts + Checkpoints + Pools + Send + Sync {
    /// What it is, if it can be read.
    async fn health(&self) -> Result<StoreHealth>;

    /// A number that grows whenever something may have been written, by whichever process. It may grow for nothing,
    /// and word may be lost for a while, so whoever waits for it also looks from time to time. None: it is not told.
    fn moved(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Applies all changes of the batch in one transaction, or none of them. When it returns, they
    /// survive the loss of power. One outcome per change, in order.
    async fn apply(&self, batch: Batch) -> Result<Vec<Applied>>;

    /// The memories with these ids that are visible, in the order asked, in whatever state.
    async fn fetch(&self, visible: &Visible, ids: &[MemoryId]) -> Result<Vec<Memory>>;

    /// One page of the memories that are visible and meant, newest first.
    async fn scan(&self, visible: &Visible, filter: &Filter, page: Page) -> Result<Listing>;

    /// The memories that share words with `query`, best first, scored by BM25.
    async fn lexical(&self, visible: &Visible, query: &str, filter: &Filter, limit: usize) -> Result<Vec<Hit>>;

    /// The memories whose vectors of the same model are nearest, best first, scored by
    /// `max(0, cosine)`.
    async fn nearest(&self, visible: &Visible, query: &Vector, filter: &Filter, limit: usize) -> Result<Vec<Hit>>;

    /// What an outside vector index must know that has read one space's ledger up to `after`: the memories of the
    /// next `limit` lines, each as it is now. Told to those who see the whole tenant; others hear nothing.
    async fn vector_feed(
        &self,
        visible: &Visible,
        space: &Space,
        model: &str,
        after: i64,
        limit: usize,
    ) -> Result<VectorFeed>;

    /// These memories as far as they are visible and meant, scored by their exact vectors as [`nearest`](Self::nearest)
    /// does. What someone else proposes becomes an answer only here.
    async fn rescore(
        &self,
        visible: &Visible,
        query: &Vector,
        filter: &Filter,
        ids: &[MemoryId],
        limit: usize,
    ) -> Result<Vec<Hit>>;

    /// The outside index that proposes for [`nearest`](Self::nearest), with what is needed to look after it; none: the
    /// store finds its neighbours itself.
    fn indexed(&self) -> Option<&Indexed> {
        None
    }

    /// The vectors of these memories made by this model; a memory without one is left out.
    async fn vectors(&self, visible: &Visible, model: &str, ids: &[MemoryId]) -> Result<Vec<(MemoryId, Vector)>>;

    /// In how many memories of the visible scopes each term occurs, in whatever state they are.
    async fn frequencies(&self, visible: &Visible, terms: &[String]) -> Result<Frequencies>;

    /// These memories with up to `reach` of those before and after each in its session, as far as
    /// they are visible and meant; around one that is not, there is nothing. Runs that touch are one
    /// strip. A memory outside any thread stands alone.
    async fn around(&self, visible: &Visible, filter: &Filter, ids: &[MemoryId], reach: usize) -> Result<Vec<Strip>>;

    /// The models whose vectors the visible spaces hold or held; costs the same at any size.
    async fn model_names(&self, visible: &Visible) -> Result<BTreeSet<String>>;

    /// How many vectors of each model the visible spaces hold, and how many live memories have none.
    async fn models(&self, visible: &Visible) -> Result<Models>;

    /// The ledger of one memory, oldest first. A purged or erased memory still has its tombstone,
    /// seen by those whose reach is the whole tenant.
    async fn history(&self, visible: &Visible, id: MemoryId, limit: usize) -> Result<Vec<LedgerEntry>>;

    /// The edges that start or end at one of these memories, of these relations or, if none is
    /// given, of all. Both ends are visible and meant.
    async fn edges(
        &self,
        visible: &Visible,
        filter: &Filter,
        ids: &[MemoryId],
        relations: &[Relation],
    ) -> Result<Vec<Edge>>;

    /// The newest or the most important memories, first ones first, scored by that measure.
    async fn foremost(&self, visible: &Visible, filter: &Filter, by: Measure, limit: usize) -> Result<Vec<Hit>>;

    /// The entities that go by one of these names or aliases, in whatever case, and that a visible
    /// memory speaks of.
    async fn entities(&self, visible: &Visible, names: &[String]) -> Result<Vec<Entity>>;

    /// The entities of the visible scopes that are meant and that a visible memory speaks of, those
    /// spoken of most first.
    async fn known_entities(&self, visible: &Visible, filter: &EntityFilter, limit: usize) -> Result<Vec<Entity>>;

    /// The entities that a visible memory speaks of.
    async fn spoken_of(&self, visible: &Visible, id: MemoryId) -> Result<Vec<Entity>>;

    /// The memories that speak of these entities, those that speak of most of them first, then the
    /// newest. The score is the share of the entities.
    async fn mentioning(
        &self,
        visible: &Visible,
        filter: &Filter,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<Hit>>;

    /// The latest that happened to visible memories of one space after `since`, oldest first: in one
    /// thread, or in all. A revision is the number of the last ledger entry, and grows with every change.
    async fn changes(
        &self,
        visible: &Visible,
        space: &Space,
        thread: Option<&str>,
        since: i64,
        limit: usize,
    ) -> Result<Changes>;

    /// The earliest lines of one space's ledger after a number, oldest first, and how far was looked.
    /// A line is told to those who see its memory, in whatever state that is; one about no memory or
    /// about one that is gone, to those who see the whole tenant and every category. One call looks at
    /// a bounded number of lines, so there may be more when fewer than `limit` came.
    async fn feed(&self, visible: &Visible, space: &Space, after: i64, limit: usize) -> Result<Feed>;

    /// The number of the last line of each visible space that was written to; costs the same at any size.
    async fn positions(&self, visible: &Visible) -> Result<BTreeMap<Space, i64>>;

    /// How many lines that the feed would tell were written in each stretch of time, by part of Loci
    /// and event. The stretches are `bucket` long and counted from 1970; empty ones are left out.
    async fn tally(&self, visible: &Visible, range: TimeRange, bucket: Duration) -> Result<Vec<Tally>>;

    /// The newest memory of a thread within one visible scope.
    async fn last_of_thread(&self, visible: &Visible, scope: &Scope, thread: &str) -> Result<Option<Memory>>;

    /// One line of a space's ledger, if the memory it is about is visible. A line about no memory is
    /// seen by those whose reach is the whole tenant.
    async fn entry(&self, visible: &Visible, space: &Space, sequence: i64) -> Result<Option<LedgerEntry>>;

    /// The visible sessions that are meant, those that were quiet longest first.
    async fn sessions(&self, visible: &Visible, filter: &SessionFilter, limit: usize) -> Result<Vec<Session>>;

    /// The visible turns of a session that were not learned from yet, in the order they came.
    async fn unlearned(&self, visible: &Visible, scope: &Scope, session: &str, limit: usize) -> Result<Vec<Memory>>;

    /// The notes of a space with these names that still count: those about visible scopes, and those
    /// about nobody for whoever sees the whole tenant.
    async fn notes(
        &self,
        visible: &Visible,
        space: &Space,
        keys: &[String],
        now: Timestamp,
    ) -> Result<Vec<(String, serde_json::Value)>>;

    /// The visible memories of a space that came after a place (0: from the first), in the order they
    /// came, as far as time is concerned, in whatever state.
    async fn ages(&self, visible: &Visible, space: &Space, after: i64, limit: usize) -> Result<Vec<Ageing>>;

    /// The visible heads of a space's chains with more than `most` links, and how long those are.
    async fn long_chains(
        &self,
        visible: &Visible,
        space: &Space,
        most: usize,
        limit: usize,
    ) -> Result<Vec<(MemoryId, usize)>>;

    /// The tenants that there are, by name: those that something was written for, or a credential made.
    async fn tenants(&self) -> Result<Vec<Tenant>>;

    /// The spaces of a tenant that were written to.
    async fn spaces(&self, tenant: &Tenant) -> Result<Vec<Space>>;

    /// Sweeps up after a space: notes that no longer count, entities that nobody speaks of, free pages
    /// of the words. Returns how many rows went.
    async fn compact(&self, tenant: &Tenant, space: &Space, now: Timestamp) -> Result<u64>;

    /// What a user left in each space of the tenant, counted. Told to those who see the whole tenant; others hear
    /// nothing.
    async fn belongings(&self, visible: &Visible, user: &str) -> Result<BTreeMap<Space, Belongings>>;

    /// Leaves nothing of what was removed from a tenant's spaces in freed pages, words and logs. Takes long, and holds
    /// writers up. None: it is done; otherwise what may be left, and why.
    async fn scrub(&self, tenant: &Tenant) -> Result<Option<String>>;

    /// Takes work that only one may do at a time. True if `holder` has it now, for `lease`.
    async fn lease(&self, tenant: &Tenant, name: &str, holder: &str, now: Timestamp, lease: Duration) -> Result<bool>;

    /// Gives such work back.
    async fn release(&self, tenant: &Tenant, name: &str, holder: &str) -> Result<()>;

    /// What there is, counted.
    async fn stats(&self, visible: &Visible) -> Result<Stats>;

    /// Takes up to `limit` waiting jobs of these kinds for `lease`. A job whose lease has run out
    /// is waiting again.
    async fn claim(
        &self,
        tenant: &Tenant,
        kinds: &[JobKind],
        limit: usize,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Vec<Job>>;

    /// Extends the lease of a job to `until`. False if it had run out and another worker has the job.
    async fn renew(&self, tenant: &Tenant, job: &Job, until: Timestamp) -> Result<bool>;

    /// The job is done. False if its lease had run out and another worker has it.
    async fn finish(&self, tenant: &Tenant, job: &Job) -> Result<bool>;

    /// The job failed; it waits until `retry_at`, or is dead if that is none.
    async fn fail(&self, tenant: &Tenant, job: &Job, error: &str, retry_at: Option<Timestamp>) -> Result<bool>;

    /// The jobs of a tenant in these states, oldest first; none: in all.
    async fn jobs(&self, tenant: &Tenant, states: &[&str], limit: usize) -> Result<Vec<JobRecord>>;

    /// Lets a job that is not running wait anew from `at`, as if it had never been tried; false if there is no such job.
    async fn retry(&self, tenant: &Tenant, space: &Space, id: i64, at: Timestamp) -> Result<bool>;

    /// Gives a job up that is not running; false if there is no such job.
    async fn drop_job(&self, tenant: &Tenant, space: &Space, id: i64) -> Result<bool>;

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

    /// Looks for damage in everything that is visible, and mends what it can if told to.
    async fn check(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>>;
}

/// What one change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// The memory it is about, if it is about one.
    pub id: Option<MemoryId>,
    /// What happened.
    pub outcome: Outcome,
    /// The memory's version now.
    pub version: u64,
    /// The number of its ledger entry, if it made one.
    pub sequence: Option<i64>,
}

/// A memory that a lane found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Which.
    pub id: MemoryId,
    /// How well, on the lane's own scale.
    pub score: f64,
}

/// A memory as far as time is concerned.
#[derive(Debug, Clone, PartialEq)]
pub struct Ageing {
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

/// Which entities are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntityFilter {
    /// Spoken of at least so often.
    pub mentions_min: u64,
    /// Only those of which nothing is told yet.
    pub without_summary: bool,
}

/// What memories are ordered by when no question is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// When they came, newest first; scored by seconds.
    Newest,
    /// How important they are, then how new.
    Importance,
    /// The newest of those among the latest that have no vector yet.
    Unembedded,
}

/// What happened since a revision.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// The revision now.
    pub revision: i64,
    /// The entries, oldest first.
    pub entries: Vec<LedgerEntry>,
}

/// A stretch of a space's ledger.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Feed {
    /// The lines that may be told, oldest first.
    pub entries: Vec<LedgerEntry>,
    /// The number of the last line that was looked at; the next stretch starts after it.
    pub position: i64,
}

/// How much was done in a stretch of time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// The first instant of the stretch.
    pub start: Timestamp,
    /// The part of Loci that did it; empty if the ledger does not tell.
    pub node: String,
    /// What was done: the name of an event.
    pub op: String,
    /// How often.
    pub count: u64,
}

/// How often words occur.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frequencies {
    /// Memories in the visible scopes; a store that has to count them one by one may stop at a bound.
    pub memories: u64,
    /// Memories with each term, in the order asked.
    pub of: Vec<u64>,
}

/// A run of memories that follow each other in one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strip {
    /// Equal for strips of the same session.
    pub session: u64,
    /// The memories, in the order they came.
    pub places: Vec<Place>,
}

/// A memory in a strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which.
    pub id: MemoryId,
    /// Another one whenever the memory or its vector has changed, so that what was made of them can be kept.
    pub stamp: u64,
    /// How often recall returned it; changes without a new stamp.
    pub access_count: u64,
}

/// Which part of a listing is wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// After this place; none: from the start.
    pub after: Option<Cursor>,
    /// At most so many.
    pub limit: usize,
}

/// One page of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The memories, newest first.
    pub memories: Vec<Memory>,
    /// Where the next page starts; none: this was the last.
    pub next: Option<Cursor>,
    /// How many there are on all pages.
    pub total: u64,
}

/// The vectors that there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Models {
    /// Vectors by model.
    pub vectors: BTreeMap<String, u64>,
    /// Live memories without a vector.
    pub without: u64,
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
