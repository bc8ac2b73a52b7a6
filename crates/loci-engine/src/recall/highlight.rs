//! Selects the sentences of a memory that match the query.

use std::collections::HashSet;

use crate::Engine;
use crate::prompt::pack::shorten::split;

/// Maximum number of sentences that are highlighted in one memory.
const MAX_HIGHLIGHTS: usize = 3;

impl Engine {
    /// The sentences of a text that share words with a question, those that share most, in the order of
    /// the text. Words are compared as the lexical lane compares them.
    pub fn highlights(&self, query: &str, text: &str) -> Vec<String> {
        let wanted: HashSet<String> = self.analyser.distinct_query_terms(query).into_iter().collect();
        let mut found: Vec<(usize, usize, &str)> = Vec::new();
        for (place, sentence) in split(text).into_iter().enumerate() {
            let words: HashSet<String> = self.analyser.terms(sentence).into_iter().collect();
            let shared = words.intersection(&wanted).count();
            if shared > 0 {
                found.push((shared, place, sentence));
            }
        }
        found.sort_by_key(|(shared, place, _)| (std::cmp::Reverse(*shared), *place));
        found.truncate(MAX_HIGHLIGHTS);
        found.sort_by_key(|(_, place, _)| *place);
        found.into_iter().map(|(_, _, sentence)| sentence.to_owned()).collect()
    }
}
