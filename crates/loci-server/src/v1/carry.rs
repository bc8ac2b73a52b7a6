//! How does what is known leave and come in over HTTP?
//!
//! The lines are those of `loci export` (docs/export.md). They are sent as they are read, so that neither side holds
//! more than a page; a stream that breaks off ends without its last line, and the connection says so.

use std::sync::Arc;

use axum::Json;
use axum::body::Body as Stream;
use axum::extract::State;
use axum::extract::rejection::StringRejection;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::{StreamExt as _, stream};
use loci_engine::carry::{Export, ExportRequest, Fate, Given, Line, MemoryLine, Taking, read_line};
use loci_engine::{Caller, Error as EngineError};
use loci_types::{ErrorKind, Layer};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::IdentifierParams;
use crate::App;
use crate::extract::{ScopedParams, words};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// What lines are sent as.
const LINES: &str = "application/x-ndjson";
/// So many lines are kept together.
const TOGETHER: usize = 256;
/// So many reasons are told.
const TOLD: usize = 20;

/// The routes of what is carried.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(export)).routes(routes!(import))
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
    who: Who,
    ScopedParams(identifiers, params): ScopedParams<ExportParams>,
) -> Result<Response, Failure> {
    const OPERATION: &str = "exportMemories";
    let layers = (!params.layer.is_empty()).then_some(params.layer);
    let (caller, request) = asked(who.caller(identifiers, OPERATION)?, layers, params.vectors);
    let export = app.verb(OPERATION, app.engine.export(&caller, request)).await?;
    let first = line(&export.header()).map_err(|_| unwritable())?;
    let begun = stream::once(async move { Ok::<_, std::io::Error>(first) });
    let body = begun.chain(stream::try_unfold((app, export), |(app, export)| next(app, export)));
    Ok(([(header::CONTENT_TYPE, LINES)], Stream::from_stream(body)).into_response())
}

/// The next page of an export as text, and what comes after it. An answer that has begun can only be broken off.
async fn next(app: Arc<App>, mut export: Export) -> std::io::Result<Option<(Vec<u8>, (Arc<App>, Export))>> {
    let lines = app.engine.export_next(&mut export).await.map_err(|error| {
        tracing::error!(%error, "an export was broken off");
        std::io::Error::other("the export was broken off")
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

/// Who asks, and for what. Whoever sees the whole tenant finds a user or an agent in every layer.
fn asked(mut caller: Caller, layers: Option<Vec<Layer>>, vectors: bool) -> (Caller, ExportRequest) {
    let mut rest = caller.identifiers.clone();
    let (user, agent) = (rest.user_id.take(), rest.agent_id.take());
    if caller.operator && layers.is_none() && rest.is_empty() {
        caller.identifiers = rest;
        return (caller, ExportRequest { layers, user, agent, vectors });
    }
    (caller, ExportRequest { layers, vectors, ..ExportRequest::default() })
}

/// How lines come in.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Coming {
    /// Whether something else by the same id gives way.
    #[param(required = false)]
    replace: bool,
    /// Whether it is only told what would happen.
    #[param(required = false)]
    dry_run: bool,
}

/// What became of the lines.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ImportedLines {
    /// Those that are here now.
    imported: u64,
    /// Those that took the place of what was here.
    replaced: u64,
    /// Those that were here already.
    skipped: u64,
    /// Those that cannot be kept.
    refused: u64,
    /// Those by whose id something else is here, which stays.
    conflicts: u64,
    /// Why, for the first of them.
    problems: Vec<String>,
}

impl ImportedLines {
    fn count(&mut self, number: usize, fate: &Fate) {
        let reason = match fate {
            Fate::Imported => return self.imported += 1,
            Fate::Replaced => return self.replaced += 1,
            Fate::Skipped => return self.skipped += 1,
            Fate::Conflict(reason) => {
                self.conflicts += 1;
                reason.clone()
            }
            Fate::Refused(error) => {
                self.refused += 1;
                error.to_string()
            }
        };
        if self.problems.len() < TOLD {
            self.problems.push(format!("line {number}: {reason}"));
        }
    }
}

/// Takes in lines of JSON, as `GET /v1/export` writes them.
///
/// The first line that cannot be read ends it; the lines before it are kept, and it can simply be sent again.
#[utoipa::path(
    post, path = "/v1/import", operation_id = "importMemories", tag = "memories",
    params(Coming, IdentifierParams),
    request_body(content = String, content_type = "application/x-ndjson"),
    responses((status = 200, description = "What became of the lines", body = ImportedLines), Failures),
    security(("key" = ["admin"]))
)]
async fn import(
    State(app): State<Arc<App>>,
    who: Who,
    ScopedParams(whose, coming): ScopedParams<Coming>,
    body: Result<String, StringRejection>,
) -> Result<Json<ImportedLines>, Failure> {
    const OPERATION: &str = "import";
    let text = body.map_err(|error| {
        let failure = Failure::new(ErrorKind::InvalidInput, error.body_text(), OPERATION).field("body");
        failure.status(error.status()).hint("send less at once; lines that are here already are passed over")
    })?;
    let caller = who.caller(whose, OPERATION)?;
    let (mut told, mut how) = (ImportedLines::default(), Taking::new(coming.replace, coming.dry_run));
    let mut batch: Vec<(usize, Line)> = Vec::new();
    for (place, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        match understand(&app, &caller, text).await {
            Ok(Some(line)) => batch.push((place + 1, line)),
            Ok(None) => {}
            Err(error) => {
                keep(&app, &caller, &mut batch, &mut how, &mut told).await?;
                let mut problem = error.problem(OPERATION);
                problem.message = format!("line {}: {}; the lines before it are kept", place + 1, problem.message);
                return Err(Failure::of(problem));
            }
        }
        if batch.len() == TOGETHER {
            keep(&app, &caller, &mut batch, &mut how, &mut told).await?;
        }
    }
    keep(&app, &caller, &mut batch, &mut how, &mut told).await?;
    Ok(Json(told))
}

/// What a line brings, checked; a header brings nothing.
async fn understand(app: &App, caller: &Caller, text: &str) -> Result<Option<Line>, EngineError> {
    let line = match read_line(text)? {
        Given::Header(_) => return Ok(None),
        Given::Line(line) => line,
        Given::New(whose, created_at, new) => {
            let identifiers = whose.unwrap_or_else(|| caller.identifiers.clone());
            let memory = app.engine.draft(&Caller { identifiers, ..caller.clone() }, *new, created_at)?;
            Line::Memory(Box::new(MemoryLine { memory, aged_at: None, vectors: Vec::new() }))
        }
    };
    app.engine.check_line(caller, &line).await?;
    Ok(Some(line))
}

async fn keep(
    app: &App,
    caller: &Caller,
    batch: &mut Vec<(usize, Line)>,
    how: &mut Taking,
    told: &mut ImportedLines,
) -> Result<(), Failure> {
    let (numbers, lines): (Vec<usize>, Vec<Line>) = std::mem::take(batch).into_iter().unzip();
    let fates = app.verb("import", app.engine.carry_in(caller, lines, how)).await?;
    for (number, fate) in numbers.into_iter().zip(&fates) {
        told.count(number, fate);
    }
    Ok(())
}
