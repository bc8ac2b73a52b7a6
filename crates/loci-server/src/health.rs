//! Liveness, readiness and metrics.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use loci_engine::IndexHealth;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::failure::{Failure, Failures, ProblemBody};
use crate::guard::Principal;
use crate::metrics::StoreSizes;
use crate::shared::SharedHealth;

/// The routes of liveness, readiness and metrics.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(alive)).routes(routes!(ready)).routes(routes!(metrics))
}

/// The condition of a part, or of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum HealthStatus {
    /// It works.
    Healthy,
    /// It works with less than it should have.
    Degraded,
    /// It does not work.
    Unhealthy,
}

/// Liveness.
#[derive(Debug, Serialize, ToSchema)]
struct Liveness {
    /// Always `healthy`: a process that is not does not answer.
    status: HealthStatus,
}

/// Readiness, with each component.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Readiness {
    /// `unhealthy` if the store fails, `degraded` if another component does.
    status: HealthStatus,
    /// Time that all components took to answer, in milliseconds.
    latency_ms: f64,
    /// The components.
    components: ReadinessComponents,
}

/// The components of the server.
#[derive(Debug, Serialize, ToSchema)]
struct ReadinessComponents {
    /// The store.
    store: ComponentHealth,
    /// The embedding model and the vector index.
    vectors: VectorHealth,
    /// What several servers share. Absent if this server is alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<ComponentHealth>,
}

/// The condition of a component.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ComponentHealth {
    /// Whether it works.
    status: HealthStatus,
    /// The product, for example `sqlite`. Absent while it does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The version of the product.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Time that it took to answer, in milliseconds.
    latency_ms: f64,
    /// What is wrong. Absent if nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// The condition of the embedding model and of the vector index.
#[derive(Debug, Serialize, ToSchema)]
struct VectorHealth {
    /// Whether memories are found by vectors.
    status: HealthStatus,
    /// The embedding model. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The number of dimensions of its vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
    /// The index outside the store. Absent if there is none, or while it does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<VectorIndexHealth>,
    /// What is wrong. Absent if nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// The condition of an index outside the store.
#[derive(Debug, Serialize, ToSchema)]
struct VectorIndexHealth {
    /// The product, for example `qdrant`.
    name: String,
    /// The version of the product. Absent while it does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Number of ledger entries that it has not applied yet.
    behind: u64,
}

/// Returns that the process is alive.
#[utoipa::path(
    get, path = "/healthz", operation_id = "getHealth", tag = "health",
    responses((status = 200, description = "The process is alive", body = Liveness), Failures),
    security(())
)]
async fn alive() -> Json<Liveness> {
    Json(Liveness { status: HealthStatus::Healthy })
}

