//! Instants in requests: either an instant (RFC 3339) or a day, which means its midnight.
//!
//! The midnight of a day depends on a time zone, which serde cannot be given. Servers and commands that read requests
//! therefore run under [`in_time_zone`]; elsewhere, and in stored data, a day is read in UTC.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

tokio::task_local! {
    static ZONE: TimeZone;
}

/// Runs work in which days are read in this time zone. The zone holds for this task only, not for those it spawns.
pub async fn in_time_zone<F: Future>(zone: TimeZone, work: F) -> F::Output {
    ZONE.scope(zone, work).await
}

/// Reads an instant such as `2026-01-31T12:00:00Z`, or a day such as `2026-01-31`.
pub fn parse_instant(text: &str) -> Result<Timestamp, jiff::Error> {
    // Stores count microseconds, and the last second is not whole: what lies in it could not be read back.
    let instant = text.parse::<Timestamp>().map(|instant| instant.min(last_instant()));
    match (instant, text.parse::<Date>()) {
        // The date of an instant without an offset would be read as well, and its time dropped.
        (Err(_), Ok(day)) if text.len() == "2026-01-31".len() => {
            let zone = ZONE.try_with(Clone::clone).unwrap_or(TimeZone::UTC);
            Ok(day.to_zoned(zone)?.timestamp())
        }
        (Err(_), _) if is_end_of_time(text) => Ok(last_instant()),
        (instant, _) => instant,
    }
}

/// Whether this is one of the last instants of the year 9999, the usual way to write "for ever". Those after
/// [`last_instant`] are read as that instant.
fn is_end_of_time(text: &str) -> bool {
    text.get(..8) == Some("9999-12-") && format!("9998{}", &text[4..]).parse::<Timestamp>().is_ok()
}

/// The last instant that is stored: `9999-12-30T22:00:00Z`.
fn last_instant() -> Timestamp {
    Timestamp::from_second(Timestamp::MAX.as_second()).unwrap_or(Timestamp::MAX)
}

/// Reads a field that holds an instant, a day or null.
pub fn optional_instant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let read = |text: String| {
        parse_instant(&text).map_err(|_| {
            let shown: String = text.chars().take(64).collect();
            D::Error::custom(format!(
                "\"{shown}\" is neither an instant such as 2026-01-31T12:00:00Z nor a day such as 2026-01-31"
            ))
        })
    };
    text.map(read).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_day_is_its_midnight_in_the_zone_of_the_request() {
        let read = |text: &str| parse_instant(text).ok().map(|at| at.to_string());
        let vienna = TimeZone::get("Europe/Vienna").unwrap();
        for (text, there, utc) in [
            ("2026-01-31", Some("2026-01-30T23:00:00Z"), Some("2026-01-31T00:00:00Z")),
            ("2026-07-31", Some("2026-07-30T22:00:00Z"), Some("2026-07-31T00:00:00Z")),
            ("2026-01-31T12:00:00+02:00", Some("2026-01-31T10:00:00Z"), Some("2026-01-31T10:00:00Z")),
            ("2026-01-31T12:00:00", None, None),
            ("2026-02-30", None, None),
            ("soon", None, None),
            // attack B19: the usual "for ever".
            ("9999-12-31T23:59:59Z", Some("9999-12-30T22:00:00Z"), Some("9999-12-30T22:00:00Z")),
            ("9999-12-30T22:00:00.9999999Z", Some("9999-12-30T22:00:00Z"), Some("9999-12-30T22:00:00Z")),
            ("9999-12-31T23:59:61Z", None, None),
            ("9999-12-32T00:00:00Z", None, None),
            ("9999-12-é1T00:00:00Z", None, None),
            ("", None, None),
        ] {
            assert_eq!(in_time_zone(vienna.clone(), async { read(text) }).await.as_deref(), there, "{text}");
            assert_eq!(read(text).as_deref(), utc, "{text}");
        }
    }
}
