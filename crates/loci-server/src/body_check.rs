//! Refuses bodies that cannot be read, by their headers alone, before they arrive.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use loci_types::ErrorKind;

use crate::App;
use crate::failure::Failure;
use crate::in_process::Trusted;

/// The middleware: a body that is too long is 413, a compressed one 415.
pub(crate) async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    // An import in Loci's own format has no limit, and the others have their own.
    let unlimited = request.uri().path() == "/v1/import" || request.extensions().get::<Trusted>().is_some();
    let limit = (!unlimited).then_some(app.options.server.body_bytes as u64);
    match check_headers(request.headers(), limit) {
        Ok(()) => next.run(request).await,
        Err(failure) => failure.into_response(),
    }
}

fn check_headers(headers: &HeaderMap, limit: Option<u64>) -> Result<(), Failure> {
    let refused = |message: String, field: &str| Failure::new(ErrorKind::InvalidInput, message, "request").field(field);
    if let Some(encoding) = headers.get_all(CONTENT_ENCODING).iter().find(|encoding| *encoding != "identity") {
        let encoding: String = String::from_utf8_lossy(encoding.as_bytes()).chars().take(32).collect();
        return Err(refused(format!("the content encoding `{encoding}` is not supported"), "Content-Encoding")
            .hint("send the body without compression and without Content-Encoding")
            .status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    match (length, limit) {
        (Some(length), Some(limit)) if length > limit => {
            Err(refused(format!("the body has {length} bytes, but at most {limit} are allowed"), "body")
                .hint("send less at once, or raise server.body_bytes in the settings of the server")
                .status(StatusCode::PAYLOAD_TOO_LARGE))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_refused_by_its_headers() {
        let check = |name: &str, value: &str, limit: Option<u64>, expect: Option<u16>| {
            let mut headers = HeaderMap::new();
            headers.insert(name.parse::<axum::http::HeaderName>().unwrap(), value.parse().unwrap());
            let status = check_headers(&headers, limit).err().map(|failure| failure.code().as_u16());
            assert_eq!(status, expect, "{name}: {value}");
        };
        check("content-length", "10", Some(10), None);
        check("content-length", "11", Some(10), Some(413));
        check("content-length", "99999999999", Some(10), Some(413));
        check("content-length", "99999999999", None, None);
        check("content-encoding", "identity", None, None);
        check("content-encoding", "gzip", None, Some(415));
        check("content-encoding", "zstd", Some(10), Some(415));
    }
}
