//! Is it alive, and can it do its work?

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use loci_engine::{Caller, Engine};
use serde_json::{Value, json};

/// The routes that tell how the house is.
pub(crate) fn routes(engine: Arc<Engine>) -> Router {
    Router::new().route("/healthz", get(alive)).route("/readyz", get(ready)).with_state(engine)
}

/// The process answers: nothing more is said.
async fn alive() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// Each part with its status. A store that fails makes the whole unready; a missing model only
/// takes one lane away.
async fn ready(State(engine): State<Arc<Engine>>) -> impl IntoResponse {
    let store = match engine.agents(&Caller::operator()).await {
        Ok(_) => json!({ "status": "ok" }),
        Err(error) => json!({ "status": "failed", "problem": error.problem("readyz") }),
    };
    let vectors = match engine.model() {
        Some(model) => json!({ "status": "ok", "model": model.name, "dimensions": model.dimensions }),
        None => json!({ "status": "off", "hint": "run `make model` and start again" }),
    };
    let (code, status) = match (store["status"] == "ok", vectors["status"] == "ok") {
        (true, true) => (StatusCode::OK, "ready"),
        (true, false) => (StatusCode::OK, "degraded"),
        (false, _) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
    };
    (code, Json(json!({ "status": status, "parts": { "store": store, "vectors": vectors } })))
}
