//! The API of an OpenSpec Knowledge Provider.
//!
//! It has eight endpoints in snake_case under `/openspec/v1/knowledge`, which are also available under
//! `/api/v1/knowledge`. They only translate: an entry is a memory, a layer type is a view of memories, and failures have
//! the form that OpenSpec defines.

mod batch;
mod discovery;
mod entries;
mod entry;
mod failure;
mod layer_view;
mod query;
mod stream;

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post, put};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use self::failure::{is_openspec_path, rewrite_failures};
use crate::App;
use crate::failure::Failure;
use crate::metrics::Protocol;

/// The path of the endpoints.
pub(crate) const ROOT: &str = "/openspec/v1/knowledge";
/// The second path of the endpoints.
pub(crate) const ALIAS: &str = "/api/v1/knowledge";

/// Maximum number of entries of a batch.
const BATCH: usize = 500;

/// Runs engine work and counts it under the `operationId` of the same operation in `/v1`.
async fn run_operation<T>(
    app: &App,
    operation: &'static str,
    work: impl Future<Output = loci_engine::Result<T>>,
) -> Result<T, Failure> {
    app.run_operation_through(Protocol::OpenSpec, operation, work).await
}

/// The protocol and the name under which an operation is counted, by its `operationId`: an operation has one name in every
/// protocol.
pub(crate) fn counted_as(operation: &str) -> (Protocol, &str) {
    let name = match operation {
        "openspecQuery" => "recall",
        "openspecCreate" => "addMemory",
        "openspecUpdate" => "changeMemory",
        "openspecDelete" => "deleteMemory",
        "openspecMetadata" => "getMemory",
        "openspecBatch" => "addMemories",
        other => return (Protocol::Http, other),
    };
    (Protocol::OpenSpec, name)
}

/// The routes, with their description.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    #[derive(OpenApi)]
    #[openapi(components(schemas(failure::FailureBody)))]
    struct Schemas;
    OpenApiRouter::with_openapi(Schemas::openapi())
        .routes(routes!(discovery::discover))
        .routes(routes!(query::query))
        .routes(routes!(entries::create))
        .routes(routes!(entries::update))
        .routes(routes!(entries::delete))
        .routes(routes!(entries::metadata))
        .routes(routes!(batch::batch))
        .routes(routes!(stream::stream))
}

/// The same routes under [`ALIAS`]. They are not in the description.
pub(crate) fn alias_routes() -> Router<Arc<App>> {
    let at = |rest: &str| format!("{ALIAS}{rest}");
    Router::new()
        .route(ALIAS, get(discovery::discover))
        .route(&at("/query"), post(query::query))
        .route(&at("/create"), post(entries::create))
        .route(&at("/{id}"), put(entries::update).delete(entries::delete))
        .route(&at("/{id}/metadata"), get(entries::metadata))
        .route(&at("/batch"), post(batch::batch))
        .route(&at("/stream"), get(stream::stream))
}

/// The provider that answers.
#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
#[schema(as = OpenSpecProvider)]
struct Provider {
    /// The name of the provider.
    name: &'static str,
    /// The version of the provider.
    version: &'static str,
}

const PROVIDER: Provider = Provider { name: "loci", version: env!("CARGO_PKG_VERSION") };
