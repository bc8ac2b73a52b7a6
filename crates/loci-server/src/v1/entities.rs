//! Who and what do memories speak of, and how do they hang together?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_engine::{EntityProfile, Neighbourhood};
use loci_types::{Entity, EntityId, Identifiers, Relation};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{NoParams, IdentifierParams};
use crate::App;
use crate::extract::{ScopedParams, Body, Id, PathName, words};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The routes of the graph.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(profile))
        .routes(routes!(unite))
        .routes(routes!(divide))
        .routes(routes!(graph))
}

/// How many entities are listed.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct Many {
    /// So many at the most.
    #[param(required = false, minimum = 1, maximum = 1000)]
    limit: usize,
}

impl Default for Many {
    fn default() -> Self {
        Self { limit: 100 }
    }
}

/// Things that memories speak of.
#[derive(Debug, Serialize, ToSchema)]
struct Entities {
    /// Those spoken of most first.
    entities: Vec<Entity>,
}

/// Lists the things that memories speak of, those spoken of most first.
#[utoipa::path(
    get, path = "/v1/entities", operation_id = "listEntities", tag = "graph",
    params(Many, IdentifierParams),
    responses((status = 200, description = "The entities", body = Entities), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    who: Who,
    ScopedParams(whose, many): ScopedParams<Many>,
) -> Result<Json<Entities>, Failure> {
    let caller = who.caller(whose, "entities")?;
    let entities = app.verb("entities", app.engine.entities(&caller, many.limit)).await?;
    Ok(Json(Entities { entities }))
}

/// What is known of an entity, by its name, an alias or its id.
#[utoipa::path(
    get, path = "/v1/entities/{name}", operation_id = "getEntity", tag = "graph",
    params(("name" = String, Path, description = "Its name, an alias or its id"), IdentifierParams),
    responses((status = 200, description = "What is known of it", body = EntityProfile), Failures),
    security(("key" = ["reader"]))
)]
async fn profile(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(name): PathName,
    ScopedParams(whose, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<EntityProfile>, Failure> {
    let caller = who.caller(whose, "entity")?;
    app.verb("entity", app.engine.entity(&caller, &name)).await.map(Json)
}

/// Two that are the same.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UniteEntities {
    /// IdentifierParams memories are meant.
    #[serde(default)]
    identifiers: Identifiers,
    /// The one that stays, by name or id.
    into: String,
    /// The one that is found as the other from now on, by name or id.
    from: String,
}

/// Says that two entities are the same thing.
#[utoipa::path(
    post, path = "/v1/entities/unite", operation_id = "uniteEntities", tag = "graph",
    request_body = UniteEntities,
    responses((status = 200, description = "The one that stays", body = Entity), Failures),
    security(("key" = ["writer"]))
)]
async fn unite(
    State(app): State<Arc<App>>,
    who: Who,
    Body(body): Body<UniteEntities>,
) -> Result<Json<Entity>, Failure> {
    let caller = who.caller(body.identifiers, "unite entities")?;
    app.verb("unite entities", app.engine.unite_entities(&caller, &body.into, &body.from)).await.map(Json)
}

/// One that is a thing of its own again.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DivideEntity {
    /// IdentifierParams memories are meant.
    #[serde(default)]
    identifiers: Identifiers,
    /// The one that was taken up, by its id.
    id: EntityId,
    /// The one that took it up, by name or id.
    root: String,
}

/// Undoes the union of two entities.
#[utoipa::path(
    post, path = "/v1/entities/divide", operation_id = "divideEntity", tag = "graph",
    request_body = DivideEntity,
    responses((status = 200, description = "The one that had taken it up", body = Entity), Failures),
    security(("key" = ["writer"]))
)]
async fn divide(
    State(app): State<Arc<App>>,
    who: Who,
    Body(body): Body<DivideEntity>,
) -> Result<Json<Entity>, Failure> {
    let caller = who.caller(body.identifiers, "divide entity")?;
    app.verb("divide entity", app.engine.divide_entity(&caller, body.id, &body.root)).await.map(Json)
}

/// How far is looked, and along which links.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct Far {
    /// So many steps.
    #[param(required = false, minimum = 1, maximum = 4)]
    depth: usize,
    /// Along these relations; none: along all.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1)]
    relations: Vec<Relation>,
}

impl Default for Far {
    fn default() -> Self {
        Self { depth: 1, relations: Vec::new() }
    }
}

/// The memories around a memory, and what links them; 200 at the most.
#[utoipa::path(
    get, path = "/v1/graph/{id}", operation_id = "memoryGraph", tag = "graph",
    params(("id" = uuid::Uuid, Path, description = "The memory in the middle"), Far, IdentifierParams),
    responses((status = 200, description = "What is around it", body = Neighbourhood), Failures),
    security(("key" = ["reader"]))
)]
async fn graph(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    ScopedParams(whose, far): ScopedParams<Far>,
) -> Result<Json<Neighbourhood>, Failure> {
    let caller = who.caller(whose, "graph")?;
    app.verb("graph", app.engine.neighbourhood(&caller, id, far.depth, &far.relations)).await.map(Json)
}
