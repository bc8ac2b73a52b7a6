//! The table of cached scopes, with their bytes and their last use.
//!
//! **Invariant.** `bytes` is the sum of the bytes of all slots and tails, and after [`ScopeTable::charge`] it is within the
//! limit unless the charged scope alone exceeds it. An evicted scope that a query still uses is freed when that query
//! ends.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use super::super::file::FileId;
use super::scope::CachedScope;
use super::tail::Tail;

/// A cached scope behind its lock. Loading and updating happen under the write lock, so that concurrent first queries
/// load a scope once.
#[derive(Default)]
pub(super) struct ScopeEntry {
    pub(super) cached: RwLock<CachedScope>,
    last_used: AtomicU64,
}

/// Bytes of an entry without its parts: the entry, its slot, and the counters of its `Arc`.
const ENTRY_BYTES: usize = size_of::<ScopeEntry>() + 2 * size_of::<(i64, ScopeSlot)>() + 16;

struct ScopeSlot {
    entry: Arc<ScopeEntry>,
    bytes: usize,
}

/// The cached scopes of one file.
#[derive(Default)]
struct CachedFile {
    tail: Arc<Mutex<Tail>>,
    tail_bytes: usize,
    scopes: HashMap<i64, ScopeSlot>,
}

/// All cached scopes of the process.
#[derive(Default)]
pub(super) struct ScopeTable {
    files: HashMap<FileId, CachedFile>,
    bytes: usize,
    clock: u64,
}

impl ScopeTable {
    /// The entries of these scopes, now the most recently used, with the ledger tail of their file.
    pub(super) fn entries(&mut self, file: FileId, scopes: &[i64]) -> (Arc<Mutex<Tail>>, Vec<Arc<ScopeEntry>>) {
        self.clock += 1;
        let cached = self.files.entry(file).or_default();
        let (bytes, clock) = (&mut self.bytes, self.clock);
        let mut entry = |scope: &i64| {
            let slot = cached.scopes.entry(*scope).or_insert_with(|| {
                *bytes += ENTRY_BYTES;
                ScopeSlot { entry: Arc::default(), bytes: ENTRY_BYTES }
            });
            slot.entry.last_used.store(clock, Ordering::Relaxed);
            Arc::clone(&slot.entry)
        };
        let entries = scopes.iter().map(&mut entry).collect();
        (Arc::clone(&cached.tail), entries)
    }

    /// Sets the bytes of a scope and evicts others, least recently used first, until all are within the limit. Does
    /// nothing if the entry was evicted meanwhile.
    pub(super) fn charge(&mut self, file: FileId, scope: i64, entry: &Arc<ScopeEntry>, bytes: usize, bound: usize) {
        let slot = self.files.get_mut(&file).and_then(|cached| cached.scopes.get_mut(&scope));
        let Some(slot) = slot.filter(|slot| Arc::ptr_eq(&slot.entry, entry)) else { return };
        let before = std::mem::replace(&mut slot.bytes, ENTRY_BYTES + bytes);
        self.bytes = self.bytes - before + ENTRY_BYTES + bytes;
        if self.bytes > bound {
            self.evict(bound, (file, scope));
        }
    }

    /// Sets the bytes of a file's ledger tail.
    pub(super) fn charge_tail(&mut self, file: FileId, bytes: usize) {
        if let Some(cached) = self.files.get_mut(&file) {
            self.bytes = self.bytes - std::mem::replace(&mut cached.tail_bytes, bytes) + bytes;
        }
    }

    fn evict(&mut self, bound: usize, keep: (FileId, i64)) {
        // Evicts to slightly below the limit, so that not every load has to sort all entries.
        let target = bound - bound / 16;
        let scopes = |(file, cached): (&FileId, &CachedFile)| -> Vec<(u64, FileId, i64)> {
            let used = |slot: &ScopeSlot| slot.entry.last_used.load(Ordering::Relaxed);
            cached.scopes.iter().map(|(scope, slot)| (used(slot), *file, *scope)).collect()
        };
        let mut order: Vec<_> = self.files.iter().flat_map(scopes).collect();
        order.retain(|(_, file, scope)| (*file, *scope) != keep);
        order.sort_unstable_by_key(|(used, ..)| *used);
        for (_, file, scope) in order {
            if self.bytes <= target {
                break;
            }
            self.remove(file, scope);
        }
    }

    /// Removes a scope, and with the last scope of a file its tail.
    fn remove(&mut self, file: FileId, scope: i64) {
        let Some(cached) = self.files.get_mut(&file) else { return };
        self.bytes -= cached.scopes.remove(&scope).map_or(0, |slot| slot.bytes);
        if cached.scopes.is_empty() {
            self.remove_file(file);
        }
    }

    /// Removes an entry whose lock is poisoned: a panic left it half changed.
    pub(super) fn discard(&mut self, file: FileId, scope: i64, entry: &Arc<ScopeEntry>) {
        let slot = self.files.get(&file).and_then(|cached| cached.scopes.get(&scope));
        if slot.is_some_and(|slot| Arc::ptr_eq(&slot.entry, entry)) {
            self.remove(file, scope);
        }
    }

    /// Removes all entries of a file.
    pub(super) fn remove_file(&mut self, file: FileId) {
        let Some(cached) = self.files.remove(&file) else { return };
        self.bytes -= cached.tail_bytes + cached.scopes.values().map(|slot| slot.bytes).sum::<usize>();
    }

    /// Number of cached bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a scope is cached.
    #[cfg(test)]
    pub(super) fn contains(&self, file: FileId, scope: i64) -> bool {
        self.files.get(&file).is_some_and(|cached| cached.scopes.contains_key(&scope))
    }
}
