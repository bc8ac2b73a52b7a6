//! How are triples and checkpoints reached, in whichever space they lie?

use async_trait::async_trait;
use loci_types::{CheckpointFilter, CheckpointThread, Fact, FactFilter, Scope, Visible};

use super::clause::Clause;
use super::floor::Floor;
use super::ways::Ways;
use super::{Connection, checkpoints, facts};
use crate::{Checkpoints, Facts, KeptCheckpoint, Result};

#[async_trait]
impl<F: Floor> Facts for F {
    async fn facts(&self, visible: &Visible, filter: &FactFilter, limit: usize) -> Result<Vec<Fact>> {
        let filter = filter.clone();
        let found = self
            .each(visible, move |connection, space, visible| {
                facts::list(connection, F::space_of(space), visible, &filter, limit)
            })
            .await?;
        let mut found: Vec<Fact> = found.into_iter().flatten().collect();
        found.sort_by(|a, b| {
            b.confidence.total_cmp(&a.confidence).then(b.updated_at.cmp(&a.updated_at)).then(b.id.cmp(&a.id))
        });
        found.truncate(limit);
        Ok(found)
    }
}

#[async_trait]
impl<F: Floor> Checkpoints for F {
    async fn checkpoints(
        &self,
        visible: &Visible,
        filter: &CheckpointFilter,
        limit: usize,
    ) -> Result<Vec<KeptCheckpoint>> {
        let (space, wanted) = (filter.scope.space(), filter.clone());
        let read =
            move |connection: &dyn Connection, clause: &Clause| checkpoints::list(connection, clause, &wanted, limit);
        Ok(self.in_space(visible, &space, read).await?.unwrap_or_default())
    }

    async fn checkpoint_line(
        &self,
        visible: &Visible,
        filter: &CheckpointFilter,
        limit: usize,
    ) -> Result<Vec<KeptCheckpoint>> {
        let (space, wanted) = (filter.scope.space(), filter.clone());
        let read =
            move |connection: &dyn Connection, clause: &Clause| checkpoints::line(connection, clause, &wanted, limit);
        Ok(self.in_space(visible, &space, read).await?.unwrap_or_default())
    }

    async fn checkpoint_threads(
        &self,
        visible: &Visible,
        scope: &Scope,
        limit: usize,
    ) -> Result<Vec<CheckpointThread>> {
        let (space, wanted) = (scope.space(), scope.clone());
        let read = move |connection: &dyn Connection, clause: &Clause| {
            checkpoints::threads(connection, clause, &wanted, limit)
        };
        Ok(self.in_space(visible, &space, read).await?.unwrap_or_default())
    }
}
