//! Failures as HTTP answers.
//!
//! Every failure is sent as `application/problem+json` (RFC 9457): `detail` is the sentence for people, `instance` the id
//! of the request; `code`, `operation`, `details`, `retryable` and `hint` are the same in every protocol. The status
//! follows from the code, by the error table.

use std::collections::BTreeMap;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use loci_types::{ERROR_TABLE, Error, ErrorKind, Problem, abbreviate};
use serde::Serialize;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};

/// A failure that becomes an HTTP answer.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    status: StatusCode,
    problem: Box<Problem>,
    /// What strangers do not learn, if the problem had anything of it.
    internals: Option<Box<Internals>>,
    retry_after: Option<u64>,
    /// Whether the metrics have counted it.
    counted: bool,
}

/// What a problem says of files, addresses and the operating system. Only the operator may see it.
#[derive(Debug, Clone)]
struct Internals {
    message: String,
    file: Option<serde_json::Value>,
    hint: Option<String>,
}

/// What went wrong.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// Always `about:blank`; `code` identifies the failure.
    #[serde(rename = "type")]
    sort: &'static str,
    /// The reason phrase of the status.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// The public code, such as `MEMORY_NOT_FOUND`.
    code: String,
    /// What went wrong, as a sentence.
    detail: String,
    /// The id of the request, as in the header `X-Request-ID` and in the server's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<String>,
    /// The operation that failed.
    operation: String,
    /// Further data by name, such as the field or the limit.
    #[schema(value_type = Object)]
    details: BTreeMap<String, serde_json::Value>,
    /// Whether the same call may succeed later.
    retryable: bool,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Failure {
    /// A failure with the status that its code has.
    pub(crate) fn of(problem: Problem) -> Self {
        let (problem, internals) = without_internals(problem);
        let row = ERROR_TABLE.iter().find(|row| row.code == problem.code);
        let status = row.and_then(|row| StatusCode::from_u16(row.status).ok());
        Self {
            status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            problem: Box::new(problem),
            internals: internals.map(Box::new),
            retry_after: None,
            counted: false,
        }
    }

    /// A failure of this kind.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>, operation: &str) -> Self {
        Self::of(Problem::new(kind, message, operation))
    }

    /// The caller has no valid credential.
    pub(crate) fn unknown_caller(message: &str, hint: &str) -> Self {
        Self::new(ErrorKind::Unauthenticated, message, "authenticate").hint(hint)
    }

    /// The same failure of this operation.
    #[must_use]
    pub(crate) fn operation(mut self, operation: &str) -> Self {
        operation.clone_into(&mut self.problem.operation);
        self
    }

    /// The same failure, which the metrics have counted.
    #[must_use]
    pub(crate) fn counted(mut self) -> Self {
        self.counted = true;
        self
    }

    /// The same failure, described otherwise.
    #[must_use]
    pub(crate) fn described(mut self, problem: Problem) -> Self {
        *self.problem = problem;
        self
    }

    /// The same failure with another status.
    #[must_use]
    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// With another message.
    #[must_use]
    pub(crate) fn message(mut self, message: String) -> Self {
        self.problem.message = abbreviate(message);
        self
    }

    /// The same failure, with what to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.problem.hint = Some(abbreviate(hint.into()));
        self
    }

    /// The same failure, with the field that is wrong.
    #[must_use]
    pub(crate) fn field(mut self, field: &str) -> Self {
        self.problem.details.insert("field".to_owned(), abbreviate(field.to_owned()).into());
        self
    }

    /// The same failure of a part of the body: the field, and the sentence that begins with it, are named with the part.
    #[must_use]
    pub(crate) fn within(mut self, part: &str) -> Self {
        let field = self.problem.details.get("field").and_then(serde_json::Value::as_str).unwrap_or("body").to_owned();
        let whole = if field == "body" { part.to_owned() } else { format!("{part}.{field}") };
        if let Some(rest) = self.problem.message.strip_prefix(&format!("{field}: ")) {
            self.problem.message = format!("{whole}: {rest}");
        }
        self.field(&whole)
    }

    /// The same failure, with more about it.
    #[must_use]
    pub(crate) fn detail(mut self, name: &str, value: serde_json::Value) -> Self {
        self.problem.details.insert(name.to_owned(), value);
        self
    }

    /// The same failure, with the seconds after which it is worth trying again.
    #[must_use]
    pub(crate) fn after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self.problem.retryable = true;
        self
    }

    /// The body of the response.
    pub(crate) fn body(self) -> ProblemBody {
        let Self { status, problem, .. } = self;
        ProblemBody {
            sort: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            code: problem.code,
            detail: problem.message,
            instance: None,
            operation: problem.operation,
            details: problem.details,
            retryable: problem.retryable,
            hint: problem.hint,
        }
    }

    /// The problem, for other protocols.
    pub(crate) fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The status.
    pub(crate) fn code(&self) -> StatusCode {
        self.status
    }
}

