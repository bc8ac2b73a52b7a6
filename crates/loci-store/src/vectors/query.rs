//! What is being looked for, in every form it is compared in?
//!
//! Made once for a question and used on every scope it may see.

use std::borrow::Cow;

use super::{code, kernel};

/// A question's vector.
#[derive(Debug, Clone)]
pub struct Query {
    /// The vector at length one, if it has a direction.
    direction: Option<Vec<f32>>,
    plain: Coded,
}

/// A question's vector as rows are coded.
#[derive(Debug, Clone)]
pub(super) struct Coded {
    pub(super) codes: Vec<i8>,
    pub(super) scale: f32,
    /// What is added to every row's estimate: the part of the cosine that comes from the mean.
    pub(super) offset: f32,
    pub(super) signs: Vec<u64>,
    pub(super) heavy: Vec<u64>,
}

impl Coded {
    fn new(vector: &[f32]) -> Self {
        let mut codes = vec![0; vector.len()];
        let scale = code::quantise(vector, &mut codes);
        let (signs, heavy) = (code::sketch(vector).collect(), code::heavy(vector).collect());
        Self { codes, scale, offset: 0.0, signs, heavy }
    }
}

impl Query {
    /// Prepares a vector of any length. One without direction (zero or not finite) finds nothing.
    pub fn new(vector: &[f32]) -> Self {
        Self { direction: code::unit(vector), plain: Coded::new(vector) }
    }

    /// Whether it can have neighbours among vectors of so many dimensions.
    pub(super) fn suits(&self, dimensions: usize) -> bool {
        self.direction.as_ref().is_some_and(|direction| direction.len() == dimensions)
    }

    /// The query as rows without this mean are coded.
    pub(super) fn coded(&self, mean: &[f32]) -> Cow<'_, Coded> {
        let Some(direction) = self.direction.as_ref().filter(|_| !mean.is_empty()) else {
            return Cow::Borrowed(&self.plain);
        };
        let Some(centred) = code::centre(direction, mean) else { return Cow::Borrowed(&self.plain) };
        let mut coded = Coded::new(&centred.vector);
        coded.scale *= centred.length;
        coded.offset = centred.bias + kernel::product_and_square(mean, mean).1;
        Cow::Owned(coded)
    }

    /// The cosine with a vector at full precision; -1 where there is none, so that nonsense never ranks first.
    pub fn exact(&self, vector: &[f32]) -> f32 {
        let (Some(direction), true) = (&self.direction, vector.len() == self.dimensions()) else { return -1.0 };
        let (product, square) = kernel::product_and_square(direction, vector);
        if (code::ORDINARY..1.0 / code::ORDINARY).contains(&square) {
            return (product / square.sqrt()).clamp(-1.0, 1.0);
        }
        // Too long or too short for `f32` to square, or no direction at all.
        let Some(length) = code::length(vector) else { return -1.0 };
        let product: f64 = direction.iter().zip(vector).map(|(&own, &other)| f64::from(own) * f64::from(other)).sum();
        (product / length).clamp(-1.0, 1.0) as f32
    }

    /// How many dimensions the vector has.
    pub fn dimensions(&self) -> usize {
        self.plain.codes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines() {
        let check = |left: &[f32], right: &[f32], expect: f32| {
            let found = Query::new(left).exact(right);
            assert!((found - expect).abs() < 1e-6, "{left:?} {right:?}: {found}");
        };
        check(&[1.0, 0.0], &[2.0, 0.0], 1.0);
        check(&[1.0, 0.0], &[0.0, 3.0], 0.0);
        check(&[1.0, 0.0], &[-1e-30, 0.0], -1.0);
        check(&[3e38, 3e38], &[3e38, 0.0], 0.5_f32.sqrt());
        check(&[1.0, 0.0], &[0.0, 0.0], -1.0);
        check(&[0.0, 0.0], &[1.0, 0.0], -1.0);
        check(&[1.0, 0.0], &[f32::NAN, 0.0], -1.0);
        check(&[1.0, 0.0], &[f32::INFINITY, 0.0], -1.0);
        check(&[1.0, 0.0], &[1.0, 0.0, 0.0], -1.0);
    }
}
