//! Sessions: the conversations that turns belong to, under `/v1/sessions`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use loci_engine::{Caller, ConsolidationReport, Turn};
use loci_types::{ErrorKind, Identifiers, Memory, Outcome, Receipt, Session, SessionFilter};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::batch::within;
use super::memories::degraded;
use super::page::{Page, PageParams};
use super::write::{Prefer, PreferHeader, Write, segment};
use super::{IdentifierParams, NoParams};
use crate::App;
use crate::extract::{ListParams, MaybeScoped, NoFields, PathName, Scoped, ScopedParams};
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The routes of sessions.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(get))
        .routes(routes!(ingest))
        .routes(routes!(ingest_threads))
        .routes(routes!(end))
        .routes(routes!(learn))
}

/// Refuses identifiers that name another session than the path.
pub(super) fn same_session(identifiers: &Identifiers, session_id: &str, operation: &str) -> Result<(), Failure> {
    if identifiers.session_id.as_ref().is_none_or(|other| other == session_id) {
        return Ok(());
    }
    let message = "identifiers.sessionId names another session than the path";
    Err(Failure::new(ErrorKind::InvalidInput, message, operation).field("sessionId").hint("leave it out"))
}

/// Turns of a conversation.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Turns {
    /// The turns, oldest first.
    #[schema(min_items = 1, max_items = 500)]
    turns: Vec<Turn>,
}

/// The results of turns that were ingested.
#[derive(Debug, Serialize, ToSchema)]
struct IngestedTurns {
    /// One entry for each turn, in the order of the request.
    data: Vec<TurnWrites>,
}

/// The result of one turn.
#[derive(Debug, Serialize, ToSchema)]
struct TurnWrites {
    /// The position of the turn in the request, from 0.
    index: usize,
    /// The write of each memory that was made of the turn. A turn that is too long for one memory has several.
    writes: Vec<Write<Memory>>,
}

async fn take_in(
    app: &App,
    caller: &Caller,
    turns: Vec<Turn>,
    operation: &'static str,
) -> Result<Json<IngestedTurns>, Failure> {
    within("turns", turns.len(), operation)?;
    let receipts = app.run_operation(operation, app.engine.ingest_many(caller, turns)).await?;
    let write = |receipt: Receipt| {
        let degraded = degraded(app, &receipt);
        Write::of(receipt, None).degraded(degraded)
    };
    let writes = receipts.into_iter().map(|receipts| receipts.into_iter().map(write).collect());
    let data = writes.enumerate().map(|(index, writes)| TurnWrites { index, writes }).collect();
    Ok(Json(IngestedTurns { data }))
}

/// Ingests turns of a session.
///
/// All turns are checked before the first is stored. No language model is called; facts are learned later, when the
/// session ends.
#[utoipa::path(
    post, path = "/v1/sessions/{sessionId}/turns", operation_id = "ingestTurns", tag = "sessions",
    params(("sessionId" = String, Path, description = "The session. A new one is started")),
    request_body(content = Scoped<Turns>, example = json!({
        "identifiers": { "userId": "ann" },
        "turns": [{ "threadId": "t1", "role": "user", "content": "I moved to Graz last week." }]
    })),
    responses((status = 200, description = "The turns are stored", body = IngestedTurns), Failures),
    security(("key" = ["writer"]))
)]
async fn ingest(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(session_id): PathName,
    Scoped { mut scope, body }: Scoped<Turns>,
) -> Result<Json<IngestedTurns>, Failure> {
    same_session(&scope.identifiers, &session_id, "ingestTurns")?;
    scope.identifiers.session_id = Some(session_id);
    let caller = principal.caller(scope, "ingestTurns")?;
    take_in(&app, &caller, body.turns, "ingestTurns").await
}

/// Ingests turns without naming a session: each thread is a session of its own.
///
/// `identifiers.sessionId` may still name one. Otherwise this is the same as ingesting turns of a session.
#[utoipa::path(
    post, path = "/v1/turns", operation_id = "ingestThreadTurns", tag = "sessions",
    request_body(content = Scoped<Turns>, example = json!({
        "identifiers": { "userId": "ann" },
        "turns": [{ "threadId": "t1", "role": "user", "content": "I moved to Graz last week." }]
    })),
    responses((status = 200, description = "The turns are stored", body = IngestedTurns), Failures),
    security(("key" = ["writer"]))
)]
async fn ingest_threads(
    State(app): State<Arc<App>>,
    principal: Principal,
    Scoped { scope, body }: Scoped<Turns>,
) -> Result<Json<IngestedTurns>, Failure> {
    let caller = principal.caller(scope, "ingestThreadTurns")?;
    take_in(&app, &caller, body.turns, "ingestThreadTurns").await
}

