//! Memories: adding, reading, changing, deleting and restoring one.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::{ETAG, HeaderName, IF_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use loci_engine::{Caller, NewMemory, Update};
use loci_types::{Durability, ErrorKind, Identifiers, Memory, MemoryRef, Outcome, Receipt};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::write::{Prefer, PreferHeader, Write, read_back};
use super::{IdentifierParams, NoParams};
use crate::App;
use crate::extract::{Id, MaybeScoped, NoFields, Scoped, ScopedParams};
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The routes of memories.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(add))
        .routes(routes!(get, change, delete))
        .routes(routes!(restore))
        .routes(routes!(flush))
}

/// Adds a memory.
///
/// It is compared with what its scope knows: a memory that is known already is not added again, and one that replaces
/// an older memory supersedes it, unless `asIs` is set. The memory is durable when the response is sent, unless
/// `durability` is `batched`: then it has been checked and has its id, but is written, and compared with what is known,
/// at most a second later.
#[utoipa::path(
    post, path = "/v1/memories", operation_id = "addMemory", tag = "memories",
    params(PreferHeader),
    request_body(content = Scoped<NewMemory>, example = json!({
        "content": "Ann prefers tea in the morning.", "identifiers": { "userId": "ann" }, "tags": ["drinks"]
    })),
    responses(
        (status = 201, description = "The memory is new", body = Write<Memory>),
        (status = 200, description = "The memory existed already", body = Write<Memory>),
        (status = 202, description = "The memory will be written soon", body = Write<Memory>),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn add(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    Scoped { scope, body }: Scoped<NewMemory>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "addMemory")?;
    if body.durability == Some(Durability::Batched) {
        let receipt = app.run_operation("addMemory", app.engine.remember_batched(&caller, body)).await?;
        return Ok((StatusCode::ACCEPTED, Json(Write::<Memory>::of(receipt, None))).into_response());
    }
    let receipt = app.run_operation("addMemory", app.engine.remember(&caller, body)).await?;
    Ok(answer_write(&app, &caller, receipt, prefer).await)
}

/// Waits until every memory that was accepted before is durable.
///
/// Fails with the first reason why a memory could not be written since the same credential last called this;
/// `details.ids` lists those memories. After a temporary failure they stay queued and are tried again.
#[utoipa::path(
    post, path = "/v1/memories/flush", operation_id = "flushMemories", tag = "memories",
    responses((status = 204, description = "Every accepted memory is durable"), Failures),
    security(("key" = ["writer"]))
)]
async fn flush(State(app): State<Arc<App>>, principal: Principal) -> Result<StatusCode, Failure> {
    let caller = principal.caller(Identifiers::default(), "flushMemories")?;
    match app.engine.flush_batched(&caller).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(unwritten) => Err(Failure::of(*unwritten.problem).detail("ids", json!(unwritten.ids))),
    }
}

/// Reads a memory.
///
/// A soft-deleted memory is returned with its state until it is purged. The `ETag` is its version.
#[utoipa::path(
    get, path = "/v1/memories/{id}", operation_id = "getMemory", tag = "memories",
    params(("id" = inline(MemoryRef), Path, description = "The id of the memory"), IdentifierParams),
    responses(
        (status = 200, description = "The memory", body = Memory, headers(("ETag" = String, description = "Its version"))),
        Failures
    ),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "getMemory")?;
    let memory = app.run_operation("getMemory", app.engine.get(&caller, id)).await?;
    Ok((etag(memory.version), Json(memory)).into_response())
}

