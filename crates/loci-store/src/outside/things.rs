//! How does a store with an index beside it hand on what the index knows nothing of?

use async_trait::async_trait;
use loci_types::{CheckpointFilter, CheckpointThread, Fact, FactFilter, Scope, Visible};

use super::indexed::Indexed;
use crate::{Checkpoints, Facts, KeptCheckpoint, Result};

#[async_trait]
impl Facts for Indexed {
    async fn facts(&self, visible: &Visible, filter: &FactFilter, limit: usize) -> Result<Vec<Fact>> {
        self.inner.store.facts(visible, filter, limit).await
    }
}

#[async_trait]
impl Checkpoints for Indexed {
    async fn checkpoints(
        &self,
        visible: &Visible,
        filter: &CheckpointFilter,
        limit: usize,
    ) -> Result<Vec<KeptCheckpoint>> {
        self.inner.store.checkpoints(visible, filter, limit).await
    }

    async fn checkpoint_line(
        &self,
        visible: &Visible,
        filter: &CheckpointFilter,
        limit: usize,
    ) -> Result<Vec<KeptCheckpoint>> {
        self.inner.store.checkpoint_line(visible, filter, limit).await
    }

    async fn checkpoint_threads(
        &self,
        visible: &Visible,
        scope: &Scope,
        limit: usize,
    ) -> Result<Vec<CheckpointThread>> {
        self.inner.store.checkpoint_threads(visible, scope, limit).await
    }
}
