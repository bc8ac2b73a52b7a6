//! In what hard marks do two statements differ?
//!
//! Numbers, dates, names and negation: two texts that are alike but for one of these do not say
//! the same. A quantity that went from one number to another is a step of the same thing; a
//! number that names something is not.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::clause::Clause;
use super::lexicon::{self, number, singular, within};
use super::verbs::verb;
use super::word::{Shape, Word, words};
use crate::plan::time::time_phrases;

/// A hard mark in which two statements differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// They name other quantities.
    Numbers,
    /// They name other times.
    Dates,
    /// They name other people, places, things or identifiers.
    Names,
    /// One says that it is not so.
    Negation,
}

/// The hard marks in which two statements differ, each once.
pub fn differs(a: &str, b: &str) -> Vec<Difference> {
    let (one, other) = (Marks::of(a), Marks::of(b));
    let mut differences = Vec::new();
    if one.numbers != other.numbers {
        differences.push(Difference::Numbers);
    }
    if one.dates != other.dates {
        differences.push(Difference::Dates);
    }
    if !one.names.is_subset(&other.words) || !other.names.is_subset(&one.words) {
        differences.push(Difference::Names);
    }
    if one.negated != other.negated {
        differences.push(Difference::Negation);
    }
    differences
}

/// The hard marks of a statement.
struct Marks {
    numbers: BTreeSet<String>,
    dates: BTreeSet<(Timestamp, Timestamp)>,
    names: BTreeSet<String>,
    words: BTreeSet<String>,
    negated: bool,
}

impl Marks {
    fn of(text: &str) -> Self {
        let phrases = time_phrases(text, &Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC));
        let in_date =
            |word: &Word| phrases.iter().any(|phrase| word.at.start >= phrase.at.start && word.at.end <= phrase.at.end);
        let mut marks = Self {
            numbers: BTreeSet::new(),
            dates: phrases.iter().map(|phrase| (phrase.span.from, phrase.span.until)).collect(),
            names: BTreeSet::new(),
            words: BTreeSet::new(),
            negated: false,
        };
        let words = words(text);
        for (place, word) in words.iter().enumerate().filter(|(_, word)| word.speaks() && !in_date(word)) {
            let folded = fold(word);
            let negates = word.any(&["not", "no", "never", "without", "neither", "nor", "не", "нет", "никогда", "без"]);
            marks.negated ^= negates && !(word.is("no") && words.get(place + 1).is_some_and(|next| next.is("doubt")));
            match quantity(word) {
                Some(quantity) => {
                    marks.numbers.insert(quantity);
                }
                None if word.digits() || names(&words, place) => {
                    marks.names.insert(folded.clone());
                }
                None => {}
            }
            marks.words.insert(folded);
        }
        marks
    }
}

fn fold(word: &Word) -> String {
    word.lower.strip_suffix("'s").unwrap_or(&word.lower).to_owned()
}

/// Units that stand right behind their number.
const UNITS: &[&str] = &[
    "am", "pm", "k", "m", "g", "s", "h", "d", "x", "ms", "kg", "km", "cm", "mm", "gb", "mb", "kb", "tb", "min", "mg",
    "l", "usd", "eur", "hz", "ghz", "°", "bn", "b", "w", "y", "yo", "mph",
];

/// The quantity that a word names, in one spelling.
fn quantity(word: &Word) -> Option<String> {
    if let Some(number) = number(&word.lower) {
        return Some(number.to_string());
    }
    if word.lower.starts_with('#') {
        return None;
    }
    let lower = word.lower.trim_start_matches(['$', '€', '£', '+']).replace(',', "");
    let digits = lower.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ':' | '-'));
    let number = &lower[..lower.len() - digits.len()];
    let plain = number.starts_with(|c: char| c.is_ascii_digit()) && number.matches(['.', '-']).count() <= 1;
    let unit = digits.is_empty() || digits == "%" || digits == "€" || digits == "$" || UNITS.contains(&digits);
    (plain && unit && !(number.contains('-'))).then(|| format!("{number}{digits}"))
}

/// Whether a word is written as a name here.
fn names(words: &[Word], place: usize) -> bool {
    let word = &words[place];
    if word.shape == Shape::Code || word.shape == Shape::Quote {
        return true;
    }
    if !word.capital() || word.is("i") || within(lexicon::CALENDAR, &word.lower) {
        return false;
    }
    let starts = place == 0
        || words[..place].iter().all(|word| word.shape == Shape::Mark)
        || words[place - 1].any(&[".", "!", "?"]);
    let common = within(lexicon::DETERMINERS, &word.lower)
        || within(lexicon::PREPOSITIONS, &word.lower)
        || within(lexicon::ADVERBS, &word.lower)
        || within(lexicon::AUXILIARIES, &word.lower)
        || within(lexicon::SUBORDINATORS, &word.lower)
        || verb(&word.lower).is_some()
        || word.any(&["we", "there", "user", "use", "not", "no"]);
    // A plain noun at the start of a sentence is a difference of words, not of names.
    let next = words.get(place + 1);
    let noun = next.is_some_and(|next| {
        next.shape == Shape::Word
            && !next.capital()
            && verb(&next.lower).is_none()
            && !within(lexicon::AUXILIARIES, &next.lower)
    });
    !starts || !(common || noun && !word.owner())
}

