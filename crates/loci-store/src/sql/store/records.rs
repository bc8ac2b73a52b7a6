//! Implements [`Records`].

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{
    Action, Batch, Change, CheckpointFilter, CheckpointThread, Edge, Entity, EntityId, Fact, FactFilter, Filter,
    IdRange, Memory, MemoryId, Relation, Scope, Session, SessionFilter, Space, Vector, Visible,
};
use tracing::Instrument;

use super::SqlStore;
use crate::sql::apply::Applier;
use crate::sql::backend::{Backend, blocking};
use crate::sql::clause::Clause;
use crate::sql::erase::steps;
use crate::sql::inline::run_read;
use crate::sql::merge_results::best_then_newest;
use crate::sql::{Connection, checkpoints, entities, facts, notes, read, sessions};
use crate::{
    Applied, CheckpointWalk, Cursor, EntityQuery, Hit, KeptCheckpoint, Listing, Measure, Page, Records, Result,
};

#[expect(private_bounds, reason = "the backends are this crate's own")]
impl<B: Backend> SqlStore<B> {
    /// Removes most of a user's data, step by step. Returns the number of removed memories.
    async fn erase_in_steps(&self, open: &Arc<B::Open>, space: &Space, change: &Change, user: &str) -> Result<usize> {
        let mut gone = 0;
        for removed in [false, true] {
            let (backend, there, owner) = (self.backend.clone(), open.clone(), user.to_owned());
            let steps = run_read::<B, _>(move || backend.read(&there, |connection| steps(connection, &owner, removed)));
            for step in steps.await?.unwrap_or_default() {
                let (space, change, analyser) = (space.clone(), change.clone(), self.analyser.clone());
                let place = B::place_of(open).to_owned();
                let work = move |connection: &dyn Connection| {
                    Applier { connection, path: &place, space: &space, analyser: &analyser }.erase_step(&change, &step)
                };
                gone += self.backend.write_long(open, work).await?;
            }
        }
        Ok(gone)
    }

    async fn apply_batch(&self, batch: Batch) -> Result<Vec<Applied>> {
        let Some(first) = batch.changes.first() else { return Ok(Vec::new()) };
        let (open, at) = (self.backend.open(&batch.tenant, &batch.space), first.at);
        if !self.backend.is_prepared(&batch.tenant, &open) {
            let (backend, tenant, made) = (self.backend.clone(), batch.tenant.clone(), open.clone());
            blocking(move || backend.prepare(&tenant, &made, at)).await?;
        }
        let (analyser, place) = (self.analyser.clone(), B::place_of(&open).to_owned());
        let (tenant, space, models) = (batch.tenant.clone(), batch.space.clone(), self.models_of(&batch));
        // An erasure alone is done in steps, between which others may write; in a batch it is one transaction.
        let removed = match batch.changes.as_slice() {
            [change] => match &change.action {
                Action::EraseUser { user } => self.erase_in_steps(&open, &space, change, user).await?,
                _ => 0,
            },
            _ => 0,
        };
        let erases = batch.changes.iter().any(|change| matches!(change.action, Action::Erase { .. }));
        let takes_long = batch.changes.iter().any(|change| matches!(change.action, Action::EraseUser { .. }));
        let work = move |connection: &dyn Connection| -> Result<Vec<Applied>> {
            let applier = Applier { connection, path: &place, space: &batch.space, analyser: &analyser };
            let apply = |change: &Change| match &change.action {
                Action::EraseUser { user } => applier.erase_user(change, user, removed),
                _ => applier.apply(change),
            };
            applier.apply_once(&batch.changes, apply)
        };
        let applied = match takes_long {
            true => self.backend.write_long(&open, work).await?,
            false => self.backend.write(&open, work).await?,
        };
        if erases && !is_log_empty(&self.backend, &open).await {
            let (backend, open) = (self.backend.clone(), open.clone());
            tokio::spawn(async move {
                for pause in LOG_PAUSES {
                    tokio::time::sleep(pause).await;
                    if is_log_empty(&backend, &open).await {
                        return;
                    }
                }
                tracing::warn!("erased content stays in the log of a space until its next checkpoint");
            });
        }
        if applied.iter().any(|applied| applied.sequence.is_some()) {
            if !self.backend.is_noted(&tenant, &open) {
                let (backend, tenant) = (self.backend.clone(), tenant.clone());
                // The change is durable, so a failure here is only logged. The next change notes the write again.
                if let Err(error) = blocking(move || backend.note_written(&tenant, &open)).await {
                    tracing::warn!(%error, "the catalogue could not record that a space was written to");
                }
            }
            self.wake_index(&tenant, &space, models);
        }
        Ok(applied)
    }
}

