//! The store with an external vector index.

use std::sync::Arc;

use async_trait::async_trait;
use loci_types::{Batch, Filter, MemoryId, Reach, Space, Tenant, Vector, Visible};

use super::SqlStore;
use crate::outside::{VectorSource, models};
use crate::sql::backend::{Backend, blocking};
use crate::sql::merge_results::best;
use crate::sql::{catalogue, outside};
use crate::{Hit, Indexed, IndexedOptions, Result, Store, SystemContext, VectorFeed, VectorIndex};

#[expect(private_bounds, reason = "the backends are this crate's own")]
impl<B: Backend> SqlStore<B> {
    /// The same store with vector search through an external index.
    #[must_use]
    pub fn with_index(self, index: Arc<dyn VectorIndex>, oversight: SystemContext, options: IndexedOptions) -> Self {
        let beside = Self { index: None, ..self.clone() };
        Self { index: Some(Indexed::new(Arc::new(beside), index, oversight, options)), ..self }
    }

    /// The models whose vectors a batch contains; empty without an index.
    pub(super) fn models_of(&self, batch: &Batch) -> Vec<String> {
        if self.index.is_some() { models(batch) } else { Vec::new() }
    }

    /// Starts filling the external index with what was just written.
    pub(super) fn wake_index(&self, tenant: &Tenant, space: &Space, models: Vec<String>) {
        if let Some(index) = &self.index {
            index.wake(tenant, space, models);
        }
    }

    /// Removes a space with its rows, and its collections in the external index.
    pub(super) async fn drop_space(&self, tenant: &Tenant, space: Space) -> Result<bool> {
        let (backend, owner, name) = (self.backend.clone(), tenant.clone(), space.clone());
        let dropped = blocking(move || backend.drop_space(&owner, &backend.open(&owner, &name)));
        match &self.index {
            Some(index) => index.with_collections(tenant, &space, dropped).await,
            None => dropped.await,
        }
    }

    /// Removes a tenant with everything of it. Work that is under way may write to a space again, so it looks again
    /// until there is none.
    pub(super) async fn drop_tenant(&self, tenant: &Tenant) -> Result<u64> {
        let owner = tenant.clone();
        self.write_catalogue(move |connection| catalogue::drop_keys(connection, &owner)).await?;
        let mut dropped = 0;
        for _ in 0..DROP_ROUNDS {
            let owner = tenant.clone();
            let spaces = self.read_catalogue(move |connection| catalogue::spaces(connection, &owner)).await?;
            if spaces.is_empty() {
                break;
            }
            for space in spaces {
                self.drop_space(tenant, space).await?;
                dropped += 1;
            }
        }
        let owner = tenant.clone();
        self.write_catalogue(move |connection| catalogue::drop_tenant(connection, &owner)).await?;
        Ok(dropped)
    }
}

/// How often the spaces of a tenant that is dropped are listed again.
const DROP_ROUNDS: usize = 8;

#[async_trait]
impl<B: Backend> VectorSource for SqlStore<B> {
    fn indexed_by(
        &self,
        index: Arc<dyn VectorIndex>,
        oversight: SystemContext,
        options: IndexedOptions,
    ) -> Arc<dyn Store> {
        Arc::new(self.clone().with_index(index, oversight, options))
    }

    fn store_id(&self) -> Result<String> {
        self.backend.store_id()
    }

    async fn vector_count(&self, visible: &Visible, space: &Space, model: &str) -> Result<u64> {
        if *visible.reach() != Reach::Whole || visible.categories().is_some() {
            return Ok(0);
        }
        let (backend, open, model) =
            (self.backend.clone(), self.backend.open(visible.tenant(), space), model.to_owned());
        let count = blocking(move || backend.read(&open, |connection| outside::vector_count(connection, &model)));
        Ok(count.await?.unwrap_or(0))
    }

    async fn vector_feed(
        &self,
        visible: &Visible,
        space: &Space,
        model: &str,
        after: i64,
        limit: usize,
    ) -> Result<VectorFeed> {
        let nothing = VectorFeed { position: after, end: after, ..VectorFeed::default() };
        if *visible.reach() != Reach::Whole || visible.is_partial() {
            return Ok(nothing);
        }
        let (backend, open, model) =
            (self.backend.clone(), self.backend.open(visible.tenant(), space), model.to_owned());
        let feed =
            blocking(move || backend.read(&open, |connection| outside::vector_feed(connection, &model, after, limit)));
        Ok(feed.await?.unwrap_or(nothing))
    }

    async fn rescore(
        &self,
        visible: &Visible,
        query: &Vector,
        filter: &Filter,
        ids: &[MemoryId],
        limit: usize,
    ) -> Result<Vec<Hit>> {
        let (query, ids) = (query.clone(), ids.to_vec());
        let found = self
            .matching_in_each(visible, filter, move |connection, _, clause| {
                outside::rescore(connection, clause, &query, &ids)
            })
            .await?;
        Ok(best(found, limit))
    }
}
