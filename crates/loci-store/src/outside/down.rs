//! Is the index away, and when is it worth asking again?
//!
//! Whoever asks while it is away hears so at once instead of waiting for another time-out.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::retry::Retry;
use crate::{Error, Result};

/// What is known of the index's health.
pub(super) struct Down {
    part: &'static str,
    retry: Retry,
    away: Mutex<Option<Away>>,
}

struct Away {
    failures: u32,
    until: Instant,
    problem: String,
}

impl Down {
    pub(super) fn new(part: &'static str, retry: Retry) -> Self {
        Self { part, retry, away: Mutex::default() }
    }

    /// Refuses while it is away and its time to be asked again has not come.
    pub(super) fn check(&self) -> Result<()> {
        let away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        match &*away {
            Some(away) if Instant::now() < away.until => {
                Err(Error::Unavailable { part: self.part.to_owned(), problem: away.problem.clone() })
            }
            _ => Ok(()),
        }
    }

    /// How long until it is asked again.
    pub(super) fn wait(&self) -> Duration {
        let away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        away.as_ref().map_or(self.retry.initial_delay, |away| away.until.saturating_duration_since(Instant::now()))
    }

    /// Takes note of how a call of the index went.
    pub(super) fn note<T>(&self, outcome: Result<T>) -> Result<T> {
        let mut away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        match &outcome {
            Err(Error::Unavailable { problem, .. }) => {
                let failures = away.as_ref().map_or(0, |away| away.failures) + 1;
                if failures == 1 {
                    tracing::warn!(index = self.part, problem, "the vector index is away; recall goes on without it");
                }
                let until = Instant::now() + self.retry.delay(failures);
                *away = Some(Away { failures, until, problem: problem.clone() });
            }
            Err(_) => {}
            Ok(_) => {
                if away.take().is_some() {
                    tracing::info!(index = self.part, "the vector index is back");
                }
            }
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_away_is_not_asked_until_the_wait_is_over() {
        let minute = Duration::from_secs(60);
        let down = Down::new("qdrant", Retry { initial_delay: minute, max_delay: minute, ..Retry::default() });
        assert!(down.check().is_ok());
        let lost = || Err::<(), _>(Error::Unavailable { part: "qdrant".into(), problem: "refused".into() });
        assert!(down.note(lost()).is_err());
        let told = down.check().unwrap_err();
        assert!(told.to_string().contains("refused"), "{told}");
        assert!(down.wait() > Duration::from_secs(50));
        assert!(down.note(Ok(())).is_ok());
        assert!(down.check().is_ok());
    }
}
