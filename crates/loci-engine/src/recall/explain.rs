//! Explanations: why a memory was returned, and why at this rank.
//!
//! **Invariant:** the numbers of an explanation add up to the score exactly: [`Explanation::score`] is the value that
//! recall ranks by.

use loci_types::{MemoryId, Relation};
use serde::{Deserialize, Serialize};

use super::clue::Clue;
use crate::config::Weights;
use crate::recall::score::{self, ScoreTerms};

/// Why a memory was found and ranked as it was:
///
/// * `evidence` = Σ `weight · value` over the clues + `kind` + `lift`;
/// * `relevance` = `confidence · exp((evidence − best) / 3)`, or what a reranker said;
/// * `sum` = `wₛ·relevance + closeness · (wᵣ·recency + wᵤ·utility)`;
/// * `score` = `sum + (1 − sum) · closeness · (layer + relation)`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The lanes that found it. Empty if it is a neighbour of their hits.
    pub lanes: Vec<LaneRank>,
    /// Its cosine to the query, `max(0, cosine)`. Absent if the vector lane did not find it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// The part of a long note that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage: Option<String>,
    /// The clues with their weights; only those with a value.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub clues: Vec<ClueWeight>,
    /// The weighted sum of the clues, plus `kind` and `lift`.
    pub evidence: f64,
    /// The addition for its kind and state.
    pub kind: f64,
    /// The addition that ranks it above an older memory with the same statement, or in place of a turn it was learned
    /// from.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lift: f64,
    /// The evidence of the best candidate.
    pub best: f64,
    /// The probability that the best results answer the query at all, 0 to 1.
    pub confidence: f64,
    /// The score of the reranker, 0 to 1, which replaces the evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reranked: Option<f64>,
    /// The terms of the score.
    #[serde(flatten)]
    pub terms: ScoreTerms,
    /// Memories with the same statement that this one replaced in the results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<MemoryId>,
    /// Turns that it was learned from and that were found as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<MemoryId>,
    /// The weights of relevance, recency and utility.
    pub weights: Weights,
    /// Memories that are linked to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<RelatedMemory>,
}

/// A feature with its weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClueWeight {
    /// The name of the clue.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub clue: Clue,
    /// The value of the clue.
    pub value: f64,
    /// The weight of the clue.
    pub weight: f64,
}

/// The rank of a memory in one lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LaneRank {
    /// The lane.
    pub lane: String,
    /// The rank, from 1.
    pub rank: usize,
    /// The score on the lane's own scale.
    pub score: f64,
}

/// A memory that is linked to a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RelatedMemory {
    /// Its id.
    pub id: MemoryId,
    /// The relation.
    pub relation: Relation,
    /// The strength of the link, 0 to 1.
    pub strength: f64,
    /// Its text.
    pub content: String,
    /// Where it comes from, if that is marked in a prompt.
    #[serde(skip)]
    pub origin: Option<String>,
}

impl Explanation {
    /// The sum of the clues, and what is added to it.
    pub fn sum_of_clues(&self) -> f64 {
        self.clues.iter().map(|clue| clue.weight * clue.value).sum::<f64>() + self.kind + self.lift
    }

    /// The relevance that the evidence makes, unless a reranker spoke.
    pub fn judged_relevance(&self) -> f64 {
        self.reranked.unwrap_or_else(|| self.confidence * score::relevance(self.best - self.evidence))
    }

    /// The score that these terms make with these weights.
    pub fn score(&self, weights: &Weights) -> f64 {
        self.terms.score(weights)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}
