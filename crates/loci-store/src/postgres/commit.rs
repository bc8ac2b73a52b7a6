//! How does a transaction on a space begin and end?
//!
//! Whoever writes to a space holds its lock until the commit, whichever server it is on: lines of the
//! ledger and rows are numbered in the order of the commits, as in a file, and no reader that goes on
//! after a number misses one. A transaction that was undone by the server (a deadlock, a lost
//! connection before the commit was asked for) is run again; when nobody knows whether the commit
//! was heard, the caller is told so.

use std::path::PathBuf;
use std::time::Duration;

use super::{PgConnection, Sessions, said};
use crate::sql;
use crate::sql::writer::{Committer, WriteTask};
use crate::{Error, Result};

/// How often a transaction that the server undid is run again.
const TRIES: u32 = 4;

/// Half of the pause before the first repetition; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// A space by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SpaceIds {
    pub(crate) tenant: i32,
    pub(crate) space: i32,
}

/// Commits to the spaces of a server.
pub(super) struct Transactions {
    sessions: Sessions,
}

/// How a transaction ended that did not end well.
enum TxFailure {
    /// Nothing was kept; it may be run again.
    Retry(Error),
    /// It must not be.
    Fatal(Error),
}

impl TxFailure {
    fn error(&self) -> &Error {
        match self {
            TxFailure::Retry(error) | TxFailure::Fatal(error) => error,
        }
    }
}

impl Transactions {
    pub(super) fn new(sessions: Sessions) -> Self {
        Self { sessions }
    }

    fn attempt(&self, target: SpaceIds, tasks: &mut [Box<dyn WriteTask>]) -> Result<(), TxFailure> {
        let session = self.sessions.take().map_err(|error| TxFailure::Fatal(said(error)))?;
        match write(&session, target, tasks) {
            Ok(()) => Ok(()),
            Err(undone) => {
                let contended = session.was_contended();
                session.discard();
                // A cut, or a server that no longer takes writes, concerns the idle connections as well. A deadlock does not.
                if matches!(undone.error(), Error::Unavailable { .. }) && !contended {
                    self.sessions.pool.retain(|_, _| false);
                }
                Err(undone)
            }
        }
    }
}

impl Committer for Transactions {
    type Place = SpaceIds;

    // The runtime that drives the connections may be driven by the thread that drops the writers.
    const WAITS_ON_DROP: bool = false;

    fn path(_: &SpaceIds) -> PathBuf {
        PathBuf::from(super::PLACE)
    }

    fn commit(&self, target: &SpaceIds, tasks: &mut [Box<dyn WriteTask>]) -> Result<()> {
        let mut tries = 1;
        loop {
            match self.attempt(*target, tasks) {
                Err(TxFailure::Retry(_)) if tries < TRIES => {
                    std::thread::sleep(FIRST_PAUSE * (1 << tries));
                    tries += 1;
                }
                Err(TxFailure::Retry(error) | TxFailure::Fatal(error)) => return Err(error),
                Ok(()) => return Ok(()),
            }
        }
    }
}

fn write(session: &PgConnection, target: SpaceIds, tasks: &mut [Box<dyn WriteTask>]) -> Result<(), TxFailure> {
    let again = |error: sql::Error| {
        if is_passing(&error) { TxFailure::Retry(said(error)) } else { TxFailure::Fatal(said(error)) }
    };
    session.begin("", Some(target));
    session.put_first("SELECT open_write()").map_err(again)?;
    // One alone needs no savepoint: what it did is undone with the transaction, and its first statement goes out together
    // with the beginning. Several must know that the space is theirs before one of them can be undone alone.
    let alone = tasks.len() == 1;
    if !alone {
        session.flush().map_err(again)?;
    }
    for task in tasks.iter_mut() {
        if !alone {
            session.put_first("SAVEPOINT one").map_err(again)?;
        }
        match task.run(session) {
            Ok(()) if alone => {}
            Ok(()) => session.put_first("RELEASE one").map_err(again)?,
            Err(error @ Error::Unavailable { .. }) if session.fell_silent() => return Err(TxFailure::Fatal(error)),
            // The server is gone: what others did is gone with it.
            Err(error @ Error::Unavailable { .. }) => return Err(TxFailure::Retry(error)),
            Err(_) if alone => {
                return session.roll_back().map_err(|error| TxFailure::Fatal(said(error)));
            }
            Err(_) => session.run("ROLLBACK TO one").map_err(again)?,
        }
    }
    // From here on a silence may mean that all is kept.
    session.commit("SELECT announce_write(); ").map_err(|error| match &error {
        _ if session.was_undone() => again(error),
        sql::Error::Postgres(said_by) if is_undone(said_by) => TxFailure::Retry(said(error)),
        _ => TxFailure::Fatal(Error::Unavailable {
            part: "postgres".to_owned(),
            problem: format!("nobody knows whether this change was kept, look before you repeat it ({error})"),
        }),
    })
}

/// Whoever takes a space away, or mends it, waits here for its writers.
pub(super) fn lock(target: SpaceIds) -> String {
    format!("SELECT pg_advisory_xact_lock(hashtext(current_schema()::text), {})", target.space)
}

/// Whether the connection was lost: it is closed, cannot be written to, or the server is ending.
pub(super) fn is_cut(error: &tokio_postgres::Error) -> bool {
    use std::error::Error as _;
    let ending = error.code().is_some_and(|code| code.code().starts_with("57P"));
    error.is_closed() || ending || error.source().is_some_and(|source| source.is::<std::io::Error>())
}

/// Whether it may well succeed the next time: nothing was kept, and another connection may do better.
pub(super) fn is_passing(error: &sql::Error) -> bool {
    match error {
        sql::Error::Postgres(error) => {
            let ending = error.code().is_some_and(|code| code.code().starts_with("57P"));
            error.is_closed() || error.code().is_none() || ending || is_undone(error)
        }
        _ => false,
    }
}

/// Whether the server undid the transaction for the sake of another. One that is ending says so
/// whether or not it has heard the commit, so that is no proof.
pub(super) fn is_undone(error: &tokio_postgres::Error) -> bool {
    use tokio_postgres::error::SqlState;
    error
        .code()
        .is_some_and(|code| [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code))
}
