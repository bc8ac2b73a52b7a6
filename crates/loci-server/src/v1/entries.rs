//! How are the entries of a session put in and read over HTTP?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_engine::{Entry, EntryHit, FoundBy, NewEntry, PutEntry};
use loci_types::Identifiers;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::IdentifierParams;
use crate::App;
use crate::extract::{ScopedParams, Body, PathName};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The routes of entries.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(put, list))
}

/// An entry, and whose session it is for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AddEntry {
    /// IdentifierParams it is.
    #[serde(default)]
    identifiers: Identifiers,
    /// The entry.
    entry: NewEntry,
}

/// Puts an entry into a session.
///
/// It lives as long as the session: an hour after the latest entry unless that is set otherwise. What matters is
/// remembered for the user when the session ends.
#[utoipa::path(
    post, path = "/v1/sessions/{name}/entries", operation_id = "putEntry", tag = "sessions",
    params(("name" = String, Path, description = "The session")),
    request_body(content = AddEntry, example = json!({
        "identifiers": { "userId": "ann" },
        "entry": { "content": "Ann asked to be reminded of the exam on Friday.", "importance": 0.8 }
    })),
    responses((status = 200, description = "It is there", body = PutEntry), Failures),
    security(("key" = ["writer"]))
)]
async fn put(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(name): PathName,
    Body(body): Body<AddEntry>,
) -> Result<Json<PutEntry>, Failure> {
    let caller = who.caller(body.identifiers, "put entry")?;
    app.verb("put entry", app.engine.put_entry(&caller, &name, body.entry)).await.map(Json)
}

/// Which entries are meant.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
struct Looked {
    /// Those about this; none: the latest.
    #[param(nullable = false)]
    query: Option<String>,
    /// So many at the most; 20 unless it is said.
    #[param(nullable = false, minimum = 1, maximum = 1_000)]
    limit: Option<usize>,
}

/// Entries of a session.
#[derive(Debug, Serialize, ToSchema)]
struct Entries {
    /// The newest first, or those nearest to the question.
    entries: Vec<FoundEntry>,
}

/// An entry, and how it was found if something was asked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FoundEntry {
    /// The entry.
    #[serde(flatten)]
    entry: Entry,
    /// How near it is: a cosine, or a share of words.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// How it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    found_by: Option<FoundBy>,
}

/// Reads the latest entries of a session, or those about a question.
#[utoipa::path(
    get, path = "/v1/sessions/{name}/entries", operation_id = "listEntries", tag = "sessions",
    params(("name" = String, Path, description = "The session"), Looked, IdentifierParams),
    responses((status = 200, description = "The entries", body = Entries), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    who: Who,
    PathName(name): PathName,
    ScopedParams(whose, looked): ScopedParams<Looked>,
) -> Result<Json<Entries>, Failure> {
    let caller = who.caller(whose, "entries")?;
    let latest = |entry: Entry| FoundEntry { entry, score: None, found_by: None };
    let near = |hit: EntryHit| FoundEntry { entry: hit.entry, score: Some(hit.score), found_by: Some(hit.found_by) };
    let engine = &app.engine;
    let entries = match &looked.query {
        None => {
            app.verb("entries", engine.entries(&caller, &name, looked.limit)).await?.into_iter().map(latest).collect()
        }
        Some(query) => {
            let hits = app.verb("entries", engine.query_entries(&caller, &name, query, looked.limit)).await?;
            hits.into_iter().map(near).collect()
        }
    };
    Ok(Json(Entries { entries }))
}
