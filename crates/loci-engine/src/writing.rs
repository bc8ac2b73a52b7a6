//! Is a text written as a memory should be?
//!
//! Pure. A memory stands for itself: third person, no pronouns, one or two sentences, at most 280
//! characters; an episode is told in the past tense, a procedure may be a list of steps.

use std::fmt;

use loci_types::Class;

use crate::extract::clause::{Clause, Mood, Who};
use crate::extract::prose::sentences;
use crate::extract::verbs::{Form, verb};
use crate::extract::word::{Shape, Word, words};
use crate::text::normalise;

/// The longest text of a memory, in characters.
pub const LONGEST: usize = 280;
/// The longest list of steps, in characters.
pub const LONGEST_STEPS: usize = 2_000;
/// The most sentences of a memory.
pub const MOST_SENTENCES: usize = 2;

/// A way in which a text breaks the writing rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Breach {
    /// It says nothing.
    Empty,
    /// It is too long.
    TooLong {
        /// How many characters it has.
        characters: usize,
    },
    /// It has too many sentences.
    TooManySentences {
        /// How many it has.
        count: usize,
    },
    /// It speaks of its own author.
    FirstPerson {
        /// The word that does.
        word: String,
    },
    /// It speaks of someone without a name.
    Pronoun {
        /// The word that does.
        word: String,
    },
    /// It tells of an event as if it were going on.
    NotPastTense {
        /// The verb that does.
        word: String,
    },
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Breach::Empty => write!(f, "it says nothing"),
            Breach::TooLong { characters } => write!(f, "it has {characters} characters, which is too long"),
            Breach::TooManySentences { count } => write!(f, "it has {count} sentences, not one or two"),
            Breach::FirstPerson { word } => write!(f, "`{word}` is the first person; name who it is"),
            Breach::Pronoun { word } => write!(f, "`{word}` is a pronoun; name who or what it is"),
            Breach::NotPastTense { word } => write!(f, "`{word}` is not the past tense, which an episode is told in"),
        }
    }
}

const FIRST: &[&str] = &[
    "i",
    "me",
    "my",
    "mine",
    "myself",
    "we",
    "us",
    "our",
    "ours",
    "ourselves",
    "я",
    "меня",
    "мне",
    "мной",
    "мною",
    "мы",
    "нас",
    "нам",
    "нами",
    "мой",
    "моя",
    "мое",
    "мои",
    "моего",
    "моей",
    "моему",
    "моим",
    "моих",
    "мою",
    "моем",
    "моими",
    "наш",
    "наша",
    "наше",
    "наши",
    "нашего",
    "нашей",
    "нашему",
    "нашим",
    "наших",
    "нашу",
    "нашем",
    "нашими",
];

const OTHERS: &[&str] = &[
    "you",
    "your",
    "yours",
    "yourself",
    "he",
    "him",
    "his",
    "himself",
    "she",
    "her",
    "hers",
    "herself",
    "it",
    "its",
    "itself",
    "they",
    "them",
    "their",
    "theirs",
    "themselves",
    "ты",
    "тебя",
    "тебе",
    "тобой",
    "вы",
    "вас",
    "вам",
    "вами",
    "твой",
    "твоя",
    "твое",
    "твои",
    "ваш",
    "ваша",
    "ваше",
    "ваши",
    "он",
    "его",
    "ему",
    "им",
    "него",
    "нему",
    "ним",
    "она",
    "ее",
    "ей",
    "ней",
    "неё",
    "оно",
    "они",
    "их",
    "них",
    "ими",
    "ними",
];

/// What a text breaks of the writing rules; nothing: it is well written.
pub fn validate(content: &str, class: Class) -> Vec<Breach> {
    let mut breaches = Vec::new();
    if normalise(content).is_empty() || !content.contains(char::is_alphanumeric) {
        return vec![Breach::Empty];
    }
    let steps = class == Class::Procedural;
    let characters = content.trim().chars().count();
    if characters > if steps { LONGEST_STEPS } else { LONGEST } {
        breaches.push(Breach::TooLong { characters });
    }
    let sentences = sentences(content);
    if !steps && sentences.len() > MOST_SENTENCES {
        breaches.push(Breach::TooManySentences { count: sentences.len() });
    }
    let words = words(content);
    if let Some(word) = words.iter().find(|word| says(word, FIRST)) {
        breaches.push(Breach::FirstPerson { word: word.text.clone() });
    }
    if let Some(word) = words.iter().find(|word| says(word, OTHERS)) {
        breaches.push(Breach::Pronoun { word: word.text.clone() });
    }
    if class == Class::Episodic {
        breaches.extend(sentences.iter().filter_map(|sentence| present(sentence.text)).next());
    }
    breaches
}

