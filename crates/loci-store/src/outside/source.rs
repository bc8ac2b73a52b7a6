//! What an external index needs from the store.

use std::sync::Arc;

use async_trait::async_trait;
use loci_types::{Filter, MemoryId, Space, Vector, Visible};

use super::index::VectorIndex;
use super::indexed::{IndexedOptions, SystemContext};
use super::point::VectorFeed;
use crate::{Hit, Result, Store};

/// A store whose vectors an external index can follow.
#[async_trait]
pub trait VectorSource: Store {
    /// The same store, with vector search through an external index.
    fn indexed_by(
        &self,
        index: Arc<dyn VectorIndex>,
        oversight: SystemContext,
        options: IndexedOptions,
    ) -> Arc<dyn Store>;

    /// The identity of this store: the same after every start, and another than that of every other store. A copy of a
    /// data folder or of a database has the same.
    fn store_id(&self) -> Result<String>;

    /// Number of vectors of a model in a space. Zero unless the caller may read the whole tenant.
    async fn vector_count(&self, visible: &Visible, space: &Space, model: &str) -> Result<u64>;

    /// The memories of the `limit` ledger entries of a space after number `after`, each as it is now. Empty unless the
    /// caller may read the whole tenant.
    async fn vector_feed(
        &self,
        visible: &Visible,
        space: &Space,
        model: &str,
        after: i64,
        limit: usize,
    ) -> Result<VectorFeed>;

    /// Those of these memories that are visible and match the filter, scored by their exact vectors as `nearest` does.
    /// Candidates of an index become results only through this function.
    async fn rescore(
        &self,
        visible: &Visible,
        query: &Vector,
        filter: &Filter,
        ids: &[MemoryId],
        limit: usize,
    ) -> Result<Vec<Hit>>;
}
