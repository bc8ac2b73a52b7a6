//! Keeps vectors, terms and turn order of scopes in memory and applies new ledger entries before each read.
//!
//! Each store has one cache, keyed by the file of a space and the number of a scope, with a limit on its bytes and
//! least-recently-used eviction. The cache only proposes rows; the clause decides in the snapshot of the query. A
//! scope, or a part of one, that does not fit within the limit is read from the file.
//!
//! **Invariants.** Concurrent queries load a scope once. A reader of a replaced file never changes the cache entries of
//! its successor, because the key is the file that the connection itself reads. An entry that a panic or an error left
//! half changed is never used.

mod scope;
mod table;
mod tail;
mod terms;
#[cfg(test)]
mod tests;
mod turns;
mod vectors;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use rusqlite::Connection;

use self::scope::{CachePart, CachedScope};
use self::table::{ScopeEntry, ScopeTable};
use self::tail::Tail;
use super::file::FileId;
use crate::sql::clause::Clause;

/// The cache of a store.
pub(super) struct ScopeCache {
    /// Maximum number of bytes.
    bound: usize,
    table: Mutex<ScopeTable>,
    loads: AtomicU64,
}

/// The scopes of a query.
struct Scopes<'c> {
    cached: Vec<(i64, &'c CachedScope)>,
    /// Scopes that must be read from the file, because they do not fit within the limit.
    uncached: Vec<i64>,
}

/// The snapshot of a connection: its file and the last ledger entry it sees.
#[derive(Clone, Copy)]
struct Snapshot {
    file: FileId,
    sequence: i64,
}

impl ScopeCache {
    /// An empty cache of at most this number of bytes.
    pub(super) fn new(bound: usize) -> Self {
        Self { bound, table: Mutex::default(), loads: AtomicU64::new(0) }
    }

    /// Number of loads of a part of a scope.
    pub(super) fn loads(&self) -> u64 {
        self.loads.load(Ordering::Relaxed)
    }

    /// Number of cached bytes.
    pub(super) fn bytes(&self) -> usize {
        self.table().bytes()
    }

    /// Removes all entries of a file.
    pub(super) fn forget_file(&self, file: FileId) {
        self.table().remove_file(file);
    }

