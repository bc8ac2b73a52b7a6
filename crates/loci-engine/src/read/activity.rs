//! Counts of operations over time, by part of Loci.
//!
//! They are computed from the ledger alone, in hours, days or weeks of the configured time zone.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan, Zoned};
use loci_store::OperationCounts;
use loci_types::{Error, Event, TimeRange};
use serde::Serialize;

use crate::access::policy::Caller;
use crate::{Engine, Result};

/// Maximum number of buckets of one request.
const MAX_BUCKETS: i64 = 1_000;
/// Every clock of the world is ahead of or behind another by a multiple of this.
const QUARTER: Duration = Duration::from_secs(15 * 60);
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// How long a stretch of time is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Bucket {
    /// An hour.
    Hour,
    /// A day, from midnight.
    #[default]
    Day,
    /// A week, from Monday.
    Week,
    /// All of it.
    Whole,
}

impl Bucket {
    /// All of them.
    pub const ALL: [Bucket; 4] = [Bucket::Hour, Bucket::Day, Bucket::Week, Bucket::Whole];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Bucket::Hour => "hour",
            Bucket::Day => "day",
            Bucket::Week => "week",
            Bucket::Whole => "whole",
        }
    }

    fn seconds(self) -> Option<i64> {
        match self {
            Bucket::Hour => Some(HOUR),
            Bucket::Day => Some(DAY),
            Bucket::Week => Some(7 * DAY),
            Bucket::Whole => None,
        }
    }

    /// The start of the bucket that contains an instant. `None` for the bucket of the whole period.
    fn start(self, at: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let zoned = at.to_zoned(zone.clone());
        match self {
            Bucket::Whole => None,
            Bucket::Hour => {
                let past = i64::from(zoned.minute()) * 60 + i64::from(zoned.second());
                let past = SignedDuration::new(past, zoned.subsec_nanosecond());
                at.checked_sub(past).ok()
            }
            Bucket::Day => midnight(&zoned),
            Bucket::Week => {
                let days = zoned.date().weekday().since(Weekday::Monday);
                zoned.checked_sub(i64::from(days).days()).ok().as_ref().and_then(midnight)
            }
        }
    }
}

fn midnight(zoned: &Zoned) -> Option<Timestamp> {
    zoned.start_of_day().ok().map(|midnight| midnight.timestamp())
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Bucket {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Bucket::ALL.into_iter().find(|bucket| bucket.name() == text).ok_or_else(|| {
            let names: Vec<_> = Bucket::ALL.iter().map(|bucket| bucket.name()).collect();
            Error::invalid("bucket", format!("unknown bucket `{text}`"))
                .hint(format!("use one of {}", names.join(", ")))
        })
    }
}

/// What to count. An empty list leaves that side open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OperationsRequest {
    /// Count from this time on. Default: midnight of the seventh day before the end.
    pub after: Option<Timestamp>,
    /// Count what happened before this time. Default: now.
    pub before: Option<Timestamp>,
    /// The length of a bucket.
    pub bucket: Bucket,
    /// Any of these parts of Loci, as the ledger names them.
    pub nodes: Vec<String>,
    /// Any of these events.
    pub events: Vec<Event>,
}

/// What was done, counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Operations {
    /// The start of what was counted.
    pub after: Timestamp,
    /// The end of what was counted.
    pub before: Timestamp,
    /// The length of a bucket.
    pub bucket: Bucket,
    /// The counts, oldest bucket first. A bucket in which nothing happened has none.
    pub data: Vec<OperationCount>,
}

/// The number of events of one sort in one bucket.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct OperationCount {
    /// The start of the bucket.
    pub start: Timestamp,
    /// The part of Loci that made the change; empty if unknown.
    pub node: String,
    /// The event, in capitals as in the history, for example `ADD`.
    pub event: String,
    /// How often it happened.
    pub count: u64,
}

