//! Lists and counts memories.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_engine::ListRequest;
use loci_types::Memory;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::IdentifierParams;
use super::filter::{FilterPageParams, FilterParams, MemoryFilter};
use super::page::{Page, PageParams};
use crate::App;
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The routes of listings.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(count))
}

/// Lists memories that match the filter, newest first.
#[utoipa::path(
    get, path = "/v1/memories", operation_id = "listMemories", tag = "memories",
    params(MemoryFilter, PageParams, IdentifierParams),
    responses((status = 200, description = "A page of memories", body = Page<Memory>), Failures),
    security(("key" = ["reader"]))
)]
async fn list(
    State(app): State<Arc<App>>,
    principal: Principal,
    FilterPageParams { scope, page, filter }: FilterPageParams,
) -> Result<Json<Page<Memory>>, Failure> {
    let caller = principal.caller(scope, "listMemories")?;
    let request = ListRequest {
        layers: None,
        filter: Some(filter.resolve(&app.engine, &caller, app.engine.now(), "listMemories").await?),
        cursor: page.cursor,
        limit: Some(page.limit),
    };
    let found = app.run_operation("listMemories", app.engine.list(&caller, request)).await?;
    Ok(Json(Page { data: found.memories, next_cursor: found.next_cursor }))
}

/// The number of memories that match a filter.
#[derive(Debug, Serialize, ToSchema)]
struct MemoryCount {
    /// The number of memories.
    count: u64,
}

/// Counts memories that match the filter.
#[utoipa::path(
    get, path = "/v1/memories/count", operation_id = "countMemories", tag = "memories",
    params(MemoryFilter, IdentifierParams),
    responses((status = 200, description = "The number of memories", body = MemoryCount), Failures),
    security(("key" = ["reader"]))
)]
async fn count(
    State(app): State<Arc<App>>,
    principal: Principal,
    FilterParams { scope, filter }: FilterParams,
) -> Result<Json<MemoryCount>, Failure> {
    let caller = principal.caller(scope, "countMemories")?;
    let filter = filter.resolve(&app.engine, &caller, app.engine.now(), "countMemories").await?;
    let count = app.run_operation("countMemories", app.engine.count(&caller, &filter)).await?;
    Ok(Json(MemoryCount { count }))
}
