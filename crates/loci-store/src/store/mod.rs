//! The interface of a store, one trait per group of callers.
//!
//! **Invariant.** Every change of a memory is a [`Batch`](loci_types::Batch) given to [`Records::apply`], and every
//! read takes a [`Visible`](loci_types::Visible). The contract suite of the testkit runs on every implementation.
//!
//! The capabilities that other systems expect of a storage provider are:
//!
//! | capability | here |
//! |---|---|
//! | name, version, health | [`Administration::health`] |
//! | initialise | `SqliteStore::open`, `PostgresStore::open`; both create or migrate their schema |
//! | shutdown | dropping the store; acknowledged writes are durable already, so there is nothing to flush |
//! | bulk add, bulk delete | [`Records::apply`] with many changes: one transaction, all or none |
//! | retry | `Retry` of an external index; a PostgreSQL transaction that the server rolled back is run again |

mod admin;
mod catalogue;
mod jobs;
mod ledger;
mod records;
mod search;

pub use admin::{
    Administration, AgeingRow, ExportCursor, ExportPage, ExportedEntity, ExportedMemory, Finding, Stats, StoreHealth,
};
pub use catalogue::{Agent, Catalogue, CatalogueChange, KeyQuery, Pool, PoolFilter, PoolMember, PoolRecord};
pub use jobs::{JobUpdate, Jobs};
pub use ledger::{Feed, Ledger, LedgerQuery, OperationCounts};
pub use records::{
    Applied, CheckpointWalk, EntityFilter, EntityQuery, KeptCheckpoint, Listing, Measure, Page, Records,
};
pub use search::{Frequencies, Hit, Search, TurnRef, TurnRun};

/// A store of memories: all capabilities together.
///
/// A read takes the caller's visibility:
///
/// ```
/// use loci_store::{Page, Records, SqliteStore};
/// use loci_types::{Filter, MemoryId, Visible};
///
/// async fn named(store: &SqliteStore, visible: &Visible, filter: &Filter, page: Page, id: MemoryId) {
///     drop(store.fetch(visible, &[id]).await);
///     drop(store.scan(visible, filter, page).await);
/// }
/// ```
///
/// A read without it does not compile:
///
/// ```compile_fail,E0061
/// # use loci_store::{Page, Records, SqliteStore};
/// # use loci_types::{Filter, MemoryId, Visible};
/// async fn forgotten(store: &SqliteStore, filter: &Filter, page: Page, id: MemoryId) {
///     drop(store.fetch(&[id]).await);
/// }
/// ```
///
/// ```compile_fail,E0061
/// # use loci_store::{Page, Records, SqliteStore};
/// # use loci_types::{Filter, MemoryId, Visible};
/// async fn forgotten(store: &SqliteStore, filter: &Filter, page: Page, id: MemoryId) {
///     drop(store.scan(filter, page).await);
/// }
/// ```
pub trait Store: Records + Search + Ledger + Jobs + Catalogue + Administration {}

impl<S: Records + Search + Ledger + Jobs + Catalogue + Administration> Store for S {}
