//! How are memories added, read, changed and forgotten over HTTP?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::IF_MATCH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use loci_engine::{NewMemory, Update};
use loci_types::{AccessPolicy, Durability, ErrorKind, Identifiers, KnowledgePointer, Layer, Memory, Receipt, Source};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{NoParams, OnlyWhose, Wanted, IdentifierParams, Written, etag, written};
use crate::App;
use crate::extract::{ScopedParams, Body, Id, MaybeBody, Params};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The routes of memories.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(add))
        .routes(routes!(get, change, forget))
        .routes(routes!(restore))
        .routes(routes!(flush))
}

/// Something to remember, and whose it is. Only the content is required.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct AddMemory {
    /// IdentifierParams it is.
    identifiers: Identifiers,
    /// The text.
    #[schema(required = true)]
    content: String,
    /// The layer; none: the most specific one that the identifiers open.
    layer: Option<Layer>,
    /// The kind; none: chosen by the text.
    kind: Option<String>,
    /// A label from the categories configuration.
    category: Option<String>,
    /// Free labels.
    tags: Vec<String>,
    /// Anything else, by name.
    metadata: Map<String, Value>,
    /// How it was acquired.
    source: Option<Source>,
    /// The knowledge item it mirrors.
    knowledge_pointer: Option<KnowledgePointer>,
    /// Who, within the scope, may see it.
    access_policy: Option<AccessPolicy>,
    /// How much it matters; none: judged by the text.
    importance: Option<f64>,
    /// How sure the caller is.
    confidence: Option<f64>,
    /// How fast it fades.
    decay_rate: Option<f64>,
    /// Kept whatever happens.
    pinned: bool,
    /// When it happened.
    event_time: Option<Timestamp>,
    /// When it was said or written. Default: now.
    said_at: Option<Timestamp>,
    /// Since when it holds.
    valid_from: Option<Timestamp>,
    /// Until when it held.
    valid_until: Option<Timestamp>,
    /// When it stops to be of use.
    expires_at: Option<Timestamp>,
    /// The conversation.
    thread_id: Option<String>,
    /// The run.
    run_id: Option<String>,
    /// Who said it.
    actor_id: Option<String>,
    /// In which role.
    role: Option<String>,
    /// Kept beside whatever it may repeat or contradict.
    as_is: bool,
    /// `batched`: answered at once and written with others within a second; none or `durable`: safe when the answer
    /// comes.
    durability: Option<Durability>,
}

impl AddMemory {
    /// Whether it may wait to be written.
    pub(super) fn batched(&self) -> bool {
        self.durability == Some(Durability::Batched)
    }

    /// IdentifierParams it is, and what is to be remembered.
    pub(super) fn apart(self) -> (Identifiers, NewMemory) {
        let new = NewMemory {
            content: self.content,
            layer: self.layer,
            kind: self.kind,
            category: self.category,
            tags: self.tags,
            metadata: self.metadata,
            source: self.source,
            knowledge_pointer: self.knowledge_pointer,
            access_policy: self.access_policy,
            importance: self.importance,
            confidence: self.confidence,
            decay_rate: self.decay_rate,
            pinned: self.pinned,
            event_time: self.event_time,
            said_at: self.said_at,
            valid_from: self.valid_from,
            valid_until: self.valid_until,
            expires_at: self.expires_at,
            thread_id: self.thread_id,
            run_id: self.run_id,
            actor_id: self.actor_id,
            role: self.role,
            as_is: self.as_is,
            embed_later: false,
        };
        (self.identifiers, new)
    }
}

