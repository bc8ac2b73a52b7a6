//! Search by similarity in each layer: the plain search of memory providers (S2).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_engine::{SearchHit, SearchRequest};
use loci_types::Layer;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::filter::MemoryFilter;
use super::recall::{Cursor, caller, read_filter};
use crate::App;
use crate::extract::Scoped;
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The route of search.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(search))
}

/// A search by similarity.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Search)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SearchBody {
    /// What is looked for, in plain words. At most 8,192 characters.
    query: String,
    /// Maximum number of results. Default: 10.
    #[schema(minimum = 1, maximum = 100, default = 10)]
    limit: Option<usize>,
    /// Where the page starts: `nextCursor` of the page before. Default: the first page.
    cursor: Option<String>,
    /// Minimum cosine similarity. Default: the threshold of the embedding model.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f64>,
    /// The memories that are searched. Default: all that hold now, in all layers that the identifiers open.
    filter: Option<MemoryFilter>,
}

/// What a search found.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SearchAnswer {
    /// The results: the most specific layer first, within a layer the most similar first.
    data: Vec<SearchHit>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
    /// Number of memories above the threshold in all layers.
    total_count: usize,
    /// The layers that were searched.
    searched_layers: Vec<Layer>,
    /// Parts that could not be used: `vector` if no embedding model is configured or it failed, and keywords were searched instead.
    degraded: Vec<String>,
}

/// Searches each layer by similarity.
///
/// Of memories that say the same in several layers, only the one of the most specific layer is returned.
#[utoipa::path(
    post, path = "/v1/memories/search", operation_id = "searchMemories", tag = "recall",
    request_body(content = Scoped<SearchBody>, example = json!({
        "query": "tea", "identifiers": { "userId": "ann" }, "filter": { "tags": ["drinks"] }
    })),
    responses((status = 200, description = "A page of results", body = SearchAnswer), Failures),
    security(("key" = ["reader"]))
)]
async fn search(
    State(app): State<Arc<App>>,
    principal: Principal,
    Scoped { scope, body }: Scoped<SearchBody>,
) -> Result<Json<SearchAnswer>, Failure> {
    let layers = body.filter.as_ref().and_then(MemoryFilter::layers);
    let caller = caller(&principal, scope, layers, "searchMemories")?;
    let now = app.engine.now();
    let (layers, filter) = read_filter(body.filter, &app.engine, &caller, now, "searchMemories").await?;
    let cursor = Cursor::read(body.cursor.as_deref())?;
    let request = SearchRequest {
        query: body.query,
        layers,
        limit: body.limit,
        threshold: body.threshold,
        filter,
        returned: cursor.returned().to_vec(),
        ..SearchRequest::default()
    };
    let found = app.run_operation("searchMemories", app.engine.search(&caller, request)).await?;
    if cursor.is_first() {
        app.metrics.found(found.results.len());
    }
    let next_cursor = cursor.next(found.more, found.results.iter().map(|hit| hit.memory.id));
    Ok(Json(SearchAnswer {
        data: found.results,
        next_cursor,
        total_count: found.total_count,
        searched_layers: found.searched_layers,
        degraded: found.degraded,
    }))
}
