//! How is the store looked after over HTTP?
//!
//! What takes long goes on when its caller has left: it is done by a task of its own.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use loci_engine::{Learned, MaintainReport, MaintainRequest, Stats, Step, Worked};
use loci_types::{Error, ErrorKind, JobKind, JobRecord, Space, Tenant};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::JoinError;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{NoParams, IdentifierParams};
use crate::App;
use crate::extract::{ScopedParams, MaybeBody, PathPair, Params, words};
use crate::failure::{self, Failure, Failures};
use crate::guard::Who;

/// So many jobs are done in one request at the most.
const MOST: usize = 1_000;

/// The routes of upkeep.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(maintain))
        .routes(routes!(jobs))
        .routes(routes!(run))
        .routes(routes!(retry))
        .routes(routes!(drop_job))
        .routes(routes!(stats))
        .routes(routes!(config))
}

/// What is to be done.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Maintain {
    /// Only plan, and change nothing.
    dry_run: bool,
    /// Only these steps; none: all.
    only: Vec<Step>,
    /// As if it were then.
    at: Option<Timestamp>,
}

/// Does what is done in the night, or tells what would be.
#[utoipa::path(
    post, path = "/v1/maintenance", operation_id = "maintain", tag = "upkeep",
    request_body(content = Option<Maintain>, example = json!({ "dryRun": true, "only": ["decay", "ttl"] })),
    responses((status = 200, description = "What was done", body = MaintainReport), Failures),
    security(("key" = ["admin"]))
)]
async fn maintain(
    State(app): State<Arc<App>>,
    who: Who,
    MaybeBody(body): MaybeBody<Maintain>,
) -> Result<Json<MaintainReport>, Failure> {
    let caller = who.alone("maintain")?;
    let engine = app.engine.clone();
    let request = MaintainRequest { dry_run: body.dry_run, only: body.only, at: body.at };
    let work = tokio::spawn(async move { engine.maintain(&caller, request, |_| {}).await });
    app.verb("maintain", async { work.await.unwrap_or_else(broken) }).await.map(Json)
}

/// Which jobs are meant.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct JobStates {
    /// In these states; none: in all.
    #[serde(deserialize_with = "words")]
    #[param(inline, style = Form, explode = false, required = false, min_items = 1)]
    states: Vec<JobState>,
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum JobState {
    /// It waits for its time.
    Waiting,
    /// Someone does it.
    Running,
    /// It was laid aside.
    Dead,
}

impl std::str::FromStr for JobState {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "waiting" => Ok(Self::Waiting),
            "running" => Ok(Self::Running),
            "dead" => Ok(Self::Dead),
            _ => Err(Error::invalid("states", format!("`{text}` is not a state of a job"))),
        }
    }
}

impl JobState {
    fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Dead => "dead",
        }
    }
}

/// Jobs.
#[derive(Debug, Serialize, ToSchema)]
struct Jobs {
    /// The oldest first.
    jobs: Vec<JobRecord>,
}

/// Lists what was left for later, oldest first, 1,000 at the most.
#[utoipa::path(
    get, path = "/v1/jobs", operation_id = "listJobs", tag = "upkeep",
    params(JobStates),
    responses((status = 200, description = "The jobs", body = Jobs), Failures),
    security(("key" = ["admin"]))
)]
async fn jobs(State(app): State<Arc<App>>, who: Who, Params(asked): Params<JobStates>) -> Result<Json<Jobs>, Failure> {
    let caller = who.alone("jobs")?;
    let states: Vec<&str> = asked.states.iter().map(|state| state.name()).collect();
    let jobs = app.verb("jobs", app.engine.jobs(&caller, &states)).await?;
    Ok(Json(Jobs { jobs }))
}

/// Which jobs are to be done, and how many.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct RunJobs {
    /// Of these kinds; none: of all but vectors.
    kinds: Vec<JobKind>,
    /// So many at the most.
    #[schema(minimum = 1, maximum = 1000)]
    limit: usize,
}

impl Default for RunJobs {
    fn default() -> Self {
        Self { kinds: Vec::new(), limit: 100 }
    }
}

