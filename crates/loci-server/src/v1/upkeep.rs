//! Maintenance, background jobs, statistics and settings.
//!
//! Long work continues when its caller disconnects: it runs in a task of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use loci_engine::{
    Caller, Engine, JobRun, LearningStats, MaintainReport, MaintainRequest, MaintenanceStep, Stats, optional_instant,
};
use loci_types::{Error, ErrorKind, Identifier, Identifiers, JobKind, JobRecord, Space, Tenant};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::task::JoinError;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{Page, PageParams};
use super::{IdentifierParams, NoParams};
use crate::App;
use crate::extract::{ListParams, MaybeBody, PathPair, ScopedParams, words};
use crate::failure::{self, Failure, Failures};
use crate::guard::Principal;

/// Maximum number of jobs that one request runs.
const MOST: usize = 1_000;
/// Number of embedding jobs that are claimed at once, so that they end before their lease does.
const VECTORS_AT_ONCE: usize = 256;

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

/// What maintenance does.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Maintenance {
    /// Whether the plan is returned and nothing is changed.
    #[schema(default = false)]
    dry_run: bool,
    /// Only these steps. Default: all.
    only: Vec<MaintenanceStep>,
    /// Run as if now were this time: an instant, or a day in `retrieval.time_zone`. Default: now.
    #[serde(deserialize_with = "optional_instant")]
    #[schema(value_type = Option<String>)]
    now: Option<Timestamp>,
}

/// Runs maintenance, or returns the plan with `dryRun`.
#[utoipa::path(
    post, path = "/v1/maintenance", operation_id = "runMaintenance", tag = "upkeep",
    request_body(content = Option<Maintenance>, example = json!({ "dryRun": true, "only": ["decay", "ttl"] })),
    responses((status = 200, description = "What was done", body = MaintainReport), Failures),
    security(("key" = ["admin"]))
)]
async fn maintain(
    State(app): State<Arc<App>>,
    principal: Principal,
    MaybeBody(body): MaybeBody<Maintenance>,
) -> Result<Json<MaintainReport>, Failure> {
    let caller = principal.own_caller("runMaintenance")?;
    let engine = app.engine.clone();
    let request = MaintainRequest { dry_run: body.dry_run, only: body.only, at: body.now };
    let work = tokio::spawn(async move { engine.maintain(&caller, request, |_| {}).await });
    app.run_operation("runMaintenance", async { work.await.unwrap_or_else(broken) }).await.map(Json)
}

/// The jobs that are listed, and the page.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct JobParams {
    /// Only jobs in any of these states. Default: all.
    #[serde(deserialize_with = "words")]
    #[param(inline, style = Form, explode = false, required = false, min_items = 1)]
    state: Vec<JobState>,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum JobState {
    /// It waits to be run.
    Waiting,
    /// A worker runs it.
    Running,
    /// It failed too often and is not run again by itself.
    Dead,
}

impl std::str::FromStr for JobState {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "waiting" => Ok(Self::Waiting),
            "running" => Ok(Self::Running),
            "dead" => Ok(Self::Dead),
            _ => {
                Err(Error::invalid("state", format!("unknown state `{text}`: expected one of waiting, running, dead")))
            }
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

/// Lists background jobs, oldest first.
#[utoipa::path(
    get, path = "/v1/jobs", operation_id = "listJobs", tag = "upkeep",
    params(JobParams, PageParams),
    responses((status = 200, description = "A page of jobs", body = Page<JobRecord>), Failures),
    security(("key" = ["admin"]))
)]
async fn jobs(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params }: ListParams<JobParams>,
) -> Result<Json<Page<JobRecord>>, Failure> {
    refuse_identifiers(&scope.identifiers)?;
    let caller = principal.own_caller("listJobs")?;
    let states: Vec<&str> = params.state.iter().map(|state| state.name()).collect();
    let work = app.engine.jobs_from(&caller, &states, page.offset()?, page.limit + 1);
    page.read(app.run_operation("listJobs", work).await?).map(Json)
}

