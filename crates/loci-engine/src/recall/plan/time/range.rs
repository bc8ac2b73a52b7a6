//! Reads ranges of time with one end or both.
//!
//! Both ends are included: "from March to June" contains June. An expression without a year is the last that has
//! begun, and its end the first that follows it.

use jiff::Timestamp;
use jiff::civil::Date;
use loci_types::{Grain, TimeSpan};

use super::calendar::{TimeExpression, YearPart, Yearly};
use super::dated::with_day;
use super::point::{Anchor, Reader};
use super::token::TokenKind;
use super::words;
use super::{OPEN_FUTURE, OPEN_PAST};

/// One end of a range; a day may wait for the month of the other end.
#[derive(Debug, Clone, Copy)]
enum End {
    Expression(TimeExpression),
    Day(i8),
}

impl Reader<'_> {
    /// The stretch that the words from here on name, and where they end.
    pub(super) fn phrase(&self, at: usize, anchor: Anchor) -> Option<(TimeSpan, usize)> {
        if matches!(self.kind(at), Some(TokenKind::Word(word)) if !words::known(word)) {
            return None;
        }
        if let Some(found) = self.two_ends(at).or_else(|| self.one_end(at)) {
            return Some(found);
        }
        if let Some(found) = self.unmarked(at, anchor) {
            return Some(found);
        }
        let found = self.point(at, anchor)?;
        Some((self.calendar.settle(found.said)?, found.end))
    }

    /// "Between March and June", "from 3 to 9 May", "с марта по июнь".
    fn two_ends(&self, at: usize) -> Option<(TimeSpan, usize)> {
        let joints: &[&str] = match self.word(at) {
            "between" => &["and"],
            "from" => &["to", "till", "until", "through"],
            "между" => &["и"],
            "с" | "со" | "от" => &["по", "до"],
            _ => return None,
        };
        let (first, end) = self.end(at + 1)?;
        let dash = self.word(at) != "between" && self.is_mark(end, &['-', '–', '—']);
        if !dash && !joints.contains(&self.word(end)) {
            return None;
        }
        let (last, end) = self.end(end + 1)?;
        Some((self.join(first, last)?, end))
    }

    /// "March to June 2023", "May 3 – May 9", "May 3 to 9": dates alone, since "moved from today to Friday" does not
    /// name a range.
    fn unmarked(&self, at: usize, anchor: Anchor) -> Option<(TimeSpan, usize)> {
        let (first, end) = match (self.date(at, anchor), self.kind(at)?) {
            (Some(found), _) => (End::Expression(found.said), found.end),
            (None, &TokenKind::Number { value: value @ 1..=31, digits: 1 | 2, .. }) => (End::Day(value as i8), at + 1),
            _ => return None,
        };
        if !self.joins(end) {
            return None;
        }
        let (last, last_end) = self.end(end + 1)?;
        if matches!(last, End::Expression(_)) {
            self.date(end + 1, Anchor::Firm)?;
        }
        Some((self.join(first, last)?, last_end))
    }

    /// Whether a word or a dash stands here that may join two ends.
    pub(super) fn joins(&self, at: usize) -> bool {
        matches!(self.word(at), "to" | "through" | "till" | "until" | "по") || self.is_mark(at, &['-', '–', '—'])
    }

    /// "Since January", "before May", "after 7 May", "from May on", "до мая".
    fn one_end(&self, at: usize) -> Option<(TimeSpan, usize)> {
        let word = self.word(at);
        let next = at + 1 + usize::from(word == "prior" && self.word(at + 1) == "to");
        // "How many days before Christmas" speaks of Christmas, not of all that was before it.
        let measured = words::unit(self.word_before(at, 1)).is_some() && !matches!(word, "since" | "с" | "со");
        if measured || (matches!(word, "с" | "со") && self.is_with(next)) {
            return None;
        }
        let found = match word {
            "since" | "before" | "until" | "till" | "after" | "from" | "с" | "со" | "до" | "после" => {
                self.point(self.skip(next, &["the"]), Anchor::Firm)?
            }
            "prior" if next > at + 1 => self.point(self.skip(next, &["the"]), Anchor::Firm)?,
            _ => return None,
        };
        let span = self.calendar.settle(found.said)?;
        let now = self.calendar.instant();
        let onwards = |from: Timestamp| if from < now { (from, now) } else { (from, OPEN_FUTURE) };
        let (from, until, end) = match word {
            "from" if matches!(self.word(found.end), "on" | "onwards" | "onward") => {
                let (from, until) = onwards(span.from);
                (from, until, found.end + 1)
            }
            "from" => return None,
            "since" | "с" | "со" => {
                let (from, until) = onwards(span.from);
                (from, until, found.end)
            }
            "after" | "после" => {
                let (from, until) = onwards(span.until);
                (from, until, found.end)
            }
            // "Until today" goes on.
            "until" | "till" if span.grain <= Grain::Day && span.from <= now && now < span.until => {
                (OPEN_PAST, now, found.end)
            }
            _ => (OPEN_PAST, span.from, found.end),
        };
        Some((TimeSpan { from, until, grain: span.grain }, end))
    }

    /// "С пятницей!" greets; "с пятницы" counts.
    pub(super) fn is_with(&self, at: usize) -> bool {
        let word = self.word(at);
        let named = words::sure_month(word).is_some() || words::weekday(word).is_some();
        named && ["ом", "ой", "ей", "ем"].iter().any(|ending| word.ends_with(ending))
    }

    fn end(&self, at: usize) -> Option<(End, usize)> {
        let at = self.skip(at, &["the"]);
        if let Some(found) = self.point(at, Anchor::Firm) {
            return Some((End::Expression(found.said), found.end));
        }
        match self.kind(at)? {
            &TokenKind::Number { value: value @ 1..=31, digits: 1 | 2, .. } => Some((End::Day(value as i8), at + 1)),
            _ => None,
        }
    }

    fn join(&self, first: End, last: End) -> Option<TimeSpan> {
        let calendar = &self.calendar;
        let (first, last) = match (first, last) {
            (End::Expression(first), End::Expression(last)) => (first, last),
            (End::Day(day), End::Expression(last)) => (self.beside(last, day)?, last),
            (End::Expression(first), End::Day(day)) => (first, self.beside(first, day)?),
            (End::Day(_), End::Day(_)) => return None,
        };
        let (first, last) = match (first, last) {
            (first, TimeExpression::Span(last)) => (calendar.settle_before(first, last.from)?, last),
            (first, last) => {
                let first = calendar.settle(first)?;
                (first, calendar.settle_after(last, first.from)?)
            }
        };
        let grain = first.grain.max(last.grain);
        (first.from < last.until).then_some(TimeSpan { from: first.from, until: last.until, grain })
    }

    /// A day of the month in which another day lies.
    fn beside(&self, said: TimeExpression, day: i8) -> Option<TimeExpression> {
        match said {
            TimeExpression::Yearly(Yearly { part: YearPart::Days { month, count: 1, .. }, third: None }) => {
                Some(YearPart::Days { month, day, count: 1 }.into())
            }
            TimeExpression::Span(span) if span.grain == Grain::Day => {
                let date: Date = with_day(self.calendar.date(span.from), day)?;
                Some(TimeExpression::Span(self.calendar.day(date)?))
            }
            _ => None,
        }
    }
}
