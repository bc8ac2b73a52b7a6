//! Webhooks under `/v1/webhooks`: addresses to which events are delivered.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use loci_engine::{Caller, NewWebhook, Webhook};
use loci_types::{Error, Event, Identifiers, Layer, Outcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::NoParams;
use super::page::{Page, PageParams};
use super::write::Write;
use crate::App;
use crate::extract::{ListParams, PathName, Scoped};
use crate::failure::{Failure, Failures, to_failure};
use crate::guard::Principal;
use crate::webhook::check_address;

/// The most events that are counted as pending.
const COUNTED: usize = 1_000;

/// The routes of webhooks.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(get, remove)).routes(routes!(resume))
}

/// A webhook to be created. Lists are "any of"; an empty list matches everything that its creator may see.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewWebhook)]
struct NewWebhookBody {
    /// Where deliveries are sent: an `http` or `https` address that is public, unless `webhooks.allow_private` is set.
    #[schema(max_length = 2048)]
    url: String,
    /// Events, for example `ADD` or `UPDATE`.
    #[serde(default)]
    events: Vec<String>,
    /// Layers of the memories that events are about.
    #[serde(default)]
    layer: Vec<Layer>,
    /// Kinds of the memories that events are about.
    #[serde(default)]
    kind: Vec<String>,
    /// The secret that deliveries are signed with: 16 to 256 visible ASCII characters. Default: one is made.
    #[schema(nullable = false, min_length = 16, max_length = 256)]
    secret: Option<String>,
}

/// Whether a webhook is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum WebhookStatus {
    /// The last delivery succeeded, or there was none yet.
    Active,
    /// The last delivery failed and is tried again.
    Failing,
    /// Deliveries failed for too long, or its key is revoked or expired; nothing is sent until it is resumed.
    Paused,
}

/// A webhook.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
struct WebhookBody {
    /// The id of the webhook.
    id: String,
    /// Where deliveries are sent.
    url: String,
    /// The events; empty for all.
    events: Vec<String>,
    /// The layers; empty for all.
    layer: Vec<Layer>,
    /// The kinds; empty for all.
    kind: Vec<String>,
    /// The scope that it follows; empty for the whole tenant.
    identifiers: Identifiers,
    /// When it was created.
    created_at: Timestamp,
    /// Whether it is delivered.
    status: WebhookStatus,
    /// When a delivery last succeeded; null if none has.
    #[schema(required)]
    last_delivered_at: Option<Timestamp>,
    /// Why the last delivery failed; null if it succeeded.
    #[schema(required)]
    last_error: Option<String>,
    /// When the next delivery is tried after a failure.
    #[schema(required)]
    next_attempt_at: Option<Timestamp>,
    /// Number of events that wait to be delivered, at most 1,000. Null in lists, and if its key is revoked or expired.
    #[schema(required)]
    pending: Option<u64>,
    /// The secret that deliveries are signed with. Only in the answer that creates the webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// Reads how a webhook stands.
async fn described(app: &App, caller: &Caller, webhook: Webhook, count: bool) -> loci_engine::Result<WebhookBody> {
    let state = app.engine.webhook_state(&caller.tenant, &webhook).await?;
    let pending = match count {
        true => app.engine.webhook_page(&caller.tenant, &webhook, &state, COUNTED).await.ok(),
        false => None,
    };
    let status = match (state.paused_at, state.failures) {
        (Some(_), _) => WebhookStatus::Paused,
        (None, 0) => WebhookStatus::Active,
        (None, _) => WebhookStatus::Failing,
    };
    Ok(WebhookBody {
        id: webhook.id,
        url: webhook.url,
        events: webhook.events.iter().map(|event| event.name().to_uppercase()).collect(),
        layer: webhook.layers,
        kind: webhook.kinds,
        identifiers: webhook.identifiers,
        created_at: webhook.created_at,
        status,
        last_delivered_at: state.last_delivered_at,
        last_error: state.last_error,
        next_attempt_at: state.next_attempt_at,
        pending: pending.map(|page| page.entries.len() as u64),
        secret: None,
    })
}

/// Creates a webhook.
///
/// From now on events that the creator's key may see are sent as POSTs of `{"id", "webhookId", "events"}`, signed in the
/// header `Loci-Signature`. A delivery that is not answered with a success is tried again after 1 second to 5 minutes.
/// The secret is shown this once.
#[utoipa::path(
    post, path = "/v1/webhooks", operation_id = "createWebhook", tag = "webhooks",
    request_body(content = Scoped<NewWebhookBody>, example = json!({
        "identifiers": { "userId": "ann" }, "url": "https://example.com/hook", "events": ["ADD", "UPDATE"]
    })),
    responses((status = 201, description = "The webhook, with its secret", body = Write<WebhookBody>), Failures),
    security(("key" = ["writer"]))
)]
async fn create(
    State(app): State<Arc<App>>,
    principal: Principal,
    Scoped { scope, body }: Scoped<NewWebhookBody>,
) -> Result<Response, Failure> {
    const OPERATION: &str = "createWebhook";
    let caller = principal.caller(scope, OPERATION)?;
    let wrong = |error: Error| to_failure(&error, OPERATION);
    check_address(&body.url, app.options.webhooks.allow_private).await.map_err(wrong)?;
    let new = NewWebhook {
        url: body.url,
        events: body.events.iter().map(|name| event(name)).collect::<Result<_, _>>().map_err(wrong)?,
        layers: body.layer,
        kinds: body.kind,
        secret: body.secret,
    };
    let webhook = app.run_operation(OPERATION, app.engine.create_webhook(&caller, new)).await?;
    app.webhooks_changed.notify_one();
    let (id, place, secret) = (webhook.id.clone(), format!("/v1/webhooks/{}", webhook.id), webhook.secret.clone());
    let webhook = app.run_operation(OPERATION, described(&app, &caller, webhook, true)).await?;
    Ok(Write::new(id, Outcome::Created, Some(WebhookBody { secret: Some(secret), ..webhook })).at(&place))
}

