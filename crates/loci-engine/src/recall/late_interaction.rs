//! Late interaction (MaxSim): how well each token of the query is matched by a memory.
//!
//! Every query token is compared with all tokens of a memory by the cosine of their contextual states. The states
//! come from the same pass as the sentence vector; only content tokens are kept. Where a memory has no states, or the
//! model cannot read it, matches of characters give the expected value.

use loci_models::projection::{self, Projection, State};
use loci_models::{Embedding, Token};
use loci_store::text::says_nothing;

use super::candidates::{Candidate, CandidateSet};
use super::letters::{LetterMatches, Letters};
use super::question::Question;

/// Expected match of a token in a memory without states: the base, and the addition if its word occurs there.
const EXPECTED: (f32, f32) = (0.3, 0.6);

/// The same where another model has read both: a share of its cosine comes on top.
const EXPECTED_BY_OTHER: (f32, f32, f32) = (0.33, 0.46, 0.7);

/// The packed token states of a text, for a model that has a projection for them.
pub(crate) fn packed_states(model: &str, embedding: &Embedding) -> Option<Vec<u8>> {
    let projection = Projection::of(model)?;
    let mut states = Vec::new();
    for (_, token) in content_tokens(&embedding.tokens) {
        states.extend(projection::pack(&projection.apply(&token.state)?));
    }
    Some(states)
}

/// The content tokens, each with its whole word.
pub(crate) fn content_tokens(tokens: &[Token]) -> Vec<(String, &Token)> {
    let mut found = all(tokens);
    found.retain(|(word, _)| !says_nothing(word) && word.chars().any(char::is_alphanumeric));
    found
}

/// All tokens, each with its whole word. Word pieces that continue a word begin with `##`.
pub(crate) fn all(tokens: &[Token]) -> Vec<(String, &Token)> {
    let mut found = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let Some(first) = rest.first() {
        let length = 1 + rest[1..].iter().take_while(|token| token.piece.starts_with("##")).count();
        let (pieces, others) = rest.split_at(length);
        let mut word = first.piece.clone();
        pieces[1..].iter().for_each(|token| word.push_str(&token.piece[2..]));
        found.extend(pieces.iter().map(|token| (word.clone(), token)));
        rest = others;
    }
    found
}

/// For each candidate and each token of the question how well it is met.
pub(crate) struct TokenMatches {
    width: usize,
    best: Vec<f32>,
    /// Scores by letters only. Empty if no candidate needed them.
    letters: Vec<f32>,
    /// The weight of each token.
    weights: Vec<f64>,
}

impl TokenMatches {
    /// Compares every token of the question with every candidate.
    pub(crate) fn new(question: &Question, set: &CandidateSet) -> Self {
        let width = question.tokens.len();
        let weights = question.tokens.iter().map(|token| token.weight).collect();
        let best = vec![0.0; width * set.candidates.len()];
        let mut matches = Self { width, best, letters: Vec::new(), weights };
        if width == 0 {
            return matches;
        }
        let asked: Vec<State> = question.tokens.iter().map(|token| projection::even_odd(&token.state)).collect();
        let mut unseen = Vec::new();
        for (at, candidate) in set.candidates.iter().enumerate() {
            if question.compares(&candidate.features) {
                projection::max_similarity(
                    &asked,
                    candidate.features.states(),
                    &mut matches.best[at * width..][..width],
                );
            } else {
                unseen.push(at);
            }
        }
        if unseen.is_empty() {
            return matches;
        }
        let letters = Letters::new(question);
        let letter_matches: Vec<LetterMatches> =
            unseen.iter().map(|at| letters.letter_matches(&set.candidates[*at].features)).collect();
        let rarity = letters.rarity(letter_matches.iter());
        matches.letters = vec![0.0; width * set.candidates.len()];
        if !question.readable {
            // Without a stemmer the same word in another form would pass for a rare one.
            matches.weights = letters.weights(&rarity);
        }
        for (at, letter_matches) in unseen.into_iter().zip(&letter_matches) {
            let met = &mut matches.letters[at * width..][..width];
            letters.meet(letter_matches, &rarity, met);
            expect(question, &set.candidates[at], met, &mut matches.best[at * width..][..width]);
        }
        matches
    }

    /// The weight of each token of the question.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The match of each token in one candidate.
    pub(crate) fn of(&self, candidate: usize) -> &[f32] {
        &self.best[candidate * self.width..][..self.width]
    }

    /// The same by letters alone, for a candidate that cannot be compared otherwise.
    pub(crate) fn met(&self, candidate: usize) -> &[f32] {
        if self.letters.is_empty() { &[] } else { &self.letters[candidate * self.width..][..self.width] }
    }
}

/// Estimates the match of a candidate without token states from its letters.
fn expect(question: &Question, candidate: &Candidate, met: &[f32], row: &mut [f32]) {
    let other = question.other_cosine(&candidate.features);
    for (row, met) in row.iter_mut().zip(met) {
        *row = match other {
            Some(cosine) => EXPECTED_BY_OTHER.0 + EXPECTED_BY_OTHER.1 * met + EXPECTED_BY_OTHER.2 * cosine as f32,
            None => EXPECTED.0 + EXPECTED.1 * met,
        };
    }
}
