//! How are memories added, read, changed and forgotten over HTTP?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::{ETAG, IF_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use loci_engine::NewMemory;
use loci_types::{ErrorKind, Identifiers, Memory, Receipt};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Whose;
use crate::App;
use crate::extract::{Body, Id, Params};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The routes of memories.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(add)).routes(routes!(get))
}

/// Something to remember, and whose it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Add {
    /// Whose it is.
    #[serde(default)]
    identifiers: Identifiers,
    /// What is remembered.
    memory: NewMemory,
}

/// What became of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Added {
    /// What happened.
    receipt: Receipt,
}

/// Remembers one thing.
#[utoipa::path(
    post, path = "/v1/memories", operation_id = "addMemory", tag = "memories",
    request_body = Add,
    responses((status = 201, description = "Remembered", body = Added), Failures),
    security(("key" = ["writer"]))
)]
async fn add(State(app): State<Arc<App>>, who: Who, Body(add): Body<Add>) -> Result<Response, Failure> {
    let caller = who.caller(add.identifiers, "remember")?;
    let receipt = app.verb("remember", app.engine.remember(&caller, add.memory)).await?;
    Ok((StatusCode::CREATED, Json(Added { receipt })).into_response())
}

/// Reads one memory.
#[utoipa::path(
    get, path = "/v1/memories/{id}", operation_id = "getMemory", tag = "memories",
    params(("id" = uuid::Uuid, Path, description = "The memory"), Whose),
    responses((status = 200, description = "The memory", body = Memory), Failures),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    who: Who,
    Id(id): Id,
    Params(whose): Params<Whose>,
) -> Result<Response, Failure> {
    let caller = who.caller(whose.into(), "get")?;
    let memory = app.verb("get", app.engine.get(&caller, id)).await?;
    Ok(versioned(memory))
}

/// A memory with its version as the entity tag.
fn versioned(memory: Memory) -> Response {
    let tag = HeaderValue::from_str(&format!("\"{}\"", memory.version));
    let mut response = Json(memory).into_response();
    if let Ok(tag) = tag {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

/// The version that `If-Match` names.
pub(crate) fn expected(headers: &HeaderMap) -> Result<Option<u64>, Failure> {
    let Some(value) = headers.get(IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let number = text.trim_start_matches("W/").trim_matches('"').parse().ok();
    number.map(Some).ok_or_else(|| {
        Failure::new(ErrorKind::InvalidInput, "If-Match is not the version of a memory", "read the request")
            .field("If-Match")
            .hint("send the ETag of the memory, such as \"3\"")
    })
}
