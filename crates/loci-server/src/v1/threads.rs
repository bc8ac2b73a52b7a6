//! Threads and their checkpoints under `/v1/threads`: the saved state of programs, from which they can resume.
//!
//! Data that are JSON stand in the body as they are, other bytes as base64 with the name of their format. A body is
//! bounded by `server.body_bytes`, a checkpoint by `limits.checkpoint_bytes`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use loci_engine::{Caller, CheckpointRemoval, CheckpointRequest, NewCheckpoint, SavedCheckpoint, payload};
use loci_types::{CheckpointThread, ErrorKind, JSON, Outcome, PendingWrite};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{Page, PageParams, PageRequest};
use super::write::{Prefer, PreferHeader, Write, segment};
use super::{IdentifierParams, NoParams};
use crate::App;
use crate::extract::{ListParams, PathName, PathPair, Scoped, ScopedParams};
use crate::failure::{Failure, Failures, to_failure};
use crate::guard::Principal;

/// The routes of threads and checkpoints.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(threads))
        .routes(routes!(newest, remove_thread))
        .routes(routes!(list, put))
        .routes(routes!(get, remove))
        .routes(routes!(writes))
        .routes(routes!(history))
        .routes(routes!(prune))
}

fn json_format() -> String {
    JSON.to_owned()
}

/// Lists threads that have checkpoints, those with the newest checkpoint first.
#[utoipa::path(
    get, path = "/v1/threads", operation_id = "listThreads", tag = "threads",
    params(PageParams, IdentifierParams),
    responses((status = 200, description = "A page of threads", body = Page<CheckpointThread>), Failures),
    security(("key" = ["reader"]))
)]
async fn threads(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params: NoParams {} }: ListParams<NoParams>,
) -> Result<Json<Page<CheckpointThread>>, Failure> {
    let caller = principal.caller(scope, "listThreads")?;
    let work = app.engine.checkpoint_threads(&caller, page.offset()?, page.limit + 1);
    page.read(app.run_operation("listThreads", work).await?).map(Json)
}

/// The namespace of the checkpoint: the part of a program that it belongs to.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct NamespaceParams {
    /// The part of the program. Default: the whole program.
    #[param(required = false)]
    namespace: String,
}

/// Reads the newest checkpoint of a thread, with its pending writes.
#[utoipa::path(
    get, path = "/v1/threads/{threadId}", operation_id = "getNewestCheckpoint", tag = "threads",
    params(("threadId" = String, Path, description = "The thread"), NamespaceParams, IdentifierParams),
    responses((status = 200, description = "The checkpoint", body = SavedCheckpoint), Failures),
    security(("key" = ["reader"]))
)]
async fn newest(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(thread_id): PathName,
    ScopedParams(scope, params): ScopedParams<NamespaceParams>,
) -> Result<Json<SavedCheckpoint>, Failure> {
    let caller = principal.caller(scope, "getNewestCheckpoint")?;
    let work = app.engine.checkpoint(&caller, &thread_id, &params.namespace, None);
    Ok(Json(app.run_operation("getNewestCheckpoint", work).await?.into()))
}

/// Reads a checkpoint, with its pending writes.
#[utoipa::path(
    get, path = "/v1/threads/{threadId}/checkpoints/{id}", operation_id = "getCheckpoint", tag = "threads",
    params(
        ("threadId" = String, Path, description = "The thread"),
        ("id" = String, Path, description = "The id of the checkpoint"), NamespaceParams, IdentifierParams
    ),
    responses((status = 200, description = "The checkpoint", body = SavedCheckpoint), Failures),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathPair(thread_id, id): PathPair,
    ScopedParams(scope, params): ScopedParams<NamespaceParams>,
) -> Result<Json<SavedCheckpoint>, Failure> {
    let caller = principal.caller(scope, "getCheckpoint")?;
    let work = app.engine.checkpoint(&caller, &thread_id, &params.namespace, Some(&id));
    Ok(Json(app.run_operation("getCheckpoint", work).await?.into()))
}

