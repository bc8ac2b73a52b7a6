//! A query vector in the forms in which it is compared.
//!
//! It is created once per query and used for every visible scope.

use std::borrow::Cow;

use super::{code, kernel};

/// A query vector.
#[derive(Debug, Clone)]
pub struct Query {
    /// The vector normalised to length 1, if it has a direction.
    direction: Option<Vec<f32>>,
    plain: Coded,
}

/// A query vector, coded like the rows.
#[derive(Debug, Clone)]
pub(super) struct Coded {
    pub(super) codes: Vec<i8>,
    pub(super) scale: f32,
    /// The part of the cosine that comes from the mean, added to every row's estimate.
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

    /// Whether it has a direction and this number of dimensions.
    pub(super) fn suits(&self, dimensions: usize) -> bool {
        self.direction.as_ref().is_some_and(|direction| direction.len() == dimensions)
    }

    /// The query, coded like rows from which this mean is subtracted.
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

    /// The exact cosine with a vector; -1 if it is undefined, so that such a vector never ranks first.
    pub fn exact(&self, vector: &[f32]) -> f32 {
        let (Some(direction), true) = (&self.direction, vector.len() == self.dimensions()) else { return -1.0 };
        let (product, square) = kernel::product_and_square(direction, vector);
        if (code::ORDINARY..1.0 / code::ORDINARY).contains(&square) {
            return (product / square.sqrt()).clamp(-1.0, 1.0);
        }
        // The squared length does not fit into `f32`, or the vector has no direction.
        let Some(length) = code::length(vector) else { return -1.0 };
        let product: f64 = direction.iter().zip(vector).map(|(&own, &other)| f64::from(own) * f64::from(other)).sum();
        (product / length).clamp(-1.0, 1.0) as f32
    }

    /// Number of dimensions.
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
