//! What waits for consent, and who decides?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_engine::Proposal;
use loci_types::{Identifiers, Receipt};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{NoParams, OnlyWhose, IdentifierParams};
use crate::App;
use crate::extract::{ScopedParams, Id, MaybeBody};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The routes of proposals.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(accept)).routes(routes!(reject))
}

/// What waits for a decision.
#[derive(Debug, Serialize, ToSchema)]
struct Proposals {
    /// The oldest first.
    proposals: Vec<Proposal>,
}

/// Lists what waits for a decision, oldest first, 1,000 at the most.
#[utoipa::path(
    get, path = "/v1/consents", operation_id = "listConsents", tag = "consents",
    params(IdentifierParams),
    responses((status = 200, description = "What waits", body = Proposals), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    who: Who,
    ScopedParams(whose, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<Proposals>, Failure> {
    let caller = who.caller(whose, "proposals")?;
    let proposals = app.verb("proposals", app.engine.proposals(&caller)).await?;
    Ok(Json(Proposals { proposals }))
}

/// Accepts a proposal: it is known from now on.
#[utoipa::path(
    post, path = "/v1/consents/{id}/accept", operation_id = "acceptConsent", tag = "consents",
    params(("id" = uuid::Uuid, Path, description = "The proposal")),
    request_body = Option<OnlyWhose>,
    responses((status = 200, description = "It is known", body = Receipt), Failures),
    security(("key" = ["writer"]))
)]
async fn accept(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    MaybeBody(body): MaybeBody<OnlyWhose>,
) -> Result<Json<Receipt>, Failure> {
    let caller = who.caller(body.identifiers, "accept")?;
    app.verb("accept", app.engine.accept(&caller, id)).await.map(Json)
}

/// Why something is not to be known.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct RejectConsent {
    /// IdentifierParams memories are meant.
    identifiers: Identifiers,
    /// Why, for the history.
    reason: Option<String>,
}

/// Rejects a proposal: it is never known.
#[utoipa::path(
    post, path = "/v1/consents/{id}/reject", operation_id = "rejectConsent", tag = "consents",
    params(("id" = uuid::Uuid, Path, description = "The proposal")),
    request_body = Option<RejectConsent>,
    responses((status = 200, description = "It is not known", body = Receipt), Failures),
    security(("key" = ["writer"]))
)]
async fn reject(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    MaybeBody(body): MaybeBody<RejectConsent>,
) -> Result<Json<Receipt>, Failure> {
    let caller = who.caller(body.identifiers, "reject")?;
    app.verb("reject", app.engine.reject(&caller, id, body.reason.as_deref())).await.map(Json)
}
