//! How often is something tried again, and after how long?

use std::time::Duration;

/// How patiently a failed call is repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retry {
    /// How many times a call is made at most; 1: never again.
    pub max_attempts: u32,
    /// The wait after the first failure.
    pub initial_delay: Duration,
    /// The longest wait.
    pub max_delay: Duration,
    /// Each wait is so many times as long as the one before.
    pub multiplier: f64,
}

impl Default for Retry {
    fn default() -> Self {
        let (initial_delay, max_delay) = (Duration::from_secs(1), Duration::from_secs(30));
        Self { max_attempts: 3, initial_delay, max_delay, multiplier: 2.0 }
    }
}

impl Retry {
    /// The wait after so many failures in a row.
    pub fn delay(&self, failures: u32) -> Duration {
        let steps = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
        let seconds = self.initial_delay.as_secs_f64() * self.multiplier.max(1.0).powi(steps);
        // Infinity is no duration, and longer than the longest in any case.
        Duration::try_from_secs_f64(seconds).map_or(self.max_delay, |delay| delay.min(self.max_delay))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_the_longest() {
        for (failures, seconds) in [(0, 1), (1, 1), (2, 2), (3, 4), (5, 16), (6, 30), (10_000, 30), (u32::MAX, 30)] {
            assert_eq!(Retry::default().delay(failures), Duration::from_secs(seconds), "{failures}");
        }
    }
}
