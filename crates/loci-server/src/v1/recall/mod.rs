//! Retrieval: one endpoint for questions, with pages, packed text and filled windows.
//!
//! `POST /v1/recall` answers one question, `POST /v1/recall/batch` several. Whatever shape the answer has, the memories
//! are ranked once, by [`loci_engine::Engine::recall`].

mod answer;
mod batch;
mod cursor;
mod request;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use loci_engine::{Caller, Engine};
use loci_types::{Filter, Identifiers, Layer, RequestScope};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use self::answer::RecallAnswer;
pub use self::cursor::Cursor;
use self::request::{Question, RecallBody};
use super::filter::MemoryFilter;
use crate::App;
use crate::extract::Scoped;
use crate::failure::{self, Failure, Failures};
use crate::guard::Principal;

/// The routes of recall.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(recall)).merge(batch::routes())
}

/// Finds the memories that answer a question.
///
/// Searches by words, vectors, links and times are combined; the best results come first. With `pack` the answer also
/// has a text for a prompt, with `window` the messages of a whole model call. With `identifiers.poolId` and
/// `filter.layer: ["pool"]` only the pool is searched.
#[utoipa::path(
    post, path = "/v1/recall", operation_id = "recall", tag = "recall",
    request_body(content = Scoped<RecallBody>, example = json!({
        "query": "What does Ann drink?", "identifiers": { "userId": "ann" }, "limit": 5,
        "pack": { "budgetTokens": 500 }
    })),
    responses((status = 200, description = "What was found", body = RecallAnswer), Failures),
    security(("key" = ["reader"]))
)]
async fn recall(
    State(app): State<Arc<App>>,
    principal: Principal,
    Scoped { scope, body }: Scoped<RecallBody>,
) -> Result<Json<RecallAnswer>, Failure> {
    answer(&app, &principal, scope, body, "recall").await.map(Json)
}

/// Answers one question.
async fn answer(
    app: &App,
    principal: &Principal,
    scope: RequestScope,
    mut body: RecallBody,
    operation: &'static str,
) -> Result<RecallAnswer, Failure> {
    body.check(operation)?;
    let cursor = body.cursor()?;
    let caller = caller(principal, scope, body.layers(), operation)?;
    let question = body.question(app, &caller, operation).await?;
    let (fields, explain) = (body.fields.as_deref(), body.explain);
    let answer = match question {
        Question::Recall(request) => {
            let found = app.run_operation(operation, app.engine.recall(&caller, *request)).await?;
            RecallAnswer::found(found, fields, explain, &cursor)
        }
        Question::Pack(request) => {
            let packed = app.run_operation(operation, app.engine.query(&caller, *request)).await;
            RecallAnswer::packed(packed.map_err(in_body)?, fields, explain)
        }
        Question::Window(request) => {
            let filled = app.run_operation(operation, app.engine.context(&caller, *request)).await;
            RecallAnswer::windowed(filled.map_err(in_body)?, fields, explain)
        }
    };
    // A further page is the same question.
    if cursor.is_first() {
        app.metrics.found(answer.len());
    }
    Ok(answer)
}

/// Names a field of `pack` or `window` by its place in the body.
fn in_body(failure: Failure) -> Failure {
    match failure.problem().details.get("field").and_then(serde_json::Value::as_str) {
        Some("budgetTokens") => failure.within("pack"),
        Some("memoryPercent" | "system" | "tools" | "history") => failure.within("window"),
        _ => failure,
    }
}

/// The caller of a question. A caller who names only a pool and searches only the pool is the agent that the
/// credential means: the same rule as for the routes of a pool, where the path names it.
pub(super) fn caller(
    principal: &Principal,
    scope: RequestScope,
    layers: Option<&[Layer]>,
    operation: &str,
) -> Result<Caller, Failure> {
    let identifiers = &scope.identifiers;
    let only_pool = Identifiers { pool_id: identifiers.pool_id.clone(), ..Identifiers::default() };
    if layers != Some(&[Layer::Pool]) || identifiers.pool_id.is_none() || *identifiers != only_pool {
        return principal.caller(scope, operation);
    }
    let alone = principal.own_caller(operation)?;
    let named = Identifiers { pool_id: scope.identifiers.pool_id, ..alone.identifiers.clone() };
    if principal.is_open() { Ok(Caller { identifiers: named, ..alone }) } else { principal.caller(named, operation) }
}

/// The conditions of a filter that stands in a body, at this time, and the layers that it names: the identifiers must
/// open each of them.
pub(super) async fn read_filter(
    given: Option<MemoryFilter>,
    engine: &Engine,
    caller: &Caller,
    now: Timestamp,
    operation: &str,
) -> Result<(Option<Vec<Layer>>, Option<Filter>), Failure> {
    let Some(given) = given else { return Ok((None, None)) };
    let filter = given.resolve(engine, caller, now, operation).await.map_err(|failure| failure.within("filter"))?;
    filter.validate().map_err(|error| failure::to_failure(&error, operation).within("filter"))?;
    let layers = (!filter.layers.is_empty()).then(|| filter.layers.clone());
    Ok((layers, Some(filter)))
}
