//! Import as a stream under `/v1/import`.
//!
//! The body is read as it comes: lines of Loci one by one, files of other systems entry by entry. Neither is held as a
//! whole; what can only be read as one (notes, a graph) is bounded by `server.import_bytes`.

mod body;
mod foreign;
mod lines;
mod report;

use std::sync::Arc;

use axum::Json;
use axum::body::Body as Stream;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use loci_engine::Caller;
use loci_engine::importers::{self, SourceFormat};
use loci_engine::json_lines::ImportOptions;
use loci_types::ErrorKind;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::body::Incoming;
use self::report::ImportReport;
use super::IdentifierParams;
use crate::App;
use crate::extract::ScopedParams;
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The `operationId`.
const OPERATION: &str = "importMemories";

/// The routes of imports.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(import))
}

/// The system that wrote a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ImportFormat {
    /// Recognised by how the body begins.
    #[default]
    Auto,
    /// Lines of `GET /v1/export`, or lines with at least `content`.
    Loci,
    /// mem0: a list, `{"results": […]}`, or lines.
    Mem0,
    /// `conversations.json` of a ChatGPT export.
    Chatgpt,
    /// `conversations.json` of a Claude export.
    Claude,
    /// Items of a LangGraph store: a list, or lines.
    Langgraph,
    /// Notes.
    Markdown,
    /// Lines of the official memory server of the Model Context Protocol: entities and relations.
    Graph,
}

impl ImportFormat {
    fn given(self) -> Option<SourceFormat> {
        match self {
            Self::Auto => None,
            Self::Loci => Some(SourceFormat::Loci),
            Self::Mem0 => Some(SourceFormat::Mem0),
            Self::Chatgpt => Some(SourceFormat::Chatgpt),
            Self::Claude => Some(SourceFormat::Claude),
            Self::Langgraph => Some(SourceFormat::Langgraph),
            Self::Markdown => Some(SourceFormat::Markdown),
            Self::Graph => Some(SourceFormat::McpMemory),
        }
    }
}

impl From<SourceFormat> for ImportFormat {
    fn from(format: SourceFormat) -> Self {
        match format {
            SourceFormat::Loci => Self::Loci,
            SourceFormat::Mem0 => Self::Mem0,
            SourceFormat::Chatgpt => Self::Chatgpt,
            SourceFormat::Claude => Self::Claude,
            SourceFormat::Langgraph => Self::Langgraph,
            SourceFormat::Markdown => Self::Markdown,
            SourceFormat::McpMemory => Self::Graph,
        }
    }
}

/// How a file is imported.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct ImportParams {
    /// The system that wrote the file. Default: `auto`.
    #[param(inline, required = false)]
    format: ImportFormat,
    /// Whether something else by the same id is replaced.
    #[param(required = false, default = false)]
    replace: bool,
    /// Whether it is only counted what would be imported.
    #[param(required = false, default = false)]
    dry_run: bool,
}

/// An import under way.
struct Import {
    app: Arc<App>,
    caller: Caller,
    how: ImportOptions,
    report: ImportReport,
}

impl Import {
    /// How many memories are kept together: the model works best on some texts at once, the disk on many.
    fn at_once(&self) -> usize {
        if self.app.engine.model().is_some() { 64 } else { 512 }
    }
}

/// Imports a file of Loci or of another system.
///
/// The body is a stream and may be larger than other bodies. Lines of Loci (`application/x-ndjson`) are read one by one:
/// the first line that cannot be read ends the import, and the lines before it are kept. Entries of other formats that
/// cannot be read or kept are counted and passed over; of these formats a body may have `server.import_bytes`. Memories
/// that do not say whose they are belong to the identifiers of the request. The same file may be sent again: what is
/// known changes nothing.
#[utoipa::path(
    post, path = "/v1/import", operation_id = "importMemories", tag = "memories",
    params(ImportParams, IdentifierParams),
    request_body(
        content(
            (String = "application/x-ndjson"),
            (String = "application/json"),
            (String = "text/markdown")
        )
    ),
    responses((status = 200, description = "What became of the file", body = ImportReport), Failures),
    security(("key" = ["admin"]))
)]
async fn import(
    State(app): State<Arc<App>>,
    principal: Principal,
    ScopedParams(identifiers, params): ScopedParams<ImportParams>,
    headers: HeaderMap,
    body: Stream,
) -> Result<Json<ImportReport>, Failure> {
    let caller = principal.caller(identifiers, OPERATION)?;
    let sort = sort(&headers)?;
    let mut incoming = Incoming::new(body, &app.options.server);
    let format = match params.format.given() {
        Some(format) => format,
        None if sort == Some(ContentKind::Notes) => SourceFormat::Markdown,
        None => importers::guess("", incoming.head().await?).unwrap_or(SourceFormat::Loci),
    };
    if sort.is_some_and(|sort| (sort == ContentKind::Notes) != (format == SourceFormat::Markdown)) {
        return Err(other_sort("the content type does not fit the format"));
    }
    let how = ImportOptions::new(params.replace, params.dry_run);
    let report = ImportReport::new(format.into(), params.dry_run);
    let mut import = Import { app, caller, how, report };
    match format {
        SourceFormat::Loci => lines::read(&mut import, incoming).await?,
        SourceFormat::Markdown => foreign::notes(&mut import, incoming).await?,
        SourceFormat::McpMemory => foreign::graph(&mut import, incoming).await?,
        format => foreign::entries(&mut import, format, incoming).await?,
    }
    Ok(Json(import.report))
}

/// What a content type says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContentKind {
    Json,
    Notes,
}

/// What the content type says; none if there is none.
fn sort(headers: &HeaderMap) -> Result<Option<ContentKind>, Failure> {
    let Some(value) = headers.get(CONTENT_TYPE) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match text.as_str() {
        "application/x-ndjson" | "application/jsonl" | "application/json" => Ok(Some(ContentKind::Json)),
        "text/markdown" | "text/plain" => Ok(Some(ContentKind::Notes)),
        "application/octet-stream" => Ok(None),
        "application/zip" => Err(other_sort("an archive must be unpacked first")),
        _ => Err(other_sort("the body is of a type that cannot be imported")),
    }
}

fn other_sort(message: &str) -> Failure {
    Failure::new(ErrorKind::InvalidInput, message, OPERATION)
        .status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
        .field("Content-Type")
        .hint("send application/x-ndjson or application/json, or text/markdown for notes")
}
