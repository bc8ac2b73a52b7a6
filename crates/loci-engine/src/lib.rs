//! The engine of Loci: the rules by which memories are written, recalled, learned, aged and exported.
//!
//! Every write is a `Change` that is given to `Store::apply`; every read has a `Visible`, which only [`policy`]
//! makes. Between them are pure functions on plain values. The engine knows no backend, reads no environment, prints
//! nothing, and takes the time only from [`Clock`].

mod access;
mod checkpoint;
mod clock;
mod config;
mod embed;
mod engine;
mod error;
mod graph;
mod instant;
mod learn;
mod lifecycle;
mod portability;
mod prompt;
mod read;
mod recall;
mod sharing;
mod text;
mod working;
mod write;

pub use access::categories::{Categories, CategorySpec, ContextMode};
pub use access::idempotency::{KeyedRequest, RequestStart, StoredAnswer};
pub use access::keys::{ApiKey, ApiKeyWithSecret, IssuedKey, NewKey};
pub use access::policy;
pub use access::policy::Caller;
pub use access::redact::{Redaction, RedactionPattern};
pub use access::tenant::{RemovedTenant, TenantUsage};
pub use checkpoint::{
    CheckpointReceipt, CheckpointRemoval, CheckpointRequest, NewCheckpoint, SavedCheckpoint, SavedWrite, payload,
};
pub use clock::{Clock, Fixed, System};
pub use config::{
    Bands, Batching, Config, Consent, Consolidation, Lifecycle, Limits, Retrieval, Sessions, Summarization, Weights,
    Working,
};
pub use engine::Engine;
pub use error::{Error, Result};
pub use graph::{AddedObservations, EntityObservations, Graph, GraphEntity, GraphImportReport, GraphRelation};
pub use instant::{in_time_zone, optional_instant, parse_instant};
pub use learn::consent::{Proposal, ProposalSubject};
pub use learn::consolidate::ConsolidationReport;
pub use learn::entity::EntityProfile;
pub use learn::extract;
pub use learn::fact::{FactRequest, NewFact, StatedFact};
pub use learn::jobs::JobRun;
pub use learn::llm;
pub use learn::llm::LearningLimits;
pub use learn::writing_rules;
pub use lifecycle::curve;
pub use lifecycle::fading::WeakMemory;
pub use lifecycle::maintenance::{MaintainReport, MaintainRequest, MaintenanceStep, PlannedAction, StepReport};
pub use lifecycle::rules;
pub use lifecycle::summarize;
pub use lifecycle::summary::{SummarizeRequest, SummaryCounts};
pub use loci_store::BackupEncoding;
pub use loci_store::{Agent, Backup, IndexHealth, Pool, PoolMember, Stats};
pub use portability::backup::{
    BackupFolder, BackupPart, FULL_BACKUP, Restoration, StoredBackup, StoredSpace, backup_stamp,
};
pub use portability::erase::Erasure;
pub use portability::importers;
pub use portability::json_lines;
pub use portability::reembed::{Estimate, ReembedProgress, ReembedReport};
pub use portability::vector_index::oversight;
pub use prompt::context::{ContextRequest, ContextResponse};
pub use prompt::pack;
pub use prompt::pack::origin::origin;
pub use prompt::query::{QueryRequest, QueryResponse};
pub use prompt::render::{is_quotation, reported, shown};
pub use read::activity::{Bucket, OperationCount, Operations, OperationsRequest};
pub use read::browse::{History, LearningStats, ListRequest, ListResponse};
pub use read::feed::{FeedCursor, FeedEntry, FeedPage, FeedRequest};
pub use read::neighbourhood::{Neighbour, Neighbourhood};
pub use read::provenance::ProvenanceReport;
pub use read::webhook::{NewWebhook, Webhook, WebhookState};
pub use recall::find::FindRequest;
pub use recall::plan;
pub use recall::score;
pub use recall::search::{SearchHit, SearchRequest, SearchResponse};
pub use recall::{
    Answered, Clue, ClueWeight, Explanation, LaneRank, Recall, RecallHit, RecallRequest, RelatedMemory, Strategy,
};
pub use sharing::pool::{NewPool, PoolDetails};
pub use sharing::pool_sync::PoolSync;
pub use text::{content_hash, estimate_tokens, normalise};
pub use working::{
    AppendReceipt, Entry, EntryHit, EntryReceipt, ErasedTiers, FoundBy, NewEntry, NewMessage, NewToolResult,
    ToolResult, WorkingHit, WorkingMemory, WorkingMessage, WorkingQuery, WorkingView,
};
pub use write::batch::FailedWrites;
pub use write::contradict::{Keep, NewerStatement};
pub use write::importance::importance;
pub use write::ingest::Turn;
pub use write::kinds::choose_kind;
pub use write::reconcile;
pub use write::remember::NewMemory;
pub use write::selection::{Selection, SelectionOutcome};
pub use write::supersede::Chain;
pub use write::undo::UndoOutcome;
pub use write::update::Update;
