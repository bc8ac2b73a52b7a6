//! How is a vector written in an eighth of its size, or in a thirty-second?
//!
//! Only direction is kept, for only direction is compared. A code's scale is the reciprocal of its own length, so the
//! estimate is the true cosine of two slightly moved vectors: it stays in [-1, 1], and of a vector with itself it is 1.

use super::kernel;

/// The largest magnitude of a code. Symmetrical: -128 is never used, so a vector and its opposite have opposite codes.
const LARGEST: i8 = 127;

/// A squared length from here to its reciprocal is far from the ends of `f32`, and so are the parts of its sum.
pub(super) const ORDINARY: f32 = 1e-20;

/// The scale of a row that has no direction, or no owner.
pub(super) const SILENT: f32 = 0.0;

/// Bits in a word of a sketch.
const WORD: usize = u64::BITS as usize;

/// The number of words in the sketch of a vector.
pub(super) fn words(dimensions: usize) -> usize {
    dimensions.div_ceil(WORD)
}

/// The length of a vector, or nothing if it has no direction.
pub(super) fn length(vector: &[f32]) -> Option<f64> {
    let (_, square) = kernel::product_and_square(vector, vector);
    if (ORDINARY..1.0 / ORDINARY).contains(&square) {
        return Some(f64::from(square).sqrt());
    }
    // In `f64` the square of no `f32` overflows, and that of none but zero is zero.
    let square: f64 = vector.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    (square.is_finite() && square > 0.0).then(|| square.sqrt())
}

/// Writes the int8 code of `vector` and returns its scale, [`SILENT`] if it has no direction.
///
/// The step is set by the largest value: nothing is clipped. Clipping at a quantile would make the step finer; it was
/// not tried, since a scan of these codes with an exact rescore already had recall 1.0.
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

/// The vector at length one, or nothing if it has no direction.
pub(super) fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let length = length(vector)?;
    Some(vector.iter().map(|&value| (f64::from(value) / length) as f32).collect())
}

/// A unit vector without the mean of its scope.
pub(super) struct Centred {
    pub(super) vector: Vec<f32>,
    pub(super) length: f32,
    /// Its inner product with the mean.
    pub(super) bias: f32,
}

/// Takes the mean off a vector at length one. Nothing if it has no direction, or another size.
///
/// With `q = q' + mean` and `v = v' + mean` at length one, their cosine is `q'v' + mean v' + mean q`: the codes give the
/// first term, the row's bias is the second, and the third belongs to the query.
pub(super) fn centre(vector: &[f32], mean: &[f32]) -> Option<Centred> {
    let mut vector = unit(vector).filter(|unit| unit.len() == mean.len())?;
    vector.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
    let (bias, square) = kernel::product_and_square(mean, &vector);
    Some(Centred { vector, length: square.sqrt(), bias })
}

/// The signs of `vector`, one bit a dimension, the last word filled up with zeros.
///
/// No random rotation comes before: on sentence vectors it was measured, and found no more. A common component is taken
/// off before ([`centre`]), because it would give most rows the same signs.
pub(super) fn sketch(vector: &[f32]) -> impl Iterator<Item = u64> {
    bits(vector, |value| value > 0.0)
}

/// The dimensions in which a query is larger than most: where a difference of sign means more.
///
/// This is the query at two bits a dimension against rows at one. It costs a second count of bits and no memory, and
/// does for recall what four to eight times the shortlist would.
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