/// The problem without paths of files, addresses and errors of the operating system, and what it said of them. The whole
/// message goes to the log.
fn without_internals(mut problem: Problem) -> (Problem, Option<Internals>) {
    // A part outside of this process, such as `postgres` or a model.
    if let Some(part) = problem.details.get("part").and_then(serde_json::Value::as_str) {
        let outcome = if problem.retryable { "does not answer" } else { "failed" };
        let message = format!("{part} {outcome}");
        tracing::warn!(code = problem.code, operation = problem.operation, "{}", problem.message);
        let message = std::mem::replace(&mut problem.message, message);
        let hint = problem.hint.clone();
        return (problem, Some(Internals { message, file: None, hint }));
    }
    let Some(file) = problem.details.remove("file") else { return (problem, None) };
    tracing::error!(code = problem.code, operation = problem.operation, "{}", problem.message);
    let message = match problem.code.as_str() {
        "STORE_CORRUPT" => "the stored data cannot be read",
        "STORAGE_UNAVAILABLE" => "the disk is full or cannot be written",
        _ => "the store failed",
    };
    let message = std::mem::replace(&mut problem.message, message.to_owned());
    let hint = problem.hint.replace("see the log of the server".to_owned());
    (problem, Some(Internals { message, file: Some(file), hint }))
}

/// Puts paths of files and addresses back into the body of a failure, for the operator.
pub(crate) fn restore_internals(response: &mut Response) {
    let extensions = response.extensions_mut();
    let (Some(internals), Some(mut body)) = (extensions.remove::<Internals>(), extensions.remove::<ProblemBody>())
    else {
        return;
    };
    body.detail = internals.message;
    body.hint = internals.hint;
    body.details.extend(internals.file.map(|file| ("file".to_owned(), file)));
    *response.body_mut() = body.bytes().into();
}

/// The failure of an operation for an error.
pub(crate) fn to_failure(error: &Error, operation: &str) -> Failure {
    Failure::of(error.problem(operation))
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, retry_after, code) = (self.status, self.retry_after, self.problem.code.clone());
        let counted = self.counted;
        let (whole, internals) = ((*self.problem).clone(), self.internals.clone());
        let body = self.body();
        let mut response = (status, body.bytes()).into_response();
        // The guard adds the id of the request.
        response.extensions_mut().insert(body);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        } else if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::BAD_GATEWAY) {
            headers.insert(RETRY_AFTER, 1.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(Code { name: code, counted });
        // For middleware that writes another form of it.
        response.extensions_mut().insert(whole);
        if let Some(internals) = internals {
            response.extensions_mut().insert(*internals);
        }
        response
    }
}

