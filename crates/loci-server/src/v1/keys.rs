//! Which keys are there, and who am I?
//!
//! A secret is told once, in the answer that makes it; its hash is told never.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use loci_engine::{MadeKey, NewKey};
use loci_types::{Bounds, ErrorKind, Grant, Key, Role, Tenant};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::extract::{Body, MaybeBody, PathName};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The longest time for which an old key counts beside the new one, in seconds.
const GRACE: u32 = 30 * 24 * 3_600;

/// The routes of keys.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(rotate))
        .routes(routes!(revoke))
        .routes(routes!(whoami))
}

/// A key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct KnownKey {
    /// Its public part.
    id: String,
    /// What it is for.
    name: String,
    /// What it allows.
    #[serde(flatten)]
    grant: Grant,
    /// When it was made.
    created_at: Timestamp,
    /// When it stops to count; null: never.
    #[schema(required)]
    expires_at: Option<Timestamp>,
    /// From when on it is refused; null: it is not.
    #[schema(required)]
    revoked_at: Option<Timestamp>,
}

impl From<Key> for KnownKey {
    fn from(key: Key) -> Self {
        let Key { id, name, hash: _, grant, created_at, expires_at, revoked_at } = key;
        Self { id, name, grant, created_at, expires_at, revoked_at }
    }
}

/// Keys.
#[derive(Debug, Serialize, ToSchema)]
struct KnownKeys {
    /// The oldest first.
    keys: Vec<KnownKey>,
}

/// Lists the keys of the tenant, oldest first.
#[utoipa::path(
    get, path = "/v1/keys", operation_id = "listKeys", tag = "keys",
    responses((status = 200, description = "The keys", body = KnownKeys), Failures),
    security(("key" = ["admin"]))
)]
async fn list(State(app): State<Arc<App>>, who: Who) -> Result<Json<KnownKeys>, Failure> {
    let caller = who.alone("keys")?;
    let keys = app.verb("keys", app.engine.keys(&caller)).await?;
    Ok(Json(KnownKeys { keys: keys.into_iter().map(KnownKey::from).collect() }))
}

/// A key to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateKey {
    /// What it is for.
    name: String,
    /// What it may do.
    role: Role,
    /// What it may name; none: anything.
    #[serde(default)]
    bounds: Bounds,
    /// The categories it may see; none: all.
    categories: Option<BTreeSet<String>>,
    /// When it stops to count; none: never.
    expires_at: Option<Timestamp>,
}

/// A key that was just made.
#[derive(Debug, Serialize, ToSchema)]
struct NewlyMadeKey {
    /// The key.
    key: KnownKey,
    /// What its bearer presents. It is told this once.
    secret: String,
}

impl From<MadeKey> for NewlyMadeKey {
    fn from(made: MadeKey) -> Self {
        Self { key: made.key.into(), secret: made.secret }
    }
}

/// Makes a key in the caller's tenant.
///
/// The first key closes the door: from then on everyone must show one.
#[utoipa::path(
    post, path = "/v1/keys", operation_id = "createKey", tag = "keys",
    request_body(content = CreateKey, example = json!({
        "name": "planner in production", "role": "writer", "bounds": { "agents": ["planner"], "users": ["*"] }
    })),
    responses((status = 201, description = "The key and its secret", body = NewlyMadeKey), Failures),
    security(("key" = ["admin"]))
)]
async fn create(
    State(app): State<Arc<App>>,
    who: Who,
    Body(body): Body<CreateKey>,
) -> Result<(StatusCode, Json<NewlyMadeKey>), Failure> {
    let caller = who.alone("create key")?;
    let grant =
        Grant { tenant: caller.tenant.clone(), role: body.role, bounds: body.bounds, categories: body.categories };
    let new = NewKey { name: body.name, grant, expires_at: body.expires_at };
    let made = app.verb("create key", app.engine.create_key(&caller, new)).await?;
    Ok((StatusCode::CREATED, Json(made.into())))
}

/// How long the old key still counts.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct RotateKey {
    /// Seconds for which the old key still counts.
    #[schema(minimum = 0, maximum = 2_592_000)]
    grace_seconds: u32,
}

/// Makes a key that allows the same, and refuses the old one when the grace is over.
#[utoipa::path(
    post, path = "/v1/keys/{id}/rotate", operation_id = "rotateKey", tag = "keys",
    params(("id" = String, Path, description = "The key")),
    request_body = Option<RotateKey>,
    responses((status = 201, description = "The new key and its secret", body = NewlyMadeKey), Failures),
    security(("key" = ["admin"]))
)]
async fn rotate(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(id): PathName,
    MaybeBody(body): MaybeBody<RotateKey>,
) -> Result<(StatusCode, Json<NewlyMadeKey>), Failure> {
    if body.grace_seconds > GRACE {
        let message = format!("graceSeconds is {}, but must lie between 0 and {GRACE}", body.grace_seconds);
        return Err(Failure::new(ErrorKind::InvalidInput, message, "rotate key").field("graceSeconds"));
    }
    let caller = who.alone("rotate key")?;
    let grace = SignedDuration::from_secs(body.grace_seconds.into());
    let made = app.verb("rotate key", app.engine.rotate_key(&caller, &id, grace)).await?;
    Ok((StatusCode::CREATED, Json(made.into())))
}

/// Refuses a key from now on.
#[utoipa::path(
    delete, path = "/v1/keys/{id}", operation_id = "revokeKey", tag = "keys",
    params(("id" = String, Path, description = "The key")),
    responses((status = 204, description = "It no longer counts"), Failures),
    security(("key" = ["admin"]))
)]
async fn revoke(State(app): State<Arc<App>>, who: Who, PathName(id): PathName) -> Result<StatusCode, Failure> {
    let caller = who.alone("revoke key")?;
    app.verb("revoke key", app.engine.revoke_key(&caller, &id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Who asks, as far as the door knows.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WhoAmI {
    /// The tenant.
    #[schema(value_type = String)]
    tenant: Tenant,
    /// What they may do.
    role: Role,
    /// What they may name; empty: anything.
    bounds: Bounds,
    /// The categories they may see; null: all.
    #[schema(required)]
    categories: Option<BTreeSet<String>>,
    /// The credential they came with, `open` if none was asked for.
    credential: String,
    /// Whether nobody is asked who they are.
    open: bool,
}

/// Tells who the caller is taken for.
#[utoipa::path(
    get, path = "/v1/whoami", operation_id = "whoami", tag = "keys",
    responses((status = 200, description = "Who asks", body = WhoAmI), Failures),
    security(("key" = ["reader"]))
)]
async fn whoami(who: Who) -> Json<WhoAmI> {
    let whole = Grant::whole(Tenant::default());
    let open = who.grant().is_none();
    let grant = who.grant().unwrap_or(&whole).clone();
    let credential = who.name().to_owned();
    let Grant { tenant, role, bounds, categories } = grant;
    Json(WhoAmI { tenant, role, bounds, categories, credential, open })
}
