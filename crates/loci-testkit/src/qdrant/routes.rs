//! The routes of the stand-in.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::StandInState;
use super::collection::CollectionData;
use super::strict::{Rejection, bad, missing};

/// Returns the router with all routes.
pub(super) fn router(state: Arc<StandInState>) -> Router {
    Router::new()
        .route("/", get(|| async { Json(json!({ "title": "a stand-in for qdrant", "version": "0.0.0-stand-in" })) }))
        .route("/collections", get(list))
        .route("/collections/{name}", any(whole))
        .route("/collections/{name}/{*rest}", any(part))
        .layer(from_fn_with_state(state.clone(), pass))
        .with_state(state)
}

/// Counts every request, applies the delay and the requested failures, and checks the API key.
async fn pass(State(state): State<Arc<StandInState>>, request: Request, next: Next) -> Response {
    state.requests.fetch_add(1, Ordering::SeqCst);
    let delay = state.delay.load(Ordering::SeqCst);
    if delay > 0 {
        tokio::time::sleep(Duration::from_millis(delay)).await;
    }
    let failing = |left: u64| left.checked_sub(1).map(|less| if left == u64::MAX { left } else { less });
    if state.failing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, failing).is_ok() {
        let error = "Service internal error: the stand-in is set to fail".to_owned();
        return Rejection { status: StatusCode::SERVICE_UNAVAILABLE, error }.into_response();
    }
    let given = request.headers().get("api-key").and_then(|key| key.to_str().ok());
    if state.api_key.is_some() && state.api_key.as_deref() != given {
        return (StatusCode::UNAUTHORIZED, "Must provide an API key or an Authorization bearer token").into_response();
    }
    next.run(request).await
}

async fn list(State(state): State<Arc<StandInState>>) -> Json<Value> {
    let held = state.collections.lock().unwrap_or_else(PoisonError::into_inner);
    let names: Vec<Value> = held.keys().map(|name| json!({ "name": name })).collect();
    answer(json!({ "collections": names }))
}

/// Creates, describes and removes collections.
async fn whole(
    State(state): State<Arc<StandInState>>,
    Path(name): Path<String>,
    method: Method,
    body: Bytes,
) -> Result<Json<Value>, Rejection> {
    let mut held = state.collections.lock().unwrap_or_else(PoisonError::into_inner);
    match method.as_str() {
        "GET" => Ok(answer(held.get(&name).ok_or_else(|| missing(&name))?.describe())),
        "DELETE" => Ok(answer(json!(held.remove(&name).is_some()))),
        "PUT" => {
            let made = CollectionData::new(&read(&body)?)?;
            if held.contains_key(&name) {
                let error = format!("Wrong input: Collection `{name}` already exists!");
                return Err(Rejection { status: StatusCode::CONFLICT, error });
            }
            held.insert(name, made);
            Ok(answer(json!(true)))
        }
        _ => Err(Rejection { status: StatusCode::METHOD_NOT_ALLOWED, error: "Method not allowed".to_owned() }),
    }
}

/// Serves the requests within a collection.
async fn part(
    State(state): State<Arc<StandInState>>,
    Path((name, rest)): Path<(String, String)>,
    method: Method,
    body: Bytes,
) -> Result<Json<Value>, Rejection> {
    let body = read(&body)?;
    refuse_beyond_limits(&state, &rest, &body)?;
    let mut held = state.collections.lock().unwrap_or_else(PoisonError::into_inner);
    let held = held.get_mut(&name).ok_or_else(|| missing(&name))?;
    let done = |()| json!({ "operation_id": 0, "status": "completed" });
    match (method.as_str(), rest.as_str()) {
        ("PUT", "index") => held.index(&body).map(done),
        ("PUT", "points") => held.upsert(&body).map(done),
        ("POST", "points") => held.retrieve(&body),
        ("POST", "points/delete") => held.delete(&body).map(done),
        ("POST", "points/query") => held.query(&body),
        ("POST", "points/count") => held.count(&body),
        ("POST", "points/scroll") => held.scroll(&body),
        _ => Err(Rejection { status: StatusCode::NOT_FOUND, error: format!("{method} {rest} is not answered here") }),
    }
    .map(answer)
}

/// Refuses what exceeds the limits of strict mode, with the message of the real server. It reads one more point than a page of
/// a scroll has.
fn refuse_beyond_limits(state: &StandInState, rest: &str, body: &Value) -> Result<(), Rejection> {
    let (widest, page) = (state.widest.load(Ordering::SeqCst), state.largest_page.load(Ordering::SeqCst));
    let (width, limit) = (body["params"]["hnsw_ef"].as_u64().unwrap_or(0), body["limit"].as_u64().unwrap_or(0));
    let limit = limit + u64::from(rest == "points/scroll");
    for (name, asked, most) in [("hnsw_ef", width, widest), ("limit", limit, page)] {
        if most > 0 && asked > most {
            return Err(bad(format!("Bad request: Limit exceeded {asked} > {most} for {name}. Help: Reduce it")));
        }
    }
    Ok(())
}

fn read(body: &Bytes) -> Result<Value, Rejection> {
    serde_json::from_slice(body).map_err(|error| bad(format!("Format error in JSON body: {error}")))
}

fn answer(result: Value) -> Json<Value> {
    Json(json!({ "result": result, "status": "ok", "time": 0.000_1 }))
}