/// Remembers one thing.
///
/// It meets what its scope knows already: what is said again is not added, what has changed takes the
/// place of the old, unless `asIs` keeps it beside them. When the answer comes, it is durable, unless `durability` is
/// `batched`: then it has been checked and has its id, and whether it says something new is known when it is written.
#[utoipa::path(
    post, path = "/v1/memories", operation_id = "addMemory", tag = "memories",
    params(Wanted),
    request_body(content = AddMemory, example = json!({
        "content": "Ann prefers tea in the morning.", "identifiers": { "userId": "ann" }, "tags": ["drinks"]
    })),
    responses(
        (status = 201, description = "Remembered", body = Written),
        (status = 200, description = "It was known already", body = Written),
        (status = 202, description = "Taken, and written soon", body = Written),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn add(
    State(app): State<Arc<App>>,
    who: Who,
    Params(wanted): Params<Wanted>,
    Body(add): Body<AddMemory>,
) -> Result<Response, Failure> {
    let batched = add.batched();
    let (identifiers, new) = add.apart();
    let caller = who.caller(identifiers, "remember")?;
    if batched {
        let receipt = app.verb("remember", app.engine.remember_batched(&caller, new)).await?;
        return Ok((StatusCode::ACCEPTED, Json(Written { receipt, memory: None })).into_response());
    }
    let receipt = app.verb("remember", app.engine.remember(&caller, new)).await?;
    written(&app, &caller, receipt, wanted.r#return, StatusCode::CREATED).await
}

/// That everything is written.
#[derive(Debug, Serialize, ToSchema)]
struct Flushed {
    /// Always true: what was taken before is durable.
    flushed: bool,
}

/// Waits until everything that was taken before is durable.
///
/// Fails with what could not be written since the same credential last asked: `details.ids` names it. What a failure
/// that may pass has stopped goes on waiting, and is tried again.
#[utoipa::path(
    post, path = "/v1/flush", operation_id = "flush", tag = "memories",
    responses((status = 200, description = "It is durable", body = Flushed), Failures),
    security(("key" = ["writer"]))
)]
async fn flush(State(app): State<Arc<App>>, who: Who) -> Result<Json<Flushed>, Failure> {
    let caller = who.caller(Identifiers::default(), "flush")?;
    match app.engine.flush_batched(&caller).await {
        Ok(()) => Ok(Json(Flushed { flushed: true })),
        Err(unwritten) => Err(Failure::of(*unwritten.problem).detail("ids", json!(unwritten.ids))),
    }
}

/// Reads one memory.
///
/// A soft-deleted one is seen too, with its state, until it is purged. The `ETag` is its version.
#[utoipa::path(
    get, path = "/v1/memories/{id}", operation_id = "getMemory", tag = "memories",
    params(("id" = uuid::Uuid, Path, description = "The memory"), IdentifierParams),
    responses(
        (status = 200, description = "The memory", body = Memory, headers(("ETag" = String, description = "Its version"))),
        Failures
    ),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    ScopedParams(whose, NoParams {}): ScopedParams<NoParams>,
) -> Result<Response, Failure> {
    let caller = who.caller(whose, "get")?;
    let memory = app.verb("get", app.engine.get(&caller, id)).await?;
    Ok((etag(memory.version), Json(memory)).into_response())
}

/// New values for a memory; what is absent or null stays.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct ChangeMemory {
    /// IdentifierParams memories are meant.
    identifiers: Identifiers,
    /// The version the caller saw; another one in the store is a conflict. `If-Match` says the same.
    version: Option<u64>,
    /// New text; its vector is made anew.
    content: Option<String>,
    /// New kind.
    kind: Option<String>,
    /// New category.
    category: Option<String>,
    /// New tags, in place of the old.
    tags: Option<Vec<String>>,
    /// Metadata merged over the old, field by field; null removes a field.
    metadata: Option<Map<String, Value>>,
    /// New source.
    source: Option<Source>,
    /// New knowledge pointer.
    knowledge_pointer: Option<KnowledgePointer>,
    /// New access policy.
    access_policy: Option<AccessPolicy>,
    /// New importance.
    importance: Option<f64>,
    /// New confidence.
    confidence: Option<f64>,
    /// Pinned or not.
    pinned: Option<bool>,
    /// When it happened.
    event_time: Option<Timestamp>,
    /// Since when it holds.
    valid_from: Option<Timestamp>,
    /// Until when it held.
    valid_until: Option<Timestamp>,
    /// When it stops to be of use.
    expires_at: Option<Timestamp>,
}

