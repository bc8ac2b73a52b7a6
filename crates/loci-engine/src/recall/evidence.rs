//! Computes the clues of each candidate.
//!
//! Pure: a question and candidates go in, clues come out. Values are not normalised over the candidates; only the
//! mean length in BM25 and, for texts that no model reads, the rarity of character n-grams are taken from them.

use super::candidates::{Candidate, CandidateSet};
use super::clue::{Clue, ClueValues};
use super::features::TurnSpeaker;
use super::late_interaction::TokenMatches;
use super::question::Question;
use super::{when, words};

/// Weight of a token match in an adjacent turn.
const ADJACENT: f32 = 0.9;

/// Weight of a token match in a turn two or three away.
const FARTHER: f32 = 0.85;

/// Weights of matches in the question that a turn answers, in adjacent turns, up to three turns away, and anywhere in its
/// session. Each adds only tokens that are not matched nearer.
const AROUND: [f64; 4] = [0.95, 0.85, 0.75, 0.25];

/// Expected cosine of a memory without a vector: the base, and the addition if all words match.
const EXPECTED: (f64, f64) = (0.2, 0.4);

/// Share of the role's weight that is left if the question is about what the assistant said.
const ADDRESSED: f64 = 0.5;

/// Weight of a number, relative to a time.
const NUMBER: f64 = 0.4;

/// The clues of every candidate, in their order.
pub(crate) fn compute_clues(question: &Question, set: &CandidateSet, matches: &TokenMatches) -> Vec<ClueValues> {
    let mut clues = vec![ClueValues::NONE; set.candidates.len()];
    words::score_words(question, set, &mut clues);
    tokens(question, set, matches, &mut clues);
    for (at, (candidate, clues)) in set.candidates.iter().zip(&mut clues).enumerate() {
        let cosine = question.cosine(&candidate.features);
        let met = || mean(question, matches.weights(), candidate, matches.met(at));
        clues.set(Clue::Meaning, cosine.unwrap_or_else(|| EXPECTED.0 + EXPECTED.1 * met()));
        observe(question, candidate, clues);
    }
    clues
}

/// Sets how well the tokens of the question are matched in the memory, the question it answers, its neighbours and its
/// session.
fn tokens(question: &Question, set: &CandidateSet, matches: &TokenMatches, clues: &mut [ClueValues]) {
    let mut sessions = vec![vec![0.0_f32; question.tokens.len()]; set.sessions];
    for (at, candidate) in set.candidates.iter().enumerate() {
        raise(&mut sessions[candidate.session], matches.of(at), 1.0);
    }
    let mut row = Vec::with_capacity(question.tokens.len());
    for (at, candidate) in set.candidates.iter().enumerate() {
        row.clear();
        row.extend_from_slice(matches.of(at));
        let mut met = mean(question, matches.weights(), candidate, &row);
        let mut sum = met;
        if !candidate.alone() {
            let mut add = |row: &[f32], share: f64| {
                let wider = mean(question, matches.weights(), candidate, row);
                sum += share * (wider - met);
                met = wider;
            };
            if let Some(asked) = candidate.question {
                raise(&mut row, matches.of(asked), 1.0);
                add(&row, AROUND[0]);
            }
            set.neighbours_of(at, 1).for_each(|(_, other)| raise(&mut row, matches.of(other), ADJACENT));
            add(&row, AROUND[1]);
            for (_, other) in set.neighbours_of(at, 3).filter(|(distance, _)| *distance > 1) {
                raise(&mut row, matches.of(other), FARTHER);
            }
            add(&row, AROUND[2]);
            raise(&mut row, &sessions[candidate.session], 1.0);
            add(&row, AROUND[3]);
        }
        clues[at].set(Clue::Tokens, sum);
    }
}

fn raise(row: &mut [f32], other: &[f32], share: f32) {
    row.iter_mut().zip(other).for_each(|(best, other)| *best = best.max(share * other));
}

/// The weighted mean over the question's tokens.
fn mean(question: &Question, weights: &[f64], candidate: &Candidate, row: &[f32]) -> f64 {
    let spoken = matches!(candidate.features.speaker, TurnSpeaker::Named(_));
    let (mut sum, mut all) = (0.0, 0.0);
    for ((token, weight), best) in question.tokens.iter().zip(weights).zip(row) {
        // Among speakers names tell nothing, unless the question is nothing but names.
        let weight = if spoken && token.name { 1e-6 } else { *weight };
        sum += weight * f64::from(*best);
        all += weight;
    }
    if all > 0.0 { sum / all } else { 0.0 }
}

/// Sets the features that need only the memory itself.
fn observe(question: &Question, candidate: &Candidate, clues: &mut ClueValues) {
    let (features, asks) = (&candidate.features, &question.plan.asks);
    let mark = |holds: bool| f64::from(u8::from(holds));
    if let (Some(asked), TurnSpeaker::Named(name)) = (&question.speaker, &features.speaker) {
        clues.set(Clue::Speaker, if **name == **asked { 1.0 } else { -1.0 });
    }
    let role = match features.speaker {
        TurnSpeaker::User => 1.0,
        TurnSpeaker::Assistant => -1.0,
        _ => 0.0,
    };
    let share = match (asks.summary, asks.assistant) {
        (true, _) => 0.0,
        (_, true) => ADDRESSED,
        _ => 1.0,
    };
    clues.set(Clue::Role, role * share);
    clues.set(Clue::Lasting, mark(features.lasting));
    clues.set(Clue::Date, when::fits(&question.spans, features));
    let time = mark(asks.time && features.tells_time());
    clues.set(Clue::Tells, time.max(NUMBER * mark(asks.count && features.tells_number())));
    clues.set(Clue::Asks, mark(features.asks));
}
