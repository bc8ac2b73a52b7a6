//! How is one entry made, changed, removed and told of?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use loci_engine::Caller;
use loci_types::{Error, ErrorKind, LedgerEntry, Memory, MemoryId, Outcome, Receipt, State as Stands};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::place::{Where, Whose, target, with_identifiers};
use super::shape::{Entry, EntryMetadata, EntrySource, Given};
use super::told::ToldFailures;
use super::verb;
use crate::App;
use crate::extract::{Body, Id, Params};
use crate::failure::{Failure, word};
use crate::guard::Who;
use crate::v1::expected;

/// So many lines of an entry's history are told.
const HISTORY: usize = 1_000;

/// An entry to make or to change.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OpenSpecWrite)]
pub(super) struct Write {
    /// The entry.
    entry: Given,
    /// How it is kept.
    #[serde(default)]
    options: Options,
    /// The version that the caller saw, for a change; another one in the store is a conflict.
    #[serde(default)]
    version: Option<u64>,
}

/// How an entry is kept.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = OpenSpecWriteOptions)]
struct Options {
    /// Whether the vector is made while the caller waits; if not, it follows soon after.
    generate_embedding: bool,
    /// Where it lies, and whose it is.
    layer: Where,
}

impl Default for Options {
    fn default() -> Self {
        Self { generate_embedding: true, layer: Where::default() }
    }
}

/// What became of an entry.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecWritten)]
pub(super) struct Written {
    /// The entry as it is now.
    pub(super) entry: Entry,
    /// What happened to it.
    pub(super) status: Status,
}

/// What happened to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = OpenSpecStatus)]
pub(super) enum Status {
    /// It is new.
    Created,
    /// It was known, or has new values, or took the place of another.
    Updated,
    /// It waits for consent.
    PendingApproval,
    /// It is removed.
    Deleted,
}

with_identifiers!(
    /// How an entry is removed, and whose it is.
    #[derive(utoipa::IntoParams)]
    #[into_params(parameter_in = Query)]
    Removal {
        /// Whether it is gone at once and for good, with every trace of what it said.
        hard_delete: bool,
        /// Why, for the people who read the history.
        reason: Option<String>,
    }
);

/// That an entry is removed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecRemoved)]
pub(super) struct Removed {
    /// Always true.
    deleted: bool,
    /// Which.
    entry_id: MemoryId,
}

/// What is told about an entry.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecEntryMetadata)]
pub(super) struct About {
    /// Which.
    entry_id: MemoryId,
    /// What is told about it.
    metadata: EntryMetadata,
    /// Where it came from.
    #[schema(required)]
    source: Option<EntrySource>,
    /// What happened to it, oldest first.
    version_history: Vec<Past>,
}

/// One thing that happened to an entry.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecPast)]
struct Past {
    /// The version after it.
    #[schema(required)]
    version: Option<u64>,
    /// What: `add, update, delete, merge, supersede, restore, …`
    event: String,
    /// When.
    timestamp: Timestamp,
    /// Who.
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    /// Why.
    reason: String,
}

/// Makes an entry.
#[utoipa::path(
    post, path = "/openspec/v1/knowledge/create", operation_id = "openspecCreate", tag = "openspec",
    request_body = Write,
    responses((status = 201, description = "It is kept", body = Written), ToldFailures),
    security(("key" = ["writer"]))
)]
pub(super) async fn create(
    State(app): State<Arc<App>>,
    who: Who,
    Body(write): Body<Write>,
) -> Result<Response, Failure> {
    let place = write.options.layer;
    if write.version.is_some() {
        let error = Error::invalid("version", "a new entry has no version yet").hint("PUT changes an entry");
        return Err(word(&error, "create"));
    }
    let caller = who.caller(place.identifiers(), "create")?;
    let written = made(&app, &caller, write.entry, &place, write.options.generate_embedding).await?;
    Ok((StatusCode::CREATED, Json(written)).into_response())
}

/// Changes an entry; what is absent stays.
#[utoipa::path(
    put, path = "/openspec/v1/knowledge/{id}", operation_id = "openspecUpdate", tag = "openspec",
    params(
        ("id" = uuid::Uuid, Path, description = "The entry"),
        ("If-Match" = Option<String>, Header, description = "The version that the caller saw")
    ),
    request_body = Write,
    responses((status = 200, description = "It is changed", body = Written), ToldFailures),
    security(("key" = ["writer"]))
)]
pub(super) async fn update(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    headers: HeaderMap,
    Body(write): Body<Write>,
) -> Result<Json<Written>, Failure> {
    let version = match (expected(&headers)?, write.version) {
        (Some(one), Some(other)) if one != other => {
            let error = Error::invalid("version", format!("If-Match names version {one}, the body {other}"));
            return Err(word(&error.hint("give one of them"), "update"));
        }
        (one, other) => one.or(other),
    };
    let place = write.options.layer;
    let caller = who.caller(place.identifiers(), "update")?;
    changed(&app, &caller, id, write.entry, &place, version).await.map(Json)
}

