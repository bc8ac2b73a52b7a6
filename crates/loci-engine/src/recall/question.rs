//! What does a question look for?
//!
//! Its words with how much each says, its tokens as the model sees them, the times it names and
//! what it asks for. Names of speakers are marked: in a conversation everyone says them, so they
//! tell who spoke and not what was said.

use std::collections::HashSet;

use loci_models::Embedding;
use loci_models::projection::{self, Projection, State};
use loci_store::Frequencies;
use loci_store::text::Analyser;
use loci_types::{TimeSpan, Vector};

use super::late;
use super::reading::{fold, key};
use super::when;
use crate::plan::Plan;

/// A question, taken apart.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) plan: Plan,
    /// Its different terms.
    pub(crate) terms: Vec<Term>,
    /// Terms that stand together, by their places among the terms.
    pub(crate) pairs: Vec<(u32, u32)>,
    /// Its tokens that say something, when a model has seen it.
    pub(crate) tokens: Vec<Token>,
    pub(crate) vector: Option<Vector>,
    /// The stretches of time that it names, in every year that may be meant.
    pub(crate) spans: Vec<TimeSpan>,
    /// The one speaker that it names, in lower case.
    pub(crate) speaker: Option<String>,
}

/// A term of the question.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    pub(crate) text: String,
    pub(crate) key: u32,
    /// How often the question says it.
    pub(crate) count: f64,
    /// How much it says: rare words say more.
    pub(crate) weight: f64,
    /// It is the name of a speaker.
    pub(crate) name: bool,
    /// It is part of a time that the question names.
    pub(crate) time: bool,
}

/// A token of the question.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) state: State,
    /// How much it says.
    pub(crate) weight: f64,
    /// It belongs to the name of a speaker.
    pub(crate) name: bool,
    /// The term it is part of.
    term: u32,
}

impl Question {
    /// Takes a question apart. What its words weigh is told later, by [`Question::weigh`].
    pub(crate) fn new(analyser: &Analyser, plan: Plan) -> Self {
        let mut terms: Vec<Term> = Vec::new();
        let said = analyser.query_terms(&plan.text);
        let times: HashSet<String> =
            plan.times.iter().flat_map(|time| analyser.terms(&plan.text[time.at.clone()])).collect();
        for term in &said {
            match terms.iter_mut().find(|known| known.text == *term) {
                Some(known) => known.count += 1.0,
                None => {
                    let (text, key) = (term.clone(), key(term));
                    let time = times.contains(term);
                    terms.push(Term { text, key, count: 1.0, weight: 1.0, name: false, time });
                }
            }
        }
        let pairs = said.windows(2).filter(|pair| pair[0] != pair[1]).map(|pair| (key(&pair[0]), key(&pair[1])));
        Self {
            pairs: pairs.collect(),
            spans: when::spans(&plan),
            plan,
            terms,
            tokens: Vec::new(),
            vector: None,
            speaker: None,
        }
    }

    /// Takes in what the model saw.
    pub(crate) fn see(&mut self, analyser: &Analyser, model: &str, embedding: Embedding) {
        if let Some(projection) = Projection::of(model) {
            let telling = late::telling(&embedding.tokens);
            let all = if telling.is_empty() { late::all(&embedding.tokens) } else { telling };
            for (word, token) in all {
                let Some(state) = projection.apply(&token.state) else { continue };
                let term = key(&analyser.stem(&word));
                self.tokens.push(Token { state: projection::fine(&state), weight: 1.0, name: false, term });
            }
        }
        self.vector = Some(Vector { model: model.to_owned(), values: embedding.vector, token_states: None });
    }

    /// Weighs its words by how rare they are among what is visible.
    pub(crate) fn weigh(&mut self, frequencies: &Frequencies) {
        let all = frequencies.memories as f64;
        let rarity = |count: u64| (1.0 + (all - count as f64 + 0.5).max(0.0) / (count as f64 + 0.5)).ln();
        for (term, count) in self.terms.iter_mut().zip(&frequencies.of) {
            term.weight = rarity(*count);
        }
        for token in &mut self.tokens {
            let known = self.terms.iter().find(|term| term.key == token.term);
            token.weight = known.map_or_else(|| rarity(0), |term| term.weight);
        }
    }

    /// Marks the names of those who speak.
    pub(crate) fn know_speakers(&mut self, analyser: &Analyser, names: &[&str]) {
        let stems = |name: &str| -> Vec<String> { analyser.terms(name) };
        let keys: HashSet<u32> = names.iter().flat_map(|name| stems(name)).map(|stem| key(&stem)).collect();
        for term in &mut self.terms {
            term.name = keys.contains(&term.key);
        }
        for token in &mut self.tokens {
            token.name = keys.contains(&token.term);
        }
        let said = |name: &&&str| stems(name).iter().any(|stem| self.terms.iter().any(|term| term.text == *stem));
        let mut named = names.iter().filter(said);
        self.speaker = match (named.next(), named.next()) {
            (Some(only), None) => Some((*only).to_owned()),
            _ => None,
        };
    }

    /// Its words without filler and speakers' names, folded; all of it if nothing else is left.
    pub(crate) fn folded(&self, analyser: &Analyser) -> String {
        let names: HashSet<&str> = self.terms.iter().filter(|term| term.name).map(|term| term.text.as_str()).collect();
        let folded = fold(&self.plan.text);
        let telling = |word: &&str| {
            let stem = analyser.stem(word);
            !names.contains(stem.as_str()) && self.terms.iter().any(|term| term.text == stem)
        };
        let words: Vec<&str> = folded.split(' ').filter(|word| !word.is_empty()).filter(telling).collect();
        if words.is_empty() { folded } else { format!(" {} ", words.join(" ")) }
    }
}
