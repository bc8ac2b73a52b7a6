//! Calls of a model service, with retries and a circuit breaker.
//!
//! A call is one POST with a JSON body and a JSON answer. Only rate limits, server errors and timeouts are retried. The
//! key is sent in one header; neither the key nor credentials in the address ever appear in an error or a log line.
//!
//! A hurried call is for a request that waits: it is made once, within a deadline, and refused at once while the breaker
//! is open; a probe in the background finds out when the service is back. A patient call is for background work: it has
//! the whole timeout and is retried. While the breaker is open it is made once after each pause, and without pauses while
//! it succeeds, so that a service that is slower than the deadline of requests still does background work.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use backon::{ExponentialBuilder, Retryable};
use loci_breaker::{Breaker, Entry, Pauses, Permit};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::client::{cause_of, client_builder};
use crate::error::Error;
use crate::secret::Secret;

/// Maximum number of characters of an error message that is passed on.
const MESSAGE_CHARACTERS: usize = 300;

/// Maximum number of bytes that are read of an error body. Error messages are short; a long body quotes the request.
const COMPLAINT_BYTES: usize = 1 << 16;

/// Maximum time to open a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How a call is retried, with exponential back-off and jitter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retries {
    /// Maximum number of attempts, including the first. Default: 3.
    pub attempts: usize,
    /// The delay after the first failure. Default: 1 s.
    pub first_delay: Duration,
    /// The maximum delay. If `Retry-After` is longer, the call is not retried. Default: 30 s.
    pub longest_delay: Duration,
    /// Factor by which each delay is longer than the one before. Default: 2.
    pub factor: f64,
    /// Whether a call is retried after a timeout or an error of the service. Default: true.
    pub after_failures: bool,
    /// Whether a call is retried after the service has limited the rate. Default: true.
    pub after_rate_limits: bool,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            attempts: 3,
            first_delay: Duration::from_secs(1),
            longest_delay: Duration::from_secs(30),
            factor: 2.0,
            after_failures: true,
            after_rate_limits: true,
        }
    }
}

impl Retries {
    /// Whether a call is retried after this error.
    fn covers(&self, error: &Error) -> bool {
        let wanted = match error {
            Error::RateLimited { .. } => self.after_rate_limits,
            _ => self.after_failures,
        };
        wanted && error.is_transient()
    }
}

/// One endpoint of a service. Clones share the breaker.
#[derive(Clone)]
pub(super) struct Service {
    client: Client,
    breaker: Breaker,
    /// The body of a probe, whose answer is not used.
    probe: Option<Vec<u8>>,
    url: Url,
    /// The address without credentials, for errors and logs.
    shown: String,
    api_key: Option<Secret>,
    timeout: Duration,
    retries: Retries,
    /// Whether error messages of the service are withheld.
    discreet: bool,
    /// Maximum size of an answer in bytes.
    most_bytes: usize,
    /// Fields of the request that not every service supports.
    optional: &'static [&'static str],
    /// How long the last hurried call could wait, in milliseconds.
    hurried_ms: Arc<AtomicU64>,
}

impl fmt::Debug for Service {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Service").field(&self.shown).finish()
    }
}

