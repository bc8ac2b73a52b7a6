//! The query as it is compared with memories.
//!
//! It has weighted terms, tokens with their states, the times it names and what it asks for. Names of speakers are
//! marked: everyone in a conversation says them, so they identify who spoke and not what was said.

use std::collections::HashSet;

use loci_models::Embedding;
use loci_models::projection::{self, DIMENSIONS, Projection, State};
use loci_store::Frequencies;
use loci_store::text::Analyser;
use loci_types::TimeSpan;

use super::features::{MemoryFeatures, key};
use super::late_interaction;
use super::readable::readable;
use super::when;
use crate::recall::plan::Plan;

/// Maximum number of terms and tokens of a question. Bounds the work for pasted documents.
const MOST_TERMS: usize = 96;
const MOST_TOKENS: usize = 64;

/// A parsed question.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) plan: Plan,
    /// Its different terms.
    pub(crate) terms: Vec<QueryTerm>,
    /// Terms that stand together, by their places among the terms.
    pub(crate) pairs: Vec<(u32, u32)>,
    /// Its tokens that say something, when a model has seen it.
    pub(crate) tokens: Vec<QueryToken>,
    /// Its vector, without the names of those who speak where they are known.
    vector: Option<Vec<f32>>,
    /// Its vector by the model for other languages.
    pub(crate) in_languages: Option<Vec<f32>>,
    /// Whether the model can read it.
    pub(crate) readable: bool,
    /// Whether its tokens have states.
    compared: bool,
    /// The spans of time that it names, in every possible year.
    pub(crate) spans: Vec<TimeSpan>,
    /// The one speaker that it names, in lower case.
    pub(crate) speaker: Option<String>,
}

/// A term of the question.
#[derive(Debug, Clone)]
pub(crate) struct QueryTerm {
    pub(crate) text: String,
    pub(crate) key: u32,
    /// Number of occurrences in the question.
    pub(crate) count: f64,
    /// Its weight. Rare words weigh more.
    pub(crate) weight: f64,
    /// Whether it is the name of a speaker.
    pub(crate) name: bool,
    /// Whether it is part of a time that the question names.
    time: bool,
    /// Whether it occurs in no visible memory.
    unknown: bool,
}

/// A token of the question.
#[derive(Debug, Clone)]
pub(crate) struct QueryToken {
    pub(crate) state: State,
    /// Its weight.
    pub(crate) weight: f64,
    /// Whether it belongs to the name of a speaker.
    pub(crate) name: bool,
    /// The word it is part of, in lower case, and its term.
    pub(crate) word: String,
    pub(crate) term: u32,
}

impl Question {
    /// Analyses a question. The weights of its words are set later, by [`Question::apply_idf`].
    pub(crate) fn new(analyser: &Analyser, plan: Plan) -> Self {
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut said = analyser.query_terms(&plan.text);
        // Whole documents are pasted for questions.
        said.truncate(MOST_TERMS);
        let times: HashSet<String> =
            plan.times.iter().flat_map(|time| analyser.terms(&plan.text[time.at.clone()])).collect();
        for term in &said {
            match terms.iter_mut().find(|known| known.text == *term) {
                Some(known) => known.count += 1.0,
                None => {
                    let (text, key) = (term.clone(), key(term));
                    let time = times.contains(term);
                    terms.push(QueryTerm { text, key, count: 1.0, weight: 1.0, name: false, time, unknown: false });
                }
            }
        }
        let pairs = said.windows(2).filter(|pair| pair[0] != pair[1]).map(|pair| (key(&pair[0]), key(&pair[1])));
        let token = |term: &QueryTerm| {
            let (word, term) = (term.text.clone(), term.key);
            QueryToken { state: [0; DIMENSIONS], weight: 1.0, name: false, word, term }
        };
        Self {
            pairs: pairs.collect(),
            spans: when::spans(&plan),
            readable: readable(&plan.text),
            compared: false,
            plan,
            // Until a model has seen it, its tokens are its terms.
            tokens: terms.iter().map(token).collect(),
            terms,
            vector: None,
            in_languages: None,
            speaker: None,
        }
    }

    /// Sets the embedding and the token states of the question.
    pub(crate) fn set_embedding(&mut self, analyser: &Analyser, model: &str, embedding: Embedding) {
        self.vector = Some(embedding.vector);
        let Some(projection) = Projection::of(model).filter(|_| self.readable) else { return };
        let telling = late_interaction::content_tokens(&embedding.tokens);
        let all = if telling.is_empty() { late_interaction::all(&embedding.tokens) } else { telling };
        let token = |(word, token): (String, &loci_models::Token)| {
            let (state, term) =
                (projection::quantise_query(&projection.apply(&token.state)?), key(&analyser.stem(&word)));
            Some(QueryToken { state, weight: 1.0, name: false, word, term })
        };
        let tokens: Vec<QueryToken> = all.into_iter().take(MOST_TOKENS).filter_map(token).collect();
        if !tokens.is_empty() {
            self.tokens = tokens;
            self.compared = true;
        }
    }