/// Returns whether the server can do its work, with the condition of each component.
///
/// A store that fails makes the server unready. Without a model or a vector index memories are found by words, and
/// without what several servers share each goes on alone: the server is ready and says `degraded`.
#[utoipa::path(
    get, path = "/readyz", operation_id = "getReadiness", tag = "health",
    responses(
        Failures,
        (status = 200, description = "The server can work, perhaps with a component missing", body = Readiness),
        (status = 503, description = "The server cannot work, or the request took too long", content(
            (Readiness = "application/json"), (ProblemBody = "application/problem+json")
        ))
    ),
    security(())
)]
async fn ready(State(app): State<Arc<App>>) -> Response {
    let started = Instant::now();
    let health = app.engine.store().health().await;
    let latency_ms = milliseconds(started);
    let store = match health {
        Ok(health) => ComponentHealth {
            status: if health.read_only.is_some() { HealthStatus::Degraded } else { HealthStatus::Healthy },
            name: Some(health.name.to_string()),
            version: Some(health.version.to_string()),
            latency_ms,
            message: health.read_only.map(|problem| problem.to_string()),
        },
        Err(error) => ComponentHealth {
            status: HealthStatus::Unhealthy,
            name: None,
            version: None,
            latency_ms,
            message: Some(error.kind().code().to_owned()),
        },
    };
    let tier = match &app.options.shared {
        Some(shared) => Some(tier(shared.health().await)),
        None => None,
    };
    let components = ReadinessComponents { store, vectors: vectors(&app).await, tier };
    let tier_works = components.tier.as_ref().is_none_or(|tier| tier.status == HealthStatus::Healthy);
    let (code, status) = match (components.store.status, components.vectors.status) {
        (HealthStatus::Unhealthy, _) => (StatusCode::SERVICE_UNAVAILABLE, HealthStatus::Unhealthy),
        (HealthStatus::Healthy, HealthStatus::Healthy) if tier_works => (StatusCode::OK, HealthStatus::Healthy),
        _ => (StatusCode::OK, HealthStatus::Degraded),
    };
    (code, Json(Readiness { status, latency_ms: milliseconds(started), components })).into_response()
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The condition of the model and of the index outside the store. While the index is away, memories are found by words;
/// while it is behind, what it lacks is read from the ledger.
async fn vectors(app: &App) -> VectorHealth {
    let model = app.engine.model();
    let missing = "no embedding model: memories are found by words";
    let mut vectors = VectorHealth {
        status: if model.is_some() { HealthStatus::Healthy } else { HealthStatus::Degraded },
        model: model.as_ref().map(|model| model.name.to_string()),
        dimensions: model.as_ref().map(|model| model.dimensions),
        index: None,
        message: model.is_none().then(|| missing.to_owned()),
    };
    let Some(indexed) = app.engine.store().indexed() else { return vectors };
    let problem = match indexed.index_health().await {
        Ok(IndexHealth { name, version, behind, problem }) => {
            vectors.index = Some(VectorIndexHealth { name: name.to_owned(), version, behind });
            problem
        }
        Err(error) => Some(error.to_string()),
    };
    if let Some(problem) = problem {
        // What exactly it said may name hosts, and is for the log.
        tracing::debug!(problem, "the vector index is away");
        vectors.status = HealthStatus::Degraded;
        let message = "the vector index is away: memories are found by words until it is back";
        vectors.message = Some(message.to_owned());
    }
    vectors
}

/// The condition of what several servers share.
fn tier(health: SharedHealth) -> ComponentHealth {
    ComponentHealth {
        status: if health.degraded.is_some() { HealthStatus::Degraded } else { HealthStatus::Healthy },
        name: Some(health.name),
        version: Some(health.version),
        latency_ms: health.latency.as_secs_f64() * 1e3,
        message: health.degraded.map(|problem| format!("{problem}; each server goes on alone")),
    }
}

/// Returns the metrics in the OpenMetrics format of Prometheus.
#[utoipa::path(
    get, path = "/metrics", operation_id = "getMetrics", tag = "health",
    responses((status = 200, description = "The metrics", body = String, content_type = "application/openmetrics-text"), Failures),
    security(("key" = ["admin"]))
)]
async fn metrics(State(app): State<Arc<App>>, principal: Principal) -> Result<Response, Failure> {
    // The sizes are those of the admin's own tenant; the counters are those of the server.
    let caller = principal.own_caller("getMetrics")?;
    let stats = app.run_operation("getMetrics", app.engine.stats(&caller)).await?;
    let learned = app.run_operation("getMetrics", app.engine.learned(&caller)).await?.unwrap_or_default();
    let episodic = stats.by_kind.get("episodic").copied().unwrap_or_default();
    let held = StoreSizes {
        by_layer: stats.by_layer.into_iter().collect(),
        episodic,
        semantic: stats.memories.saturating_sub(episodic),
        bytes: stats.bytes,
        saved: learned.tokens_saved,
    };
    let sort = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(CONTENT_TYPE, sort)], app.metrics.text(&held)).into_response())
}