/// A checkpoint to store.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewCheckpoint)]
struct CheckpointBody {
    /// The part of the program. Default: the whole program.
    #[serde(default)]
    #[schema(max_length = 512)]
    namespace: String,
    /// The id. Default: a new one.
    #[schema(min_length = 1, max_length = 512)]
    id: Option<String>,
    /// The id of the checkpoint that it came from.
    parent_id: Option<String>,
    /// The label of the serializer that made the data. `json` is checked and stored as JSON; any other text, for example
    /// `msgpack`, is the caller's own: Loci stores it and never reads the data.
    #[serde(default = "json_format")]
    #[schema(min_length = 1, max_length = 256, default = "json")]
    format: String,
    /// JSON as it is, or base64 for any other format.
    data: Value,
    /// Metadata, by name.
    #[serde(default)]
    metadata: Map<String, Value>,
    /// The id that must be the newest of the thread, else it is a conflict. Empty: there must be none yet.
    expect_parent: Option<String>,
    /// Whether it replaces a checkpoint with the same id; otherwise other content under the same id is a conflict.
    #[serde(default)]
    #[schema(default = false)]
    replace: bool,
}

/// Stores a checkpoint of a thread. The same checkpoint again changes nothing.
///
/// `data` of the answer is the checkpoint without its own data.
#[utoipa::path(
    post, path = "/v1/threads/{threadId}/checkpoints", operation_id = "putCheckpoint", tag = "threads",
    params(("threadId" = String, Path, description = "The thread. A new one is started"), PreferHeader),
    request_body(content = Scoped<CheckpointBody>, example = json!({
        "identifiers": { "userId": "ann" }, "id": "step-2", "parentId": "step-1",
        "data": { "messages": ["hello"] }, "metadata": { "step": 2 }, "expectParent": "step-1"
    })),
    responses(
        (status = 201, description = "The checkpoint is new", body = Write<SavedCheckpoint>),
        (status = 200, description = "The checkpoint was there, or replaced one", body = Write<SavedCheckpoint>),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn put(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    PathName(thread_id): PathName,
    Scoped { scope, body }: Scoped<CheckpointBody>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "putCheckpoint")?;
    let data = payload(&body.format, &body.data).map_err(|error| to_failure(&error, "putCheckpoint"))?;
    let namespace = body.namespace.clone();
    let new = NewCheckpoint {
        thread_id: thread_id.clone(),
        namespace: body.namespace,
        id: body.id,
        parent_id: body.parent_id,
        format: body.format,
        data,
        metadata: body.metadata,
        expect_parent: body.expect_parent,
        replace: body.replace,
    };
    let put = app.run_operation("putCheckpoint", app.engine.put_checkpoint(&caller, new)).await?;
    Ok(written(&app, &caller, (thread_id, namespace, put.id), put.event, prefer).await)
}

/// The answer to a write of a checkpoint, without its data.
async fn written(
    app: &App,
    caller: &Caller,
    (thread_id, namespace, id): (String, String, String),
    event: Outcome,
    prefer: Prefer,
) -> Response {
    let mut place = format!("/v1/threads/{}/checkpoints/{}", segment(&thread_id), segment(&id));
    if !namespace.is_empty() {
        place.push_str(&format!("?namespace={}", segment(&namespace)));
    }
    let request = CheckpointRequest {
        thread_id,
        namespace: Some(namespace),
        id: Some(id.clone()),
        limit: Some(1),
        ..CheckpointRequest::default()
    };
    // The write succeeded, whether or not it can be read back now.
    let found = if prefer.minimal { None } else { app.engine.checkpoints(caller, request).await.ok() };
    let data = found.and_then(|mut found| found.pop()).map(SavedCheckpoint::from);
    Write::new(id, event, data).within(&place, &caller.identifiers)
}

/// A value that a task wrote.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TaskWrite {
    /// The id of the task.
    #[schema(min_length = 1, max_length = 256)]
    task_id: String,
    /// The position among the writes of the task; the same position again is replaced. Special writes have negative ones.
    #[schema(minimum = -9_223_372_036_854_775_808_i64)]
    position: i64,
    /// The path of the task in the program.
    #[serde(default)]
    task_path: String,
    /// The channel that was written to.
    channel: String,
    /// The label of the serializer that made the data, as for a checkpoint.
    #[serde(default = "json_format")]
    #[schema(min_length = 1, max_length = 256, default = "json")]
    format: String,
    /// JSON as it is, or base64 for any other format.
    data: Value,
}

/// What tasks wrote after a checkpoint and before the next one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PendingWrites {
    /// The part of the program. Default: the whole program.
    #[serde(default)]
    namespace: String,
    /// The writes.
    #[schema(min_items = 1, max_items = 1000)]
    writes: Vec<TaskWrite>,
}

