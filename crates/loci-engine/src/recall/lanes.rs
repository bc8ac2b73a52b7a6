//! The lanes: independent searches, each with ids and scores of its own scale.
//!
//! They run concurrently; only the graph lane waits, because it starts from the hits of the others.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::Ordering;

use loci_models::Embedding;
use loci_store::{Frequencies, Hit, Measure};
use loci_types::{Error, ErrorKind, Filter, MemoryId, Visible};
use serde::{Deserialize, Serialize};

use super::readable::readable;
use super::{LaneRank, RecallRequest};
use crate::recall::plan::Plan;
use crate::{Engine, Result};

/// Maximum number of memories without a vector that are added to the candidates.
const MAX_UNEMBEDDED: usize = 64;

/// Which lanes are searched, and how the results are ordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// All lanes, ordered by score.
    #[default]
    Hybrid,
    /// The vector lane alone; its cosine is the relevance.
    Semantic,
    /// The lexical lane alone; how a memory fares beside the best is the relevance.
    Lexical,
    /// The newest first.
    Recency,
    /// The most important first.
    Importance,
    /// The lexical, vector and graph lanes, merged by reciprocal rank fusion with the weights `retrieval.rrf_*`.
    Rrf,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 6] =
        [Self::Hybrid, Self::Semantic, Self::Lexical, Self::Recency, Self::Importance, Self::Rrf];

    /// The word, as it is given and printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Semantic => "semantic",
            Self::Lexical => "lexical",
            Self::Recency => "recency",
            Self::Importance => "importance",
            Self::Rrf => "rrf",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|strategy| strategy.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|strategy| strategy.name()).collect();
            Error::invalid("strategy", format!("`{text}` is not a known strategy"))
                .hint(format!("use one of {}", names.join(", ")))
        })
    }
}

/// A memory's place in one lane, while it is weighed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rank {
    pub(crate) lane: &'static str,
    pub(crate) rank: usize,
    pub(crate) score: f64,
}

impl From<Rank> for LaneRank {
    fn from(Rank { lane, rank, score }: Rank) -> Self {
        Self { lane: lane.to_owned(), rank, score }
    }
}

/// The results of the lanes.
pub(crate) struct LaneResults {
    pub(crate) strategy: Strategy,
    pub(crate) lanes: Vec<(&'static str, Vec<Hit>)>,
    /// The embedding of the query. `None` without a model.
    pub(crate) embedding: Option<Embedding>,
    /// The vector of the query by the multilingual model. `None` if it was not used.
    pub(crate) in_languages: Option<Vec<f32>>,
    /// Whether the vector lane was wanted and could not be asked.
    lane_missed: bool,
    pub(crate) frequencies: Frequencies,
}

impl LaneResults {
    /// The parts that could not be asked.
    pub(crate) fn degraded(&self) -> Vec<String> {
        if self.lane_missed { vec!["vector".to_owned()] } else { Vec::new() }
    }

    /// The number of results of all lanes. A memory that several lanes found is counted for each of them.
    pub(crate) fn count(&self) -> usize {
        self.lanes.iter().map(|(_, hits)| hits.len()).sum()
    }