/// Jobs belong to the tenant: who names a user must not think that only their jobs are listed.
fn refuse_identifiers(identifiers: &Identifiers) -> Result<(), Failure> {
    let Some(named) = Identifier::ALL.iter().find(|which| identifiers.get(**which).is_some()) else { return Ok(()) };
    let field = named.field();
    let message = format!("unknown field `{field}`: jobs belong to the tenant");
    Err(Failure::new(ErrorKind::InvalidInput, message, "listJobs").field(field))
}

/// The jobs that are run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct RunJobs {
    /// Any of these kinds. Default: all.
    kind: Vec<JobKind>,
    /// Maximum number of jobs.
    #[schema(minimum = 1, maximum = 1000, default = 100)]
    limit: usize,
}

impl Default for RunJobs {
    fn default() -> Self {
        Self { kind: Vec::new(), limit: 100 }
    }
}

/// What a run of jobs did.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobRunReport)]
struct JobRunBody {
    /// The jobs.
    #[serde(flatten)]
    run: JobRun,
    /// Number of vectors that were computed.
    vectors: usize,
}

/// Runs waiting jobs now and answers when they are done. Missing vectors are computed first.
#[utoipa::path(
    post, path = "/v1/jobs/run", operation_id = "runJobs", tag = "upkeep",
    request_body = Option<RunJobs>,
    responses((status = 200, description = "What was done", body = JobRunBody), Failures),
    security(("key" = ["admin"]))
)]
async fn run(
    State(app): State<Arc<App>>,
    principal: Principal,
    MaybeBody(body): MaybeBody<RunJobs>,
) -> Result<Json<JobRunBody>, Failure> {
    if !(1..=MOST).contains(&body.limit) {
        let message = format!("limit is {}, but must be between 1 and {MOST}", body.limit);
        return Err(Failure::new(ErrorKind::InvalidInput, message, "runJobs").field("limit"));
    }
    let caller = principal.own_caller("runJobs")?;
    let engine = app.engine.clone();
    let work = tokio::spawn(async move { run_jobs(&engine, &caller, &body).await });
    app.run_operation("runJobs", async { work.await.unwrap_or_else(broken) }).await.map(Json)
}

/// Runs jobs and computes vectors: those that wait before the jobs, and those of what the jobs wrote after them.
async fn run_jobs(engine: &Engine, caller: &Caller, wanted: &RunJobs) -> loci_engine::Result<JobRunBody> {
    let embed = wanted.kind.is_empty() || wanted.kind.contains(&JobKind::Embed);
    // `Engine::work` would end embedding jobs without a vector, and it takes an empty list for all other kinds.
    let others: Vec<JobKind> = wanted.kind.iter().copied().filter(|kind| *kind != JobKind::Embed).collect();
    let mut vectors = if embed { compute_vectors(engine, caller, wanted.limit).await? } else { 0 };
    let mut run = JobRun::default();
    if vectors < wanted.limit && (wanted.kind.is_empty() || !others.is_empty()) {
        run = engine.work(caller, &others, wanted.limit - vectors).await?;
    }
    if embed {
        let left = wanted.limit.saturating_sub(vectors + run.done + run.failed + run.waiting);
        vectors += compute_vectors(engine, caller, left).await?;
    }
    Ok(JobRunBody { run, vectors })
}

/// Runs up to `limit` waiting embedding jobs. Without a model they keep waiting.
async fn compute_vectors(engine: &Engine, caller: &Caller, limit: usize) -> loci_engine::Result<usize> {
    let mut done = 0;
    while done < limit {
        match engine.embed_waiting(caller, VECTORS_AT_ONCE.min(limit - done)).await? {
            0 => break,
            more => done += more,
        }
    }
    Ok(done)
}