impl Service {
    /// Prepares calls to `path` below `base_url`.
    pub(super) fn new(
        base_url: &str,
        path: &str,
        api_key: Option<Secret>,
        authorities: Option<&[u8]>,
        timeout: Duration,
        retries: Retries,
    ) -> Result<Self, Error> {
        let setting = |field, problem: String| Error::Setting { field, problem };
        let url = Url::parse(&format!("{}/{path}", base_url.trim().trim_end_matches('/')))
            .map_err(|error| setting("base_url", error.to_string()))?;
        let Some(host) = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https")) else {
            return Err(setting("base_url", "it must start with http:// or https:// and have a host".to_owned()));
        };
        let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
        let shown = format!("{}://{host}{port}{}", url.scheme(), url.path());
        let mut headers = HeaderMap::new();
        if let Some(key) = &api_key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.reveal()))
                .map_err(|_| setting("api_key", "it has characters that an HTTP header cannot contain".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let client = client_builder(authorities)
            .map_err(|problem| setting("ca_file", problem))?
            .default_headers(headers)
            .connect_timeout(CONNECT_TIMEOUT.min(timeout))
            .timeout(timeout)
            .build()
            .map_err(|error| setting("base_url", error.without_url().to_string()))?;
        Ok(Self {
            client,
            breaker: Breaker::new(shown.clone(), Pauses::default()),
            probe: None,
            url,
            shown,
            api_key,
            timeout,
            retries,
            discreet: false,
            most_bytes: usize::MAX,
            optional: &[],
            hurried_ms: Arc::new(AtomicU64::new(u64::MAX)),
        })
    }

    /// Withholds error messages of the service, because some quote the whole request with every text in it.
    pub(super) fn discreet(self) -> Self {
        Self { discreet: true, ..self }
    }

    /// Refuses an answer of more than `most_bytes` bytes without reading the rest of it.
    pub(super) fn bounded(self, most_bytes: usize) -> Self {
        Self { most_bytes, ..self }
    }

    /// Reports a refusal that names one of these fields as [`Error::Unsupported`].
    pub(super) fn with_optional(self, optional: &'static [&'static str]) -> Self {
        Self { optional, ..self }
    }

    /// Uses this question to find out whether the service is back.
    pub(super) fn with_probe(self, question: &impl Serialize) -> Self {
        Self { probe: serde_json::to_vec(question).ok(), ..self }
    }

    /// Returns the address without credentials.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Makes a patient call and returns the parsed answer.
    pub(super) async fn post<A: DeserializeOwned>(&self, question: &impl Serialize) -> Result<A, Error> {
        self.post_within(question, self.timeout).await
    }

    /// Does the same as [`Self::post`], with its own timeout for each attempt.
    pub(super) async fn post_within<A: DeserializeOwned>(
        &self,
        question: &impl Serialize,
        timeout: Duration,
    ) -> Result<A, Error> {
        let body = self.body(question)?;
        let permit = match self.breaker.enter_patiently() {
            Entry::Call(permit) | Entry::Probe(permit) => permit,
            Entry::Refused(problem) => return Err(self.away(problem)),
        };
        if self.breaker.problem().is_some() {
            let begun = Instant::now();
            let outcome = self.once(body, timeout).await;
            match &outcome {
                Ok(_) if begun.elapsed() > self.hurried_deadline() => permit.record_late(),
                _ => record(permit, &outcome),
            }
            return outcome;
        }
        let backoff = ExponentialBuilder::default()
            .with_min_delay(self.retries.first_delay)
            .with_max_delay(self.retries.longest_delay)
            .with_factor(self.retries.factor.max(1.0) as f32)
            .with_max_times(self.retries.attempts.saturating_sub(1))
            .with_jitter();
        let outcome = (|| self.once(body.clone(), timeout))
            .retry(backoff)
            .when(|error| self.retries.covers(error))
            .adjust(|error, delay| self.retry_delay(error, delay))
            .notify(|error, delay| tracing::warn!(%error, ?delay, "retrying the call"))
            .await;
        record(permit, &outcome);
        outcome
    }

    /// Makes a hurried call, within `deadline`.
    pub(super) async fn post_soon<A: DeserializeOwned>(
        &self,
        question: &impl Serialize,
        deadline: Duration,
    ) -> Result<A, Error> {
        let body = self.body(question)?;
        let permit = self.enter(deadline)?;
        let outcome = self.once(body, deadline).await;
        record(permit, &outcome);
        outcome
    }

    /// Refuses while the service is away. If a probe is due, it is made in the background.
    pub(super) fn enter(&self, deadline: Duration) -> Result<Permit, Error> {
        self.hurried_ms.store(deadline.as_millis() as u64, Ordering::Relaxed);
        let permit = match self.breaker.enter() {
            Entry::Call(permit) => return Ok(permit),
            Entry::Refused(problem) => return Err(self.away(problem)),
            Entry::Probe(permit) => permit,
        };
        let problem = self.breaker.problem().unwrap_or_default();
        let (service, probe) = (self.clone(), self.probe.clone().unwrap_or_else(|| b"{}".to_vec()));
        tokio::spawn(async move {
            let outcome = service.once::<serde_json::Value>(probe, deadline).await;
            record(permit, &outcome);
        });
        Err(self.away(problem))
    }

    /// How long those in a hurry can wait; for ever, if there are none.
    fn hurried_deadline(&self) -> Duration {
        Duration::from_millis(self.hurried_ms.load(Ordering::Relaxed))
    }

    fn body(&self, question: &impl Serialize) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(question).map_err(|error| self.nonsense(error.to_string()))
    }

    /// Makes the error for a call that is not made, because the service is away.
    fn away(&self, problem: String) -> Error {
        Error::Away { service: self.shown.clone(), problem }
    }

    /// Returns the delay before the next attempt, which is `Retry-After` if the service sent it.
    fn retry_delay(&self, error: &Error, delay: Option<Duration>) -> Option<Duration> {
        match error {
            Error::RateLimited { retry_after: Some(after), .. } => {
                delay.filter(|_| *after <= self.retries.longest_delay).map(|_| *after)
            }
            _ => delay,
        }
    }

    async fn once<A: DeserializeOwned>(&self, body: Vec<u8>, timeout: Duration) -> Result<A, Error> {
        let request = self.client.post(self.url.clone()).header("content-type", "application/json").timeout(timeout);
        let response = request.body(body).send().await.map_err(|error| self.network_error(error, timeout))?;
        if !response.status().is_success() {
            return Err(self.status_error(response).await);
        }
        let bytes = self.read(response, timeout).await?;
        serde_json::from_slice(&bytes).map_err(|error| self.nonsense(error.to_string()))
    }

    /// Returns the body, or an error if it is too long. A body with a `Content-Length` is refused unread; another one
    /// is read up to the limit.
    async fn read(&self, mut response: Response, timeout: Duration) -> Result<Vec<u8>, Error> {
        let too_long = || self.nonsense(format!("it is longer than {} bytes", self.most_bytes));
        if response.content_length().is_some_and(|length| length > self.most_bytes as u64) {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.network_error(error, timeout))? {
            if bytes.len() + chunk.len() > self.most_bytes {
                return Err(too_long());
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// Makes the error for an answer with an error status.
    async fn status_error(&self, response: Response) -> Error {
        let (service, code) = (self.shown.clone(), response.status());
        let status = code.as_u16();
        if status == 429 {
            return Error::RateLimited { service, retry_after: retry_after(response.headers()) };
        }
        let may_name_field = matches!(status, 400 | 422) && !self.optional.is_empty();
        let body = if self.discreet && !may_name_field { String::new() } else { error_body(response).await };
        if may_name_field && let Some(field) = unsupported(&body, self.optional) {
            return Error::Unsupported { service, status, field };
        }
        let message = match self.discreet {
            true => reason(code, self.api_key.is_some()).to_owned(),
            false => self.shorten(&error_message(&body)),
        };
        Error::Http { service, status, message }
    }

    /// Makes the error for a call without an answer.
    fn network_error(&self, error: reqwest::Error, timeout: Duration) -> Error {
        if error.is_timeout() {
            return Error::Timeout { service: self.shown.clone(), after: timeout };
        }
        let service = self.shown.clone();
        Error::Unreachable { service, problem: self.shorten(&cause_of(error)) }
    }

    /// Makes the error for an invalid answer.
    pub(super) fn nonsense(&self, problem: String) -> Error {
        Error::BadResponse { service: self.shown.clone(), problem: self.shorten(&problem) }
    }

    /// Masks the key and cuts the text at 300 characters.
    fn shorten(&self, text: &str) -> String {
        let text = self.api_key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text));
        text.chars().take(MESSAGE_CHARACTERS).collect()
    }
}

