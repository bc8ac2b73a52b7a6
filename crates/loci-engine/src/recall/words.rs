//! Scores the words of a memory against the query.
//!
//! BM25 over the memory's own terms, as a share of the maximum, plus the words of the question that a turn answers.

use super::candidates::{Candidate, CandidateSet};
use super::clue::{Clue, ClueValues};
use super::features::TurnSpeaker;
use super::question::{QueryTerm, Question};
use super::small_int_map::SmallIntMap;

/// Maximum number of words of an answered question that are used; the last of them contain what it asks.
const ASKED_FIRST: usize = 120;
const ASKED_LAST: usize = 40;

/// BM25 parameters: saturation of term frequency, and the influence of text length.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Adds what the words say to the clues of every candidate.
pub(crate) fn score_words(question: &Question, set: &CandidateSet, clues: &mut [ClueValues]) {
    let mut places = SmallIntMap::for_most(question.terms.len());
    // Two terms may share a number; then they share their count.
    let place_of: Vec<usize> = question.terms.iter().map(|term| places.insert(u64::from(term.key))).collect();
    let all: usize = set.candidates.iter().map(|candidate| candidate.features.terms.len()).sum();
    let mean = (all as f64 / set.candidates.len().max(1) as f64).max(1.0);
    let mut counts = vec![0.0; question.terms.len()];
    for (candidate, clues) in set.candidates.iter().zip(clues) {
        let counted_terms = || counted_terms(question, candidate);
        let ideal: f64 = counted_terms().map(|(_, term)| term.count * term.weight * (K1 + 1.0)).sum();
        let share = |counts: &[f64], length: usize| -> f64 {
            let norm = K1 * (1.0 - B + B * length as f64 / mean);
            let part = |(at, term): (usize, &QueryTerm)| {
                let count = counts[place_of[at]];
                term.count * term.weight * count * (K1 + 1.0) / (count + norm)
            };
            if ideal > 0.0 { counted_terms().map(part).sum::<f64>() / ideal } else { 0.0 }
        };
        counts.fill(0.0);
        let mut length = count(&mut counts, &places, &candidate.features.terms);
        let own = share(&counts, length);
        clues.set(Clue::Words, own);
        if let Some(asked) = candidate.question {
            let asked = &set.candidates[asked].features.terms;
            let first = &asked[..asked.len().min(ASKED_FIRST)];
            length += count(&mut counts, &places, &first[first.len().saturating_sub(ASKED_LAST)..]);
            clues.set(Clue::Asked, (share(&counts, length) - own).max(0.0));
        }
        clues.set(Clue::Pairs, pairs(question, candidate));
    }
}

/// Adds the terms of a text to the counts, and tells how many there are.
fn count(counts: &mut [f64], places: &SmallIntMap, terms: &[u32]) -> usize {
    for term in terms {
        if let Some(place) = places.find(u64::from(*term)) {
            counts[place] += 1.0;
        }
    }
    terms.len()
}

/// The terms that count for this candidate: among speakers, names tell nothing.
fn counted_terms<'a>(question: &'a Question, candidate: &Candidate) -> impl Iterator<Item = (usize, &'a QueryTerm)> {
    let spoken = matches!(candidate.features.speaker, TurnSpeaker::Named(_));
    question.terms.iter().enumerate().filter(move |(_, term)| !(spoken && term.name))
}

/// Number of word pairs of the question that are adjacent in the memory, at most three.
fn pairs(question: &Question, candidate: &Candidate) -> f64 {
    let terms = &candidate.features.terms;
    let found = question.pairs.iter().filter(|(a, b)| terms.windows(2).any(|pair| pair[0] == *a && pair[1] == *b));
    found.take(3).count() as f64
}
