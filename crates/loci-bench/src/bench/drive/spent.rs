//! The time and memory that a command of the driver used.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::meter::{self, Sample};

/// Runs from when it is made.
pub(super) struct Spent {
    start: Instant,
    cpu: Duration,
}

impl Spent {
    pub(super) fn begin() -> Self {
        Self { start: Instant::now(), cpu: meter::cpu() }
    }

    /// CPU seconds of all threads so far.
    pub(super) fn cpu(&self) -> f64 {
        (meter::cpu() - self.cpu).as_secs_f64()
    }

    pub(super) fn elapsed(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Seconds on the clock and of the CPU.
    pub(super) fn figures(&self) -> Value {
        json!({ "seconds": self.elapsed(), "cpu": self.cpu() })
    }

    /// The same, with how long single operations took.
    pub(super) fn with(&self, sample: &mut Sample) -> Value {
        let mut figures = self.figures();
        figures["p50_ms"] = sample.at(0.5).into();
        figures["p99_ms"] = sample.at(0.99).into();
        figures
    }
}
