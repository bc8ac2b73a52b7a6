//! What matters now?
//!
//! Visible → lanes → fuse → score → one of each → the best. Every hit can say which lanes found
//! it, at which rank, and what each term of its score was. What recall returned is counted behind.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use loci_store::Hit;
use loci_types::{Action, Class, Error, ErrorKind, Filter, Layer, Memory, MemoryId, Vector, Visible};
use serde::{Deserialize, Serialize};

use crate::fuse::{Candidate, fuse};
use crate::policy::{self, Caller};
use crate::score::{self, Terms};
use crate::{Engine, Result};

/// A question to the memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallRequest {
    /// The question.
    pub query: String,
    /// In these layers; none: in all that the identifiers open.
    pub layers: Option<Vec<Layer>>,
    /// So many hits; none: the configured number.
    pub limit: Option<usize>,
    /// Cosine below which the vector lane does not count; none: as configured.
    pub threshold: Option<f64>,
    /// Only those that match; none: what holds now.
    pub filter: Option<Filter>,
    /// As if it were then.
    pub at: Option<Timestamp>,
}

/// What recall found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recall {
    /// The hits, best first.
    pub hits: Vec<RecallHit>,
    /// Lanes that could not be asked.
    pub degraded: Vec<String>,
}

/// One memory that recall found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecallHit {
    /// The memory.
    pub memory: Memory,
    /// Its score.
    pub score: f64,
    /// Why it is here.
    pub explain: Explanation,
}

/// Why a memory was found and ranked as it was:
/// `score = (wₛ·relevance + wᵣ·recency + wᵤ·utility) · boost + layer`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The lanes that found it.
    pub lanes: Vec<LaneRank>,
    /// Its cosine to the question, `max(0, cosine)`; none without vectors.
    pub similarity: Option<f64>,
    /// The lanes' evidence as one number.
    pub relevance: f64,
    /// How recent it is.
    pub recency: f64,
    /// How useful it has been.
    pub utility: f64,
    /// The boost of its kind.
    pub boost: f64,
    /// What its layer adds.
    pub layer: f64,
    /// Memories that say the same and gave way to this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stands_for: Vec<MemoryId>,
}

/// A memory's place in one lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LaneRank {
    /// The lane.
    pub lane: String,
    /// The place, from 1.
    pub rank: usize,
    /// The score on the lane's own scale.
    pub score: f64,
}

impl Engine {
    /// Finds what matters to a question.
    pub async fn recall(&self, caller: &Caller, request: RecallRequest) -> Result<Recall> {
        let visible = policy::visible(caller, request.layers.as_deref())?;
        let (filter, limit, now) = self.read_request(&request)?;
        let retrieval = &self.config.retrieval;
        let wanted = (limit * retrieval.overfetch).max(retrieval.candidates);

        let (lexical, vector) = futures::join!(
            self.store.lexical(&visible, &request.query, &filter, wanted),
            self.vector_lane(&visible, &request, &filter, wanted, retrieval.vector_floor),
        );
        let (lexical, vector) = (lexical?, vector?);
        let degraded = if vector.is_none() { vec!["vector".to_owned()] } else { Vec::new() };
        let (query, nearest) = vector.unzip();

        let candidates = fuse(&lexical, nearest.as_deref().unwrap_or_default(), retrieval);
        let mut hits = self.score_candidates(&visible, candidates, now).await?;
        self.one_of_each(&visible, query.as_ref(), &mut hits).await?;
        hits.retain(|hit| hit.score >= retrieval.score_threshold);
        hits.truncate(limit);
        self.count_access(caller, &hits).await;
        Ok(Recall { hits, degraded })
    }

    /// Checks a question and fills in what it leaves open.
    pub(crate) fn read_request(&self, request: &RecallRequest) -> Result<(Filter, usize, Timestamp)> {
        let (length, most) = (request.query.chars().count(), self.config.limits.query_characters);
        if length > most {
            return Err(Error::new(
                ErrorKind::QueryTooLong,
                format!("query has {length} characters, more than {most}"),
            )
            .at("query")
            .hint("ask a shorter question")
            .into());
        }
        if request.query.trim().is_empty() {
            return Err(Error::invalid("query", "query is empty").hint("ask something; `loci list` shows all").into());
        }
        if let Some(threshold) = request.threshold {
            loci_types::unit("threshold", threshold)?;
        }
        let retrieval = &self.config.retrieval;
        let limit = request.limit.unwrap_or(retrieval.limit);
        if limit == 0 || limit > retrieval.max_limit {
            return Err(Error::invalid(
                "limit",
                format!("limit is {limit}, but must lie between 1 and {}", retrieval.max_limit),
            )
            .into());
        }
        let now = request.at.unwrap_or_else(|| self.now());
        let filter = request.filter.clone().unwrap_or_else(|| Filter::at(now));
        filter.validate()?;
        Ok((filter, limit, now))
    }

