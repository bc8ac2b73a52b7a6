//! The console: a web page over the HTTP API, served at `/console`.
//!
//! Its files are built from `console/` and embedded in the binary; they are the same for everyone, so they need no
//! credential. What the page shows it asks of `/v1` with the caller's own credential. The policy that goes with the page
//! lets it load and call nothing but this server, and run no script that is not one of these files.

mod files;

use std::sync::Arc;

use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use loci_types::ErrorKind;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::files::{FILES, PAGE};
use crate::App;
use crate::extract::PathName;
use crate::failure::{Failure, Failures};

/// What the page may do: load and call this server alone. Scripts cannot turn text into markup (`require-trusted-types-for`).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// Marks an answer that browsers may keep: a file whose name changes with its content.
#[derive(Debug, Clone, Copy)]
struct Immutable;

/// The routes of the page and its files.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(page)).routes(routes!(file))
}

/// Sets for how long an answer may be kept: files of the console for ever, everything else not at all.
pub(crate) fn set_cache_control(response: &mut Response) {
    let value = match response.extensions().get::<Immutable>() {
        Some(Immutable) => "public, max-age=31536000, immutable",
        None => "no-store",
    };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(value));
}

/// Returns the console, a web page over this API. It loads nothing from elsewhere.
#[utoipa::path(
    get, path = "/console", operation_id = "getConsole", tag = "docs",
    responses((status = 200, description = "The page", body = String, content_type = "text/html"), Failures),
    security(())
)]
async fn page() -> Response {
    (headers("text/html; charset=utf-8"), PAGE).into_response()
}

/// Returns a script, a style sheet or the picture of the console.
#[utoipa::path(
    get, path = "/console/{file}", operation_id = "getConsoleFile", tag = "docs",
    params(("file" = String, Path, description = "The name of the file")),
    responses(
        (status = 200, description = "The file", content(
            (String = "text/javascript"), (String = "text/css"), (String = "image/svg+xml"),
        )),
        Failures
    ),
    security(())
)]
async fn file(PathName(name): PathName) -> Result<Response, Failure> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    let found = found.and_then(|(name, bytes)| content_type(name).map(|kind| (kind, *bytes)));
    let Some((kind, bytes)) = found else {
        return Err(Failure::new(ErrorKind::RouteNotFound, "unknown path", "getConsoleFile")
            .field("path")
            .hint("reload the console: another version of the server has other files"));
    };
    let mut response = (headers(kind), bytes).into_response();
    response.extensions_mut().insert(Immutable);
    Ok(response)
}

fn headers(content_type: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in
        [(CONTENT_TYPE, content_type), (CONTENT_SECURITY_POLICY, POLICY), (REFERRER_POLICY, "no-referrer")]
    {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
}

/// The content type of a file, by the ending of its name.
fn content_type(name: &str) -> Option<&'static str> {
    match name.rsplit_once('.')?.1 {
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        _ => None,
    }
}
