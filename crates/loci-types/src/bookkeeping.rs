//! Bookkeeping: what Loci writes for itself. None of it changes a memory's content.
//!
//! It travels in the same [`crate::Batch`] as the changes of memories, because some of it must happen together with
//! them: a session is marked as learned from in the transaction that adds what it taught.

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
    /// Writes a note: what was checked, counted or shown.
    Note {
        /// The scope whose memories it is about. None: the whole space.
        scope: Option<Scope>,
        /// Its name.
        key: String,
        /// Its new value.
        value: NoteValue,
        /// When it expires.
        until: Option<Timestamp>,
    },
    /// Records that a turn of a session arrived.
    Attend {
        /// The scope of the session.
        scope: Scope,
        /// Its name.
        session: String,
        /// Its thread.
        thread: String,
    },
    /// Ends a session.
    EndSession {
        /// The scope of the session.
        scope: Scope,
        /// Its name.
        session: String,
    },
    /// Marks a session as learned from up to a turn. Refused if another caller has moved the mark since `expect` was
    /// read, so that nothing is learned twice.
    Consolidate {
        /// The scope of the session.
        scope: Scope,
        /// Its name.
        session: String,
        /// The last turn that had been learned from.
        expect: Option<MemoryId>,
        /// The last turn that has been learned from now.
        through: MemoryId,
        /// What was learned, for the ledger.
        report: Value,
    },
    /// Takes the mark back, so that the session is learned from again from its first turn.
    Unlearn {
        /// The scope of the session.
        scope: Scope,
        /// Its name.
        session: String,
    },
    /// Writes a session from elsewhere as it was there. Leaves no ledger entry.
    Resume(Box<Session>),
    /// Writes or removes checkpoints. Leaves no ledger entry.
    Checkpoint(Box<CheckpointStep>),
}

/// The new value of a note.
#[derive(Debug, Clone, PartialEq)]
pub enum NoteValue {
    /// Replaces the value.
    Set(Value),
    /// Adds to a number.
    Add(f64),
}
