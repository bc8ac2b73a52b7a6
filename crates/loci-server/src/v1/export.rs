//! `GET /v1/export`: the visible memories as lines of JSON.
//!
//! The lines are those of `loci export` (docs/export.md). They are sent as they are read, so that neither side holds
//! more than a page; a stream that breaks off ends without its last line, and the connection says so.

use std::sync::Arc;

use axum::body::Body as Stream;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::{StreamExt as _, stream};
use loci_engine::Caller;
use loci_engine::json_lines::{Export, ExportRequest};
use loci_types::{ErrorKind, Layer};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::IdentifierParams;
use crate::App;
use crate::extract::{ScopedParams, words};
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The content type of the lines.
const LINES: &str = "application/x-ndjson";

/// The routes of the export.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(export))
}

/// What is exported.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct ExportParams {
    /// Only memories in any of these layers. Default: all layers that the identifiers open.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1)]
    layer: Vec<Layer>,
    /// Whether memories have their vectors.
    #[param(required = false, default = false)]
    vectors: bool,
    /// Whether each memory is followed by its history. An import ignores it.
    #[param(required = false, default = false)]
    history: bool,
}

/// Exports everything that the caller may see, as lines of JSON.
///
/// An admin without bounds who names a user, an agent or both gets everything that has their ids, in any layer; others
/// get the scopes that their identifiers open.
#[utoipa::path(
    get, path = "/v1/export", operation_id = "exportMemories", tag = "memories",
    params(ExportParams, IdentifierParams),
    responses((status = 200, description = "Lines of JSON", body = String, content_type = "application/x-ndjson"), Failures),
    security(("key" = ["reader"]))
)]
async fn export(
    State(app): State<Arc<App>>,
    principal: Principal,
    ScopedParams(scope, params): ScopedParams<ExportParams>,
) -> Result<Response, Failure> {
    const OPERATION: &str = "exportMemories";
    let layers = (!params.layer.is_empty()).then_some(params.layer);
    let whole = principal.own_caller(OPERATION)?.operator;
    let (caller, request) = asked(principal.caller(scope, OPERATION)?, whole, layers, params.vectors);
    let request = ExportRequest { history: params.history, ..request };
    let export = app.run_operation(OPERATION, app.engine.export(&caller, request)).await?;
    let first = line(&export.header()).map_err(|_| unwritable())?;
    let begun = stream::once(async move { Ok::<_, std::io::Error>(first) });
    let body = begun.chain(stream::try_unfold((app, export), |(app, export)| next(app, export)));
    Ok(([(header::CONTENT_TYPE, LINES)], Stream::from_stream(body)).into_response())
}

/// The next page of an export as text, and what comes after it. An answer that has begun can only be broken off.
async fn next(app: Arc<App>, mut export: Export) -> std::io::Result<Option<(Vec<u8>, (Arc<App>, Export))>> {
    let lines = app.engine.export_next(&mut export).await.map_err(|error| {
        tracing::error!(%error, "an export was aborted");
        std::io::Error::other("the export was aborted")
    })?;
    let Some(lines) = lines else { return Ok(None) };
    let mut page = Vec::new();
    for one in &lines {
        page.extend(line(one).map_err(std::io::Error::other)?);
    }
    Ok(Some((page, (app, export))))
}

fn line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

fn unwritable() -> Failure {
    Failure::new(ErrorKind::Internal, "the export cannot be written", "exportMemories")
}

/// The caller and the request. For a caller who may see the whole tenant, a user or an agent is found in every layer.
fn asked(caller: Caller, whole: bool, layers: Option<Vec<Layer>>, vectors: bool) -> (Caller, ExportRequest) {
    let mut rest = caller.identifiers.clone();
    let (user, agent) = (rest.user_id.take(), rest.agent_id.take());
    if whole && layers.is_none() && rest.is_empty() {
        // Whoever names a user or an agent has named a scope; nobody named is everyone, which must be said.
        let everyone = caller.everyone || user.is_some() || agent.is_some();
        let caller = Caller { operator: true, everyone, identifiers: rest, ..caller };
        return (caller, ExportRequest { layers, user, agent, vectors, history: false });
    }
    (caller, ExportRequest { layers, vectors, ..ExportRequest::default() })
}
