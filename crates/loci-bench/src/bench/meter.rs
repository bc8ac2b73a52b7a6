//! Timing: percentiles, CPU time and rates.

use std::time::Duration;

use cpu_time::ProcessTime;
use serde_json::json;

/// Prints one figure.
pub(super) fn print(work: &str, n: usize, metric: &str, value: f64) {
    let rounded = (value * 1e4).round() / 1e4;
    loci_host::output::raw_line(&json!({ "work": work, "n": n, "metric": metric, "value": rounded }).to_string());
}

/// CPU time of this process, all threads.
pub(super) fn cpu() -> Duration {
    ProcessTime::try_now().map_or(Duration::ZERO, |now| now.as_duration())
}

/// Times in milliseconds, gathered and asked for their percentiles.
#[derive(Default)]
pub(super) struct Sample(Vec<f64>);

impl Sample {
    pub(super) fn add(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1e3);
    }

    /// Takes up what someone else gathered.
    pub(super) fn take(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The value below which `share` of the sample lies.
    pub(super) fn at(&mut self, share: f64) -> f64 {
        self.0.sort_by(f64::total_cmp);
        let place = ((self.0.len() as f64 * share) as usize).min(self.0.len().saturating_sub(1));
        self.0.get(place).copied().unwrap_or(0.0)
    }
}

/// Memory that this process holds of its own, without files that it only maps; 0 where it cannot be read.
pub(super) fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
