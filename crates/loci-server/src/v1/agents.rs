//! Agents with a memory of their own, under `/v1/agents`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use loci_engine::Agent;
use loci_types::Outcome;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{Page, PageParams, PageRequest};
use super::write::{Prefer, PreferHeader, Write, segment};
use crate::App;
use crate::extract::{Body, Params, PathName};
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The routes of agents.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(get, remove))
}

/// Lists agents, by id.
#[utoipa::path(
    get, path = "/v1/agents", operation_id = "listAgents", tag = "agents",
    params(PageParams),
    responses((status = 200, description = "A page of agents", body = Page<Agent>), Failures),
    security(("key" = ["admin"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    Params(params): Params<PageParams>,
) -> Result<Json<Page<Agent>>, Failure> {
    let page = PageRequest::new(params)?;
    let caller = principal.own_caller("listAgents")?;
    page.slice(app.run_operation("listAgents", app.engine.agents(&caller)).await?).map(Json)
}

/// An agent to register.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewAgent {
    /// The id of the agent, a URL-safe name.
    agent_id: String,
    /// Its own settings; they replace those before.
    #[serde(default)]
    #[schema(value_type = AgentSettings)]
    settings: Map<String, Value>,
}

/// The settings of an agent; the engine reads and checks them.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only described")]
struct AgentSettings {
    /// The weights of the score; they sum to 1.
    #[schema(value_type = Option<loci_engine::Weights>)]
    weights: Option<()>,
    /// Number of results of a recall that gives no limit.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// Cosine similarity below which a vector match does not count.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f64>,
    /// The categories that the agent may see; null: all.
    categories: Option<Vec<String>>,
}

/// Registers an agent, or replaces the settings of a registered one.
#[utoipa::path(
    post, path = "/v1/agents", operation_id = "createAgent", tag = "agents",
    params(PreferHeader),
    request_body(content = NewAgent, example = json!({ "agentId": "planner", "settings": { "limit": 5 } })),
    responses(
        (status = 201, description = "The agent is new", body = Write<Agent>),
        (status = 200, description = "The agent was registered; its settings are replaced", body = Write<Agent>),
        Failures
    ),
    security(("key" = ["admin"]))
)]
async fn create(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    Body(body): Body<NewAgent>,
) -> Result<Response, Failure> {
    let caller = principal.own_caller("createAgent")?;
    let settings = Value::Object(body.settings);
    let created = app.run_operation("createAgent", app.engine.create_agent(&caller, &body.agent_id, settings)).await?;
    let event = if created { Outcome::Created } else { Outcome::Updated };
    let data = if prefer.minimal { None } else { app.engine.agent(&caller, &body.agent_id).await.ok() };
    let place = format!("/v1/agents/{}", segment(&body.agent_id));
    Ok(Write::new(body.agent_id, event, data).at(&place))
}

/// Reads an agent.
#[utoipa::path(
    get, path = "/v1/agents/{agentId}", operation_id = "getAgent", tag = "agents",
    params(("agentId" = String, Path, description = "The agent")),
    responses((status = 200, description = "The agent", body = Agent), Failures),
    security(("key" = ["admin"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(agent_id): PathName,
) -> Result<Json<Agent>, Failure> {
    let caller = principal.own_caller("getAgent")?;
    app.run_operation("getAgent", app.engine.agent(&caller, &agent_id)).await.map(Json)
}

/// Removes an agent with everything in its memory.
#[utoipa::path(
    delete, path = "/v1/agents/{agentId}", operation_id = "deleteAgent", tag = "agents",
    params(("agentId" = String, Path, description = "The agent")),
    responses((status = 204, description = "The agent is removed"), Failures),
    security(("key" = ["admin"]))
)]
async fn remove(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(agent_id): PathName,
) -> Result<StatusCode, Failure> {
    let caller = principal.own_caller("deleteAgent")?;
    app.run_operation("deleteAgent", app.engine.drop_agent(&caller, &agent_id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
