//! `memory.query` (S3): the question of an agent in one call, in the shape that its specification gives it.
//!
//! The only operation with snake_case names and importance from 1 to 5. It is a thin mapping to the same retrieval as
//! `POST /v1/recall` with `pack`, which tells more: the packed text, its tokens, what was left out, whether the question
//! is answered. `filters` only narrow what the credential and the identifiers let the caller see.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use loci_engine::pack::Format;
use loci_engine::{QueryRequest, RecallHit, RecallRequest, optional_instant};
use loci_types::{ErrorKind, Filter, Identifiers, MemoryId, TimeRange, from_step, to_step};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::extract::Body;
use crate::failure::{self, Failure, Failures};
use crate::guard::Principal;

/// The operation, in errors and metrics.
const OPERATION: &str = "queryMemory";

/// The route of `memory.query`.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(memory_query))
}

/// A question with filters and a budget.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = MemoryQueryRequest)]
#[serde(deny_unknown_fields)]
struct QueryBody {
    /// The agent that asks, by its URL-safe slug. It sees only the categories of its allowlist.
    agent: Option<String>,
    /// The question, in plain words. At most 8,192 characters.
    query: String,
    /// The categories that are searched. A category that the agent may not see is refused. Default: all that it may see.
    #[serde(default)]
    #[schema(max_items = 256)]
    categories: Vec<String>,
    /// The kinds that are searched, for example `procedural`, which is found only if its kind or its category is asked for.
    /// Default: those that belong into a prompt.
    #[serde(default)]
    #[schema(max_items = 256)]
    kinds: Vec<String>,
    /// Conditions that the memories must meet.
    #[serde(default)]
    filters: QueryFilters,
    /// Maximum number of results. Default: 5 for a simple question, 20 for a complex one.
    #[schema(minimum = 1, maximum = 100)]
    top_k: Option<usize>,
    /// How much is returned of each memory.
    #[serde(default, rename = "return")]
    #[schema(default = "bullets")]
    wanted: QueryReturn,
    /// Maximum number of tokens of all results together. Default: 1,000 for a simple question, 3,000 for a complex one.
    #[schema(minimum = 0, maximum = 1_000_000)]
    budget_tokens: Option<usize>,
    /// Minimum cosine similarity of what the vector search contributes. Default: as configured.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f64>,
    /// The scope of the request, where `agent` and `filters.user_id` do not say enough.
    #[serde(default)]
    identifiers: Identifiers,
}

/// Conditions that the memories must meet. An absent field sets no condition.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[schema(as = MemoryQueryFilters)]
#[serde(default, deny_unknown_fields)]
struct QueryFilters {
    /// The user of the memory, and the user of the request if the identifiers name none.
    user_id: Option<String>,
    /// The agent of the memory.
    agent_id: Option<String>,
    /// The agent run that wrote it.
    run_id: Option<String>,
    /// The person or agent that said or wrote it.
    actor_id: Option<String>,
    /// The role of the speaker.
    role: Option<String>,
    /// The category.
    category: Option<String>,
    /// Whether it is pinned.
    pinned: Option<bool>,
    /// Minimum importance, 1 to 5.
    #[schema(minimum = 1, maximum = 5)]
    importance_min: Option<f64>,
    /// Maximum importance, 1 to 5.
    #[schema(minimum = 1, maximum = 5)]
    importance_max: Option<f64>,
    /// It last changed at this instant or day, or later.
    #[serde(deserialize_with = "optional_instant")]
    #[schema(value_type = Option<String>)]
    updated_after: Option<Timestamp>,
    /// It last changed before this instant or day.
    #[serde(deserialize_with = "optional_instant")]
    #[schema(value_type = Option<String>)]
    updated_before: Option<Timestamp>,
    /// It was created at this instant or day, or later.
    #[serde(deserialize_with = "optional_instant")]
    #[schema(value_type = Option<String>)]
    created_after: Option<Timestamp>,
    /// It was created before this instant or day.
    #[serde(deserialize_with = "optional_instant")]
    #[schema(value_type = Option<String>)]
    created_before: Option<Timestamp>,
}

/// How much is returned of each memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[schema(as = MemoryQueryReturn)]
#[serde(rename_all = "lowercase")]
enum QueryReturn {
    /// One line: `[category] text`.
    #[default]
    Bullets,
    /// The whole text, and metadata.
    Full,
}

