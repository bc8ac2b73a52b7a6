//! What is there under `/v1`?
//!
//! Each file is about one sort of thing. Identifiers stand in the body where there is one, and
//! behind the question mark where there is none; what is absent is filled in from the credential.

mod events;
mod memories;

use std::sync::Arc;

use loci_types::Identifiers;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;

pub(crate) use self::memories::expected;
use crate::App;

/// The routes under `/v1`.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().merge(memories::routes()).merge(events::routes())
}

/// Whose memories are meant.
#[derive(Debug, Clone, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Whose {
    /// The agent, by its URL-safe slug.
    #[param(max_length = 96, pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    agent_id: Option<String>,
    /// The user.
    #[param(min_length = 1, max_length = 64, pattern = r"^[!-~]+$")]
    user_id: Option<String>,
    /// The session.
    #[param(min_length = 1, max_length = 64, pattern = r"^[!-~]+$")]
    session_id: Option<String>,
    /// The project.
    #[param(min_length = 1, max_length = 64, pattern = r"^[!-~]+$")]
    project_id: Option<String>,
    /// The team.
    #[param(min_length = 1, max_length = 64, pattern = r"^[!-~]+$")]
    team_id: Option<String>,
    /// The organisation.
    #[param(min_length = 1, max_length = 64, pattern = r"^[!-~]+$")]
    org_id: Option<String>,
    /// The company.
    #[param(min_length = 1, max_length = 64, pattern = r"^[!-~]+$")]
    company_id: Option<String>,
    /// The pool, by its URL-safe slug.
    #[param(max_length = 96, pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    pool_id: Option<String>,
}

impl From<Whose> for Identifiers {
    fn from(whose: Whose) -> Self {
        Self {
            agent_id: whose.agent_id,
            user_id: whose.user_id,
            session_id: whose.session_id,
            project_id: whose.project_id,
            team_id: whose.team_id,
            org_id: whose.org_id,
            company_id: whose.company_id,
            pool_id: whose.pool_id,
        }
    }
}
