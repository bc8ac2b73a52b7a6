//! Where did the work of a thread stand?
//!
//! A thread is named in the path. Data that are JSON stand in the body as they are, other bytes as base64 with the
//! name of their format. A body is bounded by `server.body_bytes`, a checkpoint by `limits.checkpoint_bytes`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use loci_engine::{CheckpointRemoval, CheckpointRequest, NewCheckpoint, PutCheckpoint, SavedCheckpoint, payload};
use loci_types::{CheckpointThread, Error, ErrorKind, Identifiers, JSON, Outcome, PendingWrite};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::IdentifierParams;
use crate::App;
use crate::extract::{ScopedParams, Body, PathName};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The routes of checkpoints.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(threads))
        .routes(routes!(get, put, remove))
        .routes(routes!(list))
        .routes(routes!(history))
        .routes(routes!(writes))
}

fn json_format() -> String {
    JSON.to_owned()
}

/// A checkpoint to put.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CheckpointBody {
    /// IdentifierParams it is: the agent's and the user's where both are named, else the user's.
    #[serde(default)]
    identifiers: Identifiers,
    /// The part of the program; empty: the whole.
    #[serde(default)]
    #[schema(max_length = 512)]
    namespace: String,
    /// Its id; none: a new one.
    #[schema(min_length = 1, max_length = 512)]
    id: Option<String>,
    /// The checkpoint it came from.
    parent_id: Option<String>,
    /// What the data are: `json`, or whatever you call it.
    #[serde(default = "json_format")]
    #[schema(min_length = 1, max_length = 256)]
    format: String,
    /// JSON as it is, or base64 for any other format.
    data: Value,
    /// What is said about it, by name.
    #[serde(default)]
    metadata: Map<String, Value>,
    /// What must be the newest of the thread, else it is a conflict; an empty text: there must be none yet.
    expect_parent: Option<String>,
    /// Whether it takes the place of one with the same id; otherwise that is a conflict unless it is the same.
    #[serde(default)]
    replace: bool,
}

/// Puts a checkpoint of a thread. The same again changes nothing.
#[utoipa::path(
    post, path = "/v1/checkpoints/{thread}", operation_id = "putCheckpoint", tag = "checkpoints",
    params(("thread" = String, Path, description = "The thread")),
    request_body(content = CheckpointBody, example = json!({
        "identifiers": { "userId": "ann" }, "id": "step-2", "parentId": "step-1",
        "data": { "messages": ["hello"] }, "metadata": { "step": 2 }, "expectParent": "step-1"
    })),
    responses(
        (status = 201, description = "It is new", body = PutCheckpoint),
        (status = 200, description = "It was there, or took the place of one", body = PutCheckpoint),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn put(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(thread): PathName,
    Body(body): Body<CheckpointBody>,
) -> Result<Response, Failure> {
    let caller = who.caller(body.identifiers, "put checkpoint")?;
    let data = payload(&body.format, &body.data).map_err(|error| refused(&error, "put checkpoint"))?;
    let new = NewCheckpoint {
        thread_id: thread,
        namespace: body.namespace,
        id: body.id,
        parent_id: body.parent_id,
        format: body.format,
        data,
        metadata: body.metadata,
        expect_parent: body.expect_parent,
        replace: body.replace,
    };
    let put = app.verb("put checkpoint", app.engine.put_checkpoint(&caller, new)).await?;
    let status = if put.event == Outcome::Created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(put)).into_response())
}

fn refused(error: &Error, operation: &str) -> Failure {
    Failure::of(error.problem(operation))
}

/// What a task wrote.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TaskWrite {
    /// The task.
    #[schema(min_length = 1, max_length = 256)]
    task_id: String,
    /// Its place among what the task wrote; the same place again is replaced.
    position: i64,
    /// Where the task stands in the program.
    #[serde(default)]
    task_path: String,
    /// Where it was written to.
    channel: String,
    /// What the data are.
    #[serde(default = "json_format")]
    #[schema(min_length = 1, max_length = 256)]
    format: String,
    /// JSON as it is, or base64 for any other format.
    data: Value,
}

/// What tasks wrote towards the next checkpoint.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WritesBody {
    /// IdentifierParams checkpoint it is.
    #[serde(default)]
    identifiers: Identifiers,
    /// The part of the program.
    #[serde(default)]
    namespace: String,
    /// The checkpoint beside which it stands.
    id: String,
    /// What was written.
    #[schema(min_items = 1, max_items = 1000)]
    writes: Vec<TaskWrite>,
}

