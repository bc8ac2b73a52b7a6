//! How do several lanes become one order?
//!
//! Pure. A candidate may come from any lane; none is gated by another. Lanes have scales of their
//! own, so they meet either as shares of their best (convex) or as ranks (RRF).

use std::collections::HashMap;

use loci_store::Hit;
use loci_types::MemoryId;

use crate::config::{Fusion, Retrieval};

/// A cosine at which two texts are clearly about the same.
const CLEAR: f64 = 0.45;

/// What the lanes say of one candidate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// Which.
    pub(crate) id: MemoryId,
    /// Its rank and score in the lexical lane, from 1.
    pub(crate) lexical: Option<(usize, f64)>,
    /// Its rank and score in the vector lane, from 1.
    pub(crate) vector: Option<(usize, f64)>,
    /// The lanes' evidence as one number, 0..1.
    pub(crate) relevance: f64,
}

/// The union of the lanes, best first.
pub(crate) fn fuse(lexical: &[Hit], vector: &[Hit], config: &Retrieval) -> Vec<Candidate> {
    let mut all: HashMap<MemoryId, Candidate> = HashMap::new();
    let new = |id| Candidate { id, lexical: None, vector: None, relevance: 0.0 };
    for (place, hit) in lexical.iter().enumerate() {
        all.entry(hit.id).or_insert_with(|| new(hit.id)).lexical = Some((place + 1, hit.score));
    }
    for (place, hit) in vector.iter().enumerate() {
        all.entry(hit.id).or_insert_with(|| new(hit.id)).vector = Some((place + 1, hit.score));
    }
    let lanes = Lanes::new(lexical, vector, config);
    let mut candidates: Vec<Candidate> = all
        .into_values()
        .map(|candidate| Candidate { relevance: lanes.relevance(&candidate, config), ..candidate })
        .collect();
    candidates.sort_by(|a, b| b.relevance.total_cmp(&a.relevance).then(a.id.cmp(&b.id)));
    candidates
}

/// What is needed to bring the lanes to one scale.
struct Lanes {
    lexical_weight: f64,
    vector_weight: f64,
    best_lexical: f64,
    best_vector: f64,
    worst_vector: f64,
    /// How much the vector lane has to say: one whose best is hardly similar says little.
    voice: f64,
}

impl Lanes {
    fn new(lexical: &[Hit], vector: &[Hit], config: &Retrieval) -> Self {
        let best = |hits: &[Hit]| hits.iter().map(|hit| hit.score).fold(0.0, f64::max);
        // An empty lane has no say, rather than a vote against everything.
        let weight = |hits: &[Hit], weight: f64| if hits.is_empty() { 0.0 } else { weight };
        Self {
            lexical_weight: weight(lexical, config.lexical_weight),
            vector_weight: weight(vector, config.vector_weight),
            best_lexical: best(lexical),
            best_vector: best(vector),
            voice: (best(vector) / CLEAR).min(1.0),
            worst_vector: vector.iter().map(|hit| hit.score).fold(f64::INFINITY, f64::min),
        }
    }

    fn relevance(&self, candidate: &Candidate, config: &Retrieval) -> f64 {
        let total = self.lexical_weight + self.vector_weight;
        if total <= 0.0 {
            return 0.0;
        }
        let (lexical, vector) = match config.fusion {
            Fusion::Convex => (
                candidate.lexical.map_or(0.0, |(_, score)| share(score, 0.0, self.best_lexical)),
                candidate
                    .vector
                    .map_or(0.0, |(_, score)| self.voice * share(score, self.worst_vector, self.best_vector)),
            ),
            Fusion::Rrf => {
                let reciprocal = |lane: Option<(usize, f64)>| {
                    lane.map_or(0.0, |(rank, _)| (config.rrf_k + 1.0) / (config.rrf_k + rank as f64))
                };
                (reciprocal(candidate.lexical), reciprocal(candidate.vector))
            }
        };
        (self.lexical_weight * lexical + self.vector_weight * vector) / total
    }
}

/// Where a score lies between the worst and the best; a lane whose scores are all alike says yes
/// to all of them.
fn share(score: f64, worst: f64, best: f64) -> f64 {
    if best - worst <= f64::EPSILON { 1.0 } else { ((score - worst) / (best - worst)).clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u128) -> MemoryId {
        MemoryId(uuid::Uuid::from_u128(n))
    }

    fn hits(given: &[(u128, f64)]) -> Vec<Hit> {
        given.iter().map(|(n, score)| Hit { id: id(*n), score: *score }).collect()
    }

    fn order(lexical: &[(u128, f64)], vector: &[(u128, f64)], fusion: Fusion) -> Vec<u128> {
        let config = Retrieval { fusion, ..Retrieval::default() };
        fuse(&hits(lexical), &hits(vector), &config).iter().map(|c| c.id.0.as_u128()).collect()
    }

    #[test]
    fn the_union_keeps_what_one_lane_alone_found() {
        for fusion in [Fusion::Convex, Fusion::Rrf] {
            let found = order(&[(1, 9.0)], &[(2, 0.9), (3, 0.4)], fusion);
            assert_eq!(found.len(), 3, "{fusion:?}");
            assert_eq!(found[2], 3, "{fusion:?}");
        }
    }

    #[test]
    fn two_lanes_together_beat_one() {
        for fusion in [Fusion::Convex, Fusion::Rrf] {
            assert_eq!(order(&[(1, 9.0), (2, 8.5)], &[(3, 0.9), (2, 0.85), (4, 0.1)], fusion)[0], 2, "{fusion:?}");
        }
    }

    #[test]
    fn relevance_stays_in_range_and_an_empty_lane_has_no_say() {
        let config = Retrieval::default();
        let alone = fuse(&hits(&[(1, 7.0), (2, 3.5)]), &[], &config);
        assert_eq!((alone[0].relevance, alone[1].relevance), (1.0, 0.5));
        assert!(fuse(&[], &[], &config).is_empty());
        for candidate in fuse(&hits(&[(1, 7.0)]), &hits(&[(1, 0.0), (2, 0.0)]), &config) {
            assert!((0.0..=1.0).contains(&candidate.relevance));
        }
    }
}
