//! Short calls on a store for tests. A call that fails panics with the error.

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use loci_store::{Applied, LedgerQuery, Measure, Page, Result, Store};
use loci_types::{Action, Entity, EntityId, Filter, LedgerEntry, Memory, MemoryId, Relation, Scope, Space, Visible};

use crate::samples::{addition, at, batch, change, edge, entity, everything, memory, now, vector, whole};

/// A store with a clock that advances one second per change, and ids with the same numbers.
pub struct Driver<'a> {
    /// The store.
    pub store: &'a dyn Store,
    tick: AtomicU64,
}

impl<'a> Driver<'a> {
    /// Makes a driver with the clock at its start.
    pub fn on(store: &'a dyn Store) -> Self {
        Self::from(store, 0)
    }

    /// Makes a driver whose clock and ids start at `tick`, so that two drivers do not use the same ids.
    pub fn from(store: &'a dyn Store, tick: u64) -> Self {
        Self { store, tick: AtomicU64::new(tick) }
    }

    /// Advances the clock and returns the next number, for an id and its time.
    pub fn next(&self) -> u64 {
        self.tick.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the present time of the clock.
    pub fn clock(&self) -> Timestamp {
        at(self.tick.load(Ordering::Relaxed) as i64)
    }

    /// Makes a memory with the next number, without storing it.
    pub fn sample(&self, scope: &Scope, text: &str) -> Memory {
        memory(self.next(), scope, text)
    }

    /// Stores a text with its vector.
    pub async fn remember(&self, scope: &Scope, text: &str) -> MemoryId {
        self.keep(self.sample(scope, text)).await
    }

    /// Stores a memory with its vector.
    pub async fn keep(&self, memory: Memory) -> MemoryId {
        let (id, space) = (memory.id, space_of(&memory));
        self.must(&space, Action::Add(Box::new(addition(memory)))).await;
        id
    }

    /// Stores a text that supersedes an older memory.
    pub async fn replace(&self, old: MemoryId, scope: &Scope, text: &str) -> MemoryId {
        let new = self.sample(scope, text);
        let id = new.id;
        self.must(&scope.space(), Action::Supersede { old, new: Box::new(addition(new)) }).await;
        id
    }

    /// Soft-deletes a memory, with a purge time far in the future.
    pub async fn forget(&self, scope: &Scope, id: MemoryId) -> Applied {
        self.must(&scope.space(), Action::Forget { id, expect: None, purge_at: at(50_000) }).await
    }

    /// Adds a link.
    pub async fn link(&self, scope: &Scope, source: MemoryId, target: MemoryId, relation: Relation) -> Applied {
        let edge = edge(self.next(), source, target, relation);
        self.must(&scope.space(), Action::Link(edge)).await
    }

    /// Adds an entity.
    pub async fn name(&self, scope: &Scope, name: &str, aliases: &[&str]) -> Entity {
        let entity = entity(self.next(), name, aliases);
        self.must(&scope.space(), name_in(scope, entity.clone())).await;
        entity
    }

    /// Records that a memory mentions an entity.
    pub async fn mention(&self, scope: &Scope, memory: MemoryId, entity: EntityId) -> Applied {
        self.must(&scope.space(), Action::Mention { memory, entity, counted: true }).await
    }

    /// Applies one change to a space.
    pub async fn act(&self, space: &Space, action: Action) -> Result<Applied> {
        self.next();
        let applied = self.store.apply(batch(space, vec![change(self.clock(), action)])).await?;
        assert_eq!(applied.len(), 1, "one outcome per change");
        Ok(applied[0])
    }

    /// Applies one change that must succeed.
    pub async fn must(&self, space: &Space, action: Action) -> Applied {
        match self.act(space, action).await {
            Ok(applied) => applied,
            Err(error) => panic!("refused: {error}"),
        }
    }

    /// Returns the memory, read with full visibility.
    pub async fn get(&self, id: MemoryId) -> Option<Memory> {
        good(self.store.fetch(&whole(), &[id]).await).into_iter().next()
    }

    /// Returns the memory, which must exist.
    pub async fn must_get(&self, id: MemoryId) -> Memory {
        match self.get(id).await {
            Some(memory) => memory,
            None => panic!("memory {id} is not there"),
        }
    }

    /// Returns the results of a scan, newest first.
    pub async fn scan(&self, visible: &Visible, filter: &Filter) -> Vec<MemoryId> {
        let listing = good(self.store.scan(visible, filter, Page { after: None, limit: 10_000 }).await);
        assert_eq!(listing.total, listing.memories.len() as u64, "the total of a listing of one page");
        assert_eq!(listing.next, None);
        let count = good(self.store.count(visible, filter).await);
        assert_eq!(count, listing.total, "the count of what a listing holds");
        listing.memories.iter().map(|memory| memory.id).collect()
    }

    /// Returns the results of a keyword search, best first.
    pub async fn words(&self, visible: &Visible, query: &str, filter: &Filter) -> Vec<MemoryId> {
        good(self.store.lexical(visible, query, filter, 10_000).await).into_iter().map(|hit| hit.id).collect()
    }

    /// Returns the results of a vector search, best first.
    pub async fn near(&self, visible: &Visible, text: &str, filter: &Filter) -> Vec<MemoryId> {
        good(self.store.nearest(visible, &vector(text), filter, 10_000).await).into_iter().map(|hit| hit.id).collect()
    }

    /// Returns the results ordered by a measure.
    pub async fn top_by(&self, visible: &Visible, filter: &Filter, by: Measure) -> Vec<MemoryId> {
        good(self.store.top_by(visible, filter, by, 10_000).await).into_iter().map(|hit| hit.id).collect()
    }

    /// Returns the sorted results of each way to search. They must agree if each memory contains the word and has a
    /// vector.
    pub async fn lanes(&self, visible: &Visible, word: &str, filter: &Filter) -> [(&'static str, Vec<MemoryId>); 5] {
        let mut lanes = [
            ("scan", self.scan(visible, filter).await),
            ("lexical", self.words(visible, word, filter).await),
            ("nearest", self.near(visible, word, filter).await),
            ("newest", self.top_by(visible, filter, Measure::Newest).await),
            ("importance", self.top_by(visible, filter, Measure::Importance).await),
        ];
        lanes.iter_mut().for_each(|(_, lane)| lane.sort());
        lanes
    }

    /// Asserts that each way to search finds exactly these memories with the default filter.
    pub async fn sees(&self, visible: &Visible, word: &str, expect: &[MemoryId]) {
        self.sees_with(visible, word, &now(), expect).await;
    }

    /// Asserts that each way to search finds exactly these memories.
    pub async fn sees_with(&self, visible: &Visible, word: &str, filter: &Filter, expect: &[MemoryId]) {
        let mut expect = expect.to_vec();
        expect.sort();
        for (name, lane) in self.lanes(visible, word, filter).await {
            assert_eq!(lane, expect, "{name}");
        }
    }

    /// Returns the number of memories in any state.
    pub async fn count(&self, visible: &Visible) -> usize {
        self.scan(visible, &everything()).await.len()
    }
}

/// Returns the action that adds an entity to a scope.
pub fn name_in(scope: &Scope, entity: Entity) -> Action {
    Action::Name { scope: scope.clone(), entity: Box::new(entity) }
}

/// Returns the space of a memory.
pub fn space_of(memory: &Memory) -> Space {
    match memory.scope() {
        Ok(scope) => scope.space(),
        Err(error) => panic!("a sample has no scope: {error}"),
    }
}

/// Returns the value, or panics with the error.
pub fn good<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the store failed: {error:?}"),
    }
}

/// Returns one ledger entry of a space, if it is visible.
pub async fn line(store: &dyn Store, visible: &Visible, space: &Space, sequence: Option<i64>) -> Option<LedgerEntry> {
    let sequence = sequence?;
    let before = LedgerQuery::After { space: space.clone(), sequence: sequence - 1 };
    good(store.ledger(visible, &before, 1).await).entries.pop().filter(|line| line.sequence == sequence)
}
