//! Where does it lie?
//!
//! The floor of the house: the [`Store`] trait with its two doors, and its implementations; beside it
//! the [`tier`] of what lives fast and may be lost. It knows nothing of models, policy or prompts; what
//! a change means was decided above.

mod belongings;
mod breaker;
mod carry;
mod checkpoints;
mod cursor;
mod documents;
mod error;
mod facts;
mod outside;
mod pools;
mod postgres;
mod retry;
mod sql;
mod sqlite;
mod store;
pub mod text;
pub mod tier;
pub mod vectors;

pub use belongings::Belongings;
pub use carry::{CarriedEntity, CarriedMemory, Carry};
pub use checkpoints::{Checkpoints, KeptCheckpoint};
pub use cursor::Cursor;
pub use error::{Error, Result};
pub use facts::Facts;
pub use outside::{
    Collection, CollectionStatus, IndexHealth, IndexStatus, Indexed, IndexedOptions, LocalIndex, Mark, Oversight,
    PgvectorConfig, PgvectorIndex, Qdrant, QdrantConfig, VectorFeed, VectorIndex, VectorPoint, Verified, Wanted,
};
pub use pools::{Pool, PoolMember, Pools};
pub use postgres::{PostgresOptions, PostgresStore};
pub use retry::Retry;
pub use sql::archive::{
    Backup, BackupPlan, BackupProgress, BackupSpace, BackupStep, Derive, Derived, Manifest, RestorePlan, Restored,
    Until, back_up, look_at, look_through, restore,
};
pub use sql::copy::{Copied, CopiedTable, CopyOptions, CopyPhase, CopyStep, Side, copy};
pub use sql::standing;
pub use sqlite::{SqliteOptions, SqliteStore};
pub use store::{
    Ageing, Agent, Applied, Changes, EntityFilter, Feed, Finding, Frequencies, Hit, Listing, Measure, Models, Page,
    Place, Stats, Store, StoreHealth, Strip, Tally,
};
