//! `POST /query`: search of entries.
//!
//! `semantic` searches vectors, `keyword` searches keywords, `hybrid` uses all lanes of recall. Without an embedding model
//! `semantic` searches keywords, and `degraded` says so.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use loci_engine::{Caller, RecallHit, RecallRequest, Strategy};
use loci_types::{AccessPolicy, Error, Filter, Layer, MemoryId, TimeRange};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::entry::Entry;
use super::failure::FailureResponses;
use super::layer_view::{LayerSelector, LayerView};
use super::{PROVIDER, Provider, run_operation};
use crate::App;
use crate::extract::Body;
use crate::failure::{Failure, to_failure};
use crate::guard::Principal;

const OPERATION: &str = "query";

/// A query.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OpenSpecQuery)]
pub(super) struct EntryQuery {
    /// The text of the query.
    #[schema(min_length = 1)]
    pub(super) query: String,
    /// How entries are searched.
    #[serde(default)]
    pub(super) mode: QueryMode,
    /// Conditions that entries must meet.
    #[serde(default)]
    pub(super) filters: EntryFilters,
    /// Paging and content of the results.
    #[serde(default)]
    pub(super) options: QueryOptions,
    /// The layers to search, and the identifiers of the scope.
    #[serde(default)]
    pub(super) layer: LayerSelector,
}

/// How entries are searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OpenSpecMode)]
pub(super) enum QueryMode {
    /// By vectors.
    Semantic,
    /// By keywords.
    Keyword,
    /// By all lanes of recall.
    #[default]
    Hybrid,
}

/// Conditions that entries must meet.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = OpenSpecFilters)]
pub(super) struct EntryFilters {
    /// Only entries with this type of source.
    source_type: Option<String>,
    /// Only entries with this access policy.
    access_policy: Option<AccessPolicy>,
    /// Only entries created at this time or later.
    created_after: Option<Timestamp>,
    /// Only entries created before this time.
    created_before: Option<Timestamp>,
    /// Only entries with any of these tags.
    tags: Vec<String>,
    /// Only entries of this author.
    author: Option<String>,
    /// Only entries with these values of custom metadata.
    #[schema(value_type = Object)]
    custom_filters: Map<String, Value>,
}

/// Paging and content of the results.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = OpenSpecQueryOptions)]
pub(super) struct QueryOptions {
    /// Maximum number of results. Default: 10.
    #[schema(minimum = 1, maximum = 100)]
    pub(super) limit: usize,
    /// Number of results to skip. Default: 0.
    #[schema(maximum = 100)]
    offset: usize,
    /// Maximum distance between the vectors of an entry and the query, which is 1 minus their similarity.
    #[schema(minimum = 0.0, maximum = 2.0)]
    distance_threshold: Option<f64>,
    /// The distance metric. Only `cosine` is supported.
    distance_metric: Option<String>,
    /// Whether results include their content. Default: true.
    include_content: bool,
    /// Whether results include their vectors. Default: false.
    include_embeddings: bool,
    /// Maximum number of results on all pages.
    #[schema(minimum = 1, maximum = 100)]
    top_k: Option<usize>,
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self {
            limit: 10,
            offset: 0,
            distance_threshold: None,
            distance_metric: None,
            include_content: true,
            include_embeddings: false,
            top_k: None,
        }
    }
}

/// The results of a query.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecAnswer)]
pub(super) struct QueryAnswer {
    /// The id of the request.
    query_id: String,
    /// The results, best first.
    pub(super) results: Vec<EntryResult>,
    /// Counts and timing of the search.
    pub(super) metadata: QueryMetadata,
}

/// One result.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecResult)]
pub(super) struct EntryResult {
    /// The entry.
    entry: Entry,
    /// The score of the entry.
    score: f64,
    /// The distance of its vector from the vector of the query; null if the entry was not found by its vector.
    #[schema(required)]
    distance: Option<f64>,
    /// The parts of the entry that match the query.
    highlight: Highlight,
}

/// The parts of an entry that match the query.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecHighlight)]
struct Highlight {
    /// Sentences that share words with the query. Empty if the results do not include their content.
    content: Vec<String>,
}

/// Counts and timing of a search.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecAnswerMetadata)]
pub(super) struct QueryMetadata {
    /// Number of results on all pages.
    total_results: usize,
    /// Duration of the search, in milliseconds.
    execution_time_ms: f64,
    /// The layers that were searched.
    layers_queried: Vec<&'static str>,
    /// The provider.
    provider: Provider,
    /// Parts of the search that could not be used.
    degraded: Vec<String>,
}

/// Searches entries.
#[utoipa::path(
    post, path = "/openspec/v1/knowledge/query", operation_id = "openspecQuery", tag = "openspec",
    request_body = EntryQuery,
    responses((status = 200, description = "The results", body = QueryAnswer), FailureResponses),
    security(("key" = ["reader"]))
)]
pub(super) async fn query(
    State(app): State<Arc<App>>,
    principal: Principal,
    Body(query): Body<EntryQuery>,
) -> Result<Json<QueryAnswer>, Failure> {
    answer(&app, &principal, query).await.map(Json)
}

