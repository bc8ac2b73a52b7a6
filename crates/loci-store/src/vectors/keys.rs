//! In which slot lies what belongs to a key?
//!
//! A hash table of slots alone: the keys themselves lie where a scan needs them, and are not held twice. Five bytes a bucket, six to twelve a key.

use hashbrown::HashTable;

/// Key to slot, for who can tell the key of a slot.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    slots: HashTable<u32>,
}

impl Keys {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn find(&self, key: i64, owner: impl Fn(u32) -> i64) -> Option<u32> {
        self.slots.find(hash(key), |&slot| owner(slot) == key).copied()
    }

    /// Notes the slot of a key that has none yet.
    pub(crate) fn insert(&mut self, key: i64, slot: u32, owner: impl Fn(u32) -> i64) {
        self.slots.insert_unique(hash(key), slot, |&slot| hash(owner(slot)));
    }

    pub(crate) fn remove(&mut self, key: i64, owner: impl Fn(u32) -> i64) -> Option<u32> {
        let entry = self.slots.find_entry(hash(key), |&slot| owner(slot) == key).ok()?;
        Some(entry.remove().0)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.allocation_size()
    }
}

/// Keys are row numbers, not words of strangers: a good mixing of bits is enough, and no secret is needed.
fn hash(key: i64) -> u64 {
    let mixed = (key as u64 ^ (key as u64 >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (mixed >> 32)
}
