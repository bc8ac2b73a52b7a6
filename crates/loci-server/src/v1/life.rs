//! The life of a memory: its history, versions, links and provenance, and how knowledge is changed on purpose.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::LINK;
use axum::response::{IntoResponse, Response};
use loci_engine::{Keep, NewMemory, ProvenanceReport, UndoOutcome, WeakMemory};
use loci_types::{Durability, Edge, ErrorKind, LedgerEntry, Memory, MemoryRef, Relation, Space};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::memories::answer_write;
use super::page::{Page, PageParams};
use super::write::{Prefer, PreferHeader, Write};
use super::{IdentifierParams, NoParams};
use crate::App;
use crate::extract::{Id, ListParams, MaybeScoped, NoFields, PathPair, Scoped, ScopedParams, words};
use crate::failure::{self, Failure, Failures};
use crate::guard::Principal;

/// The routes of a memory's life.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(history))
        .routes(routes!(provenance))
        .routes(routes!(chain))
        .routes(routes!(edges))
        .routes(routes!(supersede))
        .routes(routes!(correct))
        .routes(routes!(confirm))
        .routes(routes!(resolve))
        .routes(routes!(undo))
        .routes(routes!(weak))
}

/// Lists the ledger entries of a memory, oldest first.
#[utoipa::path(
    get, path = "/v1/memories/{id}/history", operation_id = "listMemoryHistory", tag = "life",
    params(("id" = inline(MemoryRef), Path, description = "The id of the memory"), PageParams, IdentifierParams),
    responses((status = 200, description = "A page of ledger entries", body = Page<LedgerEntry>), Failures),
    security(("key" = ["reader"]))
)]
async fn history(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    ListParams { scope, page, params: NoParams {} }: ListParams<NoParams>,
) -> Result<Json<Page<LedgerEntry>>, Failure> {
    let caller = principal.caller(scope, "listMemoryHistory")?;
    let read = page.offset()?.saturating_add(page.limit + 1);
    let history = app.run_operation("listMemoryHistory", app.engine.history(&caller, id, read)).await?;
    page.slice(history.events).map(Json)
}

/// Reads where a memory comes from: its sources, versions, entities, links and history.
#[utoipa::path(
    get, path = "/v1/memories/{id}/provenance", operation_id = "getMemoryProvenance", tag = "life",
    params(("id" = inline(MemoryRef), Path, description = "The id of the memory"), IdentifierParams),
    responses((status = 200, description = "The provenance of the memory", body = ProvenanceReport), Failures),
    security(("key" = ["reader"]))
)]
async fn provenance(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<ProvenanceReport>, Failure> {
    let caller = principal.caller(scope, "getMemoryProvenance")?;
    app.run_operation("getMemoryProvenance", app.engine.explain(&caller, id)).await.map(Json)
}

/// Lists all versions of what a memory says, oldest first.
///
/// The last entry of the last page is the version that holds now; the header `Link` with `rel="latest-version"` names
/// it on every page.
#[utoipa::path(
    get, path = "/v1/memories/{id}/chain", operation_id = "listMemoryChain", tag = "life",
    params(("id" = inline(MemoryRef), Path, description = "The id of the memory"), PageParams, IdentifierParams),
    responses(
        (
            status = 200, description = "A page of versions", body = Page<Memory>,
            headers(("Link" = String, description = "The version that holds now, with `rel=\"latest-version\"`"))
        ),
        Failures
    ),
    security(("key" = ["reader"]))
)]
async fn chain(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    ListParams { scope, page, params: NoParams {} }: ListParams<NoParams>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "listMemoryChain")?;
    let chain = app.run_operation("listMemoryChain", app.engine.versions(&caller, id)).await?;
    let head = format!("</v1/memories/{}>; rel=\"latest-version\"", chain.head);
    Ok(([(LINK, head)], Json(page.slice(chain.versions)?)).into_response())
}

