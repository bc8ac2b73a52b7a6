//! How do conversations come in, and what do they say in few words?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use loci_engine::summarise::{Summary, SummaryStrategy};
use loci_engine::{SummariseRequest, Turn};
use loci_types::{Identifiers, Receipt, Session, SessionFilter};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::batch::within;
use super::filter::MemoryFilter;
use super::{OnlyWhose, IdentifierParams};
use crate::App;
use crate::extract::{ScopedParams, Body, MaybeBody, PathName};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The routes of conversations.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(ingest))
        .routes(routes!(list))
        .routes(routes!(end))
        .routes(routes!(learn_again))
        .routes(routes!(summarise))
}

/// Turns of conversations, in the order they were said.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Turns {
    /// IdentifierParams they are.
    #[serde(default)]
    identifiers: Identifiers,
    /// The turns, oldest first.
    #[schema(min_items = 1, max_items = 500)]
    turns: Vec<Turn>,
}

/// What became of the turns.
#[derive(Debug, Serialize, ToSchema)]
struct Heard {
    /// For each turn, in order, a receipt for each piece of it; a long turn has several.
    receipts: Vec<Vec<Receipt>>,
}

/// Takes in turns of a conversation.
///
/// No model is asked on the way. All of them are checked before the first is taken in.
#[utoipa::path(
    post, path = "/v1/sessions/turns", operation_id = "ingestTurns", tag = "sessions",
    request_body(content = Turns, example = json!({
        "identifiers": { "userId": "ann", "sessionId": "monday" },
        "turns": [{ "threadId": "t1", "role": "user", "content": "I moved to Graz last week." }]
    })),
    responses((status = 200, description = "Taken in", body = Heard), Failures),
    security(("key" = ["writer"]))
)]
async fn ingest(State(app): State<Arc<App>>, who: Who, Body(body): Body<Turns>) -> Result<Json<Heard>, Failure> {
    within("turns", body.turns.len(), "ingest")?;
    let caller = who.caller(body.identifiers, "ingest")?;
    let receipts = app.verb("ingest", app.engine.ingest_many(&caller, body.turns)).await?;
    Ok(Json(Heard { receipts }))
}

/// Which sessions are meant.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct Meant {
    /// The one with this name.
    #[param(nullable = false)]
    name: Option<String>,
    /// Only those that are over, or are not.
    #[param(nullable = false)]
    ended: Option<bool>,
    /// Only those with turns that were not learned from yet.
    #[param(required = false)]
    pending: bool,
}

/// Conversations.
#[derive(Debug, Serialize, ToSchema)]
struct Sessions {
    /// Those quiet longest first.
    sessions: Vec<Session>,
}

/// Lists sessions, those quiet longest first, 1,000 at the most.
#[utoipa::path(
    get, path = "/v1/sessions", operation_id = "listSessions", tag = "sessions",
    params(Meant, IdentifierParams),
    responses((status = 200, description = "The sessions", body = Sessions), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    who: Who,
    ScopedParams(whose, meant): ScopedParams<Meant>,
) -> Result<Json<Sessions>, Failure> {
    let caller = who.caller(whose, "sessions")?;
    let filter =
        SessionFilter { name: meant.name, ended: meant.ended, pending: meant.pending, ..SessionFilter::default() };
    let sessions = app.verb("sessions", app.engine.sessions(&caller, filter)).await?;
    Ok(Json(Sessions { sessions }))
}

/// What ending a session came to.
#[derive(Debug, Serialize, ToSchema)]
struct Ended {
    /// Whether it was still open.
    ended: bool,
}

/// Ends a session and queues the learning from it.
#[utoipa::path(
    post, path = "/v1/sessions/{name}/end", operation_id = "endSession", tag = "sessions",
    params(("name" = String, Path, description = "The session")),
    request_body = Option<OnlyWhose>,
    responses((status = 200, description = "It is over", body = Ended), Failures),
    security(("key" = ["writer"]))
)]
async fn end(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(name): PathName,
    MaybeBody(body): MaybeBody<OnlyWhose>,
) -> Result<Json<Ended>, Failure> {
    let caller = who.caller(body.identifiers, "end session")?;
    let ended = app.verb("end session", app.engine.end_session(&caller, &name)).await?;
    Ok(Json(Ended { ended }))
}

/// Lets a session be learned from again, from its first turn.
///
/// It is queued; what is known already is not added twice.
#[utoipa::path(
    post, path = "/v1/sessions/{name}/learn-again", operation_id = "learnSessionAgain", tag = "sessions",
    params(("name" = String, Path, description = "The session")),
    request_body = Option<OnlyWhose>,
    responses((status = 202, description = "It is queued"), Failures),
    security(("key" = ["writer"]))
)]
async fn learn_again(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(name): PathName,
    MaybeBody(body): MaybeBody<OnlyWhose>,
) -> Result<StatusCode, Failure> {
    let caller = who.caller(body.identifiers, "learn again")?;
    app.verb("learn again", app.engine.learn_again(&caller, &name)).await?;
    Ok(StatusCode::ACCEPTED)
}

/// What is to be said in few words.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct SummariseBody {
    /// IdentifierParams memories are meant.
    identifiers: Identifiers,
    /// The turns of this session; none: what is known.
    session: Option<String>,
    /// How; none: as it is set.
    strategy: Option<SummaryStrategy>,
    /// In so many tokens; none: as it is set.
    #[schema(minimum = 1, maximum = 1_000_000)]
    target_tokens: Option<usize>,
    /// Which memories, when no session is named.
    filter: Option<MemoryFilter>,
}

/// Says a conversation, or what is known, in few words. Nothing is kept.
#[utoipa::path(
    post, path = "/v1/summarise", operation_id = "summarise", tag = "sessions",
    request_body(content = SummariseBody, example = json!({
        "identifiers": { "userId": "ann" }, "strategy": "extractive", "targetTokens": 200
    })),
    responses((status = 200, description = "The summary", body = Summary), Failures),
    security(("key" = ["reader"]))
)]
async fn summarise(
    State(app): State<Arc<App>>,
    who: Who,
    Body(body): Body<SummariseBody>,
) -> Result<Json<Summary>, Failure> {
    let caller = who.caller(body.identifiers, "summarise")?;
    let request = SummariseRequest {
        session: body.session,
        strategy: body.strategy,
        target_tokens: body.target_tokens,
        filter: body.filter.map(|filter| filter.at(app.engine.now())),
    };
    app.verb("summarise", app.engine.summarise(&caller, request)).await.map(Json)
}
