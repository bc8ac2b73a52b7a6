//! The router: all routes with their OpenAPI description, and the middleware around them.
//!
//! Routes are collected together with their description, so that none lacks one. The middleware, from the outside in:
//! version headers, OpenSpec failures, panics, compression, CORS, the guard, headers of the body, idempotency, body size, timeout, scope of
//! short ids, time zone.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use loci_engine::in_time_zone;
use loci_types::ErrorKind;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;

use crate::failure::{Failure, ProblemBody};
use crate::in_process::Trusted;
use crate::{App, body_check, console, docs, guard, health, idempotency, mcp, openspec, short_ids, v1};

/// The routes with their description.
pub(crate) fn described() -> OpenApiRouter<Arc<App>> {
    #[derive(OpenApi)]
    #[openapi(components(schemas(ProblemBody)))]
    struct Description;
    let mut description = Description::openapi();
    description.info.title = "Loci".to_owned();
    description.info.version = env!("CARGO_PKG_VERSION").to_owned();
    description.info.description = Some("Long-term memory for AI agents.".to_owned());
    description.info.license = None;
    description.info.contact = None;
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A key of `loci key create`, or a JSON Web Token"))
        .build();
    let components = description.components.get_or_insert_default();
    components.security_schemes.insert("key".to_owned(), SecurityScheme::Http(bearer).into());
    let routes = OpenApiRouter::with_openapi(description).merge(v1::routes()).merge(openspec::routes());
    let mut routes = routes.merge(health::routes()).merge(docs::routes()).merge(console::routes());
    idempotency::describe(routes.get_openapi_mut());
    routes
}

/// All routes, ready to be served.
pub(crate) fn routes(app: &Arc<App>) -> Router {
    let (routes, _) = described().split_for_parts();
    let seconds = Duration::from_secs(app.options.server.request_seconds);
    let timed = middleware::from_fn(move |request: Request, next: Next| with_timeout(seconds, request, next));
    routes
        .merge(mcp::routes())
        .merge(openspec::alias_routes())
        .fallback(unknown_path)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(app.clone())
        // Innermost, so that it is the task in which requests are parsed.
        .layer(middleware::from_fn_with_state(app.clone(), days))
        .layer(middleware::from_fn_with_state(app.clone(), short_ids::read_scope))
        .layer(timed)
        .layer(DefaultBodyLimit::max(app.options.server.body_bytes))
        .layer(middleware::from_fn_with_state(app.clone(), idempotency::once))
        .layer(middleware::from_fn_with_state(app.clone(), body_check::check))
        .layer(middleware::from_fn_with_state(app.clone(), guard::pass))
        .layer(cors(&app.options.server.cors_origins))
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(app.clone(), openspec::rewrite_failures))
        .layer(middleware::from_fn(add_headers))
}

/// Adds the version and the security headers to every answer.
async fn add_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static("x-provider-version"), HeaderValue::from_static(env!("CARGO_PKG_VERSION")));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    console::set_cache_control(&mut response);
    response
}

/// Reads days in requests in the time zone of the engine.
async fn days(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    in_time_zone(app.engine.time_zone().clone(), next.run(request)).await
}

/// Ends a request that takes too long. For a stream, only the time until it begins counts.
async fn with_timeout(limit: Duration, request: Request, next: Next) -> Response {
    // An import may take as long as its body arrives; it has its own timeout for a sender that stalls.
    if request.uri().path() == "/v1/import" || request.extensions().get::<Trusted>().is_some() {
        return next.run(request).await;
    }
    // A request with an idempotency key has its timeout in `idempotency`, which does not cancel the work.
    if idempotency::stores_answer(&request) {
        return next.run(request).await;
    }
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Failure::new(ErrorKind::Provider, "the request took too long", "request")
            .hint("request less at once, or raise server.request_seconds in the settings of the server")
            .into_response(),
    }
}

fn cors(origins: &[String]) -> CorsLayer {
    let origins = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_MATCH,
            HeaderName::from_static("idempotency-key"),
            HeaderName::from_static("last-event-id"),
            HeaderName::from_static("mcp-protocol-version"),
            HeaderName::from_static("mcp-method"),
            HeaderName::from_static("mcp-name"),
            HeaderName::from_static("x-api-key"),
        ])
        .expose_headers([guard::REQUEST_ID, header::ETAG, header::LOCATION, header::RETRY_AFTER])
        .max_age(Duration::from_secs(600))
}

async fn unknown_path() -> Failure {
    Failure::new(ErrorKind::RouteNotFound, "unknown path", "request")
        .field("path")
        .hint("GET /openapi.json lists all paths")
}

async fn method_not_allowed() -> Failure {
    Failure::new(ErrorKind::MethodNotAllowed, "method not allowed", "request")
        .field("method")
        .hint("the header Allow lists the methods of this path")
}

/// The answer to a request that panicked. The panic message goes to the log only.
fn panicked(panic: Box<dyn std::any::Any + Send>) -> Response {
    let message = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = message.unwrap_or("?"), "a request panicked");
    Failure::new(ErrorKind::Internal, "internal error", "request").into_response()
}
