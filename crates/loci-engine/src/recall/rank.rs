//! In which order do the candidates stand?
//!
//! The pool is read, its clues are weighed into evidence, and the evidence becomes the relevance of
//! the score. A strategy of one lane skips the evidence: its own order is the relevance.

use std::collections::HashMap;

use jiff::Timestamp;
use loci_types::{Filter, Memory, MemoryId, State, Visible};

use super::clue::{Clue, Clues, Voices};
use super::explain::{ClueWeight, Explanation, relevance};
use super::lanes::{Found, Rank, Strategy};
use super::pool::{Member, Pool};
use super::question::Question;
use super::{RecallHit, evidence};
use crate::config::Weights;
use crate::plan::Plan;
use crate::plan::intent::Asks;
use crate::score::{self, Terms};
use crate::{Engine, Result};

/// What a decayed memory's rank is multiplied by: it is offered, behind what is surer.
const DECAYED: f64 = 0.8;

/// So many turns before and after a candidate are read with it.
const REACH: usize = 3;

/// A cosine at which two texts are clearly about the same.
const CLEAR: f64 = 0.45;

/// The share of the question's words that makes a memory clearly an answer.
const COVERED: f64 = 0.5;

/// A memory with its explanation, not yet fetched whole.
pub(crate) struct Candidate {
    id: MemoryId,
    score: f64,
    explain: Explanation,
}

