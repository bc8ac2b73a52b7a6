//! How does an agent ask in one call, within a budget?

use jiff::Timestamp;
use loci_engine::pack::Format;
use loci_engine::{QueryRequest, QueryResponse, RecallRequest};
use loci_types::{Filter, TimeRange};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{text, zone};
use super::search::scored;
use crate::failure::Failure;
use crate::mcp::answer::Answer;
use crate::mcp::asked::Asked;
use crate::mcp::times;
use crate::mcp::tool::{Tool, tool, verb};
use crate::v1::step;

/// The one call.
pub(super) const TOOLS: &[Tool] = &[tool!(
    "memory_query",
    "Query memory",
    Reader,
    Reads,
    Query => query,
    "Ask memory for a few bullets that fit a budget of tokens, with filters. Use it when you need short, ready \
     context; use search_memory when you want to look around. Returns `results`: with `return` = `bullets` (the \
     usual) {id, category, text}, with `full` the whole records, and `tokens`, `revision` and `withoutRoom`, how many did not fit. \
     Example: {\"query\": \"deployment plan\", \"categories\": [\"tasks\"], \"top_k\": 3, \"budget_tokens\": 256}"
)];

/// Context for a prompt.
pub(super) const CONTEXT: &[Tool] = &[tool!(
    "get_context",
    "Get context",
    Reader,
    Reads,
    Context => context,
    "Get what matters to an input as text that is ready for a prompt, in sections, within a budget. Use it at the \
     beginning of a task; give `since` the `revision` of the last answer to be told what changed since. Returns \
     `text`, `tokens`, the ids `cited` and `revision`. Example: {\"input\": \"plan the trip to Porto\"}"
)];

/// A question with filters and a budget.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    /// The agent that asks; only one that this client is set up for.
    agent: Option<String>,
    /// The question.
    #[schemars(length(min = 1))]
    query: String,
    /// Only these categories.
    categories: Option<Vec<String>>,
    /// Which memories may answer.
    filters: Option<Filters>,
    /// So many at most.
    #[schemars(range(min = 1, max = 100))]
    top_k: Option<usize>,
    /// What each result holds.
    #[serde(rename = "return")]
    returns: Option<Returns>,
    /// The most tokens of the results.
    #[schemars(range(min = 1))]
    budget_tokens: Option<usize>,
    /// Likeness below which meaning does not count, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
}

/// Narrows what may answer; it never widens.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Filters {
    /// Only this user's.
    user_id: Option<String>,
    /// Only this agent's.
    agent_id: Option<String>,
    /// Only from this run.
    run_id: Option<String>,
    /// Only what this one said.
    actor_id: Option<String>,
    /// Only what was said in this role.
    role: Option<String>,
    /// Only pinned ones, or only others.
    pinned: Option<bool>,
    /// At least this important, 1 to 5.
    #[schemars(range(min = 1, max = 5))]
    importance_min: Option<f64>,
    /// At most this important, 1 to 5.
    #[schemars(range(min = 1, max = 5))]
    importance_max: Option<f64>,
    /// Only what changed after this: a day as YYYY-MM-DD, `last_week` or `last_month`.
    updated_after: Option<String>,
    /// Only what changed before this.
    updated_before: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Returns {
    #[default]
    Bullets,
    Full,
}

/// What context is wanted for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Context {
    /// What was said last, or what the task is.
    #[schemars(length(min = 1))]
    input: String,
    /// The most tokens of the text.
    #[schemars(range(min = 1))]
    budget_tokens: Option<usize>,
    /// Also tell what changed since this revision.
    since: Option<i64>,
    /// The conversation that is told; it does not learn this anew.
    thread_id: Option<String>,
}

async fn query(asked: &Asked, query: Query) -> Result<Answer, Failure> {
    let caller = asked.caller_as(query.agent.as_deref(), "query")?;
    let now = asked.app.engine.now();
    let mut filter = filter(asked, query.filters.unwrap_or_default(), now)?;
    filter.categories = query.categories.unwrap_or_default();
    let request = QueryRequest {
        recall: RecallRequest {
            query: query.query,
            limit: query.top_k,
            threshold: query.threshold,
            filter: Some(filter),
            at: Some(now),
            ..RecallRequest::default()
        },
        format: Format::Bullets,
        budget_tokens: query.budget_tokens.map(|budget| budget.min(asked.budget())),
        summarise: true,
        ..QueryRequest::default()
    };
    let answer = verb(asked, "query", asked.app.engine.query(&caller, request)).await?;
    asked.app.metrics.found(answer.hits.len());
    let value = told(&answer, query.returns.unwrap_or_default());
    Ok(Answer::new(value, bullets).less("ask for fewer with `top_k`, or set `budget_tokens`"))
}

