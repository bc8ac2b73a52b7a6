//! What is being looked for, in every form it is compared in?
//!
//! Made once for a question and used on every scope it may see.

use super::code;

/// A question's vector.
#[derive(Debug, Clone)]
pub struct Query {
    vector: Vec<f32>,
    length: Option<f64>,
    pub(super) codes: Vec<i8>,
    pub(super) scale: f32,
    pub(super) sketch: Vec<u64>,
}

impl Query {
    /// Prepares a vector of any length. One without direction (zero or not finite) finds nothing.
    pub fn new(vector: &[f32]) -> Self {
        let mut codes = vec![0; vector.len()];
        let scale = code::quantise(vector, &mut codes);
        let sketch = code::sketch(vector).collect();
        Self { vector: vector.to_vec(), length: code::length(vector), codes, scale, sketch }
    }

    /// The cosine with a vector at full precision; -1 where there is none, so that nonsense never ranks first.
    pub fn exact(&self, vector: &[f32]) -> f32 {
        let (Some(own), Some(other)) = (self.length, code::length(vector)) else { return -1.0 };
        if vector.len() != self.vector.len() {
            return -1.0;
        }
        let product: f64 =
            self.vector.iter().zip(vector).map(|(&left, &right)| f64::from(left) * f64::from(right)).sum();
        (product / own / other).clamp(-1.0, 1.0) as f32
    }

    /// How many dimensions the vector has.
    pub fn dimensions(&self) -> usize {
        self.vector.len()
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
