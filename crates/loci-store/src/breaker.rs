//! A circuit breaker for a service that may be unavailable.
//!
//! The first failure opens it. While it is open, calls are refused at once instead of waiting for another timeout.
//! After a back-off calls are allowed again, and the first success closes it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backon::ExponentialBackoff;
use tokio::time::Instant;

use crate::Retry;

/// The breaker of one service.
pub(crate) struct Breaker {
    service: &'static str,
    retry: Retry,
    open: Mutex<Option<Open>>,
}

struct Open {
    problem: String,
    /// Calls are refused until this instant.
    until: Instant,
    delays: ExponentialBackoff,
}

impl Breaker {
    /// A closed breaker. The back-off is that of `retry`, whose `max_attempts` does not apply.
    pub(crate) fn new(service: &'static str, retry: Retry) -> Self {
        Self { service, retry, open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses with the last problem while the breaker is open and its back-off lasts.
    pub(crate) fn allow(&self) -> Result<(), String> {
        match &*self.open() {
            Some(open) if Instant::now() < open.until => Err(open.problem.clone()),
            _ => Ok(()),
        }
    }

    /// The problem that opened the breaker, until it is closed.
    pub(crate) fn problem(&self) -> Option<String> {
        self.open().as_ref().map(|open| open.problem.clone())
    }

    /// The time until calls are allowed again; the initial delay if the breaker is closed.
    pub(crate) fn wait(&self) -> Duration {
        let until = self.open().as_ref().map(|open| open.until);
        until.map_or(self.retry.initial_delay, |until| until.saturating_duration_since(Instant::now()))
    }

    /// Records the outcome of a call.
    pub(crate) fn record(&self, outcome: Result<(), &str>) {
        let (service, mut state) = (self.service, self.open());
        let now = Instant::now();
        match (outcome, &mut *state) {
            (Ok(()), None) => {}
            (Ok(()), Some(_)) => {
                tracing::info!(service, "the service is available again");
                *state = None;
            }
            (Err(problem), Some(open)) => {
                problem.clone_into(&mut open.problem);
                // Calls that were under way when the breaker opened do not make the back-off longer.
                if open.until <= now {
                    open.until = now + open.delays.next().unwrap_or(self.retry.max_delay);
                }
            }
            (Err(problem), None) => {
                tracing::warn!(service, problem, "the service is unavailable; it is not called until it may be back");
                let mut delays = self.retry.delays();
                let until = now + delays.next().unwrap_or(self.retry.max_delay);
                *state = Some(Open { problem: problem.to_owned(), until, delays });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaker(delay: Duration) -> Breaker {
        Breaker::new("qdrant", Retry { initial_delay: delay, max_delay: 10 * delay, ..Retry::default() })
    }

    #[test]
    fn an_open_breaker_refuses_while_its_back_off_lasts() {
        let minute = Duration::from_secs(60);
        let breaker = breaker(minute);
        assert_eq!((breaker.allow(), breaker.problem()), (Ok(()), None));
        for problem in ["refused", "reset"] {
            breaker.record(Err(problem));
        }
        assert_eq!(breaker.allow(), Err("reset".to_owned()));
        assert!(breaker.wait() <= minute, "failures of calls that were made together count once");
        assert!(breaker.wait() > minute / 2);
        breaker.record(Ok(()));
        assert_eq!((breaker.allow(), breaker.problem()), (Ok(()), None));
    }

    #[test]
    fn a_breaker_stays_open_until_a_call_succeeds() {
        let breaker = breaker(Duration::ZERO);
        for _ in 0..3 {
            breaker.record(Err("refused"));
            assert_eq!((breaker.allow(), breaker.problem()), (Ok(()), Some("refused".to_owned())));
        }
        breaker.record(Ok(()));
        assert_eq!(breaker.problem(), None);
    }
}
