//! How is it remembered, recalled, kept?
//!
//! The house itself: rules of memory between two doors. What comes in becomes a `Change` for
//! `Store::apply`; what goes out was read with a `Visible` made by [`policy`]. Between them stand
//! pure functions on plain values. It names no backend, reads no environment, prints nothing, and
//! knows the time only through [`Clock`].

mod agent;
mod answered;
mod clock;
mod config;
mod consent;
mod consolidate;
mod context;
pub mod curve;
mod engine;
mod entity;
mod error;
mod evolve;
mod explain;
pub mod extract;
mod feed;
mod forget;
mod import;
mod importance;
mod ingest;
mod keys;
mod kinds;
mod learn;
mod maintain;
pub mod mind;
mod operations;
pub mod pack;
pub mod plan;
pub mod policy;
mod query;
mod read;
mod recall;
pub mod reconcile;
mod reembed;
mod reflect;
mod remember;
pub mod score;
mod search;
mod session;
mod settings;
pub mod summarise;
mod summary;
mod text;
mod thinking;
mod undo;
mod update;
pub mod upkeep;
mod weak;
mod work;
pub mod writing;

pub use answered::Answer;
pub use clock::{Clock, Fixed, System};
pub use config::{Bands, Config, Consent, Lifecycle, Limits, Retrieval, Sessions, Summarisation, Weights};
pub use consent::{Asked, Proposal};
pub use consolidate::Consolidated;
pub use context::{ContextRequest, ContextResponse};
pub use engine::Engine;
pub use entity::EntityProfile;
pub use error::{Error, Result};
pub use evolve::Chain;
pub use explain::Provenance;
pub use feed::{FeedCursor, FeedEntry, FeedPage, FeedRequest};
pub use importance::importance;
pub use ingest::Turn;
pub use keys::{MadeKey, NewKey};
pub use kinds::choose_kind;
pub use maintain::{MaintainReport, MaintainRequest, Planned, Step, StepReport};
pub use mind::Learning;
pub use operations::{Bucket, Operations, OperationsRequest};
pub use policy::Caller;
pub use query::{QueryRequest, QueryResponse};
pub use read::{History, Learned, ListRequest, ListResponse};
pub use recall::{Clue, ClueWeight, Explanation, LaneRank, Recall, RecallHit, RecallRequest, RelatedMemory, Strategy};
pub use reembed::Reembedded;
pub use remember::NewMemory;
pub use search::{SearchHit, SearchRequest, SearchResponse};
pub use summary::SummariseRequest;
pub use text::{content_hash, estimate_tokens, normalise};
pub use undo::Undone;
pub use update::Update;
pub use weak::WeakFact;
pub use work::Worked;