#[async_trait]
impl<B: Backend> Records for SqlStore<B> {
    async fn apply(&self, batch: Batch) -> Result<Vec<Applied>> {
        let span = tracing::debug_span!(target: "loci::stage", "apply", changes = batch.changes.len());
        self.apply_batch(batch).instrument(span).await
    }

    async fn fetch(&self, visible: &Visible, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        let wanted = ids.to_vec();
        let found = self
            .for_each_space(visible, move |connection, space, visible| {
                read::fetch(connection, B::space_of(space), visible, &wanted)
            })
            .await?;
        let mut found: HashMap<MemoryId, Memory> =
            found.into_iter().flatten().map(|memory| (memory.id, memory)).collect();
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
    }

    async fn ids_within(&self, visible: &Visible, ranges: &[IdRange], limit: usize) -> Result<Vec<MemoryId>> {
        let ranges = ranges.to_vec();
        let mut found = self
            .visible_in_each(visible, move |connection, _, clause| read::ids_within(connection, clause, &ranges, limit))
            .await?;
        found.sort_unstable();
        found.truncate(limit);
        Ok(found)
    }

    async fn scan(&self, visible: &Visible, filter: &Filter, page: Page) -> Result<Listing> {
        let (filter, limit) = (filter.clone(), page.limit);
        let pages = self
            .for_each_space(visible, move |connection, space, visible| {
                read::scan(connection, B::space_of(space), visible, &filter, &page)
            })
            .await?;
        let total = pages.iter().map(|(_, total)| total).sum();
        let mut memories: Vec<Memory> = pages.into_iter().flat_map(|(memories, _)| memories).collect();
        memories.sort_by_key(|memory| std::cmp::Reverse(memory.id));
        let more = memories.len() > limit;
        memories.truncate(limit);
        let next = memories.last().filter(|_| more).map(|memory| Cursor::after(memory.id));
        Ok(Listing { memories, next, total })
    }

    async fn count(&self, visible: &Visible, filter: &Filter) -> Result<u64> {
        let filter = filter.clone();
        let counts = self
            .for_each_space(visible, move |connection, space, visible| {
                read::count(connection, B::space_of(space), visible, &filter)
            })
            .await?;
        Ok(counts.into_iter().sum())
    }

    async fn vectors(&self, visible: &Visible, model: &str, ids: &[MemoryId]) -> Result<Vec<(MemoryId, Vector)>> {
        let (model, ids) = (model.to_owned(), ids.to_vec());
        let found = self
            .for_each_space(visible, move |connection, space, visible| {
                read::vectors(connection, B::space_of(space), visible, &model, &ids)
            })
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn edges(
        &self,
        visible: &Visible,
        filter: &Filter,
        ids: &[MemoryId],
        relations: &[Relation],
    ) -> Result<Vec<Edge>> {
        let (ids, relations) = (ids.to_vec(), relations.to_vec());
        let found = self
            .matching_in_each(visible, filter, move |connection, _, clause| {
                read::edges(connection, clause, &ids, &relations)
            })
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn top_by(&self, visible: &Visible, filter: &Filter, by: Measure, limit: usize) -> Result<Vec<Hit>> {
        let found = self
            .matching_in_each(visible, filter, move |connection, _, clause| read::top_by(connection, clause, by, limit))
            .await?;
        Ok(best_then_newest(found, limit))
    }

    async fn entities(&self, visible: &Visible, query: &EntityQuery, limit: usize) -> Result<Vec<Entity>> {
        let query = query.clone();
        let known = matches!(query, EntityQuery::Known(_));
        let mut found = self
            .visible_in_each(visible, move |connection, _, clause| match &query {
                EntityQuery::Named(names) => entities::named(connection, clause, names),
                EntityQuery::Known(filter) => entities::list(connection, clause, filter, limit),
                EntityQuery::MentionedBy(id) => entities::entities_of(connection, clause, *id),
            })
            .await?;
        if known {
            found.sort_by(|a, b| b.mention_count.cmp(&a.mention_count).then(a.id.cmp(&b.id)));
        }
        found.truncate(limit);
        Ok(found)
    }

    async fn nearest_entities(&self, visible: &Visible, vector: &Vector, limit: usize) -> Result<Vec<(Entity, f64)>> {
        let wanted = vector.clone();
        let mut found = self
            .visible_in_each(visible, move |connection, _, clause| {
                entities::nearest(connection, clause, &wanted, limit)
            })
            .await?;
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.id.cmp(&b.0.id)));
        found.truncate(limit);
        Ok(found)
    }

