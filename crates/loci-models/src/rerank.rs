//! What does a reranker owe its callers?
//!
//! One relevance per text, in the order of the texts, and all of it in time. A reranker is a
//! second opinion: the order without it is already good, so one that is late or unsure answers
//! with an error, and never with half of the relevances.

use async_trait::async_trait;

use crate::Error;

/// Orders texts by how well they answer a question.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Names the model, for traces and logs. Never holds a key.
    fn name(&self) -> &str;

    /// One relevance in 0..=1 per text, in the order of the texts, or an error for all of them.
    ///
    /// No text is needed to get no relevance: an empty list succeeds without asking anyone. Errors
    /// quote neither `query` nor `texts`.
    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f64>, Error>;
}
