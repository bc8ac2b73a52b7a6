//! Pools, in which agents share memories, under `/v1/pools`.
//!
//! The pool in the path counts as named: a credential must reach it, and the agent that asks must be a member.
//! Without an agent in the identifiers it is the one that the credential stands for.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use loci_engine::{Caller, NewMemory, NewPool, Pool, PoolDetails, PoolMember, PoolSync};
use loci_types::{ErrorKind, Identifiers, Memory, MemoryId, MemoryRef, Outcome, RequestScope};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::memories::answer_write;
use super::page::{Page, PageParams};
use super::write::{Prefer, PreferHeader, Write, segment};
use super::{IdentifierParams, NoParams};
use crate::App;
use crate::extract::{self, Body, ListParams, MaybeScoped, NoFields, PathName, PathPair, Scoped, ScopedParams};
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The routes of pools.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, remove))
        .routes(routes!(members, join))
        .routes(routes!(leave))
        .routes(routes!(contribute))
        .routes(routes!(sync))
}

/// The caller with the identifiers of the request and the pool of the path.
fn within(principal: &Principal, scope: RequestScope, pool_id: String, operation: &str) -> Result<Caller, Failure> {
    let identifiers = scope.identifiers;
    if identifiers.pool_id.as_ref().is_some_and(|other| *other != pool_id) {
        let message = "poolId names another pool than the path";
        return Err(Failure::new(ErrorKind::InvalidInput, message, operation).field("poolId").hint("leave it out"));
    }
    let alone = identifiers.is_empty();
    let own = if alone { principal.own_caller(operation)?.identifiers } else { identifiers };
    let named = Identifiers { pool_id: Some(pool_id), ..own };
    if alone && principal.is_open() {
        return Ok(Caller { identifiers: named, ..principal.own_caller(operation)? });
    }
    principal.caller(named, operation)
}

/// Lists the pools of the agent, by id; an admin who names no agent sees all.
#[utoipa::path(
    get, path = "/v1/pools", operation_id = "listPools", tag = "pools",
    params(PageParams, IdentifierParams),
    responses((status = 200, description = "A page of pools", body = Page<Pool>), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params: NoParams {} }: ListParams<NoParams>,
) -> Result<Json<Page<Pool>>, Failure> {
    let caller = principal.caller(scope, "listPools")?;
    page.slice(app.run_operation("listPools", app.engine.pools(&caller)).await?).map(Json)
}

/// Makes a pool with its first members. A pool that exists is a conflict.
#[utoipa::path(
    post, path = "/v1/pools", operation_id = "createPool", tag = "pools",
    params(PreferHeader),
    request_body(content = NewPool, example = json!({
        "poolId": "technical-docs", "name": "Technical documents", "agentIds": ["researcher", "coder"]
    })),
    responses((status = 201, description = "The pool is new", body = Write<PoolDetails>), Failures),
    security(("key" = ["admin"]))
)]
async fn create(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    Body(body): Body<NewPool>,
) -> Result<Response, Failure> {
    let caller = principal.own_caller("createPool")?;
    let made = app.run_operation("createPool", app.engine.create_pool(&caller, body)).await?;
    Ok(written(made, Outcome::Created, prefer))
}

fn written(pool: PoolDetails, event: Outcome, prefer: Prefer) -> Response {
    let id = pool.pool.pool_id.clone();
    let place = format!("/v1/pools/{}", segment(&id));
    Write::new(id, event, prefer.data(pool)).at(&place)
}

/// Reads a pool with its members.
#[utoipa::path(
    get, path = "/v1/pools/{poolId}", operation_id = "getPool", tag = "pools",
    params(("poolId" = String, Path, description = "The pool"), IdentifierParams),
    responses((status = 200, description = "The pool and its members", body = PoolDetails), Failures),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(pool_id): PathName,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<PoolDetails>, Failure> {
    let caller = within(&principal, scope, pool_id, "getPool")?;
    app.run_operation("getPool", app.engine.pool(&caller)).await.map(Json)
}

/// Removes a pool with everything in it.
#[utoipa::path(
    delete, path = "/v1/pools/{poolId}", operation_id = "deletePool", tag = "pools",
    params(("poolId" = String, Path, description = "The pool")),
    responses((status = 204, description = "The pool is removed"), Failures),
    security(("key" = ["admin"]))
)]
async fn remove(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(pool_id): PathName,
) -> Result<StatusCode, Failure> {
    let caller = principal.own_caller("deletePool")?;
    app.run_operation("deletePool", app.engine.drop_pool(&caller, &pool_id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the members of a pool, by id.
#[utoipa::path(
    get, path = "/v1/pools/{poolId}/members", operation_id = "listPoolMembers", tag = "pools",
    params(("poolId" = String, Path, description = "The pool"), PageParams, IdentifierParams),
    responses((status = 200, description = "A page of members", body = Page<PoolMember>), Failures),
    security(("key" = ["reader"]))
)]
async fn members(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(pool_id): PathName,
    ListParams { scope, page, params: NoParams {} }: ListParams<NoParams>,
) -> Result<Json<Page<PoolMember>>, Failure> {
    let caller = within(&principal, scope, pool_id, "listPoolMembers")?;
    page.slice(app.run_operation("listPoolMembers", app.engine.pool(&caller)).await?.members).map(Json)
}

/// Agents that become members.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AddMembers {
    /// The ids of the agents.
    #[schema(min_items = 1, max_items = 1000)]
    agent_ids: Vec<String>,
}

