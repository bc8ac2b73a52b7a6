//! What became of a memory, and how is knowledge changed on purpose?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use loci_engine::{Chain, History, Keep, Provenance, Undone, WeakFact};
use loci_types::{Edge, ErrorKind, Identifiers, MemoryId, Relation, Space};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::memories::AddMemory;
use super::{NoParams, OnlyWhose, Wanted, IdentifierParams, Written, written};
use crate::App;
use crate::extract::{ScopedParams, Body, Id, MaybeBody, Params, words};
use crate::failure::{self, Failure, Failures};
use crate::guard::Who;

/// The routes of a memory's life.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(history))
        .routes(routes!(explain))
        .routes(routes!(chain))
        .routes(routes!(edges))
        .routes(routes!(supersede))
        .routes(routes!(correct))
        .routes(routes!(confirm))
        .routes(routes!(resolve))
        .routes(routes!(pin))
        .routes(routes!(undo))
        .routes(routes!(weak))
}

/// How much of a history is told.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct Most {
    /// So many entries at the most.
    #[param(required = false, minimum = 1, maximum = 1000)]
    limit: usize,
}

impl Default for Most {
    fn default() -> Self {
        Self { limit: 100 }
    }
}

/// What happened to a memory, oldest first.
#[utoipa::path(
    get, path = "/v1/memories/{id}/history", operation_id = "memoryHistory", tag = "life",
    params(("id" = uuid::Uuid, Path, description = "The memory"), Most, IdentifierParams),
    responses((status = 200, description = "The entries of the ledger", body = History), Failures),
    security(("key" = ["reader"]))
)]
async fn history(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    ScopedParams(whose, most): ScopedParams<Most>,
) -> Result<Json<History>, Failure> {
    let caller = who.caller(whose, "history")?;
    app.verb("history", app.engine.history(&caller, id, most.limit)).await.map(Json)
}

/// Where a memory comes from: its sources, versions, links and history.
#[utoipa::path(
    get, path = "/v1/memories/{id}/explain", operation_id = "explainMemory", tag = "life",
    params(("id" = uuid::Uuid, Path, description = "The memory"), IdentifierParams),
    responses((status = 200, description = "Where it comes from", body = Provenance), Failures),
    security(("key" = ["reader"]))
)]
async fn explain(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    ScopedParams(whose, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<Provenance>, Failure> {
    let caller = who.caller(whose, "explain")?;
    app.verb("explain", app.engine.explain(&caller, id)).await.map(Json)
}

/// All versions of what a memory says, oldest first.
#[utoipa::path(
    get, path = "/v1/memories/{id}/chain", operation_id = "memoryChain", tag = "life",
    params(("id" = uuid::Uuid, Path, description = "The memory"), IdentifierParams),
    responses((status = 200, description = "The versions", body = Chain), Failures),
    security(("key" = ["reader"]))
)]
async fn chain(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    ScopedParams(whose, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<Chain>, Failure> {
    let caller = who.caller(whose, "versions")?;
    app.verb("versions", app.engine.versions(&caller, id)).await.map(Json)
}

/// Which links are meant.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct Which {
    /// Of these relations; none: of all.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1)]
    relations: Vec<Relation>,
}

/// The links of a memory.
#[derive(Debug, Serialize, ToSchema)]
struct Edges {
    /// The links.
    edges: Vec<Edge>,
}

/// The links of a memory.
#[utoipa::path(
    get, path = "/v1/memories/{id}/edges", operation_id = "memoryEdges", tag = "life",
    params(("id" = uuid::Uuid, Path, description = "The memory"), Which, IdentifierParams),
    responses((status = 200, description = "The links", body = Edges), Failures),
    security(("key" = ["reader"]))
)]
async fn edges(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    ScopedParams(whose, which): ScopedParams<Which>,
) -> Result<Json<Edges>, Failure> {
    let caller = who.caller(whose, "edges")?;
    let edges = app.verb("edges", app.engine.edges(&caller, id, &which.relations)).await?;
    Ok(Json(Edges { edges }))
}