/// Changes fields of a memory.
#[utoipa::path(
    patch, path = "/v1/memories/{id}", operation_id = "changeMemory", tag = "memories",
    params(
        ("id" = inline(MemoryRef), Path, description = "The id of the memory"),
        ("If-Match" = Option<String>, Header, description = "The ETag that was read, such as `\"3\"`"),
        PreferHeader
    ),
    request_body(content = Scoped<Update>, example = json!({
        "identifiers": { "userId": "ann" }, "importance": 0.9, "metadata": { "checked": true }
    })),
    responses((status = 200, description = "The memory is changed", body = Write<Memory>), Failures),
    security(("key" = ["writer"]))
)]
async fn change(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    headers: HeaderMap,
    prefer: Prefer,
    Scoped { scope, mut body }: Scoped<Update>,
) -> Result<Response, Failure> {
    body.version = match (expected(&headers)?, body.version) {
        (Some(tag), Some(version)) if tag != version => {
            let message = format!("If-Match is version {tag}, but version in the body is {version}");
            return Err(Failure::new(ErrorKind::InvalidInput, message, "changeMemory").field("version"));
        }
        (tag, version) => tag.or(version),
    };
    let caller = principal.caller(scope, "changeMemory")?;
    let receipt = app.run_operation("changeMemory", app.engine.update(&caller, id, body)).await?;
    Ok(answer_write(&app, &caller, receipt, prefer).await)
}

/// Why a memory is deleted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct DeleteParams {
    /// The reason, which is recorded in the history of the memory.
    #[param(nullable = false, max_length = 1024)]
    reason: Option<String>,
}

/// Deletes a memory softly: it is hidden at once and can be restored until it is purged.
#[utoipa::path(
    delete, path = "/v1/memories/{id}", operation_id = "deleteMemory", tag = "memories",
    params(
        ("id" = inline(MemoryRef), Path, description = "The id of the memory"),
        ("If-Match" = Option<String>, Header, description = "The ETag that was read, such as `\"3\"`"),
        DeleteParams,
        IdentifierParams
    ),
    responses((status = 204, description = "The memory is deleted"), Failures),
    security(("key" = ["writer"]))
)]
async fn delete(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    headers: HeaderMap,
    ScopedParams(scope, params): ScopedParams<DeleteParams>,
) -> Result<StatusCode, Failure> {
    let version = expected(&headers)?;
    let caller = principal.caller(scope, "deleteMemory")?;
    app.run_operation("deleteMemory", app.engine.forget(&caller, id, version, params.reason.as_deref())).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Restores a soft-deleted memory.
#[utoipa::path(
    post, path = "/v1/memories/{id}/restore", operation_id = "restoreMemory", tag = "memories",
    params(("id" = inline(MemoryRef), Path, description = "The id of the memory"), PreferHeader),
    request_body(content = Scoped<NoFields>, description = "Optional"),
    responses((status = 200, description = "The memory is restored", body = Write<Memory>), Failures),
    security(("key" = ["writer"]))
)]
async fn restore(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    prefer: Prefer,
    MaybeScoped(Scoped { scope, .. }): MaybeScoped<NoFields>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "restoreMemory")?;
    let receipt = app.run_operation("restoreMemory", app.engine.restore(&caller, id)).await?;
    Ok(answer_write(&app, &caller, receipt, prefer).await)
}

/// The answer to a write of a memory: with the memory, unless the caller prefers a minimal answer.
pub(super) async fn answer_write(app: &App, caller: &Caller, receipt: Receipt, prefer: Prefer) -> Response {
    let data = read_back(app, caller, receipt.id, prefer).await;
    let place = format!("/v1/memories/{}", receipt.id);
    let degraded = degraded(app, &receipt);
    Write { degraded, ..Write::of(receipt, data) }.within(&place, &caller.identifiers)
}

/// The parts of a write that could not be done now: the vector of a new memory, if the model did not answer.
pub(super) fn degraded(app: &App, receipt: &Receipt) -> Vec<String> {
    let new = matches!(receipt.event, Outcome::Created | Outcome::Superseded);
    match new && !receipt.embedding_generated && app.engine.model().is_some() {
        true => vec!["vector".to_owned()],
        false => Vec::new(),
    }
}

/// The header with the version of a memory.
fn etag(version: u64) -> [(HeaderName, String); 1] {
    [(ETAG, format!("\"{version}\""))]
}

/// The version that `If-Match` names.
pub(crate) fn expected(headers: &HeaderMap) -> Result<Option<u64>, Failure> {
    let Some(value) = headers.get(IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let number = text.trim_start_matches("W/").trim_matches('"').parse().ok();
    number.map(Some).ok_or_else(|| {
        Failure::new(ErrorKind::InvalidInput, "If-Match is not the version of a memory", "read the request")
            .field("If-Match")
            .hint("send the ETag of the memory, such as \"3\"")
    })
}