/// One result.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MemoryQueryResult)]
struct QueryResult {
    /// The id of the memory.
    id: MemoryId,
    /// The category; null if it has none.
    #[schema(required)]
    category: Option<String>,
    /// `[category] text` on one line; with `full` the whole text.
    text: String,
    /// The kind. This field and all that follow are there only with `full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// The score by which the results are ordered.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// Importance, 1 to 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    importance: Option<f64>,
    /// Confidence that it is true, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    /// Whether it is pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<bool>,
    /// Labels that the caller chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    /// Further fields, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
    /// When it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<Timestamp>,
    /// When it last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<Timestamp>,
}

/// Answers an agent's question within a budget (`memory.query`).
///
/// The answer is a list, the best result first: those that fit into the budget.
#[utoipa::path(
    post, path = "/memory.query", operation_id = "queryMemory", tag = "recall",
    request_body(content = QueryBody, example = json!({
        "agent": "planner", "query": "deployment plan context", "categories": ["tasks", "projects"],
        "filters": { "user_id": "ann", "pinned": false, "importance_min": 1, "importance_max": 5,
                     "updated_after": "2025-07-01", "updated_before": null },
        "top_k": 3, "return": "bullets", "budget_tokens": 512
    })),
    responses((status = 200, description = "The results", body = Vec<QueryResult>), Failures),
    security(("key" = ["reader"]))
)]
async fn memory_query(
    State(app): State<Arc<App>>,
    principal: Principal,
    Body(body): Body<QueryBody>,
) -> Result<Json<Vec<QueryResult>>, Failure> {
    let identifiers = body.identifiers()?;
    let caller = principal.caller(identifiers, OPERATION)?;
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
        hits_only: true,
        ..QueryRequest::default()
    };
    let found = app.run_operation(OPERATION, app.engine.query(&caller, request)).await.map_err(in_snake_case)?;
    app.metrics.found(found.hits.len());
    let fitting = found.hits.into_iter().filter(|hit| found.cited.contains(&hit.memory.id));
    Ok(Json(fitting.map(|hit| result(hit, wanted)).collect()))
}

/// Names a field as this operation does.
fn in_snake_case(failure: Failure) -> Failure {
    let mut problem = failure.problem().clone();
    for (name, own) in
        [("limit", "top_k"), ("budgetTokens", "budget_tokens"), ("category", "categories"), ("kind", "kinds")]
    {
        if problem.details.get("field").is_some_and(|field| field == name) {
            problem.details.insert("field".to_owned(), own.into());
            problem.message = problem.message.replacen(name, own, 1);
        }
    }
    failure.described(problem)
}

impl QueryBody {
    /// The scope of the request: the identifiers, the agent that asks, and the user of the filters.
    fn identifiers(&self) -> Result<Identifiers, Failure> {
        let mut identifiers = self.identifiers.clone();
        if let (Some(agent), Some(named)) = (&self.agent, &identifiers.agent_id)
            && agent != named
        {
            let message = format!("agent is `{agent}`, and identifiers.agentId is `{named}`");
            return Err(Failure::new(ErrorKind::InvalidInput, message, OPERATION).field("agent"));
        }
        identifiers.agent_id = identifiers.agent_id.or_else(|| self.agent.clone());
        identifiers.user_id = identifiers.user_id.or_else(|| self.filters.user_id.clone());
        Ok(identifiers)
    }

    fn filter(&self, now: Timestamp) -> Result<Filter, Failure> {
        let filters = self.filters.clone();
        let mut categories = self.categories.clone();
        categories.extend(filters.category);
        let one = |value: Option<String>| value.into_iter().collect::<Vec<_>>();
        let range = |from, until| TimeRange { from, until };
        Ok(Filter {
            categories,
            kinds: self.kinds.clone(),
            users: one(filters.user_id),
            agents: one(filters.agent_id),
            runs: one(filters.run_id),
            actors: one(filters.actor_id),
            roles: one(filters.role),
            pinned: filters.pinned,
            importance_min: step("filters.importance_min", filters.importance_min)?,
            importance_max: step("filters.importance_max", filters.importance_max)?,
            updated: range(filters.updated_after, filters.updated_before),
            created: range(filters.created_after, filters.created_before),
            ..Filter::at(now)
        })
    }
}

/// Converts importance from 1..5 to 0..1.
fn step(field: &'static str, given: Option<f64>) -> Result<Option<f64>, Failure> {
    given.map(|given| from_step(field, given)).transpose().map_err(|error| failure::to_failure(&error, OPERATION))
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
