//! The routes under `/v1`, one file for each resource.
//!
//! Identifiers are members of the body where there is one, and query parameters where there is none; those that are
//! absent are taken from the credential.

mod admin;
mod agents;
mod batch;
mod by_filter;
mod consents;
mod entities;
mod entries;
mod events;
mod export;
mod facts;
mod filter;
mod import;
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
mod threads;
mod upkeep;
mod webhooks;
mod working;
mod write;

use std::sync::Arc;

use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;

pub(crate) use self::memories::expected;
pub(crate) use self::page::PageRequest;
pub use self::recall::{Cursor as RecallCursor, RecallAnswer};
use crate::App;

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
        .merge(threads::routes())
        .merge(export::routes())
        .merge(import::routes())
        .merge(admin::routes())
        .merge(webhooks::routes())
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
    /// The organization.
    #[param(nullable = false, min_length = 1, max_length = 256)]
    org_id: Option<String>,
    /// The company.
    #[param(nullable = false, min_length = 1, max_length = 256)]
    company_id: Option<String>,
    /// The pool, by its URL-safe slug.
    #[param(nullable = false, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$")]
    pool_id: Option<String>,
    /// Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
    #[param(required = false, default = false)]
    everyone: bool,
}

/// No parameters besides the identifiers.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

/// The default of a flag that is on unless the caller switches it off.
pub(crate) fn yes() -> bool {
    true
}
