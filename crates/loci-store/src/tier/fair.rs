//! A cache that is bounded in bytes and shared fairly.
//!
//! **Invariant:** an entry is evicted only from the user who holds the most bytes within the tenant that holds the most,
//! and of that user's entries the one used longest ago. So a flood by one evicts only its own entries, until others hold
//! more than it does.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::time::Instant;

/// Number of changes after which expired entries are removed.
const SWEEP_AFTER: u32 = 1_024;

/// The key of an entry, which names its owner.
pub(super) trait OwnedKey: Hash + Eq + Clone {
    /// The tenant and the user.
    fn owner(&self) -> (&str, &str);
}

struct Slot<V> {
    value: V,
    bytes: usize,
    ends: Instant,
    used: u64,
}

/// The entries of one user, by their last use.
struct UserShare<K> {
    bytes: usize,
    order: BTreeMap<u64, K>,
}

struct TenantShare<K> {
    bytes: usize,
    users: HashMap<String, UserShare<K>>,
}

/// Entries by key, with at most `most` bytes together.
pub(super) struct FairCache<K, V> {
    most: usize,
    bytes: usize,
    slots: HashMap<K, Slot<V>>,
    tenants: HashMap<String, TenantShare<K>>,
    uses: u64,
    changes: u32,
}

impl<K: OwnedKey, V> FairCache<K, V> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, bytes: 0, slots: HashMap::new(), tenants: HashMap::new(), uses: 0, changes: 0 }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// An entry that has not expired.
    pub(super) fn get(&mut self, key: &K, now: Instant) -> Option<&V> {
        let slot = self.take(key, now)?;
        self.put(key, slot);
        self.slots.get(key).map(|slot| &slot.value)
    }

    /// Changes an entry, which is created if absent, and lets it live until `ends` at least. `change` returns its result
    /// and the new size in bytes; an entry of 0 bytes is removed.
    pub(super) fn change<T>(
        &mut self,
        key: &K,
        now: Instant,
        ends: Instant,
        change: impl FnOnce(&mut V) -> (T, usize),
    ) -> T
    where
        V: Default,
    {
        let held = self.take(key, now);
        let mut slot = held.unwrap_or_else(|| Slot { value: V::default(), bytes: 0, ends, used: 0 });
        let (answer, bytes) = change(&mut slot.value);
        (slot.bytes, slot.ends) = (bytes, slot.ends.max(ends));
        if bytes > 0 {
            self.put(key, slot);
        }
        self.changes += 1;
        if self.changes >= SWEEP_AFTER {
            self.changes = 0;
            self.remove_all(|_, ends| ends <= now);
        }
        while self.bytes > self.most {
            let Some(key) = self.victim() else { break };
            self.remove(&key);
        }
        answer
    }

    /// Removes an entry. Returns when it would have expired.
    pub(super) fn remove(&mut self, key: &K) -> Option<Instant> {
        self.unlink(key).map(|slot| slot.ends)
    }

    /// Removes every entry whose key and end match, and returns the ends of those.
    pub(super) fn remove_all(&mut self, of: impl Fn(&K, Instant) -> bool) -> Vec<Instant> {
        let found: Vec<K> =
            self.slots.iter().filter(|(key, slot)| of(key, slot.ends)).map(|(key, _)| key.clone()).collect();
        found.iter().filter_map(|key| self.remove(key)).collect()
    }

    /// The entry that is evicted next.
    fn victim(&self) -> Option<K> {
        let tenant = self.tenants.values().max_by_key(|tenant| tenant.bytes)?;
        let user = tenant.users.values().max_by_key(|user| user.bytes)?;
        user.order.values().next().cloned()
    }

    /// Takes an entry out; an expired one is dropped.
    fn take(&mut self, key: &K, now: Instant) -> Option<Slot<V>> {
        self.unlink(key).filter(|slot| slot.ends > now)
    }

    fn put(&mut self, key: &K, mut slot: Slot<V>) {
        self.uses += 1;
        slot.used = self.uses;
        self.bytes += slot.bytes;
        let (tenant, user) = key.owner();
        let share = || TenantShare { bytes: 0, users: HashMap::new() };
        let tenant = self.tenants.entry(tenant.to_owned()).or_insert_with(share);
        tenant.bytes += slot.bytes;
        let share = || UserShare { bytes: 0, order: BTreeMap::new() };
        let user = tenant.users.entry(user.to_owned()).or_insert_with(share);
        user.bytes += slot.bytes;
        user.order.insert(slot.used, key.clone());
        self.slots.insert(key.clone(), slot);
    }

    fn unlink(&mut self, key: &K) -> Option<Slot<V>> {
        let slot = self.slots.remove(key)?;
        self.bytes -= slot.bytes;
        let (tenant_name, user_name) = key.owner();
        let tenant = self.tenants.get_mut(tenant_name)?;
        tenant.bytes -= slot.bytes;
        let user = tenant.users.get_mut(user_name)?;
        user.bytes -= slot.bytes;
        user.order.remove(&slot.used);
        if user.order.is_empty() {
            tenant.users.remove(user_name);
        }
        if tenant.users.is_empty() {
            self.tenants.remove(tenant_name);
        }
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    impl OwnedKey for (&'static str, &'static str, usize) {
        fn owner(&self) -> (&str, &str) {
            (self.0, self.1)
        }
    }

    #[test]
    fn a_flood_evicts_only_the_entries_of_its_user() {
        let mut cache = FairCache::<(&str, &str, usize), usize>::new(1_000);
        let now = Instant::now();
        let mut set = |key: (&'static str, &'static str, usize), bytes: usize| {
            cache.change(&key, now, now + Duration::from_secs(1), |value| {
                *value = key.2;
                ((), bytes)
            });
            assert!(cache.bytes() <= 1_000);
        };
        set(("acme", "eve", 0), 100);
        set(("default", "ann", 0), 100);
        (0..500).for_each(|number| set(("default", "bob", number), 50));
        set(("default", "ann", 1), 100);
        for (key, there) in [
            (("acme", "eve", 0), true),
            (("default", "ann", 0), true),
            (("default", "ann", 1), true),
            (("default", "bob", 0), false),
            (("default", "bob", 499), true),
        ] {
            assert_eq!(cache.get(&key, now).is_some(), there, "{key:?}");
        }
        assert_eq!(cache.get(&("acme", "eve", 0), now + Duration::from_secs(1)), None, "it has expired");
        cache.remove_all(|_, _| true);
        assert_eq!((cache.bytes(), cache.tenants.len()), (0, 0));
    }
}