impl ProblemBody {
    fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Adds the id of the request, its operation and the kind of resource that was not found to the body of a failure.
pub(crate) fn name_request(response: &mut Response, request: &str, operation: &str, route: Option<&str>) {
    let Some(mut body) = response.extensions_mut().remove::<ProblemBody>() else { return };
    body.instance = Some(request.to_owned());
    if route.is_some() {
        body.operation = operation.to_owned();
        // OpenSpec writes its own body from this.
        if let Some(problem) = response.extensions_mut().get_mut::<Problem>() {
            problem.operation = operation.to_owned();
        }
    }
    if let Some(resource) = route.and_then(|route| resource_of(route, &body)) {
        body.code = "NOT_FOUND".to_owned();
        body.details.insert("resource".to_owned(), resource.into());
    }
    *response.body_mut() = body.bytes().into();
    response.extensions_mut().insert(body);
}

/// Returns the kind of resource that the route names and that was not found, unless it is a memory.
fn resource_of<'a>(route: &'a str, problem: &ProblemBody) -> Option<&'a str> {
    let field = problem.details.get("field").and_then(serde_json::Value::as_str).unwrap_or_default();
    if problem.code != ErrorKind::NotFound.code() || matches!(field, "memoryId" | "other" | "sources") {
        return None;
    }
    if route.starts_with("/mcp/") {
        return Some("profiles");
    }
    let path = route.strip_prefix("/v1/")?;
    let path = path.strip_prefix("admin/").unwrap_or(path);
    let resource = path.split('/').next()?;
    (!matches!(resource, "memories" | "consents" | "recall")).then_some(resource)
}

/// The public code of a failure, for the log of requests and the metrics.
#[derive(Debug, Clone)]
pub(crate) struct Code {
    pub(crate) name: String,
    /// Whether the metrics have counted the failure.
    pub(crate) counted: bool,
}

/// The failures that every operation may return, for the published description.
pub(crate) struct Failures;

impl utoipa::IntoResponses for Failures {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let statuses = [
            (400, "A field is malformed, out of range or missing; `details.field` names it"),
            (401, "No credential, or an invalid one"),
            (403, "The credential does not allow this"),
            (404, "Not found, or not visible to the caller"),
            (405, "Method not allowed"),
            (409, "The resource has changed since it was read, or the same request is being processed"),
            (413, "Too long or too large"),
            (415, "The body is not JSON"),
            (429, "Too many requests; `Retry-After` gives the number of seconds to wait"),
            (500, "Internal error, or a store that cannot be read"),
            (502, "A model behind Loci failed"),
            (503, "The store, or a service behind Loci, failed, or the request took too long"),
            (507, "The disk is full or cannot be written"),
        ];
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let response = |about: &str| {
            ResponseBuilder::new().description(about).content("application/problem+json", content.clone()).build()
        };
        statuses.into_iter().map(|(status, about)| (status.to_string(), RefOr::T(response(about)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_status_and_retryable_ones_say_when() {
        for row in ERROR_TABLE {
            let response = Failure::new(row.kind, "it failed", "test").into_response();
            assert_eq!(response.status().as_u16(), row.status, "{}", row.code);
            assert_eq!(response.headers()[CONTENT_TYPE], "application/problem+json");
        }
        // attack B21: addresses and errors of the operating system were shown.
        let mut away = Problem::new(
            ErrorKind::Provider,
            "postgres does not answer: connection to db.internal: Connection refused (os error 111)".to_owned(),
            "test",
        );
        away.details.insert("part".to_owned(), "postgres".into());
        let mut response = Failure::of(away).into_response();
        let shown = response.extensions().get::<ProblemBody>().map(|body| body.detail.clone());
        assert_eq!(shown.as_deref(), Some("postgres does not answer"));
        restore_internals(&mut response);
        let limited = Failure::new(ErrorKind::RateLimited, "too many", "test").after(3).into_response();
        assert_eq!(limited.headers()[RETRY_AFTER], "3");
        let unknown = Failure::unknown_caller("who?", "show a key").into_response();
        assert_eq!(
            (unknown.status(), unknown.headers().contains_key(WWW_AUTHENTICATE)),
            (StatusCode::UNAUTHORIZED, true)
        );
    }
}