/// The links that are listed.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct EdgeParams {
    /// Any of these relations. Default: all.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1)]
    relation: Vec<Relation>,
}

/// Lists the links from and to a memory, oldest first.
#[utoipa::path(
    get, path = "/v1/memories/{id}/edges", operation_id = "listMemoryEdges", tag = "life",
    params(("id" = inline(MemoryRef), Path, description = "The id of the memory"), EdgeParams, PageParams, IdentifierParams),
    responses((status = 200, description = "A page of links", body = Page<Edge>), Failures),
    security(("key" = ["reader"]))
)]
async fn edges(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    ListParams { scope, page, params }: ListParams<EdgeParams>,
) -> Result<Json<Page<Edge>>, Failure> {
    let caller = principal.caller(scope, "listMemoryEdges")?;
    let edges = app.run_operation("listMemoryEdges", app.engine.edges(&caller, id, &params.relation)).await?;
    page.slice(edges).map(Json)
}

/// Replaces a memory by a newer one. The old one stays readable in the chain.
///
/// Kind, category, tags, importance, access policy and pinning are taken from the old memory where they are left out.
#[utoipa::path(
    post, path = "/v1/memories/{id}/supersede", operation_id = "supersedeMemory", tag = "life",
    params(("id" = inline(MemoryRef), Path, description = "The id of the memory that is replaced"), PreferHeader),
    request_body(content = Scoped<NewMemory>, example = json!({
        "identifiers": { "userId": "ann" }, "content": "Ann moved to Vienna."
    })),
    responses(
        (status = 201, description = "The new memory", body = Write<Memory>),
        (status = 200, description = "The memory existed already", body = Write<Memory>),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn supersede(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    prefer: Prefer,
    Scoped { scope, body }: Scoped<NewMemory>,
) -> Result<Response, Failure> {
    if body.durability == Some(Durability::Batched) {
        let message = "durability cannot be `batched` for a memory that replaces another";
        return Err(Failure::new(ErrorKind::InvalidInput, message, "supersedeMemory")
            .field("durability")
            .hint("leave it out"));
    }
    let caller = principal.caller(scope, "supersedeMemory")?;
    let receipt = app.run_operation("supersedeMemory", app.engine.supersede(&caller, id, body)).await?;
    Ok(answer_write(&app, &caller, receipt, prefer).await)
}

/// The correction of a memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Correction {
    /// The text that is right.
    content: String,
    /// Why the old text was wrong, for the history.
    reason: Option<String>,
}

/// Replaces a memory that was wrong. The new one has confidence 1.
#[utoipa::path(
    post, path = "/v1/memories/{id}/correct", operation_id = "correctMemory", tag = "life",
    params(("id" = inline(MemoryRef), Path, description = "The id of the memory that was wrong"), PreferHeader),
    request_body = Scoped<Correction>,
    responses(
        (status = 201, description = "The new memory", body = Write<Memory>),
        (status = 200, description = "The memory existed already", body = Write<Memory>),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn correct(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    prefer: Prefer,
    Scoped { scope, body }: Scoped<Correction>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "correctMemory")?;
    let work = app.engine.correct(&caller, id, &body.content, body.reason.as_deref());
    let receipt = app.run_operation("correctMemory", work).await?;
    Ok(answer_write(&app, &caller, receipt, prefer).await)
}

/// Confirms a memory: its confidence becomes 1 and no longer decays.
#[utoipa::path(
    post, path = "/v1/memories/{id}/confirm", operation_id = "confirmMemory", tag = "life",
    params(("id" = inline(MemoryRef), Path, description = "The id of the memory"), PreferHeader),
    request_body(content = Scoped<NoFields>, description = "Optional"),
    responses((status = 200, description = "The memory is confirmed", body = Write<Memory>), Failures),
    security(("key" = ["writer"]))
)]
async fn confirm(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    prefer: Prefer,
    MaybeScoped(Scoped { scope, .. }): MaybeScoped<NoFields>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "confirmMemory")?;
    let receipt = app.run_operation("confirmMemory", app.engine.confirm(&caller, id)).await?;
    Ok(answer_write(&app, &caller, receipt, prefer).await)
}

