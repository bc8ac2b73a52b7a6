//! Classifies the intent of a query by its similarity to example sentences, where its words do not show it.
//!
//! A question word decides: a sentence about the same matter is often nearer than one with the same question word.
//! The vectors of the examples for the model that comes with Loci are part of the binary; for other models they are
//! computed in the background, and until then words decide.

use std::sync::{Arc, LazyLock, OnceLock};

use loci_models::local::MINILM as MINILM_NAME;
use loci_models::{Detail, Embedder};

use super::Plan;
use super::intent::{EXEMPLARS, Intent, nearest_intent};

/// Made by `examples/exemplars.rs`.
static MINILM: LazyLock<Vectors> = LazyLock::new(|| read(include_bytes!("minilm.exemplars")));

/// Each sentence's intent and vector.
type Vectors = Vec<(Intent, Vec<f32>)>;

/// The vectors of the sentences, by one model.
#[derive(Clone, Default)]
pub(crate) struct Exemplars {
    made: Arc<OnceLock<Vectors>>,
    asked: Arc<OnceLock<()>>,
}

impl Exemplars {
    /// The intent of a question with this vector: the one that its words show, otherwise that of the nearest sentence
    /// with at least the cosine `threshold`.
    pub(crate) fn intent(&self, embedder: &Arc<dyn Embedder>, plan: &Plan, vector: &[f32], threshold: f64) -> Intent {
        if plan.intent != Intent::General {
            return plan.intent;
        }
        let exemplars = if embedder.model().name == MINILM_NAME { Some(&*MINILM) } else { self.behind(embedder) };
        // A model that was taught English sees no difference between questions in other scripts.
        let readable = plan.text.chars().filter(|c| c.is_alphabetic()).all(|c| c.is_ascii())
            || embedder.model().name != MINILM_NAME;
        let exemplars = exemplars.filter(|_| readable);
        exemplars.map_or(Intent::General, |known| nearest_intent(vector, known, threshold as f32))
    }

    /// The vectors by another model, if they are there; else they are asked for once.
    fn behind(&self, embedder: &Arc<dyn Embedder>) -> Option<&Vectors> {
        if self.asked.set(()).is_ok() {
            let (made, embedder) = (self.made.clone(), embedder.clone());
            tokio::spawn(async move {
                let sentences: Vec<(Intent, String)> = sentences().collect();
                let texts: Vec<String> = sentences.iter().map(|(_, text)| text.clone()).collect();
                match embedder.embed(&texts, Detail::Sentence).await {
                    Ok(found) => {
                        let intents = sentences.into_iter().map(|(intent, _)| intent);
                        drop(made.set(intents.zip(found.into_iter().map(|found| found.vector)).collect()));
                    }
                    Err(error) => tracing::warn!(%error, "the sentences of the intents were not embedded"),
                }
            });
        }
        self.made.get()
    }
}

fn sentences() -> impl Iterator<Item = (Intent, String)> {
    EXEMPLARS.iter().flat_map(|(intent, texts)| texts.iter().map(|text| (*intent, (*text).to_owned())))
}

fn read(bytes: &[u8]) -> Vectors {
    let intents: Vec<Intent> = sentences().map(|(intent, _)| intent).collect();
    let width = bytes.len() / intents.len();
    let vector = |bytes: &[u8]| bytes.iter().map(|byte| f32::from(byte.cast_signed())).collect();
    intents.into_iter().zip(bytes.chunks_exact(width).map(vector)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Coverage: S1.9.
    #[test]
    fn every_sentence_has_its_vector() {
        assert_eq!(MINILM.len(), sentences().count());
        assert!(MINILM.iter().all(|(_, vector)| vector.len() == 384));
        // A sentence is nearest to itself, so the file belongs to these sentences in this order.
        for (intent, vector) in MINILM.iter() {
            assert_eq!(nearest_intent(vector, &MINILM, 0.45), *intent);
        }
    }
}
