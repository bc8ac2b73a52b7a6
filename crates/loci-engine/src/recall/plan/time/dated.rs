//! Reads dates, months, seasons, years and holidays.
//!
//! Words that are often something else ("may", "march", "fall", "sat", "среда") count only where a time is expected:
//! after a preposition of time, or beside a day or a year.

use jiff::civil::{Date, DateTime};
use jiff::{Span, Timestamp};
use loci_types::{Grain, TimeSpan};

use super::calendar::{Nth, TimeExpression, YearPart, Yearly};
use super::numeral::is_year;
use super::point::{Anchor, Reader, TimeMatch};
use super::token::TokenKind;
use super::words::{self, RelativePosition, Unit, among};

/// Prepositions that make a month of "may" and "march".
const BEFORE_MONTH: &str = "in since until till before after during of from around throughout early mid late";
/// Prepositions that make a date of "may 7".
const BEFORE_DATE: &str = "in on since until till before after during from around by";
const BEFORE_YEAR: &str =
    "in since until till before after during of from around by circa throughout year в с до после";
const BEFORE_HOLIDAY: &str = "at on for over during since until till before after around by of \
                              на в под до после с к перед";
const BEFORE_WEEKDAY: &str = "on since until till before after by from в с со до после к ко";
const BEFORE_SEASON: &str = "in during over since until till before after by through of for";
/// Months that end in a dot which ends no sentence.
const ABBREVIATED: &str = "jan feb mar apr jun jul aug sep sept oct nov dec \
                           янв фев февр мар апр авг сен сент окт ноя нояб дек";
const REPEATED: &str = "every each any most каждый каждую каждое каждая каждым каждой";

