//! Estimates whether the results answer the question.
//!
//! The evidence of the best result gives the probability that it is about the question. It cannot show whether the
//! requested detail is present: a memory about the gold plan without a price looks as good as one with it. It can
//! show that nothing is about the question, or that the code or name it asks for was never mentioned.

use loci_store::text::Analyser;

use super::Answered;
use super::rank::{RankedCandidate, ScoredCandidates};

/// Slope and intercept of the logistic regression from own evidence, in nats, to the chance of an answer.
const GROWTH: f64 = 0.24;
const FROM: f64 = -2.0;

/// A question that the model cannot read is judged more mildly: what speaks for its answers is partly guessed.
const UNREAD: f64 = 0.65;

/// Penalty if no visible memory mentions a code of the question; the second is for names.
const UNKNOWN_CODE: f64 = -6.0;
const UNKNOWN_NAME: f64 = -2.0;

/// Number of the best candidates whose evidence is used.
const FIRST: usize = 3;

/// Logit below which recall returns nothing. Chosen on refusal curves: at most 2 % of answerable questions are refused.
const NOTHING: f64 = -0.35;

/// Logit from which an answer is `yes` rather than `unsure`.
const LIKELY: f64 = 1.0;

/// The probability that the best candidates answer the question, 0..1.
pub(crate) fn confidence(scored: &ScoredCandidates, analyser: &Analyser, candidates: &[RankedCandidate]) -> f64 {
    let asks = &scored.question.plan.asks;
    if asks.newest || asks.important {
        return 1.0;
    }
    let best = best_candidates(candidates);
    let own = best.iter().map(|one| scored.own(one.at)).fold(0.0, f64::max);
    let mark = |holds: bool, cost: f64| if holds { cost } else { 0.0 };
    let question = &scored.question;
    let from = FROM + mark(!question.readable, UNREAD);
    let unknown_code = mark(question.names_unknown_code(), UNKNOWN_CODE);
    // An entity that is known by an alias counts as known.
    if best.iter().any(|one| scored.mentions(one.at)) {
        return chance((GROWTH * own + from).max(NOTHING) + unknown_code);
    }
    chance(GROWTH * own + from + unknown_code + mark(question.names_unknown(analyser), UNKNOWN_NAME))
}

/// The candidates with the most evidence, in no particular order; of equal ones those that come first.
fn best_candidates(candidates: &[RankedCandidate]) -> Vec<&RankedCandidate> {
    let mut best: Vec<(usize, &RankedCandidate)> = candidates.iter().enumerate().collect();
    if best.len() > FIRST {
        best.select_nth_unstable_by(FIRST - 1, |(a_place, a), (b_place, b)| {
            b.explain.evidence.total_cmp(&a.explain.evidence).then(a_place.cmp(b_place))
        });
        best.truncate(FIRST);
    }
    best.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The verdict for a confidence.
pub(crate) fn answered(confidence: f64) -> Answered {
    if confidence < chance(NOTHING) {
        Answered::No
    } else if confidence < chance(LIKELY) {
        Answered::Unsure
    } else {
        Answered::Yes
    }
}

fn chance(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}
