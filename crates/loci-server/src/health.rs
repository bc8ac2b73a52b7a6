//! Liveness, readiness and metrics.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use loci_engine::{IndexHealth, SummaryCounts};
use serde::Serialize;
use tokio::sync::Mutex;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::failure::{Failure, Failures, ProblemBody};
use crate::guard::{self, Principal};
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

/// Readiness, with each component. Without the credential of an admin, a component has only its status and latency.
#[derive(Debug, Clone, Serialize, ToSchema)]
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
#[derive(Debug, Clone, Serialize, ToSchema)]
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
#[derive(Debug, Clone, Serialize, ToSchema)]
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
#[derive(Debug, Clone, Serialize, ToSchema)]
struct VectorHealth {
    /// Whether memories are found by vectors.
    status: HealthStatus,
    /// The embedding model. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The number of dimensions of its vectors. Absent until they are known.
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
#[derive(Debug, Clone, Serialize, ToSchema)]
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
///
/// The answer may be one second old. Names, versions and messages are for admins: without the credential of one, each
/// component has only its status and latency.
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
async fn ready(State(app): State<Arc<App>>, request: Request) -> Response {
    let whole = app.readiness.get(&app).await;
    let detailed = guard::is_admin(&app, request.headers(), request.extensions()).await;
    let code = match whole.status {
        HealthStatus::Unhealthy => StatusCode::SERVICE_UNAVAILABLE,
        HealthStatus::Healthy | HealthStatus::Degraded => StatusCode::OK,
    };
    let shown = if detailed { Readiness::clone(&whole) } else { whole.without_details() };
    (code, Json(shown)).into_response()
}

/// The readiness of the last second. Probes that arrive at the same time share one look at the components.
#[derive(Debug, Default)]
pub(crate) struct ReadinessCache(Mutex<Option<(Instant, Arc<Readiness>)>>);

/// How long a look at the components is valid.
const FRESH: Duration = Duration::from_secs(1);

impl ReadinessCache {
    async fn get(&self, app: &App) -> Arc<Readiness> {
        let mut last = self.0.lock().await;
        if let Some((at, readiness)) = &*last
            && at.elapsed() < FRESH
        {
            return readiness.clone();
        }
        let readiness = Arc::new(readiness(app).await);
        *last = Some((Instant::now(), readiness.clone()));
        readiness
    }
}

impl Readiness {
    /// The statuses alone.
    fn without_details(&self) -> Self {
        let component = |component: &ComponentHealth| ComponentHealth {
            status: component.status,
            name: None,
            version: None,
            latency_ms: component.latency_ms,
            message: None,
        };
        let Self { status, latency_ms, components } = self;
        let vectors = VectorHealth {
            status: components.vectors.status,
            model: None,
            dimensions: None,
            index: None,
            message: None,
        };
        let (store, tier) = (component(&components.store), components.tier.as_ref().map(component));
        Self { status: *status, latency_ms: *latency_ms, components: ReadinessComponents { store, vectors, tier } }
    }
}

/// Asks every component.
async fn readiness(app: &App) -> Readiness {
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
        Err(error) => {
            tracing::warn!(%error, "the store does not answer");
            ComponentHealth {
                status: HealthStatus::Unhealthy,
                name: None,
                version: None,
                latency_ms,
                message: Some(error.kind().code().to_owned()),
            }
        }
    };
    let tier = match &app.options.shared {
        Some(shared) => Some(tier(shared.health().await)),
        None => None,
    };
    let components = ReadinessComponents { store, vectors: vectors(app).await, tier };
    let tier_works = components.tier.as_ref().is_none_or(|tier| tier.status == HealthStatus::Healthy);
    let status = match (components.store.status, components.vectors.status) {
        (HealthStatus::Unhealthy, _) => HealthStatus::Unhealthy,
        (HealthStatus::Healthy, HealthStatus::Healthy) if tier_works => HealthStatus::Healthy,
        _ => HealthStatus::Degraded,
    };
    Readiness { status, latency_ms: milliseconds(started), components }
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
        dimensions: model.as_ref().map(|model| model.dimensions).filter(|dimensions| *dimensions > 0),
        index: None,
        message: model.is_none().then(|| missing.to_owned()),
    };
    if let Some(problem) = app.engine.model_problem().await {
        tracing::debug!(problem, "the embedding model is not available");
        vectors.status = HealthStatus::Degraded;
        let message = "the embedding model is not available: memories are found by words until it is back, and vectors of \
                       new ones follow";
        vectors.message = Some(message.to_owned());
    }
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
        tracing::debug!(problem, "the vector index is not available");
        vectors.status = HealthStatus::Degraded;
        let message = "the vector index is not available: memories are found by words until it is back";
        vectors.message =
            Some(vectors.message.map_or_else(|| message.to_owned(), |other| format!("{other}; {message}")));
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
        message: health.degraded.map(|problem| format!("{problem}; each server works without it")),
    }
}

/// Returns the metrics in the OpenMetrics format of Prometheus.
///
/// An admin of the tenant `default` gets the counters of the server; admins of other tenants get the sizes of their own.
#[utoipa::path(
    get, path = "/metrics", operation_id = "getMetrics", tag = "health",
    responses((status = 200, description = "The metrics", body = String, content_type = "application/openmetrics-text"), Failures),
    security(("key" = ["admin"]))
)]
async fn metrics(State(app): State<Arc<App>>, principal: Principal) -> Result<Response, Failure> {
    // The sizes are those of the admin's own tenant; the counters are of all tenants, and so for who runs the server.
    let caller = principal.own_caller("getMetrics")?;
    let stats = app.run_operation("getMetrics", app.engine.stats(&caller)).await?;
    let learned = app.run_operation("getMetrics", app.engine.learned(&caller)).await?.unwrap_or_default();
    let episodic = stats.by_kind.get("episodic").copied().unwrap_or_default();
    let whole = loci_engine::policy::is_store_operator(&caller);
    let requested = if whole { app.engine.requested_summaries() } else { SummaryCounts::default() };
    let redis_connected = match &app.options.shared {
        Some(shared) if whole => Some(shared.health().await.degraded.is_none()),
        _ => None,
    };
    let held = StoreSizes {
        by_layer: stats.by_layer.into_iter().collect(),
        episodic,
        semantic: stats.memories.saturating_sub(episodic),
        bytes: stats.bytes,
        summaries: learned.summaries + requested.runs,
        saved: learned.tokens_saved + requested.tokens_saved,
        redis_connected,
        pool_active: if whole { app.engine.store().busy_connections() } else { None },
    };
    let sort = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(CONTENT_TYPE, sort)], app.metrics.text(&held, whole)).into_response())
}