/// Stores pending writes of tasks beside an existing checkpoint.
#[utoipa::path(
    post, path = "/v1/threads/{threadId}/checkpoints/{id}/writes", operation_id = "putWrites", tag = "threads",
    params(
        ("threadId" = String, Path, description = "The thread"),
        ("id" = String, Path, description = "The id of the checkpoint"), PreferHeader
    ),
    request_body(content = Scoped<PendingWrites>, example = json!({
        "identifiers": { "userId": "ann" },
        "writes": [{ "taskId": "plan", "position": 0, "channel": "messages", "data": "hello" }]
    })),
    responses((status = 200, description = "The writes are stored", body = Write<SavedCheckpoint>), Failures),
    security(("key" = ["writer"]))
)]
async fn writes(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    PathPair(thread_id, id): PathPair,
    Scoped { scope, body }: Scoped<PendingWrites>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "putWrites")?;
    let mut writes = Vec::with_capacity(body.writes.len());
    for write in body.writes {
        let data = payload(&write.format, &write.data).map_err(|error| to_failure(&error, "putWrites"))?;
        writes.push(PendingWrite {
            task_id: write.task_id,
            position: write.position,
            task_path: write.task_path,
            channel: write.channel,
            format: write.format,
            data,
        });
    }
    let work = app.engine.put_writes(&caller, &thread_id, &body.namespace, &id, writes);
    app.run_operation("putWrites", work).await?;
    Ok(written(&app, &caller, (thread_id, body.namespace, id), Outcome::Updated, prefer).await)
}

/// The checkpoints of a thread that are listed: those that match all of what is given.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct CheckpointParams {
    /// The part of the program. Default: all parts.
    #[param(nullable = false)]
    namespace: Option<String>,
    /// Only checkpoints that were stored before the one with this id. It is a condition, not a place in the list: pages
    /// are read with `cursor`.
    #[param(nullable = false)]
    before_id: Option<String>,
    /// Only checkpoints whose metadata have these values: a JSON object.
    #[param(nullable = false)]
    metadata: Option<String>,
    /// Whether data and pending writes are included.
    #[param(required = false, default = false)]
    include_data: bool,
}

/// Lists the checkpoints of a thread, newest first.
#[utoipa::path(
    get, path = "/v1/threads/{threadId}/checkpoints", operation_id = "listCheckpoints", tag = "threads",
    params(("threadId" = String, Path, description = "The thread"), CheckpointParams, PageParams, IdentifierParams),
    responses((status = 200, description = "A page of checkpoints", body = Page<SavedCheckpoint>), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(thread_id): PathName,
    ListParams { scope, page, params }: ListParams<CheckpointParams>,
) -> Result<Json<Page<SavedCheckpoint>>, Failure> {
    let caller = principal.caller(scope, "listCheckpoints")?;
    let metadata = match &params.metadata {
        None => Map::new(),
        Some(text) => serde_json::from_str(text).map_err(|error| {
            let message = format!("metadata is not a JSON object: {error}");
            Failure::new(ErrorKind::InvalidInput, &message, "listCheckpoints").field("metadata")
        })?,
    };
    let CheckpointParams { namespace, before_id: before, include_data: data, .. } = params;
    let part = part(&page, thread_id)?;
    let request = CheckpointRequest { namespace, before, metadata, data, ..part };
    let found = app.run_operation("listCheckpoints", app.engine.checkpoints(&caller, request)).await?;
    Ok(Json(page.read(found)?.map(SavedCheckpoint::from)))
}

/// A request for a page of the checkpoints of a thread.
fn part(page: &PageRequest, thread_id: String) -> Result<CheckpointRequest, Failure> {
    let (offset, limit) = (page.offset()?, Some(page.limit + 1));
    Ok(CheckpointRequest { thread_id, offset, limit, ..CheckpointRequest::default() })
}

/// Where a history starts.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct HistoryParams {
    /// The part of the program. Default: the whole program.
    #[param(required = false)]
    namespace: String,
    /// The id of the checkpoint with which the history starts. Default: the newest.
    #[param(nullable = false)]
    checkpoint_id: Option<String>,
    /// Whether data and pending writes are included.
    #[param(required = false, default = false)]
    include_data: bool,
}

