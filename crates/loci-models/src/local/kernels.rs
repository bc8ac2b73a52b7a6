//! The operations of a layer between its matrix products.
//!
//! These are plain loops over rows of numbers, written so that the compiler can use the widest SIMD registers: sums run
//! in fixed lanes, and exponentials are polynomials. General tensor operations need five passes over memory where these
//! need one, and took more time than the matrix products.

use multiversion::multiversion;
use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};

/// Number of partial sums: two of the widest registers.
const LANES: usize = 32;

/// Number of tokens that attention processes at once. Keys and values are read once for all of them.
const TOGETHER: usize = 4;

/// Adds `bias` to each row, then applies GELU.
#[multiversion(targets = "simd")]
pub(super) fn bias_gelu(rows: &mut [f32], bias: &[f32]) {
    for row in rows.chunks_exact_mut(bias.len()) {
        for (x, b) in row.iter_mut().zip(bias) {
            *x = gelu(*x + b);
        }
    }
}

/// Adds `bias` to each row, applies ReLU, then adds `before`.
#[multiversion(targets = "simd")]
pub(super) fn bias_relu_add(rows: &mut [f32], bias: &[f32], before: &[f32]) {
    let size = bias.len();
    for (row, before) in rows.chunks_exact_mut(size).zip(before.chunks_exact(size)) {
        for ((x, b), y) in row.iter_mut().zip(bias).zip(before) {
            let sum = *x + b;
            *x = if sum > 0.0 { sum + y } else { *y };
        }
    }
}

/// A residual connection with layer norm.
#[derive(Debug)]
pub(super) struct ResidualNorm {
    /// The bias of the product, added before the norm.
    pub(super) bias: Vec<f32>,
    /// The scale of the norm.
    pub(super) weight: Vec<f32>,
    /// The shift of the norm.
    pub(super) shift: Vec<f32>,
    /// The constant that prevents a division by zero.
    pub(super) epsilon: f32,
}

/// Adds the bias and `before` to each row, then applies layer norm.
#[multiversion(targets = "simd")]
pub(super) fn join_norm(rows: &mut [f32], before: &[f32], join: &ResidualNorm) {
    let size = join.bias.len();
    for (row, before) in rows.chunks_exact_mut(size).zip(before.chunks_exact(size)) {
        for ((x, y), b) in row.iter_mut().zip(before).zip(&join.bias) {
            *x += y + b;
        }
        let mean = sum(row, |x| x) / size as f32;
        let variance = sum(row, |x| (x - mean) * (x - mean)) / size as f32;
        let scale = 1.0 / (variance + join.epsilon).sqrt();
        for ((x, w), s) in row.iter_mut().zip(&join.weight).zip(&join.shift) {
            *x = (*x - mean) * scale * w + s;
        }
    }
}

/// The scale and zero point of a quantised row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounded {
    /// The scale of one step.
    scale: f32,
    /// The integer that represents 0.0.
    zero: i32,
}

/// Quantises a row to 8 bits. 0.0 is always represented exactly.
#[multiversion(targets = "simd")]
pub(super) fn round_row(row: &[f32], whole: &mut [u8]) -> Rounded {
    let (mut least, mut most) = ([0.0_f32; LANES], [0.0_f32; LANES]);
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            least[lane] = if chunk[lane] < least[lane] { chunk[lane] } else { least[lane] };
            most[lane] = if chunk[lane] > most[lane] { chunk[lane] } else { most[lane] };
        }
    }
    let least = least.iter().chain(rest).fold(0.0_f32, |least, x| least.min(*x));
    let most = most.iter().chain(rest).fold(0.0_f32, |most, x| most.max(*x));
    let scale = if most > least { (most - least) / 255.0 } else { 1.0 };
    let zero = (-least / scale).round();
    let inverse = 1.0 / scale;
    // Adding this number rounds to an integer, which is then in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    for (x, whole) in row.iter().zip(whole) {
        let shifted = x * inverse + zero;
        let clamped = if shifted < 0.0 { 0.0 } else { shifted };
        let clamped = if clamped > 255.0 { 255.0 } else { clamped };
        *whole = (clamped + ROUND).to_bits() as u8;
    }
    Rounded { scale, zero: zero as i32 }
}

/// The scales and sums of the quantised weight columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns<'a> {
    /// The scale of each column.
    pub(super) scales: &'a [f32],
    /// The sum of the integers of each column.
    pub(super) totals: &'a [i32],
}

