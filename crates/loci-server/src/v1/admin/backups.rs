//! Backups in the folder of the server under `/v1/admin/backups`.
//!
//! The folder is a setting and the names are the engine's: nothing of a path comes from a caller.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body as Stream, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use loci_engine::{BackupFolder, BackupPart, StoredBackup};
use loci_types::{ErrorKind, Space, Tenant};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::accepted;
use crate::App;
use crate::extract::{ListParams, MaybeBody, PathName};
use crate::failure::{Failure, Failures, to_failure};
use crate::guard::Principal;
use crate::task::{self, Stop, Task, TaskKind, TaskPlan};
use crate::v1::NoParams;
use crate::v1::page::{Page, PageParams};

/// The bytes of a backup that are read at once.
const CHUNK: usize = 256 << 10;

/// The routes of backups.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(download, remove))
        .routes(routes!(verify))
        .routes(routes!(restore))
}

/// What a backup is to hold.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct BackupRequest {
    /// The tenant. Default: the tenant of the caller; for an admin of the tenant `default`, all tenants.
    tenant: Option<String>,
    /// The only space: `shared`, `users_00` to `users_3f`, `agent_memory_SLUG` or `pool_SLUG`. Default: all spaces,
    /// with agents, pools and keys.
    space: Option<String>,
}

/// How a backup is restored.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct RestoreRequest {
    /// Whether spaces that are not empty are replaced. Default: false; then a restore into one is refused.
    #[schema(default = false)]
    replace: bool,
}

/// Lists the backups of the caller's tenant, newest first.
#[utoipa::path(
    get, path = "/v1/admin/backups", operation_id = "listBackups", tag = "admin",
    params(PageParams),
    responses((status = 200, description = "A page of backups", body = Page<StoredBackup>), Failures),
    security(("key" = ["admin"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params: NoParams {} }: ListParams<NoParams>,
) -> Result<Json<Page<StoredBackup>>, Failure> {
    let caller = principal.caller(scope, "listBackups")?;
    let (engine, folder) = (app.engine.clone(), folder(&app, "listBackups")?);
    let found = app.run_operation("listBackups", blocking(move || engine.backups(&caller, &folder))).await?;
    page.slice(found).map(Json)
}

/// Makes a full backup in the folder of the server, while others write.
///
/// The result of the task is the backup. An admin of the tenant `default` backs up all tenants; other admins their own.
#[utoipa::path(
    post, path = "/v1/admin/backups", operation_id = "createBackup", tag = "admin",
    request_body(content = Option<BackupRequest>, example = json!({})),
    responses((status = 202, description = "The task that makes the backup", body = Task), Failures),
    security(("key" = ["admin"]))
)]
async fn create(
    State(app): State<Arc<App>>,
    principal: Principal,
    MaybeBody(request): MaybeBody<BackupRequest>,
) -> Result<Response, Failure> {
    const OPERATION: &str = "createBackup";
    let caller = principal.own_caller(OPERATION)?;
    let wrong = |error: loci_types::Error| to_failure(&error, OPERATION);
    let part = BackupPart {
        tenant: request.tenant.as_deref().map(Tenant::new).transpose().map_err(wrong)?,
        space: request
            .space
            .as_deref()
            .map(str::parse::<Space>)
            .transpose()
            .map_err(|error| wrong(error).field("space"))?,
    };
    // What the caller may not do is refused now and not by the task.
    let checked = app.engine.check_backup(&caller, part.clone()).await;
    checked.map_err(|error| Failure::of(error.problem(OPERATION)))?;
    let (engine, folder, maker) = (app.engine.clone(), folder(&app, OPERATION)?, caller.clone());
    let plan = TaskPlan { kind: TaskKind::Backup, operation: OPERATION, unit: "rows", stop: Stop::Asking };
    let task = task::start(&app, &caller, plan, |handle| async move {
        let (reporter, asked) = (handle.clone(), handle);
        let progress = move |rows| reporter.progress(rows, None);
        engine.create_backup(&maker, &folder, part, progress, Arc::new(move || asked.is_cancelled())).await
    })?;
    Ok(accepted(task))
}

/// Downloads a backup.
#[utoipa::path(
    get, path = "/v1/admin/backups/{name}", operation_id = "downloadBackup", tag = "admin",
    params(("name" = String, Path, description = "The name of the backup")),
    responses(
        (status = 200, description = "The file", body = String, content_type = "application/octet-stream"),
        Failures
    ),
    security(("key" = ["admin"]))
)]
async fn download(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(name): PathName,
) -> Result<Response, Failure> {
    const OPERATION: &str = "downloadBackup";
    let caller = principal.own_caller(OPERATION)?;
    let path =
        app.run_operation(OPERATION, async { app.engine.backup_file(&caller, &folder_of(&app)?, &name) }).await?;
    let unreadable = |error: std::io::Error| {
        tracing::error!(%error, "a backup cannot be read");
        Failure::new(ErrorKind::Storage, "the backup cannot be read", OPERATION)
    };
    let file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    let body = futures::stream::try_unfold(file, |file| async move { read_chunk(file).await });
    let mut response = Stream::from_stream(body).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_LENGTH, bytes.into());
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// The next bytes of a file, and the file after them.
async fn read_chunk(mut file: File) -> std::io::Result<Option<(Bytes, File)>> {
    let read = tokio::task::spawn_blocking(move || {
        let mut chunk = vec![0; CHUNK];
        let length = file.read(&mut chunk)?;
        chunk.truncate(length);
        Ok::<_, std::io::Error>((length > 0).then(|| (Bytes::from(chunk), file)))
    });
    read.await.map_err(std::io::Error::other)?
}

