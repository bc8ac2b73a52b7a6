//! A hash table from keys to slots that does not store the keys.
//!
//! The keys are stored in the arrays, where a scan needs them; the caller passes a function that returns the key of a
//! slot. A bucket takes five bytes, so a key takes six to twelve.

use hashbrown::HashTable;

/// Maps keys to slots. `owner` returns the key of a slot.
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

    /// Inserts the slot of a key that is not in the table.
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

/// Keys are row numbers and not chosen by attackers, so a fixed mixing function is enough.
fn hash(key: i64) -> u64 {
    let mixed = (key as u64 ^ (key as u64 >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (mixed >> 32)
}