/// Puts a new memory in the place of an old one, which stays readable in the chain.
///
/// What the new one leaves out is taken from the old one.
#[utoipa::path(
    post, path = "/v1/memories/{id}/supersede", operation_id = "supersedeMemory", tag = "life",
    params(("id" = uuid::Uuid, Path, description = "The memory that is replaced"), Wanted),
    request_body(content = AddMemory, example = json!({
        "identifiers": { "userId": "ann" }, "content": "Ann moved to Vienna."
    })),
    responses(
        (status = 201, description = "The new memory", body = Written),
        (status = 200, description = "It was known already", body = Written),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn supersede(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    Params(wanted): Params<Wanted>,
    Body(body): Body<AddMemory>,
) -> Result<Response, Failure> {
    if body.batched() {
        let message = "what takes the place of another cannot wait to be written";
        return Err(Failure::new(ErrorKind::InvalidInput, message, "supersede")
            .field("durability")
            .hint("leave it out"));
    }
    let (identifiers, new) = body.apart();
    let caller = who.caller(identifiers, "supersede")?;
    let receipt = app.verb("supersede", app.engine.supersede(&caller, id, new)).await?;
    written(&app, &caller, receipt, wanted.r#return, StatusCode::CREATED).await
}

/// What is right.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CorrectMemory {
    /// IdentifierParams memories are meant.
    #[serde(default)]
    identifiers: Identifiers,
    /// What is right.
    content: String,
    /// Why the old was wrong.
    reason: Option<String>,
}

/// Says that a memory was wrong, and what is right.
#[utoipa::path(
    post, path = "/v1/memories/{id}/correct", operation_id = "correctMemory", tag = "life",
    params(("id" = uuid::Uuid, Path, description = "The memory that was wrong"), Wanted),
    request_body = CorrectMemory,
    responses(
        (status = 201, description = "The memory that is right", body = Written),
        (status = 200, description = "It was known already", body = Written),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn correct(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    Params(wanted): Params<Wanted>,
    Body(body): Body<CorrectMemory>,
) -> Result<Response, Failure> {
    let caller = who.caller(body.identifiers, "correct")?;
    let work = app.engine.correct(&caller, id, &body.content, body.reason.as_deref());
    let receipt = app.verb("correct", work).await?;
    written(&app, &caller, receipt, wanted.r#return, StatusCode::CREATED).await
}

/// Says that a memory is right: it is sure, and never fades.
#[utoipa::path(
    post, path = "/v1/memories/{id}/confirm", operation_id = "confirmMemory", tag = "life",
    params(("id" = uuid::Uuid, Path, description = "The memory"), Wanted),
    request_body = Option<OnlyWhose>,
    responses((status = 200, description = "Confirmed", body = Written), Failures),
    security(("key" = ["writer"]))
)]
async fn confirm(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    Params(wanted): Params<Wanted>,
    MaybeBody(body): MaybeBody<OnlyWhose>,
) -> Result<Response, Failure> {
    let caller = who.caller(body.identifiers, "confirm")?;
    let receipt = app.verb("confirm", app.engine.confirm(&caller, id)).await?;
    written(&app, &caller, receipt, wanted.r#return, StatusCode::OK).await
}

/// Which of two memories holds.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResolveMemory {
    /// IdentifierParams memories are meant.
    #[serde(default)]
    identifiers: Identifiers,
    /// The other memory.
    #[schema(value_type = uuid::Uuid)]
    other: MemoryId,
    /// Which one holds: the one said later, the one said earlier, or both.
    keep: Keep,
}

/// Settles which of two memories that may contradict each other holds.
///
/// What does not hold stays readable in the chain of the other.
#[utoipa::path(
    post, path = "/v1/memories/{id}/resolve", operation_id = "resolveMemory", tag = "life",
    params(("id" = uuid::Uuid, Path, description = "One of the two memories"), Wanted),
    request_body = ResolveMemory,
    responses((status = 200, description = "Settled", body = Written), Failures),
    security(("key" = ["writer"]))
)]
async fn resolve(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    Params(wanted): Params<Wanted>,
    Body(body): Body<ResolveMemory>,
) -> Result<Response, Failure> {
    let caller = who.caller(body.identifiers, "resolve")?;
    let receipt = app.verb("resolve", app.engine.resolve(&caller, id, body.other, body.keep)).await?;
    written(&app, &caller, receipt, wanted.r#return, StatusCode::OK).await
}

/// Whether a memory is kept whatever happens.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PinMemory {
    /// IdentifierParams memories are meant.
    #[serde(default)]
    identifiers: Identifiers,
    /// Kept whatever happens, or no longer.
    pinned: bool,
}

