//! Entities, the people and things that memories mention, and the graph around a memory.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use loci_engine::{EntityProfile, Neighbourhood};
use loci_types::{Entity, EntityId, MemoryRef, Outcome, Relation};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{Page, PageParams};
use super::write::{Prefer, PreferHeader, Write};
use super::{IdentifierParams, NoParams};
use crate::App;
use crate::extract::{Id, ListParams, PathName, Scoped, ScopedParams, words};
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The routes of entities and the graph.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(profile))
        .routes(routes!(merge))
        .routes(routes!(split))
        .routes(routes!(graph))
}

/// Which entities are listed.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct EntityParams {
    /// A description of what is looked for, in plain words: the entities nearest in meaning are listed, best first, at
    /// most 50.
    #[param(nullable = false)]
    query: Option<String>,
}

/// Lists entities, those mentioned most first, or those that fit a description.
#[utoipa::path(
    get, path = "/v1/entities", operation_id = "listEntities", tag = "graph",
    params(EntityParams, PageParams, IdentifierParams),
    responses((status = 200, description = "A page of entities", body = Page<Entity>), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params }: ListParams<EntityParams>,
) -> Result<Json<Page<Entity>>, Failure> {
    let caller = principal.caller(scope, "listEntities")?;
    let work = app.engine.entities(&caller, params.query.as_deref(), page.offset()?, page.limit + 1);
    page.read(app.run_operation("listEntities", work).await?).map(Json)
}

/// Reads an entity and the newest memories that mention it, at most 20.
#[utoipa::path(
    get, path = "/v1/entities/{entity}", operation_id = "getEntity", tag = "graph",
    params(("entity" = String, Path, description = "The id, the name or an alias of the entity"), IdentifierParams),
    responses((status = 200, description = "The entity", body = EntityProfile), Failures),
    security(("key" = ["reader"]))
)]
async fn profile(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(entity): PathName,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<EntityProfile>, Failure> {
    let caller = principal.caller(scope, "getEntity")?;
    app.run_operation("getEntity", app.engine.entity(&caller, &entity)).await.map(Json)
}

/// An entity that is the same as the one in the path.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EntityMerge {
    /// The id, the name or an alias of the entity that is merged into the one in the path.
    from: String,
}

/// Merges another entity into this one: both are one entity from now on.
#[utoipa::path(
    post, path = "/v1/entities/{entity}/merge", operation_id = "mergeEntities", tag = "graph",
    params(("entity" = String, Path, description = "The id, the name or an alias of the entity that stays"), PreferHeader),
    request_body(content = Scoped<EntityMerge>, example = json!({
        "identifiers": { "userId": "ann" }, "from": "Bob"
    })),
    responses((status = 200, description = "The entity that stays", body = Write<Entity>), Failures),
    security(("key" = ["writer"]))
)]
async fn merge(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    PathName(entity): PathName,
    Scoped { scope, body }: Scoped<EntityMerge>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "mergeEntities")?;
    let kept = app.run_operation("mergeEntities", app.engine.merge_entities(&caller, &entity, &body.from)).await?;
    Ok(changed(kept, Outcome::Merged, prefer))
}

/// An entity that was merged into the one in the path by mistake.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EntitySplit {
    /// The id of the entity that was merged.
    #[schema(value_type = uuid::Uuid)]
    id: EntityId,
}

/// Undoes a merge: the other entity is separate again.
#[utoipa::path(
    post, path = "/v1/entities/{entity}/split", operation_id = "splitEntity", tag = "graph",
    params(("entity" = String, Path, description = "The id, the name or an alias of the entity that stayed"), PreferHeader),
    request_body(content = Scoped<EntitySplit>, example = json!({
        "identifiers": { "userId": "ann" }, "id": "0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50"
    })),
    responses((status = 200, description = "The entity that stayed", body = Write<Entity>), Failures),
    security(("key" = ["writer"]))
)]
async fn split(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    PathName(entity): PathName,
    Scoped { scope, body }: Scoped<EntitySplit>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "splitEntity")?;
    let root = app.run_operation("splitEntity", app.engine.split_entity(&caller, body.id, &entity)).await?;
    Ok(changed(root, Outcome::Updated, prefer))
}

fn changed(entity: Entity, event: Outcome, prefer: Prefer) -> Response {
    let id = entity.id.to_string();
    let place = format!("/v1/entities/{id}");
    Write::new(id, event, prefer.data(entity)).at(&place)
}

/// How far the graph is read, and along which links.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct GraphParams {
    /// Maximum number of links between the memory and another one.
    #[param(required = false, minimum = 1, maximum = 4, default = 1)]
    depth: usize,
    /// Only along these relations. Default: all.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1)]
    relation: Vec<Relation>,
}

impl Default for GraphParams {
    fn default() -> Self {
        Self { depth: 1, relation: Vec::new() }
    }
}

/// Reads the memories around a memory and the links between them, at most 200 memories.
#[utoipa::path(
    get, path = "/v1/memories/{id}/graph", operation_id = "getMemoryGraph", tag = "graph",
    params(("id" = inline(MemoryRef), Path, description = "The id of the memory"), GraphParams, IdentifierParams),
    responses((status = 200, description = "The memories and links", body = Neighbourhood), Failures),
    security(("key" = ["reader"]))
)]
async fn graph(
    State(app): State<Arc<App>>,
    principal: Principal,
    Id(id): Id,
    ScopedParams(scope, params): ScopedParams<GraphParams>,
) -> Result<Json<Neighbourhood>, Failure> {
    let caller = principal.caller(scope, "getMemoryGraph")?;
    let work = app.engine.neighbourhood(&caller, id, params.depth, &params.relation);
    app.run_operation("getMemoryGraph", work).await.map(Json)
}
