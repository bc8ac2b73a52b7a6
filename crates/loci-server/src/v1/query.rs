//! How does an agent ask in one call?
//!
//! `memory.query` in its own words, with snake_case names and importance from 1 to 5. It is the same
//! question as any other: whose memories are seen follows from the credential and the identifiers,
//! and `filters` only narrow.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use loci_engine::pack::Format;
use loci_engine::{Answered, QueryRequest, QueryResponse, RecallHit, RecallRequest};
use loci_types::{ErrorKind, Filter, Identifiers, MemoryId, TimeRange, from_step, to_step};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::extract::Body;
use crate::failure::{self, Failure, Failures};
use crate::guard::Who;

/// The route of `memory.query`.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(query))
}

/// A question with filters and a budget.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct QueryBody {
    /// The agent that asks, by its slug; what it may see bounds the answer.
    agent: Option<String>,
    /// The question.
    query: String,
    /// Only memories of these categories.
    #[serde(default)]
    #[schema(max_items = 256)]
    categories: Vec<String>,
    /// Only memories that match.
    #[serde(default)]
    filters: QueryFilters,
    /// So many results.
    #[schema(minimum = 1, maximum = 100)]
    top_k: Option<usize>,
    /// How much is told of each.
    #[serde(default, rename = "return")]
    wanted: QueryReturn,
    /// The most tokens of `text`.
    #[schema(minimum = 0, maximum = 1_000_000)]
    budget_tokens: Option<usize>,
    /// Cosine below which the vector lane does not count.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f64>,
    /// Tell what changed since this revision.
    #[schema(minimum = 0)]
    since: Option<i64>,
    /// The conversation that is told.
    thread_id: Option<String>,
    /// IdentifierParams memories are asked.
    #[serde(default)]
    identifiers: Identifiers,
}

/// Which memories are meant.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
struct QueryFilters {
    /// Of this user.
    user_id: Option<String>,
    /// Of this agent.
    agent_id: Option<String>,
    /// In this run.
    run_id: Option<String>,
    /// By this actor.
    actor_id: Option<String>,
    /// In this role.
    role: Option<String>,
    /// Of this category.
    category: Option<String>,
    /// Pinned or not.
    pinned: Option<bool>,
    /// At least this important, from 1 to 5.
    #[schema(minimum = 1, maximum = 5)]
    importance_min: Option<f64>,
    /// At most this important, from 1 to 5.
    #[schema(minimum = 1, maximum = 5)]
    importance_max: Option<f64>,
    /// It last changed at this day or instant or later.
    #[serde(deserialize_with = "day_or_instant")]
    #[schema(value_type = Option<String>)]
    updated_after: Option<Timestamp>,
    /// It last changed before this day or instant.
    #[serde(deserialize_with = "day_or_instant")]
    #[schema(value_type = Option<String>)]
    updated_before: Option<Timestamp>,
    /// It came into the store at this day or instant or later.
    #[serde(deserialize_with = "day_or_instant")]
    #[schema(value_type = Option<String>)]
    created_after: Option<Timestamp>,
    /// It came into the store before this day or instant.
    #[serde(deserialize_with = "day_or_instant")]
    #[schema(value_type = Option<String>)]
    created_before: Option<Timestamp>,
}

/// How much is told of each result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum QueryReturn {
    /// One line.
    #[default]
    Bullets,
    /// The whole text and what is known about it.
    Full,
}

/// The answer to a query.
#[derive(Debug, Serialize, ToSchema)]
struct QueryAnswer {
    /// The results that found room in the budget, best first.
    results: Vec<QueryResult>,
    /// What goes into the prompt.
    text: String,
    /// How many tokens that is.
    tokens: usize,
    /// The most it may have been.
    budget_tokens: usize,
    /// Results that found no room.
    left_out: Vec<MemoryId>,
    /// The revision now; ask for what changed since then the next time.
    revision: i64,
    /// What the question was taken to be after.
    intent: String,
    /// Parts that could not be asked.
    degraded: Vec<String>,
    /// Whether what is known answers it.
    answered: Answered,
    /// How likely the first hits answer it, 0..1.
    confidence: f64,
}

/// One result.
#[derive(Debug, Serialize, ToSchema)]
struct QueryResult {
    /// The memory.
    id: MemoryId,
    /// Its category; none: it has none.
    #[schema(required)]
    category: Option<String>,
    /// `[category] what it says`, or the whole text.
    text: String,
    /// Its kind; like all that follows only if `full` was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Its score.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// From 1 to 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    importance: Option<f64>,
    /// How sure it is, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    /// Kept whatever happens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<bool>,
    /// Free labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    /// Anything else, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
    /// When it came into the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<Timestamp>,
    /// When it last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<Timestamp>,
}

