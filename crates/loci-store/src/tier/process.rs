//! A tier in this process.
//!
//! Working memory, sessions and embeddings are in caches that are limited in bytes and in time. What belongs to users is
//! shared fairly ([`FairCache`]); embeddings belong to nobody and are evicted by their last use. Rates are stored
//! separately, so that many entries do not evict them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::Timestamp;
use moka::Expiry;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use super::fair::{FairCache, OwnedKey};
use super::{
    RateDecision, SessionEntry, SessionKey, Tier, TierHealth, TierOptions, TierResult, WorkingEntry, WorkingKey,
};

/// Minimum number of rates at which expired ones are removed.
const SWEEP_RATES: usize = 1_024;

/// A tier in this process.
pub struct ProcessTier {
    options: TierOptions,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
    working: Mutex<FairCache<WorkingKey, Working>>,
    sessions: Mutex<FairCache<SessionKey, SessionEntries>>,
    embeddings: Cache<String, CachedValue<Vec<u8>>>,
    /// When users were erased, by tenant and user.
    erased: Cache<(String, String), CachedValue<Timestamp>>,
    rates: Mutex<Rates>,
}

/// A cached value. It is shared, so that a long working memory is changed in place.
struct CachedValue<V> {
    value: Arc<Mutex<V>>,
    bytes: usize,
    /// When the value expires by the clock of the tier. The cache removes it after `life` by its own clock, which tests
    /// cannot set.
    ends: Instant,
    life: Duration,
}

impl<V> CachedValue<V> {
    fn new(value: V, bytes: usize, now: Instant, life: Duration) -> Self {
        Self { value: Arc::new(Mutex::new(value)), bytes, ends: now + life, life }
    }
}

impl<V> Clone for CachedValue<V> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), ..*self }
    }
}

struct LifeOfSlot;

impl<K, V> Expiry<K, CachedValue<V>> for LifeOfSlot {
    fn expire_after_create(&self, _: &K, slot: &CachedValue<V>, _: Instant) -> Option<Duration> {
        Some(slot.life)
    }

    fn expire_after_update(&self, _: &K, slot: &CachedValue<V>, _: Instant, _: Option<Duration>) -> Option<Duration> {
        Some(slot.life)
    }
}

impl OwnedKey for WorkingKey {
    fn owner(&self) -> (&str, &str) {
        (&self.tenant, &self.user)
    }
}

impl OwnedKey for SessionKey {
    fn owner(&self) -> (&str, &str) {
        (&self.tenant, &self.user)
    }
}

/// A working memory and its size in bytes.
#[derive(Default)]
struct Working {
    entries: VecDeque<WorkingEntry>,
    bytes: usize,
}

impl Working {
    fn push(&mut self, entry: &WorkingEntry) {
        self.bytes += working_bytes(entry);
        self.entries.push_back(entry.clone());
    }

    fn remove(&mut self, place: usize) {
        self.bytes -= self.entries.remove(place).as_ref().map_or(0, working_bytes);
    }
}

/// The entries of a session by time in microseconds and id, and their size in bytes.
#[derive(Default)]
struct SessionEntries {
    by_time: BTreeMap<(i64, String), SessionEntry>,
    times: HashMap<String, i64>,
    bytes: usize,
}

impl SessionEntries {
    fn put(&mut self, entry: &SessionEntry, most: usize) {
        let time = entry.at.as_microsecond();
        self.bytes += session_bytes(entry);
        if let Some(before) = self.times.insert(entry.id.clone(), time)
            && let Some(old) = self.by_time.remove(&(before, entry.id.clone()))
        {
            self.bytes -= session_bytes(&old);
        }
        self.by_time.insert((time, entry.id.clone()), entry.clone());
        while self.by_time.len() > most {
            let Some(((_, id), old)) = self.by_time.pop_first() else { return };
            self.times.remove(&id);
            self.bytes -= session_bytes(&old);
        }
    }
}

/// Rates by the generic cell rate algorithm. Written by hand, because `governor` has one rate for all keys of a limiter
/// and does not report when a full burst is allowed again.
struct Rates {
    /// The theoretical arrival time of the next request of each caller.
    due: HashMap<String, Instant>,
    sweep_at: usize,
}

