//! Matches words of the query with words of a memory by their characters.
//!
//! Equal words match. In a language without a stemmer, words have endings and compounds, so a word matches by the
//! share of its character trigrams and 4-grams; in scripts without spaces by single characters and bigrams.

use super::features::{MemoryFeatures, fold};
use super::question::Question;
use super::small_int_map::SmallIntMap;

/// The words of a question, ready to be looked for.
pub(crate) struct Letters<'a> {
    question: &'a Question,
    terms: SmallIntMap,
    runs: SmallIntMap,
    /// The places of each token's term and runs.
    of_token: Vec<(usize, Vec<usize>)>,
}

/// The letter runs of a question that occur in a memory.
pub(crate) struct LetterMatches {
    terms: Vec<bool>,
    /// Empty where the model can read both, and words are compared whole.
    runs: Vec<bool>,
}

impl<'a> Letters<'a> {
    pub(crate) fn new(question: &'a Question) -> Self {
        let mut terms = SmallIntMap::for_most(question.tokens.len());
        let folded: Vec<String> = question.tokens.iter().map(|token| fold(&token.word)).collect();
        let mut runs = SmallIntMap::for_most(folded.iter().map(|word| 4 * word.len()).sum());
        let of_token = question.tokens.iter().zip(&folded).map(|(token, word)| {
            let mut own: Vec<usize> = Vec::new();
            runs_of(word, |run| own.push(runs.insert(run)));
            (terms.insert(u64::from(token.term)), own)
        });
        let of_token = of_token.collect();
        Self { question, terms, runs, of_token }
    }

    /// The letter runs of the question that occur in a memory.
    pub(crate) fn letter_matches(&self, features: &MemoryFeatures) -> LetterMatches {
        let mut terms = vec![false; self.terms.len()];
        for term in &features.terms {
            if let Some(place) = self.terms.find(u64::from(*term)) {
                terms[place] = true;
            }
        }
        let mut runs = vec![false; if self.question.reads(features) { 0 } else { self.runs.len() }];
        if !runs.is_empty() {
            runs_of(&features.folded, |run| {
                if let Some(place) = self.runs.find(run) {
                    runs[place] = true;
                }
            });
        }
        LetterMatches { terms, runs }
    }

    /// The rarity of each run among these memories. A run that occurs in all of them does not distinguish them.
    pub(crate) fn rarity<'b>(&self, all: impl Iterator<Item = &'b LetterMatches>) -> Vec<f32> {
        let (mut counts, mut texts) = (vec![0.0_f32; self.runs.len()], 0.0_f32);
        for one in all.filter(|one| !one.runs.is_empty()) {
            texts += 1.0;
            counts.iter_mut().zip(&one.runs).for_each(|(count, seen)| *count += f32::from(u8::from(*seen)));
        }
        counts.into_iter().map(|count| (1.0 + (texts - count + 0.5) / (count + 0.5)).ln()).collect()
    }

    /// The weight of each token by the rarity of its runs.
    pub(crate) fn weights(&self, rarity: &[f32]) -> Vec<f64> {
        let weight = |runs: &[usize]| f64::from(runs.iter().map(|run| rarity[*run]).sum::<f32>());
        self.of_token.iter().map(|(_, runs)| weight(runs)).collect()
    }

    /// Computes the match of each token, 0..1.
    pub(crate) fn meet(&self, letter_matches: &LetterMatches, rarity: &[f32], met: &mut [f32]) {
        for (met, (term, runs)) in met.iter_mut().zip(&self.of_token) {
            *met = if letter_matches.runs.is_empty() || letter_matches.terms[*term] {
                f32::from(u8::from(letter_matches.terms[*term]))
            } else {
                let all: f32 = runs.iter().map(|run| rarity[*run]).sum();
                let seen: f32 = runs.iter().filter(|run| letter_matches.runs[**run]).map(|run| rarity[*run]).sum();
                if all > 0.0 { seen / all } else { 0.0 }
            };
        }
    }
}

/// Every run of a folded text, as a number.
fn runs_of(folded: &str, mut take: impl FnMut(u64)) {
    let mut run = 0_u64;
    for (at, c) in folded.chars().enumerate() {
        // Sixteen bits each: characters beyond them are rare and may share a number.
        run = run << 16 | u64::from(c as u32 & 0xffff);
        if is_wide(c) {
            take(run & 0xffff);
            if at >= 1 && is_wide(char::from_u32((run >> 16 & 0xffff) as u32).unwrap_or(' ')) {
                take(run & 0xffff_ffff);
            }
            continue;
        }
        if at >= 2 {
            take(run & 0xffff_ffff_ffff);
        }
        if at >= 3 {
            take(run);
        }
    }
}

/// Whether a character represents a word or a syllable.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}')
}
