//! Ranks the candidates.
//!
//! Features are loaded and clues are weighed into evidence. The best are fetched; their kind, layer and links are
//! added; one score is computed from all that, and the results are sorted once, by it. Other strategies than hybrid
//! skip the evidence and keep the order of their lane, or of the fused ranks.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};

use jiff::Timestamp;
use loci_models::{Detail, Embedder as _};
use loci_types::{Edge, Filter, Memory, MemoryId, Relation, State, Visible};

use super::candidates::{Candidate, CandidateSet};
use super::clue::{Clue, ClueValues, WeightTable};
use super::explain::{ClueWeight, Explanation};
use super::features::VectorCodes;
use super::fusion::Fusion;
use super::lanes::{LaneResults, Rank, Strategy};
use super::late_interaction::TokenMatches;
use super::question::Question;
use super::{Answered, RecallHit, answerability, duplicates, evidence, newest};
use crate::config::Weights;
use crate::recall::plan::Plan;
use crate::recall::score::{self, ScoreTerms, best_first};
use crate::{Engine, Result};

/// Penalty of a decayed memory, in nats. It is still returned, after others.
const DECAYED: f64 = -0.67;

/// Factor of the boost of a kind, in nats.
const BOOST: f64 = 3.0;

/// Turns read before and after each candidate.
const TURNS_AROUND: usize = 3;

/// Candidates with more than this many nats less evidence than the best are dropped, unless they are linked to what was
/// found.
const MAX_EVIDENCE_GAP: f64 = 12.0;

/// Minimum evidence, in nats, from the text of a memory itself.
const MIN_OWN_EVIDENCE: f64 = 3.0;

/// Maximum number of candidates that are embedded by the multilingual model when only it can read the question.
const MAX_REREAD: usize = 64;

/// Minimum graph score at which a candidate is kept whatever its own text says.
const MIN_GRAPH_SCORE: f64 = 0.5;

/// Relations that are read for the candidates: shown with a hit, or used to merge and to order. Temporal links are not: every
/// turn has them.
const RELATIONS_READ: [Relation; 5] =
    [Relation::RelatedTo, Relation::Causal, Relation::Entity, Relation::DerivedFrom, Relation::MayContradict];

/// What the candidates are ranked for.
pub(crate) struct RankRequest<'a> {
    pub(crate) visible: &'a Visible,
    pub(crate) filter: &'a Filter,
    pub(crate) weights: &'a Weights,
    /// Number of results.
    pub(crate) limit: usize,
    /// Whether candidates that say nothing of the question are returned as well.
    pub(crate) all: bool,
    /// The time that counts as now.
    pub(crate) now: Timestamp,
}

/// The scored candidates in their order.
pub(crate) struct Ranking {
    pub(crate) hits: Vec<RecallHit>,
    /// Whether they answer the question.
    pub(crate) answered: Answered,
    /// The probability that the first candidates answer the question, 0..1.
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

/// All candidates with the question, the token matches and the clues of each.
pub(crate) struct ScoredCandidates {
    pub(crate) question: Question,
    pub(crate) set: CandidateSet,
    pub(crate) matches: TokenMatches,
    clues: Vec<ClueValues>,
    weight_table: WeightTable,
}

impl Engine {
    /// Reads what the lanes found with what is around it, and orders it by the score. What says nothing of the question is
    /// left out, unless `all` is asked for.
    pub(crate) async fn rank(&self, request: RankRequest<'_>, plan: Plan, found: LaneResults) -> Result<Ranking> {
        let ranks = found.ranks();
        if found.strategy != Strategy::Hybrid {
            return self.rank_in_order(&request, &self.lane_order(&found, &ranks), &ranks).await;
        }
        let RankRequest { visible, filter, limit, all, .. } = request;
        let query = plan.text.clone();
        let turn_runs =
            self.store.around(visible, filter, &ranks.keys().copied().collect::<Vec<_>>(), TURNS_AROUND).await?;
        let set = self.load_candidates(visible, &turn_runs).await?;
        let scored = self.weigh_clues(plan, found, set, &ranks).await;
        // Some to spare for those that turn out to say the same or to be replaced.
        let evidence = scored.clues.iter().map(|clues| scored.weight_table.sum(clues));
        let evidence = evidence.enumerate().map(|(at, evidence)| ByEvidence { evidence, id: scored.id(at), at });
        let selected = select_best(evidence, limit + limit / 2 + newest::COMPARED);
        let ids: Vec<MemoryId> = selected.iter().map(|at| scored.id(*at)).collect();
        let edges = self.store.edges(visible, filter, &ids, &RELATIONS_READ).await?;
        let mut candidates = self.fetch_candidates(visible, &scored, &selected, &ranks).await?;
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
        let mut hits = self.assign_scores(&request, &scored.set, candidates);
        hits.sort_by(|a, b| best_first((a.score, a.memory.id), (b.score, b.memory.id)));
        Ok(Ranking::new(hits, confidence, edges, judged == Some(false)))
    }

