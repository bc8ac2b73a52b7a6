//! An embedder that returns given vectors, in place of the model.
//!
//! A stand-in that looks up the vectors it was given; its vectors are stored under a name that says so. It has
//! no token states, so late interaction is not part of what is measured with it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use loci_models::embedder::SIMILARITY_THRESHOLD;
use loci_models::{Detail, Embedder, Embedding, Error, Model};
use loci_types::Vector;

use super::data::Row;
use crate::bench::data::DIMENSIONS;

/// The name of the stand-in's vectors.
const NAME: &str = "given-vectors";

/// Texts and their vectors, as long as a command needs them.
pub(super) struct Given {
    model: Model,
    vectors: Mutex<HashMap<String, Vec<f32>>>,
}

impl Default for Given {
    fn default() -> Self {
        let model = Model {
            name: NAME.to_owned(),
            dimensions: DIMENSIONS,
            similarity_threshold: SIMILARITY_THRESHOLD,
            max_tokens: 256,
        };
        Self { model, vectors: Mutex::default() }
    }
}

impl Given {
    /// The vector of a row as the store keeps it.
    pub(super) fn vector(row: &Row) -> Vector {
        Vector { model: NAME.to_owned(), values: row.vector.clone(), token_states: None }
    }

    /// Whoever asks for this text next is given this vector.
    pub(super) fn give(&self, text: &str, vector: &[f32]) {
        self.vectors().insert(text.to_owned(), vector.to_owned());
    }

    /// Nothing is at hand any more.
    pub(super) fn clear(&self) {
        *self.vectors() = HashMap::new();
    }

    fn vectors(&self) -> MutexGuard<'_, HashMap<String, Vec<f32>>> {
        self.vectors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Embedder for Given {
    fn model(&self) -> &Model {
        &self.model
    }

    async fn embed(&self, texts: &[String], _: Detail) -> Result<Vec<Embedding>, Error> {
        let known = self.vectors();
        // Nobody gave the sentences that tell intents apart; they lie where nothing else does, and so are like nothing.
        let vector = |text: &String| known.get(text).cloned().unwrap_or_else(|| vec![0.0; DIMENSIONS]);
        Ok(texts.iter().map(|text| Embedding { vector: vector(text), tokens: Vec::new() }).collect())
    }
}
