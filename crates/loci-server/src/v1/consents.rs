//! Consents: proposals that wait for a decision, under `/v1/consents`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use loci_engine::{Caller, Proposal};
use loci_types::{Memory, MemoryRef, Outcome, Receipt};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{Page, PageParams};
use super::write::{Prefer, PreferHeader, Write, read_back};
use super::{IdentifierParams, NoParams};
use crate::App;
use crate::extract::{Id, ListParams, MaybeScoped, NoFields, Scoped, ScopedParams};
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The routes of proposals.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get)).routes(routes!(accept)).routes(routes!(reject))
}

/// Lists proposals that wait for a decision, oldest first.
#[utoipa::path(
    get, path = "/v1/consents", operation_id = "listConsents", tag = "consents",
    params(PageParams, IdentifierParams),
    responses((status = 200, description = "A page of proposals", body = Page<Proposal>), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params: NoParams {} }: ListParams<NoParams>,
) -> Result<Json<Page<Proposal>>, Failure> {
    let caller = principal.caller(scope, "listConsents")?;
    page.slice(app.run_operation("listConsents", app.engine.proposals(&caller)).await?).map(Json)
}

/// Reads a proposal that waits for a decision.
#[utoipa::path(
    get, path = "/v1/consents/{id}", operation_id = "getConsent", tag = "consents",
    params(("id" = inline(MemoryRef), Path, description = "The id of the proposal, which is that of its memory"), IdentifierParams),
    responses((status = 200, description = "The proposal", body = Proposal), Failures),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<Proposal>, Failure> {
    let caller = principal.caller(scope, "getConsent")?;
    app.run_operation("getConsent", app.engine.proposal(&caller, id)).await.map(Json)
}

/// Accepts a proposal: its memory becomes active.
#[utoipa::path(
    post, path = "/v1/consents/{id}/accept", operation_id = "acceptConsent", tag = "consents",
    params(("id" = inline(MemoryRef), Path, description = "The id of the proposal"), PreferHeader),
    request_body(content = Scoped<NoFields>, description = "Optional"),
    responses(
        (status = 200, description = "The memory is active", body = Write<Memory>),
        (status = 201, description = "The memory is active and supersedes another", body = Write<Memory>),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn accept(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    Id(id): Id,
    MaybeScoped(Scoped { scope, .. }): MaybeScoped<NoFields>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "acceptConsent")?;
    let receipt = app.run_operation("acceptConsent", app.engine.accept(&caller, id)).await?;
    Ok(decided(&app, &caller, receipt, prefer).await)
}

/// Why a proposal is rejected.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct RejectConsent {
    /// The reason, for the history.
    reason: Option<String>,
}

/// Rejects a proposal: its memory is deleted.
#[utoipa::path(
    post, path = "/v1/consents/{id}/reject", operation_id = "rejectConsent", tag = "consents",
    params(("id" = inline(MemoryRef), Path, description = "The id of the proposal"), PreferHeader),
    request_body(content = Scoped<RejectConsent>, description = "Optional"),
    responses((status = 200, description = "The proposal is rejected", body = Write<Memory>), Failures),
    security(("key" = ["writer"]))
)]
async fn reject(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    Id(id): Id,
    MaybeScoped(Scoped { scope, body }): MaybeScoped<RejectConsent>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "rejectConsent")?;
    let receipt = app.run_operation("rejectConsent", app.engine.reject(&caller, id, body.reason.as_deref())).await?;
    Ok(decided(&app, &caller, receipt, prefer).await)
}

/// The answer to a decision. The proposal was a memory before, so nothing is new: it changed, or was known already.
async fn decided(app: &App, caller: &Caller, receipt: Receipt, prefer: Prefer) -> Response {
    let memory = read_back(app, caller, receipt.id, Prefer::default()).await;
    let event = match receipt.event {
        Outcome::Created | Outcome::Superseded => Outcome::Updated,
        event => event,
    };
    // What was asked about it is removed after the decision, which makes another version.
    let version = memory.as_ref().map_or(receipt.version, |memory| memory.version);
    let place = format!("/v1/memories/{}", receipt.id);
    Write::of(Receipt { event, version, ..receipt }, memory.filter(|_| !prefer.minimal)).at(&place)
}
