//! The vectors of one scope: who is in, and where?
//!
//! **Invariant.** Every slot is either owned by exactly one key, which the key table finds, or free and silent.

use super::block::{Block, ROWS};
use super::code::SILENT;
use super::keys::Keys;

/// The vectors of one scope, for one model: contiguous codes that are scanned, never climbed.
#[derive(Debug)]
pub struct Arrays {
    pub(super) dimensions: usize,
    pub(super) blocks: Vec<Block>,
    keys: Keys,
    free: Vec<u32>,
    /// So many vectors are about to come.
    expected: usize,
}

impl Arrays {
    /// Arrays for vectors of so many dimensions (up to 21,844), empty.
    pub fn new(dimensions: usize) -> Self {
        Self::expecting(dimensions, 0)
    }

    /// The same, for about so many vectors. Their room is taken at once: what grows leaves its old room to an allocator
    /// that keeps it.
    pub fn expecting(dimensions: usize, vectors: usize) -> Self {
        Self { dimensions, blocks: Vec::new(), keys: Keys::default(), free: Vec::new(), expected: vectors }
    }

    /// Holds `vector` under `key`, in place of an older one. A vector without direction is held, and never found.
    pub fn insert(&mut self, key: i64, vector: &[f32]) {
        let slot = self.find(key).unwrap_or_else(|| {
            let slot = self.free.pop().unwrap_or_else(|| self.append());
            // The table asks for the owners of the slots it holds, and this one it does not hold yet.
            self.keys.insert(key, slot, |slot| owner(&self.blocks, slot));
            slot
        });
        let (block, row) = place(slot);
        self.blocks[block].write(row, key, vector, self.dimensions);
    }

    /// Lets go of a key. Its slot is silent at once and serves a later insert. Says whether the key was there.
    pub fn remove(&mut self, key: i64) -> bool {
        let Some(slot) = self.keys.remove(key, |slot| owner(&self.blocks, slot)) else { return false };
        let (block, row) = place(slot);
        self.blocks[block].scales[row] = SILENT;
        self.free.push(slot);
        true
    }

    /// Whether a key is held.
    pub fn contains(&self, key: i64) -> bool {
        self.find(key).is_some()
    }

    /// How many keys are held.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no key is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many dimensions a vector has here.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Resident bytes: all that is allocated, in use or not.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.blocks.iter().map(Block::bytes).sum::<usize>()
            + self.blocks.capacity() * size_of::<Block>()
            + self.free.capacity() * size_of::<u32>()
            + self.keys.bytes()
    }

    /// The slot of a key.
    pub(super) fn find(&self, key: i64) -> Option<u32> {
        self.keys.find(key, |slot| owner(&self.blocks, slot))
    }

    /// How many slots there are, free ones too: what a scan has to walk.
    pub(super) fn slots(&self) -> usize {
        self.blocks.last().map_or(0, |last| (self.blocks.len() - 1) * ROWS + last.keys.len())
    }

    /// A new slot after the last.
    fn append(&mut self) -> u32 {
        if self.slots() == self.blocks.len() * ROWS {
            let rows = self.expected.saturating_sub(self.slots()).min(ROWS);
            self.blocks.push(Block::with_room(rows, self.dimensions));
        }
        let block = self.blocks.len() - 1;
        let row = self.blocks[block].push(self.dimensions);
        // Four thousand million rows would be 1.5 TB of codes: memory ends before the number does.
        (block * ROWS + row) as u32
    }
}

/// The block of a slot, and the row within it.
pub(super) fn place(slot: u32) -> (usize, usize) {
    (slot as usize / ROWS, slot as usize % ROWS)
}

fn owner(blocks: &[Block], slot: u32) -> i64 {
    let (block, row) = place(slot);
    blocks[block].keys[row]
}
