//! Multiplication of a matrix of states by a matrix of weights.
//!
//! By default it uses 8-bit integers: a processor multiplies four of them in the time of one float, and the weights are
//! small enough to stay in the cache. Each column of weights has its own scale, computed when the model is loaded; each
//! row of states has its own scale and zero point. So the product of a row depends on that row alone, and the vector of
//! a text does not depend on the other texts.
//!
//! [`Precision::Full`] multiplies floats instead. It is slower and equals the reference to six digits.

use std::fmt;

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::NdTensorView;
use serde::{Deserialize, Serialize};

use super::kernels::{Columns, Rounded, dequantise, round_row};
use crate::error::Error;

/// The number format in which a network multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 8-bit integers.
    #[default]
    Eight,
    /// 32-bit floats.
    Full,
}

thread_local! {
    /// Multiplies 8-bit integers with the best kernel of this processor. It is kept because the detection is slow.
    static EIGHT: GemmExecutor<u8, i8, i32> = GemmExecutor::new();
    /// Multiplies floats.
    static FULL: GemmExecutor = GemmExecutor::new();
}

/// The packed weights of a dense layer.
pub(super) struct Dense {
    from: usize,
    to: usize,
    weights: MatrixWeights,
}

enum MatrixWeights {
    Eight {
        packed: PackedBMatrix<i8>,
        /// The scale of each column.
        scales: Vec<f32>,
        /// The sum of each column, with which the effect of the zero point of a state is subtracted.
        totals: Vec<i32>,
    },
    Full(PackedBMatrix<f32>),
}

impl Dense {
    /// Packs weights that have one row of `from` numbers per output.
    pub(super) fn new(rows: &[f32], from: usize, precision: Precision) -> Self {
        let to = rows.len() / from;
        let weights = match precision {
            Precision::Full => {
                let matrix = NdTensorView::from_data([to, from], rows).transposed();
                MatrixWeights::Full(FULL.with(|full| full.prepack_b(matrix)))
            }
            Precision::Eight => {
                // Processors without the dot-product instruction add pairs of products in 16 bits, which would overflow
                // with the full range.
                let most = if EIGHT.with(GemmExecutor::may_saturate) { 63.0 } else { 127.0 };
                let mut whole: Vec<i8> = Vec::with_capacity(rows.len());
                let mut scales = Vec::with_capacity(to);
                for row in rows.chunks_exact(from) {
                    let largest = row.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
                    let scale = if largest > 0.0 { largest / most } else { 1.0 };
                    whole.extend(row.iter().map(|x| (x / scale).round() as i8));
                    scales.push(scale);
                }
                let totals = whole.chunks_exact(from).map(|row| row.iter().map(|x| i32::from(*x)).sum()).collect();
                let matrix = NdTensorView::from_data([to, from], whole.as_slice()).transposed();
                MatrixWeights::Eight { packed: EIGHT.with(|eight| eight.prepack_b(matrix)), scales, totals }
            }
        };
        Self { from, to, weights }
    }

    /// Multiplies each row of `states` by the weights and writes the result to `product`.
    pub(super) fn multiply(&self, states: &[f32], scratch: &mut Scratch, product: &mut Vec<f32>) -> Result<(), Error> {
        let count = states.len() / self.from;
        product.clear();
        product.resize(count * self.to, 0.0);
        match &self.weights {
            MatrixWeights::Full(packed) => {
                let states = GemmInputA::Unpacked(NdTensorView::from_data([count, self.from], states));
                FULL.with(|full| full.gemm(product, states, GemmInputB::Packed(packed), GemmOptions::default()))
            }
            MatrixWeights::Eight { packed, scales, totals } => {
                scratch.round(states, self.from);
                scratch.sums.clear();
                scratch.sums.resize(count * self.to, 0);
                let Scratch { whole, rows, sums } = scratch;
                let states = GemmInputA::Unpacked(NdTensorView::from_data([count, self.from], whole.as_slice()));
                let packed = GemmInputB::Packed(packed);
                let done = EIGHT.with(|eight| eight.gemm(sums, states, packed, GemmOptions::default()));
                done.map(|()| dequantise(sums, rows, Columns { scales, totals }, product))
            }
        }
        .map_err(|error| Error::Inference { problem: error.to_string() })
    }
}

/// Buffers for the quantised states, reused by each product.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    whole: Vec<u8>,
    rows: Vec<Rounded>,
    sums: Vec<i32>,
}

impl Scratch {
    /// Quantises each row of `states` to 8 bits with its own scale and zero point.
    fn round(&mut self, states: &[f32], from: usize) {
        self.whole.clear();
        self.whole.resize(states.len(), 0);
        self.rows.clear();
        for (row, whole) in states.chunks_exact(from).zip(self.whole.chunks_exact_mut(from)) {
            self.rows.push(round_row(row, whole));
        }
    }
}

impl fmt::Debug for Dense {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Dense").field("from", &self.from).field("to", &self.to).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|n| (((n + seed) * 7919 % 211) as f32 - 105.0) / 70.0).collect()
    }

    #[test]
    fn products_equal_their_definition() {
        for (count, from, to) in [
            (1, 8, 3),
            (7, 384, 20),
            (40, 33, 129),
            (20, 384, 1536),
            (20, 1536, 384),
            (70, 384, 1152),
            (300, 1536, 384),
        ] {
            let weights = numbers(to * from, 5);
            // Each row has another range, so that its zero point and its scale differ.
            let mut states = numbers(count * from, 1);
            for (n, row) in states.chunks_exact_mut(from).enumerate() {
                row.iter_mut().for_each(|x| *x = (*x + n as f32 % 7.0 - 3.0) * (1.0 + n as f32));
            }
            for (precision, allowed) in [(Precision::Full, 1e-4), (Precision::Eight, 0.015)] {
                let (mut scratch, mut product) = (Scratch::default(), Vec::new());
                Dense::new(&weights, from, precision).multiply(&states, &mut scratch, &mut product).unwrap();
                assert_eq!(product.len(), count * to);
                for (n, found) in product.iter().enumerate() {
                    let (row, column) = (&states[n / to * from..][..from], &weights[n % to * from..][..from]);
                    let expected: f32 = row.iter().zip(column).map(|(a, b)| a * b).sum();
                    let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
                    let error = (found - expected).abs() / (length(row) * length(column));
                    assert!(error < allowed, "{precision:?} {count}x{from}x{to} at {n}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn rows_of_one_number_and_of_nothing_come_through() {
        let weights = numbers(4 * 16, 3);
        let (mut scratch, mut product) = (Scratch::default(), Vec::new());
        let dense = Dense::new(&weights, 16, Precision::Eight);
        for (constant, what) in [(0.0, "zeros"), (2.5, "all the same"), (-1.0, "all negative")] {
            dense.multiply(&[constant; 16], &mut scratch, &mut product).unwrap();
            for (column, found) in weights.chunks_exact(16).zip(&product) {
                let expected: f32 = column.iter().map(|x| x * constant).sum();
                assert!((found - expected).abs() < 0.1, "{what}: {found} {expected}");
            }
        }
        dense.multiply(&[], &mut scratch, &mut product).unwrap();
        assert!(product.is_empty());
    }
}
