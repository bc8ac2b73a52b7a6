//! The interface of a database that stores spaces.
//!
//! A backend opens spaces and runs transactions on them, searches words, vectors and turn runs, and manages leases.
//! Everything else is SQL that all backends share.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{JobKind, MemoryId, Space, Tenant, Vector, Visible};
use tokio::sync::watch;

use super::clause::Clause;
use super::{Connection, SqlResult, turn_runs};
use crate::text::Analyser;
use crate::{Error, Finding, Frequencies, Hit, Result, StoreHealth, TurnRun};

/// A database with spaces. All methods except the asynchronous writes may block.
pub(crate) trait Backend: Send + Sync + 'static {
    /// A connection with an open transaction.
    type Conn: Connection;

    /// A handle to a space.
    type Open: Send + Sync + 'static;

    /// The lasting name of the store: see [`VectorSource::store_id`](crate::VectorSource::store_id).
    fn store_id(&self) -> Result<String>;

    /// Whether reads come from local files and not from a server.
    const LOCAL: bool = true;

    /// The analyser that splits texts into terms.
    fn analyser(&self) -> &Arc<Analyser>;

    /// The handle of a space, whether or not it exists.
    fn open(&self, tenant: &Tenant, space: &Space) -> Arc<Self::Open>;

    /// The space of a handle.
    fn space_of(open: &Self::Open) -> &Space;

    /// A path that identifies the space in errors and stamps.
    fn place_of(open: &Self::Open) -> &Path;

    /// Whether the space exists.
    fn exists(&self, open: &Self::Open) -> Result<bool>;

    /// The spaces of a tenant that may have a free job of these kinds.
    fn with_jobs(&self, tenant: &Tenant, kinds: &[JobKind], now: Timestamp) -> Result<Vec<Space>>;

    /// Reads in one snapshot; none if nothing was ever written to the space.
    fn read<T>(&self, open: &Self::Open, work: impl FnOnce(&Self::Conn) -> SqlResult<T>) -> Result<Option<T>>;

    /// Whether the space is known to be prepared. Needs no query.
    fn is_prepared(&self, tenant: &Tenant, open: &Self::Open) -> bool;

    /// Creates a space before the first write to it.
    fn prepare(&self, tenant: &Tenant, open: &Self::Open, at: Timestamp) -> Result<()>;

    /// Runs `work` in an exclusive transaction on an existing space and waits until it is durable. `work` may run again
    /// if the first transaction was not committed.
    fn write<T: Send + 'static>(
        &self,
        open: &Self::Open,
        work: impl FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send;

    /// Like [`Backend::write`], for long work (restore, erasure): it does not block the writers of other spaces.
    fn write_long<T: Send + 'static>(
        &self,
        open: &Self::Open,
        work: impl FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.write(open, work)
    }

    /// Whether a write to the space is known to be noted in the catalogue. Needs no query.
    fn is_noted(&self, tenant: &Tenant, open: &Self::Open) -> bool;

    /// Notes in the catalogue that the space was written to.
    fn note_written(&self, tenant: &Tenant, open: &Self::Open) -> Result<()>;

    /// Reads the catalogue if that takes microseconds, so that no blocking thread is needed; otherwise returns `work`
    /// as the error.
    fn try_read_catalogue<T, W>(&self, work: W) -> std::result::Result<Result<T>, W>
    where
        W: FnOnce(&dyn Connection) -> SqlResult<T>,
    {
        Err(work)
    }

    /// Reads the catalogue.
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

    /// The turn runs around these memories, within the clause.
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

    /// The memories nearest to a vector within the clause, best first, scored by `max(0, cosine)`.
    fn nearest(
        &self,
        open: &Self::Open,
        connection: &Self::Conn,
        clause: &Clause,
        vector: &Vector,
        limit: usize,
    ) -> SqlResult<Vec<Hit>>;

    /// Removes content that was just deleted from the log of a space, without waiting. Returns false if the log could not
    /// be emptied because it is being read or written. A server keeps its log for itself: see `scrub`.
    fn empty_log(&self, _open: &Self::Open) -> Result<bool> {
        Ok(true)
    }

    /// Removes deleted content of a tenant's spaces from free pages, terms and logs. Returns none if nothing is left;
    /// otherwise what may be left, and why.
    fn scrub(&self, tenant: &Tenant) -> Result<Option<String>>;

    /// The size of a space on disk, in bytes.
    fn bytes(&self, open: &Self::Open) -> Result<u64>;

    /// Takes or renews a lease. Returns false if another holder has it.
    fn lease(&self, tenant: &Tenant, name: &str, holder: &str, now: Timestamp, lease: Duration) -> Result<bool>;

    /// Releases a lease.
    fn release(&self, tenant: &Tenant, name: &str, holder: &str) -> Result<()>;

    /// Removes a space with its content, and the agent or pool it belongs to. Returns false if there was none.
    fn drop_space(&self, tenant: &Tenant, open: &Self::Open) -> Result<bool>;

    /// A name that identifies this store.
    fn identity(&self) -> Result<String>;

    /// Name, version and state of the database; fails if it cannot be read.
    fn health(&self) -> Result<StoreHealth>;

    /// Number of connections that are in use; none if the backend has no pool.
    fn busy_connections(&self) -> Option<usize> {
        None
    }

    /// A number that grows whenever any process may have written; none if the backend does not report writes.
    fn change_signal(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Looks for damage in everything that is visible, and repairs it if `repair` is set.
    fn examine(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>>;
}

/// Runs blocking work on a thread of the blocking pool.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    finished(tokio::task::spawn_blocking(work).await)
}

/// The result of such work. A panic is resumed in the caller.
pub(crate) fn finished<T>(done: std::result::Result<Result<T>, tokio::task::JoinError>) -> Result<T> {
    match done {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::Closed),
        },
    }
}
