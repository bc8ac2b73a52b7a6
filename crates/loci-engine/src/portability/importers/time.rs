//! Reads times in the formats of other systems: with or without offset, a date, or seconds since 1970. Without an
//! offset a time is UTC.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::Value;

/// The instant that a value names, if it names one.
pub(crate) fn moment(value: Option<&Value>) -> Option<Timestamp> {
    match value? {
        Value::String(text) => written(text.trim()),
        Value::Number(number) => {
            let seconds = number.as_f64().filter(|seconds| seconds.is_finite() && *seconds > 0.0)?;
            // Some count in milliseconds; no conversation is from the year 5138.
            let seconds = if seconds >= 1e11 { seconds / 1e3 } else { seconds };
            Timestamp::from_microsecond((seconds * 1e6).round() as i64).ok()
        }
        _ => None,
    }
}

/// The instant that a text names.
pub(crate) fn written(text: &str) -> Option<Timestamp> {
    let utc = |time: DateTime| time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    let text = text.trim_matches(['"', '\'']);
    text.parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<DateTime>().ok().and_then(utc))
        .or_else(|| text.parse::<Date>().ok().and_then(|date| utc(date.at(0, 0, 0, 0))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_read_in_the_ways_they_are_written() {
        for (value, expect) in [
            (json!("2024-07-20T01:30:36.275141-07:00"), Some("2024-07-20T08:30:36.275141Z")),
            (json!("2024-07-20T01:30:36Z"), Some("2024-07-20T01:30:36Z")),
            (json!("2024-07-20T01:30:36.5"), Some("2024-07-20T01:30:36.5Z")),
            (json!("2024-07-20 01:30:36"), Some("2024-07-20T01:30:36Z")),
            (json!("2024-07-20"), Some("2024-07-20T00:00:00Z")),
            (json!(1_700_000_000), Some("2023-11-14T22:13:20Z")),
            (json!(1_700_000_000.25), Some("2023-11-14T22:13:20.25Z")),
            (json!(1_700_000_000_250_u64), Some("2023-11-14T22:13:20.25Z")),
            (json!("soon"), None),
            (json!(-1), None),
            (json!(null), None),
            (json!({}), None),
        ] {
            assert_eq!(moment(Some(&value)), expect.map(|text| text.parse().unwrap()), "{value}");
        }
        assert_eq!(moment(None), None);
    }
}
