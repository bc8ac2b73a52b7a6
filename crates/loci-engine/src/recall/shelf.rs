//! Which readings are at hand?
//!
//! Readings are kept by the memory's id and stamp, so that a changed memory is read anew and an
//! unchanged one never twice. The least recently used go first when the bytes run out.

use std::collections::HashMap;
use std::sync::Arc;

use loci_store::Strip;
use loci_types::{MemoryId, Visible};
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use super::pool::Pool;
use super::reading::Reading;
use crate::{Engine, Result};

/// Readings that are kept in memory.
#[derive(Debug)]
pub(crate) struct Shelf {
    readings: Cache<(MemoryId, u64), Arc<Reading>>,
}

impl Shelf {
    /// A shelf for so many bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        let weigh = |_: &(MemoryId, u64), reading: &Arc<Reading>| u32::try_from(reading.bytes()).unwrap_or(u32::MAX);
        let readings = Cache::builder()
            .max_capacity(bytes)
            .weigher(weigh)
            .eviction_policy(EvictionPolicy::lru())
            .support_invalidation_closures();
        Self { readings: readings.build() }
    }

    /// Lets go of everything.
    pub(crate) fn clear(&self) {
        self.readings.invalidate_all();
    }

    /// Lets go of what was read of a memory.
    pub(crate) fn forget(&self, id: MemoryId) {
        // It fails only where closures are not supported, and here they are.
        drop(self.readings.invalidate_entries_if(move |(held, _), _| *held == id));
    }
}

impl Engine {
    /// The pool of these strips, read from the shelf or from the store.
    pub(crate) async fn read_pool(&self, visible: &Visible, strips: &[Strip]) -> Result<Pool> {
        let mut read: HashMap<MemoryId, Arc<Reading>> = HashMap::new();
        let mut missing = Vec::new();
        for place in strips.iter().flat_map(|strip| &strip.places) {
            match self.shelf.readings.get(&(place.id, place.stamp)) {
                Some(reading) => drop(read.insert(place.id, reading)),
                None => missing.push(*place),
            }
        }
        if !missing.is_empty() {
            let ids: Vec<MemoryId> = missing.iter().map(|place| place.id).collect();
            let memories = self.store.fetch(visible, &ids).await?;
            let mut vectors: HashMap<MemoryId, _> = match self.model() {
                Some(model) => self.store.vectors(visible, &model.name, &ids).await?.into_iter().collect(),
                None => HashMap::new(),
            };
            let stamps: HashMap<MemoryId, u64> = missing.iter().map(|place| (place.id, place.stamp)).collect();
            for memory in memories {
                let reading = Arc::new(Reading::new(&self.analyser, &memory, vectors.remove(&memory.id)));
                self.shelf.readings.insert((memory.id, stamps[&memory.id]), reading.clone());
                read.insert(memory.id, reading);
            }
        }
        let mut pool = Pool::default();
        let mut sessions: HashMap<u64, usize> = HashMap::new();
        for strip in strips {
            let next = sessions.len();
            let session = *sessions.entry(strip.session).or_insert(next);
            let run = strip.places.iter();
            pool.push(
                session,
                run.filter_map(|place| Some((read.get(&place.id)?.clone(), place.access_count))).collect(),
            );
        }
        Ok(pool)
    }
}