/// Records the outcome of a call. An answer that refuses only this request is not an outage.
fn record<A>(permit: Permit, outcome: &Result<A, Error>) {
    match outcome {
        Err(error) if error.is_outage() => permit.record(Err(&error.problem())),
        _ => permit.record(Ok(())),
    }
}

/// Replaces an empty text by a space, because some services refuse a batch with an empty text.
pub(super) fn never_empty(text: &str) -> &str {
    if text.is_empty() { " " } else { text }
}

/// Returns a fixed text for a status, which cannot quote the request.
fn reason(code: StatusCode, has_key: bool) -> &'static str {
    match code.as_u16() {
        401 | 403 if has_key => "it refuses the API key",
        401 | 403 => "it requires an API key",
        _ => code.canonical_reason().unwrap_or("unknown status"),
    }
}

/// Returns the seconds of `Retry-After`. A date in this header is ignored: it would need a clock, and model services do
/// not send it.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Reads up to 64 KiB of an error body. A broken connection ends it early.
async fn error_body(mut response: Response) -> String {
    let mut bytes = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = COMPLAINT_BYTES - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if bytes.len() == COMPLAINT_BYTES {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the optional field that a refusal is about: the one in `error.param`, or else the first one that the message
/// contains.
fn unsupported(body: &str, optional: &'static [&'static str]) -> Option<&'static str> {
    let json: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let message = error_message(body);
    let places = [json["error"]["param"].as_str(), Some(&message)];
    let named = |place: &str| optional.iter().copied().find(|field| place.contains(field));
    places.into_iter().flatten().find_map(named)
}

