//! Checkpoints: the saved state of a program, from which it can resume.
//!
//! A checkpoint holds bytes with the name of their format. The program chooses the thread and the id, and names the
//! checkpoint that it came from. A checkpoint is not a memory: it is not searched, not learned from and does not age,
//! and writing one leaves no ledger entry.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::Scope;

/// The name of the format of JSON bytes.
pub const JSON: &str = "json";

/// A checkpoint of a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The scope that it belongs to.
    pub scope: Scope,
    /// The thread.
    pub thread_id: String,
    /// The part of the program within the thread. Empty means the whole program.
    pub namespace: String,
    /// The id, unique within scope, thread and namespace.
    pub id: String,
    /// The id of the checkpoint that it came from.
    pub parent_id: Option<String>,
    /// The format of the bytes: `json`, or a name that the caller chooses.
    pub format: String,
    /// The bytes. `None` if the read did not request them.
    pub data: Option<Vec<u8>>,
    /// The size of the data in bytes.
    pub bytes: u64,
    /// Metadata of the caller, by name.
    pub metadata: Map<String, Value>,
    /// When it was written.
    pub created_at: Timestamp,
}

/// A value that a task wrote after a checkpoint and before the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingWrite {
    /// The id of the task.
    pub task_id: String,
    /// The position among the writes of the task. A negative position marks a write of the program itself.
    pub position: i64,
    /// The path of the task in the program.
    pub task_path: String,
    /// The channel that was written to.
    pub channel: String,
    /// The format of the bytes.
    pub format: String,
    /// The bytes.
    pub data: Vec<u8>,
}

/// One write to the checkpoints.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckpointStep {
    /// Writes a checkpoint. Writing the same one again changes nothing; other content under the same id is a conflict.
    Put {
        /// The checkpoint.
        checkpoint: Checkpoint,
        /// The id that must be the newest of thread and namespace. Empty means that there must be none yet.
        expect_parent: Option<String>,
        /// Whether it overwrites a checkpoint with the same id instead of being a conflict.
        replace: bool,
    },
    /// Writes the pending writes of tasks beside a checkpoint. The same task and position overwrites.
    Write {
        /// The checkpoint.
        of: CheckpointPlace,
        /// The pending writes.
        writes: Vec<PendingWrite>,
    },
    /// Removes a checkpoint with its pending writes.
    Remove(CheckpointPlace),
    /// Removes all checkpoints of a thread, in all namespaces.
    RemoveThread {
        /// The scope of the thread.
        scope: Scope,
        /// The thread.
        thread_id: String,
    },
    /// Removes all but the newest checkpoints of each namespace of a thread.
    Prune {
        /// The scope of the thread.
        scope: Scope,
        /// The thread.
        thread_id: String,
        /// How many checkpoints stay in each namespace.
        keep: usize,
    },
}

/// The full key of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointPlace {
    /// The scope.
    pub scope: Scope,
    /// The thread.
    pub thread_id: String,
    /// The namespace.
    pub namespace: String,
    /// The id.
    pub id: String,
}

/// Selects checkpoints of a thread. All conditions must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointFilter {
    /// The scope of the thread.
    pub scope: Scope,
    /// The thread.
    pub thread_id: String,
    /// The namespace. `None` means all namespaces.
    pub namespace: Option<String>,
    /// The checkpoint must have this id.
    pub id: Option<String>,
    /// The checkpoint must have been written before the one with this id.
    pub before: Option<String>,
    /// The metadata must contain these values.
    pub metadata: Map<String, Value>,
    /// Whether the data and the pending writes are read as well.
    pub data: bool,
}

impl CheckpointFilter {
    /// Selects all checkpoints of a thread, without their data.
    pub fn of(scope: Scope, thread_id: &str) -> Self {
        Self {
            scope,
            thread_id: thread_id.to_owned(),
            namespace: None,
            id: None,
            before: None,
            metadata: Map::new(),
            data: false,
        }
    }
}

/// A thread with at least one checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CheckpointThread {
    /// The id of the thread.
    pub thread_id: String,
    /// The number of checkpoints in all namespaces.
    pub checkpoints: u64,
    /// The id of the newest checkpoint.
    pub latest_id: String,
    /// The namespace of the newest checkpoint.
    pub latest_namespace: String,
    /// When the newest checkpoint was written.
    pub updated_at: Timestamp,
}