/// The filter that these words mean. Importance has five steps here, and lies in 0..1 inside.
fn filter(asked: &Asked, given: Filters, now: Timestamp) -> Result<Filter, Failure> {
    let zone = zone(asked);
    let point = |field: &str, text: &Option<String>| {
        text.as_deref().map(|text| times::moment(field, text, now, &zone)).transpose()
    };
    let updated = TimeRange {
        from: point("filters.updated_after", &given.updated_after)?,
        until: point("filters.updated_before", &given.updated_before)?,
    };
    let many = |one: Option<String>| one.into_iter().collect::<Vec<_>>();
    Ok(Filter {
        users: many(given.user_id),
        agents: many(given.agent_id),
        runs: many(given.run_id),
        actors: many(given.actor_id),
        roles: many(given.role),
        pinned: given.pinned,
        importance_min: step("filters.importance_min", given.importance_min)?,
        importance_max: step("filters.importance_max", given.importance_max)?,
        updated,
        ..Filter::at(now)
    })
}

fn told(answer: &QueryResponse, returns: Returns) -> Value {
    let cited = answer.hits.iter().filter(|hit| answer.cited.contains(&hit.memory.id));
    let results: Vec<Value> = cited
        .map(|hit| {
            if returns == Returns::Full {
                return scored(hit);
            }
            let memory = &hit.memory;
            // One that was shortened is told as it stands in the packed text.
            let cut = answer.shortened.contains(&memory.id).then(|| shown(&answer.text, &memory.id.to_string()));
            let said = cut.flatten().unwrap_or_else(|| hit.bullet());
            json!({ "id": memory.id, "category": memory.category, "text": said })
        })
        .collect();
    let mut value = json!({
        "results": results,
        "tokens": answer.tokens,
        "budgetTokens": answer.budget_tokens,
        "revision": answer.revision,
        "withoutRoom": answer.left_out.len(),
    });
    if !answer.degraded.is_empty() {
        value["degraded"] = json!(answer.degraded);
    }
    value
}

/// What stands of a shortened memory in the packed text: its bullet without its id.
fn shown(packed: &str, id: &str) -> Option<String> {
    let line = packed.lines().find(|line| line.contains(id))?;
    Some(line.trim_start_matches("- ").split(&format!("({id}")).next()?.trim().to_owned())
}

fn bullets(value: &Value) -> String {
    let lines: String = super::record::list(value, "results")
        .map(|one| {
            let said = one.get("text").or_else(|| one.get("content")).and_then(Value::as_str).unwrap_or_default();
            format!("- {said} ({})\n", text(one, "id"))
        })
        .collect();
    if lines.is_empty() { "Nothing is remembered about that.".to_owned() } else { lines }
}

async fn context(asked: &Asked, context: Context) -> Result<Answer, Failure> {
    let caller = asked.caller("query")?;
    // Text and value both carry it.
    let most = asked.budget() * 2 / 5;
    let request = QueryRequest {
        recall: RecallRequest { query: context.input, ..RecallRequest::default() },
        format: Format::Markdown,
        budget_tokens: Some(context.budget_tokens.map_or(most, |budget| budget.min(most))),
        summarise: true,
        since: context.since,
        thread_id: context.thread_id,
    };
    let answer = verb(asked, "query", asked.app.engine.query(&caller, request)).await?;
    let value = json!({
        "text": answer.text,
        "tokens": answer.tokens,
        "cited": answer.cited,
        "withoutRoom": answer.left_out.len(),
        "revision": answer.revision,
    });
    let write = |value: &Value| match text(value, "text").trim() {
        "" => "Nothing is remembered that matters here.".to_owned(),
        said => said.to_owned(),
    };
    Ok(Answer::new(value, write).less("set a smaller `budget_tokens`"))
}