impl Rates {
    fn take(&mut self, key: &str, per_second: u32, burst: u32, now: Instant) -> RateDecision {
        if self.due.len() >= self.sweep_at {
            self.due.retain(|_, due| *due > now);
            self.sweep_at = SWEEP_RATES.max(self.due.len() * 2);
        }
        let (gap, burst) = (Duration::from_secs(1) / per_second.max(1), burst.max(1));
        let full = gap * burst;
        let ahead = self.due.get(key).map_or(Duration::ZERO, |due| due.saturating_duration_since(now));
        if ahead + gap > full {
            return RateDecision { allowed: false, left: 0, retry_after: ahead + gap - full, full_after: ahead };
        }
        self.due.insert(key.to_owned(), now + ahead + gap);
        let room = full - ahead - gap;
        let left = u32::try_from(room.as_nanos() / gap.as_nanos().max(1)).unwrap_or(u32::MAX);
        RateDecision { allowed: true, left, retry_after: gap.saturating_sub(room), full_after: ahead + gap }
    }
}

impl ProcessTier {
    /// A tier with at most `bytes` of working memory, of sessions, of embeddings and of erasure times each.
    pub fn new(options: TierOptions, bytes: usize) -> Self {
        Self::with_clock(options, bytes, Instant::now)
    }

    /// The same with another clock.
    pub fn with_clock(options: TierOptions, bytes: usize, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self {
            options,
            clock: Box::new(clock),
            working: Mutex::new(FairCache::new(bytes)),
            sessions: Mutex::new(FairCache::new(bytes)),
            embeddings: cache(bytes),
            erased: cache(bytes),
            rates: Mutex::new(Rates { due: HashMap::new(), sweep_at: SWEEP_RATES }),
        }
    }

    /// Removes everything except the rates.
    pub fn empty(&self) {
        locked(&self.working).remove_all(|_, _| true);
        locked(&self.sessions).remove_all(|_, _| true);
        self.embeddings.invalidate_all();
        self.erased.invalidate_all();
    }

    /// Approximate number of bytes in use.
    pub fn bytes(&self) -> u64 {
        let shared = locked(&self.working).bytes() + locked(&self.sessions).bytes();
        shared as u64 + size(&self.embeddings) + size(&self.erased)
    }

    /// Number of stored rates.
    pub fn rates(&self) -> usize {
        locked(&self.rates).due.len()
    }

    fn change_working<T>(&self, key: &WorkingKey, change: impl FnOnce(&mut Working) -> T) -> T {
        let now = (self.clock)();
        let change = |working: &mut Working| (change(working), working.bytes);
        locked(&self.working).change(key, now, now + self.options.working_idle, change)
    }

    /// Returns a value that has not expired.
    fn get<K: CacheKey, V: Send + 'static>(&self, cache: &Cache<K, CachedValue<V>>, key: &K) -> Option<CachedValue<V>> {
        cache.get(key).filter(|slot| slot.ends > (self.clock)())
    }
}

/// The key of a cache.
trait CacheKey: Hash + Eq + Clone + Send + Sync + 'static {}

impl<K: Hash + Eq + Clone + Send + Sync + 'static> CacheKey for K {}

fn cache<K: CacheKey, V: Send + 'static>(bytes: usize) -> Cache<K, CachedValue<V>> {
    Cache::builder()
        .max_capacity(bytes as u64)
        .weigher(|_, slot: &CachedValue<V>| u32::try_from(slot.bytes).unwrap_or(u32::MAX))
        .eviction_policy(EvictionPolicy::lru())
        .expire_after(LifeOfSlot)
        .build()
}

fn size<K: CacheKey, V: Send + 'static>(cache: &Cache<K, CachedValue<V>>) -> u64 {
    cache.run_pending_tasks();
    cache.weighted_size()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each step leaves the value consistent, so a poisoned lock is harmless.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The bytes of a text with an estimated overhead of 64.
fn text_bytes(text: &str) -> usize {
    text.len() + 64
}

fn working_bytes(entry: &WorkingEntry) -> usize {
    text_bytes(&entry.value.to_string())
}

fn session_bytes(entry: &SessionEntry) -> usize {
    text_bytes(&entry.value.to_string()) + 2 * text_bytes(&entry.id)
}

