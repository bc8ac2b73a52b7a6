//! How are checkpoints read?
//!
//! They are put and removed by a change, like everything else. They have no category, so whoever sees only some of
//! them sees no checkpoint.

use async_trait::async_trait;
use loci_types::{Checkpoint, CheckpointFilter, CheckpointThread, PendingWrite, Scope, Visible};

use crate::Result;

/// A checkpoint with what was written beside it, by task and position.
pub type KeptCheckpoint = (Checkpoint, Vec<PendingWrite>);

/// Where checkpoints lie.
#[async_trait]
pub trait Checkpoints: Send + Sync {
    /// The checkpoints of one visible scope that are meant, the newest first.
    async fn checkpoints(
        &self,
        visible: &Visible,
        filter: &CheckpointFilter,
        limit: usize,
    ) -> Result<Vec<KeptCheckpoint>>;

    /// The newest checkpoint that is meant, the one it came from, and so on. The chain ends where its parent is not
    /// there (any more).
    async fn checkpoint_line(
        &self,
        visible: &Visible,
        filter: &CheckpointFilter,
        limit: usize,
    ) -> Result<Vec<KeptCheckpoint>>;

    /// The threads of one visible scope that have checkpoints, those that went on last first.
    async fn checkpoint_threads(&self, visible: &Visible, scope: &Scope, limit: usize)
    -> Result<Vec<CheckpointThread>>;
}
