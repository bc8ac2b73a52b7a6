//! Short ids in paths.
//!
//! A short id is looked up within the scope of the request, and the scope of a request with a body is part of the body.
//! This layer reads it before the handler does, but only where the path holds a short id: a request with a whole id
//! passes untouched.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use loci_types::{MemoryId, RequestScope};

use crate::App;
use crate::extract::{body_failure, scope_of, scope_of_query};

/// The beginnings of the routes whose `{id}` is the id of a memory.
const ROUTES: [&str; 2] = ["/v1/memories/{id}", "/v1/consents/{id}"];

/// The scope and the operation of a request whose path holds a short id.
#[derive(Debug, Clone)]
pub(crate) struct PathScope {
    pub(crate) asked: RequestScope,
    pub(crate) operation: String,
}

/// Adds a [`PathScope`] to a request whose path holds a short id.
pub(crate) async fn read_scope(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let Some(route) = short_id_route(&request) else { return next.run(request).await };
    let operation = app.access.operation(request.method(), Some(&route));
    let (mut parts, body) = request.into_parts();
    let (asked, body) = if matches!(parts.method, Method::GET | Method::DELETE) {
        match scope_of_query(&parts.uri) {
            Ok(asked) => (asked, body),
            Err(failure) => return failure.into_response(),
        }
    } else {
        // Read as a handler reads it, within the size that is allowed.
        match Bytes::from_request(Request::from_parts(parts.clone(), body), &()).await {
            Ok(bytes) => (scope_of(&bytes), Body::from(bytes)),
            Err(rejection) => return body_failure(rejection).into_response(),
        }
    };
    parts.extensions.insert(PathScope { asked, operation });
    next.run(Request::from_parts(parts, body)).await
}

/// Returns the route of a request if its `{id}` is the id of a memory and not a whole one.
fn short_id_route(request: &Request) -> Option<String> {
    let route = request.extensions().get::<MatchedPath>()?.as_str();
    let prefix = ROUTES.into_iter().find(|prefix| route.starts_with(prefix))?;
    let place = prefix.split('/').count() - 1;
    let id = request.uri().path().split('/').nth(place)?;
    id.parse::<MemoryId>().is_err().then(|| route.to_owned())
}
