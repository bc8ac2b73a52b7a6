//! Administration over HTTP: erasures, backups, vectors, tenants, and the tasks that do the work.
//!
//! Only admins come here. An admin of the tenant `default` runs the store; others reach their own tenant.

mod backups;
mod erasures;
mod reembeddings;
mod tasks;
mod tenants;

use std::sync::Arc;

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;

use crate::App;
use crate::task::Task;

/// The routes of administration.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .merge(tasks::routes())
        .merge(erasures::routes())
        .merge(backups::routes())
        .merge(reembeddings::routes())
        .merge(tenants::routes())
}

/// The answer to what is done by a task: 202, with the place where it can be followed.
fn accepted(task: Task) -> Response {
    let place = format!("/v1/admin/tasks/{}", task.id);
    (StatusCode::ACCEPTED, [(LOCATION, place)], Json(task)).into_response()
}
