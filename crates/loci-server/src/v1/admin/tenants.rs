//! Tenants and what they use, under `/v1/admin/tenants` and `/v1/admin/usage`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use jiff::Timestamp;
use loci_engine::{Caller, TenantUsage};
use loci_types::{ErrorKind, Outcome, Tenant};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::accepted;
use crate::App;
use crate::extract::{Body, ListParams, Params, PathName};
use crate::failure::{Failure, Failures, to_failure};
use crate::guard::Principal;
use crate::task::{self, Stop, Task, TaskKind, TaskPlan};
use crate::v1::NoParams;
use crate::v1::page::{Page, PageParams};
use crate::v1::write::Write;

/// The routes of tenants.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(get, remove)).routes(routes!(usage))
}

/// A tenant.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TenantRecord {
    /// The name of the tenant.
    tenant: String,
}

/// A tenant to be created.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TenantRequest {
    /// The name of the tenant, which is safe in URLs.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$")]
    tenant: String,
    /// The name of its first key. Default: `first admin`.
    #[serde(default = "first")]
    #[schema(default = "first admin", min_length = 1, max_length = 128)]
    key_name: String,
}

fn first() -> String {
    "first admin".to_owned()
}

/// A tenant that was created, with its first key.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreatedTenant {
    /// The name of the tenant.
    tenant: String,
    /// The id of its first key, which has the role admin.
    key_id: String,
    /// The secret of that key. It is shown this once.
    secret: String,
}

/// What a tenant uses.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Usage {
    /// The name of the tenant.
    tenant: String,
    /// Number of memories in any state.
    memories: u64,
    /// Bytes on disk; 0 if the store does not know.
    bytes: u64,
    /// Number of spaces.
    spaces: u64,
    /// Number of keys that are neither revoked nor expired.
    keys: u64,
    /// Number of requests to this server since it was started, without those that were refused for lack of a credential.
    requests: u64,
    /// When this server was started.
    requests_since: Timestamp,
}

impl Usage {
    fn new(app: &App, held: TenantUsage) -> Self {
        Self {
            requests: app.requests.count(held.tenant.name()),
            requests_since: app.started,
            tenant: held.tenant.into(),
            memories: held.memories,
            bytes: held.bytes,
            spaces: held.spaces,
            keys: held.keys,
        }
    }
}

/// Lists the tenants that the caller looks after, by name.
///
/// An admin of the tenant `default` sees all tenants, other admins their own.
#[utoipa::path(
    get, path = "/v1/admin/tenants", operation_id = "listTenants", tag = "admin",
    params(PageParams),
    responses((status = 200, description = "A page of tenants", body = Page<TenantRecord>), Failures),
    security(("key" = ["admin"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params: NoParams {} }: ListParams<NoParams>,
) -> Result<Json<Page<TenantRecord>>, Failure> {
    let caller = principal.caller(scope, "listTenants")?;
    let tenants = app.run_operation("listTenants", app.engine.tenants_of(&caller)).await?;
    Ok(Json(page.slice(tenants)?.map(|tenant| TenantRecord { tenant: tenant.into() })))
}

/// Creates a tenant with its first key.
///
/// Only an admin of the tenant `default` may. The answer holds the secret of the key, which is shown this once.
#[utoipa::path(
    post, path = "/v1/admin/tenants", operation_id = "createTenant", tag = "admin",
    request_body(content = TenantRequest, example = json!({ "tenant": "acme" })),
    responses((status = 201, description = "The tenant and its first key", body = Write<CreatedTenant>), Failures),
    security(("key" = ["admin"]))
)]
async fn create(
    State(app): State<Arc<App>>,
    principal: Principal,
    Body(request): Body<TenantRequest>,
) -> Result<Response, Failure> {
    let caller = principal.own_caller("createTenant")?;
    let tenant = named(&request.tenant, "createTenant")?;
    let made = app.run_operation("createTenant", app.engine.create_tenant(&caller, tenant, request.key_name)).await?;
    let (name, place) = (request.tenant.clone(), format!("/v1/admin/tenants/{}", request.tenant));
    let created = CreatedTenant { tenant: request.tenant, key_id: made.key.id, secret: made.secret };
    Ok(Write::new(name, Outcome::Created, Some(created)).at(&place))
}

