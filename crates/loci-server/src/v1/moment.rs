//! Times in requests: an instant, or a day.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::schema::{AnyOfBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// An instant such as `2026-01-31T12:00:00Z`, or a day such as `2026-01-31`, which stands for its first instant in the
/// time zone of the installation (`retrieval.time_zone`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum DayOrInstant {
    /// A day.
    Day(Date),
    /// An instant.
    Instant(Timestamp),
}

impl DayOrInstant {
    /// The instant: of a day its first one in this time zone. A day so far away that it has none is as far as time goes.
    pub(crate) fn instant(self, zone: &TimeZone) -> Timestamp {
        match self {
            Self::Instant(instant) => instant,
            Self::Day(day) => match day.to_zoned(zone.clone()) {
                Ok(start) => start.timestamp(),
                Err(_) if day.year() < 0 => Timestamp::MIN,
                Err(_) => Timestamp::MAX,
            },
        }
    }
}

impl<'de> Deserialize<'de> for DayOrInstant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if let Ok(instant) = text.parse() {
            return Ok(Self::Instant(instant));
        }
        // A day is ten characters; what is longer would be a time without an offset, whose instant is anyone's guess.
        let day = text.parse().ok().filter(|_| text.len() == 10).map(Self::Day);
        day.ok_or_else(|| {
            let shown: String = text.chars().take(64).collect();
            D::Error::custom(format!("`{shown}` is neither a day nor an instant with an offset"))
        })
    }
}

impl PartialSchema for DayOrInstant {
    fn schema() -> RefOr<Schema> {
        let text = |format| ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(format)));
        AnyOfBuilder::new()
            .item(text(KnownFormat::DateTime))
            .item(text(KnownFormat::Date))
            .description(Some(
                "An instant such as `2026-01-31T12:00:00Z`, or a day such as `2026-01-31`, which stands for its first \
                 instant in the time zone of the installation (`retrieval.time_zone`).",
            ))
            .into()
    }
}

impl ToSchema for DayOrInstant {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_its_first_instant_in_the_zone() {
        let zone = TimeZone::get("Asia/Tokyo").unwrap();
        let read = |text: &str| {
            let read: Result<DayOrInstant, _> = serde_json::from_value(text.into());
            read.ok().map(|moment| moment.instant(&zone).to_string())
        };
        for (text, expect) in [
            ("2026-01-31", Some("2026-01-30T15:00:00Z")),
            ("2026-01-31T10:00:00+02:00", Some("2026-01-31T08:00:00Z")),
            ("2026-01-31T10:00:00", None),
            ("2026-02-30", None),
            ("20260131", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(read(text).as_deref(), expect, "{text}");
        }
        assert!(DayOrInstant::Day("9999-12-31".parse().unwrap()).instant(&zone) > Timestamp::UNIX_EPOCH);
    }
}
