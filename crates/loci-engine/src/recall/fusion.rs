//! Reciprocal rank fusion: merges the lanes by their ranks alone.
//!
//! Pure. The score of a memory is the sum of `weight / (k + rank)` over the lanes that found it, divided by the score
//! of a memory that is first in all of them, so that it is a relevance in 0..1.

use std::collections::HashMap;

use loci_types::MemoryId;

use super::lanes::Rank;
use super::score::best_first;
use crate::config::Retrieval;

/// The constant and the weights of the fusion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fusion {
    k: f64,
    lexical: f64,
    vector: f64,
    graph: f64,
}

impl Fusion {
    /// As it is configured.
    pub(crate) fn of(retrieval: &Retrieval) -> Self {
        Self {
            k: retrieval.rrf_k,
            lexical: retrieval.rrf_weight_fts,
            vector: retrieval.rrf_weight_vector,
            graph: retrieval.rrf_weight_graph,
        }
    }

    /// The memories with their relevance, best first. A memory that no lane with a weight found is left out.
    pub(crate) fn merge(&self, ranks: &HashMap<MemoryId, Vec<Rank>>) -> Vec<(MemoryId, f64)> {
        let best = (self.lexical + self.vector + self.graph) / (self.k + 1.0);
        // The vectors of both models are one signal: the better rank counts.
        let signals: [(f64, &[&str]); 3] =
            [(self.lexical, &["lexical"]), (self.vector, &["vector", "languages"]), (self.graph, &["graph"])];
        let part = |places: &[Rank], (weight, lanes): (f64, &[&str])| {
            let rank = places.iter().filter(|place| lanes.contains(&place.lane)).map(|place| place.rank).min()?;
            Some(weight / (self.k + rank as f64))
        };
        let sum = |places: &[Rank]| signals.iter().filter_map(|signal| part(places, *signal)).sum::<f64>();
        let mut merged: Vec<(MemoryId, f64)> =
            ranks.iter().map(|(id, places)| (*id, (sum(places) / best).min(1.0))).collect();
        merged.retain(|(_, relevance)| *relevance > 0.0);
        merged.sort_by(|a, b| best_first((a.1, a.0), (b.1, b.0)));
        merged
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    // Coverage: S1.10.
    #[test]
    fn ranks_are_merged_by_the_formula() {
        let id = |n: u128| MemoryId(Uuid::from_u128(n));
        let at = |lane, rank| Rank { lane, rank, score: 0.0 };
        let ranks = HashMap::from([
            (id(1), vec![at("lexical", 1), at("vector", 3)]),
            (id(2), vec![at("lexical", 2), at("vector", 1), at("graph", 1)]),
            (id(3), vec![at("recency", 1)]),
            (id(4), vec![at("languages", 2), at("vector", 9)]),
        ]);
        let usual = Fusion { k: 60.0, lexical: 1.0, vector: 1.0, graph: 1.0 };
        let merged = usual.merge(&ranks);
        assert_eq!(merged.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [id(2), id(1), id(4)]);
        let share = |sum: f64| sum / (3.0 / 61.0);
        for ((_, relevance), expect) in merged.iter().zip([
            share(1.0 / 62.0 + 1.0 / 61.0 + 1.0 / 61.0),
            share(1.0 / 61.0 + 1.0 / 63.0),
            share(1.0 / 62.0),
        ]) {
            assert!((relevance - expect).abs() < 1e-12, "{relevance} {expect}");
        }
        // A lane without weight proposes nothing, and a heavy one decides.
        let words = Fusion { vector: 0.0, graph: 0.0, ..usual };
        assert_eq!(words.merge(&ranks).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [id(1), id(2)]);
        assert_eq!(words.merge(&ranks)[0].1, 1.0);
        // With a small constant the first rank of one lane outweighs good ranks in two.
        let spread = HashMap::from([(id(1), vec![at("lexical", 1)]), (id(2), vec![at("lexical", 3), at("vector", 3)])]);
        assert_eq!(usual.merge(&spread)[0].0, id(2));
        assert_eq!(Fusion { k: 0.0, ..usual }.merge(&spread)[0].0, id(1));
    }
}