/// Asks in one call: what matters, within a budget.
///
/// `agent` is the agent that asks, `filters.user_id` the user if the identifiers name none. A category
/// that the agent may not see is refused.
#[utoipa::path(
    post, path = "/v1/query", operation_id = "memoryQuery", tag = "recall",
    request_body(content = QueryBody, example = json!({
        "agent": "planner", "query": "deployment plan context", "categories": ["tasks", "projects"],
        "filters": { "user_id": "ann", "pinned": false, "importance_min": 1, "importance_max": 5,
                     "updated_after": "2025-07-01", "updated_before": null },
        "top_k": 3, "return": "bullets", "budget_tokens": 512
    })),
    responses((status = 200, description = "What matters", body = QueryAnswer), Failures),
    security(("key" = ["reader"]))
)]
async fn query(
    State(app): State<Arc<App>>,
    who: Who,
    Body(body): Body<QueryBody>,
) -> Result<Json<QueryAnswer>, Failure> {
    let identifiers = body.whose()?;
    let caller = who.caller(identifiers, "query")?;
    let wanted = body.wanted;
    let filter = body.filter(app.engine.now())?;
    let request = QueryRequest {
        recall: RecallRequest {
            query: body.query,
            limit: body.top_k,
            threshold: body.threshold,
            filter: Some(filter),
            ..RecallRequest::default()
        },
        format: if wanted == QueryReturn::Full { Format::Markdown } else { Format::Bullets },
        budget_tokens: body.budget_tokens,
        summarise: false,
        since: body.since,
        thread_id: body.thread_id,
    };
    let found = app.verb("query", app.engine.query(&caller, request)).await?;
    app.metrics.found(found.hits.len());
    Ok(Json(answer(found, wanted)))
}

impl QueryBody {
    /// IdentifierParams memories are asked: those who are named, the agent that asks, and the user of the filter.
    fn whose(&self) -> Result<Identifiers, Failure> {
        let mut whose = self.identifiers.clone();
        if let (Some(agent), Some(named)) = (&self.agent, &whose.agent_id)
            && agent != named
        {
            let message = format!("agent is `{agent}`, and identifiers.agentId is `{named}`");
            return Err(Failure::new(ErrorKind::InvalidInput, message, "query").field("agent"));
        }
        whose.agent_id = whose.agent_id.or_else(|| self.agent.clone());
        whose.user_id = whose.user_id.or_else(|| self.filters.user_id.clone());
        Ok(whose)
    }

    fn filter(&self, now: Timestamp) -> Result<Filter, Failure> {
        let filters = self.filters.clone();
        let mut categories = self.categories.clone();
        categories.extend(filters.category);
        let one = |value: Option<String>| value.into_iter().collect::<Vec<_>>();
        Ok(Filter {
            categories,
            users: one(filters.user_id),
            agents: one(filters.agent_id),
            runs: one(filters.run_id),
            actors: one(filters.actor_id),
            roles: one(filters.role),
            pinned: filters.pinned,
            importance_min: step("filters.importance_min", filters.importance_min)?,
            importance_max: step("filters.importance_max", filters.importance_max)?,
            updated: TimeRange { from: filters.updated_after, until: filters.updated_before },
            created: TimeRange { from: filters.created_after, until: filters.created_before },
            ..Filter::at(now)
        })
    }
}

/// Importance from 1 to 5 as the store knows it.
pub(crate) fn step(field: &'static str, given: Option<f64>) -> Result<Option<f64>, Failure> {
    given.map(|given| from_step(field, given)).transpose().map_err(|error| failure::word(&error, "query"))
}

fn answer(found: QueryResponse, wanted: QueryReturn) -> QueryAnswer {
    let cited = found.cited;
    let results = found.hits.into_iter().filter(|hit| cited.contains(&hit.memory.id));
    QueryAnswer {
        results: results.map(|hit| result(hit, wanted)).collect(),
        text: found.text,
        tokens: found.tokens,
        budget_tokens: found.budget_tokens,
        left_out: found.left_out,
        revision: found.revision,
        intent: found.intent,
        degraded: found.degraded,
        answered: found.answered,
        confidence: found.confidence,
    }
}

fn result(hit: RecallHit, wanted: QueryReturn) -> QueryResult {
    let full = wanted == QueryReturn::Full;
    let bullet = hit.bullet();
    let text = if full { hit.text() } else { bullet };
    let RecallHit { memory, score, .. } = hit;
    QueryResult {
        id: memory.id,
        text,
        category: memory.category,
        kind: full.then(|| memory.kind.name().to_owned()),
        score: full.then_some(score),
        importance: full.then_some(to_step(memory.importance)),
        confidence: full.then_some(memory.confidence),
        pinned: full.then_some(memory.pinned),
        tags: full.then_some(memory.tags),
        metadata: full.then_some(memory.metadata),
        created_at: full.then_some(memory.created_at),
        updated_at: full.then_some(memory.updated_at),
    }
}

/// Reads an instant, or a day, which is its first instant in UTC.
fn day_or_instant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Ok(Some(instant));
    }
    let day = text.parse::<Date>().ok().filter(|_| text.len() == 10);
    let first = day.and_then(|day| day.to_zoned(TimeZone::UTC).ok()).map(|day| day.timestamp());
    first.map(Some).ok_or_else(|| D::Error::custom(format!("`{text}` is neither a day nor an instant")))
}
