//! How does an agent reach what it has before it over HTTP?
//!
//! Working memory belongs to the identifiers: a user, with an agent or none, and in a session where one is named. It
//! is in the process that answers; several servers share it through a tier, after a restart.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_engine::{Appended, NewMessage, NewToolResult, WorkingHit, WorkingQuery, WorkingView};
use loci_types::Identifiers;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{NoParams, OnlyWhose, IdentifierParams};
use crate::App;
use crate::extract::{ScopedParams, Body, MaybeBody};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The routes of working memory.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(get, clear))
        .routes(routes!(append))
        .routes(routes!(tool))
        .routes(routes!(scratchpad))
        .routes(routes!(query))
        .routes(routes!(flush))
}

/// A message, and whose working memory it is for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AppendMessage {
    /// IdentifierParams it is.
    #[serde(default)]
    identifiers: Identifiers,
    /// The message.
    message: NewMessage,
}

/// Puts a message at the end.
///
/// When the messages have more tokens than `working.flush_tokens`, they are kept as turns of their conversation
/// before the answer comes; if that fails they stay, and `degraded` says so.
#[utoipa::path(
    post, path = "/v1/working/messages", operation_id = "appendMessage", tag = "working",
    request_body(content = AppendMessage, example = json!({
        "identifiers": { "userId": "ann", "agentId": "tutor" },
        "message": { "role": "user", "content": "Which chapter were we at?" }
    })),
    responses((status = 200, description = "It is there", body = Appended), Failures),
    security(("key" = ["writer"]))
)]
async fn append(
    State(app): State<Arc<App>>,
    who: Who,
    Body(body): Body<AppendMessage>,
) -> Result<Json<Appended>, Failure> {
    let caller = who.caller(body.identifiers, "append")?;
    app.verb("append", app.engine.append(&caller, body.message)).await.map(Json)
}

/// What a tool answered, and whose working memory it is for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PutToolResult {
    /// IdentifierParams it is.
    #[serde(default)]
    identifiers: Identifiers,
    /// The result.
    result: NewToolResult,
}

/// Puts in what a tool answered; a second answer to the same call takes the place of the first.
#[utoipa::path(
    post, path = "/v1/working/tools", operation_id = "putToolResult", tag = "working",
    request_body(content = PutToolResult, example = json!({
        "identifiers": { "userId": "ann", "agentId": "tutor" },
        "result": { "callId": "call_7", "tool": "weather", "content": { "celsius": 21 } }
    })),
    responses((status = 200, description = "It is there", body = Appended), Failures),
    security(("key" = ["writer"]))
)]
async fn tool(
    State(app): State<Arc<App>>,
    who: Who,
    Body(body): Body<PutToolResult>,
) -> Result<Json<Appended>, Failure> {
    let caller = who.caller(body.identifiers, "put tool result")?;
    app.verb("put tool result", app.engine.put_tool_result(&caller, body.result)).await.map(Json)
}

/// What the agent notes for itself.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Scratchpad {
    /// IdentifierParams it is.
    #[serde(default)]
    identifiers: Identifiers,
    /// The text, in place of what stood there.
    #[schema(max_length = 1_048_576)]
    text: String,
}

/// Sets the scratchpad.
#[utoipa::path(
    put, path = "/v1/working/scratchpad", operation_id = "setScratchpad", tag = "working",
    request_body(content = Scratchpad, example = json!({
        "identifiers": { "userId": "ann", "agentId": "tutor" }, "text": "first the proof, then the exercise"
    })),
    responses((status = 200, description = "It is there", body = Appended), Failures),
    security(("key" = ["writer"]))
)]
async fn scratchpad(
    State(app): State<Arc<App>>,
    who: Who,
    Body(body): Body<Scratchpad>,
) -> Result<Json<Appended>, Failure> {
    let caller = who.caller(body.identifiers, "set scratchpad")?;
    app.verb("set scratchpad", app.engine.set_scratchpad(&caller, &body.text)).await.map(Json)
}

/// Reads what is before the agent.
#[utoipa::path(
    get, path = "/v1/working", operation_id = "getWorking", tag = "working",
    params(IdentifierParams),
    responses((status = 200, description = "What is there", body = WorkingView), Failures),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    who: Who,
    ScopedParams(whose, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<WorkingView>, Failure> {
    let caller = who.caller(whose, "get working memory")?;
    app.verb("get working memory", app.engine.working_view(&caller)).await.map(Json)
}

/// IdentifierParams working memory is asked, and for what.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AskWorking {
    /// IdentifierParams it is.
    #[serde(default)]
    identifiers: Identifiers,
    /// What is looked for.
    question: WorkingQuery,
}

/// What is about the question.
#[derive(Debug, Serialize, ToSchema)]
struct WorkingHits {
    /// Best first.
    hits: Vec<WorkingHit>,
}

/// Finds what is before the agent about a question.
///
/// Entries that have a vector are compared by it, the others by the words they share with the question.
#[utoipa::path(
    post, path = "/v1/working/query", operation_id = "queryWorking", tag = "working",
    request_body(content = AskWorking, example = json!({
        "identifiers": { "userId": "ann", "agentId": "tutor" }, "question": { "query": "chapter", "limit": 3 }
    })),
    responses((status = 200, description = "What was found", body = WorkingHits), Failures),
    security(("key" = ["reader"]))
)]
async fn query(
    State(app): State<Arc<App>>,
    who: Who,
    Body(body): Body<AskWorking>,
) -> Result<Json<WorkingHits>, Failure> {
    let caller = who.caller(body.identifiers, "query working memory")?;
    let hits = app.verb("query working memory", app.engine.query_working(&caller, body.question)).await?;
    Ok(Json(WorkingHits { hits }))
}

/// What was kept.
#[derive(Debug, Serialize, ToSchema)]
struct FlushedWorking {
    /// How many messages became turns.
    flushed: usize,
}

/// Keeps the messages as turns of their conversation now.
#[utoipa::path(
    post, path = "/v1/working/flush", operation_id = "flushWorking", tag = "working",
    request_body = Option<OnlyWhose>,
    responses((status = 200, description = "They are durable", body = FlushedWorking), Failures),
    security(("key" = ["writer"]))
)]
async fn flush(
    State(app): State<Arc<App>>,
    who: Who,
    MaybeBody(body): MaybeBody<OnlyWhose>,
) -> Result<Json<FlushedWorking>, Failure> {
    let caller = who.caller(body.identifiers, "flush working memory")?;
    let flushed = app.verb("flush working memory", app.engine.flush_working(&caller)).await?;
    Ok(Json(FlushedWorking { flushed }))
}

/// What was cleared.
#[derive(Debug, Serialize, ToSchema)]
struct ClearedWorking {
    /// Always true: nothing is there any more.
    cleared: bool,
}

/// Empties it, also in the tier. Messages that were not kept as turns are gone.
#[utoipa::path(
    delete, path = "/v1/working", operation_id = "clearWorking", tag = "working",
    params(IdentifierParams),
    responses((status = 200, description = "It is empty", body = ClearedWorking), Failures),
    security(("key" = ["writer"]))
)]
async fn clear(
    State(app): State<Arc<App>>,
    who: Who,
    ScopedParams(whose, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<ClearedWorking>, Failure> {
    let caller = who.caller(whose, "clear working memory")?;
    app.verb("clear working memory", app.engine.clear_working(&caller)).await?;
    Ok(Json(ClearedWorking { cleared: true }))
}
