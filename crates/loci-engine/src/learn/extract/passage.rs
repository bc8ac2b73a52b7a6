//! Groups the sentences of a turn into passages, of which each may become a memory.
//!
//! A passage is what someone asks to be remembered, or one sentence that is worth keeping, with those that belong to
//! it: a list, a short sentence beside it, one that depends on it. Of what nobody asked for, the best are kept.

use super::MAX_CANDIDATES;
use super::quote::shortened;
use super::request::Request;
use super::select::{AnalysedSentence, leans};
use crate::learn::language::form;
use crate::learn::language::word::{Shape, Word};
use crate::recall::plan::time::words::among;

/// Maximum number of characters of a quotation with everything around it.
const MAX_QUOTATION_CHARACTERS: usize = 280;
/// Number of characters that are reserved for what is shown around the words: a name, a date, quotation marks.
const SURROUNDING_CHARACTERS: usize = 40;
/// Maximum number of characters of something that was asked for.
const MAX_REQUESTED_CHARACTERS: usize = 2_000;
/// Maximum number of words of a sentence that is kept with its neighbour.
pub(super) const SHORT_WORDS: usize = 5;
/// Minimum score of a sentence that is kept with another.
const MIN_WORTH: f64 = 0.3;
/// Minimum score of a sentence that is kept apart from the one beside it.
const MIN_WORTH_ALONE: f64 = 1.2;
/// Share of the lower of two scores that the passage of both gets on top of the higher.
const SHARE_OF_NEIGHBOUR: f64 = 0.25;

/// Sentences of a turn that are kept together.
pub(super) struct Passage {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) text: String,
    pub(super) worth: f64,
    pub(super) requested: bool,
    pub(super) reminder: bool,
    /// It is about what was said before the turn.
    pub(super) leans: bool,
}

