//! The interface of rerankers.
//!
//! A reranker returns one relevance per text, in the order of the texts, within its deadline. Recall has an order
//! without it, so a reranker that is late or fails returns an error, and never a part of the relevances.

use async_trait::async_trait;

use crate::Error;

/// Scores how well texts answer a question.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Returns the name of the model, for traces and logs. It never contains a key.
    fn name(&self) -> &str;

    /// Returns one relevance in 0..=1 per text, in the order of the texts, or an error for all of them.
    ///
    /// An empty list succeeds without a call. Errors quote neither `query` nor `texts`.
    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f64>, Error>;
}
