//! How does Loci speak as an OpenSpec Knowledge Provider?
//!
//! Eight endpoints in snake_case at `/openspec/v1/knowledge`, and the same once more at
//! `/api/v1/knowledge`. They translate and nothing else: an entry is a memory, a layer type is a view
//! of memories, and what fails is told in the shape that knowledge providers share.

mod batch;
mod discovery;
mod entries;
mod place;
mod query;
mod shape;
mod stream;
mod told;

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post, put};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use self::told::{in_its_words, is_here};
use crate::App;
use crate::failure::Failure;
use crate::metrics::Protocol;

/// Where the endpoints are.
pub(crate) const ROOT: &str = "/openspec/v1/knowledge";
/// Where they are once more.
pub(crate) const ALIAS: &str = "/api/v1/knowledge";

/// The most entries of one batch.
const BATCH: usize = 500;

/// Runs engine work and counts it under the `operationId` of the same operation in `/v1`.
async fn verb<T>(
    app: &App,
    operation: &'static str,
    work: impl Future<Output = loci_engine::Result<T>>,
) -> Result<T, Failure> {
    app.verb_through(Protocol::OpenSpec, operation, work).await
}

/// The routes, with their description.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    #[derive(OpenApi)]
    #[openapi(components(schemas(told::Told)))]
    struct Failures;
    OpenApiRouter::with_openapi(Failures::openapi())
        .routes(routes!(discovery::discover))
        .routes(routes!(query::query))
        .routes(routes!(entries::create))
        .routes(routes!(entries::update))
        .routes(routes!(entries::delete))
        .routes(routes!(entries::metadata))
        .routes(routes!(batch::batch))
        .routes(routes!(stream::stream))
}

/// The same routes under their other name, which are described there.
pub(crate) fn again() -> Router<Arc<App>> {
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

/// Who answers.
#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
#[schema(as = OpenSpecProvider)]
struct Provider {
    /// Its name.
    name: &'static str,
    /// Its version.
    version: &'static str,
}

const PROVIDER: Provider = Provider { name: "loci", version: env!("CARGO_PKG_VERSION") };