/// What became of the writes.
#[derive(Debug, Serialize, ToSchema)]
struct Put {
    /// How many were put.
    put: usize,
}

/// Puts what tasks wrote beside a checkpoint that is there.
#[utoipa::path(
    post, path = "/v1/checkpoints/{thread}/writes", operation_id = "putWrites", tag = "checkpoints",
    params(("thread" = String, Path, description = "The thread")),
    request_body(content = WritesBody, example = json!({
        "identifiers": { "userId": "ann" }, "id": "step-2",
        "writes": [{ "taskId": "plan", "position": 0, "channel": "messages", "data": "hello" }]
    })),
    responses((status = 200, description = "They are put", body = Put), Failures),
    security(("key" = ["writer"]))
)]
async fn writes(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(thread): PathName,
    Body(body): Body<WritesBody>,
) -> Result<Json<Put>, Failure> {
    let caller = who.caller(body.identifiers, "put writes")?;
    let mut writes = Vec::with_capacity(body.writes.len());
    for write in body.writes {
        let data = payload(&write.format, &write.data).map_err(|error| refused(&error, "put writes"))?;
        writes.push(PendingWrite {
            task_id: write.task_id,
            position: write.position,
            task_path: write.task_path,
            channel: write.channel,
            format: write.format,
            data,
        });
    }
    let work = app.engine.put_writes(&caller, &thread, &body.namespace, &body.id, writes);
    Ok(Json(Put { put: app.verb("put writes", work).await? }))
}

/// Which checkpoint is meant.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct Which {
    /// The part of the program; none: the whole.
    #[param(required = false)]
    namespace: String,
    /// The checkpoint; none: the newest.
    #[param(nullable = false)]
    id: Option<String>,
}

/// The newest checkpoint of a thread, or one by its id, with what was written beside it.
#[utoipa::path(
    get, path = "/v1/checkpoints/{thread}", operation_id = "getCheckpoint", tag = "checkpoints",
    params(("thread" = String, Path, description = "The thread"), Which, IdentifierParams),
    responses((status = 200, description = "The checkpoint", body = SavedCheckpoint), Failures),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(thread): PathName,
    ScopedParams(whose, which): ScopedParams<Which>,
) -> Result<Json<SavedCheckpoint>, Failure> {
    let caller = who.caller(whose, "checkpoint")?;
    let work = app.engine.checkpoint(&caller, &thread, &which.namespace, which.id.as_deref());
    Ok(Json(app.verb("checkpoint", work).await?.into()))
}

/// Which checkpoints of a thread are meant.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct Several {
    /// The part of the program; none: all in a list, the whole in a history.
    #[param(nullable = false)]
    namespace: Option<String>,
    /// The one with this id; a history starts there.
    #[param(nullable = false)]
    id: Option<String>,
    /// Only those put before this one.
    #[param(nullable = false)]
    before: Option<String>,
    /// Only those whose metadata have these values: a JSON object.
    #[param(nullable = false)]
    metadata: Option<String>,
    /// Whether their data are told, and what was written beside them.
    #[param(required = false)]
    data: bool,
    /// So many at the most; none: 20.
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

impl Several {
    fn of(self, thread_id: String) -> Result<CheckpointRequest, Failure> {
        let metadata = match &self.metadata {
            None => Map::new(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                let message = format!("metadata is no JSON object: {error}");
                Failure::new(ErrorKind::InvalidInput, &message, "read the request").field("metadata")
            })?,
        };
        let Self { namespace, id, before, data, limit, .. } = self;
        Ok(CheckpointRequest { thread_id, namespace, id, before, metadata, data, limit })
    }
}

/// Checkpoints of a thread.
#[derive(Debug, Serialize, ToSchema)]
struct SavedCheckpoints {
    /// The newest first.
    checkpoints: Vec<SavedCheckpoint>,
}

