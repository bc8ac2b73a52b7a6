//! Persistent storage of memories.
//!
//! This crate holds the [`Store`] trait and its two implementations, SQLite files and PostgreSQL, and the [`tier`] of
//! short-lived state that may be lost. It decides nothing about meaning: it must not depend on models, policy or
//! prompts, and takes changes as the engine has decided them.

mod cursor;
mod encryption;
mod error;
mod outside;
mod postgres;
mod retry;
mod sql;
mod sqlite;
mod store;
mod terms;
pub mod text;
pub mod tier;
mod user_data;
pub mod vectors;

pub use cursor::Cursor;
pub use encryption::EncryptionKey;
pub use error::{Error, Result};
pub use loci_breaker::Pauses;
pub use outside::{
    Collection, CollectionStatus, IndexHealth, IndexStatus, Indexed, IndexedOptions, LocalIndex, Mark, PgvectorConfig,
    PgvectorIndex, PointFilter, Qdrant, QdrantConfig, SystemContext, VectorFeed, VectorIndex, VectorPoint,
    VectorSource, Verified,
};
pub use postgres::{PostgresOptions, PostgresStore};
pub use retry::Retry;
pub use sql::stream::{
    Backup, BackupEncoding, BackupPlan, BackupProgress, BackupSpace, BackupStep, ComparedTable, DeriveKeys,
    DerivedKeys, Manifest, MigrateOptions, MigratePhase, MigrateStep, MigrationReport, RestoreOutcome, RestorePlan,
    RestorePoint, create_backup, create_backup_file, migrate, restore_backup, verify_backup, verify_backup_chain,
};
pub use sql::{SqlStore, with_inline_reads};
pub use sqlite::{SqliteOptions, SqliteStore};
pub use store::{
    Administration, AgeingRow, Agent, Applied, Catalogue, CatalogueChange, CheckpointWalk, EntityFilter, EntityQuery,
    ExportCursor, ExportPage, ExportedEntity, ExportedMemory, Feed, Finding, Frequencies, Hit, JobUpdate, Jobs,
    KeptCheckpoint, KeyQuery, Ledger, LedgerQuery, Listing, Measure, OperationCounts, Page, Pool, PoolFilter,
    PoolMember, PoolRecord, Records, Search, Stats, Store, StoreHealth, TurnRef, TurnRun,
};
pub use user_data::UserData;

/// The traits of a store, for callers that hold a concrete type.
pub mod prelude {
    pub use crate::{Administration, Catalogue, Jobs, Ledger, Records, Search, Store, VectorSource};
}
