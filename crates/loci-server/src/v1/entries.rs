//! Entries of a session under `/v1/sessions/{sessionId}/entries`: notes that live as long as the session.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use loci_engine::{Entry, EntryHit, FoundBy, NewEntry};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::{Page, PageParams};
use super::sessions::same_session;
use super::write::{Prefer, PreferHeader, Write, segment};
use super::{IdentifierParams, NoParams};
use crate::App;
use crate::extract::{ListParams, PathName, PathPair, Scoped, ScopedParams};
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The routes of entries.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(put, list)).routes(routes!(get))
}

/// Puts an entry into a session. An entry with the same id is replaced.
///
/// It lives as long as the session: an hour after the latest entry unless that is set otherwise. Important entries
/// are stored as memories of the user when the session ends.
#[utoipa::path(
    post, path = "/v1/sessions/{sessionId}/entries", operation_id = "putEntry", tag = "sessions",
    params(("sessionId" = String, Path, description = "The session"), PreferHeader),
    request_body(content = Scoped<NewEntry>, example = json!({
        "identifiers": { "userId": "ann" },
        "content": "Ann asked to be reminded of the exam on Friday.", "importance": 0.8
    })),
    responses(
        (status = 201, description = "The entry is new", body = Write<Entry>),
        (status = 200, description = "The entry replaced one with the same id", body = Write<Entry>),
        Failures
    ),
    security(("key" = ["writer"]))
)]
async fn put(
    State(app): State<Arc<App>>,
    principal: Principal,
    prefer: Prefer,
    PathName(session_id): PathName,
    Scoped { scope, body }: Scoped<NewEntry>,
) -> Result<Response, Failure> {
    same_session(&scope.identifiers, &session_id, "putEntry")?;
    let caller = principal.caller(scope, "putEntry")?;
    let put = app.run_operation("putEntry", app.engine.put_entry(&caller, &session_id, body)).await?;
    let (id, event) = (put.entry.id.clone(), put.event);
    let place = format!("/v1/sessions/{}/entries/{}", segment(&session_id), segment(&id));
    Ok(Write::new(id, event, prefer.data(put.entry))
        .redacted(put.redacted)
        .degraded(put.degraded)
        .within(&place, &caller.identifiers))
}

/// The entries that are listed.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct EntryParams {
    /// Only entries that match this query, best first; the latest 1,000 entries are compared. Default: all, newest first.
    #[param(nullable = false)]
    query: Option<String>,
}

/// An entry, and how it matched the query if one was given.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FoundEntry {
    /// The entry.
    #[serde(flatten)]
    entry: Entry,
    /// The score: a cosine similarity, or the share of the words of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// How the entry was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    found_by: Option<FoundBy>,
}

impl From<Entry> for FoundEntry {
    fn from(entry: Entry) -> Self {
        Self { entry, score: None, found_by: None }
    }
}

impl From<EntryHit> for FoundEntry {
    fn from(hit: EntryHit) -> Self {
        Self { entry: hit.entry, score: Some(hit.score), found_by: Some(hit.found_by) }
    }
}

/// Lists the entries of a session, newest first, or those that match a query, best first.
#[utoipa::path(
    get, path = "/v1/sessions/{sessionId}/entries", operation_id = "listEntries", tag = "sessions",
    params(("sessionId" = String, Path, description = "The session"), EntryParams, PageParams, IdentifierParams),
    responses((status = 200, description = "A page of entries", body = Page<FoundEntry>), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathName(session_id): PathName,
    ListParams { scope, page, params }: ListParams<EntryParams>,
) -> Result<Json<Page<FoundEntry>>, Failure> {
    same_session(&scope.identifiers, &session_id, "listEntries")?;
    let caller = principal.caller(scope, "listEntries")?;
    let (offset, limit) = (page.offset()?, Some(page.limit + 1));
    let found: Vec<FoundEntry> = match &params.query {
        None => {
            let work = app.engine.entries(&caller, &session_id, offset, limit);
            app.run_operation("listEntries", work).await?.into_iter().map(FoundEntry::from).collect()
        }
        Some(query) => {
            let work = app.engine.query_entries(&caller, &session_id, query, offset, limit);
            app.run_operation("listEntries", work).await?.into_iter().map(FoundEntry::from).collect()
        }
    };
    page.read(found).map(Json)
}

/// Reads an entry of a session.
#[utoipa::path(
    get, path = "/v1/sessions/{sessionId}/entries/{id}", operation_id = "getEntry", tag = "sessions",
    params(
        ("sessionId" = String, Path, description = "The session"),
        ("id" = String, Path, description = "The id of the entry"), IdentifierParams
    ),
    responses((status = 200, description = "The entry", body = Entry), Failures),
    security(("key" = ["reader"]))
)]
async fn get(
    State(app): State<Arc<App>>,
    principal: Principal,
    PathPair(session_id, id): PathPair,
    ScopedParams(scope, NoParams {}): ScopedParams<NoParams>,
) -> Result<Json<Entry>, Failure> {
    same_session(&scope.identifiers, &session_id, "getEntry")?;
    let caller = principal.caller(scope, "getEntry")?;
    app.run_operation("getEntry", app.engine.session_entry(&caller, &session_id, &id)).await.map(Json)
}