/// Removes an entry.
#[utoipa::path(
    delete, path = "/openspec/v1/knowledge/{id}", operation_id = "openspecDelete", tag = "openspec",
    params(
        ("id" = uuid::Uuid, Path, description = "The entry"),
        ("If-Match" = Option<String>, Header, description = "The version that the caller saw"),
        Removal
    ),
    responses((status = 200, description = "It is removed", body = Removed), ToldFailures),
    security(("key" = ["writer"]))
)]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    headers: HeaderMap,
    Params(removal): Params<Removal>,
) -> Result<Json<Removed>, Failure> {
    let (caller, version) = (who.caller(removal.identifiers(), "delete")?, expected(&headers)?);
    let reason = removal.reason.as_deref();
    if removal.hard_delete {
        verb(&app, "deleteMemory", app.engine.erase(&caller, id, version, reason)).await?;
    } else {
        verb(&app, "deleteMemory", app.engine.forget(&caller, id, version, reason)).await?;
    }
    Ok(Json(Removed { deleted: true, entry_id: id }))
}

/// Tells about an entry, with what happened to it.
#[utoipa::path(
    get, path = "/openspec/v1/knowledge/{id}/metadata", operation_id = "openspecMetadata", tag = "openspec",
    params(("id" = uuid::Uuid, Path, description = "The entry"), Whose),
    responses((status = 200, description = "What is told about it", body = About), ToldFailures),
    security(("key" = ["reader"]))
)]
pub(super) async fn metadata(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    Params(whose): Params<Whose>,
) -> Result<Json<About>, Failure> {
    let caller = who.caller(whose.identifiers(), "metadata")?;
    let entry = Entry::from(verb(&app, "getMemory", app.engine.get(&caller, id)).await?);
    let history = verb(&app, "listMemoryHistory", app.engine.history(&caller, id, HISTORY)).await?;
    let version_history = history.events.into_iter().map(past).collect();
    Ok(Json(About { entry_id: id, metadata: entry.metadata, source: entry.source, version_history }))
}

fn past(line: LedgerEntry) -> Past {
    Past {
        version: line.version,
        event: line.event.to_lowercase(),
        timestamp: line.at,
        author: line.actor,
        reason: line.reason,
    }
}

/// Makes an entry in its place.
pub(super) async fn made(
    app: &App,
    caller: &Caller,
    entry: Given,
    place: &Where,
    embed: bool,
) -> Result<Written, Failure> {
    let sees_all = app.engine.sees_all_categories(caller).await;
    if !sees_all.map_err(|error| Failure::of(error.problem("create")))? {
        let message = "entries have no category here, and this caller sees only some categories";
        let error = Error::new(ErrorKind::Unauthorized, message).at("categories");
        return Err(word(&error.hint("add it with POST /v1/memories and its category"), "create"));
    }
    let new = entry.into_new(place, embed).map_err(|error| word(&error, "create"))?;
    let receipt = verb(app, "addMemory", app.engine.remember(caller, new)).await?;
    written(app, caller, receipt).await
}

/// Changes an entry. It stays where it lies.
pub(super) async fn changed(
    app: &App,
    caller: &Caller,
    id: MemoryId,
    entry: Given,
    place: &Where,
    version: Option<u64>,
) -> Result<Written, Failure> {
    let (layer, _) = target(place).map_err(|error| word(&error, "update"))?;
    if let Some(layer) = layer {
        let memory = app.engine.get(caller, id).await;
        let memory = memory.map_err(|error| Failure::of(error.problem("changeMemory")))?;
        if memory.layer != layer {
            let message = format!("the entry lies in the layer {}, and an entry stays where it lies", memory.layer);
            return Err(word(&Error::invalid("options.layer.type", message), "update"));
        }
    }
    let update = entry.into_update(version).map_err(|error| word(&error, "update"))?;
    let receipt = verb(app, "changeMemory", app.engine.update(caller, id, update)).await?;
    written(app, caller, receipt).await
}

async fn written(app: &App, caller: &Caller, receipt: Receipt) -> Result<Written, Failure> {
    let memory = app.engine.get(caller, receipt.id).await.map_err(|error| {
        Failure::of(error.problem("getMemory"))
            .hint(format!("it is kept as {}, but is private and the caller names no user who could see it", receipt.id))
    })?;
    let status = status(&memory, receipt.event);
    Ok(Written { entry: memory.into(), status })
}

fn status(memory: &Memory, outcome: Outcome) -> Status {
    match (memory.state, outcome) {
        (Stands::Proposed, _) => Status::PendingApproval,
        (_, Outcome::Created) => Status::Created,
        (_, Outcome::Deleted | Outcome::Erased) => Status::Deleted,
        _ => Status::Updated,
    }
}