/// Reads what a tenant uses.
#[utoipa::path(
    get, path = "/v1/admin/tenants/{tenant}", operation_id = "getTenant", tag = "admin",
    params(("tenant" = String, Path, description = "The name of the tenant")),
    responses((status = 200, description = "What the tenant uses", body = Usage), Failures),
    security(("key" = ["admin"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(name): PathName,
) -> Result<Json<Usage>, Failure> {
    let caller = principal.own_caller("getTenant")?;
    let tenant = named(&name, "getTenant")?;
    let held = app.run_operation("getTenant", app.engine.tenant_usage(&caller, &tenant)).await?;
    Ok(Json(Usage::new(&app, held)))
}

/// The confirmation of a removal.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct RemovalParams {
    /// The name of the tenant once more.
    #[param(nullable = false, required = true)]
    confirm: Option<String>,
}

/// Removes a tenant with all its data, keys, agents, pools and backups on this server.
///
/// Only an admin of the tenant `default` may, and must repeat the name of the tenant in `confirm`. Only a backup can
/// undo it. The task cannot be cancelled; one that was interrupted is finished by removing the tenant again.
#[utoipa::path(
    delete, path = "/v1/admin/tenants/{tenant}", operation_id = "deleteTenant", tag = "admin",
    params(("tenant" = String, Path, description = "The name of the tenant"), RemovalParams),
    responses((status = 202, description = "The task that removes the tenant", body = Task), Failures),
    security(("key" = ["admin"]))
)]
async fn remove(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(name): PathName,
    Params(params): Params<RemovalParams>,
) -> Result<Response, Failure> {
    const OPERATION: &str = "deleteTenant";
    let caller = principal.own_caller(OPERATION)?;
    let tenant = named(&name, OPERATION)?;
    app.run_operation(OPERATION, app.engine.check_tenant_removal(&caller, &tenant)).await?;
    if params.confirm.as_deref() != Some(tenant.name()) {
        return Err(Failure::new(ErrorKind::InvalidInput, "confirm must be the name of the tenant", OPERATION)
            .field("confirm")
            .hint(format!("add `?confirm={}`", tenant.name())));
    }
    let plan = TaskPlan { kind: TaskKind::TenantRemoval, operation: OPERATION, unit: "spaces", stop: Stop::Never };
    let (server, operator) = (app.clone(), caller.clone());
    let task = task::start(&app, &caller, plan, |handle| async move {
        let backups = server.options.server.backup_folder.as_deref();
        let removed = server.engine.remove_tenant(&operator, &tenant, backups).await?;
        server.requests.forget(tenant.name());
        handle.progress(removed.spaces, Some(removed.spaces));
        Ok(removed)
    })?;
    Ok(accepted(task))
}

/// Lists what tenants use, by name.
///
/// An admin of the tenant `default` sees all tenants, other admins their own.
#[utoipa::path(
    get, path = "/v1/admin/usage", operation_id = "listUsage", tag = "admin",
    params(PageParams),
    responses((status = 200, description = "A page of tenants with what they use", body = Page<Usage>), Failures),
    security(("key" = ["admin"]))
)]
async fn usage(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params: NoParams {} }: ListParams<NoParams>,
) -> Result<Json<Page<Usage>>, Failure> {
    let caller = principal.caller(scope, "listUsage")?;
    let tenants = app.run_operation("listUsage", app.engine.tenants_of(&caller)).await?;
    let Page { data, next_cursor } = page.slice(tenants)?;
    let held = app.run_operation("listUsage", held(&app, &caller, data)).await?;
    let data = held.into_iter().map(|held| Usage::new(&app, held)).collect();
    Ok(Json(Page { data, next_cursor }))
}

async fn held(app: &App, caller: &Caller, tenants: Vec<Tenant>) -> loci_engine::Result<Vec<TenantUsage>> {
    let mut held = Vec::with_capacity(tenants.len());
    for tenant in &tenants {
        held.push(app.engine.tenant_usage(caller, tenant).await?);
    }
    Ok(held)
}

fn named(name: &str, operation: &str) -> Result<Tenant, Failure> {
    Tenant::new(name).map_err(|error| to_failure(&error, operation))
}