impl ChangeMemory {
    fn apart(self, version: Option<u64>) -> (Identifiers, Update) {
        let update = Update {
            version,
            content: self.content,
            kind: self.kind,
            category: self.category,
            tags: self.tags,
            metadata: self.metadata,
            source: self.source,
            knowledge_pointer: self.knowledge_pointer,
            access_policy: self.access_policy,
            importance: self.importance,
            confidence: self.confidence,
            pinned: self.pinned,
            event_time: self.event_time,
            valid_from: self.valid_from,
            valid_until: self.valid_until,
            expires_at: self.expires_at,
        };
        (self.identifiers, update)
    }
}

/// Changes a memory.
#[utoipa::path(
    patch, path = "/v1/memories/{id}", operation_id = "changeMemory", tag = "memories",
    params(
        ("id" = uuid::Uuid, Path, description = "The memory"),
        ("If-Match" = Option<String>, Header, description = "The ETag that was read, such as `\"3\"`"),
        Wanted
    ),
    request_body(content = ChangeMemory, example = json!({
        "identifiers": { "userId": "ann" }, "importance": 0.9, "metadata": { "checked": true }
    })),
    responses((status = 200, description = "Changed", body = Written), Failures),
    security(("key" = ["writer"]))
)]
async fn change(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    headers: HeaderMap,
    Params(wanted): Params<Wanted>,
    Body(change): Body<ChangeMemory>,
) -> Result<Response, Failure> {
    let version = match (expected(&headers)?, change.version) {
        (Some(tag), Some(version)) if tag != version => {
            let message = format!("If-Match says version {tag}, and the body says version {version}");
            return Err(Failure::new(ErrorKind::InvalidInput, message, "update").field("version"));
        }
        (tag, version) => tag.or(version),
    };
    let (identifiers, update) = change.apart(version);
    let caller = who.caller(identifiers, "update")?;
    let receipt = app.verb("update", app.engine.update(&caller, id, update)).await?;
    written(&app, &caller, receipt, wanted.r#return, StatusCode::OK).await
}

/// Why something is forgotten.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct Reason {
    /// Why, for the history.
    #[param(nullable = false, max_length = 1024)]
    reason: Option<String>,
}

/// Forgets a memory.
///
/// It is hidden at once and can be restored until it is purged.
#[utoipa::path(
    delete, path = "/v1/memories/{id}", operation_id = "forgetMemory", tag = "memories",
    params(
        ("id" = uuid::Uuid, Path, description = "The memory"),
        ("If-Match" = Option<String>, Header, description = "The ETag that was read, such as `\"3\"`"),
        Reason,
        IdentifierParams
    ),
    responses((status = 200, description = "Forgotten", body = Receipt), Failures),
    security(("key" = ["writer"]))
)]
async fn forget(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    headers: HeaderMap,
    ScopedParams(whose, asked): ScopedParams<Reason>,
) -> Result<Json<Receipt>, Failure> {
    let version = expected(&headers)?;
    let caller = who.caller(whose, "forget")?;
    app.verb("forget", app.engine.forget(&caller, id, version, asked.reason.as_deref())).await.map(Json)
}

/// Brings a forgotten memory back.
#[utoipa::path(
    post, path = "/v1/memories/{id}/restore", operation_id = "restoreMemory", tag = "memories",
    params(("id" = uuid::Uuid, Path, description = "The memory"), Wanted),
    request_body = Option<OnlyWhose>,
    responses((status = 200, description = "It is back", body = Written), Failures),
    security(("key" = ["writer"]))
)]
async fn restore(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    Params(wanted): Params<Wanted>,
    MaybeBody(body): MaybeBody<OnlyWhose>,
) -> Result<Response, Failure> {
    let caller = who.caller(body.identifiers, "restore")?;
    let receipt = app.verb("restore", app.engine.restore(&caller, id)).await?;
    written(&app, &caller, receipt, wanted.r#return, StatusCode::OK).await
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