    /// The places of every memory that was found.
    pub(crate) fn ranks(&self) -> HashMap<MemoryId, Vec<Rank>> {
        let mut ranks: HashMap<MemoryId, Vec<Rank>> = HashMap::new();
        for (lane, hits) in &self.lanes {
            for (place, hit) in hits.iter().enumerate() {
                ranks.entry(hit.id).or_default().push(Rank { lane, rank: place + 1, score: hit.score });
            }
        }
        ranks
    }
}

impl Engine {
    /// Searches the lanes of the strategy.
    pub(crate) async fn ask_lanes(
        &self,
        visible: &Visible,
        filter: &Filter,
        request: &RecallRequest,
        plan: &mut Plan,
        limit: usize,
    ) -> Result<LaneResults> {
        let retrieval = &self.config.retrieval;
        let wanted = (limit * retrieval.overfetch).max(retrieval.candidates);
        let strategy = request.strategy.unwrap_or(retrieval.strategy);
        let mut found = LaneResults {
            strategy,
            lanes: Vec::new(),
            embedding: None,
            in_languages: None,
            lane_missed: false,
            frequencies: Frequencies::default(),
        };
        match strategy {
            Strategy::Hybrid | Strategy::Rrf => {
                let terms = self.analyser.distinct_query_terms(&request.query);
                // The newest and the most important memories are only candidates if the question asks for them; a memory without a
                // vector yet would be found by its words alone.
                let newest = async |wanted: bool, by: Measure| match wanted {
                    true => self.store.top_by(visible, filter, by, limit.max(MAX_UNEMBEDDED)).await,
                    false => Ok(Vec::new()),
                };
                // The scores of a query that the model cannot read mean nothing, so the threshold is off; the multilingual model
                // scores the candidates.
                let floor = if readable(&request.query) { retrieval.vector_floor } else { -1.0 };
                // The model works elsewhere, so it is asked first and the others answer meanwhile.
                let (vector, languages, lexical, frequencies, waiting, recency, importance) = futures::join!(
                    self.vector_lane(visible, request, filter, wanted, floor),
                    self.languages_lane(visible, request, filter, wanted),
                    self.store.lexical(visible, &request.query, filter, wanted),
                    self.store.frequencies(visible, &terms),
                    newest(self.embedder.is_some(), Measure::Unembedded),
                    newest(plan.asks.newest, Measure::Newest),
                    newest(plan.asks.important, Measure::Importance),
                );
                let vector = vector?;
                found.lane_missed = !matches!(vector, VectorLane::Hits(..));
                let (embedding, nearest) = vector.parts();
                let lexical = lexical?;
                if let (Some(embedder), Some(embedding)) = (&self.embedder, &embedding) {
                    let threshold = retrieval.intent_similarity_threshold;
                    plan.intent = self.exemplars.intent(embedder, plan, &embedding.vector, threshold);
                }
                let (in_languages, others) = languages?;
                let graph = self.graph_lane(visible, filter, plan, &[&lexical, &nearest], wanted).await?;
                found.lanes = vec![
                    ("lexical", lexical),
                    ("vector", nearest),
                    ("languages", others),
                    ("graph", graph),
                    ("waiting", waiting?),
                    ("recency", recency?),
                    ("importance", importance?),
                ];
                (found.embedding, found.frequencies) = (embedding, frequencies?);
                found.in_languages = in_languages;
            }
            Strategy::Semantic => {
                let vector = self.vector_lane(visible, request, filter, wanted, retrieval.vector_floor).await?;
                found.lane_missed = !matches!(vector, VectorLane::Hits(..));
                // This is the only lane, so its failure must not look like an empty result.
                match vector {
                    VectorLane::Unavailable(_, error) => return Err(error.into()),
                    VectorLane::Disabled if self.embedder.is_some() => {
                        return Err(Error::new(ErrorKind::EmbeddingFailed, "the embedding model failed")
                            .at("strategy")
                            .hint("try again, or ask with the strategy hybrid, which falls back to words")
                            .into());
                    }
                    vector => {
                        let (embedding, nearest) = vector.parts();
                        found.lanes = vec![("vector", nearest)];
                        found.embedding = embedding;
                    }
                }
            }
            Strategy::Lexical => {
                let mut hits = self.store.lexical(visible, &request.query, filter, wanted).await?;
                let best = hits.first().map_or(1.0, |hit| hit.score.max(f64::MIN_POSITIVE));
                hits.iter_mut().for_each(|hit| hit.score /= best);
                found.lanes = vec![("lexical", hits)];
            }
            Strategy::Recency => {
                found.lanes = vec![("recency", self.store.top_by(visible, filter, Measure::Newest, wanted).await?)];
            }
            Strategy::Importance => {
                let hits = self.store.top_by(visible, filter, Measure::Importance, wanted).await?;
                found.lanes = vec![("importance", hits)];
            }
        }
        Ok(found)
    }

    /// The embedding of the question by the multilingual model, and the nearest of its vectors. A question that the main
    /// model can read is only searched if memories in other languages exist.
    async fn languages_lane(
        &self,
        visible: &Visible,
        request: &RecallRequest,
        filter: &Filter,
        wanted: usize,
    ) -> Result<(Option<Vec<f32>>, Vec<Hit>)> {
        let Some(languages) = &self.languages else { return Ok((None, Vec::new())) };
        if readable(&request.query) && !self.has_multilingual_vectors.load(Ordering::Relaxed) {
            let names = self.store.model_names(visible).await?;
            if !names.contains(&languages.model().name) {
                return Ok((None, Vec::new()));
            }
            self.has_multilingual_vectors.store(true, Ordering::Relaxed);
        }
        let Some(vector) = self.embed_in_languages(&request.query).await else { return Ok((None, Vec::new())) };
        let mut hits = match self.store.nearest(visible, &vector, filter, wanted).await {
            Ok(hits) => hits,
            Err(error) if error.is_of_index() => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        hits.retain(|hit| request.threshold.is_none_or(|threshold| hit.score >= threshold));
        Ok((Some(vector.values), hits))
    }

    /// The embedding of the question, and the nearest memories above the threshold of the caller, the configured one or
    /// `floor`.
    pub(crate) async fn vector_lane(
        &self,
        visible: &Visible,
        request: &RecallRequest,
        filter: &Filter,
        wanted: usize,
        floor: f64,
    ) -> Result<VectorLane> {
        let Some((vector, embedding)) = self.embed_question(&request.query).await else {
            return Ok(VectorLane::Disabled);
        };
        let mut hits = match self.store.nearest(visible, &vector, filter, wanted).await {
            Ok(hits) => hits,
            Err(error) if error.is_of_index() => return Ok(VectorLane::Unavailable(embedding, error)),
            Err(error) => return Err(error.into()),
        };
        let threshold = request.threshold.or(self.config.retrieval.threshold).unwrap_or(floor);
        hits.retain(|hit| hit.score >= threshold);
        Ok(VectorLane::Hits(embedding, hits))
    }
}

/// The outcome of the vector lane.
pub(crate) enum VectorLane {
    /// No model is configured.
    Disabled,
    /// The index that proposes the nearest cannot be asked now.
    Unavailable(Embedding, loci_store::Error),
    /// The embedding of the question and the nearest memories.
    Hits(Embedding, Vec<Hit>),
}

impl VectorLane {
    /// The embedding and the hits, if any.
    fn parts(self) -> (Option<Embedding>, Vec<Hit>) {
        match self {
            VectorLane::Disabled => (None, Vec::new()),
            VectorLane::Unavailable(embedding, _) => (Some(embedding), Vec::new()),
            VectorLane::Hits(embedding, hits) => (Some(embedding), hits),
        }
    }
}
