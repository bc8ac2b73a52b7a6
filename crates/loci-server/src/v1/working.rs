//! Working memory under `/v1/working`: what an agent has at hand right now.
//!
//! Working memory belongs to the identifiers: a user, with an agent or none, and in a session where one is named. It
//! is in the process that answers; several servers share it through a tier, after a restart.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use loci_engine::{NewMessage, NewToolResult, ToolResult, WorkingHit, WorkingMessage, WorkingQuery, WorkingView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{Page, PageRequest};
use super::write::{Prefer, PreferHeader, Write};
use super::{IdentifierParams, NoParams};
use crate::App;
use crate::extract::{MaybeScoped, NoFields, Scoped, ScopedParams};
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// Where working memory is read, which is also where what is written to it is found.
const PLACE: &str = "/v1/working";

/// The routes of working memory.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(get, clear))
        .routes(routes!(append))
        .routes(routes!(tool))
        .routes(routes!(scratchpad))
        .routes(routes!(search))
        .routes(routes!(flush))
}

/// A message that was appended.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AppendedMessage {
    /// The message.
    #[serde(flatten)]
    #[schema(value_type = WorkingMessage)]
    message: Arc<WorkingMessage>,
    /// Number of messages in working memory after the write.
    message_count: usize,
    /// Number of messages that this write flushed: they are kept as turns and left working memory.
    flushed_count: usize,
}

/// Appends a message.
///
/// When the messages have more tokens than `working.flush_tokens`, they are kept as turns of their conversation
/// before the answer is sent; if that fails they stay, and `degraded` says so.
#[utoipa::path(
    post, path = "/v1/working/messages", operation_id = "appendMessage", tag = "working",
    params(PreferHeader),
    request_body(content = Scoped<NewMessage>, example = json!({
        "identifiers": { "userId": "ann", "agentId": "tutor" },
        "role": "user", "content": "Which chapter were we at?"
    })),
    responses((status = 201, description = "The message is appended", body = Write<AppendedMessage>), Failures),
    security(("key" = ["writer"]))
)]
async fn append(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    Scoped { scope, body }: Scoped<NewMessage>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "appendMessage")?;
    let done = app.run_operation("appendMessage", app.engine.append(&caller, body)).await?;
    let id = done.message.as_ref().map(|message| message.id.to_string()).unwrap_or_default();
    let (message_count, flushed_count) = (done.messages, done.flushed);
    let data = done.message.map(|message| AppendedMessage { message, message_count, flushed_count });
    let data = data.filter(|_| !prefer.minimal);
    Ok(Write::new(id, done.event, data)
        .redacted(done.redacted)
        .degraded(done.degraded)
        .within(PLACE, &caller.identifiers))
}

/// Puts in the result of a tool. A second result of the same call replaces the first.
#[utoipa::path(
    post, path = "/v1/working/tool-results", operation_id = "putToolResult", tag = "working",
    params(PreferHeader),
    request_body(content = Scoped<NewToolResult>, example = json!({
        "identifiers": { "userId": "ann", "agentId": "tutor" },
        "callId": "call_7", "tool": "weather", "content": { "celsius": 21 }
    })),
    responses(
        (status = 201, description = "The result is new", body = Write<ToolResult>),
        (status = 200, description = "The result replaced one of the same call", body = Write<ToolResult>),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn tool(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    Scoped { scope, body }: Scoped<NewToolResult>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "putToolResult")?;
    let id = body.call_id.clone();
    let done = app.run_operation("putToolResult", app.engine.put_tool_result(&caller, body)).await?;
    let data = done.tool_result.filter(|_| !prefer.minimal);
    Ok(Write::new(id, done.event, data)
        .redacted(done.redacted)
        .degraded(done.degraded)
        .within(PLACE, &caller.identifiers))
}

/// The notes of an agent for itself.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Scratchpad {
    /// The whole text; it replaces the text before.
    #[schema(max_length = 1_048_576)]
    text: String,
}

