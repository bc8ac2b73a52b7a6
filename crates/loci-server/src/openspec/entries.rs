//! Creating, changing, deleting and describing one entry.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use loci_engine::{Caller, NewMemory};
use loci_types::{Error, ErrorKind, LedgerEntry, Memory, MemoryId, Outcome, Receipt, State as MemoryState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::entry::{Entry, EntryInput, EntryMetadata, EntrySource};
use super::failure::FailureResponses;
use super::layer_view::{LayerSelector, ScopeParams, target, with_identifiers};
use super::run_operation;
use crate::App;
use crate::extract::{Body, Id, Params};
use crate::failure::{Failure, to_failure};
use crate::guard::Principal;
use crate::v1::expected;

/// Maximum number of history events of an entry that are returned.
const MAX_HISTORY: usize = 1_000;

/// An entry to create or to change.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OpenSpecWrite)]
pub(super) struct EntryWrite {
    /// The entry.
    entry: EntryInput,
    /// Options of the write.
    #[serde(default)]
    options: WriteOptions,
    /// The expected version, for a change. A different version in the store is a conflict.
    #[serde(default)]
    version: Option<u64>,
}

/// Options of a write.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = OpenSpecWriteOptions)]
struct WriteOptions {
    /// Whether the vector is computed before the answer. Otherwise it is computed soon after.
    generate_embedding: bool,
    /// Whether a new entry waits for the consent of its user before it is found. Its status is then `pending_approval`.
    require_approval: bool,
    /// The layer and the identifiers of the entry.
    layer: LayerSelector,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { generate_embedding: true, require_approval: false, layer: LayerSelector::default() }
    }
}

/// The result of a write.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecWritten)]
pub(super) struct WriteResult {
    /// The present entry.
    pub(super) entry: Entry,
    /// What happened to the entry.
    pub(super) status: EntryStatus,
}

/// What happened to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = OpenSpecStatus)]
pub(super) enum EntryStatus {
    /// The entry is new.
    Created,
    /// The entry existed already, was changed, or replaced another.
    Updated,
    /// The entry waits for consent.
    PendingApproval,
    /// The entry is deleted.
    Deleted,
}

with_identifiers!(
    /// How an entry is deleted, and its identifiers.
    #[derive(utoipa::IntoParams)]
    #[into_params(parameter_in = Query)]
    EntryRemovalParams {
        /// Whether the entry is erased at once and for good, with every trace of its content.
        hard_delete: bool,
        /// The reason, for the history.
        reason: Option<String>,
    }
);

/// The result of a deletion.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecRemoved)]
pub(super) struct RemovalResult {
    /// Always true.
    deleted: bool,
    /// The id of the entry.
    entry_id: MemoryId,
}

/// Metadata, source and history of an entry.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecEntryMetadata)]
pub(super) struct EntryDetails {
    /// The id of the entry.
    entry_id: MemoryId,
    /// The metadata of the entry.
    metadata: EntryMetadata,
    /// The source of the entry.
    #[schema(required)]
    source: Option<EntrySource>,
    /// The history of the entry, oldest event first.
    version_history: Vec<HistoryEvent>,
}

/// One event in the history of an entry.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecPast)]
struct HistoryEvent {
    /// The version after the event.
    #[schema(required)]
    version: Option<u64>,
    /// The event: `add, update, delete, merge, supersede, restore, …`
    event: String,
    /// The time of the event.
    timestamp: Timestamp,
    /// The actor.
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    /// The reason.
    reason: String,
}

/// Creates an entry.
#[utoipa::path(
    post, path = "/openspec/v1/knowledge/create", operation_id = "openspecCreate", tag = "openspec",
    request_body = EntryWrite,
    responses((status = 201, description = "The entry is stored", body = WriteResult), FailureResponses),
    security(("key" = ["writer"]))
)]
pub(super) async fn create(
    State(app): State<Arc<App>>,
    principal: Principal,
    Body(write): Body<EntryWrite>,
) -> Result<Response, Failure> {
    let place = write.options.layer;
    if write.version.is_some() {
        let error = Error::invalid("version", "a new entry has no version yet").hint("use PUT to change an entry");
        return Err(to_failure(&error, "create"));
    }
    let caller = principal.caller(place.scope(), "create")?;
    let how = NewEntryOptions { embed: write.options.generate_embedding, ..NewEntryOptions::default() };
    let how = NewEntryOptions { proposed: write.options.require_approval, ..how };
    let written = create_entry(&app, &caller, write.entry, &place, how).await?;
    Ok((StatusCode::CREATED, Json(written)).into_response())
}

/// Changes an entry. Fields that are absent stay unchanged.
#[utoipa::path(
    put, path = "/openspec/v1/knowledge/{id}", operation_id = "openspecUpdate", tag = "openspec",
    params(
        ("id" = uuid::Uuid, Path, description = "The entry"),
        ("If-Match" = Option<String>, Header, description = "The expected version")
    ),
    request_body = EntryWrite,
    responses((status = 200, description = "The entry is changed", body = WriteResult), FailureResponses),
    security(("key" = ["writer"]))
)]
pub(super) async fn update(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    headers: HeaderMap,
    Body(write): Body<EntryWrite>,
) -> Result<Json<WriteResult>, Failure> {
    let version = match (expected(&headers)?, write.version) {
        (Some(one), Some(other)) if one != other => {
            let error = Error::invalid("version", format!("If-Match names version {one}, the body {other}"));
            return Err(to_failure(&error.hint("give one of them"), "update"));
        }
        (one, other) => one.or(other),
    };
    let place = write.options.layer;
    let caller = principal.caller(place.scope(), "update")?;
    update_entry(&app, &caller, id, write.entry, &place, version).await.map(Json)
}

