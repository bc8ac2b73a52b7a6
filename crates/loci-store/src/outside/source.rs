//! What does an outside index need of the store beside it?

use std::sync::Arc;

use async_trait::async_trait;
use loci_types::{Filter, MemoryId, Space, Vector, Visible};

use super::index::VectorIndex;
use super::indexed::{IndexedOptions, SystemContext};
use super::point::VectorFeed;
use crate::{Hit, Result, Store};

/// A store that an outside index follows.
#[async_trait]
pub trait VectorSource: Store {
    /// The same store, asking an outside index for the nearest vectors.
    fn indexed_by(
        &self,
        index: Arc<dyn VectorIndex>,
        oversight: SystemContext,
        options: IndexedOptions,
    ) -> Arc<dyn Store>;

    /// What an index must know that has read one space's ledger up to `after`: the memories of the next `limit` lines, each
    /// as it is now. Only callers who see the whole tenant get any.
    async fn vector_feed(
        &self,
        visible: &Visible,
        space: &Space,
        model: &str,
        after: i64,
        limit: usize,
    ) -> Result<VectorFeed>;

    /// These memories as far as they are visible and match the filter, scored by their exact vectors as `nearest` does. What
    /// an index proposes becomes an answer only here.
    async fn rescore(
        &self,
        visible: &Visible,
        query: &Vector,
        filter: &Filter,
        ids: &[MemoryId],
        limit: usize,
    ) -> Result<Vec<Hit>>;
}
