//! `[retry]`: how often and when calls of models are repeated, and after which errors.
//!
//! It holds for background work. A call that a request waits for is made once. The vector index has settings of its own
//! (`[vectors.retry]`).

use std::time::Duration;

use loci_models::Retries;
use loci_types::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

/// The public codes of errors after which a call may be repeated.
const RETRYABLE: [&str; 3] = ["EMBEDDING_FAILED", "PROVIDER_ERROR", "RATE_LIMITED"];

/// How calls of embedding services and language models are repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallRetries {
    /// Maximum number of attempts, including the first.
    pub max_attempts: usize,
    /// Milliseconds before the second attempt.
    pub initial_delay_ms: u64,
    /// The longest wait, in milliseconds. If a service asks for a longer one, the call is not repeated.
    pub max_delay_ms: u64,
    /// Factor by which each wait is longer than the one before.
    pub backoff_multiplier: f64,
    /// The codes of errors after which a call is repeated: `EMBEDDING_FAILED` of embedding services, `PROVIDER_ERROR` of
    /// language models, `RATE_LIMITED` of both.
    pub retryable_codes: Vec<String>,
}

impl Default for CallRetries {
    fn default() -> Self {
        let usual = Retries::default();
        Self {
            max_attempts: usual.attempts,
            initial_delay_ms: usual.first_delay.as_millis() as u64,
            max_delay_ms: usual.longest_delay.as_millis() as u64,
            backoff_multiplier: usual.factor,
            retryable_codes: RETRYABLE.map(str::to_owned).to_vec(),
        }
    }
}

impl CallRetries {
    /// Refuses what cannot work.
    pub fn validate(&self) -> Result<(), Error> {
        let wrong = |field, message: String| Err(Error::new(ErrorKind::Configuration, message).at(field));
        if self.max_attempts == 0 {
            return wrong("retry.max_attempts", "retry.max_attempts is 0, so that nothing would be called".to_owned());
        }
        if !(1.0..=10.0).contains(&self.backoff_multiplier) {
            return wrong("retry.backoff_multiplier", "retry.backoff_multiplier must be between 1 and 10".to_owned());
        }
        match self.retryable_codes.iter().find(|code| !RETRYABLE.contains(&code.as_str())) {
            Some(code) => {
                let message =
                    format!("`{code}` is not the code of an error that may pass: use {}", RETRYABLE.join(", "));
                wrong("retry.retryable_codes", message)
            }
            None => Ok(()),
        }
    }

    /// The retries of embedding services.
    pub(crate) fn of_embeddings(&self) -> Retries {
        self.of("EMBEDDING_FAILED")
    }

    /// The retries of language models.
    pub(crate) fn of_language_models(&self) -> Retries {
        self.of("PROVIDER_ERROR")
    }

    fn of(&self, code: &str) -> Retries {
        let listed = |code: &str| self.retryable_codes.iter().any(|listed| listed == code);
        Retries {
            attempts: self.max_attempts,
            first_delay: Duration::from_millis(self.initial_delay_ms),
            longest_delay: Duration::from_millis(self.max_delay_ms),
            factor: self.backoff_multiplier,
            after_failures: listed(code),
            after_rate_limits: listed("RATE_LIMITED"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Coverage: S2.12.
    #[test]
    fn the_defaults_are_those_of_the_specification() {
        let usual = CallRetries::default();
        assert_eq!((usual.max_attempts, usual.initial_delay_ms, usual.max_delay_ms), (3, 1_000, 30_000));
        assert_eq!(
            (usual.backoff_multiplier, usual.retryable_codes.as_slice()),
            (2.0, &RETRYABLE.map(str::to_owned)[..])
        );
        assert_eq!((usual.validate(), usual.of_embeddings()), (Ok(()), Retries::default()));
        let limited = CallRetries { retryable_codes: vec!["RATE_LIMITED".into()], ..CallRetries::default() };
        let retries = limited.of_language_models();
        assert_eq!((retries.after_failures, retries.after_rate_limits), (false, true));
        for (wrong, field) in [
            (CallRetries { max_attempts: 0, ..CallRetries::default() }, "retry.max_attempts"),
            (CallRetries { backoff_multiplier: 0.5, ..CallRetries::default() }, "retry.backoff_multiplier"),
            (CallRetries { retryable_codes: vec!["INVALID_LAYER".into()], ..usual }, "retry.retryable_codes"),
        ] {
            assert_eq!(wrong.validate().unwrap_err().field(), Some(field));
        }
    }
}
