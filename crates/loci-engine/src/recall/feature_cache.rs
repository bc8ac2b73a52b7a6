//! A cache of memory features.
//!
//! Entries are keyed by memory id and valid for one stamp, so features are computed again after a change and only
//! then. A query takes all its entries at once; the least recently used ones are evicted when the byte limit is
//! exceeded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loci_store::TurnRef;
use loci_types::MemoryId;

use super::features::MemoryFeatures;

/// The inverse of the share of entries that is evicted when the cache is full.
const SHARE: usize = 8;

/// A bounded cache of memory features.
#[derive(Debug)]
pub(crate) struct FeatureCache {
    held: Mutex<CacheState>,
    most: u64,
}

#[derive(Debug, Default)]
struct CacheState {
    all_features: HashMap<MemoryId, CacheEntry>,
    bytes: u64,
    /// Number of queries so far.
    clock: u64,
}

#[derive(Debug)]
struct CacheEntry {
    stamp: u64,
    /// The last query that used it.
    used: u64,
    features: Arc<MemoryFeatures>,
}

impl FeatureCache {
    /// A cache of this number of bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        Self { held: Mutex::default(), most: bytes }
    }

    /// Removes all entries.
    pub(crate) fn clear(&self) {
        *self.held() = CacheState::default();
    }

    /// Removes the entry of a memory.
    pub(crate) fn forget(&self, id: MemoryId) {
        let mut held = self.held();
        if let Some(gone) = held.all_features.remove(&id) {
            held.bytes -= gone.features.bytes() as u64;
        }
    }

    /// The cached features of these turns, in their order.
    pub(crate) fn take(&self, places: &[TurnRef]) -> Vec<Option<Arc<MemoryFeatures>>> {
        let mut held = self.held();
        held.clock += 1;
        let clock = held.clock;
        let mut take = |place: &TurnRef| {
            let kept = held.all_features.get_mut(&place.id).filter(|kept| kept.stamp == place.stamp)?;
            kept.used = clock;
            Some(kept.features.clone())
        };
        places.iter().map(&mut take).collect()
    }

    /// Stores features under their stamps, replacing older ones.
    pub(crate) fn put(&self, fresh: impl Iterator<Item = (u64, Arc<MemoryFeatures>)>) {
        let mut held = self.held();
        for (stamp, features) in fresh {
            held.bytes += features.bytes() as u64;
            let kept = CacheEntry { stamp, used: held.clock, features };
            if let Some(old) = held.all_features.insert(kept.features.id, kept) {
                held.bytes -= old.features.bytes() as u64;
            }
        }
        while held.bytes > self.most && !held.all_features.is_empty() {
            held.evict();
        }
    }

    fn held(&self) -> MutexGuard<'_, CacheState> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheState {
    /// Lets go of those that were not used for the longest time.
    fn evict(&mut self) {
        let mut uses: Vec<u64> = self.all_features.values().map(|kept| kept.used).collect();
        let (_, last, _) = uses.select_nth_unstable(self.all_features.len() / SHARE);
        let last = *last;
        self.all_features.retain(|_, kept| kept.used > last);
        self.bytes = self.all_features.values().map(|kept| kept.features.bytes() as u64).sum();
    }
}

#[cfg(test)]
mod tests {
    use loci_testkit::samples::{memory, user};

    use super::*;

    // Coverage: SPEC-7.8.
    #[test]
    fn the_least_used_goes_first() {
        let analyser = loci_store::text::Analyser::default();
        let read = |number: u64| {
            let memory = memory(number, &user("anna"), "a lantern on the table");
            Arc::new(MemoryFeatures::new(&analyser, &memory, false, "", None))
        };
        let place = |number: u64, stamp: u64| TurnRef { id: read(number).id, stamp, access_count: 0 };
        let shelf = FeatureCache::new(read(1).bytes() as u64 * 10);
        for number in 1..=10 {
            shelf.put([(7, read(number))].into_iter());
            assert!(shelf.take(&[place(1, 7)])[0].is_some());
        }
        assert!(shelf.take(&[place(2, 7)])[0].is_some());
        assert!(shelf.take(&[place(2, 8)])[0].is_none(), "another stamp is another reading");
        shelf.put([(7, read(11))].into_iter());
        let held = |number: u64| shelf.take(&[place(number, 7)])[0].is_some();
        assert!(held(1) && held(2) && held(11), "what was used is kept");
        assert!(!held(3), "what was not is not");
        shelf.forget(read(1).id);
        assert!(!held(1));
        shelf.clear();
        assert!(!held(2));
    }
}