#[async_trait]
impl Tier for ProcessTier {
    fn name(&self) -> &'static str {
        "process"
    }

    async fn health(&self) -> TierResult<TierHealth> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(TierHealth { name: self.name(), version, latency: Duration::ZERO, degraded: None })
    }

    async fn append(&self, key: &WorkingKey, entries: &[WorkingEntry]) -> TierResult<usize> {
        Ok(self.change_working(key, |working| {
            entries.iter().for_each(|entry| working.push(entry));
            while working.entries.len() > self.options.working_entries {
                working.remove(0);
            }
            working.entries.len()
        }))
    }

    async fn read(&self, key: &WorkingKey) -> TierResult<Vec<WorkingEntry>> {
        Ok(self.change_working(key, |working| working.entries.iter().cloned().collect()))
    }

    async fn trim(&self, key: &WorkingKey, tokens: u64) -> TierResult<usize> {
        Ok(self.change_working(key, |working| {
            let mut sum = 0_u64;
            let fits = |entry: &&WorkingEntry| {
                sum = sum.saturating_add(entry.tokens);
                sum <= tokens
            };
            let removed = working.entries.len() - working.entries.iter().rev().take_while(fits).count();
            (0..removed).for_each(|_| working.remove(0));
            removed
        }))
    }

    async fn remove(&self, key: &WorkingKey, entries: &[WorkingEntry]) -> TierResult<usize> {
        Ok(self.change_working(key, |working| {
            let before = working.entries.len();
            for entry in entries {
                if let Some(place) = working.entries.iter().position(|other| other == entry) {
                    working.remove(place);
                }
            }
            before - working.entries.len()
        }))
    }

    async fn clear(&self, key: &WorkingKey) -> TierResult<()> {
        locked(&self.working).remove(key);
        Ok(())
    }

    async fn put(&self, key: &SessionKey, entry: &SessionEntry, life: Option<Duration>) -> TierResult<()> {
        let now = (self.clock)();
        locked(&self.sessions).change(key, now, now + life.unwrap_or(self.options.session_idle), |session| {
            session.put(entry, self.options.session_entries);
            ((), session.bytes)
        });
        Ok(())
    }

    async fn latest(&self, key: &SessionKey, limit: usize) -> TierResult<Vec<SessionEntry>> {
        let mut sessions = locked(&self.sessions);
        let Some(session) = sessions.get(key, (self.clock)()) else { return Ok(Vec::new()) };
        Ok(session.by_time.values().rev().take(limit).cloned().collect())
    }

    async fn end(&self, key: &SessionKey) -> TierResult<()> {
        locked(&self.sessions).remove(key);
        Ok(())
    }

    async fn erase_user(&self, tenant: &str, user: &str, at: Timestamp) -> TierResult<usize> {
        let mark = CachedValue::new(at, 2 * text_bytes(user), (self.clock)(), self.options.working_idle);
        self.erased.insert((tenant.to_owned(), user.to_owned()), mark);
        let now = (self.clock)();
        let mut removed = locked(&self.working).remove_all(|key, _| key.owner() == (tenant, user));
        removed.extend(locked(&self.sessions).remove_all(|key, _| key.owner() == (tenant, user)));
        Ok(removed.into_iter().filter(|ends| *ends > now).count())
    }

    async fn erased(&self, tenant: &str, user: &str) -> TierResult<Option<Timestamp>> {
        let mark = self.get(&self.erased, &(tenant.to_owned(), user.to_owned()));
        Ok(mark.map(|slot| *locked(&slot.value)))
    }

    async fn embeddings(&self, keys: &[String]) -> TierResult<Vec<Option<Vec<u8>>>> {
        let found = |key| self.get(&self.embeddings, key).map(|slot| locked(&slot.value).clone());
        Ok(keys.iter().map(found).collect())
    }

    async fn keep_embeddings(&self, entries: &[(String, Vec<u8>)]) -> TierResult<()> {
        let now = (self.clock)();
        for (key, bytes) in entries {
            let size = bytes.len() + 2 * text_bytes(key);
            self.embeddings
                .insert(key.clone(), CachedValue::new(bytes.clone(), size, now, self.options.embedding_life));
        }
        Ok(())
    }

    async fn take(&self, key: &str, per_second: u32, burst: u32) -> TierResult<RateDecision> {
        Ok(locked(&self.rates).take(key, per_second, burst, (self.clock)()))
    }
}