/// Words whose number is a name: "build 4021", "room 5".
const NUMBERED: &[&str] = &[
    "build",
    "room",
    "ticket",
    "issue",
    "version",
    "error",
    "err",
    "chapter",
    "page",
    "step",
    "pr",
    "no",
    "number",
    "id",
    "gate",
    "flight",
    "bus",
    "line",
    "phase",
    "sprint",
    "release",
    "commit",
    "node",
    "server",
    "house",
    "unit",
    "apartment",
    "order",
    "invoice",
    "case",
    "bug",
    "task",
    "pod",
    "host",
    "disk",
    "rfc",
    "section",
    "table",
    "figure",
    "item",
    "slot",
    "shard",
    "replica",
    "worker",
    "machine",
    "rack",
    "floor",
    "exit",
    "terminal",
    "platform",
    "#",
    "№",
    "билет",
    "комната",
    "комнате",
    "ошибка",
    "сборка",
    "номер",
    "задача",
    "версия",
    "этаж",
    "рейс",
    "глава",
    "страница",
    "сервер",
    "узел",
    "дом",
    "квартира",
];

/// Whether two statements are the same but for a quantity in what they say: 3 nodes, then 5.
pub fn numeric_step(a: &str, b: &str) -> bool {
    let (one, other) = (bare(a), bare(b));
    if one.len() != other.len() || one.is_empty() {
        return false;
    }
    let predicate = Clause::read(one.clone()).map_or_else(|| one.len().div_ceil(2).min(2), |clause| clause.subject.end);
    let mut stepped = false;
    for (place, (left, right)) in one.iter().zip(&other).enumerate() {
        let same = left.lower == right.lower || singular(&left.lower) == singular(&right.lower);
        if same {
            continue;
        }
        let (Some(_), Some(_)) = (quantity(left), quantity(right)) else { return false };
        let named = place.checked_sub(1).is_some_and(|before| NUMBERED.contains(&one[before].lower.as_str()));
        if named || place < predicate {
            return false;
        }
        stepped = true;
    }
    stepped
}

/// The words without what stands in brackets, without articles and marks.
fn bare(text: &str) -> Vec<Word> {
    let mut depth = 0_usize;
    let mut bare = Vec::new();
    for word in words(text) {
        match word.text.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ if depth == 0 && word.speaks() && !word.any(&["the", "a", "an", "now", "currently"]) => bare.push(word),
            _ => {}
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::Difference::{Dates, Names, Negation, Numbers};
    use super::*;

    #[test]
    fn hard_marks_are_compared() {
        for (a, b, expect) in [
            ("Ana likes tea", "Ana likes tea", vec![]),
            ("Ana likes tea", "Ana loves tea", vec![]),
            ("Ana likes tea", "Bob likes tea", vec![Names]),
            ("Ana lives in Porto", "Ana lives in Lisbon", vec![Names]),
            ("Ana lives in Porto", "ana lives in porto", vec![]),
            ("User's cluster has 3 nodes", "User's cluster has 5 nodes", vec![Numbers]),
            ("Ana has two kids", "Ana has 2 kids", vec![]),
            ("The deadline is March 1", "The deadline is March 15", vec![Dates]),
            ("The deadline is 2026-03-01", "The deadline is 1 March 2026", vec![]),
            ("Ana likes tea", "Ana does not like tea", vec![Negation]),
            ("Ana no longer smokes", "Ana smokes", vec![Negation]),
            ("It failed with ERR-7731", "It failed with ERR-7732", vec![Names]),
            ("Deployed v2.3.1", "Deployed v2.3.2", vec![Names]),
            ("The shop opens at 6pm", "The shop opens at 7pm", vec![Numbers]),
            ("Build 4021 failed", "Build 4022 failed", vec![Numbers]),
            ("Анна живёт в Риге", "Анна живёт в Порту", vec![Names]),
            ("Анна любит чай", "Анна не любит чай", vec![Negation]),
            ("The price is 1,000", "The price is 1000", vec![]),
            ("Ana met Bob in May", "Ana met Eve in June", vec![Dates, Names]),
            ("Marta's cat is old", "Marta is old", vec![]),
        ] {
            assert_eq!(differs(a, b), expect, "{a} / {b}");
            assert_eq!(differs(b, a), expect, "{b} / {a}");
        }
    }

    #[test]
    fn a_quantity_steps_and_a_name_does_not() {
        for (a, b, expect) in [
            ("User's cluster has 3 nodes", "User's cluster has 5 nodes", true),
            ("User's cluster has 3 nodes", "User's cluster has 5 nodes (scaled from 3 in Feb 2026)", true),
            ("The price is 10", "The price is 12", true),
            ("The price is $10", "The price is $12.", true),
            ("Ana has one dog", "Ana has two dogs", true),
            ("Ana has 2 dogs", "Ana has three dogs", true),
            ("Build 4021 failed", "Build 4022 failed", false),
            ("ERR-1 was fixed", "ERR-2 was fixed", false),
            ("Ana sits in room 5", "Ana sits in room 6", false),
            ("Bob closed ticket #12", "Bob closed ticket #13", false),
            ("Room 5 is free", "Room 6 is free", false),
            ("Ana has 3 cats", "Bob has 5 cats", false),
            ("Ana has 3 cats", "Ana has 3 cats", false),
            ("Node 3 has 2 disks", "Node 3 has 4 disks", true),
            ("Ana lives in Porto", "Ana lives in Lisbon", false),
            ("The API answers in 20ms", "The API answers in 35ms", true),
            ("Кластер имеет 3 узла", "Кластер имеет 5 узла", true),
        ] {
            assert_eq!(numeric_step(a, b), expect, "{a} / {b}");
            assert_eq!(numeric_step(b, a), expect, "{b} / {a}");
        }
    }
}
