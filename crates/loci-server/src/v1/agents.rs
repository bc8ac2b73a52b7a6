//! Which agents have a memory of their own?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use loci_engine::Agent;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::extract::{Body, PathName};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The routes of agents.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(remove))
}

/// Agents.
#[derive(Debug, Serialize, ToSchema)]
struct Agents {
    /// All of them.
    agents: Vec<Agent>,
}

/// Lists the agents.
#[utoipa::path(
    get, path = "/v1/agents", operation_id = "listAgents", tag = "agents",
    responses((status = 200, description = "The agents", body = Agents), Failures),
    security(("key" = ["admin"]))
)]
async fn list(State(app): State<Arc<App>>, who: Who) -> Result<Json<Agents>, Failure> {
    let caller = who.alone("agents")?;
    let agents = app.verb("agents", app.engine.agents(&caller)).await?;
    Ok(Json(Agents { agents }))
}

/// An agent, and what it sets for itself.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateAgent {
    /// Its URL-safe name.
    slug: String,
    /// Its own weights, limit, threshold and categories.
    #[serde(default)]
    #[schema(value_type = AgentConfig)]
    config: Map<String, Value>,
}

/// What an agent sets for itself; the engine reads and checks it.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only described")]
struct AgentConfig {
    /// The weights of the score; they sum to 1.
    #[schema(value_type = Option<loci_engine::Weights>)]
    weights: Option<()>,
    /// Hits when the caller gives no number.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// Cosine below which the vector lane does not count.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f64>,
    /// The categories it may see; none: all.
    categories: Option<Vec<String>>,
}

/// An agent that was registered.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreatedAgent {
    /// Its URL-safe name.
    slug: String,
    /// Whether it is new.
    created: bool,
}

/// Registers an agent, or gives a known one another configuration.
#[utoipa::path(
    post, path = "/v1/agents", operation_id = "createAgent", tag = "agents",
    request_body(content = CreateAgent, example = json!({ "slug": "planner", "config": { "limit": 5 } })),
    responses(
        (status = 201, description = "It is new", body = CreatedAgent),
        (status = 200, description = "It was known", body = CreatedAgent),
        Failures
    ),
    security(("key" = ["admin"]))
)]
async fn create(State(app): State<Arc<App>>, who: Who, Body(body): Body<CreateAgent>) -> Result<Response, Failure> {
    let caller = who.alone("create agent")?;
    let config = Value::Object(body.config);
    let created = app.verb("create agent", app.engine.create_agent(&caller, &body.slug, config)).await?;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(CreatedAgent { slug: body.slug, created })).into_response())
}

/// Removes an agent with everything that it knows.
#[utoipa::path(
    delete, path = "/v1/agents/{slug}", operation_id = "dropAgent", tag = "agents",
    params(("slug" = String, Path, description = "The agent")),
    responses((status = 204, description = "It is gone"), Failures),
    security(("key" = ["admin"]))
)]
async fn remove(State(app): State<Arc<App>>, who: Who, PathName(slug): PathName) -> Result<StatusCode, Failure> {
    let caller = who.alone("drop agent")?;
    app.verb("drop agent", app.engine.drop_agent(&caller, &slug)).await?;
    Ok(StatusCode::NO_CONTENT)
}
