//! Vectors of the present model for all memories under `/v1/admin/reembeddings`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use loci_engine::Estimate;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::accepted;
use crate::App;
use crate::extract::MaybeBody;
use crate::failure::{Failure, Failures};
use crate::guard::Principal;
use crate::task::{self, Stop, Task, TaskKind, TaskPlan};

/// The routes of vectors.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(reembed))
}

/// Which vectors are made and which are dropped.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct ReembeddingRequest {
    /// Whether it is only counted what is to be done. Default: false.
    #[schema(default = false)]
    dry_run: bool,
    /// Whether the vectors of all other models are dropped afterwards. Default: false.
    #[schema(default = false)]
    drop_others: bool,
}

/// What a re-embedding would do.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReembeddingEstimate {
    /// The present model.
    model: String,
    /// What a pass would do.
    estimate: Estimate,
}

/// Computes the vectors of the present model that memories of the tenant do not have.
///
/// Vectors of several models stand side by side meanwhile. The task can be cancelled at any time; the next one goes on
/// where it was. With `dryRun` the number of vectors and tokens is answered at once.
#[utoipa::path(
    post, path = "/v1/admin/reembeddings", operation_id = "reembedMemories", tag = "admin",
    request_body(content = Option<ReembeddingRequest>, example = json!({ "dryRun": true })),
    responses(
        (status = 200, description = "What a re-embedding would do", body = ReembeddingEstimate),
        (status = 202, description = "The task that computes the vectors", body = Task),
        Failures
    ),
    security(("key" = ["admin"]))
)]
async fn reembed(
    State(app): State<Arc<App>>,
    principal: Principal,
    MaybeBody(request): MaybeBody<ReembeddingRequest>,
) -> Result<Response, Failure> {
    const OPERATION: &str = "reembedMemories";
    let caller = principal.own_caller(OPERATION)?;
    let model = app.run_operation(OPERATION, async { app.engine.embedding_model().map(str::to_owned) }).await?;
    if request.dry_run {
        let estimate = app.run_operation(OPERATION, app.engine.reembed_estimate(&caller)).await?;
        return Ok(Json(ReembeddingEstimate { model, estimate }).into_response());
    }
    let plan = TaskPlan { kind: TaskKind::Reembedding, operation: OPERATION, unit: "memories", stop: Stop::Anywhere };
    let (engine, admin) = (app.engine.clone(), caller.clone());
    let task = task::start(&app, &caller, plan, |handle| async move {
        let progress = move |seen, total| handle.progress(seen, Some(total));
        engine.reembed_all(&admin, request.drop_others, progress).await
    })?;
    Ok(accepted(task))
}
