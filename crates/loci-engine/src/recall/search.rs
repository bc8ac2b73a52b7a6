//! Search by similarity, layer by layer, as memory providers offer it.
//!
//! Each layer gives a number of results above a threshold, and layers are merged by precedence. Without an embedding
//! model it searches by words, and the response says so.

use std::collections::HashMap;

use loci_models::dot;
use loci_types::{Class, Layer, Memory, MemoryId, Vector, Visible};
use serde::Serialize;

use crate::access::policy::Caller;
use crate::access::settings;
use crate::recall::score::{ScoreTerms, best_first};
use crate::recall::{VectorLane, alike};
use crate::{Engine, RecallHit, RecallRequest, Result};

/// The same question as recall's; `limit` counts per layer.
pub type SearchRequest = RecallRequest;

/// The results of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchResponse {
    /// The results, by layer precedence and then by score.
    pub results: Vec<SearchHit>,
    /// Whether there are further results behind the limit.
    pub more: bool,
    /// Number of results before the limit.
    pub total_count: usize,
    /// The layers that were searched.
    pub searched_layers: Vec<Layer>,
    /// Lanes that could not be asked.
    pub degraded: Vec<String>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// The memory.
    pub memory: Memory,
    /// Its similarity, 0..1.
    pub score: f64,
    /// The layer it came from.
    pub layer: Layer,
}

impl Engine {
    /// Searches each layer and merges by precedence.
    pub async fn search(&self, caller: &Caller, request: SearchRequest) -> Result<SearchResponse> {
        crate::access::bounds::some_layers(request.layers.as_deref())?;
        let (filter, limit, _) = self.read_request(&request)?;
        let searched = request.layers.clone().unwrap_or_else(|| caller.identifiers.layers());
        // Refuses before anything is searched: a missing identifier, or no layer at all.
        let visible = self.visible(caller, Some(&searched)).await?;
        settings::within(visible.categories(), &filter.categories)?;
        let wanted = self.config.retrieval.max_limit;
        // A search by similarity stands on it alone, so it keeps to what the model calls similar.
        let floor = self.embedder.as_ref().map_or(0.0, |model| f64::from(model.model().similarity_threshold));
        // One more than is returned, to know whether there is another page.
        let deep = request.returned.len() + limit + 1;
        let mut merged: Vec<RecallHit> = Vec::new();
        let mut degraded = Vec::new();
        let mut total = 0;
        let mut layers = searched.clone();
        layers.sort_by_key(|layer| layer.precedence());
        layers.dedup();
        for layer in &layers {
            let here = self.visible(caller, Some(&[*layer])).await?;
            let hits = match self.vector_lane(&here, &request, &filter, wanted, floor).await? {
                VectorLane::Hits(_, hits) => hits,
                VectorLane::Disabled | VectorLane::Unavailable(..) => {
                    degraded = vec!["vector".to_owned()];
                    let mut hits = self.store.lexical(&here, &request.query, &filter, wanted).await?;
                    let best = hits.first().map_or(1.0, |hit| hit.score.max(f64::MIN_POSITIVE));
                    hits.iter_mut().for_each(|hit| hit.score /= best);
                    hits
                }
            };
            total += hits.len();
            let ids: Vec<_> = hits.iter().take(deep).map(|hit| hit.id).collect();
            let memories = self.store.fetch(&here, &ids).await?;
            let scores: std::collections::HashMap<_, _> = hits.iter().map(|hit| (hit.id, hit.score)).collect();
            merged.extend(memories.into_iter().map(|memory| plain(scores[&memory.id], memory)));
        }
        self.most_specific(&visible, &mut merged).await?;
        merged.sort_by(|a, b| {
            let precedence = a.memory.layer.precedence().cmp(&b.memory.layer.precedence());
            precedence.then_with(|| best_first((a.score, a.memory.id), (b.score, b.memory.id)))
        });
        merged.retain(|hit| !request.returned.contains(&hit.memory.id));
        let more = merged.len() > limit;
        merged.truncate(limit);
        let results = merged
            .into_iter()
            .map(|hit| SearchHit { layer: hit.memory.layer, score: hit.score, memory: hit.memory })
            .collect();
        Ok(SearchResponse { results, more, total_count: total, searched_layers: layers, degraded })
    }
}

impl Engine {
    /// Leaves the most specific of those that say the same in several layers.
    async fn most_specific(&self, visible: &Visible, hits: &mut Vec<RecallHit>) -> Result<()> {
        let ids: Vec<MemoryId> = hits.iter().map(|hit| hit.memory.id).collect();
        let vectors: HashMap<MemoryId, Vector> = match self.model() {
            Some(model) => self.store.vectors(visible, &model.name, &ids).await?.into_iter().collect(),
            None => HashMap::new(),
        };
        let lasts = |memory: &Memory| self.kinds.spec(&memory.kind).class != Class::Episodic;
        let same = |a: &Memory, b: &Memory| {
            let cosine = vectors.get(&a.id).zip(vectors.get(&b.id)).map(|(a, b)| f64::from(dot(&a.values, &b.values)));
            let near = cosine.is_some_and(|cosine| cosine >= self.config.retrieval.duplicate_similarity);
            a.content_hash == b.content_hash || (near && alike(&a.content, &b.content))
        };
        // Layers come in the order of precedence, so the first of those that say the same is the most specific.
        let mut kept: Vec<RecallHit> = Vec::with_capacity(hits.len());
        for hit in hits.drain(..) {
            let twin = kept.iter().any(|other| {
                other.memory.layer != hit.memory.layer
                    && lasts(&other.memory)
                    && lasts(&hit.memory)
                    && same(&other.memory, &hit.memory)
            });
            if !twin {
                kept.push(hit);
            }
        }
        *hits = kept;
        Ok(())
    }
}

/// A memory as a hit that no lane has weighed.
pub(crate) fn plain(score: f64, memory: Memory) -> RecallHit {
    RecallHit {
        memory,
        score,
        newer: None,
        explain: crate::Explanation {
            similarity: Some(score),
            confidence: 1.0,
            terms: ScoreTerms { relevance: score, ..ScoreTerms::default() },
            ..crate::Explanation::default()
        },
    }
}
