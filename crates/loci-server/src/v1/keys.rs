//! API keys under `/v1/keys`, and `/v1/whoami`.
//!
//! A secret is in the one answer that makes it; its hash is in none.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use jiff::{SignedDuration, Timestamp};
use loci_engine::{ApiKey, ApiKeyWithSecret, Caller, IssuedKey, NewKey, optional_instant};
use loci_types::{Bounds, ErrorKind, Grant, Outcome, Right, Role, Tenant};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{Page, PageParams, PageRequest};
use super::write::{Write, segment};
use crate::App;
use crate::extract::{Body, MaybeBody, Params, PathName, parameters, split};
use crate::failure::{Failure, Failures, to_failure};
use crate::guard::Principal;

/// The longest time for which an old key is accepted beside the new one, in seconds.
const GRACE: u32 = 30 * 24 * 3_600;

/// The routes of keys.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, revoke))
        .routes(routes!(rotate))
        .routes(routes!(whoami))
}

/// The tenant whose keys a request is about.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct TenantParams {
    /// The tenant of the keys. Only an admin of the tenant `default` may name another one than their own. Default: the
    /// tenant of the credential.
    #[param(nullable = false)]
    tenant: Option<String>,
}

impl TenantParams {
    /// The caller within the tenant.
    fn caller(self, principal: &Principal, operation: &str) -> Result<Caller, Failure> {
        let caller = principal.own_caller(operation)?;
        let Some(name) = self.tenant else { return Ok(caller) };
        let tenant = Tenant::new(&name).map_err(|error| to_failure(&error, operation))?;
        caller.within_tenant(tenant).map_err(|error| to_failure(&error, operation))
    }
}

/// Lists the keys of the tenant, oldest first, including expired and revoked ones.
#[utoipa::path(
    get, path = "/v1/keys", operation_id = "listKeys", tag = "keys",
    params(TenantParams, PageParams),
    responses((status = 200, description = "A page of keys", body = Page<ApiKey>), Failures),
    security(("key" = ["admin"]))
)]
async fn list(State(app): State<Arc<App>>, principal: Principal, uri: Uri) -> Result<Json<Page<ApiKey>>, Failure> {
    let (page, tenant) = split(uri.query().unwrap_or_default(), |name| matches!(name, "limit" | "cursor"));
    let page = PageRequest::new(parameters(&page)?)?;
    let caller = parameters::<TenantParams>(&tenant)?.caller(&principal, "listKeys")?;
    let keys = app.run_operation("listKeys", app.engine.keys(&caller)).await?;
    let now = app.engine.now();
    Ok(Json(page.slice(keys)?.map(|key| ApiKey::new(key, now))))
}

/// Reads a key, without its secret.
#[utoipa::path(
    get, path = "/v1/keys/{id}", operation_id = "getKey", tag = "keys",
    params(("id" = String, Path, description = "The id of the key"), TenantParams),
    responses((status = 200, description = "The key", body = ApiKey), Failures),
    security(("key" = ["admin"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(id): PathName,
    Params(params): Params<TenantParams>,
) -> Result<Json<ApiKey>, Failure> {
    let caller = params.caller(&principal, "getKey")?;
    let key = app.run_operation("getKey", app.engine.key(&caller, &id)).await?;
    Ok(Json(ApiKey::new(key, app.engine.now())))
}

/// A key to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateKey {
    /// What the key is for.
    name: String,
    /// Its role.
    role: Role,
    /// The identifiers that it may name. Default: any.
    #[serde(default)]
    bounds: Bounds,
    /// The categories that it may see; null: all.
    categories: Option<BTreeSet<String>>,
    /// What it may do besides what its role allows: `hard_delete`, `erase`, `consent`. An admin has all rights. Default: none.
    #[serde(default)]
    rights: BTreeSet<Right>,
    /// When it expires: an instant, or a day in `retrieval.time_zone`. Default: never.
    #[serde(default, deserialize_with = "optional_instant")]
    #[schema(value_type = Option<String>)]
    expires_at: Option<Timestamp>,
}

/// Makes a key. `data.secret` cannot be read again.
///
/// With the first key the server is closed: every request needs a credential from then on.
#[utoipa::path(
    post, path = "/v1/keys", operation_id = "createKey", tag = "keys",
    params(TenantParams),
    request_body(content = CreateKey, example = json!({
        "name": "planner in production", "role": "writer", "bounds": { "agents": ["planner"], "users": ["*"] }
    })),
    responses((status = 201, description = "The key and its secret", body = Write<ApiKeyWithSecret>), Failures),
    security(("key" = ["admin"]))
)]
async fn create(
    State(app): State<Arc<App>>,
    principal: Principal,
    Params(params): Params<TenantParams>,
    Body(body): Body<CreateKey>,
) -> Result<Response, Failure> {
    let caller = params.caller(&principal, "createKey")?;
    let grant = Grant {
        tenant: caller.tenant.clone(),
        role: body.role,
        bounds: body.bounds,
        categories: body.categories,
        rights: body.rights,
    };
    let new = NewKey { name: body.name, grant, expires_at: body.expires_at };
    Ok(made(app.run_operation("createKey", app.engine.create_key(&caller, new)).await?))
}

