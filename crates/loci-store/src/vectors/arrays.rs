//! The vectors of one scope.
//!
//! **Invariant.** Every slot either belongs to exactly one key, which the key table finds, or is free and has scale
//! [`SILENT`].

use super::block::{Block, Layout, ROWS};
use super::code::{self, SILENT};
use super::keys::Keys;
use super::nearest::DIRECT;

/// The vectors of one scope by one model, as contiguous codes.
#[derive(Debug)]
pub struct Arrays {
    /// The mean of the unit vectors, which is subtracted from each before it is coded; empty if none is subtracted.
    pub(super) mean: Vec<f32>,
    pub(super) layout: Layout,
    pub(super) blocks: Vec<Block>,
    keys: Keys,
    free: Vec<u32>,
    /// Number of expected vectors.
    expected: usize,
}

/// Minimum squared length of a mean that is subtracted; below it the mean is noise. Sentence models such as MiniLM stay
/// below, models whose vectors share a large common component are far above.
const CENTRED_FROM: f32 = 0.1;

impl Arrays {
    /// Empty arrays for vectors of this number of dimensions, at most 21,844.
    pub fn new(dimensions: usize) -> Self {
        Self::expecting(dimensions, 0)
    }

    /// The same for about this number of vectors, whose memory is allocated at once, because growing arrays fragment
    /// the heap.
    pub fn expecting(dimensions: usize, vectors: usize) -> Self {
        let layout = Layout { dimensions, codes: true, centred: false };
        Self {
            mean: Vec::new(),
            layout,
            blocks: Vec::new(),
            keys: Keys::default(),
            free: Vec::new(),
            expected: vectors,
        }
    }

    /// Subtracts the mean of these sample vectors from every vector before it is coded, if it is large enough.
    /// Otherwise vectors that share a large common component have nearly the same signs, and sketches cannot
    /// distinguish them. Has an effect only on empty arrays.
    pub fn centred<'v>(mut self, sample: impl Iterator<Item = &'v [f32]>) -> Self {
        let dimensions = self.layout.dimensions;
        let (mut mean, mut count) = (vec![0.0_f32; dimensions], 0.0_f32);
        for unit in sample.filter(|vector| vector.len() == dimensions).filter_map(code::unit) {
            mean.iter_mut().zip(unit).for_each(|(sum, value)| *sum += value);
            count += 1.0;
        }
        mean.iter_mut().for_each(|value| *value /= count.max(1.0));
        if self.is_empty() && mean.iter().map(|value| value * value).sum::<f32>() >= CENTRED_FROM {
            self.mean = mean;
            self.layout.centred = true;
        }
        self
    }

    /// Whether the number of vectors has grown so far that the mean should be computed again.
    pub(crate) fn has_outgrown_its_mean(&self) -> bool {
        self.len() > 2 * self.expected.max(DIRECT)
    }

    /// Whether only keys and sketches are stored.
    pub fn is_compact(&self) -> bool {
        !self.layout.codes
    }

    /// Drops the codes and stores only keys and sketches from now on, about a sixth of the bytes. A search then returns
    /// its shortlist as undecided.
    pub fn drop_codes(&mut self) {
        self.layout.codes = false;
        for block in &mut self.blocks {
            block.codes = Vec::new();
            block.biases = Vec::new();
        }
    }

    /// Bytes of a vector with this number of dimensions, with or without its code, if memory is allocated at once.
    pub fn bytes_per_vector(dimensions: usize, codes: bool) -> usize {
        // Key, scale and sketch, and up to twelve bytes in the key table.
        24 + code::words(dimensions) * 8 + if codes { dimensions + 4 } else { 0 }
    }

    /// Inserts a vector, replacing an older one with the same key. A vector without direction is stored but never
    /// found.
    pub fn insert(&mut self, key: i64, vector: &[f32]) {
        let slot = self.find(key).unwrap_or_else(|| {
            let slot = self.free.pop().unwrap_or_else(|| self.append());
            // The callback is called only for slots in the table, and this one is not in it yet.
            self.keys.insert(key, slot, |slot| owner(&self.blocks, slot));
            slot
        });
        let (block, row) = place(slot);
        self.blocks[block].write(row, key, vector, &self.mean, self.layout);
    }

    /// Removes a key and frees its slot. Returns whether the key existed.
    pub fn remove(&mut self, key: i64) -> bool {
        let Some(slot) = self.keys.remove(key, |slot| owner(&self.blocks, slot)) else { return false };
        let (block, row) = place(slot);
        self.blocks[block].scales[row] = SILENT;
        self.free.push(slot);
        true
    }

    /// Whether a key exists.
    pub fn contains(&self, key: i64) -> bool {
        self.find(key).is_some()
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.layout.dimensions
    }

    /// Allocated bytes, in use or not.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.mean.capacity() * size_of::<f32>()
            + self.blocks.iter().map(Block::bytes).sum::<usize>()
            + self.blocks.capacity() * size_of::<Block>()
            + self.free.capacity() * size_of::<u32>()
            + self.keys.bytes()
    }

    /// The slot of a key.
    pub(super) fn find(&self, key: i64) -> Option<u32> {
        self.keys.find(key, |slot| owner(&self.blocks, slot))
    }

    /// The key of a slot.
    pub(super) fn key(&self, slot: u32) -> i64 {
        owner(&self.blocks, slot)
    }

    /// Number of slots, including free ones.
    pub(super) fn slots(&self) -> usize {
        self.blocks.last().map_or(0, |last| (self.blocks.len() - 1) * ROWS + last.keys.len())
    }

    /// Appends a slot.
    fn append(&mut self) -> u32 {
        if self.slots() == self.blocks.len() * ROWS {
            let rows = self.expected.saturating_sub(self.slots()).min(ROWS);
            self.blocks.push(Block::with_room(rows, self.layout));
        }
        let block = self.blocks.len() - 1;
        let row = self.blocks[block].push(self.layout);
        // 2^32 rows would be 1.5 TB of codes, so the number cannot overflow.
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
