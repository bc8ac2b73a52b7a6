//! Compares the time of a memory with the times that the query names.
//!
//! Pure. People speak of events afterwards, so the time right after a span counts a little. A month or a day without
//! a year matches every year: "in May", asked in June of another year, still means a May.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use loci_types::{Grain, TimeSpan};

use super::features::MemoryFeatures;
use crate::recall::plan::Plan;
use crate::recall::plan::time::words::month;
use crate::recall::plan::time::{OPEN_FUTURE, OPEN_PAST, TimePhrase};

/// Maximum number of time expressions of a query that are evaluated.
const MAX_TIMES: usize = 8;

/// Number of years before and after the named one.
const YEARS: i32 = 40;

/// Weight of the day of the statement if a memory has no event time.
const SAID: f64 = 0.5;

/// The stretches that a question names.
pub(crate) fn spans(plan: &Plan) -> Vec<TimeSpan> {
    let mut spans: Vec<TimeSpan> = Vec::new();
    for time in plan.times.iter().take(MAX_TIMES) {
        let years = if any_year(plan, time) { -YEARS..=YEARS } else { 0..=0 };
        spans.extend(years.filter_map(|years| shifted(&time.span, years)));
    }
    spans.sort_by_key(|span| (span.from, span.until));
    spans.dedup();
    spans
}

/// How well a memory fits the best of the time spans, 0..1.
pub(crate) fn fits(spans: &[TimeSpan], features: &MemoryFeatures) -> f64 {
    let best = |at: Timestamp| spans.iter().map(|span| nearness(span, at)).fold(0.0, f64::max);
    match features.event_time {
        Some(event) => best(event),
        None => SAID * best(features.said_at),
    }
}

/// Whether a phrase names a day or month of no certain year. One that says "since" or "before" is
/// bound to now, and so are all that name no month.
fn any_year(plan: &Plan, time: &TimePhrase) -> bool {
    let said = &plan.text[time.at.clone()];
    let open = time.span.from <= OPEN_PAST || time.span.until >= OPEN_FUTURE;
    let long = time.span.until.duration_since(time.span.from).as_hours() > 32 * 24;
    let year = said.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() == 4);
    time.span.grain <= Grain::Month && !open && !long && !year && names_month(said)
}

/// Months are named in words; other phrases without a year count from now.
fn names_month(said: &str) -> bool {
    const BOUND: [&str; 8] = ["since", "before", "until", "till", "after", "после", "до", "с"];
    let lower = said.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).peekable();
    let bound = words.peek().is_some_and(|first| BOUND.contains(first));
    !bound && words.any(|word| month(word).is_some())
}

fn shifted(span: &TimeSpan, years: i32) -> Option<TimeSpan> {
    let shift =
        |at: Timestamp| Some(at.to_zoned(TimeZone::UTC).checked_add(Span::new().years(years)).ok()?.timestamp());
    if years == 0 {
        return Some(*span);
    }
    Some(TimeSpan { from: shift(span.from)?, until: shift(span.until)?, grain: span.grain })
}

fn nearness(span: &TimeSpan, event: Timestamp) -> f64 {
    if span.from <= event && event < span.until {
        return 1.0;
    }
    let days = |from: Timestamp, until: Timestamp| until.duration_since(from).as_secs_f64() / 86_400.0;
    let after = event >= span.until;
    let away = if after { days(span.until, event) } else { days(event, span.from) };
    match span.grain {
        Grain::Minute | Grain::Day if away <= 7.0 => 1.0 - away.ceil() / 14.0,
        Grain::Week if away <= 7.0 => 0.4,
        Grain::Month if after && away <= 31.0 => 0.4,
        Grain::Year if after && away <= 60.0 => 0.3,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(question: &str, event: &str) -> f64 {
        let now: jiff::Zoned = "2026-06-01T12:00[UTC]".parse().unwrap();
        let event: Timestamp = format!("{event}T10:00:00Z").parse().unwrap();
        spans(&Plan::of(question, &now)).iter().map(|span| nearness(span, event)).fold(0.0, f64::max)
    }

    #[test]
    fn events_fit_the_times_that_are_named() {
        for (question, event, expect) in [
            ("what happened on 9 April?", "2026-04-09", 1.0),
            ("what happened on 9 April?", "2023-04-09", 1.0),
            ("what happened on 9 April?", "2026-04-11", 1.0 - 2.0 / 14.0),
            ("what happened on 9 April 2023?", "2026-04-09", 0.0),
            ("what happened in May?", "2021-05-30", 1.0),
            ("what happened in May?", "2021-06-05", 0.4),
            ("what happened in May?", "2021-04-05", 0.0),
            ("what happened since January?", "2026-03-01", 1.0),
            ("what happened since January?", "2010-03-01", 0.0),
            ("what happened before March 2025?", "2010-03-01", 1.0),
            ("what happened last week?", "2026-05-26", 1.0),
            ("what happened last week?", "2023-05-26", 0.0),
            ("what happened in 2022?", "2022-07-07", 1.0),
            ("what happened?", "2022-07-07", 0.0),
        ] {
            assert!((best(question, event) - expect).abs() < 1e-9, "{question} {event}: {}", best(question, event));
        }
    }
}