    /// Reads the question and computes the clues of every candidate.
    async fn weigh_clues(
        &self,
        plan: Plan,
        found: LaneResults,
        set: CandidateSet,
        ranks: &HashMap<MemoryId, Vec<Rank>>,
    ) -> ScoredCandidates {
        let mut question = Question::new(&self.analyser, plan);
        if let (Some(embedding), Some(model)) = (found.embedding, self.model()) {
            question.set_embedding(&self.analyser, &model.name, embedding);
        }
        question.apply_idf(&found.frequencies);
        question.mark_speaker_names(&self.analyser, &set.names());
        if let Some(text) = question.nameless(&self.analyser)
            && let Some((_, embedding)) = self.embed_question(&text).await
        {
            question.set_nameless_embedding(embedding);
        }
        question.in_languages = found.in_languages;
        self.embed_multilingual(&question, &set).await;
        let weight_table = WeightTable::new(question.tokens.len(), &self.config.retrieval.clues);
        let matches = TokenMatches::new(&question, &set);
        let mut clues = evidence::compute_clues(&question, &set, &matches);
        for (candidate, clues) in set.candidates.iter().zip(&mut clues) {
            let Some(lanes) = ranks.get(&candidate.features.id) else { continue };
            let newest = lanes.iter().find(|lane| lane.lane == "recency").map_or(0.0, |lane| 1.0 / lane.rank as f64);
            clues.set(Clue::Graph, lane(lanes, "graph").unwrap_or(0.0));
            clues.set(Clue::Foremost, newest.max(lane(lanes, "importance").unwrap_or(0.0)));
        }
        ScoredCandidates { question, set, matches, clues, weight_table }
    }

    /// Embeds candidates with the multilingual model if it alone can read the question.
    async fn embed_multilingual(&self, question: &Question, set: &CandidateSet) {
        let Some(languages) = self.languages.as_ref().filter(|_| !question.readable && question.in_languages.is_some())
        else {
            return;
        };
        let unseen = set.candidates.iter().filter(|candidate| candidate.features.in_languages.get().is_none());
        let unseen: Vec<&Candidate> = unseen.take(MAX_REREAD).collect();
        let texts: Vec<String> = unseen.iter().map(|candidate| candidate.features.folded.trim().to_owned()).collect();
        match languages.embed(&texts, Detail::Sentence).await {
            Ok(made) => {
                for (candidate, made) in unseen.iter().zip(made) {
                    // Another question may have been quicker.
                    let _ = candidate.features.in_languages.set(VectorCodes::new(&made.vector));
                }
            }
            Err(error) => tracing::warn!(%error, "the model for other languages failed"),
        }
    }

