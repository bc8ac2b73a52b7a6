//! Synthetic sentence vectors from a seed.
//!
//! They form clusters of different tightness around centres, in coordinates of different spread, with a common offset.
//! This distinguishes real embeddings from noise on a sphere, and makes sign bits differ in weight.

use rand::rngs::SmallRng;
use rand::{Rng, RngCore, SeedableRng};

/// Average number of members of a cluster.
const MEMBERS: usize = 200;

/// A source of vectors of unit length.
pub(crate) struct Seeded {
    random: SmallRng,
    spread: Vec<f32>,
    centres: Vec<Vec<f32>>,
}

impl Seeded {
    /// A source for about `many` vectors.
    pub(crate) fn new(seed: u64, many: usize, dimensions: usize) -> Self {
        let mut random = SmallRng::seed_from_u64(seed);
        let spread: Vec<f32> = (0..dimensions).map(|_| random.random_range(0.3_f32..1.7)).collect();
        let lean: Vec<f32> = spread.iter().map(|spread| 0.3 * spread * gaussian(&mut random)).collect();
        let centres = (0..many.div_ceil(MEMBERS))
            .map(|_| spread.iter().zip(&lean).map(|(spread, lean)| lean + spread * gaussian(&mut random)).collect())
            .collect();
        Self { random, spread, centres }
    }

    /// The next vector, near a random centre.
    pub(crate) fn next(&mut self) -> Vec<f32> {
        let centre = self.random.random_range(0..self.centres.len());
        let distance = self.random.random_range(0.4_f32..1.0);
        let vector: Vec<f32> = self.centres[centre]
            .iter()
            .zip(&self.spread)
            .map(|(centre, spread)| centre + distance * spread * gaussian(&mut self.random))
            .collect();
        unit(vector)
    }
}

/// The vector normalised to length 1.
pub(crate) fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|value| *value /= length);
    vector
}

/// An approximately normal variate from one call of the generator: the sum of four uniform ones, scaled to variance 1.
fn gaussian(random: &mut SmallRng) -> f32 {
    let bits = random.next_u64();
    let sum: u32 = (0..4).map(|place| (bits >> (16 * place)) as u32 & 0xFFFF).sum();
    (sum as f32 / 65_536.0 - 2.0) * 1.732
}
