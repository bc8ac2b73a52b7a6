//! Bookkeeping: the rows that Loci keeps for itself (access counts, jobs, notes, sessions, checkpoints). No step
//! changes the content of a memory.
//!
//! The steps travel in the same [`crate::Batch`] as changes of memories, because some of them must commit together: a
//! session is marked as learned from in the transaction that adds what was learned.

use jiff::Timestamp;
use serde_json::Value;

use crate::{CheckpointStep, JobSpec, MemoryId, Scope, Session};

/// One step of bookkeeping.
#[derive(Debug, Clone, PartialEq)]
pub enum Bookkeeping {
    /// Counts an access of each memory that recall returned. Leaves no ledger entry.
    Touch {
        /// The memories.
        ids: Vec<MemoryId>,
    },
    /// Enqueues a job.
    Enqueue(JobSpec),
    /// Writes a note: a value under a key, for example which pairs were compared or how much was spent today.
    Note {
        /// The scope that the note belongs to. `None` means the whole space.
        scope: Option<Scope>,
        /// The key of the note.
        key: String,
        /// The new value.
        value: NoteValue,
        /// When the note expires. `None` means never.
        until: Option<Timestamp>,
    },
    /// Records that a turn of a session arrived. Creates the session if it is new and reopens it if it had ended.
    Attend {
        /// The scope of the session.
        scope: Scope,
        /// The name of the session.
        session: String,
        /// The thread of the session.
        thread: String,
    },
    /// Ends a session. A session that is unknown or has already ended stays as it is.
    EndSession {
        /// The scope of the session.
        scope: Scope,
        /// The name of the session.
        session: String,
    },
    /// Marks a session as learned from up to a turn, with a ledger entry. Refused if another caller has moved the mark
    /// since `expect` was read, so that nothing is learned twice.
    Consolidate {
        /// The scope of the session.
        scope: Scope,
        /// The name of the session.
        session: String,
        /// The mark that the caller read: the last turn that had been learned from.
        expect: Option<MemoryId>,
        /// The new mark: the last turn that has been learned from now.
        through: MemoryId,
        /// What was learned, for the ledger entry.
        report: Value,
    },
    /// Clears the mark, so that the session is learned from again, starting with its first turn.
    Unlearn {
        /// The scope of the session.
        scope: Scope,
        /// The name of the session.
        session: String,
    },
    /// Writes an imported session with all its fields. Leaves no ledger entry.
    Resume(Box<Session>),
    /// Writes or removes checkpoints. Leaves no ledger entry.
    Checkpoint(Box<CheckpointStep>),
    /// Claims a key for a request, so that no other server executes the same request. The outcome is `Created` if the
    /// key was free, `Updated` if the claim is the caller's own or has lapsed, and `None` if it is another's.
    Claim(Box<RequestClaim>),
    /// As the first change of a batch: applies the rest of the batch at most once under this key. The results are
    /// recorded under the key in the same transaction; if there are recorded results, they are returned and nothing is
    /// applied.
    Once {
        /// The key of the batch.
        key: String,
        /// When the record expires.
        until: Timestamp,
    },
}

/// The claim of a request on its idempotency key. It is stored as a note, which the answer to the request replaces.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestClaim {
    /// The scope that the note belongs to. `None` means the whole space.
    pub scope: Option<Scope>,
    /// The key of the note.
    pub key: String,
    /// The hash of the request. A claim never replaces one of another request.
    pub fingerprint: String,
    /// Identifies this execution of the request.
    pub owner: String,
    /// When the claim lapses unless it is renewed: its server has stopped.
    pub lease: Timestamp,
    /// When the note expires.
    pub until: Timestamp,
}

/// The new value of a note.
#[derive(Debug, Clone, PartialEq)]
pub enum NoteValue {
    /// Replaces the value.
    Set(Value),
    /// Adds this number to the stored one.
    Add(f64),
}
