//! Decay curves: how the value of a memory decreases with age.
//!
//! Pure: the caller passes the time. Every curve stays in `0..=1` and never rises with age.

use jiff::Timestamp;

/// How a value fades with time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Curve {
    /// Halves every `days`.
    HalfLife {
        /// Days until one half is left.
        days: f64,
    },
    /// Loses `rate` of itself each day; a half-life by another name.
    DailyRate {
        /// The share lost in a day.
        rate: f64,
    },
    /// Falls fast, then slowly, from the last time it was used.
    Ebbinghaus {
        /// How fast.
        rate: f64,
    },
}

impl Curve {
    /// What is left after `age` days. A future date counts as age 0.
    pub fn left(self, age: f64) -> f64 {
        let age = if age.is_nan() { 0.0 } else { age.max(0.0) };
        let left = match self {
            Curve::HalfLife { days } => 0.5_f64.powf(age / days),
            Curve::DailyRate { rate } => (1.0 - rate).max(0.0).powf(age),
            Curve::Ebbinghaus { rate } => (-rate * age.powf(0.8)).exp(),
        };
        left.clamp(0.0, 1.0)
    }
}

/// The age in days, at `now`.
pub fn age_days(since: Timestamp, now: Timestamp) -> f64 {
    (now.as_microsecond() - since.as_microsecond()) as f64 / 86_400e6
}

#[cfg(test)]
mod tests {
    use loci_types::Kinds;
    use proptest::prelude::*;

    use super::*;

    // Coverage: S0-3.1.
    #[test]
    fn recency_by_kind_at_30_90_180_and_365_days() {
        let kinds = Kinds::default();
        let check = |kind: &str, expect: [f64; 4]| {
            let spec = kinds.spec(&kinds.parse(kind).unwrap());
            for (age, expect) in [30.0, 90.0, 180.0, 365.0].into_iter().zip(expect) {
                let left = Curve::HalfLife { days: spec.half_life_days }.left(age);
                assert!((left - expect).abs() < 5e-4, "{kind} at {age}: {left}, not {expect}");
            }
        };
        check("fact", [0.945, 0.843, 0.710, 0.500]);
        check("preference", [0.891, 0.707, 0.500, 0.245]);
        check("project", [0.794, 0.500, 0.250, 0.060]);
        check("task", [0.500, 0.125, 0.016, 0.000]);
        check("episodic", [0.226, 0.012, 0.000, 0.000]);
    }

    fn curves() -> impl Strategy<Value = Curve> {
        prop_oneof![
            (0.1..1000.0).prop_map(|days| Curve::HalfLife { days }),
            (0.0..1.0).prop_map(|rate| Curve::DailyRate { rate }),
            (0.0..2.0).prop_map(|rate| Curve::Ebbinghaus { rate }),
        ]
    }

    proptest! {
        // Coverage: S0-3.1.
        #[test]
        fn a_curve_stays_in_range_and_never_rises(curve in curves(), young in -10.0..4000.0, more in 0.0..4000.0) {
            let (before, after) = (curve.left(young), curve.left(young + more));
            prop_assert!((0.0..=1.0).contains(&before));
            prop_assert!(after <= before);
            prop_assert_eq!(curve.left(-1.0), 1.0);
        }

        #[test]
        fn a_half_life_is_a_daily_rate(days in 1.0..1000.0, age in 0.0..1000.0) {
            let rate = 1.0 - 0.5_f64.powf(1.0 / days);
            let (a, b) = (Curve::HalfLife { days }.left(age), Curve::DailyRate { rate }.left(age));
            prop_assert!((a - b).abs() < 1e-9);
        }
    }
}
