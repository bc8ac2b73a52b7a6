//! The domain types of Loci: memories, scopes, changes and their results.
//!
//! All crates share these values. Nothing here blocks, reads a clock, opens a file or depends on another crate of Loci.

mod bookkeeping;
mod change;
mod checkpoint;
mod credential;
mod edge;
mod error;
mod fact;
mod filter;
mod hash;
mod id;
mod job;
mod kind;
mod layer;
mod ledger;
mod memory;
mod memory_ref;
mod receipt;
mod scope;
mod session;
mod state;
mod visible;

pub use bookkeeping::{Bookkeeping, NoteValue};
pub use change::{
    Action, Addition, AgedScore, Batch, Change, NewContent, Patch, Provenance, Revision, identifier_values,
};
pub use checkpoint::{
    Checkpoint, CheckpointFilter, CheckpointPlace, CheckpointStep, CheckpointThread, JSON, PendingWrite,
};
pub use credential::{ANY, Bounds, Grant, Key, Role};
pub use edge::{Edge, Entity, EntityType, Relation};
pub use error::{Error, ErrorKind, ErrorRow, Problem, TABLE as ERROR_TABLE};
pub use fact::{Fact, FactFilter};
pub use filter::{Filter, Grain, TimeRange, TimeSpan};
pub use hash::fnv1a;
pub use id::{EdgeId, EntityId, FactId, MemoryId};
pub use job::{Job, JobKind, JobRecord, JobSpec};
pub use kind::{Class, Kind, KindSpec, Kinds};
pub use layer::Layer;
pub use ledger::{Event, LedgerEntry};
pub use memory::{
    AccessPolicy, ContentHash, KnowledgePointer, Memory, Source, Vector, contains_nul, from_step, reinforced, to_step,
    unit,
};
pub use memory_ref::{IdRange, MemoryRef};
pub use receipt::{Durability, Outcome, Receipt};
pub use scope::{IDENTIFIER_BYTES, Identifier, Identifiers, Scope, Shard, Space, Tenant, slug};
pub use session::{Session, SessionFilter};
pub use state::State;
pub use visible::{Reach, Visible};
