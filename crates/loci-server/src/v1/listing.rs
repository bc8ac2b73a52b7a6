//! How are memories listed page by page?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use loci_engine::{ListRequest, ListResponse};
use loci_types::{Filter, Layer, State as Standing, TimeRange};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::IdentifierParams;
use crate::App;
use crate::extract::{ScopedParams, words};
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The route of listings.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Which memories to list. Lists are words with commas between them.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Listed {
    /// In these layers; none: in all that the identifiers open.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1)]
    layers: Vec<Layer>,
    /// Any of these kinds.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1, max_items = 256)]
    kinds: Vec<String>,
    /// Any of these categories.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1, max_items = 256)]
    categories: Vec<String>,
    /// Any of these tags.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1, max_items = 256)]
    tags: Vec<String>,
    /// In these states; none: `active` and `decayed`.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1)]
    states: Vec<Standing>,
    /// Whether replaced and expired memories are listed as well.
    #[param(required = false)]
    superseded: bool,
    /// Whether it is pinned.
    #[param(nullable = false)]
    pinned: Option<bool>,
    /// At least this important.
    #[param(nullable = false, minimum = 0, maximum = 1)]
    importance_min: Option<f64>,
    /// At most this important.
    #[param(nullable = false, minimum = 0, maximum = 1)]
    importance_max: Option<f64>,
    /// It came into the store at this instant or later.
    #[param(nullable = false)]
    created_after: Option<Timestamp>,
    /// It came into the store before this instant.
    #[param(nullable = false)]
    created_before: Option<Timestamp>,
    /// It last changed at this instant or later.
    #[param(nullable = false)]
    updated_after: Option<Timestamp>,
    /// It last changed before this instant.
    #[param(nullable = false)]
    updated_before: Option<Timestamp>,
    /// In this conversation.
    #[param(nullable = false)]
    thread_id: Option<String>,
    /// In this run.
    #[param(nullable = false)]
    run_id: Option<String>,
    /// By this actor.
    #[param(nullable = false)]
    actor_id: Option<String>,
    /// In this role.
    #[param(nullable = false)]
    role: Option<String>,
    /// See what held at this instant instead of what holds now.
    #[param(nullable = false)]
    as_of: Option<Timestamp>,
    /// Where the page starts: the `nextCursor` of the one before.
    #[param(nullable = false)]
    cursor: Option<String>,
    /// So many; 50 by default.
    #[param(nullable = false, minimum = 1, maximum = 100)]
    limit: Option<usize>,
}

impl Listed {
    fn request(self, now: Timestamp) -> ListRequest {
        let open = Filter::at(now);
        let filter = Filter {
            as_of: self.as_of,
            states: if self.states.is_empty() { open.states.clone() } else { self.states },
            superseded: self.superseded,
            kinds: self.kinds,
            categories: self.categories,
            tags: self.tags,
            pinned: self.pinned,
            importance_min: self.importance_min,
            importance_max: self.importance_max,
            created: TimeRange { from: self.created_after, until: self.created_before },
            updated: TimeRange { from: self.updated_after, until: self.updated_before },
            threads: self.thread_id.into_iter().collect(),
            runs: self.run_id.into_iter().collect(),
            actors: self.actor_id.into_iter().collect(),
            roles: self.role.into_iter().collect(),
            ..open
        };
        let layers = (!self.layers.is_empty()).then_some(self.layers);
        ListRequest { layers, filter: Some(filter), cursor: self.cursor, limit: self.limit }
    }
}

/// Lists memories, newest first.
#[utoipa::path(
    get, path = "/v1/memories", operation_id = "listMemories", tag = "memories",
    params(Listed, IdentifierParams),
    responses((status = 200, description = "A page of memories", body = ListResponse), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    who: Who,
    ScopedParams(whose, listed): ScopedParams<Listed>,
) -> Result<Json<ListResponse>, Failure> {
    let caller = who.caller(whose, "list")?;
    let request = listed.request(app.engine.now());
    app.verb("list", app.engine.list(&caller, request)).await.map(Json)
}
