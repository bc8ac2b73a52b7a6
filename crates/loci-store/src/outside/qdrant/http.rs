//! How does a request reach Qdrant, and what did it say?
//!
//! JSON both ways, within a time limit. Neither the key nor what stands before the `@` of an address ever reaches an
//! error or a print.

use std::time::Duration;

use backon::Retryable;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Client, Method, StatusCode, Url};
use serde_json::Value;

use crate::{Error, Result, Retry};

/// What it is called where something is said of it.
pub(super) const PART: &str = "qdrant";

/// How much of a complaint is passed on.
const COMPLAINT: usize = 300;

/// A setting that cannot work.
#[derive(Debug)]
pub(in crate::outside) struct InvalidSetting {
    pub(in crate::outside) field: &'static str,
    pub(in crate::outside) problem: String,
}

/// What came back.
pub(super) enum HttpReply {
    /// An answer.
    Answer(Value),
    /// There is no such thing.
    Missing,
}

/// One server.
pub(super) struct Http {
    client: Client,
    base: Url,
    /// The address as it may be shown.
    shown: String,
    retry: Retry,
}

/// Why a request failed.
struct Failure {
    problem: String,
    /// Whether the same request may succeed later.
    passing: bool,
}

impl Http {
    pub(super) fn new(
        url: &str,
        api_key: Option<&str>,
        timeout: Duration,
        retry: Retry,
    ) -> Result<Self, InvalidSetting> {
        let wrong = |problem: String| InvalidSetting { field: "vectors.url", problem };
        let base = Url::parse(url.trim().trim_end_matches('/'))
            .map_err(|error| wrong(format!("vectors.url is no address: {error}")))?;
        let Some(host) = base.host_str().filter(|_| matches!(base.scheme(), "http" | "https")) else {
            return Err(wrong("vectors.url must begin with http:// or https:// and a host".to_owned()));
        };
        let port = base.port().map_or_else(String::new, |port| format!(":{port}"));
        let shown = format!("{}://{host}{port}", base.scheme());
        let mut headers = HeaderMap::new();
        if let Some(key) = api_key {
            let mut value = HeaderValue::from_str(key.trim()).map_err(|_| InvalidSetting {
                field: "vectors.api_key_env",
                problem: "the key has characters that no header can carry".to_owned(),
            })?;
            value.set_sensitive(true);
            headers.insert("api-key", value);
        }
        let client = Client::builder()
            .default_headers(headers)
            .connect_timeout(timeout)
            .timeout(timeout)
            .build()
            .map_err(|error| wrong(error.without_url().to_string()))?;
        Ok(Self { client, base, shown, retry })
    }

    /// What it answers, tried once: whoever asks has other lanes. None if there is no such thing.
    pub(super) async fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Option<Value>> {
        match self.raw(method, path, body).await? {
            HttpReply::Answer(mut answer) => Ok(Some(answer.get_mut("result").map(Value::take).unwrap_or_default())),
            HttpReply::Missing => Ok(None),
        }
    }

    /// The same, repeated while it may pass by itself.
    pub(super) async fn tell(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Option<Value>> {
        let told =
            (|| self.once(method, path, body)).retry(self.retry.attempts()).when(|failure| failure.passing).await;
        match told.map_err(|failure| self.unavailable(failure.problem))? {
            HttpReply::Answer(mut answer) => Ok(Some(answer.get_mut("result").map(Value::take).unwrap_or_default())),
            HttpReply::Missing => Ok(None),
        }
    }

    /// The whole answer, tried once.
    pub(super) async fn raw(&self, method: &str, path: &str, body: Option<&Value>) -> Result<HttpReply> {
        self.once(method, path, body).await.map_err(|failure| self.unavailable(failure.problem))
    }

    async fn once(&self, method: &str, path: &str, body: Option<&Value>) -> Result<HttpReply, Failure> {
        let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
        let url = format!("{}{path}", self.base.as_str().trim_end_matches('/'));
        let mut request = self.client.request(method, url);
        if let Some(body) = body {
            request = request.json(body);
        }
        let away = |error: reqwest::Error| Failure { problem: reason(error), passing: true };
        let response = request.send().await.map_err(away)?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND {
            return Ok(HttpReply::Missing);
        }
        let text = response.text().await.map_err(away)?;
        let answer: Option<Value> = serde_json::from_str(&text).ok();
        if status.is_success() {
            let unread = || Failure { problem: "its answer is no JSON".to_owned(), passing: false };
            return answer.map(HttpReply::Answer).ok_or_else(unread);
        }
        let told = answer.as_ref().and_then(|answer| answer["status"]["error"].as_str()).unwrap_or(&text);
        let told: String = told.chars().take(COMPLAINT).collect();
        let passing = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
        Err(Failure { problem: format!("it says {}: {told}", status.as_u16()), passing })
    }

    pub(super) fn unavailable(&self, problem: String) -> Error {
        Error::Unavailable { part: PART.to_owned(), problem: format!("{} {problem}", self.shown) }
    }
}

/// Why it could not be reached, without its address.
fn reason(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return "did not answer in time".to_owned();
    }
    let error = error.without_url();
    let mut inner: &dyn std::error::Error = &error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    format!("cannot be reached: {inner}")
}