/// Deletes an entry.
#[utoipa::path(
    delete, path = "/openspec/v1/knowledge/{id}", operation_id = "openspecDelete", tag = "openspec",
    params(
        ("id" = uuid::Uuid, Path, description = "The entry"),
        ("If-Match" = Option<String>, Header, description = "The expected version"),
        EntryRemovalParams
    ),
    responses((status = 200, description = "The entry is deleted", body = RemovalResult), FailureResponses),
    security(("key" = ["writer"]))
)]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    headers: HeaderMap,
    Params(removal): Params<EntryRemovalParams>,
) -> Result<Json<RemovalResult>, Failure> {
    let (caller, version) = (principal.caller(removal.scope(), "delete")?, expected(&headers)?);
    let reason = removal.reason.as_deref();
    if removal.hard_delete {
        run_operation(&app, "deleteMemory", app.engine.erase(&caller, id, version, reason)).await?;
    } else {
        run_operation(&app, "deleteMemory", app.engine.forget(&caller, id, version, reason)).await?;
    }
    Ok(Json(RemovalResult { deleted: true, entry_id: id }))
}

/// Returns metadata, source and history of an entry.
#[utoipa::path(
    get, path = "/openspec/v1/knowledge/{id}/metadata", operation_id = "openspecMetadata", tag = "openspec",
    params(("id" = uuid::Uuid, Path, description = "The entry"), ScopeParams),
    responses((status = 200, description = "Metadata, source and history", body = EntryDetails), FailureResponses),
    security(("key" = ["reader"]))
)]
pub(super) async fn metadata(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    Params(scope): Params<ScopeParams>,
) -> Result<Json<EntryDetails>, Failure> {
    let caller = principal.caller(scope.scope(), "metadata")?;
    let memory = run_operation(&app, "getMemory", app.engine.get(&caller, id)).await?;
    if memory.state == MemoryState::SoftDeleted {
        let error = Error::new(ErrorKind::NotFound, format!("memory {id} is deleted")).at("id");
        return Err(to_failure(&error.hint("restore it with POST /v1/memories/{id}/restore"), "metadata"));
    }
    let entry = Entry::from(memory);
    let history = run_operation(&app, "listMemoryHistory", app.engine.history(&caller, id, MAX_HISTORY)).await?;
    let version_history = history.events.into_iter().map(history_event).collect();
    Ok(Json(EntryDetails { entry_id: id, metadata: entry.metadata, source: entry.source, version_history }))
}

fn history_event(line: LedgerEntry) -> HistoryEvent {
    HistoryEvent {
        version: line.version,
        event: line.event.to_lowercase(),
        timestamp: line.at,
        author: line.actor,
        reason: line.reason,
    }
}

/// How an entry is created.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NewEntryOptions {
    /// Whether the vector is computed before the answer.
    pub(super) embed: bool,
    /// Whether it waits for consent.
    pub(super) proposed: bool,
    /// The id that it is to have.
    pub(super) id: Option<MemoryId>,
}

/// Creates an entry in its layer.
pub(super) async fn create_entry(
    app: &App,
    caller: &Caller,
    entry: EntryInput,
    place: &LayerSelector,
    how: NewEntryOptions,
) -> Result<WriteResult, Failure> {
    let sees_all = app.engine.sees_all_categories(caller).await;
    if !sees_all.map_err(|error| Failure::of(error.problem("create")))? {
        let message = "OpenSpec entries have no category, and this credential is limited to some categories";
        let error = Error::new(ErrorKind::Unauthorized, message).at("categories");
        return Err(to_failure(&error.hint("add the memory with POST /v1/memories and a category"), "create"));
    }
    let new = entry.into_new(place, how.embed).map_err(|error| to_failure(&error, "create"))?;
    let new = NewMemory { id: how.id, proposed: how.proposed, ..new };
    let receipt = run_operation(app, "addMemory", app.engine.remember(caller, new)).await?;
    written(app, caller, receipt).await
}

/// Changes an entry. Its layer cannot change.
pub(super) async fn update_entry(
    app: &App,
    caller: &Caller,
    id: MemoryId,
    entry: EntryInput,
    place: &LayerSelector,
    version: Option<u64>,
) -> Result<WriteResult, Failure> {
    let (layer, _) = target(place).map_err(|error| to_failure(&error, "update"))?;
    if let Some(layer) = layer {
        let memory = app.engine.get(caller, id).await;
        let memory = memory.map_err(|error| Failure::of(error.problem("changeMemory")))?;
        if memory.layer != layer {
            let message = format!("the layer of an entry cannot change; this entry is in the layer {}", memory.layer);
            return Err(to_failure(&Error::invalid("options.layer.type", message), "update"));
        }
    }
    let update = entry.into_update(version).map_err(|error| to_failure(&error, "update"))?;
    let receipt = run_operation(app, "changeMemory", app.engine.update(caller, id, update)).await?;
    written(app, caller, receipt).await
}

async fn written(app: &App, caller: &Caller, receipt: Receipt) -> Result<WriteResult, Failure> {
    let memory = app.engine.get(caller, receipt.id).await.map_err(|error| {
        Failure::of(error.problem("getMemory")).hint(format!(
            "the entry is stored as {}, but it is private and the request has no user_id that could see it",
            receipt.id
        ))
    })?;
    let status = status(&memory, receipt.event);
    Ok(WriteResult { entry: memory.into(), status })
}

fn status(memory: &Memory, outcome: Outcome) -> EntryStatus {
    match (memory.state, outcome) {
        (MemoryState::Proposed, _) => EntryStatus::PendingApproval,
        (_, Outcome::Created) => EntryStatus::Created,
        (_, Outcome::Deleted | Outcome::Erased) => EntryStatus::Deleted,
        _ => EntryStatus::Updated,
    }
}
