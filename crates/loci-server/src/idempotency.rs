//! Was this request sent before?
//!
//! Whoever does not know whether a write arrived sends it again with the same `Idempotency-Key`, and is
//! given the first answer. A key belongs to its credential and to one request. What has begun is
//! finished and its answer kept even if the caller has gone: that is when it comes again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CONTENT_TYPE, ETAG, IF_MATCH, LOCATION};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use loci_engine::{Caller, StoredAnswer};
use loci_types::{ErrorKind, Problem};
use serde_json::Value;
use tracing::Instrument;
use utoipa::openapi::path::{ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{OpenApi, RefOr, Required};

use crate::failure::Failure;
use crate::guard::Who;
use crate::{App, openspec};

/// The header with the key.
const KEY: &str = "Idempotency-Key";
/// The header of an answer that was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// The largest answer that is kept, in bytes.
const LARGEST: u64 = 64 << 10;

type Fingerprint = [u8; 32];

/// The requests with a key that are under way in this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnderWay(Arc<Mutex<HashMap<(String, String), Fingerprint>>>);

/// One of them, until it is dropped.
#[derive(Debug)]
struct Begun {
    all: UnderWay,
    name: (String, String),
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}

impl UnderWay {
    fn begin(&self, who: &Who, key: &str, fingerprint: Fingerprint) -> Result<Begun, Failure> {
        let name = (who.name().to_owned(), key.to_owned());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get(&name) {
            None => {
                all.insert(name.clone(), fingerprint);
                Ok(Begun { all: self.clone(), name })
            }
            Some(other) if *other == fingerprint => {
                Err(Failure::new(ErrorKind::Conflict, "the same request is under way", "request")
                    .field(KEY)
                    .hint("ask again a little later: then its answer is given")
                    .after(1))
            }
            Some(_) => {
                let message = format!("{KEY} `{key}` was used for another request");
                Err(Failure::new(ErrorKind::InvalidInput, message, "request")
                    .field(KEY)
                    .hint("use a new key for each request, and the same only to send one again"))
            }
        }
    }
}

/// Gives a request that comes again the answer it was given.
pub(crate) async fn once(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    // Another method than the path has is for the router to refuse.
    if !is_kept(&request) || !app.access.knows(request.method(), route) {
        return next.run(request).await;
    }
    answer(app, request, next).await.unwrap_or_else(IntoResponse::into_response)
}

/// Paths whose answers are not kept: reads that are sent by POST and may be repeated, and answers with a secret, which is
/// not kept anywhere. Each stands for the paths below it as well.
const PASSED: [&str; 10] = [
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

/// Whether this request is one whose answer is kept.
pub(crate) fn is_kept(request: &Request) -> bool {
    is_meant(request.method(), request.uri().path()) && request.headers().contains_key(KEY)
}

fn is_meant(method: &Method, path: &str) -> bool {
    let writes = matches!(*method, Method::POST | Method::PUT | Method::PATCH | Method::DELETE);
    let passed =
        PASSED.iter().any(|one| path.strip_prefix(one).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    let here = path.starts_with("/v1/") || openspec::is_here(path) && !path.ends_with("/query");
    writes && here && !passed
}

async fn answer(app: Arc<App>, request: Request, next: Next) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    let key = key(&parts.headers)?;
    let who = parts.extensions.get::<Who>().cloned();
    let who = who.ok_or_else(|| Failure::new(ErrorKind::Internal, "the request did not pass the guard", "request"))?;
    let caller = who.alone("request")?;
    let patience = std::time::Duration::from_secs(app.options.server.request_seconds);
    let late = |_| Failure::new(ErrorKind::Provider, "the request took too long", "request");
    let read = tokio::time::timeout(patience, to_bytes(body, app.options.server.body_bytes));
    let body = read.await.map_err(late)?.map_err(|_| {
        Failure::new(ErrorKind::InvalidInput, "the body is too large, or was cut off", "read the request")
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
    let begun = app.under_way.begin(&who, &key, fingerprint)?;
    let kept = app.engine.answered(&caller, &key, &fingerprint).await;
    if let Some(kept) = kept.map_err(|error| Failure::of(error.problem("request")))? {
        return Ok(replayed(kept));
    }
    let request = Request::from_parts(parts, Body::from(body));
    // In a task of its own: a caller who goes away does not stop it half way.
    let work = async move {
        let response = next.run(request).await;
        let response = keep(&app, &caller, &key, &fingerprint, response).await;
        drop(begun);
        response
    };
    let done = tokio::spawn(work.in_current_span());
    // It is the waiting that ends, not the work: the answer is there when the request comes again.
    let Ok(done) = tokio::time::timeout(patience, done).await else {
        return Err(Failure::new(ErrorKind::Provider, "the request took too long", "request")
            .hint("ask again with the same key a little later: then its answer is given")
            .after(5));
    };
    match done {
        Ok(response) => Ok(response),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Failure::new(ErrorKind::Internal, "the request was ended", "request")),
        },
    }
}

fn key(headers: &HeaderMap) -> Result<String, Failure> {
    let mut keys = headers.get_all(KEY).iter();
    match (keys.next().and_then(|key| key.to_str().ok()), keys.next()) {
        (Some(key), None) => Ok(key.to_owned()),
        _ => Err(Failure::new(ErrorKind::InvalidInput, format!("{KEY} must be one word of ASCII"), "request")
            .field(KEY)
            .hint("a random UUID will do")),
    }
}

/// Keeps an answer that would be the same again. One that cannot be kept is given all the same.
async fn keep(app: &App, caller: &Caller, key: &str, fingerprint: &Fingerprint, response: Response) -> Response {
    let status = response.status();
    let small = response.body().size_hint().upper().is_some_and(|bytes| bytes <= LARGEST);
    if !lasts(status) || !small {
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, LARGEST as usize).await else {
        return Failure::new(ErrorKind::Internal, "the answer was cut off", "request").into_response();
    };
    let location = parts.headers.get(LOCATION).and_then(|place| place.to_str().ok()).map(str::to_owned);
    let told = if bytes.is_empty() { Some(Value::Null) } else { serde_json::from_slice(&bytes).ok() };
    if let Some(mut body) = told {
        without_words(&mut body);
        let answer = StoredAnswer { status: status.as_u16(), body, location };
        if let Err(error) = app.engine.keep_answer(caller, key, fingerprint, answer).await {
            tracing::warn!(%error, "an answer was not kept for when its request comes again");
        }
    }
    Response::from_parts(parts, Body::from(bytes))
}

/// Removes the words from the body of an answer: what is erased must not come back from here.
fn without_words(body: &mut Value) {
    match body.get("entry") {
        Some(_) => openspec_without_words(body),
        None => *body = outcome_of(std::mem::take(body)),
    }
}

/// Members whose texts are chosen by Loci and say nothing of what is stored.
const OUTCOMES: [&str; 8] = ["id", "memoryId", "event", "status", "code", "redacted", "degraded", "durability"];
/// Members that hold several outcomes.
const LISTS: [&str; 4] = ["data", "failed", "error", "learned"];

/// The outcome that a body tells: ids, events, versions, counts. An object in `data` is the resource itself and becomes
/// null.
fn outcome_of(body: Value) -> Value {
    let Value::Object(fields) = body else { return Value::Null };
    let kept = fields.into_iter().filter_map(|(name, value)| {
        let value = match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
            Value::Object(_) if name == "data" => Value::Null,
            Value::Object(problem) if name == "error" => problem_without_words(problem),
            Value::Object(_) if LISTS.contains(&name.as_str()) => outcome_of(value),
            Value::Array(entries) if LISTS.contains(&name.as_str()) => {
                entries.into_iter().filter_map(outcome_in_list).collect()
            }
            Value::String(_) | Value::Array(_) if OUTCOMES.contains(&name.as_str()) => value,
            _ => return None,
        };
        Some((name, value))
    });
    Value::Object(kept.collect())
}

/// A failure in an answer, with the words of its title in the place of its own, which may quote what was sent.
fn problem_without_words(mut problem: serde_json::Map<String, Value>) -> Value {
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

/// The same for an entry of OpenSpec, whose answers have fields that must be there.
fn openspec_without_words(body: &mut Value) {
    let Some(Value::Object(entry)) = body.get_mut("entry") else { return };
    entry.retain(|name, _| name != "content" && name != "source" && name != "embedding");
    if let Some(Value::Object(metadata)) = entry.get_mut("metadata") {
        // Scores say nothing of the content.
        metadata.retain(|name, _| matches!(name.as_str(), "tags" | "custom" | "confidence" | "importance"));
        metadata.insert("tags".to_owned(), Value::Array(Vec::new()));
        metadata.insert("custom".to_owned(), Value::Object(serde_json::Map::new()));
    }
}

/// Whether an answer is kept: what was done. What was refused changed nothing, would be refused again,
/// and its words may repeat what was sent.
fn lasts(status: StatusCode) -> bool {
    // What was only accepted may be lost yet; whoever asks again then must not be told that it is there.
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

/// Tells of the header at every operation that heeds it.
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
            "Names the request. Sent again with the same key within a day, it is not done again but given its first \
             answer, with `Idempotent-Replayed: true`",
        ))
        .schema(Some(text))
        .build();
    for (path, item) in &mut description.paths.paths {
        if !is_meant(&Method::POST, path) {
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
    fn only_writes_are_meant_and_only_lasting_answers_kept() {
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
            assert_eq!(is_meant(&method, path), expect, "{method} {path}");
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
            assert_eq!(lasts(StatusCode::from_u16(status).unwrap()), expect, "{status}");
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
        without_words(&mut body);
        assert!(!body.to_string().contains("sesame"), "{body}");
        assert_eq!(
            (&body["entry"]["id"], &body["entry"]["version"], &body["status"]),
            (&"a".into(), &1.into(), &"created".into())
        );
        assert_eq!(body["entry"]["metadata"]["importance"], 0.5);
        let id = "0194fdc2-fa2f-7fc0-b1d3-aa2ca9a4f2f0";
        for (mut told, kept) in [
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
            (json!({ "summary": "sesame", "tokens": 7, "memories": ["sesame"] }), json!({ "tokens": 7 })),
            (json!("sesame"), json!(null)),
        ] {
            without_words(&mut told);
            assert_eq!(told, kept);
        }
    }

    #[test]
    fn one_key_is_one_request_at_a_time() {
        let (all, who) = (UnderWay::default(), Who::operator());
        let begun = all.begin(&who, "k", [1; 32]).unwrap();
        let again = all.begin(&who, "k", [1; 32]).unwrap_err();
        assert_eq!((again.code().as_u16(), again.problem().retryable), (409, true));
        assert_eq!(all.begin(&who, "k", [2; 32]).unwrap_err().code().as_u16(), 400);
        assert!(all.begin(&who, "other", [2; 32]).is_ok());
        drop(begun);
        assert!(all.begin(&who, "k", [2; 32]).is_ok());
    }
}
