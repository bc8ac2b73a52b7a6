//! Which day is meant, so that it still can be read in a year?
//!
//! "Tomorrow" becomes a date, "last week" the week of its Monday, "March 1" gets its year. What
//! names its year already stays as it was written.

use jiff::{Span, Timestamp, Zoned};
use loci_types::{Grain, TimeSpan};

use crate::plan::time::{TimePhrase, time_phrases};

/// A time that a sentence names, and how it is written down.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dated {
    /// The bytes of the sentence that name it.
    pub(crate) at: std::ops::Range<usize>,
    /// How it is written instead; empty: it is left out.
    pub(crate) text: String,
    /// The preposition it needs where none stands before it.
    pub(crate) preposition: &'static str,
    /// From when to when.
    pub(crate) from: Timestamp,
    pub(crate) until: Timestamp,
    /// It names one end alone: "since May", "until Friday".
    pub(crate) open: bool,
    /// It comes again each year: a month or a day of one, without a year.
    pub(crate) yearly: bool,
}

/// Words that open a stretch with one end.
const OPENERS: &[&str] = &["since", "until", "till", "before", "after", "from", "с", "со", "до", "после"];
/// Words that say which way to count.
const TURNED: &[&str] =
    &["last", "past", "ago", "next", "this", "before", "прош", "назад", "следующ", "этот", "эту", "этой"];
const MONTHS: &[&str] = &[
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
    "январ",
    "феврал",
    "март",
    "апрел",
    "мая",
    "мае",
    "май",
    "июн",
    "июл",
    "август",
    "сентябр",
    "октябр",
    "ноябр",
    "декабр",
];
const WEEKDAYS: &[&str] = &[
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
    "понедельник",
    "вторник",
    "сред",
    "четверг",
    "пятниц",
    "суббот",
    "воскресень",
];
const SEASONS: &[&str] = &["spring", "summer", "autumn", "fall", "winter", "весн", "лет", "осен", "зим"];

/// The times of a sentence, as seen at `now`. `ahead`: what has no year or week of its own is the
/// next one, not the last.
pub(crate) fn dates(sentence: &str, now: &Zoned, ahead: bool) -> Vec<Dated> {
    let mut found: Vec<Dated> = time_phrases(sentence, now)
        .into_iter()
        .filter(|phrase| !recurs(sentence, phrase.at.clone()))
        .filter_map(|phrase| dated(sentence, phrase, now, ahead))
        .collect();
    if ahead && sentence.contains("in ") {
        found.extend(
            in_a_while(sentence, now)
                .filter(|new| !found.iter().any(|old| old.at.start < new.at.end && new.at.start < old.at.end)),
        );
    }
    found
}

