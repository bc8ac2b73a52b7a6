//! Why is a memory here, and why at this place?
//!
//! **Invariant.** The numbers of an explanation add up to the score exactly: [`Explanation::score`]
//! is what recall ranks by, not a retelling of it.

use loci_types::{MemoryId, Relation};
use serde::{Deserialize, Serialize};

use super::clue::Clue;
use crate::config::Weights;
use crate::score::Terms;

/// Why a memory was found and ranked as it was:
///
/// * `evidence` = Σ `weight · value` over the clues;
/// * `relevance` = `clarity / (1 + ((best − evidence) / 5)²)`, or what a reranker said;
/// * `score` = (`wₛ·relevance + wᵣ·recency + wᵤ·utility`) · `boost` + `layer` + `relation`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The lanes that found it; none: it stands beside what they found.
    pub lanes: Vec<LaneRank>,
    /// Its cosine to the question, `max(0, cosine)`; none if the vector lane did not find it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// What speaks for it, and how loudly: only what was observed.
    #[serde(default)]
    pub clues: Vec<ClueWeight>,
    /// The weighted sum of the clues.
    pub evidence: f64,
    /// The evidence of the best candidate.
    pub best: f64,
    /// How clearly the best one answers at all, 0..1.
    pub clarity: f64,
    /// What a reranker said, 0..1; it takes the place of the evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reranked: Option<f64>,
    /// What the score is made of.
    #[serde(flatten)]
    pub terms: Terms,
    /// Memories of wider layers that say the same and gave way to this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<MemoryId>,
    /// The weights of relevance, recency and utility.
    pub weights: Weights,
    /// Memories that it hangs together with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<RelatedMemory>,
}

/// One clue and its weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClueWeight {
    /// Which.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub clue: Clue,
    /// What was observed.
    pub value: f64,
    /// How loudly it speaks.
    pub weight: f64,
}

/// A memory's place in one lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LaneRank {
    /// The lane.
    pub lane: String,
    /// The place, from 1.
    pub rank: usize,
    /// The score on the lane's own scale.
    pub score: f64,
}

/// A memory that hangs together with a hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RelatedMemory {
    /// Which.
    pub id: MemoryId,
    /// How.
    pub relation: Relation,
    /// How strongly, 0..1.
    pub strength: f64,
    /// What it says.
    pub content: String,
}

/// So much less evidence than the best halves relevance.
const HALF: f64 = 5.0;

impl Explanation {
    /// The sum of the clues.
    pub fn sum_of_clues(&self) -> f64 {
        self.clues.iter().map(|clue| clue.weight * clue.value).sum()
    }

    /// The relevance that the evidence makes, unless a reranker spoke.
    pub fn judged_relevance(&self) -> f64 {
        self.reranked.unwrap_or_else(|| relevance(self.evidence, self.best, self.clarity))
    }

    /// The score that these terms make with these weights.
    pub fn score(&self, weights: &Weights) -> f64 {
        self.terms.score(weights)
    }
}

/// How relevant a candidate is: nearly as much as the best while little evidence is lacking, half as
/// much at [`HALF`], and hardly at all far behind. So the order among the many that are far behind
/// is left to recency and use, and the order of the few that matter is not.
pub(crate) fn relevance(evidence: f64, best: f64, clarity: f64) -> f64 {
    clarity / (1.0 + ((best - evidence) / HALF).powi(2))
}