/// Queues a job again, to be run at once.
#[utoipa::path(
    post, path = "/v1/jobs/{space}/{id}/retry", operation_id = "retryJob", tag = "upkeep",
    params(
        ("space" = String, Path, description = "The space: `shared`, `users_00` to `users_3f`, `agent_memory_ID` or `pool_ID`"),
        ("id" = i64, Path, description = "The number of the job")
    ),
    responses((status = 202, description = "The job is queued"), Failures),
    security(("key" = ["admin"]))
)]
async fn retry(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathPair(space, id): PathPair,
) -> Result<StatusCode, Failure> {
    let (space, id) = job(&space, &id)?;
    let caller = principal.own_caller("retryJob")?;
    app.run_operation("retryJob", app.engine.retry_job(&caller, &space, id)).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Removes a job without running it.
#[utoipa::path(
    delete, path = "/v1/jobs/{space}/{id}", operation_id = "deleteJob", tag = "upkeep",
    params(
        ("space" = String, Path, description = "The space: `shared`, `users_00` to `users_3f`, `agent_memory_ID` or `pool_ID`"),
        ("id" = i64, Path, description = "The number of the job")
    ),
    responses((status = 204, description = "The job is removed"), Failures),
    security(("key" = ["admin"]))
)]
async fn drop_job(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathPair(space, id): PathPair,
) -> Result<StatusCode, Failure> {
    let (space, id) = job(&space, &id)?;
    let caller = principal.own_caller("deleteJob")?;
    app.run_operation("deleteJob", app.engine.drop_job(&caller, &space, id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Counts of what the caller may see.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Statistics)]
struct StatisticsBody {
    /// The counts.
    #[serde(flatten)]
    stats: Stats,
    /// What was learned from sessions; only for callers who see the whole tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    learned: Option<LearningStats>,
    /// When each step of maintenance was last done, by its name.
    maintained: BTreeMap<String, Timestamp>,
}

/// Counts what the caller may see.
#[utoipa::path(
    get, path = "/v1/stats", operation_id = "getStats", tag = "upkeep",
    params(IdentifierParams),
    responses((status = 200, description = "The counts", body = StatisticsBody), Failures),
    security(("key" = ["reader"]))
)]
async fn stats(
    State(app): State<Arc<App>>,
    principal: Principal,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<StatisticsBody>, Failure> {
    let caller = principal.caller(scope, "getStats")?;
    let engine = &app.engine;
    let work = async {
        let (stats, learned) = (engine.stats(&caller).await?, engine.learned(&caller).await?);
        Ok((stats, learned, engine.last_maintained(&caller).await?))
    };
    let (stats, learned, maintained) = app.run_operation("getStats", work).await?;
    let maintained = maintained.into_iter().map(|(step, at)| (step.name().to_owned(), at)).collect();
    Ok(Json(StatisticsBody { stats, learned, maintained }))
}

/// Reads the settings in force, without secrets. Only for admins of the default tenant.
#[utoipa::path(
    get, path = "/v1/config", operation_id = "getConfig", tag = "upkeep",
    responses((status = 200, description = "The settings", body = Object), Failures),
    security(("key" = ["admin"]))
)]
async fn config(State(app): State<Arc<App>>, principal: Principal) -> Result<Json<Value>, Failure> {
    // The settings are the server's own, and so for those who run it and not for its guests.
    if principal.own_caller("getConfig")?.tenant != Tenant::default() {
        let message = "the settings are shown to admins of the default tenant only";
        return Err(Failure::new(ErrorKind::Unauthorized, message, "getConfig"));
    }
    // A program that serves without settings has none to show.
    let config = &app.options.config;
    Ok(Json(if config.is_null() { json!({}) } else { config.clone() }))
}

/// The job that the path names.
fn job(space: &str, id: &str) -> Result<(Space, i64), Failure> {
    let space = space.parse().map_err(|error| failure::to_failure(&error, "read the request"))?;
    let id = id.parse().map_err(|_| {
        Failure::new(ErrorKind::InvalidInput, format!("`{id}` is not the number of a job"), "read the request")
            .field("id")
    })?;
    Ok((space, id))
}

/// A task that panicked is a defect of ours.
fn broken<T>(error: JoinError) -> loci_engine::Result<T> {
    tracing::error!(%error, "a task panicked");
    Err(Error::new(ErrorKind::Internal, "internal error").into())
}
