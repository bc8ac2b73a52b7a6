//! Idempotent writes: a request that is repeated with the same `Idempotency-Key` gets the stored answer.
//!
//! A key belongs to one credential and one request. A request is completed and its answer stored even if the client
//! disconnects, because that is when clients repeat it. A stored answer never contains the content of memories, so that
//! an erasure is complete.

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CONTENT_TYPE, ETAG, IF_MATCH, LOCATION};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use loci_engine::{KeyedRequest, RequestStart, StoredAnswer};
use loci_types::{ErrorKind, Problem};
use serde_json::Value;
use tracing::Instrument;
use utoipa::openapi::path::{ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{OpenApi, RefOr, Required};

use crate::failure::Failure;
use crate::guard::Principal;
use crate::{App, openspec};

/// The header with the key.
const KEY: &str = "Idempotency-Key";
/// The header that marks a stored answer.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// Answers a repeated request with the stored answer.
pub(crate) async fn once(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    // The router refuses methods that the path does not have.
    if !stores_answer(&request) || !app.access.knows(request.method(), route) {
        return next.run(request).await;
    }
    answer(app, request, next).await.unwrap_or_else(IntoResponse::into_response)
}

/// Paths whose answers are not stored: reads by POST, which may be repeated, and answers with a secret, which is stored
/// nowhere. Each includes the paths below it.
const EXCLUDED: [&str; 10] = [
    "/v1/recall",
    "/v1/memories/search",
    "/v1/memories/count",
    "/v1/summaries",
    "/v1/working/search",
    "/v1/maintenance",
    "/v1/keys",
    "/v1/webhooks",
    "/v1/import",
    "/v1/admin/tenants",
];

/// Whether the answer to this request is stored.
pub(crate) fn stores_answer(request: &Request) -> bool {
    is_write(request.method(), request.uri().path()) && request.headers().contains_key(KEY)
}

fn is_write(method: &Method, path: &str) -> bool {
    let writes = matches!(*method, Method::POST | Method::PUT | Method::PATCH | Method::DELETE);
    let excluded =
        EXCLUDED.iter().any(|one| path.strip_prefix(one).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    let included = path.starts_with("/v1/") || openspec::is_openspec_path(path) && !path.ends_with("/query");
    writes && included && !excluded
}

async fn answer(app: Arc<App>, request: Request, next: Next) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    let key = key(&parts.headers)?;
    let principal = parts.extensions.get::<Principal>().cloned();
    let principal =
        principal.ok_or_else(|| Failure::new(ErrorKind::Internal, "the request did not pass the guard", "request"))?;
    let caller = principal.own_caller("request")?;
    let timeout = std::time::Duration::from_secs(app.options.server.request_seconds);
    let late = |_| Failure::new(ErrorKind::Provider, "the request took too long", "request");
    let read = tokio::time::timeout(timeout, to_bytes(body, app.options.server.body_bytes));
    let body = read.await.map_err(late)?.map_err(|_| {
        Failure::new(ErrorKind::InvalidInput, "the body is too large or incomplete", "read the request")
            .field("body")
            .hint("send less at once")
            .status(StatusCode::PAYLOAD_TOO_LARGE)
    })?;
    let mut hasher = blake3::Hasher::new();
    for part in [parts.method.as_str(), parts.uri.path(), parts.uri.query().unwrap_or_default()] {
        hasher.update(part.as_bytes()).update(&[0]);
    }
    let expected = parts.headers.get(IF_MATCH).map(HeaderValue::as_bytes).unwrap_or_default();
    hasher.update(expected).update(&[0]);
    let fingerprint = *hasher.update(&body).finalize().as_bytes();
    let begun = app.engine.begin_request(&caller, &key, &fingerprint).await;
    let begun = match begun.map_err(|error| Failure::of(error.problem("request")))? {
        RequestStart::Execute(begun) => begun,
        RequestStart::Answered(kept) => return Ok(replayed(kept)),
        RequestStart::Running => {
            return Err(Failure::new(ErrorKind::Conflict, "the same request is being processed", "request")
                .field(KEY)
                .hint("repeat the request later to get its answer")
                .after(1));
        }
    };
    let request = Request::from_parts(parts, Body::from(body));
    // In a separate task, so that a client that disconnects does not cancel it.
    let work = async move {
        let response = app.engine.execute_request(&begun, next.run(request)).await;
        store_answer(&app, &begun, response).await
    };
    let done = tokio::spawn(work.in_current_span());
    // Only the waiting ends, not the work: the answer is stored for when the request is repeated.
    let Ok(done) = tokio::time::timeout(timeout, done).await else {
        return Err(Failure::new(ErrorKind::Provider, "the request took too long", "request")
            .hint("repeat the request with the same key later to get its answer")
            .after(5));
    };
    match done {
        Ok(response) => Ok(response),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Failure::new(ErrorKind::Internal, "the request was cancelled", "request")),
        },
    }
}

