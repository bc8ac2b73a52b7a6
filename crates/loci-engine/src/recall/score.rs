//! The score of a candidate.
//!
//! Pure. The score is the weighted sum of relevance, recency and utility, plus a bonus for specific layers and strong
//! relations. All but relevance are scaled by how close the relevance is to the best. The terms are kept and add up
//! to the score exactly.

use std::cmp::Ordering;

use jiff::Timestamp;
use loci_types::{KindSpec, Layer, MemoryId};
use serde::{Deserialize, Serialize};

use crate::config::Weights;
use crate::lifecycle::curve::{Curve, age_days};

/// Divisor of utility: a memory of full importance reaches 1 after a hundred uses.
const UTILITY_NORM: f64 = 3.0;

/// The recency of a memory: decays with the half-life of its kind since it was stored.
pub fn recency(created_at: Timestamp, kind: &KindSpec, now: Timestamp) -> f64 {
    Curve::HalfLife { days: kind.half_life_days }.left(age_days(created_at, now))
}

/// The utility of a memory: its importance, raised by use.
pub fn utility(importance: f64, access_count: u64) -> f64 {
    (importance * (1.0 + (1.0 + access_count as f64).log10()) / UTILITY_NORM).min(1.0)
}

/// The order of results: by score, best first, and of equal scores by id. Everything that recall and search return in the
/// order of a score is sorted with it.
pub(crate) fn best_first(one: (f64, MemoryId), other: (f64, MemoryId)) -> Ordering {
    other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
}

/// The terms of a score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScoreTerms {
    /// Relevance to the question, 0..1.
    pub relevance: f64,
    /// Closeness to the most relevant memory, 0..1. Recency, utility, layer and relation are multiplied by it: they order
    /// memories of similar relevance and do not lift a clearly less relevant one.
    pub closeness: f64,
    /// Recency, 0..1.
    pub recency: f64,
    /// Utility, 0..1.
    pub utility: f64,
    /// The bonus of its layer.
    pub layer: f64,
    /// The bonus of its strongest relation.
    pub relation: f64,
}

/// Scale of the loss of relevance: with this many nats less evidence a memory is a third as relevant.
const RELEVANCE: f64 = 3.0;

/// The width of closeness in nats where recency and utility weigh as much as relevance.
const CLOSENESS: f64 = 0.4;

/// The relevance of a memory, by how much less evidence it has than the best.
pub fn relevance(behind: f64) -> f64 {
    (-behind / RELEVANCE).exp()
}

/// The closeness of a memory to the best one, by the relevances of both.
pub fn closeness(relevance: f64, best: f64, weights: &Weights) -> f64 {
    let width = CLOSENESS * (weights.recency + weights.utility) / weights.similarity;
    if best <= 0.0 || !width.is_finite() {
        return 1.0;
    }
    if width == 0.0 {
        return 0.0;
    }
    (relevance / best).powf(RELEVANCE / width)
}

impl ScoreTerms {
    /// The score, 0..1: the weighted sum, and of what is left to one the share that layer and relation add.
    pub fn score(&self, weights: &Weights) -> f64 {
        let among_equals = weights.recency * self.recency + weights.utility * self.utility;
        let sum = weights.similarity * self.relevance + self.closeness * among_equals;
        sum + (1.0 - sum).max(0.0) * self.closeness * (self.layer + self.relation)
    }
}

/// The bonus of a layer: `bonus` for the most specific, 0 for the least.
pub fn layer_bonus(layer: Layer, bonus: f64) -> f64 {
    let last = Layer::ALL.len() as f64;
    bonus * (last - f64::from(layer.precedence())) / (last - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Coverage: S0-4.2, S4.1.
    #[test]
    fn utility_by_importance_and_use() {
        for (importance, count, expect) in
            [(1.0, 0, 1.0 / 3.0), (1.0, 9, 2.0 / 3.0), (1.0, 99, 1.0), (1.0, 9_999, 1.0), (0.3, 0, 0.1), (0.0, 50, 0.0)]
        {
            assert!((utility(importance, count) - expect).abs() < 1e-9, "{importance} {count}");
        }
    }

    // Coverage: S0-4.1, S0-4.2.
    #[test]
    fn terms_add_up() {
        let mut terms =
            ScoreTerms { relevance: 0.8, closeness: 1.0, recency: 0.5, utility: 0.25, layer: 0.02, relation: 0.01 };
        assert!((terms.score(&Weights::default()) - (0.6 + 0.4 * 0.03)).abs() < 1e-12);
        terms.closeness = 0.0;
        assert!((terms.score(&Weights::default()) - 0.4).abs() < 1e-12);
        let most =
            ScoreTerms { relevance: 1.0, closeness: 1.0, recency: 1.0, utility: 1.0, layer: 0.05, relation: 0.05 };
        assert!((most.score(&Weights::default()) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_as_relevant_is_close_and_what_is_not_is_far() {
        let usual = Weights::default();
        assert_eq!(closeness(0.7, 0.7, &usual), 1.0);
        assert!(closeness(relevance(0.4), relevance(0.0), &usual) < 0.4);
        assert!(closeness(relevance(3.0), relevance(0.0), &usual) < 1e-3);
        let recent = Weights { similarity: 0.1, recency: 0.8, utility: 0.1 };
        assert!(closeness(relevance(3.0), relevance(0.0), &recent) > 0.4);
        assert_eq!(closeness(0.1, 0.9, &Weights { similarity: 0.0, recency: 1.0, utility: 0.0 }), 1.0);
        assert_eq!(closeness(0.1, 0.9, &Weights { similarity: 1.0, recency: 0.0, utility: 0.0 }), 0.0);
    }

    // Coverage: S2.9.
    #[test]
    fn specific_layers_come_first_among_equals() {
        assert_eq!(layer_bonus(Layer::Agent, 0.05), 0.05);
        assert_eq!(layer_bonus(Layer::Pool, 0.05), 0.0);
        assert!(layer_bonus(Layer::Project, 0.05) > layer_bonus(Layer::Company, 0.05));
    }
}
