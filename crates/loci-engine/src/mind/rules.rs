//! Is what a model wrote fit to be kept?
//!
//! Pure. A statement must be understood alone, long after the conversation is gone: not empty, not
//! too long, and with names where pronouns would be. "It" is let pass: as often as not it stands for
//! nothing ("it is raining"), and what it does stand for is in the same sentence.

/// Characters of a statement.
pub(super) const STATEMENT: usize = 280;
/// Characters of a procedure, which is a list of steps.
pub(super) const PROCEDURE: usize = 1_000;

#[rustfmt::skip]
const PRONOUNS: &[&str] = &[
    "me", "my", "myself", "we", "our", "ours", "ourselves", "you", "your", "yours", "yourself", "he", "him", "his",
    "himself", "she", "her", "hers", "herself", "they", "them", "their", "theirs", "themselves",
    "я", "меня", "мне", "мной", "мой", "моя", "моё", "мое", "мои", "моего", "моей", "моих", "мою", "мы", "нас", "нам",
    "нами", "наш", "наша", "наше", "наши", "нашего", "нашей", "наших", "ты", "тебя", "тебе", "тобой", "твой", "твоя",
    "твои", "вы", "вас", "вам", "вами", "ваш", "ваша", "ваше", "ваши", "он", "его", "него", "ему", "нему", "она", "её",
    "ее", "неё", "нее", "ей", "ней", "они", "их", "них", "ими", "ними",
];

/// What is wrong with a statement of at most `most` characters; nothing where it may be kept. Never
/// a word of the statement.
pub(super) fn fault(text: &str, most: usize) -> Option<&'static str> {
    if !text.chars().any(char::is_alphanumeric) {
        return Some("it is empty");
    }
    if text.chars().count() > most {
        return Some("it is too long");
    }
    has_pronoun(text).then_some("it has a pronoun in place of a name")
}

fn has_pronoun(text: &str) -> bool {
    let text = without_quotations(text).replace('’', "'");
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    let capital = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
    words.iter().enumerate().any(|(place, word)| {
        // After a name it is a number: "World War I". So is what is only part of a word: "I/O".
        let numeral = place > 1 && capital(words[place - 1]);
        // The country is written in capitals, the pronoun is not.
        let us = *word == "us";
        *word == "I" && !numeral || us || PRONOUNS.contains(&word.to_lowercase().as_str())
    })
}

/// A word without the signs around it and without what an apostrophe adds: "I'm" is "I".
fn bare(word: &str) -> &str {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.split('\'').next().unwrap_or_default()
}

/// What people said in so many words may have their pronouns.
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
    fn a_statement_stands_for_itself() {
        let pronoun = Some("it has a pronoun in place of a name");
        for (text, expect) in [
            ("Ana lives in Lisbon.", None),
            ("Ana's dog is called Rex, and it is old.", None),
            ("User works for the US office and for IT.", None),
            ("User's grandfather fought in World War I.", None),
            ("The I/O of the server is slow.", None),
            ("Ana's motto is “I can do it”.", None),
            ("Tom said \"you win\" on 2024-05-01.", None),
            ("Анна живёт в Риге.", None),
            ("I live in Lisbon.", pronoun),
            ("Ana said that I'm late.", pronoun),
            ("She lives in Lisbon.", pronoun),
            ("Ana lives with her sister.", pronoun),
            ("You prefer tea.", pronoun),
            ("It was told to us.", pronoun),
            ("Она живёт в Риге.", pronoun),
            ("Моя собака большая.", pronoun),
            ("", Some("it is empty")),
            (" … ", Some("it is empty")),
        ] {
            assert_eq!(fault(text, STATEMENT), expect, "{text}");
        }
        let long = "ф".repeat(281);
        assert_eq!(fault(&long, STATEMENT), Some("it is too long"));
        assert_eq!(fault(&long, PROCEDURE), None);
        assert_eq!(fault(&long[2..], STATEMENT), None);
    }
}
