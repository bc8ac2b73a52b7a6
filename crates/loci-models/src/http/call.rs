//! How is a model service called, and how often?
//!
//! One POST with JSON both ways. Only what may pass by itself is tried again: too many requests,
//! failures on the service's side and timeouts. The key goes into one header, and neither it nor
//! the address's own credentials ever reach an error or a print.

use std::fmt;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::secret::Secret;

/// How much of a service's complaint is passed on.
const MESSAGE_CHARACTERS: usize = 300;

/// How much of a service's complaint is read. Real ones are short; a long one quotes the request.
const COMPLAINT_BYTES: usize = 1 << 16;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How often and how patiently a call is repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retries {
    /// How many times the call is made at most; 1 means never again.
    pub attempts: usize,
    /// The wait after the first failure; each later one is twice as long.
    pub first_delay: Duration,
    /// The longest wait. A service that asks for a longer one is not waited for.
    pub longest_delay: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self { attempts: 3, first_delay: Duration::from_secs(1), longest_delay: Duration::from_secs(30) }
    }
}

/// One call of one service.
pub(super) struct Service {
    client: Client,
    url: Url,
    /// The address as it may be shown.
    shown: String,
    api_key: Option<Secret>,
    timeout: Duration,
    retries: Retries,
    /// Nothing that the service says is passed on.
    discreet: bool,
    /// The most bytes that an answer may have.
    most_bytes: usize,
    /// Fields of the question that not every service knows.
    optional: &'static [&'static str],
}

impl fmt::Debug for Service {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Service").field(&self.shown).finish()
    }
}

impl Service {
    /// The call `path` below `base_url`.
    pub(super) fn new(
        base_url: &str,
        path: &str,
        api_key: Option<Secret>,
        timeout: Duration,
        retries: Retries,
    ) -> Result<Self, Error> {
        let setting = |field, problem: String| Error::Setting { field, problem };
        let url = Url::parse(&format!("{}/{path}", base_url.trim().trim_end_matches('/')))
            .map_err(|error| setting("base_url", error.to_string()))?;
        let Some(host) = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https")) else {
            return Err(setting("base_url", "it must begin with http:// or https:// and a host".to_owned()));
        };
        let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
        let shown = format!("{}://{host}{port}{}", url.scheme(), url.path());
        let mut headers = HeaderMap::new();
        if let Some(key) = &api_key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.reveal()))
                .map_err(|_| setting("api_key", "it has characters that no header can carry".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let client = Client::builder()
            .default_headers(headers)
            .connect_timeout(CONNECT_TIMEOUT.min(timeout))
            .timeout(timeout)
            .build()
            .map_err(|error| setting("base_url", error.without_url().to_string()))?;
        Ok(Self {
            client,
            url,
            shown,
            api_key,
            timeout,
            retries,
            discreet: false,
            most_bytes: usize::MAX,
            optional: &[],
        })
    }

    /// Passes on no complaint of the service: some quote the whole request, with every text in it.
    pub(super) fn discreet(self) -> Self {
        Self { discreet: true, ..self }
    }

    /// Refuses an answer of more than `most_bytes`, without reading the rest of it.
    pub(super) fn bounded(self, most_bytes: usize) -> Self {
        Self { most_bytes, ..self }
    }

    /// A refusal that names one of these fields becomes [`Error::Unsupported`].
    pub(super) fn with_optional(self, optional: &'static [&'static str]) -> Self {
        Self { optional, ..self }
    }

    /// The address as it may be shown.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Sends `question` until there is an answer or no more point in asking.
    pub(super) async fn post<A: DeserializeOwned>(&self, question: &impl Serialize) -> Result<A, Error> {
        self.post_within(question, self.timeout).await
    }

    /// The same, with a time of its own for each call.
    pub(super) async fn post_within<A: DeserializeOwned>(
        &self,
        question: &impl Serialize,
        timeout: Duration,
    ) -> Result<A, Error> {
        let body = serde_json::to_vec(question).map_err(|error| self.nonsense(error.to_string()))?;
        let backoff = ExponentialBuilder::default()
            .with_min_delay(self.retries.first_delay)
            .with_max_delay(self.retries.longest_delay)
            .with_factor(2.0)
            .with_max_times(self.retries.attempts.saturating_sub(1))
            .with_jitter();
        (|| self.once(body.clone(), timeout))
            .retry(backoff)
            .when(Error::is_transient)
            .adjust(|error, delay| self.patience(error, delay))
            .notify(|error, delay| tracing::warn!(%error, ?delay, "the call is repeated"))
            .await
    }

    /// The wait before the next attempt: the service's own wish where it has one.
    fn patience(&self, error: &Error, delay: Option<Duration>) -> Option<Duration> {
        match error {
            Error::RateLimited { retry_after: Some(wish), .. } => {
                delay.filter(|_| *wish <= self.retries.longest_delay).map(|_| *wish)
            }
            _ => delay,
        }
    }

    async fn once<A: DeserializeOwned>(&self, body: Vec<u8>, timeout: Duration) -> Result<A, Error> {
        let request = self.client.post(self.url.clone()).header("content-type", "application/json").timeout(timeout);
        let response = request.body(body).send().await.map_err(|error| self.lost(error, timeout))?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let bytes = self.read(response, timeout).await?;
        serde_json::from_slice(&bytes).map_err(|error| self.nonsense(error.to_string()))
    }

    /// The body, unless it is too long. One that says its length is refused unread; one that does
    /// not is read until it passes the bound.
    async fn read(&self, mut response: Response, timeout: Duration) -> Result<Vec<u8>, Error> {
        let too_long = || self.nonsense(format!("it is longer than {} bytes", self.most_bytes));
        if response.content_length().is_some_and(|length| length > self.most_bytes as u64) {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.lost(error, timeout))? {
            if bytes.len() + chunk.len() > self.most_bytes {
                return Err(too_long());
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// The service answered, but not with success.
    async fn refused(&self, response: Response) -> Error {
        let (service, code) = (self.shown.clone(), response.status());
        let status = code.as_u16();
        if status == 429 {
            return Error::RateLimited { service, retry_after: retry_after(response.headers()) };
        }
        let telling = matches!(status, 400 | 422) && !self.optional.is_empty();
        let body = if self.discreet && !telling { String::new() } else { beginning(response).await };
        if telling && let Some(field) = unsupported(&body, self.optional) {
            return Error::Unsupported { service, status, field };
        }
        let message = match self.discreet {
            true => reason(code, self.api_key.is_some()).to_owned(),
            false => self.shorten(&complaint(&body)),
        };
        Error::Http { service, status, message }
    }

    /// The service did not answer.
    fn lost(&self, error: reqwest::Error, timeout: Duration) -> Error {
        if error.is_timeout() {
            return Error::Timeout { service: self.shown.clone(), after: timeout };
        }
        let service = self.shown.clone();
        let error = error.without_url();
        let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
        Error::Unreachable { service, problem: self.shorten(&format!("{error}{cause}")) }
    }

    /// The service took too long.
    pub(super) fn late(&self) -> Error {
        Error::Timeout { service: self.shown.clone(), after: self.timeout }
    }

    /// The service answered with something that cannot be used.
    pub(super) fn nonsense(&self, problem: String) -> Error {
        Error::BadResponse { service: self.shown.clone(), problem: self.shorten(&problem) }
    }

    /// Without the key, and not longer than a person will read.
    fn shorten(&self, text: &str) -> String {
        let text = self.api_key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text));
        text.chars().take(MESSAGE_CHARACTERS).collect()
    }
}