/// Returns the message in an error body, in any of the common fields, or else the whole body.
fn error_message(body: &str) -> String {
    let json: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let places = [&json["error"]["message"], &json["error"], &json["message"], &json["detail"]];
    let message = places.into_iter().find_map(|place| place.as_str());
    message.map_or_else(|| body.trim().to_owned(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_complaint_is_found_in_every_common_shape() {
        for (body, expected) in [
            (r#"{"error":{"message":"no such model","type":"x"}}"#, "no such model"),
            (r#"{"error":"no such model"}"#, "no such model"),
            (r#"{"detail":"no such model"}"#, "no such model"),
            ("  plain text \n", "plain text"),
            ("", ""),
        ] {
            assert_eq!(error_message(body), expected, "{body}");
        }
    }

    #[test]
    fn a_refusal_names_the_field_that_it_is_about() {
        const OPTIONAL: &[&str] = &["response_format", "max_tokens"];
        for (body, expected) in [
            (r#"{"error":{"message":"max_tokens with response_format","param":"max_tokens"}}"#, Some("max_tokens")),
            (r#"{"error":{"message":"max_tokens: use max_completion_tokens","param":null}}"#, Some("max_tokens")),
            (r#"{"detail":[{"loc":["body","response_format"],"msg":"no"}]}"#, Some("response_format")),
            (r#"{"error":{"message":"no such model","param":"model"}}"#, None),
            ("", None),
        ] {
            assert_eq!(unsupported(body, OPTIONAL), expected, "{body}");
        }
        assert_eq!(unsupported("response_format", &[]), None);
    }

    #[test]
    fn addresses_are_checked_and_shown_without_credentials() {
        let service =
            |url: &str| Service::new(url, "embeddings", None, None, Duration::from_secs(1), Retries::default());
        for (url, shown) in [
            ("https://user:pass@host/v1/", "https://host/v1/embeddings"),
            ("http://localhost:11434/v1", "http://localhost:11434/v1/embeddings"),
        ] {
            let service = service(url).unwrap();
            assert_eq!(service.shown(), shown);
            assert_eq!(format!("{service:?}"), format!("Service({shown:?})"));
        }
        for url in ["", "host/v1", "ftp://host", "file:///tmp"] {
            assert!(matches!(service(url), Err(Error::Setting { field: "base_url", .. })), "{url}");
        }
    }

    #[test]
    fn the_wish_to_wait_is_read_in_seconds() {
        for (value, expected) in [
            ("2", Some(2.0)),
            ("0.5", Some(0.5)),
            ("soon", None),
            ("-1", None),
            ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
            assert_eq!(retry_after(&headers), expected.map(Duration::from_secs_f64), "{value}");
        }
    }
}
