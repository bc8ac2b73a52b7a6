//! Erasure of everything of a user under `/v1/admin/erasures`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use loci_engine::Erasure;
use loci_types::{Identifiers, Tenant};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::accepted;
use crate::App;
use crate::extract::Body;
use crate::failure::{Failure, Failures, to_failure};
use crate::guard::Principal;
use crate::task::{self, Stop, Task, TaskKind, TaskPlan};

/// The routes of erasures.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(erase))
}

/// What is to be erased.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ErasureRequest {
    /// The user.
    #[schema(min_length = 1, max_length = 256)]
    user_id: String,
    /// The tenant of the user. Only an admin of the tenant `default` may name another one than their own. Default: the
    /// tenant of the credential.
    #[serde(default)]
    tenant: Option<String>,
    /// Whether it is only counted what would be erased. Default: true.
    #[serde(default = "crate::v1::yes")]
    #[schema(default = true)]
    dry_run: bool,
    /// Whether freed pages, indexes and logs are cleaned too. It takes long and delays writers. Default: true.
    #[serde(default = "crate::v1::yes")]
    #[schema(default = true)]
    scrub: bool,
}

/// Erases everything of a user, or counts what would be erased.
///
/// By default nothing is erased: the counts are answered at once. With `dryRun: false` a task erases the memories of all
/// scopes of the user and those in other layers that name them, with vectors, links, sessions, facts, checkpoints,
/// entities, jobs, working memory, and what the ledger says of them. The task can be cancelled; what was erased until
/// then is gone, and a further erasure removes the rest. `notReached` in the result says what no erasure can reach.
#[utoipa::path(
    post, path = "/v1/admin/erasures", operation_id = "eraseUser", tag = "admin",
    request_body(content = ErasureRequest, example = json!({ "userId": "ann", "dryRun": true })),
    responses(
        (status = 200, description = "What would be erased", body = Erasure),
        (status = 202, description = "The task that erases; its result is an `Erasure`", body = Task),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn erase(
    State(app): State<Arc<App>>,
    principal: Principal,
    Body(request): Body<ErasureRequest>,
) -> Result<Response, Failure> {
    // Who operates no tenant erases as the user, if the credential is bound to that user and has the right.
    let caller = principal.own_caller("eraseUser")?;
    let caller = match caller.operator {
        true => caller,
        false => {
            let user_id = Some(request.user_id.clone());
            principal.caller(Identifiers { user_id, ..Identifiers::default() }, "eraseUser")?
        }
    };
    let eraser = match &request.tenant {
        None => caller.clone(),
        Some(name) => {
            let tenant = Tenant::new(name).map_err(|error| to_failure(&error, "eraseUser"))?;
            caller.clone().within_tenant(tenant).map_err(|error| to_failure(&error, "eraseUser"))?
        }
    };
    let found = app.engine.user_data(&eraser, &request.user_id);
    if request.dry_run {
        return Ok(Json(app.run_operation("eraseUser", found).await?).into_response());
    }
    // The task counts as the operation.
    let found = found.await.map_err(|error| Failure::of(error.problem("eraseUser")))?;
    let plan = TaskPlan { kind: TaskKind::Erasure, operation: "eraseUser", unit: "memories", stop: Stop::Anywhere };
    let engine = app.engine.clone();
    let total = found.total.memories;
    let task = task::start(&app, &caller, plan, |handle| async move {
        handle.progress(0, Some(total));
        let erased = engine.erase_user(&eraser, &request.user_id, request.scrub).await?;
        handle.progress(erased.total.memories, Some(erased.total.memories));
        Ok(erased)
    })?;
    Ok(accepted(task))
}