    /// Sets the embedding of the question without the names of speakers.
    pub(crate) fn set_nameless_embedding(&mut self, embedding: Embedding) {
        self.vector = Some(embedding.vector);
    }

    /// Whether the model can read both the question and a memory.
    pub(crate) fn reads(&self, features: &MemoryFeatures) -> bool {
        self.readable && features.readable
    }

    /// Whether the tokens of the question and of a memory can be compared by their states.
    pub(crate) fn compares(&self, features: &MemoryFeatures) -> bool {
        self.compared && features.readable && !features.states.is_empty()
    }

    /// The cosine to a memory; none if one of them has no vector or cannot be read.
    pub(crate) fn cosine(&self, features: &MemoryFeatures) -> Option<f64> {
        match self.reads(features) {
            true => features.vector.as_ref()?.cosine(self.vector.as_ref()?),
            false => self.other_cosine(features),
        }
    }

    /// The cosine by the model for other languages.
    pub(crate) fn other_cosine(&self, features: &MemoryFeatures) -> Option<f64> {
        features.in_languages.get()?.cosine(self.in_languages.as_ref()?)
    }

    /// The question without the names of speakers. `None` if it names none, or has no other words.
    pub(crate) fn nameless(&self, analyser: &Analyser) -> Option<String> {
        let names: HashSet<u32> = self.terms.iter().filter(|term| term.name).map(|term| term.key).collect();
        if names.is_empty() || names.len() == self.terms.len() {
            return None;
        }
        let is_name = |word: &&str| {
            let terms = analyser.terms(word);
            !terms.is_empty() && terms.iter().all(|term| names.contains(&key(term)))
        };
        let words: Vec<&str> = self.plan.text.split_whitespace().filter(|word| !is_name(word)).collect();
        Some(words.join(" "))
    }

    /// Weighs its words by how rare they are among what is visible.
    pub(crate) fn apply_idf(&mut self, frequencies: &Frequencies) {
        let all = frequencies.memories as f64;
        let rarity = |count: u64| (1.0 + (all - count as f64 + 0.5).max(0.0) / (count as f64 + 0.5)).ln();
        for (term, count) in self.terms.iter_mut().zip(&frequencies.of) {
            (term.weight, term.unknown) = (rarity(*count), *count == 0);
        }
        for token in &mut self.tokens {
            let known = self.terms.iter().find(|term| term.key == token.term);
            token.weight = known.map_or_else(|| rarity(0), |term| term.weight);
        }
    }

    /// Marks the names of those who speak.
    pub(crate) fn mark_speaker_names(&mut self, analyser: &Analyser, names: &[&str]) {
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

    /// Whether the question contains codes and no visible memory contains any of them.
    pub(crate) fn names_unknown_code(&self) -> bool {
        let codes = || self.terms.iter().filter(|term| !term.time && is_code(&term.text));
        codes().next().is_some() && codes().all(|term| term.unknown)
    }

    /// Whether the question contains names and no visible memory contains any of them. Only for English, because other
    /// languages capitalise other words too.
    pub(crate) fn names_unknown(&self, analyser: &Analyser) -> bool {
        let words = self.plan.text.split_whitespace().skip(1).filter(|word| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            let mut letters = word.chars();
            letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
        });
        let terms: Vec<String> = words.flat_map(|word| analyser.terms(word)).collect();
        let mut named = self.terms.iter().filter(|term| !term.time && terms.contains(&term.text)).peekable();
        self.readable && named.peek().is_some() && named.all(|term| term.unknown)
    }
}

/// Whether a term is a code: letters and digits, or many digits that are no year. `3rd` and `10am` are none.
fn is_code(term: &str) -> bool {
    let digits = term.chars().filter(char::is_ascii_digit).count();
    let letters = term.chars().filter(|c| c.is_alphabetic()).count();
    let counted = term.trim_start_matches(|c: char| c.is_ascii_digit()).chars().count() <= 2
        && term.starts_with(|c: char| c.is_ascii_digit());
    let year = digits == 4 && (term.starts_with("19") || term.starts_with("20"));
    match (digits, letters) {
        // `src.main` is one, `i.e` is none.
        (0, _) => term.split('.').filter(|part| part.chars().count() > 2).count() > 1,
        (_, 0) => digits >= 4 && !year,
        _ => !counted,
    }
}