/// Whether a weekday comes again each week: "every Tuesday and Friday", "on Wednesday evenings".
fn recurs(sentence: &str, at: std::ops::Range<usize>) -> bool {
    let lower = sentence[at.clone()].to_lowercase();
    let bare = lower.trim_start_matches("on ");
    let weekday = |word: &str| {
        WEEKDAYS.iter().take(7).any(|day| word.starts_with(day)) && word.trim_end_matches('s').ends_with("day")
    };
    if !weekday(bare) || bare.contains(' ') {
        return false;
    }
    let words = |text: &str| -> Vec<String> {
        text.to_lowercase()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let behind = words(&sentence[at.end..]);
    let parts = behind
        .first()
        .is_some_and(|word| matches!(word.as_str(), "evenings" | "mornings" | "nights" | "afternoons" | "lunchtimes"));
    let before = words(&sentence[..at.start]);
    let listed: Vec<&String> = before
        .iter()
        .rev()
        .take_while(|word| weekday(word) || matches!(word.as_str(), "and" | "or" | "every" | "each"))
        .collect();
    parts || listed.iter().any(|word| matches!(word.as_str(), "every" | "each") || word.ends_with("days"))
}

/// "In two weeks", "in 3 days", "in a month": a day that lies ahead.
fn in_a_while(sentence: &str, now: &Zoned) -> Option<Dated> {
    let lower = sentence.to_lowercase();
    if lower.len() != sentence.len() {
        return None;
    }
    let words: Vec<(usize, &str)> = lower
        .split_whitespace()
        .map(|word| {
            (word.as_ptr() as usize - lower.as_ptr() as usize, word.trim_end_matches(|c: char| !c.is_alphanumeric()))
        })
        .collect();
    words.windows(3).find_map(|three| {
        let [(start, "in"), (_, count), (last, unit)] = three else { return None };
        let count = match *count {
            "a" | "an" => 1,
            count => {
                super::lexicon::number(count).map_or_else(|| count.parse().ok(), |number| i64::try_from(number).ok())?
            }
        };
        let count = Some(count).filter(|count| (1..1000).contains(count))?;
        let span = match unit.trim_end_matches('s') {
            "day" => Span::new().days(count),
            "week" => Span::new().weeks(count),
            "month" => Span::new().months(count),
            "hour" => Span::new().hours(count),
            _ => return None,
        };
        let then = now.checked_add(span).ok()?;
        let from = then.start_of_day().ok()?;
        let until = from.checked_add(Span::new().days(1)).ok()?;
        let text = then.strftime("%Y-%m-%d").to_string();
        Some(Dated {
            at: *start..last + unit.len(),
            text,
            preposition: "on",
            from: from.timestamp(),
            until: until.timestamp(),
            open: false,
            yearly: false,
        })
    })
}

fn dated(sentence: &str, phrase: TimePhrase, now: &Zoned, ahead: bool) -> Option<Dated> {
    let said = &sentence[phrase.at.clone()];
    let lower = said.to_lowercase();
    let russian = lower.contains(|c: char| ('а'..='я').contains(&c));
    let opener = OPENERS.iter().find(|word| lower.starts_with(&format!("{word} "))).copied();
    let by = sentence[..phrase.at.start].trim_end().ends_with("by");
    let span = if ahead && opener.is_none() { forward(&lower, phrase.span, now, by) } else { phrase.span };
    let (text, preposition) = match opener {
        Some(word) => {
            let span = if ahead { until_ahead(word, &lower, span, now) } else { span };
            let end = if matches!(word, "until" | "till" | "before" | "до") { span.until } else { span.from };
            // The end of "after May" is the first day behind it: it is written as it was said.
            let written = has_year(&lower) || matches!(word, "after" | "после");
            let text = if written { said.to_owned() } else { format!("{word} {}", point(end, span.grain, now)) };
            (text, "")
        }
        None => written(said, &lower, span, now, russian)?,
    };
    let yearly = opener.is_none() && text.len() > said.len() && text.starts_with(said);
    Some(Dated { at: phrase.at, text, preposition, from: span.from, until: span.until, open: opener.is_some(), yearly })
}

/// How a stretch is written, and the preposition before it.
fn written(said: &str, lower: &str, span: TimeSpan, now: &Zoned, russian: bool) -> Option<(String, &'static str)> {
    let zone = now.time_zone();
    let from = span.from.to_zoned(zone.clone());
    let until = span.until.to_zoned(zone.clone());
    let day = from.strftime("%Y-%m-%d").to_string();
    let (on, within) = if russian { ("", "в") } else { ("on", "in") };
    if has_year(lower) {
        return Some((said.to_owned(), ""));
    }
    let named_month =
        MONTHS.iter().any(|month| lower.split(|c: char| !c.is_alphabetic()).any(|w| w.starts_with(month)))
            && !turned(lower);
    let days = (span.until.as_second() - span.from.as_second() + 43_200) / 86_400;
    Some(match span.grain {
        Grain::Minute => (day, on),
        Grain::Day if named_month => (with_year(said, from.year(), russian), ""),
        Grain::Day if days >= 2 && russian => (format!("выходные {day}"), "в"),
        Grain::Day if days >= 2 => (format!("weekend of {day}"), "on the"),
        Grain::Day => (day, on),
        Grain::Week if span.until <= now.timestamp() && until.strftime("%H%M").to_string() != "0000" => {
            (String::new(), "")
        }
        Grain::Week if named_month => (with_year(said, from.year(), russian), ""),
        Grain::Week if russian => (format!("неделю с {day}"), "в"),
        Grain::Week => (format!("the week of {day}"), "in"),
        Grain::Month | Grain::Year if span.until == now.timestamp() => return None,
        Grain::Month if named_month => (with_year(said, from.year(), russian), ""),
        Grain::Month => match SEASONS.iter().find(|season| lower.contains(**season)) {
            Some(_) if russian => (from.strftime("%Y-%m").to_string(), "с"),
            Some(season) => (format!("{season} {}", until.year()), within),
            None if is_quarter(lower) => (format!("{} {}", said.to_uppercase(), from.year()), ""),
            None if days > 32 => (format!("the quarter from {day}"), within),
            None if russian => (from.strftime("%Y-%m").to_string(), "в"),
            None => (from.strftime("%B %Y").to_string(), within),
        },
        Grain::Year if russian => (format!("{} году", from.year()), "в"),
        Grain::Year => (from.year().to_string(), within),
    })
}

fn with_year(said: &str, year: i16, russian: bool) -> String {
    match said.chars().next_back() {
        _ if russian => format!("{said} {year} года"),
        Some(last)
            if last.is_ascii_digit() || said.ends_with("st") && !said.ends_with("ust") || said.ends_with("th") =>
        {
            format!("{said}, {year}")
        }
        _ => format!("{said} {year}"),
    }
}

/// One end of a stretch.
fn point(at: Timestamp, grain: Grain, now: &Zoned) -> String {
    let at = at.to_zoned(now.time_zone().clone());
    match grain {
        Grain::Year => at.year().to_string(),
        Grain::Month => at.strftime("%Y-%m").to_string(),
        _ => at.strftime("%Y-%m-%d").to_string(),
    }
}

/// The next one, if the phrase names what comes again and the last one is over.
fn forward(lower: &str, span: TimeSpan, now: &Zoned, by: bool) -> TimeSpan {
    if span.until > now.timestamp() || has_year(lower) || turned(lower) {
        return span;
    }
    let named = |names: &[&str]| {
        lower.split(|c: char| !c.is_alphabetic()).any(|word| names.iter().any(|name| word.starts_with(name)))
    };
    // On a Monday "on Monday" is the next one, "by Monday" may be today.
    let today = span.from.to_zoned(now.time_zone().clone()).date().weekday() == now.date().weekday();
    let step = match () {
        () if named(WEEKDAYS) && !named(MONTHS) && today && !by => Span::new().weeks(2),
        () if named(MONTHS) || named(SEASONS) || is_quarter(lower) => Span::new().years(1),
        () if named(WEEKDAYS) || lower.contains("weekend") || lower.contains("выходн") => Span::new().weeks(1),
        () => return span,
    };
    let moved = |at: Timestamp| Some(at.to_zoned(now.time_zone().clone()).checked_add(step).ok()?.timestamp());
    match (moved(span.from), moved(span.until)) {
        (Some(from), Some(until)) => TimeSpan { from, until, grain: span.grain },
        _ => span,
    }
}

/// "Until Monday" ends on the next one.
fn until_ahead(word: &str, lower: &str, span: TimeSpan, now: &Zoned) -> TimeSpan {
    if !matches!(word, "until" | "till" | "before" | "до") {
        return span;
    }
    let end = TimeSpan { from: span.until, until: span.until, grain: span.grain };
    TimeSpan { until: forward(lower.strip_prefix(word).unwrap_or(lower).trim_start(), end, now, false).until, ..span }
}

/// "Q3"
fn is_quarter(lower: &str) -> bool {
    lower.len() == 2 && lower.starts_with('q')
}

fn turned(lower: &str) -> bool {
    TURNED.iter().any(|word| lower.split(' ').any(|part| part.starts_with(word)))
}

fn has_year(lower: &str) -> bool {
    lower.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() == 4)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use jiff::tz::TimeZone;

    use super::*;

    #[test]
    fn relative_dates_become_absolute() {
        // A Monday.
        let now = date(2026, 6, 1).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap();
        for (text, ahead, expect) in [
            ("we met last week", false, "in the week of 2026-05-25"),
            ("call him tomorrow", true, "on 2026-06-02"),
            ("deploy by Friday", true, "on 2026-06-05"),
            ("we shipped on Friday", false, "on 2026-05-29"),
            ("the deadline is March 1", true, "March 1, 2027"),
            ("the wedding is on 12 June", true, "12 June 2026"),
            ("it broke 3 days ago", false, "on 2026-05-29"),
            ("I moved last month", false, "in May 2026"),
            ("I moved two years ago", false, "in 2024"),
            ("I moved in March", false, "March 2026"),
            ("I moved last summer", false, "in summer 2025"),
            ("I work there since January", false, "since 2026-01"),
            ("I am away until Friday", true, "until 2026-06-05"),
            ("I moved recently", false, ""),
            ("remind me in two weeks", true, "on 2026-06-15"),
            ("before August", true, "before 2026-08"),
            ("since 2020 I live here", false, "since 2020"),
            ("on 2026-06-07 we go", true, "2026-06-07"),
            ("переехали на прошлой неделе", false, "в неделю с 2026-05-25"),
            ("это было вчера", false, "2026-05-31"),
        ] {
            let found = dates(text, &now, ahead);
            let texts: Vec<String> =
                found.iter().map(|dated| format!("{} {}", dated.preposition, dated.text).trim().to_owned()).collect();
            assert_eq!(texts, [expect], "{text}");
        }
    }
}
