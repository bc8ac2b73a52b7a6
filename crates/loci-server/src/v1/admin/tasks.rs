//! Tasks under `/v1/admin/tasks`: list, read, follow and cancel.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use tokio::sync::watch;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::accepted;
use crate::App;
use crate::event_stream::StreamSlot;
use crate::extract::{ListParams, PathName};
use crate::failure::{Failure, Failures};
use crate::guard::{self, Principal};
use crate::task::{Task, TaskStatus};
use crate::v1::NoParams;
use crate::v1::page::{Page, PageParams};

/// The shortest time between two events of one task.
const BREATH: Duration = Duration::from_millis(50);

/// The routes of tasks.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get, cancel)).routes(routes!(events))
}

/// Lists the tasks of the tenant, newest first.
///
/// A server keeps its last 1,000 tasks until it restarts.
#[utoipa::path(
    get, path = "/v1/admin/tasks", operation_id = "listTasks", tag = "admin",
    params(PageParams),
    responses((status = 200, description = "A page of tasks", body = Page<Task>), Failures),
    security(("key" = ["admin"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params: NoParams {} }: ListParams<NoParams>,
) -> Result<Json<Page<Task>>, Failure> {
    let caller = principal.caller(scope, "listTasks")?;
    page.slice(app.tasks.list(&caller.tenant)).map(Json)
}

/// Reads a task.
#[utoipa::path(
    get, path = "/v1/admin/tasks/{id}", operation_id = "getTask", tag = "admin",
    params(("id" = String, Path, description = "The id of the task")),
    responses((status = 200, description = "The task", body = Task), Failures),
    security(("key" = ["admin"]))
)]
async fn get(State(app): State<Arc<App>>, principal: Principal, PathName(id): PathName) -> Result<Json<Task>, Failure> {
    let caller = principal.own_caller("getTask")?;
    let task = app.tasks.follow(&caller.tenant, &id, "getTask")?;
    let task = task.borrow().clone();
    Ok(Json(task))
}

/// Cancels a task.
///
/// The task ends as `cancelled` a little later. One that has ended stays as it is; one that cannot stop without harm
/// (a restore, the removal of a tenant) is refused with 409.
#[utoipa::path(
    delete, path = "/v1/admin/tasks/{id}", operation_id = "cancelTask", tag = "admin",
    params(("id" = String, Path, description = "The id of the task")),
    responses((status = 202, description = "The task, which was asked to stop or has ended", body = Task), Failures),
    security(("key" = ["admin"]))
)]
async fn cancel(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(id): PathName,
) -> Result<Response, Failure> {
    let caller = principal.own_caller("cancelTask")?;
    app.tasks.cancel(&caller.tenant, &id, "cancelTask")?;
    let task = app.tasks.follow(&caller.tenant, &id, "cancelTask")?.borrow().clone();
    Ok(accepted(task))
}

/// Follows a task as server-sent events until it ends.
///
/// Each event is called `task` and carries the whole task as its data. The stream ends after the event in which the
/// task has ended.
#[utoipa::path(
    get, path = "/v1/admin/tasks/{id}/events", operation_id = "followTask", tag = "admin",
    params(("id" = String, Path, description = "The id of the task")),
    responses(
        (status = 200, description = "Server-sent events", body = String, content_type = "text/event-stream"),
        Failures
    ),
    security(("key" = ["admin"]))
)]
async fn events(
    State(app): State<Arc<App>>,
    principal: Principal,
    headers: HeaderMap,
    PathName(id): PathName,
) -> Result<Response, Failure> {
    let caller = principal.own_caller("followTask")?;
    let mut task = app.tasks.follow(&caller.tenant, &id, "followTask")?;
    // The state at hand is the first event.
    task.mark_changed();
    let slot = app.streams.take(&principal, "followTask")?;
    let closed = app.closed.clone();
    let follower = Follower { app, principal, headers, task, closed, over: false, _slot: slot };
    let stream = futures::stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok::<Event, Infallible>(event), follower))
    });
    let mut response = Sse::new(stream).into_response();
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Someone who follows a task.
struct Follower {
    app: Arc<App>,
    principal: Principal,
    headers: HeaderMap,
    task: watch::Receiver<Task>,
    closed: watch::Receiver<bool>,
    over: bool,
    _slot: StreamSlot,
}

impl Follower {
    /// The next event, or `None` when the end of the task was sent or the server shuts down.
    async fn next(&mut self) -> Option<Event> {
        if self.over {
            return None;
        }
        let heartbeat = Duration::from_secs(self.app.options.server.heartbeat_seconds);
        let changed = tokio::select! {
            changed = self.task.changed() => changed.is_ok().then_some(true),
            () = tokio::time::sleep(heartbeat) => Some(false),
            _ = self.closed.wait_for(|closed| *closed) => None,
        };
        if !changed? {
            let holds = guard::is_still_valid(&self.app, &self.headers, &self.principal).await;
            return holds.then(|| Event::default().comment("here"));
        }
        tokio::time::sleep(BREATH).await;
        let task = self.task.borrow_and_update().clone();
        self.over = task.status != TaskStatus::Running;
        Event::default().event("task").json_data(task).ok()
    }
}