fn key(headers: &HeaderMap) -> Result<String, Failure> {
    let mut keys = headers.get_all(KEY).iter();
    match (keys.next().and_then(|key| key.to_str().ok()), keys.next()) {
        (Some(key), None) => Ok(key.to_owned()),
        _ => Err(Failure::new(
            ErrorKind::InvalidInput,
            format!("{KEY} must be one value of printable ASCII characters"),
            "request",
        )
        .field(KEY)
        .hint("use a random UUID")),
    }
}

/// Stores a final answer, whatever its size; after any other the key may be used again. An answer that cannot be stored
/// is returned all the same: the claim of the request lapses, and what it has written is not written again.
async fn store_answer(app: &App, request: &KeyedRequest, response: Response) -> Response {
    let status = response.status();
    let (response, answer) = if is_final(status) {
        let (parts, body) = response.into_parts();
        let Ok(bytes) = to_bytes(body, usize::MAX).await else {
            return Failure::new(ErrorKind::Internal, "the answer is incomplete", "request").into_response();
        };
        let location = parts.headers.get(LOCATION).and_then(|place| place.to_str().ok()).map(str::to_owned);
        let parsed = if bytes.is_empty() { Some(Value::Null) } else { serde_json::from_slice(&bytes).ok() };
        let answer = parsed.map(|mut body| {
            strip_content(&mut body);
            StoredAnswer { status: status.as_u16(), body, location }
        });
        (Response::from_parts(parts, Body::from(bytes)), answer)
    } else {
        (response, None)
    };
    if let Err(error) = app.engine.end_request(request, answer).await {
        tracing::warn!(%error, "the answer to a request with an idempotency key was not stored");
    }
    response
}

/// Removes the content of memories from the body of an answer, so that erased content cannot be returned from here.
fn strip_content(body: &mut Value) {
    match body.get("entry") {
        Some(_) => strip_openspec_content(body),
        None => *body = outcome_of(std::mem::take(body)),
    }
}

/// Members whose texts are chosen by Loci and contain nothing of the stored content.
const OUTCOMES: [&str; 13] = [
    "id",
    "memoryId",
    "poolId",
    "userId",
    "entry_id",
    "operation_id",
    "event",
    "done",
    "status",
    "code",
    "redacted",
    "degraded",
    "durability",
];
/// Members that hold several outcomes.
const LISTS: [&str; 8] = ["data", "failed", "error", "learned", "writes", "results", "entries", "errors"];

/// The outcome in a body: ids, events, versions, counts. An object in `data` is the resource itself and becomes
/// null.
fn outcome_of(body: Value) -> Value {
    let Value::Object(fields) = body else { return Value::Null };
    let kept = fields.into_iter().filter_map(|(name, value)| {
        let value = match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
            Value::Object(_) if name == "data" => Value::Null,
            Value::Object(problem) if name == "error" => strip_problem(problem),
            Value::Object(_) if LISTS.contains(&name.as_str()) => outcome_of(value),
            Value::Array(entries) if LISTS.contains(&name.as_str()) => {
                entries.into_iter().filter_map(outcome_in_list).collect()
            }
            Value::String(_) | Value::Array(_) if OUTCOMES.contains(&name.as_str()) => value,
            // It may quote the request; the code beside it says what went wrong.
            Value::String(_) if name == "message" => "this is the answer to an earlier request; see `code`".into(),
            _ => return None,
        };
        Some((name, value))
    });
    Value::Object(kept.collect())
}

