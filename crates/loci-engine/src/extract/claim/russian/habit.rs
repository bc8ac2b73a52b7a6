//! On which day does someone do something, and when do they come?
//!
//! "Ана ходит на плавание по субботам": the day of an activity is one, or one set of days, so a new
//! one takes the place of the old.

use super::super::super::word::{Shape, Word};
use super::{stem, stems};

/// Verbs of what is done again and again.
const AGAIN: &[&str] = &[
    "ходит",
    "занимается",
    "играет",
    "бегает",
    "плавает",
    "тренируется",
    "танцует",
    "катается",
    "ездит",
    "гуляет",
    "медитирует",
    "поет",
    "рисует",
    "дежурит",
    "созванивается",
    "готовит",
    "печет",
    "посещает",
];

/// Verbs of coming and going.
const COMES: &[(&str, &str)] = &[
    ("приедет", "arrival"),
    ("приезжает", "arrival"),
    ("прилетит", "arrival"),
    ("прилетает", "arrival"),
    ("вернется", "return"),
    ("возвращается", "return"),
    ("уезжает", "departure"),
    ("уедет", "departure"),
    ("улетает", "departure"),
    ("улетит", "departure"),
];

const DAYS: &[&str] =
    &["понедельник", "вторник", "сред", "четверг", "пятниц", "суббот", "воскресень", "будн", "выходн", "утр", "вечер"];

/// Whether a verb is read here.
pub(super) fn tells(word: &Word) -> bool {
    AGAIN.contains(&word.lower.as_str()) || COMES.iter().any(|(verb, _)| word.is(verb))
}

/// The side and the value that a verb tells with what stands before and behind it.
pub(super) fn claim(before: &[Word], verb: &Word, rest: &[Word]) -> Option<(String, String)> {
    if let Some((_, side)) = COMES.iter().find(|(known, _)| verb.is(known)) {
        return Some(((*side).to_owned(), date(rest)?));
    }
    if !AGAIN.contains(&verb.lower.as_str()) {
        return None;
    }
    let days = days(before).or_else(|| days(rest))?;
    let what: Vec<Word> = rest
        .iter()
        .take_while(|word| word.speaks() && !word.any(&["по", "каждый", "каждую", "каждое", "и", "с", "со", "раз"]))
        .filter(|word| !word.any(&["на", "в", "во"]))
        .cloned()
        .collect();
    let what = if what.is_empty() { stem(verb) } else { stems(&what) };
    Some((format!("day of {what}"), days))
}

/// The days that a phrase names: "по вторникам и четвергам", "каждую субботу".
fn days(words: &[Word]) -> Option<String> {
    let start = words.iter().position(|word| word.any(&["по", "каждый", "каждую", "каждое"]))?;
    let day = |word: &Word| DAYS.iter().find(|day| word.lower.starts_with(**day)).copied();
    let found: Vec<&str> = words[start + 1..]
        .iter()
        .take_while(|word| word.any(&["и", ","]) || day(word).is_some())
        .filter_map(day)
        .collect();
    (!found.is_empty()).then(|| found.join(" "))
}

/// The date behind a verb, from its number on.
fn date(rest: &[Word]) -> Option<String> {
    let start = rest.iter().position(|word| word.shape == Shape::Number || word.digits())?;
    let words: Vec<&str> =
        rest[start..].iter().take_while(|word| word.speaks()).map(|word| word.lower.as_str()).collect();
    Some(words.join(" "))
}