/// Removes a backup.
#[utoipa::path(
    delete, path = "/v1/admin/backups/{name}", operation_id = "deleteBackup", tag = "admin",
    params(("name" = String, Path, description = "The name of the backup")),
    responses((status = 204, description = "The backup is removed"), Failures),
    security(("key" = ["admin"]))
)]
async fn remove(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(name): PathName,
) -> Result<StatusCode, Failure> {
    let caller = principal.own_caller("deleteBackup")?;
    app.run_operation("deleteBackup", async { app.engine.remove_backup(&caller, &folder_of(&app)?, &name) }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Verifies a backup from the first byte to the last.
///
/// The result of the task is the summary of the backup: its spaces, its number of rows and its digest.
#[utoipa::path(
    post, path = "/v1/admin/backups/{name}/verify", operation_id = "verifyBackup", tag = "admin",
    params(("name" = String, Path, description = "The name of the backup")),
    responses((status = 202, description = "The task that verifies the backup", body = Task), Failures),
    security(("key" = ["admin"]))
)]
async fn verify(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(name): PathName,
) -> Result<Response, Failure> {
    const OPERATION: &str = "verifyBackup";
    let caller = principal.own_caller(OPERATION)?;
    app.run_operation(OPERATION, async { app.engine.backup_file(&caller, &folder_of(&app)?, &name) }).await?;
    let (engine, folder, reader) = (app.engine.clone(), folder(&app, OPERATION)?, caller.clone());
    let plan = TaskPlan { kind: TaskKind::Verification, operation: OPERATION, unit: "rows", stop: Stop::Anywhere };
    let task = task::start(&app, &caller, plan, |handle| async move {
        let backup = engine.verify_backup(&reader, &folder, &name).await?;
        handle.progress(backup.rows, Some(backup.rows));
        Ok(backup)
    })?;
    Ok(accepted(task))
}

/// Restores a backup.
///
/// The backup is verified before anything is changed; each space comes back in one transaction. An admin of a tenant
/// restores that tenant alone. Keys that exist stay as they are, and a pool keeps its present members.
#[utoipa::path(
    post, path = "/v1/admin/backups/{name}/restore", operation_id = "restoreBackup", tag = "admin",
    params(("name" = String, Path, description = "The name of the backup")),
    request_body(content = Option<RestoreRequest>, example = json!({ "replace": true })),
    responses((status = 202, description = "The task that restores the backup", body = Task), Failures),
    security(("key" = ["admin"]))
)]
async fn restore(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(name): PathName,
    MaybeBody(request): MaybeBody<RestoreRequest>,
) -> Result<Response, Failure> {
    const OPERATION: &str = "restoreBackup";
    let caller = principal.own_caller(OPERATION)?;
    app.run_operation(OPERATION, async { app.engine.backup_file(&caller, &folder_of(&app)?, &name) }).await?;
    let (engine, folder, restorer) = (app.engine.clone(), folder(&app, OPERATION)?, caller.clone());
    let plan = TaskPlan { kind: TaskKind::Restore, operation: OPERATION, unit: "spaces", stop: Stop::Never };
    let task = task::start(&app, &caller, plan, |handle| async move {
        let restored = engine.restore_backup(&restorer, &folder, &name, request.replace).await?;
        let spaces = restored.spaces.len() as u64;
        handle.progress(spaces, Some(spaces));
        Ok(restored)
    })?;
    Ok(accepted(task))
}

/// The folder of the backups.
fn folder(app: &App, operation: &str) -> Result<BackupFolder, Failure> {
    folder_of(app).map_err(|error| Failure::of(error.problem(operation)))
}

fn folder_of(app: &App) -> loci_engine::Result<BackupFolder> {
    let path = app.options.server.backup_folder.clone().ok_or_else(|| {
        loci_types::Error::new(ErrorKind::Configuration, "this server has no folder for backups")
            .at("server.backup_folder")
            .hint("set server.backup_folder")
    })?;
    Ok(BackupFolder { path, encoding: app.options.backup_encoding.clone() })
}

/// Runs work that waits for the disk on a thread that may.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> loci_engine::Result<T> + Send + 'static,
) -> loci_engine::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(loci_types::Error::new(ErrorKind::Internal, "internal error").into()),
    }
}
