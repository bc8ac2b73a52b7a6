//! One delivery: a signed POST that is answered with a success, or why it was not.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use data_encoding::HEXLOWER;
use jiff::Timestamp;
use loci_engine::{FeedEntry, Webhook};
use reqwest::header::{CONTENT_TYPE, USER_AGENT};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde::Serialize;

use super::WebhookOptions;
use super::address::{PublicOnly, is_public, literal};

/// Sends deliveries.
pub(super) struct Sender {
    client: Client,
    allow_private: bool,
}

/// The body of a delivery.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Payload<'a> {
    id: &'a str,
    webhook_id: &'a str,
    events: &'a [FeedEntry],
}

impl Sender {
    pub(super) fn new(options: &WebhookOptions) -> reqwest::Result<Self> {
        let allow_private = options.allow_private;
        let client = Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .timeout(Duration::from_secs(options.timeout_seconds))
            .dns_resolver(Arc::new(PublicOnly { allow_private }))
            .build()?;
        Ok(Self { client, allow_private })
    }

    /// Sends a batch; on failure returns why.
    pub(super) async fn send(
        &self,
        webhook: &Webhook,
        id: &str,
        events: &[FeedEntry],
        now: Timestamp,
    ) -> Result<(), String> {
        let url = Url::parse(&webhook.url).map_err(|error| error.to_string())?;
        // A resolver is only asked for names.
        if !self.allow_private && literal(&url).is_some_and(|address| !is_public(address)) {
            return Err("the address is not public".to_owned());
        }
        let payload = Payload { id, webhook_id: &webhook.id, events };
        let body = serde_json::to_vec(&payload).map_err(|error| error.to_string())?;
        let sent = self
            .client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, concat!("loci/", env!("CARGO_PKG_VERSION")))
            .header("Loci-Delivery", id)
            .header("Loci-Signature", signature(&webhook.secret, now.as_second(), &body))
            .body(body)
            .send()
            .await;
        match sent {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => Err(format!("the receiver answered with status {}", answer.status().as_u16())),
            Err(error) if error.is_timeout() => Err("the receiver did not answer in time".to_owned()),
            Err(error) => Err(format!("the receiver cannot be reached: {}", innermost(&error))),
        }
    }
}

/// The header that proves who sent a body and when: HMAC-SHA256 of the time in seconds, a point and the body.
fn signature(secret: &str, seconds: i64, body: &[u8]) -> String {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()));
    context.update(format!("{seconds}.").as_bytes());
    context.update(body);
    format!("t={seconds},v1={}", HEXLOWER.encode(context.sign().as_ref()))
}

/// The last cause, which says what happened without the address.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_hmac_sha256_of_time_and_body() {
        // Computed with `printf '1700000000.{}' | openssl dgst -sha256 -hmac topsecrettopsecret`.
        let expect = "t=1700000000,v1=625bd06f5b8d2c93fa96343af89e6ea59baf87aa2b491e69835fb0d6c442e2ad";
        assert_eq!(signature("topsecrettopsecret", 1_700_000_000, b"{}"), expect);
    }
}
