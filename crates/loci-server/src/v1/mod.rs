//! The routes under `/v1`, one file for each resource.
//!
//! Identifiers are members of the body where there is one, and query parameters where there is none; those that are
//! absent are taken from the credential.

mod agents;
mod batch;
mod by_filter;
mod carry;
mod checkpoints;
mod consents;
mod entities;
mod entries;
mod events;
mod facts;
mod filter;
mod keys;
mod life;
mod listing;
mod memories;
mod page;
mod pools;
mod query;
mod recall;
mod search;
mod sessions;
mod summaries;
mod upkeep;
mod working;
mod write;

use std::sync::Arc;

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{ETAG, HeaderName, LOCATION};
use axum::response::{IntoResponse, Response};
use loci_engine::Caller;
use loci_types::{ErrorKind, Identifiers, Memory, MemoryId, Outcome, Receipt};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;

pub(crate) use self::memories::expected;
pub(crate) use self::page::PageRequest;
pub(crate) use self::query::step;
use crate::App;
use crate::failure::Failure;

/// The routes under `/v1`.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .merge(memories::routes())
        .merge(batch::routes())
        .merge(by_filter::routes())
        .merge(listing::routes())
        .merge(recall::routes())
        .merge(search::routes())
        .merge(query::routes())
        .merge(summaries::routes())
        .merge(life::routes())
        .merge(sessions::routes())
        .merge(entries::routes())
        .merge(working::routes())
        .merge(entities::routes())
        .merge(consents::routes())
        .merge(upkeep::routes())
        .merge(agents::routes())
        .merge(pools::routes())
        .merge(keys::routes())
        .merge(events::routes())
        .merge(facts::routes())
        .merge(checkpoints::routes())
        .merge(carry::routes())
}

/// What identifiers may hold: printable, and not blank.
pub(crate) const IDENTIFIER: &str =
    r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";
/// What becomes part of a folder and a URL.
pub(crate) const SLUG: &str = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$";
/// Text that says something.
pub(crate) const TEXT: &str = r"^[^\u0000]*[^\s\u0000][^\u0000]*$";
/// Text that may be stored.
pub(crate) const PLAIN: &str = r"^[^\u0000]*$";

/// The identifiers of the scope, for the published description; [`crate::extract::ScopedParams`] reads them.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct IdentifierParams {
    /// The agent, by its URL-safe slug.
    #[param(nullable = false, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$")]
    agent_id: Option<String>,
    /// The user.
    #[param(nullable = false, min_length = 1, max_length = 256)]
    user_id: Option<String>,
    /// The session.
    #[param(nullable = false, min_length = 1, max_length = 256)]
    session_id: Option<String>,
    /// The project.
    #[param(nullable = false, min_length = 1, max_length = 256)]
    project_id: Option<String>,
    /// The team.
    #[param(nullable = false, min_length = 1, max_length = 256)]
    team_id: Option<String>,
    /// The organisation.
    #[param(nullable = false, min_length = 1, max_length = 256)]
    org_id: Option<String>,
    /// The company.
    #[param(nullable = false, min_length = 1, max_length = 256)]
    company_id: Option<String>,
    /// The pool, by its URL-safe slug.
    #[param(nullable = false, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$")]
    pool_id: Option<String>,
}

/// No parameters beside those that say whose memories are meant.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

/// A body that says no more than whose memories are meant.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct OnlyWhose {
    /// IdentifierParams memories are meant.
    pub(crate) identifiers: Identifiers,
}

/// How much is told of a write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Return {
    /// What happened, and the memory as it is now.
    #[default]
    Memory,
    /// Only what happened.
    Receipt,
}

/// What happened, and the memory as it is now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Written {
    /// What happened.
    #[serde(flatten)]
    receipt: Receipt,
    /// The memory as it is now; null if the caller may not see it, absent if it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Option<Memory>>,
}

/// Tells what a write came to.
async fn written(
    app: &App,
    caller: &Caller,
    receipt: Receipt,
    wanted: Return,
    created: StatusCode,
) -> Result<Response, Failure> {
    let memory = match wanted {
        Return::Receipt => None,
        Return::Memory => seen(app, caller, receipt.id).await,
    };
    let status = if receipt.event == Outcome::None { StatusCode::OK } else { created };
    let place = format!("/v1/memories/{}", receipt.id);
    let mut response = (status, etag(receipt.version), Json(Written { receipt, memory })).into_response();
    if let (StatusCode::CREATED, Ok(place)) = (status, place.parse()) {
        response.headers_mut().insert(LOCATION, place);
    }
    Ok(response)
}

/// The header with the version of a memory.
fn etag(version: u64) -> [(HeaderName, String); 1] {
    [(ETAG, format!("\"{version}\""))]
}

/// The memory that was written: `Some(None)` if the caller may not see it, `None` if it cannot be read now. The write
/// succeeded and is answered as such.
async fn seen(app: &App, caller: &Caller, id: MemoryId) -> Option<Option<Memory>> {
    match app.engine.get(caller, id).await {
        Ok(memory) => Some(Some(memory)),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(None),
        Err(error) => {
            tracing::warn!(%error, %id, "the memory was written, but not read back");
            None
        }
    }
}