impl Engine {
    /// Counts what was done to memories that this caller may see.
    pub async fn operations(&self, caller: &Caller, request: OperationsRequest) -> Result<Operations> {
        let visible = self.visible(caller, None).await?;
        let OperationsRequest { after, before, bucket, nodes, events } = request;
        let (range, end) = self.range(after, before, bucket)?;
        let from = range.from.unwrap_or(end);
        let fine = if bucket == Bucket::Whole { Duration::MAX } else { QUARTER };
        let found = self.store.operation_counts(&visible, range, fine).await?;
        let mut sums: BTreeMap<(Timestamp, String, String), u64> = BTreeMap::new();
        for OperationCounts { start, node, op, count } in found {
            let wanted = events.is_empty() || events.iter().any(|event| event.name() == op);
            if wanted && (nodes.is_empty() || nodes.contains(&node)) {
                let start = bucket.start(start, &self.time_zone).unwrap_or(from);
                *sums.entry((start, node, op.to_ascii_uppercase())).or_default() += count;
            }
        }
        let counts = sums.into_iter().map(|((start, node, event), count)| OperationCount { start, node, event, count });
        Ok(Operations { after: from, before: end, bucket, data: counts.collect() })
    }

    /// The range that is counted, and its end in words. An end that nobody named stays open, so that
    /// what is done at this very moment counts.
    fn range(
        &self,
        from: Option<Timestamp>,
        until: Option<Timestamp>,
        bucket: Bucket,
    ) -> Result<(TimeRange, Timestamp)> {
        let end = until.unwrap_or_else(|| self.now());
        let week = || {
            let first = end.saturating_sub(SignedDuration::from_secs(6 * DAY)).unwrap_or(end);
            Bucket::Day.start(first, &self.time_zone).unwrap_or(first)
        };
        let from = from.unwrap_or_else(week);
        if from > end || Some(from) == until {
            let message = format!("the time from {from} until {end} is empty");
            return Err(Error::invalid("after", message)
                .hint("after must be earlier than before, which is now by default")
                .into());
        }
        let length = end.duration_since(from).as_secs();
        if let Some(many) = bucket.seconds().map(|seconds| length / seconds + 1).filter(|many| *many > MAX_BUCKETS) {
            let message = format!(
                "from {from} until {end} there are {many} buckets of one {bucket}, but at most {MAX_BUCKETS} are counted"
            );
            return Err(Error::invalid("bucket", message).hint("ask for a longer bucket or a shorter time").into());
        }
        Ok((TimeRange { from: Some(from), until }, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_start_by_the_clock_of_the_place() {
        let check = |zone: &str, bucket: Bucket, at: &str, expect: Option<&str>| {
            let zone = TimeZone::get(zone).unwrap();
            let start = bucket.start(at.parse().unwrap(), &zone);
            assert_eq!(start, expect.map(|expect| expect.parse().unwrap()), "{zone:?} {bucket} {at}");
        };
        check("UTC", Bucket::Hour, "2026-06-03T10:59:59.5Z", Some("2026-06-03T10:00:00Z"));
        check("Asia/Kolkata", Bucket::Hour, "2026-06-03T10:45:00Z", Some("2026-06-03T10:30:00Z"));
        check("UTC", Bucket::Day, "2026-06-03T10:45:00Z", Some("2026-06-03T00:00:00Z"));
        check("Asia/Kolkata", Bucket::Day, "2026-06-03T19:00:00Z", Some("2026-06-03T18:30:00Z"));
        // The day on which the clock goes back has 25 hours.
        check("Europe/Berlin", Bucket::Day, "2026-10-25T22:30:00Z", Some("2026-10-24T22:00:00Z"));
        check("Europe/Berlin", Bucket::Hour, "2026-10-25T01:30:00Z", Some("2026-10-25T01:00:00Z"));
        check("UTC", Bucket::Week, "2026-06-03T10:45:00Z", Some("2026-06-01T00:00:00Z"));
        check("UTC", Bucket::Week, "2026-06-07T23:59:59Z", Some("2026-06-01T00:00:00Z"));
        check("UTC", Bucket::Whole, "2026-06-07T23:59:59Z", None);
    }

    #[test]
    fn names_read_back() {
        for bucket in Bucket::ALL {
            assert_eq!(bucket.name().parse::<Bucket>().unwrap(), bucket);
        }
        assert_eq!("month".parse::<Bucket>().unwrap_err().field(), Some("bucket"));
    }
}