    async fn memories_mentioning(
        &self,
        visible: &Visible,
        filter: &Filter,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<Hit>> {
        let wanted = entities.to_vec();
        let found = self
            .matching_in_each(visible, filter, move |connection, _, clause| {
                entities::memories_mentioning(connection, clause, &wanted, limit)
            })
            .await?;
        Ok(best_then_newest(found, limit))
    }

    async fn last_of_thread(&self, visible: &Visible, scope: &Scope, thread: &str) -> Result<Option<Memory>> {
        let (scope, thread) = (scope.clone(), thread.to_owned());
        let found = self
            .for_each_space(visible, move |connection, space, visible| {
                read::last_of_thread(connection, B::space_of(space), visible, &scope, &thread)
            })
            .await?;
        Ok(found.into_iter().flatten().next())
    }

    async fn sessions(&self, visible: &Visible, filter: &SessionFilter, limit: usize) -> Result<Vec<Session>> {
        let filter = filter.clone();
        let mut found = self
            .visible_in_each(visible, move |connection, _, clause| sessions::list(connection, clause, &filter, limit))
            .await?;
        found.sort_by_key(|session| session.updated_at);
        found.truncate(limit);
        Ok(found)
    }

    async fn pending_turns(
        &self,
        visible: &Visible,
        scope: &Scope,
        session: &str,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let (wanted, session) = (scope.clone(), session.to_owned());
        let found = self
            .in_one_space(visible, &scope.space(), move |connection, clause| {
                sessions::pending_turns(connection, clause, &wanted, &session, limit)
            })
            .await?;
        Ok(found.unwrap_or_default())
    }

    async fn notes(
        &self,
        visible: &Visible,
        space: &Space,
        keys: &[String],
        now: Timestamp,
    ) -> Result<Vec<(String, serde_json::Value)>> {
        let keys = keys.to_vec();
        let found = self
            .in_one_space(visible, space, move |connection, clause| notes::read(connection, clause, &keys, now))
            .await?;
        Ok(found.unwrap_or_default())
    }

    async fn facts(&self, visible: &Visible, filter: &FactFilter, limit: usize) -> Result<Vec<Fact>> {
        let filter = filter.clone();
        let found = self
            .for_each_space(visible, move |connection, space, visible| {
                facts::list(connection, B::space_of(space), visible, &filter, limit)
            })
            .await?;
        let mut found: Vec<Fact> = found.into_iter().flatten().collect();
        found.sort_by(|a, b| {
            b.confidence.total_cmp(&a.confidence).then(b.updated_at.cmp(&a.updated_at)).then(b.id.cmp(&a.id))
        });
        found.truncate(limit);
        Ok(found)
    }

    async fn checkpoints(
        &self,
        visible: &Visible,
        filter: &CheckpointFilter,
        walk: CheckpointWalk,
        limit: usize,
    ) -> Result<Vec<KeptCheckpoint>> {
        let (space, wanted) = (filter.scope.space(), filter.clone());
        let read = move |connection: &dyn Connection, clause: &Clause| match walk {
            CheckpointWalk::Newest => checkpoints::list(connection, clause, &wanted, limit),
            CheckpointWalk::Ancestors => checkpoints::line(connection, clause, &wanted, limit),
        };
        Ok(self.in_one_space(visible, &space, read).await?.unwrap_or_default())
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
        Ok(self.in_one_space(visible, &space, read).await?.unwrap_or_default())
    }
}

/// The pauses between attempts to empty a log that is being read. Waiting for its readers would hold up the writers.
const LOG_PAUSES: [Duration; 5] = [
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(20),
    Duration::from_secs(60),
];

/// Empties the log of a space. Returns false if it is being read.
async fn is_log_empty<B: Backend>(backend: &Arc<B>, open: &Arc<B::Open>) -> bool {
    let (backend, open) = (backend.clone(), open.clone());
    match blocking(move || backend.empty_log(&open)).await {
        Ok(emptied) => emptied,
        Err(error) => {
            tracing::warn!(%error, "the log of a space cannot be emptied");
            false
        }
    }
}
