//! Times in requests: an instant, or a day.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize};

/// A time as a caller gives it: an instant (RFC 3339), or a day such as `2026-01-31`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Moment {
    Instant(Timestamp),
    Day(Date),
}

impl Moment {
    /// The instant; a day is its midnight in the configured time zone.
    pub(crate) fn instant(self, zone: &TimeZone) -> Timestamp {
        match self {
            Self::Instant(instant) => instant,
            Self::Day(day) => day.to_zoned(zone.clone()).map_or(Timestamp::MAX, |midnight| midnight.timestamp()),
        }
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let instant = text.parse().map(Self::Instant).ok();
        // A time of day without an offset reads as a day too, and would lose its hours.
        let day = || (text.len() == 10).then(|| text.parse().map(Self::Day).ok()).flatten();
        instant.or_else(day).ok_or_else(|| {
            serde::de::Error::custom(
                "not a time: use an instant such as 2026-01-31T12:00:00Z, or a day such as 2026-01-31",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_or_a_day_is_read() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        for (text, expect) in [
            ("2026-01-31T10:00:00+02:00", Some("2026-01-31T08:00:00Z")),
            ("2026-01-31", Some("2026-01-30T23:00:00Z")),
            ("2026-07-01", Some("2026-06-30T22:00:00Z")),
            ("2026-02-30", None),
            ("2026-01-31T10:00:00", None),
            ("now", None),
            ("", None),
        ] {
            let read = serde_json::from_value::<Moment>(text.into()).ok();
            assert_eq!(read.map(|moment| moment.instant(&zone).to_string()).as_deref(), expect, "{text}");
        }
    }
}
