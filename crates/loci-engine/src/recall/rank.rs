//! Ranks the candidates.
//!
//! Features are loaded and clues are weighed into evidence. The best are fetched; their kind, layer and links are
//! added; one score is computed from all that, and they are sorted once. A strategy with one lane skips the evidence
//! and keeps the order of its lane.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use loci_models::{Detail, Embedder as _};
use loci_types::{Edge, Filter, Memory, MemoryId, Relation, State, Visible};

use super::candidates::{Candidate, CandidateSet};
use super::clue::{Clue, ClueValues, WeightTable};
use super::explain::{ClueWeight, Explanation};
use super::features::VectorCodes;
use super::lanes::{LaneResults, Rank, Strategy};
use super::late_interaction::TokenMatches;
use super::question::Question;
use super::{RecallHit, answerability, duplicates, evidence, newest};
use crate::config::Weights;
use crate::recall::plan::Plan;
use crate::recall::score::{self, ScoreTerms};
use crate::{Engine, Result};

/// What a decayed memory loses: it is offered, behind what is surer.
const DECAYED: f64 = -0.67;

/// What the boost of a kind is in nats.
const BOOST: f64 = 3.0;

/// Turns read before and after each candidate.
const REACH: usize = 3;

/// Candidates with more than this many nats less evidence than the best are dropped, unless they are linked to what was
/// found.
const MAX_EVIDENCE_GAP: f64 = 12.0;

/// Minimum evidence, in nats, from the text of a memory itself.
const MIN_OWN_EVIDENCE: f64 = 3.0;

/// Maximum number of pool members that are embedded by the multilingual model when only it can read the question.
const MAX_REREAD: usize = 64;

/// Minimum graph score at which a candidate is kept whatever its own text says.
const MIN_GRAPH_SCORE: f64 = 0.5;

/// Relations that are read for the candidates: shown with a hit, or used to merge and to order. Temporal links are not: every
/// turn has them.
const TELLING: [Relation; 5] =
    [Relation::RelatedTo, Relation::Causal, Relation::Entity, Relation::DerivedFrom, Relation::MayContradict];

/// What was found, weighed and in order.
pub(crate) struct Ranking {
    pub(crate) hits: Vec<RecallHit>,
    /// How likely the first of them answer the question, 0..1.
    pub(crate) confidence: f64,
    /// The links of the hits.
    pub(crate) edges: Vec<Edge>,
    pub(crate) degraded: bool,
}

/// A candidate whose memory was fetched, with its index in the candidate set.
pub(crate) struct RankedCandidate {
    pub(crate) at: usize,
    pub(crate) memory: Memory,
    pub(crate) explain: Explanation,
}

/// The pool with the question, the token matches and the clues of every member.
pub(crate) struct ScoredCandidates {
    pub(crate) question: Question,
    pub(crate) pool: CandidateSet,
    pub(crate) matches: TokenMatches,
    clues: Vec<ClueValues>,
    weight_table: WeightTable,
}