impl Engine {
    /// Reads what the lanes found with what is around it, and orders it by the score.
    #[expect(clippy::too_many_arguments, reason = "what was asked, what was found and how it is weighed")]
    pub(crate) async fn rank(
        &self,
        visible: &Visible,
        filter: &Filter,
        plan: Plan,
        found: Found,
        weights: &Weights,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Candidate>> {
        let mut ranks = found.ranks();
        let ids: Vec<MemoryId> = ranks.keys().copied().collect();
        let reach = if found.strategy == Strategy::Hybrid { REACH } else { 0 };
        let strips = self.store.around(visible, filter, &ids, reach).await?;
        let pool = self.read_pool(visible, &strips).await?;
        let nearest = found.nearest();
        let with_model = found.embedding.as_ref().is_some_and(|embedding| !embedding.tokens.is_empty());
        let voices = self.voices(&pool, with_model);
        let floor = if found.strategy == Strategy::Hybrid { self.config.retrieval.relevance_floor } else { 0.0 };
        let (clues, judged): (Vec<Clues>, Vec<(f64, f64)>) = match found.strategy {
            Strategy::Hybrid => {
                let mut question = Question::new(&self.analyser, plan);
                if let (Some(embedding), Some(model)) = (found.embedding, self.model()) {
                    question.see(&self.analyser, &model.name, embedding);
                }
                question.weigh(&found.frequencies);
                question.know_speakers(&self.analyser, &pool.names());
                let mut clues = evidence::gather(&question, &self.analyser, &pool, &voices);
                for (member, clues) in pool.members.iter().zip(&mut clues) {
                    let Some(lanes) = ranks.get(&member.reading.id) else { continue };
                    let rank = lanes.iter().find(|lane| lane.lane == "recency").map(|lane| lane.rank);
                    clues.set(Clue::Graph, lane(lanes, "graph").unwrap_or(0.0));
                    clues.set(Clue::Newest, rank.map_or(0.0, |rank| 1.0 / rank as f64));
                    clues.set(Clue::Important, lane(lanes, "importance").unwrap_or(0.0));
                }
                let clarity = clarity(&clues, nearest, &question.plan.asks);
                let judged = clues.iter().map(|clues| (voices.sum(clues), clarity)).collect();
                (clues, judged)
            }
            strategy => {
                let alone = |member: &Member| lane_alone(strategy, ranks.get(&member.reading.id));
                (Vec::new(), pool.members.iter().map(|member| (0.0, alone(member))).collect())
            }
        };
        let best = judged.iter().map(|(evidence, _)| *evidence).fold(f64::NEG_INFINITY, f64::max);
        let mut ordered: Vec<(f64, usize, Terms)> = Vec::with_capacity(judged.len());
        for (at, (member, (evidence, clarity))) in pool.members.iter().zip(&judged).enumerate() {
            let terms = self.terms(member, relevance(*evidence, best, *clarity), now);
            if terms.relevance >= floor {
                ordered.push((terms.score(weights), at, terms));
            }
        }
        let id = |at: usize| pool.members[at].reading.id;
        ordered.sort_by(|a, b| b.0.total_cmp(&a.0).then(id(a.1).cmp(&id(b.1))));
        // Some to spare for those that turn out to say the same; only who may be told is explained.
        ordered.truncate(limit + limit / 2 + 5);
        let explain = |(score, at, terms): (f64, usize, Terms)| {
            let (evidence, clarity) = judged[at];
            let clues = clues.get(at).unwrap_or(&Clues::NONE);
            let lanes = ranks.remove(&id(at)).unwrap_or_default();
            let told = |clue: &Clue| ClueWeight { clue: *clue, value: clues.get(*clue), weight: voices.get(*clue) };
            let explain = Explanation {
                similarity: lane(&lanes, "vector"),
                lanes: lanes.into_iter().map(Into::into).collect(),
                clues: Clue::ALL.iter().map(told).filter(|clue| clue.value != 0.0).collect(),
                evidence,
                best,
                clarity,
                reranked: None,
                terms,
                overrides: Vec::new(),
                related: Vec::new(),
                weights: *weights,
            };
            Candidate { id: id(at), score, explain }
        };
        Ok(ordered.into_iter().map(explain).collect())
    }

    /// How loudly the clues speak about this pool: token states count where most of it has them.
    fn voices(&self, pool: &Pool, with_model: bool) -> Voices {
        let retrieval = &self.config.retrieval;
        let embedded = pool.members.iter().filter(|member| member.reading.vector.is_some()).count();
        let with_states = pool.members.iter().filter(|member| !member.reading.states.is_empty()).count();
        let with_tokens = with_model && with_states * 2 > embedded;
        Voices::new(with_tokens, if with_tokens { &retrieval.clues } else { &retrieval.clues_without_tokens })
    }

    fn terms(&self, member: &Member, relevance: f64, now: Timestamp) -> Terms {
        let reading = &member.reading;
        let kind = self.kinds.spec(&reading.kind);
        Terms {
            relevance,
            recency: score::recency(reading.created_at, kind, now),
            utility: score::utility(reading.importance, member.access_count),
            boost: kind.boost,
            layer: score::layer_bonus(reading.layer, self.config.retrieval.layer_bonus),
            relation: 0.0,
        }
    }

    /// Fetches the candidates whole, in their order.
    pub(crate) async fn fetch_hits(&self, visible: &Visible, candidates: Vec<Candidate>) -> Result<Vec<RecallHit>> {
        let ids: Vec<MemoryId> = candidates.iter().map(|candidate| candidate.id).collect();
        let memories = self.store.fetch(visible, &ids).await?;
        let mut found: HashMap<MemoryId, Memory> = memories.into_iter().map(|memory| (memory.id, memory)).collect();
        let hit = |Candidate { id, score, explain }| {
            found.remove(&id).map(|memory| RecallHit { memory, score, newer: None, explain })
        };
        let mut hits: Vec<RecallHit> = candidates.into_iter().filter_map(hit).collect();
        for hit in hits.iter_mut().filter(|hit| hit.memory.state == State::Decayed) {
            hit.explain.terms.boost *= DECAYED;
            hit.score = hit.explain.score(&hit.explain.weights);
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(hits)
    }
}

fn lane(lanes: &[Rank], name: &str) -> Option<f64> {
    lanes.iter().find(|lane| lane.lane == name).map(|lane| lane.score)
}

/// The relevance of a strategy of one lane: the cosine, the share of the best, the importance, or the place in line.
fn lane_alone(strategy: Strategy, lanes: Option<&Vec<Rank>>) -> f64 {
    let Some(first) = lanes.and_then(|lanes| lanes.first()) else { return 0.0 };
    match strategy {
        Strategy::Recency => 1.0 / first.rank as f64,
        _ => first.score.clamp(0.0, 1.0),
    }
}

/// The best is clear when it holds half of the question's words, is plainly alike, hangs together
/// with what is named or happened when it says, or when the newest or most important is what is
/// asked; else all of them may be beside the point.
fn clarity(clues: &[Clues], nearest: f64, asks: &Asks) -> f64 {
    if asks.newest || asks.important {
        return 1.0;
    }
    let best = |clue: Clue| clues.iter().map(|clues| clues.get(clue)).fold(0.0, f64::max);
    (best(Clue::Coverage) / COVERED).max(nearest / CLEAR).max(best(Clue::Graph)).max(best(Clue::Date)).min(1.0)
}
