//! Reranks the best candidates by an external model.
//!
//! The reranker has its own deadline; if it is late or fails, the order stays and the response is marked as degraded.

use super::rank::RankedCandidate;
use crate::Engine;

impl Engine {
    /// Reranks the candidates. `None` without a reranker; false if it failed.
    pub(crate) async fn rerank(&self, query: &str, candidates: &mut [RankedCandidate]) -> Option<bool> {
        let reranker = self.reranker.as_ref().filter(|_| candidates.len() > 1)?;
        let texts: Vec<String> = candidates.iter().map(|one| one.memory.content.clone()).collect();
        let judged = match reranker.rerank(query, &texts).await {
            Ok(judged) if judged.len() == candidates.len() => judged,
            Ok(judged) => {
                tracing::warn!(expected = candidates.len(), found = judged.len(), "the reranker left texts out");
                return Some(false);
            }
            Err(error) => {
                tracing::warn!(%error, "the reranker failed; results keep their order");
                return Some(false);
            }
        };
        for (candidate, judged) in candidates.iter_mut().zip(judged) {
            candidate.explain.reranked = Some(judged);
        }
        Some(true)
    }
}
