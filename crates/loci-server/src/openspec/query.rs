//! How is an entry found?
//!
//! `semantic` asks the vectors, `keyword` the words, `hybrid` everything that recall knows. Without a
//! model the words answer for the vectors, and the answer says so.

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

use super::place::{Meant, Where};
use super::shape::Entry;
use super::told::ToldFailures;
use super::{PROVIDER, Provider, verb};
use crate::App;
use crate::extract::Body;
use crate::failure::{Failure, word};
use crate::guard::Who;

const OPERATION: &str = "query";

/// A question.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OpenSpecQuery)]
pub(super) struct Query {
    /// The question.
    #[schema(min_length = 1)]
    pub(super) query: String,
    /// What it is looked up by.
    #[serde(default)]
    pub(super) mode: Mode,
    /// Only entries that match.
    #[serde(default)]
    pub(super) filters: Filters,
    /// How much is returned.
    #[serde(default)]
    pub(super) options: Options,
    /// Where to look, and whose entries.
    #[serde(default)]
    pub(super) layer: Where,
}

/// What entries are looked up by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OpenSpecMode)]
pub(super) enum Mode {
    /// Their vectors.
    Semantic,
    /// Their words.
    Keyword,
    /// Everything that is known.
    #[default]
    Hybrid,
}

/// Only entries that match.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = OpenSpecFilters)]
pub(super) struct Filters {
    /// Of this type of source.
    source_type: Option<String>,
    /// With this access policy.
    access_policy: Option<AccessPolicy>,
    /// Created at this instant or later.
    created_after: Option<Timestamp>,
    /// Created before this instant.
    created_before: Option<Timestamp>,
    /// With any of these tags.
    tags: Vec<String>,
    /// By this author.
    author: Option<String>,
    /// With these values of custom metadata.
    #[schema(value_type = Object)]
    custom_filters: Map<String, Value>,
}

/// How much is returned.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = OpenSpecQueryOptions)]
pub(super) struct Options {
    /// So many results.
    #[schema(minimum = 1, maximum = 100)]
    pub(super) limit: usize,
    /// After so many.
    #[schema(maximum = 100)]
    offset: usize,
    /// The greatest distance at which the vector of an entry counts: 1 less its similarity.
    #[schema(minimum = 0.0, maximum = 2.0)]
    distance_threshold: Option<f64>,
    /// How distances are measured: `cosine`.
    distance_metric: Option<String>,
    /// Whether results carry their text.
    include_content: bool,
    /// Whether results carry their vectors.
    include_embeddings: bool,
    /// The most results on all pages.
    #[schema(minimum = 1, maximum = 100)]
    top_k: Option<usize>,
}

impl Default for Options {
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

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecAnswer)]
pub(super) struct Answer {
    /// The name of this question.
    query_id: String,
    /// The results, best first.
    pub(super) results: Vec<Found>,
    /// About the search.
    pub(super) metadata: About,
}

/// One result.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecResult)]
pub(super) struct Found {
    /// The entry.
    entry: Entry,
    /// How well it fits.
    score: f64,
    /// How far its vector lies from the question's; null: it was not found by its vector.
    #[schema(required)]
    distance: Option<f64>,
    /// Where it speaks of the question.
    highlight: Highlight,
}

/// Where an entry speaks of the question.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecHighlight)]
struct Highlight {
    /// Sentences that share words with it.
    content: Vec<String>,
}

/// About a search.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecAnswerMetadata)]
pub(super) struct About {
    /// How many there are on all pages.
    total_results: usize,
    /// How long it took.
    execution_time_ms: f64,
    /// The layers that were asked.
    layers_queried: Vec<&'static str>,
    /// Who answers.
    provider: Provider,
    /// Parts that could not be asked.
    degraded: Vec<String>,
}

