//! What does a layer do between its matrix products?
//!
//! Plain loops over rows of numbers, written so that the compiler can use the widest vectors the
//! processor has: sums run in fixed lanes, and exponentials are polynomials. The general tensor
//! operations do the same in five passes over memory where these need one, and took more time
//! than the products themselves.

use multiversion::multiversion;

/// The width in which sums are kept apart: two of the widest registers.
pub(super) const LANES: usize = 32;

/// Adds `bias` to each row, then applies the Gaussian error linear unit.
#[multiversion(targets = "simd")]
pub(super) fn bias_gelu(rows: &mut [f32], bias: &[f32]) {
    for row in rows.chunks_exact_mut(bias.len()) {
        for (x, b) in row.iter_mut().zip(bias) {
            *x = gelu(*x + b);
        }
    }
}

/// What follows a product and joins it to what came before.
#[derive(Debug)]
pub(super) struct Join {
    /// Added to the product.
    pub(super) bias: Vec<f32>,
    /// The norm's scale.
    pub(super) weight: Vec<f32>,
    /// The norm's shift.
    pub(super) shift: Vec<f32>,
    /// Keeps the norm from dividing by nothing.
    pub(super) epsilon: f32,
}

/// Adds the bias and `before` to each row, then normalises it.
#[multiversion(targets = "simd")]
pub(super) fn join_norm(rows: &mut [f32], before: &[f32], join: &Join) {
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

/// The views of one text: per token a query, a key and a value for each head.
#[derive(Debug, Clone, Copy)]
pub(super) struct Views<'a> {
    /// The rows of the text, without the bias.
    pub(super) rows: &'a [f32],
    /// The bias of a row.
    pub(super) bias: &'a [f32],
    /// How many heads share a row.
    pub(super) heads: usize,
}

/// Lets the tokens from `first` on, as many as `mixed` has rows, look at all tokens of the text.
#[multiversion(targets = "simd")]
pub(super) fn attend(views: Views<'_>, first: usize, mixed: &mut [f32]) {
    let size = views.bias.len() / 3;
    let width = size / views.heads;
    let length = views.rows.len() / (3 * size);
    // Rounded up to whole lanes; what is beyond the end stays zero.
    let (long, wide) = (length.next_multiple_of(LANES), width.next_multiple_of(LANES));
    let mut keys = vec![0.0; width * long];
    let mut values = vec![0.0; length * wide];
    let mut scores = vec![0.0; long];
    let mut query = vec![0.0; width];
    for head in 0..views.heads {
        let at = head * width;
        for (token, row) in views.rows.chunks_exact(3 * size).enumerate() {
            for part in 0..width {
                keys[part * long + token] = row[size + at + part] + views.bias[size + at + part];
                values[token * wide + part] = row[2 * size + at + part] + views.bias[2 * size + at + part];
            }
        }
        for (token, mixed) in mixed.chunks_exact_mut(size).enumerate() {
            let row = &views.rows[(first + token) * 3 * size + at..][..width];
            for ((q, x), b) in query.iter_mut().zip(row).zip(&views.bias[at..]) {
                *q = x + b;
            }
            weigh(&query, &keys, &mut scores, length);
            blend(&scores[..length], &values, wide, &mut mixed[at..at + width]);
        }
    }
}

/// How much the query heeds each key: the softmax of their products.
#[inline(always)]
fn weigh(query: &[f32], keys: &[f32], scores: &mut [f32], length: usize) {
    let long = scores.len();
    for start in (0..long).step_by(LANES) {
        let mut lanes = [0.0; LANES];
        for (part, q) in query.iter().enumerate() {
            add(&mut lanes, *q, &keys[part * long + start..]);
        }
        scores[start..start + LANES].copy_from_slice(&lanes);
    }
    let highest = scores[..length].iter().fold(f32::NEG_INFINITY, |highest, x| if *x > highest { *x } else { highest });
    for x in scores.iter_mut() {
        *x = exp(*x - highest);
    }
    scores[length..].fill(0.0);
    let scale = 1.0 / sum(scores, |x| x);
    for x in scores {
        *x *= scale;
    }
}

/// The mean of the values by their weights.
#[inline(always)]
fn blend(weights: &[f32], values: &[f32], wide: usize, mixed: &mut [f32]) {
    for (start, mixed) in (0..wide).step_by(LANES).zip(mixed.chunks_mut(LANES)) {
        let mut lanes = [0.0; LANES];
        for (token, weight) in weights.iter().enumerate() {
            add(&mut lanes, *weight, &values[token * wide + start..]);
        }
        mixed.copy_from_slice(&lanes[..mixed.len()]);
    }
}

#[inline(always)]
fn add(lanes: &mut [f32; LANES], factor: f32, row: &[f32]) {
    for (lane, x) in lanes.iter_mut().zip(&row[..LANES]) {
        *lane += factor * x;
    }
}

/// The sum over `row`, in lanes.
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

/// The exact unit, not its common tangent approximation; its error function is that of Abramowitz
/// and Stegun, 7.1.26, right to 1.5e-7.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_8) * t - 0.284_496_72) * t + 0.254_829_6) * t;
    let error = 1.0 - series * exp(-z * z);
    0.5 * x + 0.5 * x.abs() * error
}

/// The exponential for x ≤ 0, right to a few units in the last place; below -87 it is as good as
/// nothing.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Adding this number rounds to a whole one, which then stands in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    // The logarithm of two in two parts, so that the rest keeps all its digits.
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
        let join = Join { bias: vec![1.0; 2], weight: vec![1.0, 2.0], shift: vec![0.0, 1.0], epsilon: 0.0 };
        let mut rows = [0.0, 1.0, 5.0, 1.0];
        join_norm(&mut rows, &[0.0, 1.0, 0.0, 0.0], &join);
        assert_eq!(rows, [-1.0, 3.0, 1.0, -1.0]);
    }

    #[test]
    fn attention_equals_its_definition() {
        // Odd sizes, so that nothing fills its lanes.
        let (length, heads, width) = (37, 2, 5);
        let size = heads * width;
        let number = |n: usize| ((n * 7919 % 101) as f32 - 50.0) / 40.0;
        let rows: Vec<f32> = (0..length * 3 * size).map(number).collect();
        let bias: Vec<f32> = (0..3 * size).map(|n| number(n + 13) / 3.0).collect();
        let mut mixed = vec![0.0; 20 * size];
        attend(Views { rows: &rows, bias: &bias, heads }, 10, &mut mixed);

        let view = |token: usize, part: usize| f64::from(rows[token * 3 * size + part] + bias[part]);
        for (row, mixed) in mixed.chunks_exact(size).enumerate() {
            for (column, found) in mixed.iter().enumerate() {
                let at = column / width * width;
                let score = |token: usize| -> f64 {
                    (at..at + width).map(|part| view(10 + row, part) * view(token, size + part)).sum()
                };
                let whole: f64 = (0..length).map(|token| score(token).exp()).sum();
                let expected: f64 =
                    (0..length).map(|token| score(token).exp() / whole * view(token, 2 * size + column)).sum();
                assert!((f64::from(*found) - expected).abs() < 1e-5, "{row} {column}: {found} {expected}");
            }
        }
    }
}
