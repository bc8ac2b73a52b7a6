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

/// What is kept of each row.
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

    /// How many biases a row has.
    fn biases(self) -> usize {
        usize::from(self.codes && self.centred)
    }
}

/// Some rows: the key, code and sketch of each.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Who owns each row. Of no meaning where the scale is silent and the row is free.
    pub(super) keys: Vec<i64>,
    /// What one step of each code is worth, [`SILENT`] where there is no direction.
    pub(super) scales: Vec<f32>,
    /// The codes, row after row; none if only sketches are kept.
    pub(super) codes: Vec<i8>,
    /// The inner product of the mean with each centred row; none if nothing is centred.
    pub(super) biases: Vec<f32>,
    /// The sketches, eight rows interleaved (see [`LANES`]).
    pub(super) sketches: Vec<u64>,
}

impl Block {
    /// An empty block with room for so many rows.
    pub(super) fn with_room(rows: usize, layout: Layout) -> Self {
        let mut block = Self::default();
        block.reserve(rows, layout);
        block
    }

    /// Appends an empty row and returns its place.
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

    /// Makes room by an eighth, where a plain `Vec` would double: most scopes are small and stay so.
    fn grow(&mut self, layout: Layout) {
        let rows = self.keys.len();
        self.reserve((rows / 8).next_multiple_of(LANES).max(LANES).min(ROWS.saturating_sub(rows).max(1)), layout);
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

    /// Writes `vector` and its owner into an existing row.
    pub(super) fn write(&mut self, row: usize, key: i64, vector: &[f32], mean: &[f32], layout: Layout) {
        self.keys[row] = key;
        let centred = layout.centred.then(|| code::centre(vector, mean)).flatten();
        let (vector, length, bias) = match &centred {
            Some(centred) => (&centred.vector[..], centred.length, centred.bias),
            // One without direction stays as it is, and is silent.
            None => (vector, 1.0, 0.0),
        };
        self.scales[row] = if layout.codes {
            code::quantise(vector, &mut self.codes[row * layout.dimensions..][..layout.dimensions]) * length
        } else {
            f32::from(vector.len() == layout.dimensions && code::length(vector).is_some())
        };
        if centred.is_some() {
            // One that equals the mean has no direction left, but it is a neighbour.
            self.scales[row] = self.scales[row].max(f32::MIN_POSITIVE);
        }
        if let Some(place) = self.biases.get_mut(row) {
            *place = bias;
        }
        let words = code::words(layout.dimensions);
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
            + self.biases.capacity() * size_of::<f32>()
            + self.sketches.capacity() * size_of::<u64>()
    }
}
