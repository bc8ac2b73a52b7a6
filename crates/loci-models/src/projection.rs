//! Compression of token states to 64 bytes.
//!
//! A fixed matrix projects a state of 384 dimensions to 128, which hold nearly all of the variance between tokens, and
//! each dimension is quantised to four bits. The matrix consists of the principal components of token states of the
//! model (`examples/projection.rs` computes it from the vocabulary of the model alone), followed by a rotation that
//! spreads the variance evenly, so that four bits suit every dimension.
//!
//! **Invariant.** States have unit length before and after the projection, and packing keeps cosines up to rounding.

use std::sync::LazyLock;

use multiversion::multiversion;

use crate::embedder::{dot, normalise};

/// Dimensions of a projected state.
pub const DIMENSIONS: usize = 128;

/// Size of a packed state in bytes.
pub const PACKED: usize = DIMENSIONS / 2;

/// The largest absolute value of a quantised number.
const MOST: f32 = 7.0;

/// The offset of the four-bit codes 1 to 15: this code means zero.
const ZERO: i16 = 8;

/// The projection for all-MiniLM-L6-v2, stored as one signed byte per number.
static MINILM: LazyLock<Projection> = LazyLock::new(|| Projection::read(include_bytes!("local/minilm.projection")));

/// The projection matrix of a model.
#[derive(Debug)]
pub struct Projection {
    /// The rows of the matrix, one for each dimension of the result.
    rows: Vec<f32>,
    width: usize,
}

/// The quantised state of a query token, in 16-bit integers that SIMD instructions multiply in pairs.
pub type State = [i16; DIMENSIONS];

impl Projection {
    /// Returns the projection of a model, if it has one. Without one the token states are not stored.
    pub fn of(model: &str) -> Option<&'static Self> {
        (model == crate::local::MINILM).then(|| &*MINILM)
    }

    fn read(bytes: &[u8]) -> Self {
        // The rows are orthonormal, so scaling each to unit length reverts the quantisation scale.
        let width = bytes.len() / DIMENSIONS;
        let mut rows: Vec<f32> = bytes.iter().map(|byte| f32::from(byte.cast_signed())).collect();
        rows.chunks_exact_mut(width).for_each(normalise);
        Self { rows, width }
    }

    /// Projects a state and scales it to unit length. Returns `None` if the state has another width than the matrix.
    pub fn apply(&self, state: &[f32]) -> Option<[f32; DIMENSIONS]> {
        if state.len() != self.width {
            return None;
        }
        let mut small = [0.0; DIMENSIONS];
        for (value, row) in small.iter_mut().zip(self.rows.chunks_exact(self.width)) {
            *value = dot(row, state);
        }
        normalise(&mut small);
        Some(small)
    }
}

/// Quantises a projected state to four bits per dimension.
pub fn pack(state: &[f32; DIMENSIONS]) -> [u8; PACKED] {
    let largest = state.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
    let code = |x: f32| ((x / largest * MOST).round() as i16 + ZERO) as u8;
    let mut packed = [0; PACKED];
    for (byte, pair) in packed.iter_mut().zip(state.chunks_exact(2)) {
        *byte = code(pair[0]) | code(pair[1]) << 4;
    }
    packed
}

/// A stored state, unpacked for comparison.
#[derive(Debug, Clone, Copy)]
pub struct UnpackedState {
    steps: State,
    /// The factor that turns a dot product with `steps` into a cosine.
    scale: f32,
}

impl UnpackedState {
    /// Unpacks a stored state.
    pub fn unpack(packed: &[u8; PACKED]) -> Self {
        let mut steps = [0_i16; DIMENSIONS];
        for (pair, byte) in steps.chunks_exact_mut(2).zip(packed) {
            pair[0] = i16::from(byte & 15) - ZERO;
            pair[1] = i16::from(byte >> 4) - ZERO;
        }
        let length: i32 = steps.iter().map(|x| i32::from(*x) * i32::from(*x)).sum();
        Self { steps, scale: 1.0 / (UNIT * (length.max(1) as f32).sqrt()) }
    }

    /// Returns the cosine to the state of a query token.
    pub fn cosine(&self, query: &State) -> f32 {
        let sum: i32 = self.steps.iter().zip(query).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        sum as f32 * self.scale
    }
}