/// Answers a query.
pub(super) async fn answer(app: &App, principal: &Principal, query: EntryQuery) -> Result<QueryAnswer, Failure> {
    let started = Instant::now();
    let caller = principal.caller(query.layer.scope(), OPERATION)?;
    let most = app.engine.config().retrieval.max_limit;
    query.options.check(most).map_err(|error| to_failure(&error, OPERATION))?;
    let (request, layers) =
        recall_request(app, &caller, &query, most).map_err(|error| to_failure(&error, OPERATION))?;
    let mut found = run_operation(app, "recall", app.engine.recall(&caller, request.clone())).await?;
    if query.mode == QueryMode::Semantic && !found.degraded.is_empty() {
        // Without a model, keywords are searched instead; `degraded` already says so.
        let words = RecallRequest { strategy: Some(Strategy::Lexical), ..request };
        found.hits = run_operation(app, "recall", app.engine.recall(&caller, words)).await?.hits;
    }
    let total_results = found.hits.len();
    let hits: Vec<RecallHit> = found.hits.into_iter().skip(query.options.offset).take(query.options.limit).collect();
    app.metrics.found(hits.len());
    app.engine.count_used(&caller, &hits).await;
    let mut vectors: HashMap<MemoryId, Vec<f32>> = HashMap::new();
    if query.options.include_embeddings {
        let ids: Vec<MemoryId> = hits.iter().map(|hit| hit.memory.id).collect();
        let found = app.engine.embeddings(&caller, &ids).await;
        vectors = found.map_err(|error| Failure::of(error.problem(OPERATION)))?.into_iter().collect();
    }
    let result = |hit: RecallHit| {
        // Highlights are sentences of the content.
        let shown = query.options.include_content;
        let content = if shown { app.engine.highlights(&query.query, &hit.memory.content) } else { Vec::new() };
        let highlight = Highlight { content };
        let (score, distance) = (hit.score, hit.explain.similarity.map(|similarity| 1.0 - similarity));
        let mut entry = Entry::from(hit.memory);
        entry.embedding = vectors.remove(&entry.id);
        entry.content = entry.content.filter(|_| shown);
        EntryResult { entry, score, distance, highlight }
    };
    let results = hits.into_iter().map(result).collect();
    let metadata = QueryMetadata {
        total_results,
        execution_time_ms: started.elapsed().as_secs_f64() * 1e3,
        layers_queried: layers.into_iter().map(Layer::name).collect(),
        provider: PROVIDER,
        degraded: found.degraded,
    };
    Ok(QueryAnswer { query_id: principal.request().to_owned(), results, metadata })
}

/// The query as a recall request, and the layers that it searches.
fn recall_request(
    app: &App,
    caller: &Caller,
    query: &EntryQuery,
    most: usize,
) -> Result<(RecallRequest, Vec<Layer>), Error> {
    let types = query.layer.sort.iter().chain(&query.layer.types).map(String::as_str);
    let mut filter = query.filters.filter(app.engine.now());
    let layers = LayerView::of(types)?.narrow(&mut filter, app.engine.kinds(), caller);
    let asked = match &layers {
        Some(layers) => layers.clone(),
        None if !filter.layers.is_empty() => filter.layers.clone(),
        None if caller.everyone => Layer::ALL.to_vec(),
        None => caller.identifiers.layers(),
    };
    let request = RecallRequest {
        query: query.query.clone(),
        layers,
        limit: Some(query.options.top_k.unwrap_or(most)),
        threshold: query.options.distance_threshold.map(|distance| (1.0 - distance).max(0.0)),
        filter: Some(filter),
        strategy: Some(match query.mode {
            QueryMode::Semantic => Strategy::Semantic,
            QueryMode::Keyword => Strategy::Lexical,
            QueryMode::Hybrid => Strategy::Hybrid,
        }),
        uncounted: true,
        ..RecallRequest::default()
    };
    Ok((request, asked))
}

impl EntryFilters {
    fn filter(&self, now: Timestamp) -> Filter {
        let mut metadata: std::collections::BTreeMap<_, _> = self.custom_filters.clone().into_iter().collect();
        if let Some(author) = &self.author {
            metadata.insert("author".to_owned(), author.as_str().into());
        }
        Filter {
            source_types: self.source_type.iter().cloned().collect(),
            access_policies: self.access_policy.into_iter().collect(),
            created: TimeRange { from: self.created_after, until: self.created_before },
            tags: self.tags.clone(),
            metadata,
            ..Filter::at(now)
        }
    }
}

impl QueryOptions {
    fn check(&self, most: usize) -> Result<(), Error> {
        let bounds = [
            ("options.limit", 1, Some(self.limit)),
            ("options.offset", 0, Some(self.offset)),
            ("options.top_k", 1, self.top_k),
        ];
        for (field, least, value) in bounds {
            if let Some(value) = value.filter(|value| !(least..=most).contains(value)) {
                return Err(Error::invalid(
                    field,
                    format!("{field} is {value}, but must be between {least} and {most}"),
                ));
            }
        }
        if let Some(distance) = self.distance_threshold.filter(|distance| !(0.0..=2.0).contains(distance)) {
            let message = format!("options.distance_threshold is {distance}, but must be between 0 and 2");
            return Err(
                Error::invalid("options.distance_threshold", message).hint("the distance is 1 minus the similarity")
            );
        }
        match self.distance_metric.as_deref() {
            None | Some("cosine") => Ok(()),
            Some(other) => Err(Error::invalid("options.distance_metric", format!("unknown distance metric `{other}`"))
                .hint("use cosine, or leave the field out")),
        }
    }
}
