//! Checks that a text follows the writing rules of memories.
//!
//! Pure. A statement is self-contained: third person, a name before any pronoun, one or two sentences, at most 280
//! characters; an episode is in the past tense, a procedure may be a list of steps. These are the only writing rules;
//! texts of language models are checked against them. Quotations are exempt: they are shown as reported speech.

use std::fmt;

use loci_types::Class;

use crate::learn::language::sentence::sentences;
use crate::learn::language::word::{Shape, Word, words};
use crate::learn::language::{form, language_of};
use crate::text::normalise;

/// The longest text of a memory, in characters.
pub const MAX_CHARACTERS: usize = 280;
/// The longest list of steps, in characters.
pub const MAX_STEPS_CHARACTERS: usize = 2_000;
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
    /// It describes an event, but not in the past tense.
    NotPastTense,
}

impl Breach {
    /// What is wrong, without a word of the text.
    pub fn reason(&self) -> &'static str {
        match self {
            Breach::Empty => "it is empty",
            Breach::TooLong { .. } => "it is too long",
            Breach::TooManySentences { .. } => "it has too many sentences",
            Breach::FirstPerson { .. } => "it is in the first person",
            Breach::Pronoun { .. } => "it has a pronoun before any name",
            Breach::NotPastTense => "it is not in the past tense",
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Breach::Empty => write!(f, "it is empty"),
            Breach::TooLong { characters } => write!(f, "it has {characters} characters, more than {MAX_CHARACTERS}"),
            Breach::TooManySentences { count } => write!(f, "it has {count} sentences, not one or two"),
            Breach::FirstPerson { word } => write!(f, "`{word}` is the first person; name who it is"),
            Breach::Pronoun { word } => write!(f, "`{word}` is a pronoun before any name; name who or what it is"),
            Breach::NotPastTense => write!(f, "it is not in the past tense, which an episode requires"),
        }
    }
}

/// What a text breaks of the writing rules; nothing: it is well written.
pub fn validate(content: &str, class: Class) -> Vec<Breach> {
    if normalise(content).is_empty() || !content.contains(char::is_alphanumeric) {
        return vec![Breach::Empty];
    }
    let mut breaches = Vec::new();
    let steps = class == Class::Procedural;
    let characters = content.trim().chars().count();
    if characters > if steps { MAX_STEPS_CHARACTERS } else { MAX_CHARACTERS } {
        breaches.push(Breach::TooLong { characters });
    }
    let count = sentences(content).len();
    if !steps && count > MOST_SENTENCES {
        breaches.push(Breach::TooManySentences { count });
    }
    let outside = without_quotations(content);
    let words = words(&outside, language_of(&outside));
    // "World War I", "IT", "US": capitals are names, and so is a number behind a name.
    let spoken = |place: usize| {
        let (word, written) = (&words[place], &outside[words[place].at.clone()]);
        let capitals = written.chars().count() > 1 && written.chars().all(char::is_uppercase);
        let numeral = written == "I" && place > 1 && words[place - 1].capital;
        word.shape == Shape::Plain && !capitals && !numeral
    };
    let find = |wanted: &dyn Fn(usize, &Word) -> bool| {
        (0..words.len())
            .find(|place| spoken(*place) && wanted(*place, &words[*place]))
            .map(|place| outside[words[place].at.clone()].to_owned())
    };
    if let Some(word) = find(&|_, word| word.is(form::FIRST | form::MINE)) {
        breaches.push(Breach::FirstPerson { word });
    }
    let person = |word: &Word| word.is(form::SECOND) || word.is(form::PRONOUN) && !word.is(form::EMPTY);
    let named = |place: usize| {
        words[..place].iter().any(|word| word.capital && word.form & (form::PRONOUN | form::SECOND | form::EMPTY) == 0)
    };
    if let Some(word) = find(&|place, word| person(word) && !named(place)) {
        breaches.push(Breach::Pronoun { word });
    }
    let past = |word: &Word| word.is(form::DID | form::PAST) || word.text.ends_with("ed") || word.text == "has";
    if class == Class::Episodic
        && words.iter().any(|word| word.is(form::COPULA | form::LIFE) || word.text.ends_with('s'))
        && !words.iter().any(past)
    {
        breaches.push(Breach::NotPastTense);
    }
    breaches
}

/// The text cut to as many whole sentences as may stand, or nothing if not even one may.
pub fn trim(content: &str, class: Class) -> Option<String> {
    let steps = class == Class::Procedural;
    let longest = if steps { MAX_STEPS_CHARACTERS } else { MAX_CHARACTERS };
    let content = content.trim();
    let parts: Vec<&str> = if steps {
        content.lines().collect()
    } else {
        sentences(content).into_iter().take(MOST_SENTENCES).map(|sentence| sentence.text).collect()
    };
    let mut kept = String::new();
    for part in parts {
        if kept.chars().count() + part.chars().count() + 1 > longest {
            break;
        }
        if !kept.is_empty() {
            kept.push(if steps { '\n' } else { ' ' });
        }
        kept.push_str(part);
    }
    Some(kept).filter(|kept| kept.contains(char::is_alphanumeric))
}

/// Quoted speech may contain pronouns.
fn without_quotations(text: &str) -> String {
    let mut open = false;
    let outside = |c: &char| match c {
        '"' => {
            open = !open;
            false
        }
        '“' | '„' | '«' => {
            open = true;
            false
        }
        '”' | '»' => {
            open = false;
            false
        }
        _ => !open,
    };
    text.chars().filter(outside).collect()
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
            ("Ana lives with her sister", Class::Semantic, vec![]),
            ("Ana's motto is “I can do it”.", Class::Semantic, vec![]),
            ("Ana works in IT in the US", Class::Semantic, vec![]),
            ("Ana's grandfather fought in World War I.", Class::Semantic, vec![]),
            ("Пользователь живёт в Порту", Class::Semantic, vec![]),
            ("Она живёт в Порту", Class::Semantic, vec![Breach::Pronoun { word: "Она".into() }]),
            ("Мой кот стар", Class::Semantic, vec![Breach::FirstPerson { word: "Мой".into() }]),
            ("To release:\n1. Run make. \n2. Tag. \n3. Push.", Class::Procedural, vec![]),
            ("Ana debugged a leak on 2026-02-18.", Class::Episodic, vec![]),
            ("Ana debugs a leak.", Class::Episodic, vec![Breach::NotPastTense]),
            ("Ana has moved.", Class::Episodic, vec![]),
        ] {
            assert_eq!(validate(text, class), expect, "{text}");
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