    /// Fetches the memories of candidates, with why they are here.
    async fn fetch_candidates(
        &self,
        visible: &Visible,
        scored: &ScoredCandidates,
        order: &[usize],
        ranks: &HashMap<MemoryId, Vec<Rank>>,
    ) -> Result<Vec<RankedCandidate>> {
        let ids: Vec<MemoryId> = order.iter().map(|at| scored.id(*at)).collect();
        let memories = self.store.fetch(visible, &ids).await?;
        let mut memories: HashMap<MemoryId, Memory> = memories.into_iter().map(|memory| (memory.id, memory)).collect();
        let whole = |at: &usize| {
            let memory = memories.remove(&scored.id(*at))?;
            let (candidate, clues) = (&scored.set.candidates[*at], &scored.clues[*at]);
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
                passage: candidate.features.part.clone().and_then(|part| memory.content.get(part)).map(str::to_owned),
                ..Explanation::default()
            };
            explain.evidence = explain.sum_of_clues();
            Some(RankedCandidate { at: *at, memory, explain })
        };
        Ok(order.iter().filter_map(whole).collect())
    }

    /// The results with their relevance, in the order of their lane, or of their fused ranks.
    fn lane_order(&self, found: &LaneResults, ranks: &HashMap<MemoryId, Vec<Rank>>) -> Vec<(MemoryId, f64)> {
        if found.strategy == Strategy::Rrf {
            return Fusion::of(&self.config.retrieval).merge(ranks);
        }
        let hits = found.lanes.first().map_or(&[][..], |(_, hits)| hits).iter().enumerate();
        let relevance = |place: usize, score: f64| match found.strategy {
            Strategy::Recency => 1.0 / (place + 1) as f64,
            _ => score.clamp(0.0, 1.0),
        };
        hits.map(|(place, hit)| (hit.id, relevance(place, hit.score))).collect()
    }

    /// Ranks results that keep their order. One more than the limit is ranked, to know whether there is another page.
    async fn rank_in_order(
        &self,
        request: &RankRequest<'_>,
        order: &[(MemoryId, f64)],
        ranks: &HashMap<MemoryId, Vec<Rank>>,
    ) -> Result<Ranking> {
        let RankRequest { visible, filter, limit, .. } = *request;
        let order = &order[..order.len().min(limit + 1)];
        let ids: Vec<MemoryId> = order.iter().map(|(id, _)| *id).collect();
        let turn_runs = self.store.around(visible, filter, &ids, 0).await?;
        let set = self.load_candidates(visible, &turn_runs).await?;
        let memories = self.store.fetch(visible, &ids).await?;
        let memories: HashMap<MemoryId, Memory> = memories.into_iter().map(|memory| (memory.id, memory)).collect();
        let whole = |(id, relevance): &(MemoryId, f64)| {
            let (relevance, memory) = (*relevance, memories.get(id)?.clone());
            let at = set.candidates.iter().position(|candidate| candidate.features.id == *id)?;
            let lanes = ranks.get(id).cloned().unwrap_or_default();
            let explain = Explanation {
                similarity: lane(&lanes, "vector"),
                lanes: lanes.into_iter().map(Into::into).collect(),
                confidence: 1.0,
                reranked: Some(relevance),
                terms: ScoreTerms { relevance, ..ScoreTerms::default() },
                ..Explanation::default()
            };
            Some(RankedCandidate { at, memory, explain })
        };
        let candidates = order.iter().filter_map(whole).collect();
        let hits = self.assign_scores(request, &set, candidates);
        let edges = self.store.edges(visible, filter, &ids, &RELATIONS_READ).await?;
        Ok(Ranking::new(hits, 1.0, edges, false))
    }

    /// Assigns the score of each, in the order they come in.
    fn assign_scores(
        &self,
        request: &RankRequest<'_>,
        set: &CandidateSet,
        candidates: Vec<RankedCandidate>,
    ) -> Vec<RecallHit> {
        let best = candidates.iter().map(|one| one.explain.terms.relevance).fold(0.0, f64::max);
        let hit = |RankedCandidate { at, memory, mut explain }: RankedCandidate| {
            let access_count = set.candidates[at].access_count;
            explain.weights = *request.weights;
            explain.terms = ScoreTerms {
                closeness: score::closeness(explain.terms.relevance, best, request.weights),
                recency: score::recency(memory.created_at, self.kinds.spec(&memory.kind), request.now),
                utility: score::utility(memory.importance, access_count),
                layer: score::layer_bonus(memory.layer, self.config.retrieval.layer_bonus),
                ..explain.terms
            };
            RecallHit { score: explain.score(request.weights), memory, newer: None, explain }
        };
        candidates.into_iter().map(hit).collect()
    }

