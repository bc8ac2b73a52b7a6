//! The configuration of repeated calls.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

/// How often a failed call is repeated, and how long the waits between the attempts are. The wait grows by a constant
/// factor from `initial_delay` up to `max_delay`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retry {
    /// Maximum number of attempts, including the first one; 1 means that nothing is repeated. Default: 3.
    pub max_attempts: u32,
    /// The wait after the first failure. Default: 1 s.
    pub initial_delay: Duration,
    /// The longest wait. Default: 30 s.
    pub max_delay: Duration,
    /// The factor between one wait and the next; values below 1 count as 1. Default: 2.
    pub multiplier: f64,
}

impl Default for Retry {
    fn default() -> Self {
        let (initial_delay, max_delay) = (Duration::from_secs(1), Duration::from_secs(30));
        Self { max_attempts: 3, initial_delay, max_delay, multiplier: 2.0 }
    }
}

impl Retry {
    /// The back-off of one call that is made at most `max_attempts` times.
    pub(crate) fn attempts(&self) -> ExponentialBuilder {
        self.unlimited().with_max_times(self.max_attempts.saturating_sub(1) as usize)
    }

    /// The waits of a call that is repeated without limit; `max_attempts` does not apply.
    pub(crate) fn delays(&self) -> ExponentialBackoff {
        self.unlimited().build()
    }

    fn unlimited(&self) -> ExponentialBuilder {
        ExponentialBuilder::new()
            .with_min_delay(self.initial_delay.min(self.max_delay))
            .with_max_delay(self.max_delay)
            .with_factor(self.multiplier.max(1.0) as f32)
            .without_max_times()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_the_longest() {
        let seconds = |retry: Retry| retry.delays().take(7).map(|delay| delay.as_secs()).collect::<Vec<_>>();
        assert_eq!(seconds(Retry::default()), [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(seconds(Retry { multiplier: 0.1, ..Retry::default() }), [1; 7]);
        assert_eq!(seconds(Retry { initial_delay: Duration::from_secs(60), ..Retry::default() }), [30; 7]);
        assert_eq!(Retry::default().attempts().build().count(), 2, "three attempts have two waits between them");
    }
}
