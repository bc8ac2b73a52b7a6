//! Failures in the form that OpenSpec defines.
//!
//! Codes and statuses are the same as elsewhere. A middleware outside of all others rewrites the failures, so that those of
//! the guard, of limits and of panics have the same form.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use loci_types::Problem;
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use super::{ALIAS, ROOT};
use crate::App;
use crate::failure;
use crate::guard::REQUEST_ID;

/// A failure.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecFailure)]
pub(super) struct FailureBody {
    /// What went wrong.
    error: ErrorBody,
    /// The id of the request.
    #[schema(required)]
    request_id: Option<String>,
    /// The time of the failure.
    timestamp: Timestamp,
}

/// What went wrong.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecError)]
struct ErrorBody {
    /// The public code, such as `MEMORY_NOT_FOUND`.
    code: String,
    /// What went wrong, as a sentence.
    message: String,
    /// The operation that failed.
    operation: String,
    /// Further data by name, such as the field or the limit.
    #[schema(value_type = Object)]
    details: BTreeMap<String, Value>,
    /// Whether the same call may succeed later.
    retryable: bool,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Whether a path belongs to OpenSpec.
pub(crate) fn is_openspec_path(path: &str) -> bool {
    let under = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    under(ROOT) || under(ALIAS)
}

/// Rewrites failures under the paths of OpenSpec.
pub(crate) async fn rewrite_failures(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let ours = is_openspec_path(request.uri().path());
    let response = next.run(request).await;
    let failed = response.extensions().get::<Problem>().cloned();
    match failed {
        Some(problem) if ours => rewrite(response, problem, app.engine.now()),
        _ => response,
    }
}

fn rewrite(response: Response, mut problem: Problem, timestamp: Timestamp) -> Response {
    if let Some(Value::String(field)) = problem.details.get_mut("field") {
        *field = snake(field);
    }
    let (mut parts, _) = response.into_parts();
    let request_id = parts.headers.get(&REQUEST_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
    for name in [CONTENT_LENGTH, CONTENT_ENCODING, CONTENT_TYPE] {
        parts.headers.remove(name);
    }
    let Problem { code, message, operation, details, retryable, hint } = problem;
    let error = ErrorBody { code, message, operation, details, retryable, hint };
    let mut rewritten = Json(FailureBody { error, request_id, timestamp }).into_response();
    *rewritten.status_mut() = parts.status;
    rewritten.headers_mut().extend(parts.headers);
    rewritten
}

/// The name of a field in snake_case. Names of headers stay.
fn snake(field: &str) -> String {
    if field.contains('-') || matches!(field, "Host" | "Origin") {
        return field.to_owned();
    }
    let mut name = String::with_capacity(field.len() + 4);
    for letter in field.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// The failures that every operation may return, for the published description.
pub(super) struct FailureResponses;

impl IntoResponses for FailureResponses {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("OpenSpecFailure"))).build();
        let plain = failure::Failures::responses();
        let rewrite = |about: RefOr<utoipa::openapi::Response>| match about {
            RefOr::T(response) => {
                let response_builder = ResponseBuilder::new().description(response.description);
                RefOr::T(response_builder.content("application/json", content.clone()).build())
            }
            other => other,
        };
        plain.into_iter().map(|(status, about)| (status, rewrite(about))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_as_they_are_written_here() {
        for (engine, here) in [
            ("userId", "user_id"),
            ("content", "content"),
            ("If-Match", "If-Match"),
            // attack B21: it was `_host`.
            ("Host", "Host"),
            ("options.limit", "options.limit"),
        ] {
            assert_eq!(snake(engine), here);
        }
    }

    #[test]
    fn only_our_own_paths_are_ours() {
        for (path, expect) in [
            ("/openspec/v1/knowledge", true),
            ("/api/v1/knowledge/query", true),
            ("/openspec/v1/knowledges", false),
            ("/v1/memories", false),
        ] {
            assert_eq!(is_openspec_path(path), expect, "{path}");
        }
    }
}
