//! The published description, and a page that shows it.
//!
//! The description is sent without the line breaks of docs/openapi.json. The page holds everything it needs, and the
//! policy that goes with it lets it load nothing else.

use std::sync::{Arc, LazyLock};

use axum::http::HeaderName;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::response::{IntoResponse, Response};
use data_encoding::BASE64;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::failure::Failures;

/// The page, with a gap where the nonce goes.
const PAGE: &str = include_str!("docs.html");

/// The routes of the description and its page.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(description)).routes(routes!(page))
}

/// Returns this description, as OpenAPI 3.1.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "getDescription", tag = "docs",
    responses((status = 200, description = "The description", body = Object), Failures),
    security(())
)]
async fn description() -> Response {
    static TEXT: LazyLock<String> = LazyLock::new(|| crate::describe::described().to_string());
    ([(CONTENT_TYPE, "application/json")], TEXT.as_str()).into_response()
}

/// Returns a page that shows the description. It loads nothing from elsewhere.
#[utoipa::path(
    get, path = "/docs", operation_id = "getDocs", tag = "docs",
    responses((status = 200, description = "The page", body = String, content_type = "text/html"), Failures),
    security(())
)]
async fn page() -> Response {
    let nonce = BASE64.encode(uuid::Uuid::new_v4().as_bytes());
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
         img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let headers: [(HeaderName, String); 3] = [
        (CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (CONTENT_SECURITY_POLICY, policy),
        (REFERRER_POLICY, "no-referrer".to_owned()),
    ];
    (headers, PAGE.replace("{{nonce}}", &nonce)).into_response()
}
