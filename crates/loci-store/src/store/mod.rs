//! What a store can do, by who needs it.
//!
//! Two doors: every write is a [`Batch`](loci_types::Batch) given to [`Records::apply`]; every read carries a
//! [`Visible`](loci_types::Visible). What a store must keep is tested by the contract suite in the testkit, which every
//! implementation runs.
//!
//! What other systems ask of a storage provider, and where it is here:
//!
//! | asked for | here |
//! |---|---|
//! | name, version, health | [`Administration::health`] |
//! | initialize | opening one: `SqliteStore::open`, `PostgresStore::open`; both make or renew their schema |
//! | shutdown | dropping it; what was acknowledged is durable already, so nothing is left to flush |
//! | bulk add, bulk delete | [`Records::apply`] with many changes: one transaction, all or none |
//! | retry | `Retry` of an outside index; PostgreSQL's own transactions are run again when the server undid them |

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

/// Where memories are stored: all capabilities together.
///
/// A read names who sees:
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
/// One that forgets it does not compile:
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