/// Adds agents to a pool. `event` is `NONE` if all were members already.
#[utoipa::path(
    post, path = "/v1/pools/{poolId}/members", operation_id = "addPoolMembers", tag = "pools",
    params(("poolId" = String, Path, description = "The pool"), PreferHeader),
    request_body(content = AddMembers, example = json!({ "agentIds": ["reviewer"] })),
    responses((status = 200, description = "The agents are members", body = Write<PoolDetails>), Failures),
    security(("key" = ["admin"]))
)]
async fn join(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    PathName(pool_id): PathName,
    Body(body): Body<AddMembers>,
) -> Result<Response, Failure> {
    let caller = principal.own_caller("addPoolMembers")?;
    let work = async {
        let joined = app.engine.join_pool(&caller, &pool_id, &body.agent_ids).await?;
        let named = Identifiers { pool_id: Some(pool_id.clone()), ..caller.identifiers.clone() };
        let pool = app.engine.pool(&Caller { identifiers: named, ..caller.clone() }).await?;
        Ok((joined, pool))
    };
    let (joined, pool) = app.run_operation("addPoolMembers", work).await?;
    let event = if joined > 0 { Outcome::Updated } else { Outcome::None };
    Ok(written(pool, event, prefer))
}

/// Removes an agent from a pool: an admin any, an agent itself.
///
/// What it contributed stays in the pool; what it has synced stays with the agent.
#[utoipa::path(
    delete, path = "/v1/pools/{poolId}/members/{agentId}", operation_id = "removePoolMember", tag = "pools",
    params(
        ("poolId" = String, Path, description = "The pool"),
        ("agentId" = String, Path, description = "The agent"), IdentifierParams
    ),
    responses((status = 204, description = "The agent is not a member any more"), Failures),
    security(("key" = ["writer"]))
)]
async fn leave(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathPair(pool_id, agent_id): PathPair,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<StatusCode, Failure> {
    let caller = within(&principal, scope, pool_id, "removePoolMember")?;
    app.run_operation("removePoolMember", app.engine.leave_pool(&caller, &agent_id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A contribution: a new memory, or `memoryId` alone for a copy of a memory that the agent has.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only described; `contribute` reads the fields")]
struct Contribution {
    /// The id of the memory that is copied.
    #[schema(value_type = Option<uuid::Uuid>)]
    memory_id: Option<MemoryId>,
    /// The fields of a new memory.
    #[serde(flatten)]
    memory: NewMemory,
}

/// Contributes a memory to a pool.
///
/// A copy keeps a reference to the memory that it was made of. When that memory has changed since it was last
/// contributed, the new copy supersedes the old one.
#[utoipa::path(
    post, path = "/v1/pools/{poolId}/contributions", operation_id = "contributeToPool", tag = "pools",
    params(("poolId" = String, Path, description = "The pool"), PreferHeader),
    request_body(content = Scoped<Contribution>, example = json!({
        "identifiers": { "agentId": "researcher", "userId": "ann" },
        "content": "WebGPU requires WGSL shaders, not GLSL"
    })),
    responses(
        (status = 201, description = "The memory is new in the pool", body = Write<Memory>),
        (status = 200, description = "The pool had the memory", body = Write<Memory>),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn contribute(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    PathName(pool_id): PathName,
    Scoped { scope, body: mut fields }: Scoped<Map<String, Value>>,
) -> Result<Response, Failure> {
    const OPERATION: &str = "contributeToPool";
    let caller = within(&principal, scope, pool_id, OPERATION)?;
    let bytes = |value: Value| value.to_string().into_bytes();
    let receipt = match fields.remove("memoryId") {
        Some(id) if fields.is_empty() => {
            let id: MemoryRef = extract::json(&bytes(id)).map_err(|failure| failure.field("memoryId"))?;
            let id = app.engine.resolve_id(&caller, &id).await;
            let id = id.map_err(|error| Failure::of(error.problem(OPERATION)).field("memoryId"))?;
            app.run_operation(OPERATION, app.engine.contribute_memory(&caller, id)).await?
        }
        Some(_) => {
            let message = "memoryId copies a memory as it is: give it without other fields";
            return Err(Failure::new(ErrorKind::InvalidInput, message, OPERATION).field("memoryId"));
        }
        None => {
            let new: NewMemory = extract::json(&bytes(Value::Object(fields)))?;
            app.run_operation(OPERATION, app.engine.contribute(&caller, new)).await?
        }
    };
    Ok(answer_write(&app, &caller, receipt, prefer).await)
}

/// Copies what the agent does not have yet of a pool into its own memory, about the user in the identifiers.
///
/// Sent again, it copies only what is new or has changed.
#[utoipa::path(
    post, path = "/v1/pools/{poolId}/sync", operation_id = "syncPool", tag = "pools",
    params(("poolId" = String, Path, description = "The pool")),
    request_body(content = Scoped<NoFields>, description = "Optional"),
    responses((status = 200, description = "What was copied", body = PoolSync), Failures),
    security(("key" = ["writer"]))
)]
async fn sync(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(pool_id): PathName,
    MaybeScoped(Scoped { scope, .. }): MaybeScoped<NoFields>,
) -> Result<Json<PoolSync>, Failure> {
    let caller = within(&principal, scope, pool_id, "syncPool")?;
    app.run_operation("syncPool", app.engine.sync_pool(&caller, |_, _| {})).await.map(Json)
}
