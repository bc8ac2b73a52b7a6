//! How is the memory asked over HTTP?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use loci_engine::pack::Format;
use loci_engine::pack::context::{Message, Window};
use loci_engine::{
    Answered, ContextRequest, ContextResponse, Explanation, Recall, RecallHit, RecallRequest, SearchRequest,
    SearchResponse, Strategy,
};
use loci_types::{Identifiers, Layer, Memory};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::filter::MemoryFilter;
use crate::App;
use crate::extract::Body;
use crate::failure::{Failure, Failures};
use crate::guard::Who;

/// The routes of questions.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(recall)).routes(routes!(search)).routes(routes!(context))
}

/// A question to the memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RecallBody {
    /// The question.
    query: String,
    /// IdentifierParams memories are asked.
    #[serde(default)]
    identifiers: Identifiers,
    /// In these layers; none: in all that the identifiers open.
    #[schema(min_items = 1)]
    layers: Option<Vec<Layer>>,
    /// So many hits.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// Cosine below which the vector lane does not count.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f64>,
    /// Only those that match; none: what holds now.
    filter: Option<MemoryFilter>,
    /// As if it were then.
    at: Option<Timestamp>,
    /// Which lanes are asked, and what they are ordered by.
    #[serde(default)]
    strategy: Strategy,
    /// The conversation that is told; what it only repeats is not learned from it again.
    for_thread: Option<String>,
    /// Whether each hit says why it is where it is.
    #[serde(default)]
    explain: bool,
}

/// What recall found.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecallAnswer {
    /// The hits, best first.
    hits: Vec<FoundMemory>,
    /// Parts that could not be asked.
    degraded: Vec<String>,
    /// What the question was taken to be after: `why, when, who, what, general`.
    intent: String,
    /// Whether what is known answers it.
    answered: Answered,
    /// How likely the first hits answer it, 0..1.
    confidence: f64,
}

impl RecallAnswer {
    /// What recall found, with or without the reasons.
    pub(super) fn of(found: Recall, explain: bool) -> Self {
        let told = |hit: RecallHit| FoundMemory {
            memory: hit.memory,
            score: hit.score,
            explain: explain.then_some(hit.explain),
        };
        let hits = found.hits.into_iter().map(told).collect();
        let (answered, confidence) = (found.answered, found.confidence);
        Self { hits, degraded: found.degraded, intent: found.intent, answered, confidence }
    }
}

/// One memory that recall found.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FoundMemory {
    /// The memory.
    memory: Memory,
    /// Its score.
    score: f64,
    /// Why it is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Explanation>,
}

/// Finds what matters to a question.
///
/// Words, vectors, links, times and importance are asked together; the best hits come first.
#[utoipa::path(
    post, path = "/v1/recall", operation_id = "recall", tag = "recall",
    request_body(content = RecallBody, example = json!({
        "query": "What does Ann drink?", "identifiers": { "userId": "ann" }, "limit": 5, "explain": true
    })),
    responses((status = 200, description = "What was found", body = RecallAnswer), Failures),
    security(("key" = ["reader"]))
)]
async fn recall(
    State(app): State<Arc<App>>,
    who: Who,
    Body(body): Body<RecallBody>,
) -> Result<Json<RecallAnswer>, Failure> {
    let caller = who.caller(body.identifiers, "recall")?;
    let now = body.at.unwrap_or_else(|| app.engine.now());
    let request = RecallRequest {
        query: body.query,
        layers: body.layers,
        limit: body.limit,
        threshold: body.threshold,
        filter: body.filter.map(|filter| filter.at(now)),
        at: body.at,
        strategy: body.strategy,
        uncounted: false,
        for_thread: body.for_thread,
    };
    let found = app.verb("recall", app.engine.recall(&caller, request)).await?;
    app.metrics.found(found.hits.len());
    Ok(Json(RecallAnswer::of(found, body.explain)))
}

/// A search by similarity.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SearchBody {
    /// What is looked for, in plain words.
    query: String,
    /// In these layers; none: in all that the identifiers open.
    #[schema(min_items = 1)]
    layers: Option<Vec<Layer>>,
    /// IdentifierParams memories are searched.
    #[serde(default)]
    identifiers: Identifiers,
    /// So many results per layer.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// Cosine below which nothing counts; none: what the model calls similar.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f64>,
    /// Only those that match; none: what holds now.
    filter: Option<MemoryFilter>,
}