/// The resolution of a contradiction.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Resolution {
    /// The id of the other memory, or a short form of it.
    #[schema(value_type = String, min_length = 6, max_length = 45)]
    other: MemoryRef,
    /// Which of the two holds: the one said later, the one said earlier, or both.
    keep: Keep,
}

/// Resolves a contradiction between two memories.
///
/// A memory that does not hold stays readable in the chain of the other.
#[utoipa::path(
    post, path = "/v1/memories/{id}/resolve", operation_id = "resolveMemory", tag = "life",
    params(("id" = inline(MemoryRef), Path, description = "The id of one of the two memories"), PreferHeader),
    request_body = Scoped<Resolution>,
    responses((status = 200, description = "The contradiction is resolved", body = Write<Memory>), Failures),
    security(("key" = ["writer"]))
)]
async fn resolve(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    prefer: Prefer,
    Scoped { scope, body }: Scoped<Resolution>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "resolveMemory")?;
    let other = app.engine.resolve_id(&caller, &body.other).await;
    let other = other.map_err(|error| Failure::of(error.problem("resolveMemory")).field("other"))?;
    let work = app.engine.resolve(&caller, id, other, body.keep);
    let receipt = app.run_operation("resolveMemory", work).await?;
    Ok(answer_write(&app, &caller, receipt, prefer).await)
}

/// Undoes the change that one ledger entry records.
#[utoipa::path(
    post, path = "/v1/ledger/{space}/{sequence}/undo", operation_id = "undoChange", tag = "life",
    params(
        ("space" = String, Path, description = "The space of the entry, as the history names it"),
        ("sequence" = i64, Path, minimum = 1, description = "The sequence number of the entry, as the history names it")
    ),
    request_body(content = Scoped<NoFields>, description = "Optional"),
    responses((status = 200, description = "What was undone", body = UndoOutcome), Failures),
    security(("key" = ["writer"]))
)]
async fn undo(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathPair(space, sequence): PathPair,
    MaybeScoped(Scoped { scope, .. }): MaybeScoped<NoFields>,
) -> Result<Json<UndoOutcome>, Failure> {
    let space: Space = space.parse().map_err(|error| failure::to_failure(&error, "undoChange"))?;
    let number = sequence.parse().map_err(|_| {
        Failure::new(ErrorKind::InvalidInput, "the sequence in the path is not a number", "undoChange")
            .field("sequence")
    })?;
    let caller = principal.caller(scope, "undoChange")?;
    app.run_operation("undoChange", app.engine.undo(&caller, &space, number)).await.map(Json)
}

/// The memories that are listed as weak.
#[derive(Debug, Clone, Copy, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct WeakParams {
    /// Memories with a confidence below this. Default: `lifecycle.decayed_below` of the configuration.
    #[param(nullable = false, minimum = 0, maximum = 1)]
    below: Option<f64>,
}

/// Lists memories with low confidence, the weakest first: those that someone should check before they are removed.
#[utoipa::path(
    get, path = "/v1/memories/weak", operation_id = "listWeakMemories", tag = "life",
    params(WeakParams, PageParams, IdentifierParams),
    responses((status = 200, description = "A page of weak memories", body = Page<WeakMemory>), Failures),
    security(("key" = ["reader"]))
)]
async fn weak(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params }: ListParams<WeakParams>,
) -> Result<Json<Page<WeakMemory>>, Failure> {
    let caller = principal.caller(scope, "listWeakMemories")?;
    let read = page.offset()?.saturating_add(page.limit + 1);
    let weak = app.run_operation("listWeakMemories", app.engine.weak_facts(&caller, params.below, read)).await?;
    page.slice(weak).map(Json)
}
