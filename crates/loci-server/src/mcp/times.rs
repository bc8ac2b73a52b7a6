//! Points in time as models write them.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, ToSpan};
use loci_types::{ErrorKind, TimeRange};

use crate::failure::Failure;

/// The forms that [`moment`] reads.
const FORMS: &str = "use last_week, last_month, `in 3 days`, `2 weeks ago`, a day such as 2026-01-31, or an instant \
                     such as 2026-01-31T12:00:00Z";

/// Reads the arguments `after` and `before` as a range.
pub(super) fn range(
    after: Option<&str>,
    before: Option<&str>,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<TimeRange, Failure> {
    let point = |field: &str, text: Option<&str>| text.map(|text| moment(field, text, now, zone)).transpose();
    Ok(TimeRange { from: point("after", after)?, until: point("before", before)? })
}

/// Reads a point in time: `last_week`, `last_month`, `in 3 days`, `2 weeks ago`, a day (its beginning in `zone`) or an
/// instant.
pub(super) fn moment(field: &str, text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, Failure> {
    let text = text.trim();
    let day = || text.parse::<Date>().ok()?.to_zoned(zone.clone()).ok().map(|day| day.timestamp());
    let from_now = |span: Span| now.to_zoned(zone.clone()).checked_add(span).ok().map(|then| then.timestamp());
    let read = match text {
        "last_week" => now.saturating_add(SignedDuration::from_hours(-24 * 7)).ok(),
        "last_month" => from_now(-1.month()),
        _ => text.parse::<Timestamp>().ok().or_else(day).or_else(|| from_now(relative(text)?)),
    };
    read.ok_or_else(|| {
        let shown: String = text.chars().take(64).collect();
        Failure::new(ErrorKind::InvalidInput, format!("{field}: `{shown}` is not a time"), "mcp")
            .field(field)
            .hint(FORMS)
    })
}

/// Reads a distance from now: `in 3 days`, `2 weeks ago`.
fn relative(text: &str) -> Option<Span> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (count, unit, sign) = match words[..] {
        ["in", count, unit] => (count, unit, 1),
        [count, unit, "ago"] => (count, unit, -1),
        _ => return None,
    };
    let count = match count {
        "a" | "an" | "one" => sign,
        digits => sign * digits.parse::<i64>().ok().filter(|count| (0..=100_000).contains(count))?,
    };
    let span = Span::new();
    match unit.trim_end_matches('s') {
        "minute" => span.try_minutes(count),
        "hour" => span.try_hours(count),
        "day" => span.try_days(count),
        "week" => span.try_weeks(count),
        "month" => span.try_months(count),
        "year" => span.try_years(count),
        _ => return None,
    }
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_time_are_read() {
        let now: Timestamp = "2026-03-31T12:00:00Z".parse().unwrap();
        let read = |text: &str| moment("after", text, now, &TimeZone::UTC).ok().map(|at| at.to_string());
        for (text, expect) in [
            ("last_week", Some("2026-03-24T12:00:00Z")),
            ("last_month", Some("2026-02-28T12:00:00Z")),
            ("2026-01-31", Some("2026-01-31T00:00:00Z")),
            (" 2026-01-31 ", Some("2026-01-31T00:00:00Z")),
            ("2026-01-31T10:00:00+02:00", Some("2026-01-31T08:00:00Z")),
            ("in 3 days", Some("2026-04-03T12:00:00Z")),
            ("in a month", Some("2026-04-30T12:00:00Z")),
            ("2 weeks ago", Some("2026-03-17T12:00:00Z")),
            ("in 90 minutes", Some("2026-03-31T13:30:00Z")),
            ("in -3 days", None),
            ("in 3 eons", None),
            ("in 99999999999 years", None),
            ("yesterday-ish", None),
            ("2026-02-30", None),
            ("", None),
        ] {
            assert_eq!(read(text).as_deref(), expect, "{text}");
        }
        let failure = range(None, Some("soon"), now, &TimeZone::UTC).unwrap_err();
        assert_eq!(failure.problem().details["field"], "before");
    }

    #[test]
    fn days_begin_in_the_zone() {
        let now: Timestamp = "2026-03-31T12:00:00Z".parse().unwrap();
        let zone = TimeZone::get("Europe/Lisbon").unwrap();
        let summer = moment("after", "2026-06-01", now, &zone).unwrap();
        assert_eq!(summer.to_string(), "2026-05-31T23:00:00Z");
    }
}