/// Lists a checkpoint of a thread, the one it came from, and so on to the first.
#[utoipa::path(
    get, path = "/v1/threads/{threadId}/history", operation_id = "listThreadHistory", tag = "threads",
    params(("threadId" = String, Path, description = "The thread"), HistoryParams, PageParams, IdentifierParams),
    responses((status = 200, description = "A page of checkpoints", body = Page<SavedCheckpoint>), Failures),
    security(("key" = ["reader"]))
)]
async fn history(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(thread_id): PathName,
    ListParams { scope, page, params }: ListParams<HistoryParams>,
) -> Result<Json<Page<SavedCheckpoint>>, Failure> {
    let caller = principal.caller(scope, "listThreadHistory")?;
    let HistoryParams { namespace, checkpoint_id: id, include_data: data } = params;
    let part = part(&page, thread_id)?;
    let request = CheckpointRequest { namespace: Some(namespace), id, data, ..part };
    let found = app.run_operation("listThreadHistory", app.engine.checkpoint_history(&caller, request)).await?;
    Ok(Json(page.read(found)?.map(SavedCheckpoint::from)))
}

/// Removes a thread with all its checkpoints, for good.
#[utoipa::path(
    delete, path = "/v1/threads/{threadId}", operation_id = "deleteThread", tag = "threads",
    params(("threadId" = String, Path, description = "The thread"), IdentifierParams),
    responses((status = 204, description = "The thread is removed"), Failures),
    security(("key" = ["writer"]))
)]
async fn remove_thread(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(thread_id): PathName,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<StatusCode, Failure> {
    let caller = principal.caller(scope, "deleteThread")?;
    let work = app.engine.delete_checkpoints(&caller, &thread_id, CheckpointRemoval::Thread);
    match app.run_operation("deleteThread", work).await? {
        0 => Err(missing(format!("thread `{thread_id}` not found"), "threadId", "deleteThread")),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}

/// Removes a checkpoint with its pending writes, for good.
#[utoipa::path(
    delete, path = "/v1/threads/{threadId}/checkpoints/{id}", operation_id = "deleteCheckpoint", tag = "threads",
    params(
        ("threadId" = String, Path, description = "The thread"),
        ("id" = String, Path, description = "The id of the checkpoint"), NamespaceParams, IdentifierParams
    ),
    responses((status = 204, description = "The checkpoint is removed"), Failures),
    security(("key" = ["writer"]))
)]
async fn remove(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathPair(thread_id, id): PathPair,
    ScopedParams(scope, params): ScopedParams<NamespaceParams>,
) -> Result<StatusCode, Failure> {
    let caller = principal.caller(scope, "deleteCheckpoint")?;
    let one = CheckpointRemoval::One { namespace: params.namespace, id: id.clone() };
    match app.run_operation("deleteCheckpoint", app.engine.delete_checkpoints(&caller, &thread_id, one)).await? {
        0 => Err(missing(format!("the thread `{thread_id}` has no checkpoint `{id}` here"), "id", "deleteCheckpoint")),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}

fn missing(message: String, field: &str, operation: &str) -> Failure {
    Failure::new(ErrorKind::NotFound, message, operation).field(field)
}

/// How a thread is pruned.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PruneThread {
    /// Number of newest checkpoints that stay in each namespace.
    #[schema(minimum = 1)]
    keep: usize,
}

/// What was removed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PrunedThread {
    /// Number of checkpoints that were removed.
    removed_count: u64,
}

/// Removes all but the newest checkpoints of each namespace of a thread, for good.
#[utoipa::path(
    post, path = "/v1/threads/{threadId}/prune", operation_id = "pruneThread", tag = "threads",
    params(("threadId" = String, Path, description = "The thread")),
    request_body(content = Scoped<PruneThread>, example = json!({ "identifiers": { "userId": "ann" }, "keep": 10 })),
    responses((status = 200, description = "The thread is pruned", body = PrunedThread), Failures),
    security(("key" = ["writer"]))
)]
async fn prune(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(thread_id): PathName,
    Scoped { scope, body }: Scoped<PruneThread>,
) -> Result<Json<PrunedThread>, Failure> {
    let caller = principal.caller(scope, "pruneThread")?;
    let work = app.engine.delete_checkpoints(&caller, &thread_id, CheckpointRemoval::AllBut(body.keep));
    Ok(Json(PrunedThread { removed_count: app.run_operation("pruneThread", work).await? }))
}
