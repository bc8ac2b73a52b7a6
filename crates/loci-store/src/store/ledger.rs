//! Reading the ledger of a [`Store`](super::Store).
//!
//! The sequence numbers of a space's ledger grow in the order of commits, so a reader that continues after a number
//! misses no entry.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{LedgerEntry, MemoryId, Space, TimeRange, Visible};
use serde::Serialize;

use crate::Result;

/// Reads ledger entries and their counts.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Ledger entries, oldest first. An entry is visible to callers who see its memory, in any state. An entry without
    /// a memory, or about a removed one, is visible to callers who see all scopes and categories.
    ///
    /// One call examines a bounded number of entries, so there may be more even if fewer than `limit` were returned.
    async fn ledger(&self, visible: &Visible, query: &LedgerQuery, limit: usize) -> Result<Feed>;

    /// The sequence number of the last entry of each visible space that was written to. The cost does not depend on the
    /// size of the ledgers.
    async fn ledger_heads(&self, visible: &Visible) -> Result<BTreeMap<Space, i64>>;

    /// Number of visible entries per time bucket, node and event. Buckets are aligned to 1970; empty ones are left out.
    /// Fails if `bucket` is zero.
    async fn operation_counts(
        &self,
        visible: &Visible,
        range: TimeRange,
        bucket: Duration,
    ) -> Result<Vec<OperationCounts>>;
}

/// Selects ledger entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerQuery {
    /// The first entries about one memory. Entries of a purged or erased memory remain without their content.
    Memory(MemoryId),
    /// The first entries of a space after a sequence number.
    After {
        /// The space.
        space: Space,
        /// The last number that was read; 0 for the start.
        sequence: i64,
    },
    /// The last entries of a space after a revision that changed what recall can return. A revision is the number of
    /// the last entry of the ledger; the current one is returned as the position.
    Changes {
        /// The space.
        space: Space,
        /// The thread; all threads if none.
        thread: Option<String>,
        /// The revision after which to start.
        since: i64,
    },
}

/// A part of a space's ledger.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Feed {
    /// The visible entries, oldest first.
    pub entries: Vec<LedgerEntry>,
    /// The number of the last examined entry; the next page starts after it.
    pub position: i64,
}

/// The number of ledger entries of one event in one time bucket.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct OperationCounts {
    /// The start of the bucket.
    pub start: Timestamp,
    /// The part of Loci that made the entries; empty if unknown.
    pub node: String,
    /// The name of the event.
    pub op: String,
    /// Number of entries.
    pub count: u64,
}