/// Does what was left for later.
#[utoipa::path(
    post, path = "/v1/jobs/run", operation_id = "runJobs", tag = "upkeep",
    request_body = Option<RunJobs>,
    responses((status = 200, description = "What was done", body = Worked), Failures),
    security(("key" = ["admin"]))
)]
async fn run(
    State(app): State<Arc<App>>,
    who: Who,
    MaybeBody(body): MaybeBody<RunJobs>,
) -> Result<Json<Worked>, Failure> {
    if !(1..=MOST).contains(&body.limit) {
        let message = format!("limit is {}, but must lie between 1 and {MOST}", body.limit);
        return Err(Failure::new(ErrorKind::InvalidInput, message, "work").field("limit"));
    }
    let caller = who.alone("work")?;
    let engine = app.engine.clone();
    let work = tokio::spawn(async move { engine.work(&caller, &body.kinds, body.limit).await });
    app.verb("work", async { work.await.unwrap_or_else(broken) }).await.map(Json)
}

/// Lets a job be tried again at once.
#[utoipa::path(
    post, path = "/v1/jobs/{space}/{id}/retry", operation_id = "retryJob", tag = "upkeep",
    params(
        ("space" = String, Path, description = "The space: `shared`, `users_00` to `users_3f`, `agent_memory_SLUG` or `pool_SLUG`"),
        ("id" = i64, Path, description = "The job")
    ),
    responses((status = 204, description = "It waits"), Failures),
    security(("key" = ["admin"]))
)]
async fn retry(State(app): State<Arc<App>>, who: Who, PathPair(space, id): PathPair) -> Result<StatusCode, Failure> {
    let (space, id) = job(&space, &id)?;
    let caller = who.alone("retry job")?;
    app.verb("retry job", app.engine.retry_job(&caller, &space, id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Gives a job up.
#[utoipa::path(
    delete, path = "/v1/jobs/{space}/{id}", operation_id = "dropJob", tag = "upkeep",
    params(
        ("space" = String, Path, description = "The space: `shared`, `users_00` to `users_3f`, `agent_memory_SLUG` or `pool_SLUG`"),
        ("id" = i64, Path, description = "The job")
    ),
    responses((status = 204, description = "It is gone"), Failures),
    security(("key" = ["admin"]))
)]
async fn drop_job(State(app): State<Arc<App>>, who: Who, PathPair(space, id): PathPair) -> Result<StatusCode, Failure> {
    let (space, id) = job(&space, &id)?;
    let caller = who.alone("drop job")?;
    app.verb("drop job", app.engine.drop_job(&caller, &space, id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What there is, and how learning goes.
#[derive(Debug, Serialize, ToSchema)]
struct Counted {
    /// What there is.
    #[serde(flatten)]
    stats: Stats,
    /// How learning goes; only for those who see the whole tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    learned: Option<Learned>,
}

/// Counts what the caller may see.
#[utoipa::path(
    get, path = "/v1/stats", operation_id = "stats", tag = "upkeep",
    params(IdentifierParams),
    responses((status = 200, description = "What there is", body = Counted), Failures),
    security(("key" = ["reader"]))
)]
async fn stats(
    State(app): State<Arc<App>>,
    who: Who,
    ScopedParams(whose, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<Counted>, Failure> {
    let caller = who.caller(whose, "stats")?;
    let stats = app.verb("stats", app.engine.stats(&caller)).await?;
    let learned = app.verb("stats", app.engine.learned(&caller)).await?;
    Ok(Json(Counted { stats, learned }))
}

/// The settings in force, without secrets.
#[utoipa::path(
    get, path = "/v1/config", operation_id = "config", tag = "upkeep",
    responses((status = 200, description = "The settings", body = Value), Failures),
    security(("key" = ["admin"]))
)]
async fn config(State(app): State<Arc<App>>, who: Who) -> Result<Json<Value>, Failure> {
    // The settings are the server's own, and so for those who run it and not for its guests.
    if who.alone("config")?.tenant != Tenant::default() {
        let message = "the settings are told to admins of the default tenant only";
        return Err(Failure::new(ErrorKind::Unauthorized, message, "config"));
    }
    Ok(Json(app.options.config.clone()))
}

/// The job that the path names.
fn job(space: &str, id: &str) -> Result<(Space, i64), Failure> {
    let space = space.parse().map_err(|error| failure::word(&error, "read the request"))?;
    let id = id.parse().map_err(|_| {
        Failure::new(ErrorKind::InvalidInput, format!("`{id}` is not the number of a job"), "read the request")
            .field("id")
    })?;
    Ok((space, id))
}

/// A task that panicked is a defect of ours.
fn broken<T>(error: JoinError) -> loci_engine::Result<T> {
    tracing::error!(%error, "a task broke");
    Err(Error::new(ErrorKind::Internal, "something in Loci broke").into())
}
