//! A part of a [`Store`](super::Store): reading the ledger.
//!
//! The numbers of a space's ledger only grow, in the order of the commits, so a reader that continues after a number misses
//! nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{LedgerEntry, MemoryId, Space, TimeRange, Visible};
use serde::Serialize;

use crate::Result;

/// What happened, in the order it happened.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Lines of the ledger, oldest first. A line is shown to those who see its memory, in whatever state that is; one about no
    /// memory, or about one that is gone, to those who see the whole tenant and every category.
    ///
    /// One call looks at a bounded number of lines, so there may be more when fewer than `limit` came.
    async fn ledger(&self, visible: &Visible, query: &LedgerQuery, limit: usize) -> Result<Feed>;

    /// The number of the last line of each visible space that was written to; costs the same at any size.
    async fn ledger_heads(&self, visible: &Visible) -> Result<BTreeMap<Space, i64>>;

    /// How many lines that the feed would tell were written in each stretch of time, by part of Loci
    /// and event. The stretches are `bucket` long and counted from 1970; empty ones are left out.
    async fn operation_counts(
        &self,
        visible: &Visible,
        range: TimeRange,
        bucket: Duration,
    ) -> Result<Vec<OperationCounts>>;
}

/// Which lines of the ledger are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerQuery {
    /// The earliest lines about one memory. A purged or erased memory still has its tombstone.
    Memory(MemoryId),
    /// The earliest lines of a space after a number.
    After {
        /// The space.
        space: Space,
        /// The number of the last line that was read; 0: none.
        sequence: i64,
    },
    /// The latest lines of a space after a revision that changed what is known: in one thread, or in all. A revision is the
    /// number of the last line; it comes back as the position.
    Changes {
        /// The space.
        space: Space,
        /// Only in this thread.
        thread: Option<String>,
        /// The revision.
        since: i64,
    },
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
pub struct OperationCounts {
    /// The first instant of the stretch.
    pub start: Timestamp,
    /// The part of Loci that did it; empty if the ledger does not tell.
    pub node: String,
    /// What was done: the name of an event.
    pub op: String,
    /// How often.
    pub count: u64,
}