/// Reorders the state of a query token for [`max_similarity`]: the even dimensions, then the odd ones.
pub fn even_odd(state: &State) -> State {
    std::array::from_fn(|at| if at < PACKED { state[2 * at] } else { state[2 * (at - PACKED) + 1] })
}

/// Raises each value of `best` to the greatest cosine of its query token with these packed states.
///
/// The query tokens must be in the order of [`even_odd`], which is the order of the low and the high bits of packed
/// bytes; a state is then unpacked without moving values between SIMD lanes. The function is compiled for several
/// instruction sets, and its sums equal those of [`UnpackedState::cosine`] bit by bit.
#[multiversion(targets = "simd")]
pub fn max_similarity(query: &[State], packed: &[[u8; PACKED]], best: &mut [f32]) {
    for packed in packed {
        let mut steps = [0_i16; DIMENSIONS];
        let (even, odd) = steps.split_at_mut(PACKED);
        for ((even, odd), byte) in even.iter_mut().zip(odd).zip(packed) {
            *even = i16::from(byte & 15) - ZERO;
            *odd = i16::from(byte >> 4) - ZERO;
        }
        let length: i32 = steps.iter().map(|x| i32::from(*x) * i32::from(*x)).sum();
        let scale = 1.0 / (UNIT * (length.max(1) as f32).sqrt());
        for (best, token) in best.iter_mut().zip(query) {
            let sum: i32 = steps.iter().zip(token).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            *best = best.max(sum as f32 * scale);
        }
    }
}

/// The integer that represents 1.0 in a [`State`]. It is large enough for the precision of a state, and small enough
/// that sums fit into 32 bits.
const UNIT: f32 = 4096.0;

/// Quantises the state of a query token to 16 bits, which are more precise than the four bits of stored states.
pub fn quantise_query(state: &[f32; DIMENSIONS]) -> State {
    state.map(|x| (x * UNIT).round() as i16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(seed: u32) -> [f32; DIMENSIONS] {
        let mut seed = seed;
        let mut state = [0.0; DIMENSIONS];
        for x in &mut state {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *x = (seed >> 8) as f32 / (1 << 24) as f32 - 0.5;
        }
        normalise(&mut state);
        state
    }

    // Coverage: SPEC-6.2.
    #[test]
    fn four_bits_keep_the_cosine() {
        for seed in 1..200 {
            let (a, b) = (some(seed), some(seed + 1000));
            let near: [f32; DIMENSIONS] = std::array::from_fn(|at| 0.8 * a[at] + 0.2 * b[at]);
            for other in [a, b, near] {
                let exact: f32 = a.iter().zip(&other).map(|(a, b)| a * b).sum::<f32>()
                    / other.iter().map(|x| x * x).sum::<f32>().sqrt();
                let kept = UnpackedState::unpack(&pack(&other)).cosine(&quantise_query(&a));
                assert!((exact - kept).abs() < 0.04, "seed {seed}: {exact} {kept}");
            }
        }
    }

    // Coverage: SPEC-7.8.
    #[test]
    fn raised_is_the_best_cosine() {
        let asked: Vec<State> = (1..10).map(|seed| quantise_query(&some(seed))).collect();
        let packed: Vec<[u8; PACKED]> = (50..62).map(|seed| pack(&some(seed))).collect();
        let turned: Vec<State> = asked.iter().map(even_odd).collect();
        let mut best = vec![0.0; asked.len()];
        max_similarity(&turned, &packed, &mut best);
        for (asked, best) in asked.iter().zip(best) {
            let cosines = packed.iter().map(|packed| UnpackedState::unpack(packed).cosine(asked));
            assert_eq!(cosines.fold(0.0, f32::max), best);
        }
    }

    #[test]
    fn a_state_without_direction_stays_silent() {
        assert_eq!(UnpackedState::unpack(&pack(&[0.0; DIMENSIONS])).cosine(&quantise_query(&some(1))), 0.0);
    }

    // Coverage: SPEC-6.2.
    #[test]
    fn the_rows_for_minilm_keep_lengths() {
        let projection = Projection::of(crate::local::MINILM).unwrap();
        assert_eq!(projection.width, 384);
        let row = &projection.rows[..384];
        let small = projection.apply(row).unwrap();
        assert!((small[0] - 1.0).abs() < 0.01, "a row projects onto itself: {}", small[0]);
        assert!(projection.apply(&[0.0; 3]).is_none());
        assert!(Projection::of("another").is_none());
    }
}
