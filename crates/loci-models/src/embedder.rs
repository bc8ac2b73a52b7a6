//! What does an embedder owe its callers?
//!
//! One unit vector per text, in the order of the texts, always of the model's own dimension. Any
//! text is welcome: an empty one gets a vector, a long one is cut at the model's limit.

use std::sync::Arc;

use async_trait::async_trait;
use multiversion::multiversion;

use crate::Error;

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Which vectors this embedder makes. Never changes during its life.
    fn model(&self) -> &Model;

    /// One embedding per text, in the order of `texts`, or an error for all of them.
    ///
    /// Token states are given when `detail` asks for them and the model has them; an embedder
    /// without token states answers with empty [`Embedding::tokens`].
    async fn embed(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error>;
}

/// How much of the model's view of a text is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Detail {
    /// The sentence vector alone.
    Sentence,
    /// The sentence vector and each token's state, for late interaction.
    Tokens,
}

/// Which vectors an embedder makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Names the vectors: equal names mean comparable vectors.
    pub name: String,
    /// The length of every vector.
    pub dimensions: usize,
    /// The cosine below which two texts are as good as unrelated, when the caller sets none.
    pub similarity_threshold: f32,
    /// Tokens beyond this many are not seen by the model.
    pub max_tokens: usize,
}

/// The threshold that fits all-MiniLM-L6-v2 and the text-embedding-3 family.
pub const SIMILARITY_THRESHOLD: f32 = 0.30;

impl Model {
    /// Refuses a model whose vectors do not have the length that is wanted, such as the length of
    /// vectors already stored.
    pub fn expect_dimensions(&self, expected: usize) -> Result<(), Error> {
        if self.dimensions == expected {
            return Ok(());
        }
        Err(Error::WrongDimensions { model: self.name.clone(), expected, found: self.dimensions })
    }
}

/// A text as the model sees it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embedding {
    /// The sentence vector, of unit length.
    pub vector: Vec<f32>,
    /// The text's tokens without the model's own markers; empty unless asked for.
    pub tokens: Vec<Token>,
}

/// One word piece in its context.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// The piece's number in the model's vocabulary.
    pub id: u32,
    /// The piece as the vocabulary writes it, such as `loc` or `##i`, or `▁loc` in a unigram vocabulary.
    pub piece: String,
    /// The last hidden state, of unit length.
    pub state: Vec<f32>,
}

#[async_trait]
impl<E: Embedder + ?Sized> Embedder for Arc<E> {
    fn model(&self) -> &Model {
        (**self).model()
    }

    async fn embed(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        (**self).embed(texts, detail).await
    }
}

/// The sum of products of two vectors, in sixteen sums side by side: a single one would have to keep their order,
/// and so could not be computed in parallel. Compiled once per instruction set; the sum is the same in each.
#[multiversion(targets = "simd")]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..16 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// Scales `vector` to unit length. A vector of zeros has no direction and stays as it is.
pub(crate) fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        for x in vector {
            *x /= length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_scaled_to_unit_length_and_zeros_stay() {
        for (input, expected) in [([3.0, 4.0], [0.6, 0.8]), ([0.0, 0.0], [0.0, 0.0]), ([-2.0, 0.0], [-1.0, 0.0])] {
            let mut vector = input;
            normalise(&mut vector);
            assert_eq!(vector, expected, "{input:?}");
        }
    }

    #[test]
    fn another_dimension_is_refused_by_name() {
        let model = Model { name: "m".into(), dimensions: 384, similarity_threshold: 0.3, max_tokens: 256 };
        assert!(model.expect_dimensions(384).is_ok());
        let error = model.expect_dimensions(1536).unwrap_err();
        assert_eq!(error.to_string(), "the model `m` makes vectors of 384 dimensions, but 1536 are expected");
    }
}