/// Lists the checkpoints of a thread, the newest first.
#[utoipa::path(
    get, path = "/v1/checkpoints/{thread}/list", operation_id = "listCheckpoints", tag = "checkpoints",
    params(("thread" = String, Path, description = "The thread"), Several, IdentifierParams),
    responses((status = 200, description = "The checkpoints", body = SavedCheckpoints), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(thread): PathName,
    ScopedParams(whose, several): ScopedParams<Several>,
) -> Result<Json<SavedCheckpoints>, Failure> {
    let caller = who.caller(whose, "checkpoints")?;
    let found = app.verb("checkpoints", app.engine.checkpoints(&caller, several.of(thread)?)).await?;
    Ok(Json(SavedCheckpoints { checkpoints: found.into_iter().map(SavedCheckpoint::from).collect() }))
}

/// How a thread came to where it stands: a checkpoint, the one it came from, and so on.
#[utoipa::path(
    get, path = "/v1/checkpoints/{thread}/history", operation_id = "checkpointHistory", tag = "checkpoints",
    params(("thread" = String, Path, description = "The thread"), Several, IdentifierParams),
    responses((status = 200, description = "The chain", body = SavedCheckpoints), Failures),
    security(("key" = ["reader"]))
)]
async fn history(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(thread): PathName,
    ScopedParams(whose, several): ScopedParams<Several>,
) -> Result<Json<SavedCheckpoints>, Failure> {
    let caller = who.caller(whose, "checkpoint history")?;
    let work = app.engine.checkpoint_history(&caller, several.of(thread)?);
    let found = app.verb("checkpoint history", work).await?;
    Ok(Json(SavedCheckpoints { checkpoints: found.into_iter().map(SavedCheckpoint::from).collect() }))
}

/// How many threads are listed.
#[derive(Debug, Clone, Copy, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct Many {
    /// So many at the most; none: 100.
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// Threads that have checkpoints.
#[derive(Debug, Serialize, ToSchema)]
struct Threads {
    /// Those that went on last first.
    threads: Vec<CheckpointThread>,
}

/// Lists the threads that have checkpoints, those that went on last first.
#[utoipa::path(
    get, path = "/v1/checkpoints", operation_id = "checkpointThreads", tag = "checkpoints",
    params(Many, IdentifierParams),
    responses((status = 200, description = "The threads", body = Threads), Failures),
    security(("key" = ["reader"]))
)]
async fn threads(
    State(app): State<Arc<App>>,
    who: Who,
    ScopedParams(whose, many): ScopedParams<Many>,
) -> Result<Json<Threads>, Failure> {
    let caller = who.caller(whose, "checkpoint threads")?;
    let threads = app.verb("checkpoint threads", app.engine.checkpoint_threads(&caller, many.limit)).await?;
    Ok(Json(Threads { threads }))
}

/// Which checkpoints are removed: one, all but the newest, or the thread.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct Gone {
    /// The part of the program that `id` belongs to.
    #[param(required = false)]
    namespace: String,
    /// Only this one.
    #[param(nullable = false)]
    id: Option<String>,
    /// All but so many of the newest of each namespace.
    #[param(nullable = false, minimum = 1)]
    keep: Option<usize>,
}

/// What was removed.
#[derive(Debug, Serialize, ToSchema)]
struct Removed {
    /// How many checkpoints.
    removed: u64,
}

/// Removes a thread with all its checkpoints, or some of them, for good.
#[utoipa::path(
    delete, path = "/v1/checkpoints/{thread}", operation_id = "deleteCheckpoints", tag = "checkpoints",
    params(("thread" = String, Path, description = "The thread"), Gone, IdentifierParams),
    responses((status = 200, description = "They are gone", body = Removed), Failures),
    security(("key" = ["writer"]))
)]
async fn remove(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(thread): PathName,
    ScopedParams(whose, gone): ScopedParams<Gone>,
) -> Result<Json<Removed>, Failure> {
    let caller = who.caller(whose, "delete checkpoints")?;
    let which = match (gone.id, gone.keep) {
        (Some(_), Some(_)) => {
            return Err(
                Failure::new(ErrorKind::InvalidInput, "give id or keep, not both", "delete checkpoints").field("keep")
            );
        }
        (Some(id), None) => CheckpointRemoval::One { namespace: gone.namespace, id },
        (None, Some(keep)) => CheckpointRemoval::AllBut(keep),
        (None, None) => CheckpointRemoval::Thread,
    };
    let removed = app.verb("delete checkpoints", app.engine.delete_checkpoints(&caller, &thread, which)).await?;
    Ok(Json(Removed { removed }))
}
