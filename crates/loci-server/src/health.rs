//! Is it alive, and can it do its work?

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use loci_engine::IndexHealth;
use serde_json::{Value, json};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::failure::{Failure, Failures};
use crate::guard::Who;
use crate::metrics::Held;
use crate::shared::Health;

/// The routes that tell how the house is.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(alive)).routes(routes!(ready)).routes(routes!(metrics))
}

/// The process answers: nothing more is said.
#[utoipa::path(
    get, path = "/healthz", operation_id = "health", tag = "health",
    responses((status = 200, description = "It is alive", body = Value), Failures),
    security(())
)]
async fn alive() -> Json<Value> {
    Json(json!({ "status": "healthy" }))
}

/// Each part with its status and how long it took to answer.
///
/// A store that fails makes the whole unready; a missing model only takes one lane away, and without what
/// several servers share, each goes on alone.
#[utoipa::path(
    get, path = "/readyz", operation_id = "ready", tag = "health",
    responses(
        (status = 200, description = "It can work, perhaps with a part missing", body = Value),
        (status = 503, description = "It cannot work", body = Value),
        Failures
    ),
    security(())
)]
async fn ready(State(app): State<Arc<App>>) -> Response {
    let started = Instant::now();
    let asked = app.engine.store().health().await;
    let latency = started.elapsed().as_secs_f64() * 1e3;
    let store = match asked {
        Ok(health) => {
            let status = if health.read_only.is_some() { "degraded" } else { "healthy" };
            let mut told = json!({
                "status": status, "name": health.name, "version": health.version, "latencyMs": latency,
            });
            if let Some(problem) = health.read_only {
                told["message"] = problem.into();
            }
            told
        }
        Err(error) => json!({ "status": "unhealthy", "latencyMs": latency, "message": error.kind().code() }),
    };
    let mut vectors = match app.engine.model() {
        Some(model) => json!({ "status": "healthy", "model": model.name, "dimensions": model.dimensions }),
        None => json!({ "status": "degraded", "message": "no embedding model: memories are found by words" }),
    };
    if let Some(indexed) = app.engine.store().indexed() {
        tell_of_index(&mut vectors, indexed.index_health().await);
    }
    let mut components = json!({ "store": store, "vectors": vectors });
    if let Some(shared) = &app.options.shared {
        components["tier"] = tier(shared.health().await);
    }
    let parts = components.as_object().into_iter().flat_map(|parts| parts.values());
    let whole = parts.clone().all(|part| part["status"] == "healthy");
    let (code, status) = match (components["store"]["status"] != "unhealthy", whole) {
        (true, true) => (StatusCode::OK, "healthy"),
        (true, false) => (StatusCode::OK, "degraded"),
        (false, _) => (StatusCode::SERVICE_UNAVAILABLE, "unhealthy"),
    };
    let latency = started.elapsed().as_secs_f64() * 1e3;
    let told = json!({ "status": status, "latencyMs": latency, "components": components });
    (code, Json(told)).into_response()
}

/// Adds what is known of an index outside the store. While it is away, memories are found by words; while it is behind,
/// what it lacks is read from the ledger.
fn tell_of_index(vectors: &mut Value, health: Result<IndexHealth, impl std::fmt::Display>) {
    let problem = match health {
        Ok(health) => {
            vectors["index"] = json!({ "name": health.name, "version": health.version, "behind": health.behind });
            health.problem
        }
        Err(error) => Some(error.to_string()),
    };
    if let Some(problem) = problem {
        vectors["status"] = "degraded".into();
        // What exactly it said may name hosts, and is for the log.
        tracing::debug!(problem, "the vector index is away");
        vectors["message"] = "the vector index is away: memories are found by words until it is back".into();
    }
}

/// What several servers share, as a part of the house.
fn tier(health: Health) -> Value {
    let latency = health.latency.as_secs_f64() * 1e3;
    let mut told = json!({ "status": "healthy", "name": health.name, "version": health.version, "latencyMs": latency });
    if let Some(problem) = health.degraded {
        told["status"] = "degraded".into();
        told["message"] = format!("{problem}; each server goes on alone").into();
    }
    told
}

/// Everything that is counted, as Prometheus reads it.
#[utoipa::path(
    get, path = "/metrics", operation_id = "metrics", tag = "health",
    responses((status = 200, description = "Counters", body = String, content_type = "application/openmetrics-text"), Failures),
    security(("key" = ["admin"]))
)]
async fn metrics(State(app): State<Arc<App>>, who: Who) -> Result<Response, Failure> {
    // What there is, is told of the admin's own tenant; what was done, of the server.
    let caller = who.alone("metrics")?;
    let stats = app.verb("stats", app.engine.stats(&caller)).await?;
    let learned = app.verb("stats", app.engine.learned(&caller)).await?.unwrap_or_default();
    let episodic = stats.by_kind.get("episodic").copied().unwrap_or_default();
    let held = Held {
        by_layer: stats.by_layer.into_iter().collect(),
        episodic,
        semantic: stats.memories.saturating_sub(episodic),
        bytes: stats.bytes,
        saved: learned.tokens_saved,
    };
    let sort = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(CONTENT_TYPE, sort)], app.metrics.text(&held)).into_response())
}
