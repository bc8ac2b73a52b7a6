//! `GET /`: the capabilities and limits of this provider.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::failure::FailureResponses;
use super::{BATCH, PROVIDER};
use crate::App;

/// The description of this provider.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecDiscovery)]
pub(super) struct Discovery {
    /// The provider.
    provider: ProviderInfo,
}

/// Name, capabilities and limits of the provider.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecAbout)]
struct ProviderInfo {
    /// The name of the provider.
    name: &'static str,
    /// The version of the provider.
    version: &'static str,
    /// A description in one sentence.
    description: &'static str,
    /// What the provider offers.
    capabilities: Capabilities,
    /// Types of sources that the provider creates itself. Any other type is accepted.
    supported_sources: Vec<&'static str>,
    /// The limits of requests.
    limits: Limits,
    /// The features of search and storage.
    features: Features,
}

/// What the provider offers.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecCapabilities)]
struct Capabilities {
    /// Search of entries.
    query: bool,
    /// Storage of entries.
    storage: bool,
    /// Metadata and history of entries.
    metadata: bool,
    /// Streams of changes and of results.
    streaming: bool,
}

/// The limits of requests.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecLimits)]
struct Limits {
    /// Maximum number of characters of the content of an entry.
    max_entry_size: usize,
    /// Maximum number of entries of a batch.
    max_batch_size: usize,
    /// Number of dimensions of the vectors; 0 without an embedding model.
    max_embeddings_dim: usize,
    /// Maximum number of requests per second and credential; 0 means unlimited.
    query_rate_limit: u32,
}

/// The features of search and storage.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecFeatures)]
struct Features {
    /// Whether vectors are searched, which requires an embedding model.
    semantic_search: bool,
    /// Whether vectors, keywords, links and time are combined.
    hybrid_search: bool,
    /// Whether the best candidates are scored again by a reranker.
    reranking: bool,
    /// Whether several layers can be searched at once.
    cross_layer_query: bool,
    /// Whether entries have versions.
    versioning: bool,
    /// Whether important memories are promoted to a wider layer.
    promotion: bool,
}

/// Returns the capabilities and limits of this provider.
#[utoipa::path(
    get, path = "/openspec/v1/knowledge", operation_id = "openspecDiscover", tag = "openspec",
    responses((status = 200, description = "The provider", body = Discovery), FailureResponses),
    security(("key" = ["reader"]))
)]
pub(super) async fn discover(State(app): State<Arc<App>>) -> Json<Discovery> {
    let (config, model) = (app.engine.config(), app.engine.model());
    let features = Features {
        semantic_search: model.is_some(),
        hybrid_search: true,
        reranking: app.engine.reads_twice(),
        cross_layer_query: true,
        versioning: true,
        promotion: config.sessions.promote_important,
    };
    let limits = Limits {
        max_entry_size: config.limits.content_characters,
        max_batch_size: BATCH,
        max_embeddings_dim: model.map_or(0, |model| model.dimensions),
        query_rate_limit: app.options.server.requests_per_second,
    };
    let provider = ProviderInfo {
        name: PROVIDER.name,
        version: PROVIDER.version,
        description: "Long-term memory for AI agents",
        capabilities: Capabilities { query: true, storage: true, metadata: true, streaming: true },
        supported_sources: vec![
            "conversation",
            "tool_result",
            "reflection",
            "distillation",
            "knowledge_sync",
            "manual",
            "import",
        ],
        limits,
        features,
    };
    Json(Discovery { provider })
}
