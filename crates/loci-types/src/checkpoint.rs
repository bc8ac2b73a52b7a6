//! Where did the work of a thread stand?
//!
//! A checkpoint is what a program needs to go on: bytes with the name of their format, under a thread and an id that
//! the program chooses, with the id of the one it came from. It is no memory: it is not searched, not learned from
//! and does not fade, and no line of the ledger tells of it.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::Scope;

/// The format of bytes that are JSON.
pub const JSON: &str = "json";

/// A checkpoint of a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Whose it is.
    pub scope: Scope,
    /// The thread.
    pub thread_id: String,
    /// The part of the program within the thread; empty: the whole.
    pub namespace: String,
    /// Its id within thread and namespace.
    pub id: String,
    /// The checkpoint it came from.
    pub parent_id: Option<String>,
    /// What the bytes are: `json`, or whatever the caller calls it.
    pub format: String,
    /// The bytes; none: they were not asked for.
    pub data: Option<Vec<u8>>,
    /// How many they are.
    pub bytes: u64,
    /// What is said about it, by name.
    pub metadata: Map<String, Value>,
    /// When it was put.
    pub created_at: Timestamp,
}

/// What a task wrote towards the next checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingWrite {
    /// The task.
    pub task_id: String,
    /// Its place among what the task wrote; may be below zero for what the program writes about itself.
    pub position: i64,
    /// Where the task stands in the program.
    pub task_path: String,
    /// Where it was written to.
    pub channel: String,
    /// What the bytes are.
    pub format: String,
    /// The bytes.
    pub data: Vec<u8>,
}

/// What is done to checkpoints.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckpointStep {
    /// Puts one. The same again changes nothing; something else under its id is a conflict.
    Put {
        /// The checkpoint.
        checkpoint: Checkpoint,
        /// What must be the newest of its thread and namespace; an empty one: there must be none.
        expect_parent: Option<String>,
        /// Whether it takes the place of one with the same id.
        replace: bool,
    },
    /// Puts what tasks wrote beside a checkpoint; the same task and position again takes the place of the first.
    Write {
        /// The checkpoint.
        of: CheckpointPlace,
        /// What was written.
        writes: Vec<PendingWrite>,
    },
    /// Removes one, with what was written beside it.
    Remove(CheckpointPlace),
    /// Removes a thread, in all its namespaces.
    RemoveThread {
        /// Whose it is.
        scope: Scope,
        /// The thread.
        thread_id: String,
    },
    /// Removes all of a thread but the newest of each namespace.
    Prune {
        /// Whose it is.
        scope: Scope,
        /// The thread.
        thread_id: String,
        /// So many stay in each.
        keep: usize,
    },
}

/// By what a checkpoint is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointPlace {
    /// Whose it is.
    pub scope: Scope,
    /// The thread.
    pub thread_id: String,
    /// The namespace.
    pub namespace: String,
    /// Its id.
    pub id: String,
}

/// Which checkpoints of a thread are meant.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointFilter {
    /// Whose they are.
    pub scope: Scope,
    /// The thread.
    pub thread_id: String,
    /// The namespace; none: all of them.
    pub namespace: Option<String>,
    /// The one with this id.
    pub id: Option<String>,
    /// Only those put before the one with this id.
    pub before: Option<String>,
    /// Only those whose metadata have these values.
    pub metadata: Map<String, Value>,
    /// Whether the bytes are read, and what was written beside them.
    pub data: bool,
}

impl CheckpointFilter {
    /// All of a thread, without their bytes.
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

/// A thread that has checkpoints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CheckpointThread {
    /// Its name.
    pub thread_id: String,
    /// How many checkpoints it has, in all namespaces.
    pub checkpoints: u64,
    /// The id of the newest.
    pub latest_id: String,
    /// The namespace of the newest.
    pub latest_namespace: String,
    /// When that was put.
    pub latest_at: Timestamp,
}
