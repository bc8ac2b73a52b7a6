//! Facts: subject–predicate–object triples under `/v1/facts`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use loci_engine::{FactRequest, NewFact};
use loci_types::{Fact, FactId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{Page, PageParams};
use super::write::{Prefer, PreferHeader, Write};
use super::{IdentifierParams, NoParams};
use crate::App;
use crate::extract::{Id, ListParams, Scoped, ScopedParams};
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The routes of facts.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, state)).routes(routes!(get, retract))
}

/// States a fact.
///
/// A fact that is stated again stays one: the greater confidence is kept, metadata and sources are added.
#[utoipa::path(
    post, path = "/v1/facts", operation_id = "stateFact", tag = "facts",
    params(PreferHeader),
    request_body(content = Scoped<NewFact>, example = json!({
        "identifiers": { "userId": "ann" },
        "factType": "has_version", "subject": "Database", "predicate": "version", "object": "v16"
    })),
    responses(
        (status = 201, description = "The fact is new", body = Write<Fact>),
        (status = 200, description = "The fact was known", body = Write<Fact>),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn state(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    Scoped { scope, body }: Scoped<NewFact>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "stateFact")?;
    let stated = app.run_operation("stateFact", app.engine.state_fact(&caller, body)).await?;
    let (id, place) = (stated.fact.id.to_string(), format!("/v1/facts/{}", stated.fact.id));
    Ok(Write::new(id, stated.event, prefer.data(stated.fact))
        .redacted(stated.redacted)
        .within(&place, &caller.identifiers))
}

/// The facts that are listed: those that match all of what is given.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct FactParams {
    /// The type of the fact.
    #[param(nullable = false)]
    fact_type: Option<String>,
    /// The subject.
    #[param(nullable = false)]
    subject: Option<String>,
    /// The predicate.
    #[param(nullable = false)]
    predicate: Option<String>,
    /// The object.
    #[param(nullable = false)]
    object: Option<String>,
    /// Whether facts are included that were learned from memories of which none holds any more.
    #[param(required = false)]
    include_past: bool,
}

/// Lists facts, the most certain first.
#[utoipa::path(
    get, path = "/v1/facts", operation_id = "listFacts", tag = "facts",
    params(FactParams, PageParams, IdentifierParams),
    responses((status = 200, description = "A page of facts", body = Page<Fact>), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params }: ListParams<FactParams>,
) -> Result<Json<Page<Fact>>, Failure> {
    let caller = principal.caller(scope, "listFacts")?;
    let request = FactRequest {
        fact_type: params.fact_type,
        subject: params.subject,
        predicate: params.predicate,
        object: params.object,
        include_past: params.include_past,
        offset: page.offset()?,
        limit: Some(page.limit + 1),
    };
    let facts = app.run_operation("listFacts", app.engine.facts(&caller, request)).await?;
    page.read(facts).map(Json)
}

/// Reads a fact.
#[utoipa::path(
    get, path = "/v1/facts/{id}", operation_id = "getFact", tag = "facts",
    params(("id" = uuid::Uuid, Path, description = "The id of the fact"), IdentifierParams),
    responses((status = 200, description = "The fact", body = Fact), Failures),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<Fact>, Failure> {
    let caller = principal.caller(scope, "getFact")?;
    app.run_operation("getFact", app.engine.fact(&caller, FactId(id.0))).await.map(Json)
}

/// Why a fact is retracted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct RetractParams {
    /// The reason, which is recorded in the ledger.
    #[param(nullable = false, max_length = 1024)]
    reason: Option<String>,
}

/// Retracts a fact. The memories that it was learned from stay.
#[utoipa::path(
    delete, path = "/v1/facts/{id}", operation_id = "retractFact", tag = "facts",
    params(("id" = uuid::Uuid, Path, description = "The id of the fact"), RetractParams, IdentifierParams),
    responses((status = 204, description = "The fact is retracted"), Failures),
    security(("key" = ["writer"]))
)]
async fn retract(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    ScopedParams(scope, params): ScopedParams<RetractParams>,
) -> Result<StatusCode, Failure> {
    let caller = principal.caller(scope, "retractFact")?;
    let work = app.engine.retract_fact(&caller, FactId(id.0), params.reason.as_deref());
    app.run_operation("retractFact", work).await?;
    Ok(StatusCode::NO_CONTENT)
}
