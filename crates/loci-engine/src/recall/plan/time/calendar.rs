//! Converts calendar expressions to spans of time, relative to now.
//!
//! Dates become instants only here, in the time zone of `now`. Every result is an `Option`: a span outside the
//! calendar is `None`.

use jiff::civil::{Date, Weekday};
use jiff::{Span, Timestamp, Zoned};
use loci_types::{Grain, TimeSpan};

use super::words::{DayPart, RelativePosition, Third, Unit};

/// Something said so far: a stretch, or what comes again each year or week.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TimeExpression {
    Span(TimeSpan),
    Yearly(Yearly),
    Weekday(Weekday),
}

/// A part of a year that is not known yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Yearly {
    pub(super) part: YearPart,
    pub(super) third: Option<Third>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum YearPart {
    /// Whole months; month 0 is the December before, where winter starts.
    Months {
        first: i8,
        count: i8,
    },
    Days {
        month: i8,
        day: i8,
        count: i8,
    },
    /// The first week, the last Friday of a month; -1 is the last.
    Nth {
        month: i8,
        nth: i8,
        of: Nth,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Nth {
    Day,
    Week,
    Weekend,
    Weekday(Weekday),
}

impl From<YearPart> for TimeExpression {
    fn from(part: YearPart) -> Self {
        TimeExpression::Yearly(Yearly { part, third: None })
    }
}

/// The date and time now, in the time zone of the request.
pub(super) struct Calendar<'a> {
    pub(super) now: &'a Zoned,
}

impl Calendar<'_> {
    pub(super) fn today(&self) -> Date {
        self.now.date()
    }

    pub(super) fn instant(&self) -> Timestamp {
        self.now.timestamp()
    }

    /// The date on which an instant falls here.
    pub(super) fn date(&self, at: Timestamp) -> Date {
        at.to_zoned(self.now.time_zone().clone()).date()
    }

    /// From the start of one day to the start of another.
    pub(super) fn days(&self, from: Date, until: Date, grain: Grain) -> Option<TimeSpan> {
        Some(TimeSpan { from: self.hour(from, 0)?, until: self.hour(until, 0)?, grain })
    }

    pub(super) fn day(&self, date: Date) -> Option<TimeSpan> {
        self.whole(Unit::Day, date)
    }

    pub(super) fn year(&self, year: i16) -> Option<TimeSpan> {
        self.days(Date::new(year, 1, 1).ok()?, Date::new(year.checked_add(1)?, 1, 1).ok()?, Grain::Year)
    }

    pub(super) fn months(&self, year: i16, first: i8, count: i8) -> Option<TimeSpan> {
        let january = Date::new(year, 1, 1).ok()?;
        let from = shift(january, Unit::Month, i32::from(first) - 1)?;
        self.days(from, shift(from, Unit::Month, count.into())?, Grain::Month)
    }

    fn hour(&self, date: Date, hour: i8) -> Option<Timestamp> {
        Some(date.at(hour, 0, 0, 0).to_zoned(self.now.time_zone().clone()).ok()?.timestamp())
    }

    /// The day, week, month, quarter or year of the calendar that holds a date; weeks start on Monday.
    pub(super) fn whole(&self, unit: Unit, date: Date) -> Option<TimeSpan> {
        let monday = || shift(date, Unit::Day, -i32::from(date.weekday().to_monday_zero_offset()));
        match unit {
            Unit::Day => self.days(date, date.tomorrow().ok()?, Grain::Day),
            Unit::Week => self.days(monday()?, shift(monday()?, Unit::Week, 1)?, Grain::Week),
            Unit::Weekend => self.days(shift(monday()?, Unit::Day, 5)?, shift(monday()?, Unit::Week, 1)?, Grain::Day),
            Unit::Month => self.months(date.year(), date.month(), 1),
            Unit::Quarter => self.months(date.year(), (date.month() - 1) / 3 * 3 + 1, 3),
            Unit::Year => self.year(date.year()),
            Unit::Minute | Unit::Hour => None,
        }
    }

    /// "Last week", "this month": one whole unit.
    pub(super) fn unit(&self, unit: Unit, which: RelativePosition) -> Option<TimeSpan> {
        let steps = match which {
            RelativePosition::BeforeLast => -2,
            RelativePosition::Last => -1,
            RelativePosition::This => 0,
            RelativePosition::Next | RelativePosition::Coming => 1,
            // The weekend is the last one that has begun.
            RelativePosition::Recent if self.today().weekday().to_monday_zero_offset() < 5 => -1,
            RelativePosition::Recent => 0,
            RelativePosition::Past => return None,
        };
        self.whole(unit, shift(self.today(), unit, steps)?)
    }

    /// "Two weeks ago", "two weeks after Christmas": the whole unit that holds the day which lies
    /// that far from another. Hours and minutes are counted from now alone.
    pub(super) fn away(&self, from: Option<Date>, unit: Unit, count: i32) -> Option<TimeSpan> {
        if !matches!(unit, Unit::Minute | Unit::Hour) {
            return self.whole(unit, shift(from.unwrap_or(self.today()), unit, count)?);
        }
        let (step, length) = match unit {
            Unit::Hour => (Span::new().hours(count), jiff::Unit::Hour),
            _ => (Span::new().minutes(count), jiff::Unit::Minute),
        };
        if from.is_some() {
            return None;
        }
        let then = self.now.checked_add(step).ok()?;
        let from = then.round(jiff::ZonedRound::new().smallest(length).mode(jiff::RoundMode::Trunc)).ok()?;
        let until = match unit {
            Unit::Hour => from.checked_add(Span::new().hours(1)).ok()?,
            _ => from.checked_add(Span::new().minutes(1)).ok()?,
        };
        Some(TimeSpan { from: from.timestamp(), until: until.timestamp(), grain: Grain::Minute })
    }

    /// The stretch that ends now. It starts with its first day, since what is dated by the day lies
    /// at the start of it.
    pub(super) fn back(&self, unit: Unit, count: i32) -> Option<TimeSpan> {
        let from = match unit {
            Unit::Hour => self.now.checked_sub(Span::new().hours(count)).ok()?.timestamp(),
            Unit::Minute => self.now.checked_sub(Span::new().minutes(count)).ok()?.timestamp(),
            _ => self.hour(shift(self.today(), unit, -count)?, 0)?,
        };
        Some(TimeSpan { from, until: self.instant(), grain: grain(unit) })
    }

    /// The stretch that starts now.
    pub(super) fn forth(&self, unit: Unit, count: i32) -> Option<TimeSpan> {
        let until = match unit {
            Unit::Hour => self.now.checked_add(Span::new().hours(count)).ok()?.timestamp(),
            Unit::Minute => self.now.checked_add(Span::new().minutes(count)).ok()?.timestamp(),
            _ => self.hour(shift(self.today(), unit, count)?.tomorrow().ok()?, 0)?,
        };
        Some(TimeSpan { from: self.instant(), until, grain: grain(unit) })
    }

    /// A part of a day; the night reaches into the next one.
    pub(super) fn part(&self, date: Date, part: DayPart) -> Option<TimeSpan> {
        let next = date.tomorrow().ok()?;
        let (from, until) = match part {
            DayPart::Morning => (self.hour(date, 0)?, self.hour(date, 12)?),
            DayPart::Afternoon => (self.hour(date, 12)?, self.hour(date, 18)?),
            DayPart::Evening => (self.hour(date, 17)?, self.hour(next, 0)?),
            DayPart::Night => (self.hour(date, 18)?, self.hour(next, 6)?),
        };
        Some(TimeSpan { from, until, grain: Grain::Day })
    }

    /// A third of whole months: ten days of one, or an even share of several.
    pub(super) fn third(&self, span: TimeSpan, third: Third) -> Option<TimeSpan> {
        let (from, until) = (self.date(span.from), self.date(span.until));
        let months = i32::from(until.year() - from.year()) * 12 + i32::from(until.month() - from.month());
        if from.day() != 1 || until.day() != 1 || (months != 1 && months % 3 != 0) || months > 12 {
            return None;
        }
        let (unit, step, grain) = match months {
            1 => (Unit::Day, 10, Grain::Week),
            _ => (Unit::Month, months / 3, Grain::Month),
        };
        let (first, second) = (shift(from, unit, step)?, shift(from, unit, 2 * step)?);
        match third {
            Third::Early => self.days(from, first, grain),
            Third::Middle => self.days(first, second, grain),
            Third::Late => self.days(second, until, grain),
        }
    }

    /// A part of the year, in a year.
    pub(super) fn in_year(&self, yearly: Yearly, year: i16) -> Option<TimeSpan> {
        let span = match yearly.part {
            YearPart::Months { first, count } => self.months(year, first, count)?,
            YearPart::Days { month, day, count } => {
                let from = Date::new(year, month, day).ok()?;
                let last = Date::new(year, month, day + count - 1).ok()?;
                self.days(from, last.tomorrow().ok()?, Grain::Day)?
            }
            YearPart::Nth { month, nth, of } => self.nth(Date::new(year, month, 1).ok()?, nth, of)?,
        };
        match yearly.third {
            Some(third) => self.third(span, third),
            None => Some(span),
        }
    }

    fn nth(&self, first: Date, nth: i8, of: Nth) -> Option<TimeSpan> {
        let weekday = |weekday| first.nth_weekday_of_month(nth, weekday).ok();
        match of {
            Nth::Day if nth < 0 => self.day(first.last_of_month()),
            Nth::Day => self.day(shift(first, Unit::Day, i32::from(nth) - 1)?),
            Nth::Week => {
                let from = match nth {
                    -1 => shift(first.last_of_month(), Unit::Day, -6)?,
                    _ => shift(first, Unit::Week, i32::from(nth) - 1)?,
                };
                self.days(from, shift(from, Unit::Week, 1)?, Grain::Week)
            }
            Nth::Weekend => {
                let saturday = weekday(Weekday::Saturday)?;
                self.days(saturday, shift(saturday, Unit::Day, 2)?, Grain::Day)
            }
            Nth::Weekday(day) => self.day(weekday(day)?),
        }
    }

    /// The last one that starts at an instant or before it. A leap day may lie eight years back.
    pub(super) fn latest(&self, yearly: Yearly, at: Timestamp) -> Option<TimeSpan> {
        let year = self.date(at).year();
        (-8..=1).rev().filter_map(|step| self.in_year(yearly, year + step)).find(|span| span.from <= at)
    }

    /// The first one that starts at an instant or after it.
    pub(super) fn earliest(&self, yearly: Yearly, at: Timestamp) -> Option<TimeSpan> {
        let year = self.date(at).year();
        (-1..=8).filter_map(|step| self.in_year(yearly, year + step)).find(|span| span.from >= at)
    }

    pub(super) fn yearly(&self, yearly: Yearly, which: RelativePosition) -> Option<TimeSpan> {
        let now = self.instant();
        let recent = self.latest(yearly, now);
        let before = |span: TimeSpan| self.latest(yearly, span.from.checked_sub(Span::new().hours(1)).ok()?);
        let last = || recent.and_then(|span| if span.until <= now { Some(span) } else { before(span) });
        match which {
            RelativePosition::Recent => recent,
            RelativePosition::Last => last(),
            RelativePosition::BeforeLast => last().and_then(before),
            RelativePosition::This => match recent.filter(|span| span.until > now) {
                Some(current) => Some(current),
                // The winter of this year starts in its December.
                None => self.in_year(yearly, self.today().year() + i16::from(starts_before(yearly))),
            },
            RelativePosition::Next | RelativePosition::Coming => self.earliest(yearly, now),
            RelativePosition::Past => None,
        }
    }

    /// The day of a year in which it falls on a weekday: the last one, else the next, else one before.
    pub(super) fn on_weekday(&self, yearly: Yearly, weekday: Weekday) -> Option<TimeSpan> {
        let year = self.date(self.latest(yearly, self.instant())?.from).year();
        let days = [0, 1, -1, -2, -3, -4, -5].into_iter().filter_map(|step| self.in_year(yearly, year + step));
        days.into_iter().find(|span| self.date(span.from).weekday() == weekday)
    }

    /// A weekday that is not today: who means today says so.
    pub(super) fn weekday(&self, weekday: Weekday, which: RelativePosition) -> Option<TimeSpan> {
        let place = i32::from(weekday.to_monday_zero_offset());
        let today = i32::from(self.today().weekday().to_monday_zero_offset());
        let back = (today - place - 1).rem_euclid(7) + 1;
        let steps = match which {
            RelativePosition::Recent | RelativePosition::Last => -back,
            RelativePosition::BeforeLast => -back - 7,
            RelativePosition::This => place - today,
            RelativePosition::Next => place - today + 7,
            RelativePosition::Coming => (place - today - 1).rem_euclid(7) + 1,
            RelativePosition::Past => return None,
        };
        self.day(shift(self.today(), Unit::Day, steps)?)
    }

    /// The span of an expression without a year.
    pub(super) fn settle(&self, said: TimeExpression) -> Option<TimeSpan> {
        match said {
            TimeExpression::Span(span) => Some(span),
            TimeExpression::Yearly(yearly) => self.yearly(yearly, RelativePosition::Recent),
            TimeExpression::Weekday(weekday) => self.weekday(weekday, RelativePosition::Recent),
        }
    }

    /// The last one that starts at an instant or before it.
    pub(super) fn settle_before(&self, said: TimeExpression, at: Timestamp) -> Option<TimeSpan> {
        match said {
            TimeExpression::Span(span) => Some(span),
            TimeExpression::Yearly(yearly) => self.latest(yearly, at),
            TimeExpression::Weekday(weekday) => {
                let day = self.date(at);
                let back = i32::from(weekday.until(day.weekday()));
                self.day(shift(day, Unit::Day, -back)?)
            }
        }
    }

    /// The first one that starts at an instant or after it.
    pub(super) fn settle_after(&self, said: TimeExpression, at: Timestamp) -> Option<TimeSpan> {
        match said {
            TimeExpression::Span(span) => Some(span),
            TimeExpression::Yearly(yearly) => self.earliest(yearly, at),
            TimeExpression::Weekday(weekday) => {
                let day = self.date(at);
                self.day(shift(day, Unit::Day, i32::from(day.weekday().until(weekday)))?)
            }
        }
    }

    /// The year, if a span is exactly one of the calendar.
    pub(super) fn as_year(&self, span: TimeSpan) -> Option<i16> {
        let year = self.date(span.from).year();
        (self.year(year) == Some(span)).then_some(year)
    }

    /// A weekday of the week that a span is, if it is one of the calendar.
    pub(super) fn in_week(&self, span: TimeSpan, weekday: Weekday) -> Option<TimeSpan> {
        let monday = self.date(span.from);
        let week = self.whole(Unit::Week, monday)? == span;
        let day = shift(monday, Unit::Day, weekday.to_monday_zero_offset().into())?;
        if week { self.day(day) } else { None }
    }
}

fn starts_before(yearly: Yearly) -> bool {
    matches!(yearly.part, YearPart::Months { first: 0, .. })
}

/// The granularity of a unit.
pub(super) fn grain(unit: Unit) -> Grain {
    match unit {
        Unit::Minute | Unit::Hour => Grain::Minute,
        Unit::Day | Unit::Weekend => Grain::Day,
        Unit::Week => Grain::Week,
        Unit::Month | Unit::Quarter => Grain::Month,
        Unit::Year => Grain::Year,
    }
}

/// A date some units away. Counts come from four digits at most, which every span can hold.
pub(super) fn shift(date: Date, unit: Unit, count: i32) -> Option<Date> {
    let span = match unit {
        Unit::Minute | Unit::Hour => return None,
        Unit::Day => Span::new().days(count),
        Unit::Week | Unit::Weekend => Span::new().weeks(count),
        Unit::Month => Span::new().months(count),
        Unit::Quarter => Span::new().months(count * 3),
        Unit::Year => Span::new().years(count),
    };
    date.checked_add(span).ok()
}
