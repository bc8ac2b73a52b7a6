//! What is said of things, in three words?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use loci_engine::{FactRequest, NewFact, StatedFact};
use loci_types::{Fact, FactId, Identifiers, Outcome};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{NoMore, Whose};
use crate::App;
use crate::extract::{Asked, Body, Id};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The routes of triples.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, state)).routes(routes!(retract))
}

/// A triple to state, and whose it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StateFact {
    /// Whose it is.
    #[serde(default)]
    identifiers: Identifiers,
    /// The triple.
    fact: NewFact,
}

/// States a triple. Said again it is still one: the greater confidence stands, metadata and sources are added.
#[utoipa::path(
    post, path = "/v1/facts", operation_id = "stateFact", tag = "facts",
    request_body(content = StateFact, example = json!({
        "identifiers": { "userId": "ann" },
        "fact": { "factType": "has_version", "subject": "Database", "predicate": "version", "object": "v16" }
    })),
    responses(
        (status = 201, description = "It is new", body = StatedFact),
        (status = 200, description = "It was known", body = StatedFact),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn state(State(app): State<Arc<App>>, who: Who, Body(body): Body<StateFact>) -> Result<Response, Failure> {
    let caller = who.caller(body.identifiers, "state fact")?;
    let stated = app.verb("state fact", app.engine.state_fact(&caller, body.fact)).await?;
    let status = if stated.event == Outcome::Created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(stated)).into_response())
}

/// Which triples are meant: those with all of what is given.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Meant {
    /// Of this sort.
    #[param(nullable = false)]
    fact_type: Option<String>,
    /// About this.
    #[param(nullable = false)]
    subject: Option<String>,
    /// About this side of it.
    #[param(nullable = false)]
    predicate: Option<String>,
    /// That say this of it.
    #[param(nullable = false)]
    object: Option<String>,
    /// Also those that were learned from memories of which none holds any more.
    #[param(required = false)]
    include_past: bool,
    /// So many at the most; none: 100.
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// Triples.
#[derive(Debug, Serialize, ToSchema)]
struct Facts {
    /// The surest first, then the latest changed.
    facts: Vec<Fact>,
}

/// Lists triples by any of their words, the surest first.
#[utoipa::path(
    get, path = "/v1/facts", operation_id = "listFacts", tag = "facts",
    params(Meant, Whose),
    responses((status = 200, description = "The triples", body = Facts), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    who: Who,
    Asked(whose, meant): Asked<Meant>,
) -> Result<Json<Facts>, Failure> {
    let caller = who.caller(whose, "facts")?;
    let request = FactRequest {
        fact_type: meant.fact_type,
        subject: meant.subject,
        predicate: meant.predicate,
        object: meant.object,
        include_past: meant.include_past,
        limit: meant.limit,
    };
    let facts = app.verb("facts", app.engine.facts(&caller, request)).await?;
    Ok(Json(Facts { facts }))
}

/// Takes a triple back. The memories that it was learned from stay.
#[utoipa::path(
    delete, path = "/v1/facts/{id}", operation_id = "retractFact", tag = "facts",
    params(("id" = uuid::Uuid, Path, description = "The triple"), Whose),
    responses((status = 200, description = "The triple as it was", body = Fact), Failures),
    security(("key" = ["writer"]))
)]
async fn retract(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    Asked(whose, NoMore {}): Asked<NoMore>,
) -> Result<Json<Fact>, Failure> {
    let caller = who.caller(whose, "retract fact")?;
    app.verb("retract fact", app.engine.retract_fact(&caller, FactId(id.0), None)).await.map(Json)
}
