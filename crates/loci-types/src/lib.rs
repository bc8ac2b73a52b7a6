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
mod name;
mod receipt;
mod request_scope;
mod scope;
mod session;
mod state;
mod visible;

pub use bookkeeping::{Bookkeeping, NoteValue, RequestClaim};
pub use change::{
    Action, Addition, AgedScore, Batch, Change, NewContent, Patch, Provenance, Revision, identifier_values,
};
pub use checkpoint::{
    Checkpoint, CheckpointFilter, CheckpointPlace, CheckpointStep, CheckpointThread, JSON, PendingWrite,
};
pub use credential::{ANY, Bounds, Grant, Key, Right, Role};
pub use edge::{Edge, Entity, EntityType, Relation};
pub use error::{Error, ErrorKind, ErrorRow, NOT_FOUND, OTHER_EXITS, Problem, TABLE as ERROR_TABLE, abbreviate};
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
pub use name::{IDENTIFIER_BYTES, check_new_slug, normalise, slug};
pub use receipt::{Durability, Outcome, Receipt};
pub use request_scope::RequestScope;
pub use scope::{Identifier, Identifiers, Scope, Shard, Space, Tenant};
pub use session::{Session, SessionFilter};
pub use state::State;
pub use visible::{Reach, Visible};