    /// The question's vector and the nearest memories above the caller's threshold, the configured
    /// one or `floor`; none when no model can be asked.
    pub(crate) async fn vector_lane(
        &self,
        visible: &Visible,
        request: &RecallRequest,
        filter: &Filter,
        wanted: usize,
        floor: f64,
    ) -> Result<Option<(Vector, Vec<Hit>)>> {
        let Some(vector) = self.embed_one(&request.query).await else { return Ok(None) };
        let mut hits = self.store.nearest(visible, &vector, filter, wanted).await?;
        let threshold = request.threshold.or(self.config.retrieval.threshold).unwrap_or(floor);
        hits.retain(|hit| hit.score >= threshold);
        Ok(Some((vector, hits)))
    }

    async fn score_candidates(
        &self,
        visible: &Visible,
        candidates: Vec<Candidate>,
        now: Timestamp,
    ) -> Result<Vec<RecallHit>> {
        let ids: Vec<MemoryId> = candidates.iter().map(|candidate| candidate.id).collect();
        let memories = self.store.fetch(visible, &ids).await?;
        let mut found: HashMap<MemoryId, Memory> = memories.into_iter().map(|memory| (memory.id, memory)).collect();
        let mut hits: Vec<RecallHit> = candidates
            .into_iter()
            .filter_map(|candidate| found.remove(&candidate.id).map(|memory| self.explain(candidate, memory, now)))
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.memory.id.cmp(&b.memory.id)));
        Ok(hits)
    }

    fn explain(&self, candidate: Candidate, memory: Memory, now: Timestamp) -> RecallHit {
        let retrieval = &self.config.retrieval;
        let kind = self.kinds.spec(&memory.kind);
        let prior = match memory.role.as_deref() {
            Some("user") => retrieval.role_prior,
            Some("assistant") => -retrieval.role_prior,
            _ => 0.0,
        };
        let terms = Terms {
            relevance: (candidate.relevance + prior).clamp(0.0, 1.0 + prior.max(0.0)),
            recency: score::recency(&memory, kind, now),
            utility: score::utility(memory.importance, memory.access_count),
            boost: kind.boost,
            layer: score::layer_bonus(memory.layer, retrieval.layer_bonus),
        };
        let lane = |name: &str, place: Option<(usize, f64)>| {
            place.map(|(rank, score)| LaneRank { lane: name.to_owned(), rank, score })
        };
        let lanes = [lane("lexical", candidate.lexical), lane("vector", candidate.vector)];
        RecallHit {
            score: terms.score(&retrieval.weights),
            explain: Explanation {
                lanes: lanes.into_iter().flatten().collect(),
                similarity: candidate.vector.map(|(_, similarity)| similarity),
                relevance: terms.relevance,
                recency: terms.recency,
                utility: terms.utility,
                boost: terms.boost,
                layer: terms.layer,
                stands_for: Vec::new(),
            },
            memory,
        }
    }

    /// Leaves one of those that say the same in several layers: the most specific. Within a layer
    /// all stay, and so do texts whose numbers differ: alike is not the same. Episodes stay too: two
    /// alike are two events.
    pub(crate) async fn one_of_each(
        &self,
        visible: &Visible,
        query: Option<&Vector>,
        hits: &mut Vec<RecallHit>,
    ) -> Result<()> {
        let Some(query) = query else { return Ok(()) };
        let lasting: Vec<MemoryId> = hits
            .iter()
            .filter(|hit| self.kinds.spec(&hit.memory.kind).class != Class::Episodic)
            .map(|hit| hit.memory.id)
            .collect();
        if lasting.len() < 2 {
            return Ok(());
        }
        let vectors: HashMap<MemoryId, Vec<f32>> =
            self.store.vectors(visible, &query.model, &lasting).await?.into_iter().collect();
        let same = self.config.retrieval.duplicate_similarity;
        let mut kept: Vec<RecallHit> = Vec::with_capacity(hits.len());
        for mut hit in hits.drain(..) {
            let twin = vectors.get(&hit.memory.id).and_then(|vector| {
                kept.iter_mut().find(|other| {
                    other.memory.layer != hit.memory.layer
                        && numbers(&other.memory.content) == numbers(&hit.memory.content)
                        && vectors.get(&other.memory.id).is_some_and(|other| f64::from(dot(vector, other)) >= same)
                })
            });
            match twin {
                None => kept.push(hit),
                Some(twin) => {
                    if hit.memory.layer.precedence() < twin.memory.layer.precedence() {
                        // The specific one takes the better place of the general one.
                        std::mem::swap(twin, &mut hit);
                        let given_way = std::mem::take(&mut hit.explain.stands_for);
                        twin.explain.stands_for.extend(given_way);
                    }
                    twin.explain.stands_for.push(hit.memory.id);
                }
            }
        }
        kept.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.memory.id.cmp(&b.memory.id)));
        *hits = kept;
        Ok(())
    }

    async fn count_access(&self, caller: &Caller, hits: &[RecallHit]) {
        let mut by_space: BTreeMap<_, Vec<MemoryId>> = BTreeMap::new();
        for hit in hits {
            if let Ok(scope) = hit.memory.scope() {
                by_space.entry(scope.space()).or_default().push(hit.memory.id);
            }
        }
        for (space, ids) in by_space {
            let change = self.change(caller, "context", "recalled", Action::Touch { ids });
            self.touch_behind(caller.tenant.clone(), space, change).await;
        }
    }
}

/// The numbers in a text, in order.
fn numbers(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
