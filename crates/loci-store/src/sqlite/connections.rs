//! Connection pools that limit the open connections over all spaces of a store.
//!
//! A connection needs two file descriptors and the shared memory of a file one more, so [`Limits`] keeps a store with
//! any number of spaces below 512 descriptors, and below what the process may open. Idle connections are closed in the
//! order of their last use. The last connection of a file to close checkpoints the log into the file and removes it.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::cipher::Cipher;
use super::file::FileId;
use super::schema;
use crate::{Error, Result};

/// Maximum numbers of connections. Write connections in use are limited by the number of writer threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Limits {
    /// Read connections to spaces, idle or in use.
    pub(super) readers: usize,
    pub(super) idle_readers: usize,
    pub(super) idle_writers: usize,
    /// Read connections to the catalogue, idle or in use.
    pub(super) catalogue_readers: usize,
    pub(super) idle_catalogue_readers: usize,
}

impl Limits {
    /// The limits of a process that may open enough files.
    const FULL: Self =
        Self { readers: 96, idle_readers: 64, idle_writers: 32, catalogue_readers: 16, idle_catalogue_readers: 4 };

    /// The limits of this process.
    pub(super) fn of_this_process() -> Self {
        #[cfg(unix)]
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        #[cfg(not(unix))]
        let files = None::<u64>;
        files.map_or(Self::FULL, |files| Self::for_files(usize::try_from(files).unwrap_or(usize::MAX)))
    }

    /// The limits of a process that may open this number of files: its share of [`Limits::FULL`], which needs 512.
    /// 64 files are left to sockets and other things.
    fn for_files(files: usize) -> Self {
        let share = |full: usize, least: usize| (full * (files.clamp(64, 512) - 64) / 448).max(least);
        Self {
            readers: share(Self::FULL.readers, 2),
            idle_readers: share(Self::FULL.idle_readers, 1),
            idle_writers: share(Self::FULL.idle_writers, 1),
            catalogue_readers: share(Self::FULL.catalogue_readers, 2),
            idle_catalogue_readers: share(Self::FULL.idle_catalogue_readers, 1),
        }
    }
}

/// How long a read waits for a connection while all are in use.
const WAIT: Duration = Duration::from_secs(10);

/// An idle connection.
struct Idle {
    path: Arc<PathBuf>,
    file: FileId,
    connection: Connection,
}

/// The pool of read connections.
pub(super) struct ReadPool {
    /// Maximum number of readers, idle or in use.
    max_open: usize,
    /// Maximum number of idle readers.
    max_idle: usize,
    cipher: Cipher,
    state: Mutex<Readers>,
    returned: Condvar,
}

#[derive(Default)]
struct Readers {
    /// Idle connections, the least recently used first.
    idle: Vec<Idle>,
    /// Number of connections, idle and in use.
    open: usize,
    /// Number of calls that wait for a connection. Without any nobody is woken, which would be a system call.
    waiting: usize,
    /// Number of calls of [`ReadPool::close`]. A reader that was taken before the last one is kept only if its file is
    /// still the one at its path.
    closings: u64,
}

impl ReadPool {
    pub(super) fn new(max_open: usize, max_idle: usize, cipher: Cipher) -> Self {
        Self { max_open, max_idle, cipher, state: Mutex::default(), returned: Condvar::new() }
    }

    /// Takes an idle reader of this file, if there is one. Does not wait.
    pub(super) fn take_idle(self: &Arc<Self>, path: &Arc<PathBuf>, file: FileId) -> Option<Reader> {
        let mut state = self.state.try_lock().ok()?;
        let connection = state.take_idle(path, file)?;
        Some(Reader { connection, permit: self.permit(path, file, state.closings), is_new: false })
    }