/// Converts integer sums to floats: subtracts the effect of the zero point of the row, and scales.
#[multiversion(targets = "simd")]
pub(super) fn dequantise(sums: &[i32], rows: &[Rounded], columns: Columns<'_>, numbers: &mut [f32]) {
    let count = columns.scales.len();
    for ((sums, numbers), row) in sums.chunks_exact(count).zip(numbers.chunks_exact_mut(count)).zip(rows) {
        let columns = columns.scales.iter().zip(columns.totals);
        for ((sum, number), (scale, total)) in sums.iter().zip(numbers).zip(columns) {
            *number = (sum - row.zero * total) as f32 * (row.scale * scale);
        }
    }
}

/// The queries, keys and values of one text, for each token and head.
#[derive(Debug, Clone, Copy)]
pub(super) struct Qkv<'a> {
    /// The rows of the text, without the bias.
    pub(super) rows: &'a [f32],
    /// The bias of a row.
    pub(super) bias: &'a [f32],
    /// The number of attention heads.
    pub(super) heads: usize,
}

/// Computes the self-attention of one text.
pub(super) fn attend(views: Qkv<'_>, mixed: &mut [f32]) {
    Attend { views, mixed }.dispatch();
}

/// Attention as an explicit SIMD operation. The compiler does not keep the sums of several tokens in registers if it is
/// written as plain loops.
struct Attend<'a> {
    views: Qkv<'a>,
    mixed: &'a mut [f32],
}

impl SimdOp for Attend<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let Self { views, mixed } = self;
        let size = views.bias.len() / 3;
        let width = size / views.heads;
        let length = views.rows.len() / (3 * size);
        // The sizes are rounded up to a multiple of the lanes; the padding stays zero.
        let (long, wide) = (length.next_multiple_of(LANES), width.next_multiple_of(LANES));
        let (mut keys, mut values) = (vec![0.0; width * long], vec![0.0; length * wide]);
        let (mut queries, mut weights) = (vec![[0.0; TOGETHER]; width], vec![[0.0; TOGETHER]; length]);
        let (mut scores, mut blended) = (vec![0.0; TOGETHER * long], vec![0.0; TOGETHER * wide]);
        for head in 0..views.heads {
            let at = head * width;
            views.keys_and_values(at, width, &mut keys, &mut values);
            for (block, mixed) in mixed.chunks_mut(TOGETHER * size).enumerate() {
                let count = mixed.len() / size;
                for one in 0..count {
                    let row = &views.rows[(block * TOGETHER + one) * 3 * size + at..][..width];
                    for ((query, x), bias) in queries.iter_mut().zip(row).zip(&views.bias[at..]) {
                        query[one] = x + bias;
                    }
                }
                combine(isa, &queries, &keys, &mut scores);
                for (one, scores) in scores.chunks_exact_mut(long).enumerate() {
                    softmax(scores, length);
                    for (weight, score) in weights.iter_mut().zip(&*scores) {
                        weight[one] = *score;
                    }
                }
                combine(isa, &weights, &values, &mut blended);
                for (mixed, blended) in mixed.chunks_exact_mut(size).zip(blended.chunks_exact(wide)) {
                    mixed[at..at + width].copy_from_slice(&blended[..width]);
                }
            }
        }
    }
}

impl Qkv<'_> {
    /// Copies the keys of a head, one column per token, and its values, one row per token.
    #[inline(always)]
    fn keys_and_values(&self, at: usize, width: usize, keys: &mut [f32], values: &mut [f32]) {
        let size = self.bias.len() / 3;
        let long = keys.len() / width;
        let rows = self.rows.chunks_exact(3 * size);
        let wide = values.len() / rows.len();
        for ((token, row), own) in rows.enumerate().zip(values.chunks_exact_mut(wide)) {
            for (part, (x, bias)) in row[size + at..][..width].iter().zip(&self.bias[size + at..]).enumerate() {
                keys[part * long + token] = x + bias;
            }
            let value = &row[2 * size + at..][..width];
            for ((own, x), bias) in own.iter_mut().zip(value).zip(&self.bias[2 * size + at..]) {
                *own = x + bias;
            }
        }
    }
}

/// Computes, for each of several tokens, the sum of all rows weighted by the factors of that token.
#[inline(always)]
fn combine<I: Isa>(isa: I, factors: &[[f32; TOGETHER]], rows: &[f32], sums: &mut [f32]) {
    let ops = isa.f32();
    let (wide, step) = (sums.len() / TOGETHER, 2 * ops.len());
    for start in (0..wide).step_by(step) {
        let mut lanes = [[ops.zero(); 2]; TOGETHER];
        for (factors, row) in factors.iter().zip(rows.chunks_exact(wide)) {
            let row: [I::F32; 2] = ops.load_many(&row[start..]);
            for one in 0..TOGETHER {
                let factor = ops.splat(factors[one]);
                lanes[one] = [ops.mul_add(row[0], factor, lanes[one][0]), ops.mul_add(row[1], factor, lanes[one][1])];
            }
        }
        for (lanes, sums) in lanes.iter().zip(sums.chunks_exact_mut(wide)) {
            ops.store(lanes[0], &mut sums[start..]);
            ops.store(lanes[1], &mut sums[start + ops.len()..]);
        }
    }
}

