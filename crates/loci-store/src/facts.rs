//! How are triples read?
//!
//! Stated and retracted they are by a change, like everything else. What a reader may see of them is told here once,
//! for every store.

use async_trait::async_trait;
use loci_types::{Fact, FactFilter, Visible};

use crate::Result;

/// Where triples lie.
#[async_trait]
pub trait Facts: Send + Sync {
    /// The triples of the visible scopes that are meant, the surest first, then the latest changed.
    ///
    /// One that was learned from memories is seen by those who see one of them, and is told unless none of those that
    /// they see holds any more. One that stands by itself is seen by those who see every category. Sources that the
    /// reader does not see are left out, and so are metadata that came with them as well.
    async fn facts(&self, visible: &Visible, filter: &FactFilter, limit: usize) -> Result<Vec<Fact>>;
}
