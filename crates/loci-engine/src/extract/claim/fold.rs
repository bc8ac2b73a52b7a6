//! How is a part of a statement written, so that two of them can be compared?

use super::super::lexicon::{self, number, within};
use super::super::word::{Shape, Word, join};

/// The words in lower case, without articles and without marks at the ends.
pub(super) fn fold(words: &[Word]) -> String {
    let mut kept: Vec<Word> = Vec::new();
    for (place, word) in words.iter().enumerate() {
        if word.any(&["the", "a", "an"]) {
            continue;
        }
        let text = match word.lower.as_str() {
            "my" | "our" => "user's".to_owned(),
            "i" | "me" => "user".to_owned(),
            "favorite" | "fave" => "favourite".to_owned(),
            "color" => "colour".to_owned(),
            // "The user's team's cluster" is the user's.
            "team's" if place > 0 && words[place - 1].owner() => continue,
            lower => lower.to_owned(),
        };
        kept.push(Word { text, ..word.clone() });
    }
    let text = join(&kept);
    text.trim_matches(|c: char| {
        matches!(c, '.' | ',' | ';' | ':' | '!' | ' ' | '"' | '“' | '”' | '«' | '»' | '—' | '–')
    })
    .to_owned()
}

/// The words up to where something else begins: a preposition, a mark, a reason.
pub(super) fn until<'a>(words: &'a [Word], stops: &[&str]) -> &'a [Word] {
    let end = words
        .iter()
        .enumerate()
        .position(|(place, word)| {
            place > 0
                && (word.shape == Shape::Mark && !word.any(&["&", "-", "/", "'"])
                    || word.any(stops)
                    || within(lexicon::SUBORDINATORS, &word.lower))
        })
        .unwrap_or(words.len());
    &words[..end]
}

/// Where a place or an employer ends.
pub(super) const NAME_STOPS: &[&str] = &[
    "in",
    "on",
    "since",
    "for",
    "and",
    "with",
    "as",
    "from",
    "at",
    "by",
    "now",
    "last",
    "next",
    "during",
    "to",
    "near",
    "full-time",
    "part-time",
    "again",
    "this",
    "or",
    "via",
    "originally",
    "full",
    "down",
    "because",
    "these",
];

/// Where what is liked, used or had ends.
pub(super) const NOUN_STOPS: &[&str] = &["on", "since", "during", "last", "next", "at", "because", "from", "until"];

/// The words without what stands in brackets and without a ", not …" at the end.
pub(super) fn unbracketed(words: Vec<Word>) -> Vec<Word> {
    let mut depth = 0_usize;
    let mut kept: Vec<Word> = Vec::new();
    for word in words {
        match word.text.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(word),
            _ => {}
        }
    }
    if let Some(place) = kept.windows(2).position(|two| two[0].is(",") && two[1].any(&["not", "instead", "rather"])) {
        kept.truncate(place);
    }
    kept
}

/// How long, in days: "two weeks" is "14 days".
pub(super) fn duration(words: &[Word]) -> Option<String> {
    let [count, unit, ..] = words else { return None };
    let count: f64 = digits(count)?.parse().ok()?;
    let days = match unit.lower.trim_end_matches('s') {
        "day" => 1.0,
        "week" => 7.0,
        "month" => 30.0,
        "year" => 365.0,
        _ => return None,
    };
    Some(format!("{} days", count * days))
}

/// The weekdays that a text names, in order, each once: "on Tuesdays and Fridays".
pub(super) fn weekdays(words: &[Word]) -> Option<String> {
    const DAYS: &[&str] = &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let named = |day: &&&str| words.iter().any(|word| word.lower.trim_end_matches("'s").trim_end_matches('s') == **day);
    let days: Vec<&str> = DAYS.iter().filter(named).copied().collect();
    (!days.is_empty()).then(|| days.join(" "))
}

/// A number in digits, from digits or a word.
pub(super) fn digits(word: &Word) -> Option<String> {
    if let Some(number) = number(&word.lower) {
        return Some(number.to_string());
    }
    let plain = word.lower.replace(',', "");
    (word.shape == Shape::Number && plain.parse::<f64>().is_ok()).then_some(plain)
}