impl Engine {
    /// Reads what the lanes found with what is around it, and orders it by the score. What says nothing of the question is
    /// left out, unless `all` is asked for.
    #[expect(clippy::too_many_arguments, reason = "what was asked, what was found and how it is weighed")]
    pub(crate) async fn rank(
        &self,
        visible: &Visible,
        filter: &Filter,
        plan: Plan,
        found: LaneResults,
        weights: &Weights,
        (limit, all): (usize, bool),
        now: Timestamp,
    ) -> Result<Ranking> {
        let ranks = found.ranks();
        if found.strategy != Strategy::Hybrid {
            return self.rank_single_lane(visible, filter, &found, &ranks, weights, limit, now).await;
        }
        let query = plan.text.clone();
        let turn_runs = self.store.around(visible, filter, &ranks.keys().copied().collect::<Vec<_>>(), REACH).await?;
        let pool = self.load_candidates(visible, &turn_runs).await?;
        let scored = self.load_question(plan, found, pool, &ranks).await;
        let evidence: Vec<f64> = scored.clues.iter().map(|clues| scored.weight_table.sum(clues)).collect();
        let mut order: Vec<usize> = (0..evidence.len()).collect();
        order.sort_by(|a, b| evidence[*b].total_cmp(&evidence[*a]).then_with(|| scored.id(*a).cmp(&scored.id(*b))));
        // Only the best part represents a note.
        let mut known = HashSet::new();
        order.retain(|at| known.insert(scored.id(*at)));
        // Some to spare for those that turn out to say the same or to be replaced.
        order.truncate(limit + limit / 2 + newest::AMONG);
        let ids: Vec<MemoryId> = order.iter().map(|at| scored.id(*at)).collect();
        let edges = self.store.edges(visible, filter, &ids, &TELLING).await?;
        let mut candidates = self.fetch_candidates(visible, &scored, &order, &ranks, now).await?;
        self.add_relation_bonus(&edges, &mut candidates);
        let judged = self.rerank(&query, &mut candidates).await;
        if judged != Some(true) {
            newest::prefer_newer(&scored, &edges, &mut candidates);
        }
        duplicates::merge_duplicates(&scored, self.config.retrieval.duplicate_similarity, &edges, &mut candidates);
        let best = candidates.iter().map(|one| one.explain.evidence).fold(f64::NEG_INFINITY, f64::max);
        let confidence = answerability::confidence(&scored, &self.analyser, &candidates);
        for candidate in &mut candidates {
            (candidate.explain.best, candidate.explain.confidence) = (best, confidence);
            candidate.explain.terms.relevance = candidate.explain.judged_relevance();
        }
        if judged != Some(true) && !all {
            candidates.retain(|one| {
                let near = best - one.explain.evidence <= MAX_EVIDENCE_GAP && scored.own(one.at) >= MIN_OWN_EVIDENCE;
                near || scored.mentions(one.at) || scored.clues[one.at].get(Clue::Foremost) > 0.0
            });
        }
        let mut hits = finish(candidates, weights);
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.memory.id.cmp(&b.memory.id)));
        Ok(Ranking { hits, confidence, edges, degraded: judged == Some(false) })
    }

    /// Weighs every member of the pool.
    async fn load_question(
        &self,
        plan: Plan,
        found: LaneResults,
        pool: CandidateSet,
        ranks: &HashMap<MemoryId, Vec<Rank>>,
    ) -> ScoredCandidates {
        let mut question = Question::new(&self.analyser, plan);
        if let (Some(embedding), Some(model)) = (found.embedding, self.model()) {
            question.set_embedding(&self.analyser, &model.name, embedding);
        }
        question.apply_idf(&found.frequencies);
        question.mark_speaker_names(&self.analyser, &pool.names());
        if let Some(text) = question.nameless(&self.analyser)
            && let Some((_, embedding)) = self.embed_question(&text).await
        {
            question.set_nameless_embedding(embedding);
        }
        question.in_languages = found.in_languages;
        self.embed_pool_multilingual(&question, &pool).await;
        let weight_table = WeightTable::new(question.tokens.len(), &self.config.retrieval.clues);
        let matches = TokenMatches::new(&question, &pool);
        let mut clues = evidence::compute_clues(&question, &pool, &matches);
        for (member, clues) in pool.candidates.iter().zip(&mut clues) {
            let Some(lanes) = ranks.get(&member.features.id) else { continue };
            let newest = lanes.iter().find(|lane| lane.lane == "recency").map_or(0.0, |lane| 1.0 / lane.rank as f64);
            clues.set(Clue::Graph, lane(lanes, "graph").unwrap_or(0.0));
            clues.set(Clue::Foremost, newest.max(lane(lanes, "importance").unwrap_or(0.0)));
        }
        ScoredCandidates { question, pool, matches, clues, weight_table }
    }

    /// Embeds pool members with the multilingual model if it alone can read the question.
    async fn embed_pool_multilingual(&self, question: &Question, pool: &CandidateSet) {
        let Some(languages) = self.languages.as_ref().filter(|_| !question.readable && question.in_languages.is_some())
        else {
            return;
        };
        let unseen = pool.candidates.iter().filter(|member| member.features.in_languages.get().is_none());
        let unseen: Vec<&Candidate> = unseen.take(MAX_REREAD).collect();
        let texts: Vec<String> = unseen.iter().map(|member| member.features.folded.trim().to_owned()).collect();
        match languages.embed(&texts, Detail::Sentence).await {
            Ok(made) => {
                for (member, made) in unseen.iter().zip(made) {
                    // Another question may have been quicker.
                    let _ = member.features.in_languages.set(VectorCodes::new(&made.vector));
                }
            }
            Err(error) => tracing::warn!(%error, "the model for other languages failed"),
        }
    }

    /// Fetches members of the pool whole, with why they are here.
    async fn fetch_candidates(
        &self,
        visible: &Visible,
        scored: &ScoredCandidates,
        order: &[usize],
        ranks: &HashMap<MemoryId, Vec<Rank>>,
        now: Timestamp,
    ) -> Result<Vec<RankedCandidate>> {
        let ids: Vec<MemoryId> = order.iter().map(|at| scored.id(*at)).collect();
        let memories = self.store.fetch(visible, &ids).await?;
        let mut memories: HashMap<MemoryId, Memory> = memories.into_iter().map(|memory| (memory.id, memory)).collect();
        let whole = |at: &usize| {
            let memory = memories.remove(&scored.id(*at))?;
            let (member, clues) = (&scored.pool.candidates[*at], &scored.clues[*at]);
            let clue_weight = |clue: &Clue| ClueWeight {
                clue: *clue,
                value: clues.get(*clue),
                weight: scored.weight_table.get(*clue),
            };
            let decayed = if memory.state == State::Decayed { DECAYED } else { 0.0 };
            let kind = BOOST * self.kinds.spec(&memory.kind).boost.max(f64::MIN_POSITIVE).ln() + decayed;
            let lanes = ranks.get(&memory.id).cloned().unwrap_or_default();
            let mut explain = Explanation {
                similarity: lane(&lanes, "vector"),
                lanes: lanes.into_iter().map(Into::into).collect(),
                clues: Clue::ALL.iter().map(clue_weight).filter(|clue| clue.value != 0.0).collect(),
                kind,
                passage: member.features.part.clone().and_then(|part| memory.content.get(part)).map(str::to_owned),
                terms: self.terms(&memory, member, now),
                ..Explanation::default()
            };
            explain.evidence = explain.sum_of_clues();
            Some(RankedCandidate { at: *at, memory, explain })
        };
        Ok(order.iter().filter_map(whole).collect())
    }

    /// One lane alone keeps its own order and cuts nothing. One more than the limit is ranked: it tells that there is more.
    #[expect(clippy::too_many_arguments, reason = "what was asked, what was found and how it is weighed")]
    async fn rank_single_lane(
        &self,
        visible: &Visible,
        filter: &Filter,
        found: &LaneResults,
        ranks: &HashMap<MemoryId, Vec<Rank>>,
        weights: &Weights,
        limit: usize,
        now: Timestamp,
    ) -> Result<Ranking> {
        let found_hits = found.lanes.first().map_or(&[][..], |(_, hits)| hits);
        let ids: Vec<MemoryId> = found_hits.iter().take(limit + 1).map(|hit| hit.id).collect();
        let turn_runs = self.store.around(visible, filter, &ids, 0).await?;
        let pool = self.load_candidates(visible, &turn_runs).await?;
        let memories = self.store.fetch(visible, &ids).await?;
        let memories: HashMap<MemoryId, Memory> = memories.into_iter().map(|memory| (memory.id, memory)).collect();
        let whole = |(place, id): (usize, &MemoryId)| {
            let memory = memories.get(id)?.clone();
            let member = pool.candidates.iter().find(|member| member.features.id == *id)?;
            let lanes = ranks.get(id).cloned().unwrap_or_default();
            let first = lanes.first().map_or(0.0, |lane| lane.score.clamp(0.0, 1.0));
            let relevance = if found.strategy == Strategy::Recency { 1.0 / (place + 1) as f64 } else { first };
            let explain = Explanation {
                similarity: lane(&lanes, "vector"),
                lanes: lanes.into_iter().map(Into::into).collect(),
                confidence: 1.0,
                reranked: Some(relevance),
                terms: ScoreTerms { relevance, ..self.terms(&memory, member, now) },
                ..Explanation::default()
            };
            Some(RankedCandidate { at: 0, memory, explain })
        };
        let candidates = ids.iter().enumerate().filter_map(whole).collect();
        let hits = finish(candidates, weights);
        let edges = self.store.edges(visible, filter, &ids, &TELLING).await?;
        Ok(Ranking { hits, confidence: 1.0, edges, degraded: false })
    }

    fn terms(&self, memory: &Memory, member: &Candidate, now: Timestamp) -> ScoreTerms {
        ScoreTerms {
            recency: score::recency(memory.created_at, self.kinds.spec(&memory.kind), now),
            utility: score::utility(memory.importance, member.access_count),
            layer: score::layer_bonus(memory.layer, self.config.retrieval.layer_bonus),
            ..ScoreTerms::default()
        }
    }

    /// Writes down what the strongest relation of each is worth.
    fn add_relation_bonus(&self, edges: &[Edge], candidates: &mut [RankedCandidate]) {
        for candidate in candidates {
            let id = candidate.memory.id;
            let at = edges.iter().filter(|edge| edge.source_id == id || edge.target_id == id);
            // That two are alike says nothing of the question.
            let telling = at.filter(|edge| matches!(edge.relation, Relation::Causal | Relation::Entity));
            let strongest = telling.map(|edge| edge.strength).fold(0.0, f64::max);
            candidate.explain.terms.relation = self.config.retrieval.relation_weight * strongest;
        }
    }
}