/// A failure in an answer, with its title in the place of its sentence, which may quote the request.
fn strip_problem(mut problem: serde_json::Map<String, Value>) -> Value {
    problem.retain(|name, _| !matches!(name.as_str(), "hint" | "instance"));
    for (name, plain) in
        [("detail", problem.get("title").cloned().unwrap_or_default()), ("details", serde_json::json!({}))]
    {
        if problem.contains_key(name) {
            problem.insert(name.to_owned(), plain);
        }
    }
    Value::Object(problem)
}

/// An entry of a list of outcomes: an outcome, or an id.
fn outcome_in_list(entry: Value) -> Option<Value> {
    match entry {
        Value::Object(_) => Some(outcome_of(entry)),
        Value::String(text) if uuid::Uuid::try_parse(&text).is_ok() => Some(text.into()),
        _ => None,
    }
}

/// Members of an entry of OpenSpec that are stored.
const OPENSPEC_ENTRY: [&str; 8] =
    ["id", "version", "layer", "kind", "access_policy", "metadata", "created_at", "updated_at"];

/// The same for an entry of OpenSpec, some of whose fields are required.
fn strip_openspec_content(body: &mut Value) {
    let Some(Value::Object(entry)) = body.get_mut("entry") else { return };
    entry.retain(|name, _| OPENSPEC_ENTRY.contains(&name.as_str()));
    if let Some(Value::Object(metadata)) = entry.get_mut("metadata") {
        // Scores do not reveal the content.
        metadata.retain(|name, _| matches!(name.as_str(), "tags" | "custom" | "confidence" | "importance"));
        metadata.insert("tags".to_owned(), Value::Array(Vec::new()));
        metadata.insert("custom".to_owned(), Value::Object(serde_json::Map::new()));
    }
}

/// Whether an answer with this status is stored: only successes. A refused request changed nothing and would be refused
/// again, and the sentence of a failure may quote the request.
fn is_final(status: StatusCode) -> bool {
    // A write that was only accepted may still be lost; a repeated request must not report it as done.
    status.is_success() && status != StatusCode::ACCEPTED
}

fn replayed(kept: StoredAnswer) -> Response {
    let status = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::OK);
    let version = kept.body.get("version").and_then(Value::as_u64);
    let problem = status.is_client_error().then(|| serde_json::from_value::<Problem>(kept.body.clone()).ok()).flatten();
    let mut response = match (problem, kept.body) {
        (Some(problem), _) => Failure::of(problem).status(status).into_response(),
        (None, Value::Null) => status.into_response(),
        (None, body) => (status, Json(body)).into_response(),
    };
    if response.headers().get(CONTENT_TYPE).is_none() && status == StatusCode::NO_CONTENT {
        *response.body_mut() = Body::empty();
    }
    if let Some(tag) = version.and_then(|version| HeaderValue::from_str(&format!("\"{version}\"")).ok()) {
        response.headers_mut().insert(ETAG, tag);
    }
    if let Some(place) = kept.location.and_then(|place| HeaderValue::from_str(&place).ok()) {
        response.headers_mut().insert(LOCATION, place);
    }
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

