//! What can this provider do?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::told::ToldFailures;
use super::{BATCH, PROVIDER};
use crate::App;

/// What this provider can do.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecDiscovery)]
pub(super) struct Discovery {
    /// The provider.
    provider: About,
}

/// The provider, described.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecAbout)]
struct About {
    /// Its name.
    name: &'static str,
    /// Its version.
    version: &'static str,
    /// What it is.
    description: &'static str,
    /// What it offers.
    capabilities: Capabilities,
    /// Types of sources that it makes itself; others are taken as they are given.
    supported_sources: Vec<&'static str>,
    /// How much it takes.
    limits: Limits,
    /// How it does it.
    features: Features,
}

/// What is offered.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecCapabilities)]
struct Capabilities {
    /// Entries are found.
    query: bool,
    /// Entries are kept.
    storage: bool,
    /// What is told about an entry can be read, with its history.
    metadata: bool,
    /// Changes and results come as streams.
    streaming: bool,
}

/// How much is taken.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecLimits)]
struct Limits {
    /// Characters of the content of one entry.
    max_entry_size: usize,
    /// Entries of one batch.
    max_batch_size: usize,
    /// Dimensions of the vectors; 0: there is no model.
    max_embeddings_dim: usize,
    /// Requests per second and credential; 0: as many as come.
    query_rate_limit: u32,
}

/// How it is done.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecFeatures)]
struct Features {
    /// By meaning: there is an embedding model.
    semantic_search: bool,
    /// By meaning, words, links and time together.
    hybrid_search: bool,
    /// The best are read once more.
    reranking: bool,
    /// Several layers are asked at once.
    cross_layer_query: bool,
    /// Entries have versions.
    versioning: bool,
    /// What proves important is promoted to a wider layer.
    promotion: bool,
}

/// Says what this provider can do.
#[utoipa::path(
    get, path = "/openspec/v1/knowledge", operation_id = "openspecDiscover", tag = "openspec",
    responses((status = 200, description = "What the provider can do", body = Discovery), ToldFailures),
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
    let provider = About {
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