/// The passages of a turn that are kept, and the sentences that ask for something that is not there.
pub(super) fn passages(reads: &[AnalysedSentence<'_>], enough: f64, answers: bool) -> (Vec<Passage>, Vec<usize>) {
    let mut used = vec![false; reads.len()];
    let mut found = Vec::new();
    let mut missed = Vec::new();
    for place in 0..reads.len() {
        if let Some(request) = &reads[place].request
            && !used[place]
        {
            match requested(reads, place, request, &used, answers) {
                Some(passage) => {
                    used[passage.first..=passage.last].fill(true);
                    used[place] = true;
                    found.push(passage);
                }
                None => missed.push(place),
            }
        }
    }
    for passage in procedures(reads, enough) {
        if !used[passage.first..=passage.last].contains(&true) {
            used[passage.first..=passage.last].fill(true);
            found.push(passage);
        }
    }
    let asked = found.len();
    let mut open: Option<Passage> = None;
    for place in 0..reads.len() {
        let worth =
            reads[place].worth.filter(|worth| *worth >= MIN_WORTH && !used[place] && !is_taken_back(reads, place));
        let Some(worth) = worth else {
            found.extend(open.take());
            continue;
        };
        if let Some(passage) = &mut open
            && (worth < MIN_WORTH_ALONE || passage.worth < MIN_WORTH_ALONE || joins(&reads[place - 1], &reads[place]))
            && (reads[place].sentence.list == reads[place - 1].sentence.list)
            && let Some(text) = joined(reads, passage.first, place)
        {
            let worth = passage.worth.max(worth) + SHARE_OF_NEIGHBOUR * passage.worth.min(worth);
            *passage = Passage { last: place, text, worth, ..*passage };
            continue;
        }
        found.extend(open.take());
        let text = joined(reads, place, place).unwrap_or_else(|| {
            shortened(reads[place].sentence.text, MAX_QUOTATION_CHARACTERS - SURROUNDING_CHARACTERS)
        });
        open =
            Some(Passage { first: place, last: place, text, worth, requested: false, reminder: false, leans: false });
    }
    found.extend(open.take());
    let mut place = 0;
    found.retain(|passage| {
        place += 1;
        place <= asked || passage.worth >= enough
    });
    // The best of what was not asked for, in the order in which it was said.
    let room = MAX_CANDIDATES.saturating_sub(asked);
    let mut best: Vec<usize> = (asked..found.len()).collect();
    best.sort_by(|a, b| found[*b].worth.total_cmp(&found[*a].worth));
    best.truncate(room);
    let mut place = 0;
    found.retain(|_| {
        place += 1;
        place <= asked || best.contains(&(place - 1))
    });
    found.sort_by_key(|passage| passage.first);
    for place in 0..found.len() {
        widen(&mut found, place, reads);
    }
    (found, missed)
}

/// What a heading of steps says that they are, in the languages with a table.
const PROCEDURE: &str = "how steps procedure workflow process recipe instructions wie schritte ablauf anleitung cómo pasos \
    procedimiento comment étapes procédure как шаги порядок инструкция";

/// The numbered steps under a heading that says that they are a procedure: with their heading, as one passage.
fn procedures(reads: &[AnalysedSentence<'_>], enough: f64) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    let mut place = 0;
    while place < reads.len() {
        let first = place;
        place += 1;
        let (Some(1), Some(heading)) = (reads[first].sentence.step, reads[first].sentence.heading) else { continue };
        let named = heading.split_whitespace().any(|word| among(PROCEDURE, &word.to_lowercase()));
        let in_list = |read: &AnalysedSentence<'_>| read.sentence.list == reads[first].sentence.list;
        while place < reads.len() && in_list(&reads[place]) {
            place += 1;
        }
        let steps = reads[first..place].iter().map(numbered).collect::<Vec<_>>().join(" ");
        let text = format!("{heading}: {steps}");
        let short = text.chars().count() <= MAX_REQUESTED_CHARACTERS;
        if named && short && reads[place - 1].sentence.step.is_some_and(|step| step > 1) {
            let (last, worth) = (place - 1, enough.max(MIN_WORTH_ALONE));
            found.push(Passage { first, last, text, worth, requested: false, reminder: false, leans: false });
        }
    }
    found
}

/// A step with its number.
fn numbered(read: &AnalysedSentence<'_>) -> String {
    match read.sentence.step {
        Some(step) => format!("{step}. {}", read.sentence.text),
        None => read.sentence.text.to_owned(),
    }
}

/// Quotes the few words right before and behind a passage with it: "Done. 30 crates."
fn widen(found: &mut [Passage], place: usize, reads: &[AnalysedSentence<'_>]) {
    let taken = |sentence: usize| found.iter().any(|other| (other.first..=other.last).contains(&sentence));
    let free = |sentence: &usize| reads.get(*sentence).is_some_and(adds) && !taken(*sentence);
    let passage = &found[place];
    if passage.requested || reads[passage.first].sentence.list.is_some() {
        return;
    }
    let (before, after) = (passage.first.checked_sub(1).filter(free), Some(passage.last + 1).filter(free));
    let (first, last) = (before.unwrap_or(passage.first), after.unwrap_or(passage.last));
    if let Some(text) = joined(reads, first, last) {
        found[place] = Passage { first, last, text, ..found[place] };
    }
}

/// Whether a sentence of a few words states something, though not enough to be kept alone.
fn adds(read: &AnalysedSentence<'_>) -> bool {
    const TALK: u64 = form::GREETING
        | form::REACTION
        | form::SECOND
        | form::UNREAL
        | form::JOKE
        | form::HELP
        | form::SHOWS
        | form::FEELING
        | form::ORDER
        | form::ASKS;
    let spoken = || read.words.iter().filter(|word| word.shape != Shape::Mark);
    spoken().count() <= SHORT_WORDS
        && spoken().any(Word::tells)
        && !spoken().any(|word| word.is(TALK))
        && !read.sentence.asks
        && !read.declines
        && !read.sentence.text.ends_with([':', '!'])
        && read.request.is_none()
        && read.sentence.list.is_none()
}

/// Whether the next sentence says that this one was a joke, or is not to be kept.
fn is_taken_back(reads: &[AnalysedSentence<'_>], place: usize) -> bool {
    let next = reads.get(place + 1);
    next.is_some_and(|next| {
        let takes_back = next.declines || next.words.iter().any(|word| word.is(form::JOKE));
        takes_back && next.words.iter().filter(|word| word.tells()).count() < 3
    })
}

/// Whether a sentence belongs to the one before it.
fn joins(before: &AnalysedSentence<'_>, one: &AnalysedSentence<'_>) -> bool {
    let list = one.sentence.list.is_some() && one.sentence.list == before.sentence.list;
    let short =
        |read: &AnalysedSentence<'_>| read.words.iter().filter(|word| word.shape != Shape::Mark).count() <= SHORT_WORDS;
    list || one.sentence.list.is_none() && (leans(&one.words) || short(one) || short(before))
}

/// Sentences in one text, if that is short enough.
fn joined(reads: &[AnalysedSentence<'_>], first: usize, last: usize) -> Option<String> {
    let mut text = String::new();
    for (place, read) in reads[first..=last].iter().enumerate() {
        let sentence = &read.sentence;
        let part = if place == 0 { trimmed(sentence.text, &read.words) } else { sentence.text };
        match (place, sentence.list, sentence.heading) {
            (0, Some(_), Some(heading)) => text.push_str(&format!("{heading}: ")),
            (0, ..) => {}
            (_, Some(_), _) => text.push_str("; "),
            _ => text.push(' '),
        }
        text.push_str(part);
    }
    (text.chars().count() <= MAX_QUOTATION_CHARACTERS - SURROUNDING_CHARACTERS).then_some(text)
}

/// A sentence without the openers before it.
fn trimmed<'a>(text: &'a str, words: &[Word]) -> &'a str {
    let mut start = 0;
    let mut place = 0;
    while place < words.len() {
        let word = &words[place];
        let marked = words.get(place + 1).is_some_and(|next| next.shape == Shape::Mark && !next.mark("'\"“«("));
        let filler = word.is(form::OPENER | form::GREETING) && !word.is(form::NEGATION | form::CORRECTION);
        // "Sure, and I'll take up fencing" is ironic; "so much has happened" begins with its content.
        let ironic = word.is(form::CONFIRMS) && words.get(place + 2).is_some_and(|next| next.is(form::AND));
        let clause = word.text != "so"
            || words
                .get(place + 1)
                .is_some_and(|next| next.capital || next.is(form::FIRST | form::MINE | form::PRONOUN));
        if !(filler
            && (marked || clause && word.is(form::EMPTY | form::AND | form::FILLER))
            && !ironic
            && words[place + 1..].iter().any(Word::tells))
        {
            break;
        }
        place += 1;
        while words.get(place).is_some_and(|word| word.shape == Shape::Mark) {
            place += 1;
        }
        start = words.get(place).map_or(text.len(), |word| word.at.start);
    }
    if start < text.len() { &text[start..] } else { text }
}

/// What a request asks for: its own words, the list behind it, or the sentence beside it.
fn requested(
    reads: &[AnalysedSentence<'_>],
    place: usize,
    request: &Request,
    used: &[bool],
    answers: bool,
) -> Option<Passage> {
    let passage = |first: usize, last: usize, text: String| {
        let text = if text.chars().count() > MAX_REQUESTED_CHARACTERS {
            shortened(&text, MAX_REQUESTED_CHARACTERS)
        } else {
            text
        };
        Passage { first, last, text, worth: 9.0, requested: true, reminder: request.reminder, leans: false }
    };
    let listed = (place + 1..reads.len()).take_while(|next| reads[*next].sentence.list.is_some()).last();
    let texts = |first: usize, last: usize| -> Vec<String> { reads[first..=last].iter().map(numbered).collect() };
    let own = request.what.clone().map(|what| reads[place].sentence.text[what].trim_end_matches('?').to_owned());
    match (own, listed) {
        (Some(own), Some(last)) => Some(passage(place, last, format!("{own} {}", texts(place + 1, last).join(" ")))),
        (Some(own), None) => Some(passage(place, place, own)),
        (None, Some(last)) => Some(passage(place, last, texts(place + 1, last).join(" "))),
        (None, None) => {
            let content_words = |other: &usize| reads[*other].words.iter().filter(|word| word.tells()).count();
            let free = |other: &usize| !used[*other] && reads[*other].request.is_none();
            let states = |other: &usize| free(other) && !reads[*other].sentence.asks && content_words(other) > 0;
            // "Remember this: …" points ahead, "…. Remember that." back.
            let ahead = reads[place].sentence.text.ends_with([':', '：']);
            let (after, before) = (Some(place + 1).filter(|next| *next < reads.len()), place.checked_sub(1));
            let order = if ahead { [after, before] } else { [before, after] };
            let other = order.into_iter().flatten().find(states);
            let other = other.or_else(|| before.filter(|before| free(before) && content_words(before) > 1));
            let strong = |other: &usize| reads[*other].worth.is_some_and(|worth| worth >= MIN_WORTH) || !answers;
            match other {
                Some(other) if other > place || strong(&other) => {
                    Some(passage(other, other, reads[other].sentence.text.to_owned()))
                }
                // "Perfect. Remember this": it may be what someone else just said, which is kept with it.
                _ if answers => {
                    let first = place.saturating_sub(1);
                    let text = joined(reads, first, place).unwrap_or_else(|| reads[place].sentence.text.to_owned());
                    Some(Passage { leans: true, ..passage(first, place, text) })
                }
                Some(other) => Some(passage(other, other, reads[other].sentence.text.to_owned())),
                None => None,
            }
        }
    }
}
