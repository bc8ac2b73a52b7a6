//! How is a token's state kept small without losing what it says?
//!
//! A state of 384 numbers is turned by a fixed matrix into 128, which hold nearly all that differs
//! between tokens, and each of these is kept in four bits. The matrix is made of principal
//! directions of the model's own states (`examples/projection.rs` derives it from nothing but the
//! model's vocabulary), turned once more so that no direction is louder than another: then four
//! bits serve all of them equally.
//!
//! **Invariant.** States are of unit length before and after, and a kept one keeps its cosine to any
//! other, up to rounding.

use std::sync::LazyLock;

use multiversion::multiversion;

use crate::embedder::{dot, normalise};

/// Numbers in a projected state.
pub const DIMENSIONS: usize = 128;

/// Bytes of a packed state.
pub const PACKED: usize = DIMENSIONS / 2;

/// The largest absolute value of four bits with a sign.
const MOST: f32 = 7.0;

/// Four bits are written as numbers from 1 to 15; this is the zero among them.
const ZERO: i16 = 8;

/// The directions for all-MiniLM-L6-v2, one signed byte a number.
static MINILM: LazyLock<Projection> = LazyLock::new(|| Projection::read(include_bytes!("local/minilm.projection")));

/// A matrix that makes states small.
#[derive(Debug)]
pub struct Projection {
    /// Row after row, a row for each number of the result.
    rows: Vec<f32>,
    width: usize,
}

/// The state of a question's token: sixteen bits each, which processors multiply in pairs.
pub type State = [i16; DIMENSIONS];

impl Projection {
    /// The projection made for a model; none if it has none, and then its token states are not kept.
    pub fn of(model: &str) -> Option<&'static Self> {
        (model == crate::local::MINILM).then(|| &*MINILM)
    }

    fn read(bytes: &[u8]) -> Self {
        // The rows are orthonormal, so one factor scales them all back.
        let width = bytes.len() / DIMENSIONS;
        let mut rows: Vec<f32> = bytes.iter().map(|byte| f32::from(byte.cast_signed())).collect();
        rows.chunks_exact_mut(width).for_each(normalise);
        Self { rows, width }
    }

    /// The state in few numbers, of unit length. One of another width has no meaning here.
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

/// The state in four bits a number.
pub fn pack(state: &[f32; DIMENSIONS]) -> [u8; PACKED] {
    let loudest = state.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
    let code = |x: f32| ((x / loudest * MOST).round() as i16 + ZERO) as u8;
    let mut packed = [0; PACKED];
    for (byte, pair) in packed.iter_mut().zip(state.chunks_exact(2)) {
        *byte = code(pair[0]) | code(pair[1]) << 4;
    }
    packed
}

/// A kept state, ready to be compared.
#[derive(Debug, Clone, Copy)]
pub struct UnpackedState {
    steps: State,
    /// What turns a product with its steps into a cosine.
    scale: f32,
}

impl UnpackedState {
    /// Takes a packed state apart.
    pub fn unpack(packed: &[u8; PACKED]) -> Self {
        let mut steps = [0_i16; DIMENSIONS];
        for (pair, byte) in steps.chunks_exact_mut(2).zip(packed) {
            pair[0] = i16::from(byte & 15) - ZERO;
            pair[1] = i16::from(byte >> 4) - ZERO;
        }
        let length: i32 = steps.iter().map(|x| i32::from(*x) * i32::from(*x)).sum();
        Self { steps, scale: 1.0 / (UNIT * (length.max(1) as f32).sqrt()) }
    }

    /// The cosine to a state of a question.
    pub fn cosine(&self, asked: &State) -> f32 {
        let sum: i32 = self.steps.iter().zip(asked).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        sum as f32 * self.scale
    }
}

/// The state of a question in the order that [`raise`] wants: the even numbers, then the odd ones.
pub fn even_odd(state: &State) -> State {
    std::array::from_fn(|at| if at < PACKED { state[2 * at] } else { state[2 * (at - PACKED) + 1] })
}

/// Raises each of `best` to the cosine of its token with the nearest of these packed states. The tokens are in
/// [halves], as low and high bits lie: so a state is taken apart without moving anything across. Compiled once per
/// instruction set; the sums are those of [`UnpackedState::cosine`], to the last bit.
#[multiversion(targets = "simd")]
pub fn max_similarity(asked: &[State], packed: &[[u8; PACKED]], best: &mut [f32]) {
    for packed in packed {
        let mut steps = [0_i16; DIMENSIONS];
        let (even, odd) = steps.split_at_mut(PACKED);
        for ((even, odd), byte) in even.iter_mut().zip(odd).zip(packed) {
            *even = i16::from(byte & 15) - ZERO;
            *odd = i16::from(byte >> 4) - ZERO;
        }
        let length: i32 = steps.iter().map(|x| i32::from(*x) * i32::from(*x)).sum();
        let scale = 1.0 / (UNIT * (length.max(1) as f32).sqrt());
        for (best, asked) in best.iter_mut().zip(asked) {
            let sum: i32 = steps.iter().zip(asked).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            *best = best.max(sum as f32 * scale);
        }
    }
}

/// What one is in a [`State`]: large enough to lose nothing, small enough that sums fit.
const UNIT: f32 = 4096.0;

/// The state of a question as it is compared; nothing is lost to four bits.
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
