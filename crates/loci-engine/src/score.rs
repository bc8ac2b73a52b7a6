//! Which of the relevant memories matter most now?
//!
//! Pure. The score is a weighted sum of relevance, recency and utility, times the boost of the
//! kind, plus a little for specific layers and strong relations; the terms are kept, so that they add up to it exactly.

use jiff::Timestamp;
use loci_types::{KindSpec, Layer};
use serde::{Deserialize, Serialize};

use crate::config::Weights;
use crate::curve::{Curve, age_days};

/// What utility is divided by: one memory of full importance reaches 1 after a hundred uses.
const UTILITY_NORM: f64 = 3.0;

/// How recent it is: half-life by kind, from when it came into the store.
pub fn recency(created_at: Timestamp, kind: &KindSpec, now: Timestamp) -> f64 {
    Curve::HalfLife { days: kind.half_life_days }.left(age_days(created_at, now))
}

/// How useful it has been: importance, raised by use.
pub fn utility(importance: f64, access_count: u64) -> f64 {
    (importance * (1.0 + (1.0 + access_count as f64).log10()) / UTILITY_NORM).min(1.0)
}

/// The terms of a score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// Relevance to the question, 0..1.
    pub relevance: f64,
    /// Recency, 0..1.
    pub recency: f64,
    /// Utility, 0..1.
    pub utility: f64,
    /// The boost of its kind.
    pub boost: f64,
    /// What its layer adds.
    pub layer: f64,
    /// What its strongest relation adds.
    pub relation: f64,
}

impl Terms {
    /// The sum.
    pub fn score(&self, weights: &Weights) -> f64 {
        let sum = weights.similarity * self.relevance + weights.recency * self.recency + weights.utility * self.utility;
        sum * self.boost + self.layer + self.relation
    }
}

/// What a layer adds: all of `bonus` for the most specific, nothing for the least.
pub fn layer_bonus(layer: Layer, bonus: f64) -> f64 {
    let last = Layer::ALL.len() as f64;
    bonus * (last - f64::from(layer.precedence())) / (last - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utility_by_importance_and_use() {
        for (importance, count, expect) in
            [(1.0, 0, 1.0 / 3.0), (1.0, 9, 2.0 / 3.0), (1.0, 99, 1.0), (1.0, 9_999, 1.0), (0.3, 0, 0.1), (0.0, 50, 0.0)]
        {
            assert!((utility(importance, count) - expect).abs() < 1e-9, "{importance} {count}");
        }
    }

    #[test]
    fn terms_add_up() {
        let terms = Terms { relevance: 0.8, recency: 0.5, utility: 0.25, boost: 1.1, layer: 0.02, relation: 0.01 };
        let score = terms.score(&Weights::default());
        assert!((score - ((0.4 + 0.15 + 0.05) * 1.1 + 0.02 + 0.01)).abs() < 1e-12);
    }

    #[test]
    fn specific_layers_come_first_among_equals() {
        assert_eq!(layer_bonus(Layer::Agent, 0.05), 0.05);
        assert_eq!(layer_bonus(Layer::Pool, 0.05), 0.0);
        assert!(layer_bonus(Layer::Project, 0.05) > layer_bonus(Layer::Company, 0.05));
    }
}