    /// Takes a reader of this file. Waits up to [`WAIT`] while all are in use, then fails with [`Error::Busy`].
    pub(super) fn take(self: &Arc<Self>, path: &Arc<PathBuf>, file: FileId) -> Result<Reader> {
        let deadline = Instant::now() + WAIT;
        let mut closed = Vec::new();
        let mut state = self.lock();
        let closings = loop {
            if let Some(connection) = state.take_idle(path, file) {
                return Ok(Reader { connection, permit: self.permit(path, file, state.closings), is_new: false });
            }
            // Other idle readers of this path belong to a file that was replaced.
            closed.extend(state.close_idle(path));
            if state.open >= self.max_open && !state.idle.is_empty() {
                closed.push(state.idle.remove(0));
                state.open -= 1;
            }
            if state.open < self.max_open {
                state.open += 1;
                break state.closings;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Busy { path: path.to_path_buf() });
            }
            state.waiting += 1;
            state = self.returned.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        };
        drop(state);
        let permit = self.permit(path, file, closings);
        // Closing may run a checkpoint and opening reads the file, so neither happens under the lock.
        drop(closed);
        let connection = schema::open_reader(path, &self.cipher)?;
        Ok(Reader { connection, permit, is_new: true })
    }

    /// How the files are opened.
    pub(super) fn cipher(&self) -> &Cipher {
        &self.cipher
    }

    /// Closes the idle readers of a file; those in use are closed when they are given back, if the file was replaced.
    pub(super) fn close(&self, path: &Path) {
        let mut state = self.lock();
        let closed = state.close_idle(path);
        state.closings += 1;
        self.returned.notify_all();
        drop(state);
        drop(closed);
    }

    fn permit(self: &Arc<Self>, path: &Arc<PathBuf>, file: FileId, closings: u64) -> Permit {
        Permit { pool: self.clone(), path: path.clone(), file, closings, passed_on: false }
    }

    fn wake_one(&self, state: &Readers) {
        if state.waiting > 0 {
            self.returned.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Readers> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Readers {
    /// Removes and returns the most recently used reader of a file.
    fn take_idle(&mut self, path: &Path, file: FileId) -> Option<Connection> {
        let place = self.idle.iter().rposition(|idle| idle.file == file && idle.path.as_path() == path)?;
        Some(self.idle.remove(place).connection)
    }

    /// Removes and returns the idle readers of a path, to be closed.
    fn close_idle(&mut self, path: &Path) -> Vec<Idle> {
        let closed: Vec<_> = self.idle.extract_if(.., |idle| idle.path.as_path() == path).collect();
        self.open -= closed.len();
        closed
    }
}

/// A read connection in use. It is closed when it is dropped, unless it is given back.
pub(super) struct Reader {
    connection: Connection,
    permit: Permit,
    is_new: bool,
}

impl Reader {
    /// Whether it was opened by this call and not taken from the pool.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Returns the connection to the pool.
    pub(super) fn give_back(self) {
        let Self { connection, mut permit, .. } = self;
        let pool = permit.pool.clone();
        let mut state = pool.lock();
        if state.closings != permit.closings && FileId::of(&permit.path) != Some(permit.file) {
            return;
        }
        state.idle.push(Idle { path: permit.path.clone(), file: permit.file, connection });
        permit.passed_on = true;
        let closed = (state.idle.len() > pool.max_idle).then(|| state.idle.remove(0));
        state.open -= usize::from(closed.is_some());
        pool.wake_one(&state);
        drop(state);
        drop(closed);
    }
}

impl Deref for Reader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

/// A permit to have one reader open.
struct Permit {
    pool: Arc<ReadPool>,
    path: Arc<PathBuf>,
    file: FileId,
    closings: u64,
    /// Whether the permit belongs to an idle reader now.
    passed_on: bool,
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.passed_on {
            let mut state = self.pool.lock();
            state.open -= 1;
            self.pool.wake_one(&state);
        }
    }
}

/// The pool of write connections.
pub(super) struct WritePool {
    max_idle: usize,
    cipher: Cipher,
    /// Idle connections, the least recently used first.
    idle: Mutex<Vec<Idle>>,
}

impl WritePool {
    pub(super) fn new(max_idle: usize, cipher: Cipher) -> Self {
        Self { max_idle, cipher, idle: Mutex::default() }
    }

    /// Takes the write connection of a space out of the pool; opens one if there is none or the file was replaced.
    pub(super) fn take(&self, path: &Path) -> Result<(FileId, Connection)> {
        if let Some(idle) = self.remove(path)
            && FileId::of(path) == Some(idle.file)
        {
            return Ok((idle.file, idle.connection));
        }
        let connection = schema::open(path, schema::SPACE, &self.cipher)?;
        // The statement journals of savepoints stay in memory; by default they spill to a file beyond 64 KiB.
        connection.pragma_update(None, "temp_store", "MEMORY").map_err(|error| Error::sqlite(path, error))?;
        // The space was dropped while its file was opened.
        let file = FileId::of(path).ok_or_else(|| Error::Busy { path: path.to_owned() })?;
        Ok((file, connection))
    }

    /// Returns a connection to the pool and closes the least recently used one if there are too many. A connection
    /// whose file was removed or replaced is closed instead.
    pub(super) fn give_back(&self, path: &Arc<PathBuf>, file: FileId, connection: Connection) {
        if FileId::of(path) != Some(file) {
            return;
        }
        let mut idle = self.lock();
        idle.push(Idle { path: path.clone(), file, connection });
        let closed = (idle.len() > self.max_idle).then(|| idle.remove(0));
        drop(idle);
        drop(closed);
    }

    /// Closes the connection of a space.
    pub(super) fn close(&self, path: &Path) {
        drop(self.remove(path));
    }

    /// Closes all connections.
    pub(super) fn close_all(&self) {
        let closed = std::mem::take(&mut *self.lock());
        drop(closed);
    }

    /// Whether there is an idle connection to this space.
    pub(super) fn is_open(&self, path: &Path) -> bool {
        self.lock().iter().any(|idle| idle.path.as_path() == path)
    }

    /// How the files are opened.
    pub(super) fn cipher(&self) -> &Cipher {
        &self.cipher
    }

    fn remove(&self, path: &Path) -> Option<Idle> {
        let mut idle = self.lock();
        let place = idle.iter().rposition(|idle| idle.path.as_path() == path)?;
        Some(idle.remove(place))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn a_process_that_may_open_few_files_keeps_few_connections() {
        let readers = |files| {
            let limits = Limits::for_files(files);
            (limits.readers, limits.idle_readers, limits.idle_writers)
        };
        assert_eq!(Limits::for_files(512), Limits::FULL);
        assert_eq!(Limits::for_files(1 << 30), Limits::FULL);
        assert_eq!(readers(256), (41, 27, 13));
        assert_eq!(readers(64), (2, 1, 1));
        assert_eq!(readers(0), (2, 1, 1));
    }
}