/// The sessions that are listed: those that match all of what is given.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct SessionParams {
    /// Only sessions that have ended, or only open ones. Default: both.
    #[param(nullable = false)]
    ended: Option<bool>,
    /// Only sessions with turns that were not learned from yet.
    #[param(required = false, default = false)]
    pending: bool,
}

/// Lists sessions, those quiet longest first.
#[utoipa::path(
    get, path = "/v1/sessions", operation_id = "listSessions", tag = "sessions",
    params(SessionParams, PageParams, IdentifierParams),
    responses((status = 200, description = "A page of sessions", body = Page<Session>), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params }: ListParams<SessionParams>,
) -> Result<Json<Page<Session>>, Failure> {
    let caller = principal.caller(scope, "listSessions")?;
    let filter = SessionFilter { ended: params.ended, pending: params.pending, ..SessionFilter::default() };
    let work = app.engine.sessions_from(&caller, &filter, page.offset()?, page.limit + 1);
    page.read(app.run_operation("listSessions", work).await?).map(Json)
}

/// Reads a session.
///
/// A session may have turns in several layers; the one with the latest turn is returned.
#[utoipa::path(
    get, path = "/v1/sessions/{sessionId}", operation_id = "getSession", tag = "sessions",
    params(("sessionId" = String, Path, description = "The session"), IdentifierParams),
    responses((status = 200, description = "The session", body = Session), Failures),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(session_id): PathName,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<Session>, Failure> {
    same_session(&scope.identifiers, &session_id, "getSession")?;
    let caller = principal.caller(scope, "getSession")?;
    app.run_operation("getSession", app.engine.session(&caller, &session_id)).await.map(Json)
}

/// Ends a session and queues the learning from it.
///
/// Important entries of the session are stored as memories of the user. `event` is `NONE` if the session had ended
/// already. `data` is null if the session had entries only.
#[utoipa::path(
    post, path = "/v1/sessions/{sessionId}/end", operation_id = "endSession", tag = "sessions",
    params(("sessionId" = String, Path, description = "The session"), PreferHeader),
    request_body(content = Scoped<NoFields>, description = "Optional"),
    responses((status = 200, description = "The session has ended", body = Write<Session>), Failures),
    security(("key" = ["writer"]))
)]
async fn end(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    PathName(session_id): PathName,
    MaybeScoped(Scoped { scope, .. }): MaybeScoped<NoFields>,
) -> Result<Response, Failure> {
    same_session(&scope.identifiers, &session_id, "endSession")?;
    let caller = principal.caller(scope, "endSession")?;
    let ended = app.run_operation("endSession", app.engine.end_session(&caller, &session_id)).await?;
    let data = if prefer.minimal { None } else { app.engine.session(&caller, &session_id).await.ok() };
    let event = if ended { Outcome::Updated } else { Outcome::None };
    let place = format!("/v1/sessions/{}", segment(&session_id));
    Ok(Write::new(session_id, event, data).at(&place))
}

/// How a session is learned from.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct LearnSession {
    /// Whether the learning starts at the first turn of the session. Otherwise it starts at the first turn that was not
    /// learned from yet.
    #[schema(default = true)]
    again: bool,
    /// Whether the learning is done before the answer, which is then the report. Otherwise it is queued.
    #[schema(default = false)]
    wait: bool,
}

impl Default for LearnSession {
    fn default() -> Self {
        Self { again: true, wait: false }
    }
}

/// Learns from a session: queued, or with `wait` before the answer.
///
/// What is known already is not added twice. If a request with `wait` takes longer than `server.request_seconds`, it
/// fails; what was learned until then is kept, and the same request continues.
#[utoipa::path(
    post, path = "/v1/sessions/{sessionId}/learn", operation_id = "learnSession", tag = "sessions",
    params(("sessionId" = String, Path, description = "The session")),
    request_body(content = Scoped<LearnSession>, description = "Optional", example = json!({
        "identifiers": { "userId": "ann" }, "again": false, "wait": true
    })),
    responses(
        (status = 200, description = "What was learned, with `wait`", body = ConsolidationReport),
        (status = 202, description = "The learning is queued"),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn learn(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(session_id): PathName,
    MaybeScoped(Scoped { scope, body }): MaybeScoped<LearnSession>,
) -> Result<Response, Failure> {
    same_session(&scope.identifiers, &session_id, "learnSession")?;
    let caller = principal.caller(scope, "learnSession")?;
    let work = async {
        if body.again || !body.wait {
            app.engine.queue_learning(&caller, &session_id, body.again).await?;
        }
        if body.wait { app.engine.learn_session(&caller, &session_id).await.map(Some) } else { Ok(None) }
    };
    let report = app.run_operation("learnSession", work).await?;
    Ok(report.map_or_else(|| StatusCode::ACCEPTED.into_response(), |report| Json(report).into_response()))
}
