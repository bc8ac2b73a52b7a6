//! Text analysis: the terms by which a text is found.
//!
//! Stored texts and queries use the same analyser: Unicode words in lower case, stemmed by the language of their
//! script, without stop words; identifiers are kept whole in addition to their parts.

mod stop;

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Maximum number of characters of a term. Longer words are usually encoded data and are truncated.
const LONGEST: usize = 64;

/// Turns text into terms. Create one and share it.
pub struct Analyser {
    english: Stemmer,
    russian: Stemmer,
}

/// Whether stop words are dropped or kept.
#[derive(Clone, Copy, PartialEq)]
enum Filler {
    Left,
    Kept,
}

impl Default for Analyser {
    fn default() -> Self {
        Self { english: Stemmer::create(Algorithm::English), russian: Stemmer::create(Algorithm::Russian) }
    }
}

impl Analyser {
    /// The terms of a text, in order, with repetitions.
    pub fn terms(&self, text: &str) -> Vec<String> {
        self.analyse(text, Filler::Left)
    }

    /// The terms of a query, in order. A query of nothing but stop words ("who are you") keeps them.
    pub fn query_terms(&self, text: &str) -> Vec<String> {
        let terms = self.analyse(text, Filler::Left);
        if terms.is_empty() { self.analyse(text, Filler::Kept) } else { terms }
    }

    /// The distinct terms of a query, in the order of their first occurrence.
    pub fn distinct_query_terms(&self, text: &str) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        self.query_terms(text).into_iter().filter(|term| seen.insert(term.clone())).collect()
    }

    fn analyse(&self, text: &str, filler: Filler) -> Vec<String> {
        let lower = lower(text);
        let mut terms = Vec::new();
        for word in lower.unicode_words() {
            self.push_word(word, filler, &mut terms);
        }
        for run in lower.split_whitespace() {
            if let Some(identifier) = identifier(run) {
                terms.push(identifier);
            }
        }
        terms
    }

    fn push_word(&self, word: &str, filler: Filler, terms: &mut Vec<String>) {
        // "anna's" becomes "anna"; "don't" becomes the stop word "dont".
        let word = word.strip_suffix("'s").unwrap_or(word);
        let word: Cow<'_, str> = if word.contains('\'') { word.replace('\'', "").into() } else { word.into() };
        // Words with separators ("v1.2", "snake_case") are split as well.
        for part in word.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
            if filler == Filler::Left && stop::says_nothing(part) {
                continue;
            }
            let part: String = part.chars().take(LONGEST).collect();
            terms.push(self.stem(&part));
        }
    }

    /// The stem of one word in lower case.
    pub fn stem(&self, word: &str) -> String {
        if word.chars().any(|c| c.is_ascii_digit()) {
            return word.to_owned();
        }
        match word.chars().next() {
            Some(c) if c.is_ascii_alphabetic() => self.english.stem(word).into_owned(),
            Some('\u{400}'..='\u{4ff}') => self.russian.stem(&word.replace('ё', "е")).into_owned(),
            _ => word.to_owned(),
        }
    }
}

/// The text in normal form NFKC, in lower case, with one kind of apostrophe.
fn lower(text: &str) -> String {
    // ASCII text needs only lower case.
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().collect::<String>().to_lowercase().replace(['’', 'ʼ'], "'")
}

/// A code, id, path or version, kept whole: "ERR-4021", "src/main.rs", "v1.2.3", "#812".
///
/// Runs of separators become one dot each.
fn identifier(run: &str) -> Option<String> {
    let run = run.trim_matches(|c: char| !c.is_alphanumeric());
    let separated = run.chars().any(|c| matches!(c, '-' | '_' | '.' | '/' | ':' | '\\' | '@' | '#'));
    let telling =
        run.chars().any(|c| c.is_ascii_digit()) || run.chars().any(|c| matches!(c, '_' | '/' | '.' | '@' | '\\'));
    if !(separated && telling) || run.len() > 4 * LONGEST {
        return None;
    }
    let mut whole = String::with_capacity(run.len());
    for c in run.chars() {
        if c.is_alphanumeric() {
            whole.push(c);
        } else if !whole.ends_with('.') {
            whole.push('.');
        }
    }
    Some(whole)
}

/// Whether a word, in lower case and without apostrophes, is a stop word.
pub fn says_nothing(word: &str) -> bool {
    stop::says_nothing(word)
}

/// The terms of a turn: its own, and those of the question that it answers, because "yes, last week" is about what was
/// asked. Of a long question only 40 terms are used: the last 40 of its first 120.
pub fn with_question(own: Vec<String>, question: Option<Vec<String>>) -> Vec<String> {
    let Some(question) = question else { return own };
    let start = &question[..question.len().min(120)];
    let mut terms = start[start.len().saturating_sub(40)..].to_vec();
    terms.extend(own);
    terms
}

/// Whether there is a question mark among the last 200 characters of a text.
pub fn asks(text: &str) -> bool {
    text.chars().rev().take(200).any(|c| matches!(c, '?' | '？' | '؟' | '՞' | '፧' | '⁇' | '⁈'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_a_text() {
        let analyser = Analyser::default();
        let check = |text: &str, expect: &[&str]| assert_eq!(analyser.terms(text), expect, "{text}");
        check("What did Caroline research?", &["carolin", "research"]);
        check("Researching adoption agencies", &["research", "adopt", "agenc"]);
        check("Anna’s dog doesn't bark", &["anna", "dog", "bark"]);
        check("Кошки любят молоко, ёлка", &["кошк", "люб", "молок", "елк"]);
        check("failed with ERR-4021.", &["fail", "err", "4021", "err.4021"]);
        check("see src/main.rs:12", &["see", "src", "main", "rs", "12", "src.main.rs.12"]);
        check("v1.2.3", &["v1", "2", "3", "v1.2.3"]);
        check("snake_case", &["snake", "case", "snake.case"]);
        check("東京", &["東", "京"]);
        check("", &[]);
        check("\u{0}\u{1}", &[]);
    }

    #[test]
    fn an_answer_carries_its_question() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(with_question(words("last week"), None), words("last week"));
        assert_eq!(with_question(words("last week"), Some(words("when pari"))), words("when pari last week"));
        let long: Vec<String> = (0..200).map(|n| n.to_string()).collect();
        let folded = with_question(vec![], Some(long));
        assert_eq!((folded.len(), folded[0].as_str(), folded[39].as_str()), (40, "80", "119"));
    }

    #[test]
    fn a_question_is_seen_at_its_end() {
        assert!(asks("Where did you go? I wonder."));
        assert!(asks("どこへ行きましたか？") && asks("أين ذهبت؟"));
        assert!(!asks("I went home."));
        assert!(!asks(&format!("why? {}", "x".repeat(300))));
    }
}
