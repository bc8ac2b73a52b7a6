//! When does a model mean?

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use loci_types::{ErrorKind, TimeRange};

use crate::failure::Failure;

/// A stretch of time between two points that a model named.
pub(super) fn range(
    after: Option<&str>,
    before: Option<&str>,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<TimeRange, Failure> {
    let point = |field: &str, text: Option<&str>| text.map(|text| moment(field, text, now, zone)).transpose();
    Ok(TimeRange { from: point("after", after)?, until: point("before", before)? })
}

/// A point in time: `last_week`, `last_month`, a day (its first moment) or an instant.
pub(super) fn moment(field: &str, text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, Failure> {
    let text = text.trim();
    let ago = |days: i64| now.saturating_add(SignedDuration::from_hours(-24 * days)).ok();
    let day = || text.parse::<Date>().ok()?.to_zoned(zone.clone()).ok().map(|day| day.timestamp());
    let read = match text {
        "last_week" => ago(7),
        "last_month" => now.to_zoned(zone.clone()).checked_sub(1.month()).ok().map(|then| then.timestamp()),
        _ => text.parse::<Timestamp>().ok().or_else(day),
    };
    read.ok_or_else(|| {
        let shown: String = text.chars().take(64).collect();
        Failure::new(ErrorKind::InvalidInput, format!("{field}: `{shown}` is not a time"), "read the request")
            .field(field)
            .hint("use last_week, last_month, a day such as 2026-01-31, or an instant such as 2026-01-31T12:00:00Z")
    })
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
            ("yesterday-ish", None),
            ("2026-02-30", None),
            ("", None),
        ] {
            assert_eq!(read(text).as_deref(), expect, "{text}");
        }
        let failure = range(None, Some("soon"), now, &TimeZone::UTC).unwrap_err();
        assert_eq!(failure.problem().details["field"], "before");
    }
}