/// Keeps a memory whatever happens, or no longer.
#[utoipa::path(
    post, path = "/v1/memories/{id}/pin", operation_id = "pinMemory", tag = "life",
    params(("id" = uuid::Uuid, Path, description = "The memory"), Wanted),
    request_body = PinMemory,
    responses((status = 200, description = "Pinned, or no longer", body = Written), Failures),
    security(("key" = ["writer"]))
)]
async fn pin(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    Params(wanted): Params<Wanted>,
    Body(body): Body<PinMemory>,
) -> Result<Response, Failure> {
    let caller = who.caller(body.identifiers, "pin")?;
    let receipt = app.verb("pin", app.engine.pin(&caller, id, body.pinned)).await?;
    written(&app, &caller, receipt, wanted.r#return, StatusCode::OK).await
}

/// A line of a space's ledger.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UndoLine {
    /// IdentifierParams memories are meant.
    #[serde(default)]
    identifiers: Identifiers,
    /// The space: `shared`, `users_00` to `users_3f`, `agent_memory_SLUG` or `pool_SLUG`.
    #[schema(pattern = "^(shared|users_[0-3][0-9a-f]|(agent_memory|pool)_[A-Za-z0-9][A-Za-z0-9._-]{0,95})$")]
    space: String,
    /// The number of the line, as the history tells it.
    #[schema(minimum = 1)]
    sequence: i64,
}

/// Takes back one line of the ledger.
#[utoipa::path(
    post, path = "/v1/undo", operation_id = "undo", tag = "life",
    request_body(content = UndoLine, example = json!({
        "identifiers": { "userId": "ann" }, "space": "users_21", "sequence": 7
    })),
    responses((status = 200, description = "What was taken back", body = Undone), Failures),
    security(("key" = ["writer"]))
)]
async fn undo(State(app): State<Arc<App>>, who: Who, Body(body): Body<UndoLine>) -> Result<Json<Undone>, Failure> {
    let space: Space = body.space.parse().map_err(|error| failure::word(&error, "undo"))?;
    let caller = who.caller(body.identifiers, "undo")?;
    app.verb("undo", app.engine.undo(&caller, &space, body.sequence)).await.map(Json)
}

/// How weak, and how many.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct Weakness {
    /// With a confidence below this; none: below the threshold that is set.
    #[param(nullable = false, minimum = 0, maximum = 1)]
    below: Option<f64>,
    /// So many at the most.
    #[param(required = false, minimum = 1, maximum = 1000)]
    limit: usize,
}

impl Default for Weakness {
    fn default() -> Self {
        Self { below: None, limit: 50 }
    }
}

/// Memories that fade.
#[derive(Debug, Serialize, ToSchema)]
struct WeakFacts {
    /// The weakest first.
    facts: Vec<WeakFact>,
}

/// Facts that someone should look at before they are gone, weakest first.
#[utoipa::path(
    get, path = "/v1/weak", operation_id = "weakFacts", tag = "life",
    params(Weakness, IdentifierParams),
    responses((status = 200, description = "What fades", body = WeakFacts), Failures),
    security(("key" = ["reader"]))
)]
async fn weak(
    State(app): State<Arc<App>>,
    who: Who,
    ScopedParams(whose, asked): ScopedParams<Weakness>,
) -> Result<Json<WeakFacts>, Failure> {
    let caller = who.caller(whose, "weak")?;
    let facts = app.verb("weak", app.engine.weak_facts(&caller, asked.below, asked.limit)).await?;
    Ok(Json(WeakFacts { facts }))
}