/// Lists the webhooks that the caller's key has created, oldest first; admins see all of their tenant.
#[utoipa::path(
    get, path = "/v1/webhooks", operation_id = "listWebhooks", tag = "webhooks",
    params(PageParams),
    responses((status = 200, description = "A page of webhooks", body = Page<WebhookBody>), Failures),
    security(("key" = ["writer"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params: NoParams {} }: ListParams<NoParams>,
) -> Result<Json<Page<WebhookBody>>, Failure> {
    let caller = principal.caller(scope, "listWebhooks")?;
    let found = app.run_operation("listWebhooks", app.engine.webhooks(&caller)).await?;
    let Page { data, next_cursor } = page.slice(found)?;
    let mut webhooks = Vec::with_capacity(data.len());
    for webhook in data {
        webhooks.push(app.run_operation("listWebhooks", described(&app, &caller, webhook, false)).await?);
    }
    Ok(Json(Page { data: webhooks, next_cursor }))
}

/// Reads a webhook, and how its deliveries stand.
#[utoipa::path(
    get, path = "/v1/webhooks/{id}", operation_id = "getWebhook", tag = "webhooks",
    params(("id" = String, Path, description = "The id of the webhook")),
    responses((status = 200, description = "The webhook", body = WebhookBody), Failures),
    security(("key" = ["writer"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(id): PathName,
) -> Result<Json<WebhookBody>, Failure> {
    let caller = principal.own_caller("getWebhook")?;
    let webhook = app.run_operation("getWebhook", app.engine.webhook(&caller, &id)).await?;
    app.run_operation("getWebhook", described(&app, &caller, webhook, true)).await.map(Json)
}

/// Resumes a webhook that is paused or waits after a failure, from where it was.
#[utoipa::path(
    post, path = "/v1/webhooks/{id}/resume", operation_id = "resumeWebhook", tag = "webhooks",
    params(("id" = String, Path, description = "The id of the webhook")),
    responses((status = 200, description = "The webhook", body = Write<WebhookBody>), Failures),
    security(("key" = ["writer"]))
)]
async fn resume(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(id): PathName,
) -> Result<Response, Failure> {
    let caller = principal.own_caller("resumeWebhook")?;
    let webhook = app.run_operation("resumeWebhook", app.engine.resume_webhook(&caller, &id)).await?;
    let webhook = app.run_operation("resumeWebhook", described(&app, &caller, webhook, true)).await?;
    Ok(Write::new(id, Outcome::Updated, Some(webhook)).at(""))
}

/// Removes a webhook. A delivery that is under way may still arrive.
#[utoipa::path(
    delete, path = "/v1/webhooks/{id}", operation_id = "deleteWebhook", tag = "webhooks",
    params(("id" = String, Path, description = "The id of the webhook")),
    responses((status = 204, description = "The webhook is removed"), Failures),
    security(("key" = ["writer"]))
)]
async fn remove(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(id): PathName,
) -> Result<StatusCode, Failure> {
    let caller = principal.own_caller("deleteWebhook")?;
    app.run_operation("deleteWebhook", app.engine.remove_webhook(&caller, &id)).await?;
    app.webhooks_changed.notify_one();
    Ok(StatusCode::NO_CONTENT)
}

/// The event with this name in capitals.
fn event(name: &str) -> Result<Event, Error> {
    let found = Event::ALL.iter().find(|event| event.name().to_uppercase() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<String> = Event::ALL.iter().map(|event| event.name().to_uppercase()).collect();
        Error::invalid("events", format!("unknown event \"{name}\": expected one of {}", names.join(", ")))
    })
}