/// Adds the header to the description of every operation that supports it.
pub(crate) fn describe(description: &mut OpenApi) {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(255))
        .pattern(Some("^[!-~]+$"))
        .build();
    let header = ParameterBuilder::new()
        .name(KEY)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Identifies the request. If it is repeated with the same key within a day, it is not executed again but \
             answered with the stored answer and `Idempotent-Replayed: true`",
        ))
        .schema(Some(text))
        .build();
    for (path, item) in &mut description.paths.paths {
        if !is_write(&Method::POST, path) {
            continue;
        }
        for operation in [&mut item.post, &mut item.put, &mut item.patch, &mut item.delete].into_iter().flatten() {
            operation.parameters.get_or_insert_default().push(RefOr::T(header.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_final_answers_of_writes_are_stored() {
        for (method, path, expect) in [
            (Method::POST, "/v1/memories", true),
            (Method::GET, "/v1/memories", false),
            (Method::DELETE, "/api/v1/knowledge/x", true),
            (Method::PUT, "/openspec/v1/knowledge/x", true),
            (Method::POST, "/mcp", false),
            (Method::POST, "/v1x", false),
            (Method::POST, "/v1/recall", false),
            (Method::POST, "/v1/recall/batch", false),
            (Method::POST, "/memory.query", false),
            (Method::POST, "/v1/keys", false),
            (Method::POST, "/v1/keys/a/rotate", false),
            (Method::POST, "/v1/memories/search", false),
            (Method::POST, "/v1/memories/delete", true),
            (Method::POST, "/v1/summaries", false),
            (Method::POST, "/v1/working/search", false),
            (Method::POST, "/memory.query", false),
            (Method::POST, "/v1/entities/x/merge", true),
            (Method::POST, "/v1/admin/erasures", true),
            (Method::POST, "/openspec/v1/knowledge/query", false),
        ] {
            assert_eq!(is_write(&method, path), expect, "{method} {path}");
        }
        for (status, expect) in [
            (200, true),
            (201, true),
            (400, false),
            (404, false),
            (409, false),
            (401, false),
            (403, false),
            (429, false),
            (503, false),
        ] {
            assert_eq!(is_final(StatusCode::from_u16(status).unwrap()), expect, "{status}");
        }
    }

    #[test]
    fn what_is_kept_has_no_words() {
        let mut body = json!({
            "status": "created",
            "entry": {
                "id": "a", "version": 1, "content": "sesame", "source": { "type": "sesame" },
                "metadata": { "title": "sesame", "tags": ["sesame"], "importance": 0.5, "custom": { "a": "sesame" } }
            }
        });
        strip_content(&mut body);
        assert!(!body.to_string().contains("sesame"), "{body}");
        assert_eq!(
            (&body["entry"]["id"], &body["entry"]["version"], &body["status"]),
            (&"a".into(), &1.into(), &"created".into())
        );
        assert_eq!(body["entry"]["metadata"]["importance"], 0.5);
        let id = "0194fdc2-fa2f-7fc0-b1d3-aa2ca9a4f2f0";
        for (mut body, kept) in [
            (
                json!({ "id": id, "event": "ADD", "version": 1, "redacted": ["email"], "degraded": [], "data": { "content": "sesame" } }),
                json!({ "id": id, "event": "ADD", "version": 1, "redacted": ["email"], "degraded": [], "data": null }),
            ),
            (
                json!({
                    "data": [
                        { "index": 0, "id": id, "event": "ADD", "more": { "sesame": 1 } },
                        { "index": 1, "error": { "code": "INVALID_INPUT", "title": "Bad Request", "detail": "sesame", "details": { "sesame": 1 }, "hint": "sesame" } }
                    ],
                    "succeeded": 1, "failed": 1
                }),
                json!({
                    "data": [
                        { "index": 0, "id": id, "event": "ADD" },
                        { "index": 1, "error": { "code": "INVALID_INPUT", "title": "Bad Request", "detail": "Bad Request", "details": {} } }
                    ],
                    "succeeded": 1, "failed": 1
                }),
            ),
            (
                json!({ "matched": 2, "dryRun": false, "data": [id, "sesame"], "failed": [{ "id": id, "error": { "title": "Conflict", "detail": "sesame" } }] }),
                json!({ "matched": 2, "dryRun": false, "data": [id], "failed": [{ "id": id, "error": { "title": "Conflict", "detail": "Conflict" } }] }),
            ),
            (
                json!({ "operation_id": "r1", "status": "partial", "results": {
                    "succeeded": 1, "failed": 1, "skipped": 0,
                    "entries": [{ "index": 0, "entry_id": id, "version": 1, "status": "created" }],
                    "errors": [{ "index": 1, "code": "INVALID_INPUT", "message": "sesame" }]
                } }),
                json!({ "operation_id": "r1", "status": "partial", "results": {
                    "succeeded": 1, "failed": 1, "skipped": 0,
                    "entries": [{ "index": 0, "entry_id": id, "version": 1, "status": "created" }],
                    "errors": [{
                        "index": 1, "code": "INVALID_INPUT", "message": "this is the answer to an earlier request; see `code`"
                    }]
                } }),
            ),
            (json!({ "summary": "sesame", "tokens": 7, "memories": ["sesame"] }), json!({ "tokens": 7 })),
            (json!("sesame"), json!(null)),
        ] {
            strip_content(&mut body);
            assert_eq!(body, kept);
        }
    }
}
