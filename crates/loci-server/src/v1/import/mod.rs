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
use jiff::Timestamp;
use loci_engine::importers::{self, SourceFormat};
use loci_engine::json_lines::ImportOptions;
use loci_engine::{Caller, Error as EngineError};
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
    #[serde(alias = "mcp-memory", alias = "graph")]
    McpMemory,
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
            Self::McpMemory => Some(SourceFormat::McpMemory),
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
            SourceFormat::McpMemory => Self::McpMemory,
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
    /// Whether memories are stored as proposals, which recall does not return until they are accepted under
    /// `/v1/consents`. They do not lapse. Other lines of an export are refused, and `replace` cannot be combined with it.
    #[param(required = false, default = false)]
    quarantine: bool,
    /// Whether the import ends at the first record that cannot be kept. What was imported before stays.
    #[param(required = false, default = false)]
    strict: bool,
    /// The name of the file. It is part of what is known of a note, and helps to recognise the format.
    #[param(required = false, nullable = false)]
    file_name: Option<String>,
    /// When the file was last changed: the time of notes without a date of their own.
    #[param(required = false, nullable = false)]
    modified_at: Option<Timestamp>,
}

/// An import under way.
struct Import {
    app: Arc<App>,
    /// The owner of records that name none.
    owner: Caller,
    /// Who writes: an admin without bounds may import for anyone, others only for the owner.
    writer: Caller,
    how: ImportOptions,
    strict: bool,
    report: ImportReport,
}

impl Import {
    /// How many memories are kept together: the model works best on some texts at once, the disk on many.
    fn at_once(&self) -> usize {
        if self.app.engine.model().is_some() { 64 } else { 512 }
    }

    /// The failure that ends a strict import at a record that cannot be kept.
    fn refusal(&self, place: &str, error: &EngineError) -> Option<Failure> {
        let mut problem = self.strict.then(|| error.problem(OPERATION))?;
        if !place.is_empty() {
            problem.message = format!("{place}: {}", problem.message);
        }
        let line = place.strip_prefix("line ").and_then(|number| number.parse::<u64>().ok());
        let mut failure = Failure::of(problem);
        if let Some(line) = line {
            failure = failure.detail("line", line.into());
        }
        Some(self.stopped(failure))
    }

    /// A failure that ended the import, with the counts of what was done before it.
    fn stopped(&self, failure: Failure) -> Failure {
        let report = &self.report;
        let counts = format!("{} imported, {} already known", report.imported + report.replaced, report.skipped);
        let kept = if self.how.dry_run { "nothing was written" } else { "entries before it are stored" };
        let message = format!("{}; {kept} ({counts})", failure.problem().message);
        // A failure of the store is not the fault of the file.
        let of_file = failure.problem().code != ErrorKind::Internal.code()
            && failure.problem().code != ErrorKind::Storage.code()
            && failure.problem().code != ErrorKind::Corrupt.code();
        let failure = failure
            .message(message)
            .detail("imported", report.imported.into())
            .detail("skipped", report.skipped.into());
        if !of_file {
            return failure;
        }
        let hint = failure.problem().hint.as_ref().map_or_else(String::new, |hint| format!("{hint}; "));
        failure.hint(format!("{hint}fix it and import the file again: what is known is skipped"))
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
    responses((status = 200, description = "How many entries of the file were imported, known or refused", body = ImportReport), Failures),
    security(("key" = ["admin"]))
)]
async fn import(
    State(app): State<Arc<App>>,
    principal: Principal,
    ScopedParams(scope, params): ScopedParams<ImportParams>,
    headers: HeaderMap,
    body: Stream,
) -> Result<Json<ImportReport>, Failure> {
    let owner = principal.caller(scope, OPERATION)?;
    let writer = Some(principal.own_caller(OPERATION)?).filter(|own| own.operator).unwrap_or_else(|| owner.clone());
    let sort = sort(&headers)?;
    let mut incoming = Incoming::new(body, &app.options.server);
    let name = params.file_name.as_deref().unwrap_or_default();
    let format = match params.format.given() {
        Some(format) => format,
        None if sort == Some(ContentKind::Notes) => SourceFormat::Markdown,
        None => importers::guess(name, incoming.head().await?).unwrap_or(SourceFormat::Loci),
    };
    if sort.is_some_and(|sort| (sort == ContentKind::Notes) != (format == SourceFormat::Markdown)) {
        return Err(other_sort("the content type does not fit the format"));
    }
    if params.quarantine && (params.replace || format == SourceFormat::McpMemory) {
        let message = match params.replace {
            true => "quarantine cannot be combined with replace",
            false => "a graph cannot be imported in quarantine",
        };
        let hint = "leave out quarantine, or import memories that replace nothing";
        return Err(Failure::new(ErrorKind::InvalidInput, message, OPERATION).field("quarantine").hint(hint));
    }
    let mut how = ImportOptions::new(params.replace, params.dry_run);
    how.quarantine = params.quarantine;
    let report = ImportReport::new(format.into(), params.dry_run);
    let mut import = Import { app, owner, writer, how, strict: params.strict, report };
    match format {
        SourceFormat::Loci => lines::read(&mut import, incoming).await?,
        SourceFormat::Markdown => {
            let name = if name.is_empty() { "notes.md" } else { name };
            foreign::notes(&mut import, incoming, name, params.modified_at).await?;
        }
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
    // A web page sends `text/plain`, and a body without a type, without asking the server first.
    let Some(value) = headers.get(CONTENT_TYPE) else { return Err(other_sort("the body has no type")) };
    let text = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match text.as_str() {
        "application/x-ndjson" | "application/jsonl" | "application/json" => Ok(Some(ContentKind::Json)),
        "text/markdown" => Ok(Some(ContentKind::Notes)),
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
