//! Reads times relative to now: yesterday, last week, three days ago.

use jiff::Span;
use loci_types::{Grain, TimeSpan};

use super::calendar::{TimeExpression, grain};
use super::point::{Anchor, Reader, TimeMatch};
use super::token::TokenKind;
use super::words::{self, DayPart, RelativePosition, Unit};

/// Number of days that "recently" covers.
const RECENT_DAYS: i32 = 14;

/// A number as people say it: "a few" is not one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CountRange {
    least: i32,
    most: i32,
}

const FEW: CountRange = CountRange { least: 2, most: 5 };

impl CountRange {
    fn of(count: i32) -> Self {
        Self { least: count, most: count }
    }
}

impl Reader<'_> {
    /// "Yesterday", "today", "вчера вечером", "recently".
    pub(super) fn named_day(&self, at: usize) -> Option<TimeMatch> {
        let word = self.word(at);
        if matches!(word, "recently" | "lately" | "недавно") {
            return self.recently(at + 1);
        }
        if word == "последнее" && self.word(at + 1) == "время" {
            return self.recently(at + 2);
        }
        if word == "tonight" {
            return Some(TimeMatch::span(self.calendar.part(self.calendar.today(), DayPart::Night)?, at + 1));
        }
        let date = self.calendar.today().checked_add(Span::new().days(words::day(word)?)).ok()?;
        match words::part(self.word(at + 1)) {
            Some(part) => Some(TimeMatch::span(self.calendar.part(date, part)?, at + 2)),
            None => Some(TimeMatch::span(self.calendar.day(date)?, at + 1)),
        }
    }

    fn recently(&self, end: usize) -> Option<TimeMatch> {
        let span = self.calendar.back(Unit::Day, RECENT_DAYS)?;
        Some(TimeMatch::span(TimeSpan { grain: Grain::Week, ..span }, end))
    }

    /// "Last week", "this morning", "next Friday", "the past two weeks", "прошлым летом".
    pub(super) fn directed(&self, at: usize) -> Option<TimeMatch> {
        if let Some(found) = self.before_last(at) {
            return Some(found);
        }
        let mut which = words::which(self.word(at))?;
        let mut next = at + 1;
        if which == RelativePosition::This && self.word(next) == "past" {
            which = RelativePosition::Last;
            next += 1;
        }
        self.rolling(at, next, which).or_else(|| self.picked(at, next, which))
    }

    /// "The last two weeks", "the past week", "за последние дни", "the next 3 days".
    fn rolling(&self, at: usize, next: usize, which: RelativePosition) -> Option<TimeMatch> {
        let (count, unit, end) = match self.count(next) {
            Some((count, end)) => (count, words::unit(self.word(end))?.0, end + 1),
            None => {
                let (unit, many) = words::unit(self.word(next))?;
                // "Сутки" has no singular.
                let one_day = self.word(next) == "сутки";
                let many = (many || words::plural(self.word(at))) && !one_day;
                // "The last day" ends something else; "the past day" ends now.
                let ends_now = match which {
                    RelativePosition::Past if unit == Unit::Day => many || one_day || self.word(at) == "past",
                    RelativePosition::Past => many || self.word(at) != "recent",
                    RelativePosition::Last if self.word(at) != "last" => false,
                    // "In the last month" ends now; "last month" is the one before this.
                    RelativePosition::Last => {
                        many || unit == Unit::Hour || (unit != Unit::Day && self.word_before(at, 1) == "the")
                    }
                    _ => false,
                };
                if !ends_now || unit == Unit::Weekend {
                    return None;
                }
                (if many { FEW } else { CountRange::of(1) }, unit, next + 1)
            }
        };
        let span = match which {
            RelativePosition::Past | RelativePosition::Last => self.calendar.back(unit, count.most)?,
            RelativePosition::Next | RelativePosition::Coming => self.calendar.forth(unit, count.most)?,
            _ => return None,
        };
        (!self.is_part_of_another(end)).then_some(TimeMatch::span(span, end))
    }

    /// One whole unit, weekday, month, season, holiday or part of the day.
    fn picked(&self, at: usize, next: usize, which: RelativePosition) -> Option<TimeMatch> {
        let word = self.word(next);
        if let Some((unit, many)) = words::unit(word) {
            let several = (many || words::plural(self.word(at))) && unit != Unit::Weekend;
            if several || matches!(unit, Unit::Minute | Unit::Hour | Unit::Day) || self.is_part_of_another(next + 1) {
                return None;
            }
            return Some(TimeMatch::span(self.calendar.unit(unit, which)?, next + 1));
        }
        if let Some(weekday) = words::weekday(word)
            && (words::sure_weekday(word).is_some() || self.is_title(next) || word.starts_with("сред"))
        {
            return Some(TimeMatch::span(self.calendar.weekday(weekday, which)?, next + 1));
        }
        if let Some(part) = words::part(word) {
            let date = match (which, part) {
                (RelativePosition::This, _) => self.calendar.today(),
                (RelativePosition::Last, DayPart::Night | DayPart::Evening) => {
                    self.calendar.today().yesterday().ok()?
                }
                _ => return None,
            };
            return Some(TimeMatch::span(self.calendar.part(date, part)?, next + 1));
        }
        // "This may" is nearly always a verb.
        if word == "may" && which == RelativePosition::This && !self.is_title(next) {
            return None;
        }
        let found = self
            .day_and_month(next, Anchor::Firm)
            .or_else(|| self.season(next, Anchor::Firm))
            .or_else(|| self.quarter(next, Anchor::Firm))
            .or_else(|| self.holiday(next, Anchor::Firm))?;
        match found.said {
            TimeExpression::Yearly(yearly) => Some(TimeMatch::span(self.calendar.yearly(yearly, which)?, found.end)),
            _ => None,
        }
    }

    /// "The last week of the project" is not last week.
    fn is_part_of_another(&self, end: usize) -> bool {
        self.word(end) == "of" && self.word(end + 1) != "course"
    }

    /// "The week before last", "the summer before last".
    fn before_last(&self, at: usize) -> Option<TimeMatch> {
        if self.word(at + 1) != "before" || self.word(at + 2) != "last" {
            return None;
        }
        let span = match words::unit(self.word(at)) {
            Some((Unit::Minute | Unit::Hour | Unit::Day, _) | (_, true)) => None,
            Some((unit, false)) => self.calendar.unit(unit, RelativePosition::BeforeLast),
            None => match self.season(at, Anchor::Firm)?.said {
                TimeExpression::Yearly(yearly) => self.calendar.yearly(yearly, RelativePosition::BeforeLast),
                _ => None,
            },
        };
        Some(TimeMatch::span(span?, at + 3))
    }

    /// "Three days ago", "a week from now", "two weeks before Christmas", "неделю назад".
    pub(super) fn away(&self, at: usize, inner: impl Fn(usize, Anchor) -> Option<TimeMatch>) -> Option<TimeMatch> {
        if let Some(found) = self.weekday_beside(at, &inner) {
            return Some(found);
        }
        let (count, unit, end) = self.count_of_units(at)?;
        let (anchor, sign, end) = match self.word(end) {
            "ago" | "назад" => (None, -1, end + 1),
            "тому" if self.word(end + 1) == "назад" => (None, -1, end + 2),
            "from" if self.word(end + 1) == "now" => (None, 1, end + 2),
            "before" | "до" | "перед" => {
                let found = inner(self.skip(end + 1, &["the"]), Anchor::Firm)?;
                (self.calendar.settle(found.said), -1, found.end)
            }
            "after" | "после" => {
                let found = inner(self.skip(end + 1, &["the"]), Anchor::Firm)?;
                (self.calendar.settle(found.said), 1, found.end)
            }
            _ => return None,
        };
        let from = match anchor {
            // After a month is after its last day; a day is its own last.
            Some(span) if sign > 0 => Some(self.calendar.date(span.until).yesterday().ok()?),
            Some(span) => Some(self.calendar.date(span.from)),
            None => None,
        };
        let near = self.calendar.away(from, unit, sign * count.least)?;
        let far = self.calendar.away(from, unit, sign * count.most)?;
        let grain = match grain(unit) {
            Grain::Day if count.least < count.most => Grain::Week,
            grain => grain,
        };
        let span = TimeSpan { from: near.from.min(far.from), until: near.until.max(far.until), grain };
        Some(TimeMatch::span(span, end))
    }

    /// "The Sunday before 25 May".
    fn weekday_beside(&self, at: usize, inner: impl Fn(usize, Anchor) -> Option<TimeMatch>) -> Option<TimeMatch> {
        let weekday = words::sure_weekday(self.word(at))?;
        let before = match self.word(at + 1) {
            "before" => true,
            "after" => false,
            _ => return None,
        };
        let found = inner(self.skip(at + 2, &["the"]), Anchor::Firm)?;
        let span = self.calendar.settle(found.said)?;
        let said = TimeExpression::Weekday(weekday);
        let day = if before {
            self.calendar.settle_before(said, span.from.checked_sub(Span::new().hours(1)).ok()?)?
        } else {
            self.calendar.settle_after(said, span.until)?
        };
        Some(TimeMatch::span(day, found.end))
    }

    fn count_of_units(&self, at: usize) -> Option<(CountRange, Unit, usize)> {
        let before = self.word_before(at, 1);
        // "How many weeks ago" asks for the time, and "a month and two weeks" is not two weeks.
        let asked = matches!(before, "many" | "сколько");
        let rest = matches!(before, "and" | "и") && words::unit(self.word_before(at, 2)).is_some();
        if asked || rest {
            return None;
        }
        match self.word(at) {
            "полгода" => return Some((CountRange::of(6), Unit::Month, at + 1)),
            "полтора" if self.word(at + 1) == "года" => {
                return Some((CountRange::of(18), Unit::Month, at + 2));
            }
            "half" if self.word(at + 1) == "a" && self.word(at + 2) == "year" => {
                return Some((CountRange::of(6), Unit::Month, at + 3));
            }
            _ => {}
        }
        if let Some((count, end)) = self.count(at) {
            let (unit, _) = words::unit(self.word(end))?;
            if matches!(self.word(end + 1), "and" | "и")
                && let Some((more, after)) = self.count(end + 2)
                && let Some((lesser, _)) = words::unit(self.word(after))
            {
                let (count, unit) = sum(count, unit, more, lesser)?;
                return Some((count, unit, after + 1));
            }
            return Some(match [1, 2, 3].map(|step| self.word(end + step)) {
                ["and", "a", "half"] if unit == Unit::Year => {
                    (CountRange::of(count.most * 12 + 6), Unit::Month, end + 4)
                }
                ["or", "two", _] => (CountRange { least: 1, most: 2 }, unit, end + 3),
                _ => (count, unit, end + 1),
            });
        }
        let (unit, many) = words::unit(self.word(at))?;
        // "Недели две назад": about two.
        if let Some((count, end)) = self.count(at + 1)
            && self.word(end) == "назад"
        {
            return Some((count, unit, end));
        }
        Some((if many { FEW } else { CountRange::of(1) }, unit, at + 1))
    }

    /// "3", "two", "a couple of", "two or three", "несколько".
    fn count(&self, at: usize) -> Option<(CountRange, usize)> {
        let (first, end) = self.one_count(at)?;
        if matches!(self.word(end), "or" | "или")
            && let Some((second, end)) = self.one_count(end + 1)
            && first.most < second.most
        {
            return Some((CountRange { least: first.least, most: second.most }, end));
        }
        Some((first, end))
    }

    fn one_count(&self, at: usize) -> Option<(CountRange, usize)> {
        if let Some(&TokenKind::Number { value, ordinal: false, .. }) = self.kind(at) {
            return (1..10_000).contains(&value).then_some((CountRange::of(value), at + 1));
        }
        let word = self.word(at);
        let start = if word == "a" && matches!(self.word(at + 1), "couple" | "few") { at + 1 } else { at };
        Some(match self.word(start) {
            "couple" => (CountRange::of(2), self.skip(start + 1, &["of"])),
            "пару" | "пара" | "пары" => (CountRange::of(2), start + 1),
            "few" | "several" | "несколько" | "нескольких" => (FEW, start + 1),
            "a" | "an" => (CountRange::of(1), start + 1),
            word => (CountRange::of(words::cardinal(word).filter(|count| *count > 0)?), start + 1),
        })
    }
}

/// "Two years and three months", "a week and two days"; other sums are not said.
fn sum(count: CountRange, unit: Unit, more: CountRange, lesser: Unit) -> Option<(CountRange, Unit)> {
    let times = match (unit, lesser) {
        (Unit::Year, Unit::Month) => 12,
        (Unit::Week, Unit::Day) => 7,
        _ => return None,
    };
    Some((CountRange { least: count.least * times + more.least, most: count.most * times + more.most }, lesser))
}