/// A text as it may be sent: some services refuse an empty one, and with it the whole batch.
pub(super) fn never_empty(text: &str) -> &str {
    if text.is_empty() { " " } else { text }
}

/// What a refusal means, in words that cannot quote anything.
fn reason(code: StatusCode, has_key: bool) -> &'static str {
    match code.as_u16() {
        401 | 403 if has_key => "it refuses the API key",
        401 | 403 => "it wants an API key",
        _ => code.canonical_reason().unwrap_or("it gives no known reason"),
    }
}

/// The seconds of a `Retry-After`. Its other form, a date, would need a clock and is not seen from
/// model services; the usual wait applies then.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// As much of a complaint as a person might have written. What is lost on the way is not missed.
async fn beginning(mut response: Response) -> String {
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

/// The optional field that a refusal is about: the one it names as its parameter, else the first
/// that its sentence names.
fn unsupported(body: &str, optional: &'static [&'static str]) -> Option<&'static str> {
    let json: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let sentence = complaint(body);
    let places = [json["error"]["param"].as_str(), Some(&sentence)];
    let named = |place: &str| optional.iter().copied().find(|field| place.contains(field));
    places.into_iter().flatten().find_map(named)
}

/// The sentence in an error body, wherever the service puts it.
fn complaint(body: &str) -> String {
    let json: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let places = [&json["error"]["message"], &json["error"], &json["message"], &json["detail"]];
    let sentence = places.into_iter().find_map(|place| place.as_str());
    sentence.map_or_else(|| body.trim().to_owned(), str::to_owned)
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
            assert_eq!(complaint(body), expected, "{body}");
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
        let service = |url: &str| Service::new(url, "embeddings", None, Duration::from_secs(1), Retries::default());
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