    /// Writes down what the strongest relation of each is worth.
    fn add_relation_bonus(&self, edges: &[Edge], candidates: &mut [RankedCandidate]) {
        for candidate in candidates {
            let id = candidate.memory.id;
            let at = edges.iter().filter(|edge| edge.source_id == id || edge.target_id == id);
            // That two are alike says nothing of the question.
            let counted = at.filter(|edge| matches!(edge.relation, Relation::Causal | Relation::Entity));
            let strongest = counted.map(|edge| edge.strength).fold(0.0, f64::max);
            candidate.explain.terms.relation = self.config.retrieval.relation_weight * strongest;
        }
    }
}

impl Ranking {
    fn new(hits: Vec<RecallHit>, confidence: f64, edges: Vec<Edge>, degraded: bool) -> Self {
        let (answered, confidence) = match hits.is_empty() {
            true => (Answered::No, 0.0),
            false => (answerability::answered(confidence), confidence),
        };
        Self { hits, answered, confidence, edges, degraded }
    }
}

/// A candidate in the heap from which the best are selected. Of equal ones the one with the smaller id is better, and of the
/// parts of one memory the first.
struct ByEvidence {
    evidence: f64,
    id: MemoryId,
    at: usize,
}

impl Ord for ByEvidence {
    fn cmp(&self, other: &Self) -> Ordering {
        self.evidence.total_cmp(&other.evidence).then(other.id.cmp(&self.id)).then(other.at.cmp(&self.at))
    }
}

impl PartialOrd for ByEvidence {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByEvidence {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByEvidence {}

/// Selects the indices of the candidates with the most evidence, best first. A heap finds them without sorting all. A note
/// is represented by its best part alone.
fn select_best(evidence: impl Iterator<Item = ByEvidence>, count: usize) -> Vec<usize> {
    let mut heap: BinaryHeap<ByEvidence> = evidence.collect();
    let (mut best, mut known) = (Vec::with_capacity(count), HashSet::with_capacity(count));
    while best.len() < count
        && let Some(ByEvidence { id, at, .. }) = heap.pop()
    {
        if known.insert(id) {
            best.push(at);
        }
    }
    best
}

impl ScoredCandidates {
    pub(crate) fn id(&self, at: usize) -> MemoryId {
        self.set.candidates[at].features.id
    }

    /// Whether a candidate is linked to the hits, or mentions an entity that the query names.
    pub(crate) fn mentions(&self, at: usize) -> bool {
        self.clues[at].get(Clue::Graph) >= MIN_GRAPH_SCORE
    }

    /// The score of the text of a candidate itself and of its time.
    pub(crate) fn own(&self, at: usize) -> f64 {
        self.weight_table.own(&self.clues[at]) + self.weight_table.get(Clue::Date) * self.clues[at].get(Clue::Date)
    }
}

fn lane(lanes: &[Rank], name: &str) -> Option<f64> {
    lanes.iter().find(|lane| lane.lane == name).map(|lane| lane.score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_selected_in_the_order_of_a_full_sort() {
        // Many have equal evidence, and many are parts of one memory.
        let all = |at: u64| ByEvidence {
            evidence: (at.wrapping_mul(2_654_435_761) % 7) as f64 - 3.0,
            id: MemoryId(uuid::Uuid::from_u128(u128::from(at.wrapping_mul(40_503) % 61))),
            at: at as usize,
        };
        let mut sorted: Vec<ByEvidence> = (0..200).map(all).collect();
        sorted.sort_by(|a, b| b.evidence.total_cmp(&a.evidence).then(a.id.cmp(&b.id)));
        let mut known = HashSet::new();
        sorted.retain(|one| known.insert(one.id));
        let order: Vec<usize> = sorted.iter().map(|one| one.at).collect();
        for count in [0, 1, 20, 61, 500] {
            let expected = &order[..count.min(order.len())];
            assert_eq!(select_best((0..200).map(all), count), expected, "{count}");
        }
    }
}
