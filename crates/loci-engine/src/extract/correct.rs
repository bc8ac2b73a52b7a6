//! What does a correction put right?
//!
//! "It's Lisbon, not Porto" says little by itself: the statement that it corrects says the rest.
//! A fragment is put into the last statement that it fits; if none fits, nothing is learned.

use super::claim::claim_of;
use super::lexicon::singular;
use super::paraphrase::begins;
use super::word::{Shape, Word, join, words};

/// The most words that one side of a correction may have.
const MOST: usize = 5;

/// What a fragment puts in the place of what.
#[derive(Debug, PartialEq)]
pub(crate) struct Fragment {
    right: String,
    wrong: Option<String>,
}

/// How a fragment may begin before it comes to its point.
const HEADS: &[&str] = &[
    "it is actually",
    "it is",
    "that is actually",
    "that is",
    "it was",
    "that should be",
    "it should be",
    "should be",
    "i meant to say",
    "i meant",
    "i mean",
    "i said",
    "make that",
    "make it",
    "the correct one is",
    "the right one is",
    "the correct answer is",
    "it is now",
    "this is",
    "in",
    "to",
    "at",
    "не",
    "это",
    "я имел в виду",
    "я имела в виду",
    "в",
    "на",
];

/// Reads a fragment. Without the wrong side it is one only if `corrects` was said before it.
pub(crate) fn fragment(words: &[Word], corrects: bool) -> Option<Fragment> {
    let end = words.iter().rposition(Word::speaks)? + 1;
    let words = &words[..end];
    if begins(words, "i said")
        && let Some(joint) = words.iter().position(|word| word.is("but"))
    {
        return sides(headless(&words[joint + 1..]), Some(&words[2..joint]));
    }
    if begins(words, "not") || begins(words, "не") {
        let joint = words.iter().position(|word| word.any(&["but", ",", "а", "—", ";"]))?;
        let behind = words[joint..].iter().position(|word| word.speaks() && !word.any(&["but", "а"]))? + joint;
        return sides(headless(&words[behind..]), Some(headless(&words[1..joint])));
    }
    let words = headless(words);
    let joint = words
        .iter()
        .position(|word| word.any(&["not", "instead", "rather"]))
        .or_else(|| words.windows(2).position(|two| two[0].is("а") && two[1].is("не")));
    if let Some(joint) = joint {
        let right = &words[..joint];
        let skip = if words[joint].is("not") { 1 } else { 2 };
        return sides(right, Some(headless(words.get(joint + skip..)?)));
    }
    if corrects { sides(words, None) } else { None }
}

fn headless(words: &[Word]) -> &[Word] {
    let head = HEADS.iter().filter(|head| begins(words, head)).max_by_key(|head| head.len());
    let length = head.map_or(0, |head| head.split(' ').count());
    &words[length.min(words.len())..]
}

fn sides(right: &[Word], wrong: Option<&[Word]>) -> Option<Fragment> {
    let side = |words: &[Word]| {
        let words: Vec<Word> = words
            .iter()
            .filter(|word| word.shape != Shape::Mark && !word.any(&["actually", "really"]))
            .cloned()
            .collect();
        let plain = words.iter().all(|word| {
            !word.any(&[
                "i", "my", "we", "our", "you", "it", "this", "that", "is", "are", "was", "he", "she", "your", "what",
                "how", "sure", "yet", "really", "я", "мой", "это",
            ])
        });
        (!words.is_empty() && words.len() <= MOST && plain).then(|| join(&words))
    };
    let wrong = match wrong {
        Some(wrong) => Some(side(wrong)?),
        None => None,
    };
    Some(Fragment { right: side(right)?, wrong })
}

/// The last of the statements that the fragment fits, put right.
pub(crate) fn patch(fragment: &Fragment, said: &[String]) -> Option<String> {
    if let Some(wrong) = &fragment.wrong {
        let number = wrong.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
        if !number {
            return said.iter().rev().find_map(|content| replaced(content, wrong, &fragment.right));
        }
        return counted(wrong, &fragment.right, said);
    }
    let last = said.last()?;
    let claim = claim_of(last)?;
    replaced(last, &claim.value, &fragment.right)
}

/// A bare number may stand anywhere: it must be what the statement is about.
fn counted(wrong: &str, right: &str, said: &[String]) -> Option<String> {
    let (number, unit) = right.split_once(' ').unwrap_or((right, ""));
    let about = |content: &&String| {
        claim_of(content).is_some_and(|claim| {
            let noun = claim.attribute.strip_prefix("count of ");
            claim.value == wrong && (unit.is_empty() || noun.is_some_and(|noun| noun.ends_with(&singular(unit))))
        })
    };
    said.iter().rev().filter(about).find_map(|content| replaced(content, wrong, number))
}

/// The text with one run of words in the place of another.
fn replaced(content: &str, wrong: &str, right: &str) -> Option<String> {
    let all = words(content);
    let wanted: Vec<String> = words(wrong).into_iter().map(|word| word.lower).collect();
    let lowers: Vec<&str> = all.iter().map(|word| word.lower.as_str()).collect();
    let place =
        lowers.windows(wanted.len().max(1)).position(|window| window.iter().zip(&wanted).all(|(a, b)| a == b))?;
    let (from, until) = (all[place].at.start, all[place + wanted.len().checked_sub(1)?].at.end);
    // What follows may explain the wrong value.
    let mut rest = content[until..].to_owned();
    if let Some(open) = rest.find(" (") {
        rest.truncate(open);
    }
    Some(format!("{}{right}{rest}", &content[..from]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_put_statements_right() {
        let said = ["Ana lives in Porto".to_owned(), "The API port is 8080".to_owned()];
        for (text, corrects, expect) in [
            ("it's 4000, not 8080", false, Some("The API port is 4000")),
            ("not 8080 but 4000", false, Some("The API port is 4000")),
            ("Lisbon, not Porto", false, Some("Ana lives in Lisbon")),
            ("not Porto, Lisbon", false, Some("Ana lives in Lisbon")),
            ("it's 4000", true, Some("The API port is 4000")),
            ("it's 4000", false, None),
            ("I meant Lisbon instead of Porto", false, Some("Ana lives in Lisbon")),
            ("Rome, not Madrid", false, None),
            ("not sure", false, None),
            ("I said 8080 but it's 4000", false, Some("The API port is 4000")),
            ("it's 6 nodes, not 8080", false, None),
        ] {
            let found = fragment(&words(text), corrects).and_then(|fragment| patch(&fragment, &said));
            assert_eq!(found.as_deref(), expect, "{text}");
        }
    }
}