    /// Runs `work` on these scopes after `part` was loaded and every ledger entry that the connection sees was applied.
    fn with<T>(
        &self,
        connection: &Connection,
        scopes: &[i64],
        part: CachePart,
        work: impl FnOnce(&Scopes<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let (sequence, file) = connection
            .prepare_cached("SELECT coalesce((SELECT max(sequence) FROM ledger), 0), file_id()")?
            .query_row([], |row| Ok((row.get(0)?, FileId::from_value(row.get_ref(1)?)?)))?;
        let snapshot = Snapshot { file, sequence };
        loop {
            let (tail, entries) = self.table().entries(file, scopes);
            let (mut held, mut uncached) = (Vec::with_capacity(scopes.len()), Vec::new());
            // One query uses at most the limit of the cache; scopes beyond it are read from the file.
            let mut room = self.bound;
            for (scope, entry) in scopes.iter().zip(entries) {
                match self.prepare(connection, snapshot, &tail, *scope, &entry, part, room)? {
                    Prepared::Ready(bytes) => {
                        room = room.saturating_sub(bytes);
                        held.push((*scope, entry));
                    }
                    Prepared::Uncached => uncached.push(*scope),
                    Prepared::Poisoned => self.table().discard(file, *scope, &entry),
                }
            }
            if held.len() + uncached.len() < scopes.len() {
                continue;
            }
            // No other lock is held while a scope is loaded, so that a query waits only for its own scopes. Meanwhile a
            // reader of an older snapshot may have set a scope back; then the loop brings it up to date again.
            let guards: Option<Vec<_>> = held
                .iter()
                .map(|(scope, entry)| Some((*scope, entry.cached.read().ok()?)))
                .map(|held| held.filter(|(_, cached)| cached.is_ready(part, sequence)))
                .collect();
            if let Some(guards) = guards {
                let cached = guards.iter().map(|(scope, guard)| (*scope, &**guard)).collect();
                return work(&Scopes { cached, uncached });
            }
        }
    }

    /// Loads a part of a scope if it fits into `room`, and applies new ledger entries.
    #[expect(clippy::too_many_arguments, reason = "a private step of `with`, which has all of them at hand")]
    fn prepare(
        &self,
        connection: &Connection,
        Snapshot { file, sequence }: Snapshot,
        tail: &Mutex<Tail>,
        scope: i64,
        entry: &Arc<ScopeEntry>,
        part: CachePart,
        room: usize,
    ) -> rusqlite::Result<Prepared> {
        match entry.cached.read() {
            Ok(cached) if cached.is_ready(part, sequence) => return Ok(Prepared::Ready(cached.bytes())),
            Ok(_) => {}
            Err(_) => return Ok(Prepared::Poisoned),
        }
        // A query that waits for this lock finds the work done.
        let Ok(mut cached) = entry.cached.write() else { return Ok(Prepared::Poisoned) };
        let change = |cached: &mut CachedScope| -> rusqlite::Result<Prepared> {
            cached.catch_up(connection, scope, sequence, |after| {
                let mut tail = lock(tail);
                let changes = tail.changes(connection, scope, after, sequence);
                self.table().charge_tail(file, tail.bytes());
                changes
            })?;
            if !cached.is_ready(part, sequence) {
                let bytes = cached.plan(connection, scope, part, self.bound)?;
                let Some(bytes) = bytes.filter(|bytes| *bytes <= room) else { return Ok(Prepared::Uncached) };
                // Other scopes are evicted before the load, not after it.
                self.table().charge(file, scope, entry, cached.bytes() + bytes, self.bound);
                self.loads.fetch_add(1, Ordering::Relaxed);
                cached.load(connection, scope, part, sequence)?;
            }
            cached.shrink(self.bound);
            Ok(if cached.is_ready(part, sequence) { Prepared::Ready(cached.bytes()) } else { Prepared::Uncached })
        };
        let prepared = change(&mut cached);
        if prepared.is_err() {
            *cached = CachedScope::default();
        }
        self.table().charge(file, scope, entry, cached.bytes(), self.bound);
        prepared
    }

    fn table(&self) -> MutexGuard<'_, ScopeTable> {
        lock(&self.table)
    }
}

/// The state of a scope before a query.
enum Prepared {
    /// The part is loaded and current; the scope takes this number of bytes.
    Ready(usize),
    /// The part is not cached.
    Uncached,
    /// A panic left the scope half changed.
    Poisoned,
}

/// Locks a value; replaces it by its default if a panic left it half changed.
fn lock<T: Default>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| {
        mutex.clear_poison();
        let mut guard = poisoned.into_inner();
        *guard = T::default();
        guard
    })
}

/// The scopes of a clause; all scopes if it sees the whole space.
fn scopes_of(connection: &Connection, clause: &Clause) -> rusqlite::Result<Vec<i64>> {
    match &clause.scopes {
        Some(scopes) => Ok(scopes.clone()),
        // Ordered like the scopes of a clause: queries that lock several scopes lock them in the same order.
        None => {
            let sql = "SELECT scope FROM scopes ORDER BY scope";
            connection.prepare_cached(sql)?.query_map([], |row| row.get(0))?.collect()
        }
    }
}

/// The rows of scope `?1` in order, as a table `r`. The order makes reads of other tables sequential; the limit keeps
/// SQLite from dropping it.
const ROWS_OF_SCOPE: &str =
    "(SELECT row FROM memories INDEXED BY memories_by_scope WHERE scope = ?1 ORDER BY row LIMIT -1) r";

/// Allocated bytes of a hash map with this capacity.
fn map_bytes<T>(capacity: usize) -> usize {
    match capacity {
        0 => 0,
        capacity => (capacity * 8 / 7).next_power_of_two() * (size_of::<T>() + 1) + 16,
    }
}