impl Reader<'_> {
    /// A date in digits: 2023-05-07, 2023-05, 2023-05-07T10:30, 2019-2021, 1990s.
    pub(super) fn written(&self, at: usize) -> Option<TimeMatch> {
        let calendar = &self.calendar;
        let minute = |from: Timestamp| {
            let until = from.checked_add(Span::new().minutes(1)).ok()?;
            Some(TimeSpan { from, until, grain: Grain::Minute })
        };
        let local = |time: DateTime| Some(time.to_zoned(calendar.now.time_zone().clone()).ok()?.timestamp());
        let years = |from: i16, until: i16| {
            let (from, until) = (calendar.year(from)?, calendar.year(until)?);
            Some(TimeSpan { from: from.from, until: until.until, grain: Grain::Year })
        };
        let span = match *self.kind(at)? {
            TokenKind::Day(date) => {
                if let Some(&TokenKind::Clock(hour, minutes)) = self.kind(at + 1) {
                    return Some(TimeMatch::span(minute(local(date.at(hour, minutes, 0, 0))?)?, at + 2));
                }
                calendar.day(date)
            }
            TokenKind::Month(year, month) => calendar.months(year, month, 1),
            TokenKind::Local(time) => minute(local(time.date().at(time.hour(), time.minute(), 0, 0))?),
            TokenKind::Instant(instant) => minute(whole_minute(instant)?),
            TokenKind::Years(first, last) => years(first, last),
            TokenKind::Decade(first) => years(first, first + 9),
            _ => None,
        };
        Some(TimeMatch::span(span?, at + 1))
    }

    /// "7 May", "May 7, 2023", "the seventh of May", "May 2023", "May", "7 мая 2023 года".
    pub(super) fn day_and_month(&self, at: usize, anchor: Anchor) -> Option<TimeMatch> {
        let day_first = self.day(at).and_then(|(day, count, end)| {
            // "7. May 2023" is one date; "… by 7. May I ask" is none, so there the year must follow.
            // In German every day has its dot: "am 13. Juni".
            let german = among("am vom zum ab bis seit der den dem", self.word_before(at, 1));
            let dot = self.is_mark(end, &['.']) && (german || self.year_after(end + 2).is_some());
            let end = self.skip(end + usize::from(dot), &["of", "de", "del"]);
            Some((YearPart::Days { month: words::month(self.word(end))?, day, count }, end, end + 1))
        });
        let (part, name, end) = match day_first {
            Some(found) => found,
            None => {
                let month = words::month(self.word(at))?;
                match self.day_after_month(at) {
                    Some((day, count, end)) => (YearPart::Days { month, day, count }, at, end),
                    None => (YearPart::Months { first: month, count: 1 }, at, at + 1),
                }
            }
        };
        let found = self.with_year(Yearly { part, third: None }, end)?;
        self.is_month(at, name, &found, anchor).then_some(found)
    }

    /// The days that stand before a month: "7", "7th", "7-9", "seventh", "twenty-first".
    fn day(&self, at: usize) -> Option<(i8, i8, usize)> {
        match self.kind(at)? {
            &TokenKind::Number { value, digits: 1 | 2, .. } => Some((month_day(value)?, 1, at + 1)),
            &TokenKind::Days(first, last) => Some((first, last - first + 1, at + 1)),
            TokenKind::Word(word) => {
                if let Some(day) = words::ordinal(word) {
                    return Some((day, 1, at + 1));
                }
                let tens = words::cardinal(word).filter(|tens| matches!(tens, 20 | 30))?;
                let next = at + 1 + usize::from(self.is_mark(at + 1, &['-']));
                let ones = words::ordinal(self.word(next)).filter(|ones| *ones < 10)?;
                Some((month_day(tens + i32::from(ones))?, 1, next + 1))
            }
            _ => None,
        }
    }

    /// The days that stand behind an English month: "7", "the 7th", "7-9".
    fn day_after_month(&self, at: usize) -> Option<(i8, i8, usize)> {
        if !self.word(at).is_ascii() {
            return None;
        }
        let next = at + 1 + usize::from(self.is_mark(at + 1, &['.']) && among(ABBREVIATED, self.word(at)));
        let article = self.word(next) == "the";
        let start = next + usize::from(article);
        match self.kind(start)? {
            TokenKind::Word(_) if !article => None,
            TokenKind::Number { ordinal: false, .. } if self.counts_things(start + 1) => None,
            _ => self.day(start),
        }
    }

    /// Adds the year that follows, if one does; a date that does not exist in that year is `None`.
    fn with_year(&self, yearly: Yearly, end: usize) -> Option<TimeMatch> {
        match self.year_after(end) {
            Some((year, end)) => Some(TimeMatch::span(self.calendar.in_year(yearly, year)?, end)),
            None => {
                self.calendar.latest(yearly, self.calendar.instant())?;
                Some(TimeMatch { said: TimeExpression::Yearly(yearly), end })
            }
        }
    }

    /// "2023", ", 2023", "of 2023", "'23", "2023 года".
    fn year_after(&self, at: usize) -> Option<(i16, usize)> {
        if self.is_mark(at, &['\'', '’'])
            && let Some(&TokenKind::Number { value, digits: 2, ordinal: false }) = self.kind(at + 1)
        {
            return Some((2000 + value as i16, at + 2));
        }
        let abbreviated = self.is_mark(at, &['.']) && among(ABBREVIATED, self.word_before(at, 1));
        let at = at + usize::from(self.is_mark(at, &[',']) || abbreviated);
        let at = self.skip(at, &["of", "in"]);
        let &TokenKind::Number { value: year @ 1000..3000, digits: 4, .. } = self.kind(at)? else { return None };
        let end = self.skip(at + 1, &["год", "года", "году", "годом", "г"]);
        (end > at + 1 || !self.counts_things(end)).then_some((year as i16, end))
    }

    /// Whether the number before this place counts things: "in 2000 requests", "до 2000 рублей".
    fn counts_things(&self, at: usize) -> bool {
        let word = self.word(at);
        if self.is_title(at) || among("was is has does as this us his its vs always perhaps", word) {
            return false;
        }
        let english = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
        let russian = ["ов", "ев", "лей"].iter().any(|ending| word.ends_with(ending)) && word != "лев";
        english
            || russian
            || self.is_mark(at, &['$', '€', '£', '₽', '%'])
            || among("people percent ms kb mb gb kg km px rpm lines строк раз тысяч человек штук лет евро", word)
    }

    /// Whether a month's word is a month here, given all that was read beside it.
    fn is_month(&self, at: usize, name: usize, found: &TimeMatch, anchor: Anchor) -> bool {
        let word = self.word(name);
        if words::sure_month(word).is_some() {
            return self.is_once(at, found);
        }
        let modal = word == "may" && among("have be not well also never", self.word(found.end));
        let hyphenated = self.is_mark(found.end, &['-']) && found.end == name + 1 && {
            self.tokens.get(found.end + 1).is_some_and(|next| {
                next.at.start == self.tokens[found.end].at.end && words::month(next.word()).is_none()
            })
        };
        if modal || hyphenated || !self.is_once(at, found) {
            return false;
        }
        let verb = among("may march", word) && !self.is_title(name);
        let with_day = at != name || self.tokens[found.end - 1].word() != word;
        match found.said {
            // A year or a day stands beside it.
            TimeExpression::Span(_) => true,
            _ if with_day => {
                let ordinal = |at: usize| matches!(self.kind(at), Some(TokenKind::Number { ordinal: true, .. }));
                let has_ordinal = self.word_before(name, 1) == "of" || ordinal(at) || ordinal(found.end - 1);
                let ends = self.word(found.end).is_empty();
                !verb || has_ordinal || ends || anchor == Anchor::Firm || among(BEFORE_DATE, self.word_before(at, 1))
            }
            _ => match anchor {
                Anchor::Firm => true,
                Anchor::List => !verb,
                Anchor::None => {
                    let range = self.joins(found.end) && words::month(self.word(found.end + 1)).is_some();
                    among(BEFORE_MONTH, self.word_before(at, 1)) || (range && self.is_title(name))
                }
            },
        }
    }

    /// Whether a recurring day refers to one occurrence: not "every May".
    fn is_once(&self, at: usize, found: &TimeMatch) -> bool {
        matches!(found.said, TimeExpression::Span(_)) || !among(REPEATED, self.word_before(at, 1))
    }

    /// "Summer 2022", "in the summer", "летом", "winter 2022/23".
    pub(super) fn season(&self, at: usize, anchor: Anchor) -> Option<TimeMatch> {
        let word = self.word(at);
        let first = words::season(word)?;
        if let Some(&TokenKind::Years(start, end)) = self.kind(at + 1) {
            let winter = first == 0 && start + 1 == end;
            return winter
                .then(|| self.calendar.months(end, first, 3))
                .flatten()
                .map(|span| TimeMatch::span(span, at + 2));
        }
        let found = self.with_year(Yearly { part: YearPart::Months { first, count: 3 }, third: None }, at + 1)?;
        if matches!(found.said, TimeExpression::Span(_)) {
            return Some(found);
        }
        let next = self.word(found.end);
        let other = among("boot framework security data cloud mvc bean beans of asleep apart", next)
            && words::which(self.word(found.end + 1)).is_none();
        let before = self.word_before(at, 1);
        let article = before == "the" && among(BEFORE_SEASON, self.word_before(at, 2));
        let year_follows = words::which(next).is_some() && words::unit(self.word(found.end + 1)).is_some();
        let placed = article
            || among("летом весной осенью зимой", word)
            || (year_follows && (!word.is_ascii() || among(BEFORE_SEASON, before)));
        ((placed || anchor == Anchor::Firm) && !other && self.is_once(at, &found)).then_some(found)
    }

    /// "Q1 2024", "2024 Q1", "the first quarter of 2024", "в первом квартале".
    pub(super) fn quarter(&self, at: usize, anchor: Anchor) -> Option<TimeMatch> {
        let short = |at: usize| match self.word(at) {
            "q1" => Some(1),
            "q2" => Some(2),
            "q3" => Some(3),
            "q4" => Some(4),
            _ => None,
        };
        let months = |quarter: i8| Yearly { part: YearPart::Months { first: quarter * 3 - 2, count: 3 }, third: None };
        if let Some(&TokenKind::Number { value: year @ 1900..2100, digits: 4, ordinal: false }) = self.kind(at) {
            let span = self.calendar.in_year(months(short(at + 1)?), year as i16)?;
            return Some(TimeMatch::span(span, at + 2));
        }
        let (quarter, end) = match short(at) {
            Some(quarter) => (quarter, at + 1),
            None => {
                let number = match self.kind(at)? {
                    &TokenKind::Number { value: value @ 1..=4, .. } => value as i8,
                    _ => words::nth(self.word(at)).filter(|nth| *nth > 0)?,
                };
                let (Unit::Quarter, false) = words::unit(self.word(at + 1))? else { return None };
                (number, at + 2)
            }
        };
        let found = self.with_year(months(quarter), end)?;
        let before = [self.word_before(at, 1), self.word_before(at, 2)];
        let placed = among(BEFORE_YEAR, before[0]) || (before[0] == "the" && among(BEFORE_YEAR, before[1]));
        let plain = self.word(found.end) != "of";
        (matches!(found.said, TimeExpression::Span(_)) || ((placed || anchor == Anchor::Firm) && plain))
            .then_some(found)
    }

    /// "At Christmas", "on New Year's Eve 2022", "на Новый год".
    pub(super) fn holiday(&self, at: usize, anchor: Anchor) -> Option<TimeMatch> {
        let (words, month, day, count) = *words::HOLIDAYS
            .iter()
            .find(|(words, ..)| words.split(' ').enumerate().all(|(step, word)| self.word(at + step) == word))?;
        let end = at + words.split(' ').count();
        let found = self.with_year(Yearly { part: YearPart::Days { month, day, count }, third: None }, end)?;
        let placed = anchor == Anchor::Firm || among(BEFORE_HOLIDAY, self.word_before(at, 1));
        (matches!(found.said, TimeExpression::Span(_)) || (placed && self.is_once(at, &found))).then_some(found)
    }

    /// "Monday", "on Sat", "в среду".
    pub(super) fn weekday(&self, at: usize, anchor: Anchor) -> Option<TimeMatch> {
        let word = self.word(at);
        let weekday = words::weekday(word)?;
        let before = self.word_before(at, 1);
        let placed = anchor == Anchor::Firm || among(BEFORE_WEEKDAY, before);
        let sure = match word {
            "среда" | "среду" | "среды" | "среде" => {
                let environment = ["ки", "ия", "ния"].iter().any(|end| self.word(at + 1).ends_with(end));
                placed && matches!(word, "среду" | "среды") && !environment
            }
            _ => words::sure_weekday(word).is_some() || (placed && self.is_title(at)),
        };
        let after_next = self.word(at + 1) == "after" && self.word(at + 2) == "next";
        let other = among("good black ash cyber", before) || among(REPEATED, before) || after_next;
        let greeted = matches!(before, "с" | "со") && self.is_with(at);
        (sure && !other && !greeted).then_some(TimeMatch { said: TimeExpression::Weekday(weekday), end: at + 1 })
    }

    /// "In 2022", "2022 год".
    pub(super) fn bare_year(&self, at: usize, anchor: Anchor) -> Option<TimeMatch> {
        let &TokenKind::Number { value, digits: 4, ordinal } = self.kind(at)? else { return None };
        let year = i16::try_from(value).ok()?;
        let end = self.skip(at + 1, &["год", "года", "году", "годом", "г"]);
        let before = self.word_before(at, 1);
        let total = before == "of" && among("total sum count number out", self.word_before(at, 2));
        let placed = (among(BEFORE_YEAR, before) && !total) || anchor != Anchor::None;
        let sized = matches!(self.kind(at + 2), Some(&TokenKind::Number { value, .. }) if !(1900..2100).contains(&value))
            && among("to till and до по и", self.word(at + 1));
        let said = (end > at + 1 && (1000..3000).contains(&year))
            || (placed && is_year(year) && !sized && !self.counts_things(end));
        let russian = !ordinal || !before.is_ascii();
        (said && russian).then(|| self.calendar.year(year)).flatten().map(|span| TimeMatch::span(span, end))
    }

    /// "Over the weekend", "в выходные".
    pub(super) fn weekend(&self, at: usize) -> Option<TimeMatch> {
        let (Unit::Weekend, false) = words::unit(self.word(at))? else { return None };
        let before = self.word_before(at, 1);
        let english = before == "the" && among("over on at during for in since", self.word_before(at, 2));
        let russian = among("в на", before);
        let span = (english || russian).then(|| self.calendar.unit(Unit::Weekend, RelativePosition::Recent))??;
        (self.word(at + 1) != "of").then_some(TimeMatch::span(span, at + 1))
    }

    /// "The first week of May", "the last Friday in June", "в последнюю пятницу мая".
    pub(super) fn nth(&self, at: usize) -> Option<TimeMatch> {
        let nth = match self.kind(at)? {
            &TokenKind::Number { value: value @ 1..=4, ordinal: true, .. } => value as i8,
            _ => words::nth(self.word(at))?,
        };
        let of = match (words::unit(self.word(at + 1)), words::weekday(self.word(at + 1))) {
            (Some((Unit::Day, false)), _) => Nth::Day,
            (Some((Unit::Week, false)), _) => Nth::Week,
            (Some((Unit::Weekend, false)), _) => Nth::Weekend,
            (None, Some(weekday)) => Nth::Weekday(weekday),
            _ => return None,
        };
        let next = self.skip(at + 2, &["of", "in"]);
        let word = self.word(next);
        let month = words::month(word).filter(|_| next > at + 2 || !word.is_ascii())?;
        self.with_year(Yearly { part: YearPart::Nth { month, nth, of }, third: None }, next + 1)
    }
}

fn month_day(value: i32) -> Option<i8> {
    (1..=31).contains(&value).then_some(value as i8)
}

fn whole_minute(at: Timestamp) -> Option<Timestamp> {
    Timestamp::from_second(at.as_second().div_euclid(60) * 60).ok()
}

/// The same month and year with another day.
pub(super) fn with_day(date: Date, day: i8) -> Option<Date> {
    Date::new(date.year(), date.month(), day).ok()
}
