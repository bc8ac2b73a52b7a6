//! How do agents share over HTTP?
//!
//! The pool stands in the path and counts as named: a credential must reach it, and the agent that asks
//! must be in it. Whoever names no agent is the one that their credential means.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use loci_engine::{Caller, NewMemory, NewPool, Pool, PoolDetails, RecallRequest, Synced};
use loci_types::{ErrorKind, Identifiers, MemoryId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::filter::MemoryFilter;
use super::recall::RecallAnswer;
use super::{NoParams, OnlyWhose, Return, IdentifierParams, Written, written};
use crate::App;
use crate::extract::{ScopedParams, Body, MaybeBody, PathName, PathPair};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The routes of pools.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, remove))
        .routes(routes!(join))
        .routes(routes!(leave))
        .routes(routes!(contribute))
        .routes(routes!(query))
        .routes(routes!(sync))
}

/// The caller who names the pool of the path, and whoever they say they are.
fn within(who: &Who, whose: Identifiers, slug: String, operation: &str) -> Result<Caller, Failure> {
    if whose.pool_id.as_ref().is_some_and(|other| *other != slug) {
        let message = "poolId names another pool than the path";
        return Err(Failure::new(ErrorKind::InvalidInput, message, operation).field("poolId").hint("leave it out"));
    }
    let alone = whose.is_empty();
    let meant = if alone { who.alone(operation)?.identifiers } else { whose };
    let named = Identifiers { pool_id: Some(slug), ..meant };
    if alone && who.is_open() {
        return Ok(Caller { identifiers: named, ..who.alone(operation)? });
    }
    who.caller(named, operation)
}

/// Pools.
#[derive(Debug, Serialize, ToSchema)]
struct Pools {
    /// By name.
    pools: Vec<Pool>,
}

/// Lists the pools that the agent is in; for the operator who names no agent, all.
#[utoipa::path(
    get, path = "/v1/pools", operation_id = "listPools", tag = "pools",
    params(IdentifierParams),
    responses((status = 200, description = "The pools", body = Pools), Failures),
    security(("key" = ["reader"]))
)]
async fn list(State(app): State<Arc<App>>, who: Who, ScopedParams(whose, _): ScopedParams<NoParams>) -> Result<Json<Pools>, Failure> {
    let caller = who.caller(whose, "pools")?;
    let pools = app.verb("pools", app.engine.pools(&caller)).await?;
    Ok(Json(Pools { pools }))
}

/// Makes a pool with its first members.
#[utoipa::path(
    post, path = "/v1/pools", operation_id = "createPool", tag = "pools",
    request_body(content = NewPool, example = json!({
        "slug": "technical-docs", "name": "Technical documents", "members": ["researcher", "coder"]
    })),
    responses((status = 201, description = "It is made", body = PoolDetails), Failures),
    security(("key" = ["admin"]))
)]
async fn create(State(app): State<Arc<App>>, who: Who, Body(body): Body<NewPool>) -> Result<Response, Failure> {
    let caller = who.alone("create pool")?;
    let made = app.verb("create pool", app.engine.create_pool(&caller, body)).await?;
    Ok((StatusCode::CREATED, Json(made)).into_response())
}

/// Tells who is in a pool.
#[utoipa::path(
    get, path = "/v1/pools/{slug}", operation_id = "getPool", tag = "pools",
    params(("slug" = String, Path, description = "The pool"), IdentifierParams),
    responses((status = 200, description = "The pool and its members", body = PoolDetails), Failures),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(slug): PathName,
    ScopedParams(whose, _): ScopedParams<NoParams>,
) -> Result<Json<PoolDetails>, Failure> {
    let caller = within(&who, whose, slug, "pool")?;
    app.verb("pool", app.engine.pool(&caller)).await.map(Json)
}

/// Removes a pool with everything in it.
#[utoipa::path(
    delete, path = "/v1/pools/{slug}", operation_id = "dropPool", tag = "pools",
    params(("slug" = String, Path, description = "The pool")),
    responses((status = 204, description = "It is gone"), Failures),
    security(("key" = ["admin"]))
)]
async fn remove(State(app): State<Arc<App>>, who: Who, PathName(slug): PathName) -> Result<StatusCode, Failure> {
    let caller = who.alone("drop pool")?;
    app.verb("drop pool", app.engine.drop_pool(&caller, &slug)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Agents that are let in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct JoinPool {
    /// By slug.
    #[schema(min_items = 1, max_items = 1000)]
    members: Vec<String>,
}

/// What became of them.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Joined {
    /// How many were not in it before.
    joined: u64,
}

/// Lets agents into a pool.
#[utoipa::path(
    post, path = "/v1/pools/{slug}/members", operation_id = "joinPool", tag = "pools",
    params(("slug" = String, Path, description = "The pool")),
    request_body(content = JoinPool, example = json!({ "members": ["reviewer"] })),
    responses((status = 200, description = "They are in", body = Joined), Failures),
    security(("key" = ["admin"]))
)]
async fn join(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(slug): PathName,
    Body(body): Body<JoinPool>,
) -> Result<Json<Joined>, Failure> {
    let caller = who.alone("join pool")?;
    let joined = app.verb("join pool", app.engine.join_pool(&caller, &slug, &body.members)).await?;
    Ok(Json(Joined { joined }))
}

