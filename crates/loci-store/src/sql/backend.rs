//! What must a database offer to hold a store?
//!
//! Where a space lies, how a transaction on it begins and ends, how words, vectors and neighbours are found there, and who
//! holds a lease. Everything else is common SQL.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{JobKind, MemoryId, Space, Tenant, Vector, Visible};
use tokio::sync::watch;

use super::clause::Clause;
use super::{Connection, Result as SqlResult, turn_runs};
use crate::text::Analyser;
use crate::{Error, Finding, Frequencies, Hit, Result, StoreHealth, TurnRun};

/// A database with spaces in it. All but [`Backend::write`] may block.
pub(crate) trait Backend: Send + Sync + 'static {
    /// A connection with an open transaction.
    type Conn: Connection;

    /// A space that was used in this process.
    type Open: Send + Sync + 'static;

    /// Whether reads are answered soon: from a file, and not by a server.
    const LOCAL: bool = true;

    /// What makes words of a text.
    fn analyser(&self) -> &Arc<Analyser>;

    /// A space, whether or not something was ever written to it.
    fn open(&self, tenant: &Tenant, space: &Space) -> Arc<Self::Open>;

    /// Which space it is.
    fn space_of(open: &Self::Open) -> &Space;

    /// Where it lies, for errors and stamps.
    fn place_of(open: &Self::Open) -> &Path;

    /// Whether the space is there.
    fn exists(&self, open: &Self::Open) -> Result<bool>;

    /// The spaces of a tenant that may have a job of these kinds to give.
    fn with_jobs(&self, tenant: &Tenant, kinds: &[JobKind], now: Timestamp) -> Result<Vec<Space>>;

    /// Reads in one snapshot; none if nothing was ever written there.
    fn read<T>(&self, open: &Self::Open, work: impl FnOnce(&Self::Conn) -> SqlResult<T>) -> Result<Option<T>>;

    /// Whether it was; costs nothing.
    fn is_prepared(&self, tenant: &Tenant, open: &Self::Open) -> bool;

    /// Makes a space that is written to for the first time.
    fn prepare(&self, tenant: &Tenant, open: &Self::Open, at: Timestamp) -> Result<()>;

    /// Runs `work` in a transaction on a space that is there, alone, and waits until it is durable. It
    /// may be run again if the first transaction did not come to its end.
    fn write<T: Send + 'static>(
        &self,
        open: &Self::Open,
        work: impl FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send;

    /// Like [`Backend::write`], for work that takes long (restore, erasure): it holds up no other space.
    fn write_long<T: Send + 'static>(
        &self,
        open: &Self::Open,
        work: impl FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.write(open, work)
    }

    /// Whether that was noted; costs nothing.
    fn is_noted(&self, tenant: &Tenant, open: &Self::Open) -> bool;

    /// Notes that something was written to a space.
    fn note_written(&self, tenant: &Tenant, open: &Self::Open) -> Result<()>;

    /// Asks the catalogue if it answers in microseconds, so that a thread that may block is not worth waking; else the
    /// work is given back.
    fn try_read_catalogue<T, W>(&self, work: W) -> std::result::Result<Result<T>, W>
    where
        W: FnOnce(&dyn Connection) -> SqlResult<T>,
    {
        Err(work)
    }

    /// Asks the catalogue.
    fn read_catalogue<T>(&self, work: impl FnOnce(&dyn Connection) -> SqlResult<T>) -> Result<T>;

    /// Changes the catalogue in one transaction.
    fn write_catalogue<T>(&self, work: impl FnOnce(&dyn Connection) -> SqlResult<T>) -> Result<T>;

    /// The best matches of these terms within the clause, best first, scored by BM25.
    fn lexical(
        &self,
        open: &Self::Open,
        connection: &Self::Conn,
        clause: &Clause,
        terms: &[String],
        limit: usize,
    ) -> SqlResult<Vec<Hit>>;

    /// How often each term occurs in the scopes of the clause.
    fn frequencies(
        &self,
        open: &Self::Open,
        connection: &Self::Conn,
        clause: &Clause,
        terms: &[String],
    ) -> SqlResult<Frequencies>;

    /// What stands around these memories, within the clause.
    fn turn_runs(
        &self,
        open: &Self::Open,
        connection: &Self::Conn,
        clause: &Clause,
        ids: &[MemoryId],
        reach: usize,
    ) -> SqlResult<Vec<TurnRun>> {
        turn_runs::turn_runs(connection, Self::place_of(open), clause, ids, reach, turn_runs::Turns::Query)
    }

    /// The nearest within the clause, best first, scored by `max(0, cosine)`.
    fn nearest(
        &self,
        open: &Self::Open,
        connection: &Self::Conn,
        clause: &Clause,
        vector: &Vector,
        limit: usize,
    ) -> SqlResult<Vec<Hit>>;

    /// Leaves nothing of what was removed from a tenant's spaces in freed pages, words and logs. None: it is done;
    /// otherwise what may be left, and why.
    fn scrub(&self, tenant: &Tenant) -> Result<Option<String>>;

    /// What a space takes on disk.
    fn bytes(&self, open: &Self::Open) -> Result<u64>;

    /// Takes work that only one may do.
    fn lease(&self, tenant: &Tenant, name: &str, holder: &str, now: Timestamp, lease: Duration) -> Result<bool>;

    /// Gives such work back.
    fn release(&self, tenant: &Tenant, name: &str, holder: &str) -> Result<()>;

    /// Takes a space away with everything in it, and the agent or the pool whose it is; false if there was none.
    fn drop_space(&self, tenant: &Tenant, open: &Self::Open) -> Result<bool>;

    /// A name that no other store has.
    fn identity(&self) -> Result<String>;

    /// What it is, if it can be read.
    fn health(&self) -> Result<StoreHealth>;

    /// A number that grows whenever something may have been written, by whichever process; none: it is not told.
    fn change_signal(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Looks for damage in everything that is visible, and mends what it can if told to.
    fn examine(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>>;
}

/// Runs work that waits for a database where it does not hold up others.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    finished(tokio::task::spawn_blocking(work).await)
}

/// The result of such work. A panic goes on in the caller.
pub(crate) fn finished<T>(done: std::result::Result<Result<T>, tokio::task::JoinError>) -> Result<T> {
    match done {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::Closed),
        },
    }
}