/// The text cut to as many whole sentences as may stand, or nothing if not even one may.
pub fn trim(content: &str, class: Class) -> Option<String> {
    let longest = if class == Class::Procedural { LONGEST_STEPS } else { LONGEST };
    let content = content.trim();
    if class == Class::Procedural {
        let mut kept = String::new();
        for line in content.lines() {
            if kept.chars().count() + line.chars().count() + 1 > longest {
                break;
            }
            if !kept.is_empty() {
                kept.push('\n');
            }
            kept.push_str(line);
        }
        return Some(kept).filter(|kept| kept.contains(char::is_alphanumeric));
    }
    let mut kept = String::new();
    for sentence in sentences(content).into_iter().take(MOST_SENTENCES) {
        if kept.chars().count() + sentence.text.chars().count() + 1 > longest {
            break;
        }
        if !kept.is_empty() {
            kept.push(' ');
        }
        kept.push_str(sentence.text);
    }
    Some(kept).filter(|kept| kept.contains(char::is_alphanumeric))
}

/// Whether a word is one of a list, as a word and not as a name in capitals: "US", "IT".
fn says(word: &Word, list: &[&str]) -> bool {
    let name = word.text.chars().count() > 1 && word.text.chars().all(char::is_uppercase);
    word.shape == Shape::Word && !name && list.contains(&word.lower.as_str())
}

/// The verb of a sentence that is told in the present. In doubt it is the past.
fn present(sentence: &str) -> Option<Breach> {
    let clause = Clause::read(words(sentence))?;
    let now = clause.words.get(clause.subject.end..=clause.verb)?.iter().find(|word| word.shape == Shape::Word)?;
    let tense = verb(&now.lower).map(|(_, form)| form);
    let present = matches!(tense, Some(Form::Third)) || now.any(&["am", "is", "are"]);
    let told = clause.who == Who::Thing && present && clause.mood != Mood::Perfect;
    told.then(|| Breach::NotPastTense { word: now.text.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaches_are_named() {
        let long = format!("Ana {}", "likes tea ".repeat(40));
        for (text, class, expect) in [
            ("Ana lives in Porto", Class::Semantic, vec![]),
            ("  ", Class::Semantic, vec![Breach::Empty]),
            (" ... ", Class::Semantic, vec![Breach::Empty]),
            (&long, Class::Semantic, vec![Breach::TooLong { characters: 403 }]),
            ("A is b. C is d. E is f.", Class::Semantic, vec![Breach::TooManySentences { count: 3 }]),
            ("I live in Porto", Class::Semantic, vec![Breach::FirstPerson { word: "I".into() }]),
            ("My cat is old", Class::Opinion, vec![Breach::FirstPerson { word: "My".into() }]),
            ("She lives in Porto", Class::Semantic, vec![Breach::Pronoun { word: "She".into() }]),
            ("Ana likes their tea", Class::Opinion, vec![Breach::Pronoun { word: "their".into() }]),
            ("Ana works in IT in the US", Class::Semantic, vec![]),
            ("Пользователь живёт в Порту", Class::Semantic, vec![]),
            ("Она живёт в Порту", Class::Semantic, vec![Breach::Pronoun { word: "Она".into() }]),
            ("Мой кот стар", Class::Semantic, vec![Breach::FirstPerson { word: "Мой".into() }]),
            ("To release:\n1. Run make. \n2. Tag. \n3. Push.", Class::Procedural, vec![]),
            ("Ana debugged a leak on 2026-02-18.", Class::Episodic, vec![]),
            ("Ana debugs a leak.", Class::Episodic, vec![Breach::NotPastTense { word: "debugs".into() }]),
            ("The team is debugging a leak.", Class::Episodic, vec![Breach::NotPastTense { word: "is".into() }]),
            ("Ana has moved.", Class::Episodic, vec![]),
        ] {
            assert_eq!(validate(text, class), expect, "{text}");
        }
        for (breach, text) in [
            (Breach::Empty, "it says nothing"),
            (Breach::TooLong { characters: 300 }, "it has 300 characters, which is too long"),
            (Breach::Pronoun { word: "it".into() }, "`it` is a pronoun; name who or what it is"),
        ] {
            assert_eq!(breach.to_string(), text);
        }
    }

    #[test]
    fn a_text_is_trimmed_to_whole_sentences() {
        let long = "word ".repeat(80);
        for (text, class, expect) in [
            ("One. Two. Three.", Class::Semantic, Some("One. Two.".to_owned())),
            ("One.", Class::Semantic, Some("One.".to_owned())),
            (&long, Class::Semantic, None),
            (&format!("One. {long}"), Class::Semantic, Some("One.".to_owned())),
            ("", Class::Semantic, None),
            ("To go:\n1. Run", Class::Procedural, Some("To go:\n1. Run".to_owned())),
        ] {
            assert_eq!(trim(text, class), expect, "{text}");
        }
    }
}
