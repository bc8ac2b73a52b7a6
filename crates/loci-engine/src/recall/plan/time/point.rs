//! Reads one time expression at a position.
//!
//! A [`Reader`] tries every rule at a position and keeps the longest match. Rules look back for prepositions but
//! never include them. They nest to a fixed depth, so reading stays linear.

use jiff::Zoned;
use loci_types::{Grain, TimeSpan};

use super::calendar::{Calendar, TimeExpression, YearPart, Yearly};
use super::token::{Token, TokenKind};
use super::words::{Third, Unit};

/// A reading: what was said, up to which token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeMatch {
    pub(super) said: TimeExpression,
    pub(super) end: usize,
}

impl TimeMatch {
    pub(super) fn span(span: TimeSpan, end: usize) -> Self {
        Self { said: TimeExpression::Span(span), end }
    }
}

/// Why a doubtful word may be taken for a time here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// No context: the expression itself must be a time.
    None,
    /// It continues a list of times: "in March and April".
    List,
    /// Only a time can be here: "since May", "early May".
    Firm,
}

pub(super) struct Reader<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) calendar: Calendar<'a>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(tokens: &'a [Token], now: &'a Zoned) -> Self {
        Self { tokens, calendar: Calendar { now } }
    }

    /// The word at a place, or nothing.
    pub(super) fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", Token::word)
    }

    /// The word some places before, or nothing.
    pub(super) fn word_before(&self, at: usize, steps: usize) -> &'a str {
        at.checked_sub(steps).map_or("", |at| self.word(at))
    }

    pub(super) fn kind(&self, at: usize) -> Option<&'a TokenKind> {
        self.tokens.get(at).map(|token| &token.kind)
    }

    pub(super) fn is_mark(&self, at: usize, marks: &[char]) -> bool {
        matches!(self.kind(at), Some(TokenKind::Mark(c)) if marks.contains(c))
    }

    pub(super) fn is_title(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.title)
    }

    /// The place behind a word, if it stands there.
    pub(super) fn skip(&self, at: usize, words: &[&str]) -> usize {
        at + usize::from(words.contains(&self.word(at)))
    }

    /// The longest reading at a place, with what narrows it down: "on Monday last week".
    pub(super) fn point(&self, at: usize, anchor: Anchor) -> Option<TimeMatch> {
        self.narrowed(at, |at, anchor| self.single(at, anchor), anchor)
    }

    fn single(&self, at: usize, anchor: Anchor) -> Option<TimeMatch> {
        let inner = |at: usize, anchor: Anchor| self.narrowed(at, |at, anchor| self.simple(at, anchor), anchor);
        longest([self.simple(at, anchor), self.thirds(at, inner), self.away(at, inner), self.week_of(at, inner)])
    }

    fn simple(&self, at: usize, anchor: Anchor) -> Option<TimeMatch> {
        longest([
            self.date(at, anchor),
            self.named_day(at),
            self.directed(at),
            self.holiday(at, anchor),
            self.weekday(at, anchor),
            self.weekend(at),
            self.nth(at),
        ])
    }

    /// A date of the calendar, whatever day it is now.
    pub(super) fn date(&self, at: usize, anchor: Anchor) -> Option<TimeMatch> {
        longest([
            self.written(at),
            self.day_and_month(at, anchor),
            self.season(at, anchor),
            self.quarter(at, anchor),
            self.bare_year(at, anchor),
        ])
    }

    /// Lets the next words narrow a reading: a year its month, a week its weekday.
    fn narrowed(
        &self,
        at: usize,
        read: impl Fn(usize, Anchor) -> Option<TimeMatch>,
        anchor: Anchor,
    ) -> Option<TimeMatch> {
        let mut found = read(at, anchor)?;
        for _ in 0..2 {
            let comma = self.is_mark(found.end, &[',']);
            let next = found.end + usize::from(comma);
            let after = self.skip(next, &["in", "on", "at", "of", "в", "во", "на"]);
            let Some(more) = read(self.skip(after, &["the"]), Anchor::None) else { break };
            let Some(said) = self.combine(found.said, more.said, comma) else { break };
            found = TimeMatch { said, end: more.end };
        }
        Some(found)
    }

    fn combine(&self, one: TimeExpression, other: TimeExpression, comma: bool) -> Option<TimeExpression> {
        let calendar = &self.calendar;
        match (one, other) {
            (
                TimeExpression::Weekday(weekday),
                TimeExpression::Yearly(yearly @ Yearly { part: YearPart::Days { count: 1, .. }, .. }),
            ) => Some(calendar.on_weekday(yearly, weekday).map_or(other, TimeExpression::Span)),
            (TimeExpression::Weekday(weekday), TimeExpression::Span(span)) if span.grain == Grain::Day => {
                (calendar.date(span.from).weekday() == weekday).then_some(other)
            }
            // "A Wednesday in May" may be any of them.
            (TimeExpression::Weekday(_), TimeExpression::Yearly(_)) if !comma => Some(other),
            (TimeExpression::Weekday(_), TimeExpression::Span(span)) if !comma && span.grain >= Grain::Month => {
                Some(other)
            }
            (TimeExpression::Weekday(weekday), TimeExpression::Span(span))
            | (TimeExpression::Span(span), TimeExpression::Weekday(weekday)) => {
                calendar.in_week(span, weekday).map(TimeExpression::Span)
            }
            (TimeExpression::Yearly(yearly), TimeExpression::Span(span))
            | (TimeExpression::Span(span), TimeExpression::Yearly(yearly)) => {
                calendar.in_year(yearly, calendar.as_year(span)?).map(TimeExpression::Span)
            }
            _ => None,
        }
    }

    /// "Early May", "mid-2023", "at the end of last year", "в начале мая".
    fn thirds(&self, at: usize, inner: impl Fn(usize, Anchor) -> Option<TimeMatch>) -> Option<TimeMatch> {
        let (third, english) = match self.word(at) {
            "early" => (Third::Early, false),
            "mid" => (Third::Middle, false),
            "late" => (Third::Late, false),
            "beginning" | "start" => (Third::Early, true),
            "middle" => (Third::Middle, true),
            "end" => (Third::Late, true),
            "начале" | "начало" | "начала" | "началу" => (Third::Early, false),
            "середине" | "середина" | "середины" | "середину" => (Third::Middle, false),
            "конце" | "конец" | "конца" | "концу" => (Third::Late, false),
            _ => return None,
        };
        if english && self.word(at + 1) != "of" {
            return None;
        }
        let found = inner(self.skip(at + 1 + usize::from(english), &["the", "in"]), Anchor::Firm)?;
        let said = match found.said {
            TimeExpression::Yearly(Yearly { part: part @ YearPart::Months { .. }, third: None }) => {
                TimeExpression::Yearly(Yearly { part, third: Some(third) })
            }
            TimeExpression::Span(span) if span.grain >= Grain::Month => {
                TimeExpression::Span(self.calendar.third(span, third)?)
            }
            _ => return None,
        };
        Some(TimeMatch { said, end: found.end })
    }

    /// "The week of May 7".
    fn week_of(&self, at: usize, inner: impl Fn(usize, Anchor) -> Option<TimeMatch>) -> Option<TimeMatch> {
        if self.word(at) != "week" || self.word(at + 1) != "of" {
            return None;
        }
        let found = inner(self.skip(at + 2, &["the"]), Anchor::Firm)?;
        let span = self.calendar.settle(found.said).filter(|span| span.grain == Grain::Day)?;
        let week = self.calendar.whole(Unit::Week, self.calendar.date(span.from))?;
        Some(TimeMatch::span(week, found.end))
    }
}

/// The reading that reaches furthest; of equals, the first.
fn longest<const N: usize>(found: [Option<TimeMatch>; N]) -> Option<TimeMatch> {
    found.into_iter().flatten().reduce(|best, next| if next.end > best.end { next } else { best })
}
