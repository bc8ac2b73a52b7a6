//! Scores the words of a memory against the query.
//!
//! BM25 over the memory's own terms, as a share of the maximum, plus the words of the question that a turn answers.

use super::candidates::{Candidate, CandidateSet};
use super::clue::{Clue, ClueValues};
use super::features::TurnSpeaker;
use super::question::{QueryTerm, Question};
use super::small_int_map::SmallIntMap;

/// Of a question that is answered, the last words among the first ones say what it asks.
const ASKED_FIRST: usize = 120;
const ASKED_LAST: usize = 40;

/// How often a term may count, and how much the length of a text takes away.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Adds what the words say to the clues of every member.
pub(crate) fn score_words(question: &Question, pool: &CandidateSet, clues: &mut [ClueValues]) {
    let mut places = SmallIntMap::for_most(question.terms.len());
    // Two terms may share a number; then they share their count.
    let place_of: Vec<usize> = question.terms.iter().map(|term| places.insert(u64::from(term.key))).collect();
    let all: usize = pool.candidates.iter().map(|member| member.features.terms.len()).sum();
    let mean = (all as f64 / pool.candidates.len().max(1) as f64).max(1.0);
    let mut counts = vec![0.0; question.terms.len()];
    for (member, clues) in pool.candidates.iter().zip(clues) {
        let telling = || telling(question, member);
        let ideal: f64 = telling().map(|(_, term)| term.count * term.weight * (K1 + 1.0)).sum();
        let share = |counts: &[f64], length: usize| -> f64 {
            let norm = K1 * (1.0 - B + B * length as f64 / mean);
            let part = |(at, term): (usize, &QueryTerm)| {
                let count = counts[place_of[at]];
                term.count * term.weight * count * (K1 + 1.0) / (count + norm)
            };
            if ideal > 0.0 { telling().map(part).sum::<f64>() / ideal } else { 0.0 }
        };
        counts.fill(0.0);
        let mut length = count(&mut counts, &places, &member.features.terms);
        let own = share(&counts, length);
        clues.set(Clue::Words, own);
        if let Some(asked) = member.question {
            let asked = &pool.candidates[asked].features.terms;
            let first = &asked[..asked.len().min(ASKED_FIRST)];
            length += count(&mut counts, &places, &first[first.len().saturating_sub(ASKED_LAST)..]);
            clues.set(Clue::Asked, (share(&counts, length) - own).max(0.0));
        }
        clues.set(Clue::Pairs, pairs(question, member));
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

/// The terms that count for this member: among speakers, names tell nothing.
fn telling<'a>(question: &'a Question, member: &Candidate) -> impl Iterator<Item = (usize, &'a QueryTerm)> {
    let spoken = matches!(member.features.speaker, TurnSpeaker::Named(_));
    question.terms.iter().enumerate().filter(move |(_, term)| !(spoken && term.name))
}

/// How many of the question's pairs stand together here, at most three.
fn pairs(question: &Question, member: &Candidate) -> f64 {
    let terms = &member.features.terms;
    let found = question.pairs.iter().filter(|(a, b)| terms.windows(2).any(|pair| pair[0] == *a && pair[1] == *b));
    found.take(3).count() as f64
}