/// Takes an agent out of a pool: an admin any, an agent itself.
///
/// What it contributed stays in the pool; what it has synced stays with the agent.
#[utoipa::path(
    delete, path = "/v1/pools/{slug}/members/{agent}", operation_id = "leavePool", tag = "pools",
    params(("slug" = String, Path, description = "The pool"), ("agent" = String, Path, description = "The agent"), IdentifierParams),
    responses((status = 204, description = "It is out"), Failures),
    security(("key" = ["writer"]))
)]
async fn leave(
    State(app): State<Arc<App>>,
    who: Who,
    PathPair(slug, agent): PathPair,
    ScopedParams(whose, _): ScopedParams<NoParams>,
) -> Result<StatusCode, Failure> {
    let caller = within(&who, whose, slug, "leave pool")?;
    app.verb("leave pool", app.engine.leave_pool(&caller, &agent)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What is contributed: a memory that the agent has, or something new. Exactly one of them.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Contribution {
    /// Who contributes it.
    identifiers: Identifiers,
    /// The memory of which a copy is contributed.
    #[schema(nullable = false)]
    memory_id: Option<MemoryId>,
    /// Something new.
    #[schema(nullable = false)]
    memory: Option<NewMemory>,
}

/// Contributes to a pool.
///
/// A copy says of which memory it is one; when that has changed since it was last contributed, the new copy
/// takes the place of the old.
#[utoipa::path(
    post, path = "/v1/pools/{slug}/contributions", operation_id = "contributeToPool", tag = "pools",
    params(("slug" = String, Path, description = "The pool")),
    request_body(content = Contribution, example = json!({
        "identifiers": { "agentId": "researcher", "userId": "ann" },
        "memory": { "content": "WebGPU requires WGSL shaders, not GLSL" }
    })),
    responses(
        (status = 201, description = "It is in the pool", body = Written),
        (status = 200, description = "It was there already", body = Written),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn contribute(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(slug): PathName,
    Body(body): Body<Contribution>,
) -> Result<Response, Failure> {
    let caller = within(&who, body.identifiers, slug, "contribute")?;
    let receipt = match (body.memory_id, body.memory) {
        (Some(id), None) => app.verb("contribute", app.engine.contribute_memory(&caller, id)).await?,
        (None, Some(new)) => app.verb("contribute", app.engine.contribute(&caller, new)).await?,
        _ => {
            let message = "give either memoryId or memory";
            return Err(Failure::new(ErrorKind::InvalidInput, message, "contribute")
                .field("memory")
                .hint("memoryId copies a memory that the agent has; memory is something new"));
        }
    };
    written(&app, &caller, receipt, Return::Memory, StatusCode::CREATED).await
}

/// A question to a pool.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PoolQuestion {
    /// The question.
    query: String,
    /// Who asks.
    #[serde(default)]
    identifiers: Identifiers,
    /// So many hits.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// Cosine below which the vector lane does not count.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f64>,
    /// Only those that match; none: what holds now.
    filter: Option<MemoryFilter>,
    /// Whether each hit says why it is where it is.
    #[serde(default)]
    explain: bool,
}

/// Finds what matters to a question in a pool, and nowhere else.
#[utoipa::path(
    post, path = "/v1/pools/{slug}/query", operation_id = "queryPool", tag = "pools",
    params(("slug" = String, Path, description = "The pool")),
    request_body(content = PoolQuestion, example = json!({
        "query": "how do shaders work in WebGPU?", "identifiers": { "agentId": "coder" }, "limit": 5
    })),
    responses((status = 200, description = "What was found", body = RecallAnswer), Failures),
    security(("key" = ["reader"]))
)]
async fn query(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(slug): PathName,
    Body(body): Body<PoolQuestion>,
) -> Result<Json<RecallAnswer>, Failure> {
    let caller = within(&who, body.identifiers, slug, "query pool")?;
    let request = RecallRequest {
        query: body.query,
        limit: body.limit,
        threshold: body.threshold,
        filter: body.filter.map(|filter| filter.at(app.engine.now())),
        ..RecallRequest::default()
    };
    let found = app.verb("query pool", app.engine.query_pool(&caller, request)).await?;
    app.metrics.found(found.hits.len());
    Ok(Json(RecallAnswer::of(found, body.explain)))
}

/// Brings what the agent does not have yet of a pool into its own memory, about the user who is named.
///
/// Sent again, it brings only what is new or has changed.
#[utoipa::path(
    post, path = "/v1/pools/{slug}/sync", operation_id = "syncPool", tag = "pools",
    params(("slug" = String, Path, description = "The pool")),
    request_body = Option<OnlyWhose>,
    responses((status = 200, description = "What it brought", body = Synced), Failures),
    security(("key" = ["writer"]))
)]
async fn sync(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(slug): PathName,
    MaybeBody(body): MaybeBody<OnlyWhose>,
) -> Result<Json<Synced>, Failure> {
    let caller = within(&who, body.identifiers, slug, "sync pool")?;
    app.verb("sync pool", app.engine.sync_pool(&caller, |_, _| {})).await.map(Json)
}
