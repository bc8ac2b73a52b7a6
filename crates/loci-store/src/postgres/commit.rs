//! Commits changes to the spaces of a PostgreSQL server.
//!
//! A writer holds the lock of its space until the commit, across all processes: ledger entries and rows are numbered in
//! the order of commits, so a reader that continues after a number misses none. A transaction that the server rolled
//! back (a deadlock, a connection lost before the commit was sent) is run again. If it is unknown whether a commit was
//! processed, the caller gets an error that says so.

use std::path::PathBuf;
use std::time::Duration;

use super::{PgConnection, Sessions, sql_error};
use crate::sql;
use crate::sql::writer::{Committer, WriteTask};
use crate::{Error, Result};

/// Maximum number of attempts of a transaction that the server rolls back.
const TRIES: u32 = 4;

/// Half of the pause before the second attempt; each pause is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// The numbers of a tenant and a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SpaceIds {
    pub(crate) tenant: i32,
    pub(crate) space: i32,
}

/// Commits to the spaces of a server.
pub(super) struct Transactions {
    sessions: Sessions,
}

/// The failure of a transaction.
enum TxFailure {
    /// Nothing was kept; the transaction may be run again.
    Retry(Error),
    /// The transaction must not be run again.
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
        let session = self.sessions.take().map_err(|error| TxFailure::Fatal(sql_error(error)))?;
        match write(&session, target, tasks) {
            Ok(()) => Ok(()),
            Err(undone) => {
                let contended = session.was_contended();
                session.discard();
                // A lost connection or a read-only server concerns the idle connections as well; a deadlock does not.
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

    // The thread that drops the writers may be the one that drives the runtime of the connections.
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
    let again = |error: sql::SqlError| {
        if is_passing(&error) { TxFailure::Retry(sql_error(error)) } else { TxFailure::Fatal(sql_error(error)) }
    };
    session.begin("", Some(target));
    session.put_first("SELECT open_write()").map_err(again)?;
    // A single task needs no savepoint: it is rolled back with the transaction, and its first statement is sent
    // together with `BEGIN`. Several tasks need the lock of the space before the first savepoint.
    let single = tasks.len() == 1;
    if !single {
        session.flush().map_err(again)?;
    }
    for task in tasks.iter_mut() {
        if !single {
            session.put_first("SAVEPOINT one").map_err(again)?;
        }
        match task.run(session) {
            Ok(()) if single => {}
            Ok(()) => session.put_first("RELEASE one").map_err(again)?,
            Err(error @ Error::Unavailable { .. }) if session.fell_silent() => return Err(TxFailure::Fatal(error)),
            // The connection is lost, and with it the work of the other tasks.
            Err(error @ Error::Unavailable { .. }) => return Err(TxFailure::Retry(error)),
            Err(_) if single => {
                return session.roll_back().map_err(|error| TxFailure::Fatal(sql_error(error)));
            }
            Err(_) => session.run("ROLLBACK TO one").map_err(again)?,
        }
    }
    // From here on a missing answer may mean that everything was committed.
    session.commit("SELECT announce_write(); ").map_err(|error| match &error {
        _ if session.was_undone() => again(error),
        sql::SqlError::Postgres(said_by) if is_undone(said_by) => TxFailure::Retry(sql_error(error)),
        _ => TxFailure::Fatal(Error::Unavailable {
            part: "postgres".to_owned(),
            problem: format!("the outcome of the commit is unknown, check before you repeat the change ({error})"),
        }),
    })
}

/// The statement that takes the write lock of a space, for dropping or repairing it.
pub(super) fn lock(target: SpaceIds) -> String {
    format!("SELECT pg_advisory_xact_lock(hashtext(current_schema()::text), {})", target.space)
}

/// Whether the connection was lost: it is closed, cannot be written to, or the server is shutting down.
pub(super) fn is_cut(error: &tokio_postgres::Error) -> bool {
    use std::error::Error as _;
    let ending = error.code().is_some_and(|code| code.code().starts_with("57P"));
    error.is_closed() || ending || error.source().is_some_and(|source| source.is::<std::io::Error>())
}

/// Whether a retry may succeed: nothing was kept, and the cause was the connection or a concurrent transaction.
pub(super) fn is_passing(error: &sql::SqlError) -> bool {
    match error {
        sql::SqlError::Postgres(error) => {
            let ending = error.code().is_some_and(|code| code.code().starts_with("57P"));
            error.is_closed() || error.code().is_none() || ending || is_undone(error)
        }
        _ => false,
    }
}

/// Whether the server rolled back the transaction because of another one. An error of a server that is shutting down
/// does not count, because it is sent whether or not the commit was processed.
pub(super) fn is_undone(error: &tokio_postgres::Error) -> bool {
    use tokio_postgres::error::SqlState;
    error
        .code()
        .is_some_and(|code| [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code))
}
