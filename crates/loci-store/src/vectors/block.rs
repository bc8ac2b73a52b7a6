//! The memory layout of vectors, for sequential scans.
//!
//! Rows are stored in blocks of at most [`ROWS`]. Within a block keys, scales, codes and sketches are contiguous. A
//! full block is never moved, so the cost of an insert does not depend on the number of rows, and at most one block is
//! partly empty.

use super::code::{self, SILENT};
use super::kernel::LANES;

/// Number of rows in a full block: large enough to make the kernel dispatch negligible, small enough that the distances
/// fit in the L1 cache.
pub(super) const ROWS: usize = 4096;

/// What is stored of each row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) dimensions: usize,
    /// Whether a row has its code, or only its sketch.
    pub(super) codes: bool,
    /// Whether rows are coded without their mean.
    pub(super) centred: bool,
}

impl Layout {
    /// The length of a row's code.
    fn code(self) -> usize {
        if self.codes { self.dimensions } else { 0 }
    }

    /// Number of biases of a row.
    fn biases(self) -> usize {
        usize::from(self.codes && self.centred)
    }
}

/// A block of rows.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The key of each row; meaningless in a free row, whose scale is [`SILENT`].
    pub(super) keys: Vec<i64>,
    /// The value of one step of each code; [`SILENT`] without direction.
    pub(super) scales: Vec<f32>,
    /// The codes, row after row; empty if only sketches are stored.
    pub(super) codes: Vec<i8>,
    /// The inner product of the mean with each centred row; empty if rows are not centred.
    pub(super) biases: Vec<f32>,
    /// The sketches, eight rows interleaved (see [`LANES`]).
    pub(super) sketches: Vec<u64>,
}

impl Block {
    /// An empty block with capacity for this number of rows.
    pub(super) fn with_room(rows: usize, layout: Layout) -> Self {
        let mut block = Self::default();
        block.reserve(rows, layout);
        block
    }

    /// Appends an empty row and returns its number.
    pub(super) fn push(&mut self, layout: Layout) -> usize {
        let row = self.keys.len();
        if row == self.keys.capacity() {
            self.grow(layout);
        }
        self.keys.push(0);
        self.scales.push(SILENT);
        self.codes.resize((row + 1) * layout.code(), 0);
        self.biases.resize((row + 1) * layout.biases(), 0.0);
        self.sketches.resize((row + 1).next_multiple_of(LANES) * code::words(layout.dimensions), 0);
        row
    }

    /// Grows the capacity by an eighth instead of doubling it, because most scopes stay small. Many agents have one
    /// memory each, so the first rows are allocated one by one.
    fn grow(&mut self, layout: Layout) {
        let rows = self.keys.len();
        let more = if rows < LANES { rows.max(1) } else { (rows / 8).next_multiple_of(LANES) };
        self.reserve(more.min(ROWS.saturating_sub(rows).max(1)), layout);
    }

    fn reserve(&mut self, more: usize, layout: Layout) {
        let rows = self.keys.len();
        self.keys.reserve_exact(more);
        self.scales.reserve_exact(more);
        self.codes.reserve_exact(more * layout.code());
        self.biases.reserve_exact(more * layout.biases());
        let words = (rows + more).next_multiple_of(LANES) * code::words(layout.dimensions);
        self.sketches.reserve_exact(words.saturating_sub(self.sketches.len()));
    }

    /// Writes a vector and its key into an existing row.
    pub(super) fn write(&mut self, row: usize, key: i64, vector: &[f32], mean: &[f32], layout: Layout) {
        self.keys[row] = key;
        let centred = layout.centred.then(|| code::centre(vector, mean)).flatten();
        let (vector, length, bias) = match &centred {
            Some(centred) => (&centred.vector[..], centred.length, centred.bias),
            // A vector without direction is not centred and gets scale SILENT.
            None => (vector, 1.0, 0.0),
        };
        self.scales[row] = if layout.codes {
            code::quantise(vector, &mut self.codes[row * layout.dimensions..][..layout.dimensions]) * length
        } else {
            f32::from(vector.len() == layout.dimensions && code::length(vector).is_some())
        };
        if centred.is_some() {
            // A vector that equals the mean has no direction after centring, but must be found.
            self.scales[row] = self.scales[row].max(f32::MIN_POSITIVE);
        }
        if let Some(place) = self.biases.get_mut(row) {
            *place = bias;
        }
        let words = code::words(layout.dimensions);
        let first = row / LANES * LANES * words + row % LANES;
        // The sketch of a row with scale SILENT is never used, so it may be stale.
        for (place, word) in code::sketch(vector).take(words).enumerate() {
            self.sketches[first + place * LANES] = word;
        }
    }

    /// The code of one row.
    pub(super) fn code(&self, row: usize, dimensions: usize) -> &[i8] {
        &self.codes[row * dimensions..][..dimensions]
    }

    /// Allocated bytes, in use or not.
    pub(super) fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<i64>()
            + self.scales.capacity() * size_of::<f32>()
            + self.codes.capacity()
            + self.biases.capacity() * size_of::<f32>()
            + self.sketches.capacity() * size_of::<u64>()
    }
}