/// Sets the scratchpad.
#[utoipa::path(
    put, path = "/v1/working/scratchpad", operation_id = "setScratchpad", tag = "working",
    params(PreferHeader),
    request_body(content = Scoped<Scratchpad>, example = json!({
        "identifiers": { "userId": "ann", "agentId": "tutor" }, "text": "first the proof, then the exercise"
    })),
    responses((status = 200, description = "The scratchpad is set", body = Write<Scratchpad>), Failures),
    security(("key" = ["writer"]))
)]
async fn scratchpad(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    Scoped { scope, body }: Scoped<Scratchpad>,
) -> Result<Response, Failure> {
    let caller = principal.caller(scope, "setScratchpad")?;
    let done = app.run_operation("setScratchpad", app.engine.set_scratchpad(&caller, &body.text)).await?;
    let data = done.scratchpad.filter(|_| !prefer.minimal).map(|text| Scratchpad { text });
    Ok(Write::new("scratchpad", done.event, data)
        .redacted(done.redacted)
        .degraded(done.degraded)
        .within(PLACE, &caller.identifiers))
}

/// Reads working memory.
#[utoipa::path(
    get, path = "/v1/working", operation_id = "getWorking", tag = "working",
    params(IdentifierParams),
    responses((status = 200, description = "Working memory", body = WorkingView), Failures),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    principal: Principal,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<WorkingView>, Failure> {
    let caller = principal.caller(scope, "getWorking")?;
    app.run_operation("getWorking", app.engine.working_view(&caller)).await.map(Json)
}

/// A search in working memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WorkingSearch {
    /// The query.
    query: String,
    /// The vector of the query. Default: the model computes it.
    #[serde(default)]
    embedding: Option<Vec<f32>>,
    /// Maximum number of results.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
    /// Where the page starts: `nextCursor` of the page before. Default: the first page.
    #[serde(default)]
    cursor: Option<String>,
}

/// Searches working memory, best results first.
///
/// Entries that have a vector are compared by it, the others by the words that they share with the query.
#[utoipa::path(
    post, path = "/v1/working/search", operation_id = "searchWorking", tag = "working",
    request_body(content = Scoped<WorkingSearch>, example = json!({
        "identifiers": { "userId": "ann", "agentId": "tutor" }, "query": "chapter", "limit": 3
    })),
    responses((status = 200, description = "A page of results", body = Page<WorkingHit>), Failures),
    security(("key" = ["reader"]))
)]
async fn search(
    State(app): State<Arc<App>>,
    principal: Principal,
    Scoped { scope, body }: Scoped<WorkingSearch>,
) -> Result<Json<Page<WorkingHit>>, Failure> {
    let caller = principal.caller(scope, "searchWorking")?;
    let page = PageRequest::of(body.limit, body.cursor)?;
    let query = WorkingQuery {
        query: body.query,
        embedding: body.embedding,
        offset: page.offset()?,
        limit: Some(page.limit + 1),
    };
    page.read(app.run_operation("searchWorking", app.engine.query_working(&caller, query)).await?).map(Json)
}

/// What was flushed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FlushedWorking {
    /// Number of messages that are now kept as turns and left working memory.
    flushed_count: usize,
}

/// Keeps all messages as turns of their conversation now.
#[utoipa::path(
    post, path = "/v1/working/flush", operation_id = "flushWorking", tag = "working",
    request_body(content = Scoped<NoFields>, description = "Optional"),
    responses((status = 200, description = "The messages are durable", body = FlushedWorking), Failures),
    security(("key" = ["writer"]))
)]
async fn flush(
    State(app): State<Arc<App>>,
    principal: Principal,
    MaybeScoped(Scoped { scope, .. }): MaybeScoped<NoFields>,
) -> Result<Json<FlushedWorking>, Failure> {
    let caller = principal.caller(scope, "flushWorking")?;
    let flushed_count = app.run_operation("flushWorking", app.engine.flush_working(&caller)).await?;
    Ok(Json(FlushedWorking { flushed_count }))
}

/// Empties working memory, also in the tier. Messages that were not kept as turns are lost.
#[utoipa::path(
    delete, path = "/v1/working", operation_id = "clearWorking", tag = "working",
    params(IdentifierParams),
    responses((status = 204, description = "Working memory is empty"), Failures),
    security(("key" = ["writer"]))
)]
async fn clear(
    State(app): State<Arc<App>>,
    principal: Principal,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<StatusCode, Failure> {
    let caller = principal.caller(scope, "clearWorking")?;
    app.run_operation("clearWorking", app.engine.clear_working(&caller)).await?;
    Ok(StatusCode::NO_CONTENT)
}
