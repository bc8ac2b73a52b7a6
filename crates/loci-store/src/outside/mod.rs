//! Vector search through an external index: Qdrant, pgvector, or arrays in this process.
//!
//! An index holds copies of the vectors and proposes candidates. The rows of the store are authoritative: the store
//! decides which candidates may be returned and scores them by their exact vectors. So an index may lag, lose its data
//! or be unreachable; at worst the vector lane fails with an error.
//!
//! **Invariant.** Every change that an index does not have yet is in the ledger after the index's mark. There is no
//! other queue, so no change can be lost between store and index.

mod index;
mod indexed;
mod local;
mod maintenance;
mod pgvector;
mod point;
mod qdrant;
mod search;
mod source;
mod sync;

pub use index::{Collection, Mark, PointFilter, VectorIndex};
pub(crate) use indexed::models;
pub use indexed::{Indexed, IndexedOptions, SystemContext};
pub use local::LocalIndex;
pub use maintenance::{CollectionStatus, IndexHealth, IndexStatus, Verified};
pub use pgvector::{PgvectorConfig, PgvectorIndex};
pub use point::{VectorFeed, VectorPoint};
pub use qdrant::{Qdrant, QdrantConfig};
pub use source::VectorSource;
