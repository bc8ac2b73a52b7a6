//! Inspects and rebuilds the external vector index.
//!
//! It applies only if an index outside of the store is configured. The store is the source of truth, so both
//! operations are always safe; only the operator may call them.

use std::sync::Arc;

use loci_store::{IndexStatus, Indexed, SystemContext, Verified};
use loci_types::{Error, ErrorKind};

use crate::access::policy::{self, Caller};
use crate::{Clock, Engine, Result};

/// What an external index needs from the engine to be filled.
pub fn oversight(clock: Arc<dyn Clock>) -> SystemContext {
    SystemContext { whole: Arc::new(policy::visible_tenant), now: Arc::new(move || clock.now()) }
}

impl Engine {
    /// What there is of the outside index, and how far it is behind.
    pub async fn vector_status(&self, caller: &Caller) -> Result<IndexStatus> {
        Ok(self.outside(caller)?.status(&caller.tenant).await?)
    }

    /// Compares the outside index with the records. `progress` hears a collection, the line reached and the last.
    pub async fn vector_verify(
        &self,
        caller: &Caller,
        progress: impl FnMut(&str, i64, i64) + Send,
    ) -> Result<Vec<Verified>> {
        Ok(self.outside(caller)?.verify(&caller.tenant, progress).await?)
    }

    /// Fills the outside index anew from the records. Returns how many collections there were.
    pub async fn vector_rebuild(&self, caller: &Caller, progress: impl FnMut(&str, i64, i64) + Send) -> Result<u64> {
        Ok(self.outside(caller)?.rebuild(&caller.tenant, progress).await?)
    }

    /// Removes the collections that this store has written to the outside index and no longer uses. Returns their names.
    pub async fn vector_sweep(&self, caller: &Caller) -> Result<Vec<String>> {
        Ok(self.outside(caller)?.sweep().await?)
    }

    fn outside(&self, caller: &Caller) -> Result<&Indexed> {
        policy::require_operator(caller, "manage its vector index")?;
        self.store.indexed().ok_or_else(|| {
            Error::new(
                ErrorKind::Configuration,
                "no external vector index is configured; the vectors are in the store itself",
            )
            .at("vectors.kind")
            .hint("set [vectors] kind = \"qdrant\" and its url; `loci store doctor` checks the store's own vectors")
            .into()
        })
    }
}
