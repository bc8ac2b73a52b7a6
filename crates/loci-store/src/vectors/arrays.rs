//! The vectors of one scope: who is in, and where?
//!
//! **Invariant.** Every slot is either owned by exactly one key, which the key table finds, or free and silent.

use super::block::{Block, Layout, ROWS};
use super::code::{self, SILENT};
use super::keys::Keys;
use super::nearest::DIRECT;

/// The vectors of one scope, for one model: contiguous codes that are scanned, never climbed.
#[derive(Debug)]
pub struct Arrays {
    /// The mean of the unit vectors, which is taken off each before it is coded. Empty: nothing is taken off.
    pub(super) mean: Vec<f32>,
    pub(super) layout: Layout,
    pub(super) blocks: Vec<Block>,
    keys: Keys,
    free: Vec<u32>,
    /// So many vectors are about to come.
    expected: usize,
}

/// Below this squared length a mean is noise, and taking it off would only cost time: sentence models such as MiniLM
/// stay below it, models whose vectors share a large common component are far above.
const CENTRED_FROM: f32 = 0.1;

impl Arrays {
    /// Arrays for vectors of so many dimensions (up to 21,844), empty.
    pub fn new(dimensions: usize) -> Self {
        Self::expecting(dimensions, 0)
    }

    /// The same, for about so many vectors. Their room is taken at once: what grows leaves its old room to an allocator
    /// that keeps it.
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

    /// Takes the mean of these sample vectors off every vector before it is coded, if they have one that matters.
    /// Without this, vectors that share a large common component have nearly the same signs, and sketches cannot tell
    /// them apart. Only for arrays that are still empty.
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

    /// Whether so many vectors came since the mean was chosen that it should be chosen anew.
    pub(crate) fn has_outgrown_its_mean(&self) -> bool {
        self.len() > 2 * self.expected.max(DIRECT)
    }

    /// Whether only keys and sketches are kept.
    pub fn is_compact(&self) -> bool {
        !self.layout.codes
    }

    /// Keeps only keys and sketches from here on: about a sixth of the bytes. A search then returns its shortlist
    /// undecided.
    pub fn drop_codes(&mut self) {
        self.layout.codes = false;
        for block in &mut self.blocks {
            block.codes = Vec::new();
            block.biases = Vec::new();
        }
    }

    /// Bytes of a vector of so many dimensions, with or without its code, when its room is taken at once.
    pub fn bytes_per_vector(dimensions: usize, codes: bool) -> usize {
        // The key, the scale, the sketch, and up to twelve bytes in the table of keys.
        24 + code::words(dimensions) * 8 + if codes { dimensions + 4 } else { 0 }
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
        self.blocks[block].write(row, key, vector, &self.mean, self.layout);
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
        self.layout.dimensions
    }

    /// Resident bytes: all that is allocated, in use or not.
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

    /// The key that owns a slot.
    pub(super) fn key(&self, slot: u32) -> i64 {
        owner(&self.blocks, slot)
    }

    /// How many slots there are, free ones too: what a scan has to walk.
    pub(super) fn slots(&self) -> usize {
        self.blocks.last().map_or(0, |last| (self.blocks.len() - 1) * ROWS + last.keys.len())
    }

    /// A new slot after the last.
    fn append(&mut self) -> u32 {
        if self.slots() == self.blocks.len() * ROWS {
            let rows = self.expected.saturating_sub(self.slots()).min(ROWS);
            self.blocks.push(Block::with_room(rows, self.layout));
        }
        let block = self.blocks.len() - 1;
        let row = self.blocks[block].push(self.layout);
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
