//! Finds the times that a sentence names.
//!
//! Pure: the caller passes the time and its zone. Phrases ascend, do not overlap, are on char boundaries, and each
//! span starts before it ends. A doubtful word is left alone: a missed time widens a search, a wrong one empties it.
//!
//! Written by hand on a few word lists instead of regular expressions: the meaning of a word depends on its
//! neighbours ("in May", "you may"), Russian inflects every word, and a phrase must be computed, not only matched.

use std::ops::Range;

use jiff::{Timestamp, Zoned};
use loci_types::TimeSpan;

mod calendar;
mod dated;
mod numeral;
mod point;
mod range;
mod relative;
pub(crate) mod token;
pub(crate) mod words;

#[cfg(test)]
mod tests;

use point::{Anchor, Reader};

/// Where a span starts that has no start: year 1, so that it still has four digits.
pub const OPEN_PAST: Timestamp = Timestamp::constant(-62_135_596_800, 0);

/// Where a span ends that has no end.
pub const OPEN_FUTURE: Timestamp = Timestamp::MAX;

/// A stretch of time that a sentence names, and where it says so.
#[derive(Debug, Clone, PartialEq)]
pub struct TimePhrase {
    /// The stretch: from inclusive, until exclusive.
    pub span: TimeSpan,
    /// The bytes of the text that name it.
    pub at: Range<usize>,
}

/// The times that a sentence names, in order, relative to `now` in its time zone.
pub fn time_phrases(text: &str, now: &Zoned) -> Vec<TimePhrase> {
    let tokens = token::tokens(text);
    let reader = Reader::new(&tokens, now);
    let mut phrases: Vec<TimePhrase> = Vec::new();
    let mut place = 0;
    let mut listed = None;
    while place < tokens.len() {
        let anchor = if listed == Some(place) { Anchor::List } else { Anchor::None };
        let Some((span, end)) = reader.phrase(place, anchor) else {
            place += 1;
            continue;
        };
        if span.from < span.until {
            phrases.push(TimePhrase { span, at: tokens[place].at.start..tokens[end - 1].at.end });
        }
        let goes_on = matches!(reader.word(end), "and" | "or" | "и" | "или") || reader.is_mark(end, &[',', '/']);
        listed = goes_on.then_some(end + 1);
        place = end;
    }
    phrases
}