/// Searches each layer for what is like the query.
///
/// Layers are merged by precedence: the most specific first.
#[utoipa::path(
    post, path = "/v1/memories/search", operation_id = "searchMemories", tag = "recall",
    request_body(content = SearchBody, example = json!({
        "query": "tea", "identifiers": { "userId": "ann" }, "layers": ["user"], "filter": { "tags": ["drinks"] }
    })),
    responses((status = 200, description = "What was found", body = SearchResponse), Failures),
    security(("key" = ["reader"]))
)]
async fn search(
    State(app): State<Arc<App>>,
    who: Who,
    Body(body): Body<SearchBody>,
) -> Result<Json<SearchResponse>, Failure> {
    let caller = who.caller(body.identifiers, "search")?;
    let request = SearchRequest {
        query: body.query,
        layers: body.layers,
        limit: body.limit,
        threshold: body.threshold,
        filter: body.filter.map(|filter| filter.at(app.engine.now())),
        ..SearchRequest::default()
    };
    let found = app.verb("search", app.engine.search(&caller, request)).await?;
    app.metrics.found(found.results.len());
    Ok(Json(found))
}

/// What a model's window is filled with.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct ContextBody {
    /// IdentifierParams memories are asked.
    identifiers: Identifiers,
    /// What was said last; memories are looked for by it.
    #[schema(required = true)]
    input: String,
    /// What the model is told to be.
    system: String,
    /// Descriptions of its tools.
    #[schema(max_items = 1024)]
    tools: Vec<String>,
    /// The turns so far, oldest first.
    #[schema(max_items = 10000)]
    history: Vec<Message>,
    /// How many tokens the window has; 128,000 by default.
    #[schema(minimum = 1, maximum = 10_000_000)]
    window_tokens: Option<usize>,
    /// The part of the window for memory, in per cent; 70 by default.
    #[schema(minimum = 0, maximum = 100)]
    memory_percent: Option<usize>,
    /// Whether memories and turns that do not fit are summarised.
    summarise: bool,
    /// How memories are written.
    format: Format,
    /// In these layers; none: in all that the identifiers open.
    #[schema(min_items = 1)]
    layers: Option<Vec<Layer>>,
    /// So many memories at the most.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// Only those that match; none: what holds now.
    filter: Option<MemoryFilter>,
    /// Tell what changed since this revision.
    #[schema(minimum = 0)]
    since: Option<i64>,
    /// Only changes of this conversation.
    thread_id: Option<String>,
}

/// Fills a model's window.
///
/// System prompt, tools, memories that matter to the input, turns and the input, each within its part.
#[utoipa::path(
    post, path = "/v1/context", operation_id = "buildContext", tag = "recall",
    request_body(content = ContextBody, example = json!({
        "identifiers": { "userId": "ann" }, "system": "You are kind.", "input": "What shall I order?",
        "history": [{ "role": "user", "content": "Hello" }], "windowTokens": 8000
    })),
    responses((status = 200, description = "The messages, with their tokens", body = ContextResponse), Failures),
    security(("key" = ["reader"]))
)]
async fn context(
    State(app): State<Arc<App>>,
    who: Who,
    Body(body): Body<ContextBody>,
) -> Result<Json<ContextResponse>, Failure> {
    let caller = who.caller(body.identifiers, "context")?;
    let usual = Window::default();
    let window = Window {
        tokens: body.window_tokens.unwrap_or(usual.tokens),
        memory_percent: body.memory_percent.unwrap_or(usual.memory_percent),
        summarise: body.summarise,
        ..usual
    };
    let recall = RecallRequest {
        layers: body.layers,
        limit: body.limit,
        filter: body.filter.map(|filter| filter.at(app.engine.now())),
        ..RecallRequest::default()
    };
    let request = ContextRequest {
        system: body.system,
        tools: body.tools,
        history: body.history,
        input: body.input,
        window,
        format: body.format,
        recall,
        since: body.since,
        thread_id: body.thread_id,
    };
    app.verb("context", app.engine.context(&caller, request)).await.map(Json)
}
