//! HTTP requests to Qdrant.
//!
//! Requests and replies are JSON, with a timeout. Neither the API key nor the user information of the address may
//! appear in an error or in debug output.

use std::time::Duration;

use backon::Retryable;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Certificate, Client, Method, StatusCode, Url};
use serde_json::Value;

use crate::{Error, Result, Retry};

/// The name of the index in errors.
pub(super) const PART: &str = "qdrant";

/// Maximum number of characters of an error message of the server that is passed on.
const MAX_MESSAGE: usize = 300;

/// An invalid setting.
#[derive(Debug)]
pub(in crate::outside) struct InvalidSetting {
    pub(in crate::outside) field: &'static str,
    pub(in crate::outside) problem: String,
}

/// The reply to a request.
pub(super) enum HttpReply {
    /// A successful reply with its body.
    Answer(Value),
    /// The resource does not exist (404).
    Missing,
}

/// A client of one server.
pub(super) struct Http {
    client: Client,
    base: Url,
    /// The address without user information.
    shown: String,
    timeout: Duration,
    retry: Retry,
}

/// Why a request failed.
struct HttpFailure {
    problem: String,
    /// Whether the same request may succeed later.
    retryable: bool,
    /// Whether the server fails, and not only this request.
    outage: bool,
}

/// How much longer than a query a write may take. Writes are made in the background.
const WRITE_FACTOR: u32 = 2;

impl Http {
    pub(super) fn new(
        url: &str,
        api_key: Option<&str>,
        authorities: Option<&[u8]>,
        timeout: Duration,
        retry: Retry,
    ) -> Result<Self, InvalidSetting> {
        let wrong = |problem: String| InvalidSetting { field: "vectors.url", problem };
        let base = Url::parse(url.trim().trim_end_matches('/'))
            .map_err(|error| wrong(format!("vectors.url is not a valid URL: {error}")))?;
        let Some(host) = base.host_str().filter(|_| matches!(base.scheme(), "http" | "https")) else {
            return Err(wrong("vectors.url must begin with http:// or https:// and a host".to_owned()));
        };
        let port = base.port().map_or_else(String::new, |port| format!(":{port}"));
        let shown = format!("{}://{host}{port}", base.scheme());
        let mut headers = HeaderMap::new();
        if let Some(key) = api_key {
            let mut value = HeaderValue::from_str(key.trim()).map_err(|_| InvalidSetting {
                field: "vectors.api_key_env",
                problem: "the API key contains characters that are not allowed in an HTTP header".to_owned(),
            })?;
            value.set_sensitive(true);
            headers.insert("api-key", value);
        }
        let mut client = Client::builder();
        if let Some(pem) = authorities {
            let wrong = |problem: String| InvalidSetting { field: "vectors.ca_file", problem };
            let certificates = Certificate::from_pem_bundle(pem).map_err(|error| wrong(error.to_string()))?;
            client = client.tls_certs_only(certificates);
        }
        let client = client
            .default_headers(headers)
            .connect_timeout(timeout)
            .build()
            .map_err(|error| wrong(error.without_url().to_string()))?;
        Ok(Self { client, base, shown, timeout, retry })
    }

    /// The result of a request that is made once: recall has other lanes and does not wait. None if the resource does
    /// not exist.
    pub(super) async fn read(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Option<Value>> {
        match self.raw(method, path, body).await? {
            HttpReply::Answer(mut answer) => Ok(Some(answer.get_mut("result").map(Value::take).unwrap_or_default())),
            HttpReply::Missing => Ok(None),
        }
    }

    /// The result of a request that is repeated after retryable failures. None if the resource does not exist.
    pub(super) async fn write(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Option<Value>> {
        let reply = (|| self.once(method, path, body, WRITE_FACTOR * self.timeout))
            .retry(self.retry.attempts())
            .when(|failure| failure.retryable)
            .await;
        match reply.map_err(|failure| self.error(failure))? {
            HttpReply::Answer(mut answer) => Ok(Some(answer.get_mut("result").map(Value::take).unwrap_or_default())),
            HttpReply::Missing => Ok(None),
        }
    }

    /// The whole reply to a request that is made once.
    pub(super) async fn raw(&self, method: &str, path: &str, body: Option<&Value>) -> Result<HttpReply> {
        self.once(method, path, body, self.timeout).await.map_err(|failure| self.error(failure))
    }

    async fn once(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        timeout: Duration,
    ) -> Result<HttpReply, HttpFailure> {
        let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
        let url = format!("{}{path}", self.base.as_str().trim_end_matches('/'));
        let mut request = self.client.request(method, url).timeout(timeout);
        if let Some(body) = body {
            request = request.json(body);
        }
        let away = |error: reqwest::Error| HttpFailure { problem: reason(error), retryable: true, outage: true };
        let response = request.send().await.map_err(away)?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND {
            return Ok(HttpReply::Missing);
        }
        let text = response.text().await.map_err(away)?;
        let answer: Option<Value> = serde_json::from_str(&text).ok();
        if status.is_success() {
            let invalid =
                || HttpFailure { problem: "its answer is not JSON".to_owned(), retryable: false, outage: true };
            return answer.map(HttpReply::Answer).ok_or_else(invalid);
        }
        let message = answer.as_ref().and_then(|answer| answer["status"]["error"].as_str()).unwrap_or(&text);
        let message: String = message.chars().take(MAX_MESSAGE).collect();
        let retryable = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
        // Without a valid key no request succeeds.
        let outage = retryable || matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        Err(HttpFailure { problem: format!("it returned {}: {message}", status.as_u16()), retryable, outage })
    }

    fn error(&self, failure: HttpFailure) -> Error {
        if failure.outage { self.unavailable(failure.problem) } else { self.refused(&failure.problem) }
    }

    pub(super) fn refused(&self, problem: &str) -> Error {
        Error::IndexRefused { part: PART.to_owned(), problem: format!("{} {problem}", self.shown) }
    }

    pub(super) fn unavailable(&self, problem: String) -> Error {
        Error::Unavailable { part: PART.to_owned(), problem: format!("{} {problem}", self.shown) }
    }
}

/// The reason why the server could not be reached, without its address.
fn reason(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return "did not answer in time".to_owned();
    }
    let error = error.without_url();
    let mut inner: &dyn std::error::Error = &error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    match inner.to_string() {
        // The error of rustls for an answer that is not TLS.
        cause if cause.contains("InvalidContentType") => {
            "cannot be reached: TLS was asked for by https://, but the server answers in clear text".to_owned()
        }
        cause => format!("cannot be reached: {cause}"),
    }
}
