//! Several questions in one call.
//!
//! They are answered side by side. A question that fails has a problem in its place and does not touch the others.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_types::{ErrorKind, Identifier};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tracing::Instrument;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::answer::RecallAnswer;
use super::request::RecallBody;
use crate::App;
use crate::extract::Scoped;
use crate::failure::{Failure, Failures, ProblemBody};
use crate::guard::Principal;

/// The operation, in errors and metrics.
const OPERATION: &str = "recallBatch";
/// Maximum number of questions.
const MOST: usize = 20;
/// Number of questions that are answered at the same time.
const SIDE_BY_SIDE: usize = 4;

/// The route of several questions.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(recall_batch))
}

/// Several questions.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = RecallBatch)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RecallBatchBody {
    /// The questions, each as for `POST /v1/recall`, without identifiers of its own.
    #[schema(min_items = 1, max_items = 20)]
    queries: Vec<RecallBody>,
}

/// The answers to several questions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RecallBatchAnswer {
    /// One outcome for each question, in the order of the questions.
    data: Vec<RecallOutcome>,
}

/// What became of one question: `answer` or `problem`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RecallOutcome {
    /// The place of the question in the request, from 0.
    index: usize,
    /// The answer, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<RecallAnswer>,
    /// The error of this query.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ProblemBody>,
}

/// Answers up to 20 questions in one call.
///
/// A question that fails has a `problem` in its place. If all of them fail, the call fails like the first of them.
#[utoipa::path(
    post, path = "/v1/recall/batch", operation_id = "recallBatch", tag = "recall",
    request_body(content = Scoped<RecallBatchBody>, example = json!({
        "identifiers": { "userId": "ann" },
        "queries": [{ "query": "What does Ann drink?", "limit": 3 }, { "query": "Where does Ann live?", "limit": 1 }]
    })),
    responses((status = 200, description = "An outcome for each question", body = RecallBatchAnswer), Failures),
    security(("key" = ["reader"]))
)]
async fn recall_batch(
    State(app): State<Arc<App>>,
    principal: Principal,
    Scoped { scope, body }: Scoped<RecallBatchBody>,
) -> Result<Json<RecallBatchAnswer>, Failure> {
    let length = body.queries.len();
    if !(1..=MOST).contains(&length) {
        let message = format!("queries has {length} entries, but must have between 1 and {MOST}");
        return Err(Failure::new(ErrorKind::InvalidInput, message, OPERATION).field("queries"));
    }
    // Each in a task of its own: recall waits for files on the thread that polls it. A caller who leaves ends them all.
    let (mut tasks, room) = (JoinSet::new(), Arc::new(Semaphore::new(SIDE_BY_SIDE)));
    for (index, question) in body.queries.into_iter().enumerate() {
        let (app, principal, scope, room) = (app.clone(), principal.clone(), scope.clone(), room.clone());
        let task = async move {
            let _permit = room.acquire().await;
            (index, super::answer(&app, &principal, scope, question, OPERATION).await)
        };
        tasks.spawn(task.in_current_span());
    }
    let mut outcomes: Vec<(usize, Result<RecallAnswer, Failure>)> = Vec::with_capacity(length);
    while let Some(done) = tasks.join_next().await {
        let (index, outcome) = done.map_err(|error| {
            tracing::error!(%error, "a query of a batch failed");
            Failure::new(ErrorKind::Internal, "internal error", OPERATION)
        })?;
        outcomes.push((index, outcome.map_err(|failure| in_batch(failure, index))));
    }
    outcomes.sort_by_key(|(index, _)| *index);
    if outcomes.iter().all(|(_, outcome)| outcome.is_err())
        && let (_, Err(first)) = outcomes.swap_remove(0)
    {
        return Err(first);
    }
    let data = outcomes.into_iter().map(|(index, outcome)| match outcome {
        Ok(answer) => RecallOutcome { index, answer: Some(answer), problem: None },
        Err(failure) => RecallOutcome { index, answer: None, problem: Some(failure.body()) },
    });
    Ok(Json(RecallBatchAnswer { data: data.collect() }))
}

/// Names a field by its place in the batch. The identifiers are those of the batch.
fn in_batch(failure: Failure, index: usize) -> Failure {
    let field = failure.problem().details.get("field").and_then(serde_json::Value::as_str);
    let shared = |field: &str| field == "identifiers" || Identifier::ALL.iter().any(|which| which.field() == field);
    match field {
        Some(field) if !shared(field) => failure.within(&format!("queries[{index}]")),
        _ => failure,
    }
}