impl ScoredCandidates {
    pub(crate) fn id(&self, at: usize) -> MemoryId {
        self.pool.candidates[at].features.id
    }

    /// Whether a candidate is linked to the hits, or mentions an entity that the query names.
    pub(crate) fn mentions(&self, at: usize) -> bool {
        self.clues[at].get(Clue::Graph) >= MIN_GRAPH_SCORE
    }

    /// What the text of a member itself says, and that it happened when the question says.
    pub(crate) fn own(&self, at: usize) -> f64 {
        self.weight_table.own(&self.clues[at]) + self.weight_table.get(Clue::Date) * self.clues[at].get(Clue::Date)
    }
}

/// The score of each, in the order they come in.
fn finish(candidates: Vec<RankedCandidate>, weights: &Weights) -> Vec<RecallHit> {
    let best = candidates.iter().map(|one| one.explain.terms.relevance).fold(0.0, f64::max);
    let hit = |RankedCandidate { memory, mut explain, .. }: RankedCandidate| {
        explain.weights = *weights;
        explain.terms.closeness = score::closeness(explain.terms.relevance, best, weights);
        RecallHit { score: explain.score(weights), memory, newer: None, explain }
    };
    candidates.into_iter().map(hit).collect()
}

fn lane(lanes: &[Rank], name: &str) -> Option<f64> {
    lanes.iter().find(|lane| lane.lane == name).map(|lane| lane.score)
}
