//! Compression of a vector to a quarter of its size (int8 code) and to a thirty-second (1-bit sketch).
//!
//! Only the direction is stored, because only directions are compared. The scale of a code is the reciprocal of the
//! code's length, so the estimate is the exact cosine of two slightly rounded vectors: it is in [-1, 1], and 1 for a
//! vector with itself.

use super::kernel;

/// The largest magnitude of a code. -128 is never used, so a vector and its opposite have opposite codes.
const LARGEST: i8 = 127;

/// A squared length between this value and its reciprocal can be computed in `f32` without overflow or underflow.
pub(super) const ORDINARY: f32 = 1e-20;

/// The scale of a row without direction and of a free row.
pub(super) const SILENT: f32 = 0.0;

/// Bits in a word of a sketch.
const WORD: usize = u64::BITS as usize;

/// Number of words in the sketch of a vector.
pub(super) fn words(dimensions: usize) -> usize {
    dimensions.div_ceil(WORD)
}

/// The length of a vector; none if it has no direction.
pub(super) fn length(vector: &[f32]) -> Option<f64> {
    let (_, square) = kernel::product_and_square(vector, vector);
    if (ORDINARY..1.0 / ORDINARY).contains(&square) {
        return Some(f64::from(square).sqrt());
    }
    // In `f64` the square of an `f32` neither overflows nor underflows to zero.
    let square: f64 = vector.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    (square.is_finite() && square > 0.0).then(|| square.sqrt())
}

/// Writes the int8 code of `vector` and returns its scale, [`SILENT`] if it has no direction.
///
/// The largest value determines the step, so nothing is clipped. Clipping at a quantile would make the step finer; it
/// was not tried, because a scan of these codes with exact scoring already had recall 1.0.
pub(super) fn quantise(vector: &[f32], codes: &mut [i8]) -> f32 {
    codes.fill(0);
    if vector.len() != codes.len() || length(vector).is_none() {
        return SILENT;
    }
    kernel::quantise(vector, LARGEST, codes);
    let square: i64 = codes.iter().map(|&code| i64::from(code) * i64::from(code)).sum();
    // The largest value has become ±127, so the square is never zero.
    (1.0 / (square as f64).sqrt()) as f32
}

/// The vector normalised to length 1; none if it has no direction.
pub(super) fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let length = length(vector)?;
    Some(vector.iter().map(|&value| (f64::from(value) / length) as f32).collect())
}

/// A unit vector minus the mean of its scope.
pub(super) struct Centred {
    pub(super) vector: Vec<f32>,
    pub(super) length: f32,
    /// Its inner product with the mean.
    pub(super) bias: f32,
}

/// Subtracts the mean from a normalised vector. None if the vector has no direction or another size.
///
/// With `q = q' + mean` and `v = v' + mean` at length one, their cosine is `q'v' + mean v' + mean q`: the codes give
/// the first term, the row's bias is the second, and the third belongs to the query.
pub(super) fn centre(vector: &[f32], mean: &[f32]) -> Option<Centred> {
    let mut vector = unit(vector).filter(|unit| unit.len() == mean.len())?;
    vector.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
    let (bias, square) = kernel::product_and_square(mean, &vector);
    Some(Centred { vector, length: square.sqrt(), bias })
}

/// The signs of `vector`, one bit per dimension; the last word is padded with zeros.
///
/// Vectors are not rotated randomly: measured on sentence vectors, it did not improve recall. A common component is
/// subtracted before ([`centre`]), because it would give most rows the same signs.
pub(super) fn sketch(vector: &[f32]) -> impl Iterator<Item = u64> {
    bits(vector, |value| value > 0.0)
}

/// The dimensions in which the magnitude of a query is above its root mean square, where a difference of sign weighs
/// more.
///
/// This compares a query of two bits per dimension with rows of one. It costs a second population count and no memory,
/// and improves recall as much as a shortlist of four to eight times the length.
pub(super) fn heavy(vector: &[f32]) -> impl Iterator<Item = u64> {
    let usual = length(vector).map_or(0.0, |length| length / (vector.len() as f64).sqrt());
    bits(vector, move |value| f64::from(value).abs() > usual)
}

fn bits(vector: &[f32], set: impl Fn(f32) -> bool) -> impl Iterator<Item = u64> {
    vector.chunks(WORD).map(move |values| {
        values.iter().enumerate().fold(0, |word, (place, &value)| word | (u64::from(set(value)) << place))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(vector: &[f32], codes: &[i8], silent: bool) {
        let mut found = vec![1; codes.len()];
        let scale = quantise(vector, &mut found);
        assert_eq!(found, codes, "{vector:?}");
        assert_eq!(scale == SILENT, silent, "{vector:?}");
        assert!(scale.is_finite());
    }

    #[test]
    fn codes() {
        check(&[1.0, -1.0, 0.0], &[127, -127, 0], false);
        check(&[0.5, 0.25, -0.125], &[127, 64, -32], false);
        check(&[f32::MAX, f32::MAX, -f32::MAX], &[127, 127, -127], false);
        check(&[f32::MIN_POSITIVE, 0.0, 0.0], &[127, 0, 0], false);
        check(&[f32::from_bits(1), 0.0, 0.0], &[127, 0, 0], false);
        check(&[0.0, -0.0, 0.0], &[0, 0, 0], true);
        check(&[f32::NAN, 1.0, 1.0], &[0, 0, 0], true);
        check(&[f32::INFINITY, 1.0, 1.0], &[0, 0, 0], true);
        check(&[1.0, f32::NEG_INFINITY, 1.0], &[0, 0, 0], true);
        check(&[1.0, 1.0], &[0, 0, 0], true);
        check(&[], &[], true);
    }

    #[test]
    fn a_code_is_within_half_a_step() {
        let vector: Vec<f32> = (0..384).map(|place| (place as f32 * 0.7).sin()).collect();
        let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let mut codes = vec![0; vector.len()];
        quantise(&vector, &mut codes);
        for (&code, &value) in codes.iter().zip(&vector) {
            assert!((f32::from(code) * largest / 127.0 - value).abs() <= largest / 127.0 * 0.5001);
        }
    }

    #[test]
    fn sketches_are_signs() {
        let vector: Vec<f32> = (0..70).map(|place| if place % 3 == 0 { 0.5 } else { -0.5 }).collect();
        let words: Vec<u64> = sketch(&vector).collect();
        for place in 0..128 {
            assert_eq!(words[place / 64] >> (place % 64) & 1 == 1, place < 70 && place % 3 == 0);
        }
    }
}
