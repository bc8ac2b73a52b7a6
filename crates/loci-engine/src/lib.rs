//! How is it remembered, recalled, kept?
//!
//! The house itself: rules of memory between two doors. What comes in becomes a `Change` for
//! `Store::apply`; what goes out was read with a `Visible` made by [`policy`]. Between them stand
//! pure functions on plain values. It names no backend, reads no environment, prints nothing, and
//! knows the time only through [`Clock`].

mod agent;
mod answered;
mod backup;
mod batch;
mod bounds;
pub mod bring;
pub mod carry;
mod categories;
mod checkpoint;
mod clock;
mod config;
mod consent;
mod consolidate;
mod context;
mod contradict;
pub mod curve;
mod embed;
mod engine;
mod entity;
mod erase;
mod error;
mod evolve;
mod explain;
pub mod extract;
mod fact;
mod feed;
mod find;
mod forget;
mod graph;
mod highlight;
mod import;
mod importance;
mod ingest;
mod instant;
mod keys;
mod kinds;
mod language;
mod learn;
mod maintain;
mod many;
pub mod mind;
mod neighbourhood;
mod operations;
pub mod pack;
pub mod plan;
pub mod policy;
mod pool;
mod pool_sync;
mod query;
mod read;
mod recall;
mod recent;
pub mod reconcile;
mod redact;
mod reembed;
mod reflect;
mod remember;
mod report;
mod resolve_id;
pub mod score;
mod search;
mod selection;
mod session;
mod settings;
pub mod summarize;
mod summary;
mod tenant;
mod text;
mod thinking;
mod undo;
mod update;
pub mod upkeep;
mod uses;
mod vectors;
mod weak;
mod webhook;
mod work;
mod working;
pub mod writing;

pub use answered::Answer;
pub use backup::{BackupPart, FULL_BACKUP, Restoration, StoredBackup, StoredSpace, backup_stamp};
pub use batch::Unwritten;
pub use categories::{Categories, CategorySpec, ContextMode};
pub use checkpoint::{
    CheckpointRemoval, CheckpointRequest, NewCheckpoint, PutCheckpoint, SavedCheckpoint, SavedWrite, payload,
};
pub use clock::{Clock, Fixed, System};
pub use config::{
    Bands, Batching, Config, Consent, Lifecycle, Limits, Retrieval, Sessions, Summarization, Weights, Working,
};
pub use consent::{Asked, Proposal};
pub use consolidate::Consolidated;
pub use context::{ContextRequest, ContextResponse};
pub use contradict::{Keep, Newer};
pub use engine::Engine;
pub use entity::EntityProfile;
pub use erase::Erasure;
pub use error::{Error, Result};
pub use evolve::Chain;
pub use explain::Provenance;
pub use fact::{FactRequest, NewFact, StatedFact};
pub use feed::{FeedCursor, FeedEntry, FeedPage, FeedRequest};
pub use find::FindRequest;
pub use graph::{AddedObservations, Graph, GraphEntity, GraphImported, GraphRelation, Observed};
pub use importance::importance;
pub use ingest::Turn;
pub use instant::{in_time_zone, optional_instant, parse_instant};
pub use keys::{ApiKey, ApiKeyWithSecret, MadeKey, NewKey};
pub use kinds::choose_kind;
pub use loci_store::{Agent, Backup, IndexHealth, Pool, PoolMember, Stats};
pub use maintain::{MaintainReport, MaintainRequest, PlannedAction, Step, StepReport};
pub use mind::Learning;
pub use neighbourhood::{Neighbour, Neighbourhood};
pub use operations::{Bucket, OperationCount, Operations, OperationsRequest};
pub use policy::Caller;
pub use pool::{NewPool, PoolDetails};
pub use pool_sync::PoolSync;
pub use query::{QueryRequest, QueryResponse};
pub use read::{History, LearningStats, ListRequest, ListResponse};
pub use recall::{
    Answered, Clue, ClueWeight, Explanation, LaneRank, Recall, RecallHit, RecallRequest, RelatedMemory, Strategy,
};
pub use redact::{Redaction, RedactionPattern};
pub use reembed::{Estimate, Reembedded, Reembedding};
pub use remember::NewMemory;
pub use report::{is_quotation, reported, shown};
pub use search::{SearchHit, SearchRequest, SearchResponse};
pub use selection::{Selection, SelectionOutcome};
pub use summary::SummarizeRequest;
pub use tenant::{RemovedTenant, TenantUsage};
pub use text::{content_hash, estimate_tokens, normalise};
pub use undo::UndoOutcome;
pub use update::Update;
pub use vectors::oversight;
pub use weak::WeakMemory;
pub use webhook::{NewWebhook, Webhook, WebhookState};
pub use work::JobRun;
pub use working::{
    Appended, Entry, EntryHit, ErasedTiers, FoundBy, Message, NewEntry, NewMessage, NewToolResult, PutEntry,
    ToolResult, WorkingHit, WorkingMemory, WorkingQuery, WorkingView,
};