/// The answer with a new key. It has its secret whatever the caller prefers: it would be lost otherwise.
fn made(made: IssuedKey) -> Response {
    let data = ApiKeyWithSecret::from(made);
    let id = data.key.id.clone();
    let place = format!("/v1/keys/{}", segment(&id));
    Write::new(id, Outcome::Created, Some(data)).at(&place)
}

/// How a key is rotated.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct RotateKey {
    /// Seconds for which the old key is still accepted.
    #[schema(minimum = 0, maximum = 2_592_000, default = 0)]
    grace_seconds: u32,
}

/// Makes a key with the same permissions, and revokes the old one when the grace period is over.
#[utoipa::path(
    post, path = "/v1/keys/{id}/rotate", operation_id = "rotateKey", tag = "keys",
    params(("id" = String, Path, description = "The id of the old key"), TenantParams),
    request_body = Option<RotateKey>,
    responses((status = 201, description = "The new key and its secret", body = Write<ApiKeyWithSecret>), Failures),
    security(("key" = ["admin"]))
)]
async fn rotate(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(id): PathName,
    Params(params): Params<TenantParams>,
    MaybeBody(body): MaybeBody<RotateKey>,
) -> Result<Response, Failure> {
    if body.grace_seconds > GRACE {
        let message = format!("graceSeconds is {}, but must be between 0 and {GRACE}", body.grace_seconds);
        return Err(Failure::new(ErrorKind::InvalidInput, message, "rotateKey").field("graceSeconds"));
    }
    let caller = params.caller(&principal, "rotateKey")?;
    let grace = SignedDuration::from_secs(body.grace_seconds.into());
    Ok(made(app.run_operation("rotateKey", app.engine.rotate_key(&caller, &id, grace)).await?))
}

/// Revokes a key. It stays in the list.
#[utoipa::path(
    delete, path = "/v1/keys/{id}", operation_id = "revokeKey", tag = "keys",
    params(("id" = String, Path, description = "The id of the key"), TenantParams),
    responses((status = 204, description = "The key is revoked"), Failures),
    security(("key" = ["admin"]))
)]
async fn revoke(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(id): PathName,
    Params(params): Params<TenantParams>,
) -> Result<StatusCode, Failure> {
    let caller = params.caller(&principal, "revokeKey")?;
    app.run_operation("revokeKey", app.engine.revoke_key(&caller, &id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The credential of a request and its permissions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WhoAmI {
    /// The tenant.
    #[schema(value_type = String)]
    tenant: Tenant,
    /// The role.
    role: Role,
    /// The identifiers that it may name; empty: any.
    bounds: Bounds,
    /// The categories that it may see; null: all.
    #[schema(required)]
    categories: Option<BTreeSet<String>>,
    /// What it may do besides what its role allows.
    rights: BTreeSet<Right>,
    /// The name of the credential; `open` if the server asks for none.
    credential: String,
    /// Whether the server asks for no credential.
    open: bool,
}

/// Returns the current credential and its permissions.
#[utoipa::path(
    get, path = "/v1/whoami", operation_id = "whoami", tag = "keys",
    responses((status = 200, description = "The credential", body = WhoAmI), Failures),
    security(("key" = ["reader"]))
)]
async fn whoami(principal: Principal) -> Json<WhoAmI> {
    let whole = Grant::whole(Tenant::default());
    let open = principal.grant().is_none();
    let grant = principal.grant().unwrap_or(&whole).clone();
    let credential = principal.name().to_owned();
    let rights = grant.effective_rights();
    let Grant { tenant, role, bounds, categories, .. } = grant;
    Json(WhoAmI { tenant, role, bounds, categories, rights, credential, open })
}
