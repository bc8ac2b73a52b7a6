//! Where do rows lie, so that a scan runs straight through them?
//!
//! Rows come in blocks of at most [`ROWS`]. Within a block each kind of thing is contiguous; a full block is never
//! moved again, so an insert into a million rows copies no more than an insert into a thousand, and no more than one
//! block is ever half empty.

use super::code::{self, SILENT};
use super::kernel::LANES;

/// Rows in a full block: large enough that the choice of kernel is free, small enough that distances stay in the
/// nearest cache.
pub(super) const ROWS: usize = 4096;

/// Some rows: the key, code and sketch of each.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Who owns each row. Of no meaning where the scale is silent and the row is free.
    pub(super) keys: Vec<i64>,
    /// One over the length of each code, [`SILENT`] where there is none.
    pub(super) scales: Vec<f32>,
    /// The codes, row after row.
    pub(super) codes: Vec<i8>,
    /// The sketches, eight rows interleaved (see [`LANES`]).
    pub(super) sketches: Vec<u64>,
}

impl Block {
    /// An empty block with room for so many rows.
    pub(super) fn with_room(rows: usize, dimensions: usize) -> Self {
        let mut block = Self::default();
        block.reserve(rows, dimensions);
        block
    }

    /// Appends an empty row and returns its place.
    pub(super) fn push(&mut self, dimensions: usize) -> usize {
        let row = self.keys.len();
        if row == self.keys.capacity() {
            self.grow(dimensions);
        }
        self.keys.push(0);
        self.scales.push(SILENT);
        self.codes.resize((row + 1) * dimensions, 0);
        self.sketches.resize((row + 1).next_multiple_of(LANES) * code::words(dimensions), 0);
        row
    }

    /// Makes room by an eighth, where a plain `Vec` would double: most scopes are small and stay so.
    fn grow(&mut self, dimensions: usize) {
        let rows = self.keys.len();
        self.reserve((rows / 8).next_multiple_of(LANES).max(LANES).min(ROWS.saturating_sub(rows).max(1)), dimensions);
    }

    fn reserve(&mut self, more: usize, dimensions: usize) {
        let rows = self.keys.len();
        self.keys.reserve_exact(more);
        self.scales.reserve_exact(more);
        self.codes.reserve_exact(more * dimensions);
        let words = (rows + more).next_multiple_of(LANES) * code::words(dimensions);
        self.sketches.reserve_exact(words.saturating_sub(self.sketches.len()));
    }

    /// Writes `vector` and its owner into an existing row.
    pub(super) fn write(&mut self, row: usize, key: i64, vector: &[f32], dimensions: usize) {
        self.keys[row] = key;
        self.scales[row] = code::quantise(vector, &mut self.codes[row * dimensions..][..dimensions]);
        let words = code::words(dimensions);
        let first = row / LANES * LANES * words + row % LANES;
        // A silent row keeps whatever sketch it had: the scale is asked before a sketch is believed.
        for (place, word) in code::sketch(vector).take(words).enumerate() {
            self.sketches[first + place * LANES] = word;
        }
    }

    /// The code of one row.
    pub(super) fn code(&self, row: usize, dimensions: usize) -> &[i8] {
        &self.codes[row * dimensions..][..dimensions]
    }

    /// Bytes held, used or not.
    pub(super) fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<i64>()
            + self.scales.capacity() * size_of::<f32>()
            + self.codes.capacity()
            + self.sketches.capacity() * size_of::<u64>()
    }
}