/// Finds entries.
#[utoipa::path(
    post, path = "/openspec/v1/knowledge/query", operation_id = "openspecQuery", tag = "openspec",
    request_body = Query,
    responses((status = 200, description = "What was found", body = Answer), ToldFailures),
    security(("key" = ["reader"]))
)]
pub(super) async fn query(
    State(app): State<Arc<App>>,
    who: Who,
    Body(query): Body<Query>,
) -> Result<Json<Answer>, Failure> {
    answer(&app, &who, query).await.map(Json)
}

/// Answers a question.
pub(super) async fn answer(app: &App, who: &Who, query: Query) -> Result<Answer, Failure> {
    let started = Instant::now();
    let caller = who.caller(query.layer.identifiers(), OPERATION)?;
    let most = app.engine.config().retrieval.max_limit;
    query.options.check(most).map_err(|error| word(&error, OPERATION))?;
    let (request, layers) = read(app, &caller, &query, most).map_err(|error| word(&error, OPERATION))?;
    let mut found = verb(app, "recall", app.engine.recall(&caller, request.clone())).await?;
    if query.mode == Mode::Semantic && !found.degraded.is_empty() {
        // There is no model to ask: the words answer, and it is said.
        let words = RecallRequest { strategy: Strategy::Lexical, ..request };
        found.hits = verb(app, "recall", app.engine.recall(&caller, words)).await?.hits;
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
        let highlight = Highlight { content: app.engine.highlights(&query.query, &hit.memory.content) };
        let (score, distance) = (hit.score, hit.explain.similarity.map(|similarity| 1.0 - similarity));
        let mut entry = Entry::from(hit.memory);
        entry.embedding = vectors.remove(&entry.id);
        entry.content = entry.content.filter(|_| query.options.include_content);
        Found { entry, score, distance, highlight }
    };
    let results = hits.into_iter().map(result).collect();
    let metadata = About {
        total_results,
        execution_time_ms: started.elapsed().as_secs_f64() * 1e3,
        layers_queried: layers.into_iter().map(Layer::name).collect(),
        provider: PROVIDER,
        degraded: found.degraded,
    };
    Ok(Answer { query_id: who.request().to_owned(), results, metadata })
}

/// The question as recall is asked, and the layers that it is asked in.
fn read(app: &App, caller: &Caller, query: &Query, most: usize) -> Result<(RecallRequest, Vec<Layer>), Error> {
    let types = query.layer.sort.iter().chain(&query.layer.types).map(String::as_str);
    let mut filter = query.filters.filter(app.engine.now());
    let layers = Meant::of(types)?.narrow(&mut filter, app.engine.kinds(), caller);
    let asked = match &layers {
        Some(layers) => layers.clone(),
        None if !filter.layers.is_empty() => filter.layers.clone(),
        None if caller.operator && caller.identifiers.is_empty() => Layer::ALL.to_vec(),
        None => caller.identifiers.layers(),
    };
    let request = RecallRequest {
        query: query.query.clone(),
        layers,
        limit: Some(query.options.top_k.unwrap_or(most)),
        threshold: query.options.distance_threshold.map(|distance| (1.0 - distance).max(0.0)),
        filter: Some(filter),
        strategy: match query.mode {
            Mode::Semantic => Strategy::Semantic,
            Mode::Keyword => Strategy::Lexical,
            Mode::Hybrid => Strategy::Hybrid,
        },
        uncounted: true,
        ..RecallRequest::default()
    };
    Ok((request, asked))
}

impl Filters {
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

impl Options {
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
                    format!("{field} is {value}, but must lie between {least} and {most}"),
                ));
            }
        }
        if let Some(distance) = self.distance_threshold.filter(|distance| !(0.0..=2.0).contains(distance)) {
            let message = format!("options.distance_threshold is {distance}, but must lie between 0 and 2");
            return Err(Error::invalid("options.distance_threshold", message).hint("it is 1 less the similarity"));
        }
        match self.distance_metric.as_deref() {
            None | Some("cosine") => Ok(()),
            Some(other) => {
                Err(Error::invalid("options.distance_metric", format!("distances are not measured by `{other}`"))
                    .hint("use cosine, or leave it out"))
            }
        }
    }
}
