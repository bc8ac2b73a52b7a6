//! A small model service on loopback, for tests of outages: embeddings and relevances of any text.
//!
//! It can be set to fail. Put a [`Proxy`](crate::proxy::Proxy) in front of it to let it hang or be gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The number of dimensions of the vectors.
pub const DIMENSIONS: usize = 8;

/// A running model service.
pub struct ModelService {
    address: String,
    state: Arc<ServiceState>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct ServiceState {
    failing: AtomicBool,
    requests: AtomicU64,
}

impl ModelService {
    /// Starts a service on a free port.
    pub async fn start() -> Self {
        let state = Arc::new(ServiceState::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap_or_else(|error| panic!("no port: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("no address: {error}")).to_string();
        let routes =
            Router::new().route("/embeddings", post(embed)).route("/rerank", post(rerank)).with_state(state.clone());
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, routes).await;
        });
        Self { address, state, task }
    }

    /// Returns its `host:port`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Answers 500 from now on, or works again.
    pub fn fail(&self, failing: bool) {
        self.state.failing.store(failing, Ordering::SeqCst);
    }

    /// Returns the number of requests so far.
    pub fn requests(&self) -> u64 {
        self.state.requests.load(Ordering::SeqCst)
    }
}

impl Drop for ModelService {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ServiceState {
    fn count(&self) -> Result<(), StatusCode> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        if self.failing.load(Ordering::SeqCst) { Err(StatusCode::INTERNAL_SERVER_ERROR) } else { Ok(()) }
    }
}

async fn embed(State(state): State<Arc<ServiceState>>, Json(body): Json<Value>) -> Result<Json<Value>, StatusCode> {
    state.count()?;
    let texts = body["input"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let data: Vec<Value> =
        texts.enumerate().map(|(index, text)| json!({ "index": index, "embedding": vector(text) })).collect();
    Ok(Json(json!({ "data": data })))
}

async fn rerank(State(state): State<Arc<ServiceState>>, Json(body): Json<Value>) -> Result<Json<Value>, StatusCode> {
    state.count()?;
    let count = body["texts"].as_array().map_or(0, Vec::len);
    Ok(Json((0..count).map(|index| json!({ "index": index, "score": 0.5 })).collect()))
}

/// Counts the letters of a text into a few classes: equal texts have equal vectors, similar ones similar vectors.
fn vector(text: &str) -> Vec<f64> {
    let mut counts = vec![0.1; DIMENSIONS];
    text.bytes().for_each(|byte| counts[usize::from(byte) % DIMENSIONS] += 1.0);
    counts
}
