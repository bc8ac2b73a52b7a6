//! Does someone else read the best once more?
//!
//! An outside model may judge the best hits by reading them. It has a deadline of its own; when it
//! is late or fails, the order stays as it is and the answer says so.

use super::RecallHit;
use crate::config::Weights;
use crate::{Engine, Result};

impl Engine {
    /// Lets the reranker judge the hits, if there is one. False if it could not.
    pub(crate) async fn rerank(&self, query: &str, weights: &Weights, hits: &mut [RecallHit]) -> Result<bool> {
        let Some(reranker) = self.reranker.as_ref().filter(|_| hits.len() > 1) else { return Ok(true) };
        let texts: Vec<String> = hits.iter().map(|hit| hit.memory.content.clone()).collect();
        let judged = match reranker.rerank(query, &texts).await {
            Ok(judged) if judged.len() == hits.len() => judged,
            Ok(judged) => {
                tracing::warn!(expected = hits.len(), found = judged.len(), "the reranker left texts out");
                return Ok(false);
            }
            Err(error) => {
                tracing::warn!(%error, "the reranker failed; the order stays");
                return Ok(false);
            }
        };
        for (hit, judged) in hits.iter_mut().zip(judged) {
            hit.explain.reranked = Some(judged);
            hit.explain.terms.relevance = judged;
            hit.score = hit.explain.score(weights);
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.memory.id.cmp(&b.memory.id)));
        Ok(true)
    }
}
