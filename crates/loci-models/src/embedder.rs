//! The interface of embedders.
//!
//! An embedder returns one unit vector per text, in the order of the texts and with the dimensions of its model. It
//! accepts any text: an empty one gets a vector too, and a long one is cut at the limit of the model.

use std::sync::Arc;

use async_trait::async_trait;
use multiversion::multiversion;

use crate::Error;

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Returns the model. It never changes during the life of the embedder, except that its dimensions are 0 until they
    /// are known.
    fn model(&self) -> &Model;

    /// Returns one embedding per text, in the order of `texts`, or an error for all of them.
    ///
    /// Token states are included if `detail` requests them and the model has them; otherwise
    /// [`Embedding::tokens`] is empty.
    async fn embed(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error>;

    /// Does the same for a request that waits: a service outside has a short deadline, is called only once, and not at all
    /// while it is known to be away.
    async fn embed_soon(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        self.embed(texts, detail).await
    }

    /// Embeds questions, for a request that waits. Some models read a question otherwise than a text that may answer it.
    async fn embed_questions(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        self.embed_soon(texts, detail).await
    }

    /// Whether the vector of a question differs from that of the same words as a text.
    fn distinguishes_questions(&self) -> bool {
        false
    }

    /// Fails if the service is away. It calls the service only if nobody did before; if a probe is due, it is made in the
    /// background.
    async fn health(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// Which parts of an embedding are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Detail {
    /// Only the sentence vector.
    Sentence,
    /// The sentence vector and the state of each token, for late interaction.
    Tokens,
}

/// The model of an embedder.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The name. Vectors of equal names are comparable.
    pub name: String,
    /// The number of dimensions of every vector.
    pub dimensions: usize,
    /// The default threshold: two texts with a lower cosine count as unrelated.
    pub similarity_threshold: f32,
    /// Maximum number of tokens. The model ignores the rest of a longer text.
    pub max_tokens: usize,
}

/// The similarity threshold for all-MiniLM-L6-v2 and the text-embedding-3 family.
pub const SIMILARITY_THRESHOLD: f32 = 0.30;

impl Model {
    /// Returns an error if the vectors do not have the expected number of dimensions.
    pub fn expect_dimensions(&self, expected: usize) -> Result<(), Error> {
        if self.dimensions == expected {
            return Ok(());
        }
        Err(Error::WrongDimensions { model: self.name.clone(), expected, found: self.dimensions })
    }
}

/// The embedding of a text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embedding {
    /// The sentence vector, of unit length.
    pub vector: Vec<f32>,
    /// The tokens of the text without the special tokens of the model. Empty unless requested.
    pub tokens: Vec<Token>,
}

/// One token with its contextual state.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// The id of the token in the vocabulary of the model.
    pub id: u32,
    /// The token as written in the vocabulary, such as `loc` or `##i`, or `▁loc` in a unigram vocabulary.
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

    async fn embed_soon(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        (**self).embed_soon(texts, detail).await
    }

    async fn embed_questions(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        (**self).embed_questions(texts, detail).await
    }

    fn distinguishes_questions(&self) -> bool {
        (**self).distinguishes_questions()
    }

    async fn health(&self) -> Result<(), Error> {
        (**self).health().await
    }
}

/// Returns the dot product. It uses sixteen partial sums, because floating-point addition in a single sum has a fixed
/// order and cannot be vectorised. It is compiled for several instruction sets, all with the same result.
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
