//! The cron schedule of maintenance.
//!
//! It has the usual five fields (minute, hour, day of month, month, day of week) in the configured time zone and is parsed
//! by `croner`.

use croner::Cron;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::Error;

/// When maintenance runs.
#[derive(Debug, Clone)]
pub struct Schedule {
    cron: Cron,
    zone: TimeZone,
}

impl Schedule {
    /// Parses a schedule. Returns `None` for an empty text.
    pub fn read(text: &str, zone: TimeZone) -> Result<Option<Self>, Error> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        let wrong = |problem: String| Error::Schedule { schedule: text.to_owned(), problem };
        let cron = text.parse::<Cron>().map_err(|error| wrong(error.to_string()))?;
        Ok(Some(Self { cron, zone }))
    }

    /// The next run after an instant, or `None` if there will be no further one.
    pub(crate) fn after(&self, now: Timestamp) -> Option<Timestamp> {
        let here = now.to_zoned(self.zone.clone());
        self.cron.find_next_occurrence(&here, false).ok().map(|next| next.timestamp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Coverage: SPEC-7.6.
    #[test]
    fn a_schedule_follows_local_time() {
        let check = |text: &str, zone: &str, now: &str, expect: &str| {
            let schedule = Schedule::read(text, TimeZone::get(zone).unwrap()).unwrap().unwrap();
            let next = schedule.after(now.parse().unwrap()).unwrap();
            assert_eq!(next.to_string(), expect, "{text} in {zone} after {now}");
        };
        check("0 3 * * *", "UTC", "2026-06-01T12:00:00Z", "2026-06-02T03:00:00Z");
        check("0 3 * * *", "UTC", "2026-06-01T03:00:00Z", "2026-06-02T03:00:00Z");
        check("0 3 * * *", "Europe/Lisbon", "2026-06-01T12:00:00Z", "2026-06-02T02:00:00Z");
        check("30 4 * * 1", "UTC", "2026-06-03T00:00:00Z", "2026-06-08T04:30:00Z");
        assert!(Schedule::read("  ", TimeZone::UTC).unwrap().is_none());
        for wrong in ["at three", "99 3 * * *", "0 3 * *"] {
            assert!(matches!(Schedule::read(wrong, TimeZone::UTC), Err(Error::Schedule { .. })), "{wrong}");
        }
    }
}
