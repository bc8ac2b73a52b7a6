//! Who else knows where the vectors lie?
//!
//! An *outside index* is told of the vectors and proposes candidates. It decides nothing: the rows are the truth, the
//! store says who may be returned and scores them by their exact vectors. So an index may lag, lose everything or be
//! away, and the worst that follows is that the vector lane says so.
//!
//! **Invariant.** What is not yet in the index stands in the ledger after the index's own mark. Nothing else is
//! queued anywhere, so nothing can be lost between the two.

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