/// Applies softmax to the first `length` scores and sets the others to 0.
#[inline(always)]
fn softmax(scores: &mut [f32], length: usize) {
    let mut highest = [f32::NEG_INFINITY; LANES];
    let (whole, rest) = scores[..length].as_chunks::<LANES>();
    for chunk in whole {
        for (highest, x) in highest.iter_mut().zip(chunk) {
            *highest = if *x > *highest { *x } else { *highest };
        }
    }
    let highest = highest.iter().chain(rest).fold(f32::NEG_INFINITY, |highest, x| highest.max(*x));
    for x in scores.iter_mut() {
        *x = exp(*x - highest);
    }
    scores[length..].fill(0.0);
    let scale = 1.0 / sum(scores, |x| x);
    for x in scores {
        *x *= scale;
    }
}

/// Sums over `row` in parallel lanes.
#[inline(always)]
fn sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (whole, rest) = row.as_chunks::<LANES>();
    for chunk in whole {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += of(*x);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|x| of(*x)).sum::<f32>()
}

/// Computes GELU with the error function, not with the common tanh approximation. The error function is the
/// approximation 7.1.26 of Abramowitz and Stegun, with an error of at most 1.5e-7.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_8) * t - 0.284_496_72) * t + 0.254_829_6) * t;
    let error = 1.0 - series * exp(-z * z);
    0.5 * x + 0.5 * x.abs() * error
}

/// Computes the exponential for x ≤ 0, with an error of a few units in the last place. Below -87 it stays at the value
/// for -87, which is less than 1e-37.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Adding this number rounds to an integer, which is then in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    // The natural logarithm of 2 is split into two parts, so that the remainder keeps all its digits.
    let r = (x - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let series = ((((1.987_569_1e-4 * r + 1.398_199_9e-3) * r + 8.333_452e-3) * r + 4.166_579_6e-2) * r + 0.166_666_66)
        * r
        + 0.5;
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    (series * r * r + r + 1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_right() {
        for step in 0..=8700 {
            let x = step as f32 / -100.0;
            let expected = f64::from(x).exp();
            assert!(((f64::from(exp(x)) - expected) / expected).abs() < 4e-7, "{x}: {} {expected}", exp(x));
        }
        assert!(exp(-1000.0) < 1e-37);
    }

    #[test]
    fn the_unit_is_right() {
        for (x, expected) in [
            (0.0, 0.0),
            (1.0, 0.841_344_7),
            (-1.0, -0.158_655_26),
            (0.5, 0.345_731_2),
            (-3.0, -0.004_049_7),
            (10.0, 10.0),
            (-10.0, 0.0),
            (100.0, 100.0),
        ] {
            assert!((gelu(x) - expected).abs() < 2e-6, "{x}: {} {expected}", gelu(x));
        }
    }

    #[test]
    fn rows_are_joined_and_normalised() {
        let join = ResidualNorm { bias: vec![1.0; 2], weight: vec![1.0, 2.0], shift: vec![0.0, 1.0], epsilon: 0.0 };
        let mut rows = [0.0, 1.0, 5.0, 1.0];
        join_norm(&mut rows, &[0.0, 1.0, 0.0, 0.0], &join);
        assert_eq!(rows, [-1.0, 3.0, 1.0, -1.0]);
    }

    #[test]
    fn attention_equals_its_definition() {
        // Odd sizes, so that no row fills the lanes.
        let (length, heads, width) = (37, 2, 5);
        let size = heads * width;
        let number = |n: usize| ((n * 7919 % 101) as f32 - 50.0) / 40.0;
        let rows: Vec<f32> = (0..length * 3 * size).map(number).collect();
        let bias: Vec<f32> = (0..3 * size).map(|n| number(n + 13) / 3.0).collect();
        let mut mixed = vec![0.0; length * size];
        attend(Qkv { rows: &rows, bias: &bias, heads }, &mut mixed);

        let view = |token: usize, part: usize| f64::from(rows[token * 3 * size + part] + bias[part]);
        for (row, mixed) in mixed.chunks_exact(size).enumerate() {
            for (column, found) in mixed.iter().enumerate() {
                let at = column / width * width;
                let score = |token: usize| -> f64 {
                    (at..at + width).map(|part| view(row, part) * view(token, size + part)).sum()
                };
                let whole: f64 = (0..length).map(|token| score(token).exp()).sum();
                let expected: f64 =
                    (0..length).map(|token| score(token).exp() / whole * view(token, 2 * size + column)).sum();
                assert!((f64::from(*found) - expected).abs() < 1e-5, "{row} {column}: {found} {expected}");
            }
        }
    }
}
