//! How is it remembered, recalled, kept?
//!
//! The house itself: rules of memory between two doors. What comes in becomes a `Change` for
//! `Store::apply`; what goes out was read with a `Visible` made by [`policy`]. Between them stand
//! pure functions on plain values. It names no backend, reads no environment, prints nothing, and
//! knows the time only through [`Clock`].

mod agent;
mod clock;
mod config;
mod context;
pub mod curve;
mod engine;
mod error;
mod explain;
pub mod extract;
mod forget;
mod import;
mod importance;
mod ingest;
mod kinds;
pub mod pack;
pub mod plan;
pub mod policy;
mod query;
mod read;
mod recall;
mod reembed;
mod remember;
pub mod score;
mod search;
mod settings;
mod text;
mod update;
pub mod writing;

pub use clock::{Clock, Fixed, System};
pub use config::{Config, Lifecycle, Limits, Retrieval, Weights};
pub use context::{ContextRequest, ContextResponse};
pub use engine::Engine;
pub use error::{Error, Result};
pub use explain::Provenance;
pub use importance::importance;
pub use ingest::Turn;
pub use kinds::choose_kind;
pub use policy::Caller;
pub use query::{QueryRequest, QueryResponse};
pub use read::{History, ListRequest, ListResponse};
pub use recall::{Clue, ClueWeight, Explanation, LaneRank, Recall, RecallHit, RecallRequest, RelatedMemory, Strategy};
pub use reembed::Reembedded;
pub use remember::NewMemory;
pub use search::{SearchHit, SearchRequest, SearchResponse};
pub use text::{content_hash, estimate_tokens, normalise};
pub use update::Update;
