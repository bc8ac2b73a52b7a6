//! A static model2vec model: a table with one vector per token, independent of context.
//!
//! The vector of a text is the weighted mean of its tokens. This is thousands of times cheaper than a network and less
//! accurate.

use super::folder::Folder;
use super::tensors::Tensors;
use super::text_encoder::Encoded;
use crate::embedder::{Detail, Embedding, Token, normalise};
use crate::error::Error;

/// The table of token vectors.
#[derive(Debug)]
pub(super) struct StaticModel {
    pub(super) dimensions: usize,
    rows: Vec<f32>,
    /// The row of each token, if tokens share rows.
    mapping: Option<Vec<usize>>,
    /// The weight of each token, if the weights are not contained in the rows.
    weights: Option<Vec<f32>>,
}

impl StaticModel {
    /// Loads the table of `folder`. `expected` is the number of dimensions in its config.
    pub(super) fn load(folder: &Folder, expected: Option<usize>) -> Result<Self, Error> {
        let tensors = Tensors::open(folder)?;
        let invalid = |field: &str, problem: String| tensors.invalid(field, problem);
        let (shape, rows) = tensors.floats("embeddings")?;
        let [count, dimensions] = shape[..] else {
            return Err(invalid("embeddings", format!("has the shape {shape:?}, but a table is needed")));
        };
        if let Some(expected) = expected.filter(|&expected| expected != dimensions) {
            let problem = format!("config.json says hidden_dim {expected}, but the rows have {dimensions} numbers");
            return Err(invalid("embeddings", problem));
        }
        if count == 0 || dimensions == 0 {
            return Err(invalid("embeddings", "the table is empty".into()));
        }
        let mapping = tensors.has("mapping").then(|| tensors.indices("mapping")).transpose()?;
        if let Some(row) = mapping.iter().flatten().find(|&&row| row >= count) {
            return Err(invalid("mapping", format!("points at row {row}, but the table has {count}")));
        }
        let pieces = mapping.as_ref().map_or(count, Vec::len);
        let weights =
            tensors.has("weights").then(|| tensors.floats("weights")).transpose()?.map(|(_, weights)| weights);
        if let Some(weights) = weights.as_ref().filter(|weights| weights.len() != pieces) {
            return Err(invalid("weights", format!("has {} weights for {pieces} pieces", weights.len())));
        }
        Ok(Self { dimensions, rows, mapping, weights })
    }

    /// Returns the number of tokens with a vector.
    pub(super) fn vocabulary(&self) -> usize {
        self.mapping.as_ref().map_or(self.rows.len() / self.dimensions, Vec::len)
    }

    /// Returns the weighted mean of the tokens. A text without tokens gets a vector of zeros.
    pub(super) fn embed(&self, text: &Encoded, detail: Detail) -> Embedding {
        let mut vector = vec![0.0; self.dimensions];
        for &id in &text.ids {
            let weight = self.weight(id);
            for (sum, x) in vector.iter_mut().zip(self.row(id)) {
                *sum += weight * x;
            }
        }
        normalise(&mut vector);
        let tokens = match detail {
            Detail::Sentence => Vec::new(),
            Detail::Tokens => text.ids.iter().zip(&text.pieces).map(|(&id, piece)| self.token(id, piece)).collect(),
        };
        Embedding { vector, tokens }
    }

    fn token(&self, id: u32, piece: &str) -> Token {
        let mut state = self.row(id).to_vec();
        normalise(&mut state);
        Token { id, piece: piece.to_owned(), state }
    }

    fn row(&self, id: u32) -> &[f32] {
        let row = self.mapping.as_ref().map_or(id as usize, |mapping| mapping[id as usize]);
        &self.rows[row * self.dimensions..][..self.dimensions]
    }

    fn weight(&self, id: u32) -> f32 {
        self.weights.as_ref().map_or(1.0, |weights| weights[id as usize])
    }
}
