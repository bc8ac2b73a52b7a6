//! Memories as ready context within a budget of tokens.

use jiff::Timestamp;
use loci_engine::pack::tokens::count_tokens;
use loci_engine::pack::{Format, block_tokens, data_block};
use loci_engine::{QueryRequest, QueryResponse, RecallRequest};
use loci_types::{Filter, MemoryId, TimeRange, from_step, to_step};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{list, short, text, wrong};
use super::search::scored;
use crate::failure::Failure;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::call::Call;
use crate::mcp::times;
use crate::mcp::tool::{Tool, tool};

/// The single tool of S3.
pub(super) const TOOLS: &[Tool] = &[tool!(
    "memory_query",
    "Query memory",
    Reader,
    Reads,
    "queryMemory",
    QueryArguments => query,
    "Get a few memories as short bullets within a token budget. Use it for ready context; use search_memory to look \
     around. Returns `data` of {id, category, text}, with `return` = `full` whole records, and `without_room`, the number \
     that did not fit.",
    rare: ["agent", "kinds", "filters", "threshold"]
)];

/// Context for a prompt.
pub(super) const CONTEXT: &[Tool] = &[tool!(
    "get_context",
    "Get context",
    Reader,
    Reads,
    "recall",
    Context => context,
    "Get what is known about a task as a block of data for a prompt, in sections, within a token budget. Use it at the beginning of \
     a task; with `after_revision` = the `revision` of the last answer it also lists what changed. Returns `text`, `tokens`, the \
     ids `cited` and `revision`. Example: {\"query\": \"plan the trip to Porto\"}"
)];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QueryArguments {
    /// The agent that asks; only one that this client is configured for.
    agent: Option<String>,
    #[schemars(length(min = 1))]
    query: String,
    categories: Option<Vec<String>>,
    /// Only these kinds, for example `procedural`.
    kinds: Option<Vec<String>>,
    /// Restricts which memories may answer.
    filters: Option<FilterArguments>,
    #[schemars(range(min = 1, max = 100))]
    top_k: Option<usize>,
    #[serde(rename = "return")]
    returns: Option<ReturnFormat>,
    #[schemars(range(min = 1))]
    budget_tokens: Option<usize>,
    /// Minimum similarity of a match by meaning, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
    /// `revision` of the last answer: what changed since then comes first, as `updates`.
    since: Option<i64>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FilterArguments {
    /// Only this user's.
    user_id: Option<String>,
    /// Only this agent's.
    agent_id: Option<String>,
    /// Only from this run.
    run_id: Option<String>,
    /// Only what this actor said.
    actor_id: Option<String>,
    /// Only what was said in this role.
    role: Option<String>,
    /// Only pinned ones, or only others.
    pinned: Option<bool>,
    /// Minimum importance, 1 to 5.
    #[schemars(range(min = 1, max = 5))]
    importance_min: Option<f64>,
    /// Maximum importance, 1 to 5.
    #[schemars(range(min = 1, max = 5))]
    importance_max: Option<f64>,
    /// Only changed after this: YYYY-MM-DD, `last_week` or `last_month`.
    updated_after: Option<String>,
    /// Only changed before this.
    updated_before: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReturnFormat {
    #[default]
    Bullets,
    Full,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Context {
    /// The task, or what was said last.
    #[schemars(length(min = 1))]
    query: String,
    /// Maximum number of tokens of the text.
    #[schemars(range(min = 1))]
    budget_tokens: Option<usize>,
    /// Also tell what changed after this revision.
    after_revision: Option<i64>,
    /// The conversation that receives the text. What it repeats of the text is not learned from it again.
    thread_id: Option<String>,
}

async fn query(call: &Call, query: QueryArguments) -> Result<ToolAnswer, Failure> {
    let caller = call.caller_as(query.agent.as_deref())?;
    let now = call.app.engine.now();
    let mut filter = filter(call, query.filters.unwrap_or_default(), now)?;
    filter.categories = query.categories.unwrap_or_default();
    filter.kinds = query.kinds.unwrap_or_default();
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
        budget_tokens: query.budget_tokens.map(|budget| budget.min(call.budget())),
        summarize: true,
        hits_only: true,
        since: query.since,
        ..QueryRequest::default()
    };
    let answer = call.run_operation(call.app.engine.query(&caller, request)).await?;
    call.app.metrics.found(answer.hits.len());
    let value = results(call, &answer, query.returns.unwrap_or_default());
    Ok(ToolAnswer::new(value, bullets).less("ask for fewer with `top_k`, or set `budget_tokens`"))
}

/// Translates the filters of S3. Their importance has five steps, the engine's lies between 0 and 1.
fn filter(call: &Call, given: FilterArguments, now: Timestamp) -> Result<Filter, Failure> {
    let zone = call.zone();
    let point = |field: &str, text: &Option<String>| {
        text.as_deref().map(|text| times::moment(field, text, now, &zone)).transpose()
    };
    let updated = TimeRange {
        from: point("filters.updated_after", &given.updated_after)?,
        until: point("filters.updated_before", &given.updated_before)?,
    };
    let step = |field: &'static str, given: Option<f64>| {
        given.map(|given| from_step(field, given)).transpose().map_err(|error| wrong(call, field, &error))
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

fn results(call: &Call, answer: &QueryResponse, returns: ReturnFormat) -> Value {
    let cited = answer.hits.iter().filter(|hit| answer.cited.contains(&hit.memory.id));
    let results: Vec<Value> = cited
        .map(|hit| {
            let memory = &hit.memory;
            if returns == ReturnFormat::Full {
                let mut record = scored(call, hit);
                record["importance"] = json!(to_step(memory.importance));
                return record;
            }
            // A shortened memory is returned as it is in the packed text.
            let cut = answer.shortened.contains(&memory.id).then(|| packed_text(&answer.text, memory.id));
            let text = cut.flatten().unwrap_or_else(|| hit.bullet());
            json!({ "id": short(memory.id), "category": memory.category, "text": text })
        })
        .collect();
    let mut value = json!({
        "data": results,
        "tokens": answer.tokens,
        "budget_tokens": answer.budget_tokens,
        "revision": answer.revision,
        "without_room": answer.left_out.len(),
    });
    if !answer.updates.is_empty() {
        value["updates"] = json!(answer.updates);
    }
    if !answer.degraded.is_empty() {
        value["degraded"] = json!(answer.degraded);
    }
    value
}

/// The bullet of a memory in the packed text, without its id.
fn packed_text(packed: &str, id: MemoryId) -> Option<String> {
    let citation = format!("({})", id.citation());
    let line = packed.lines().find_map(|line| line.strip_suffix(&citation))?;
    Some(line.trim_start_matches("- ").trim().to_owned())
}

fn bullets(value: &Value) -> String {
    let lines: String = list(value, "data")
        .map(|one| {
            let content = one.get("text").or_else(|| one.get("content")).and_then(Value::as_str).unwrap_or_default();
            format!("- {content} ({})\n", text(one, "id"))
        })
        .collect();
    let lines = if lines.is_empty() { "Nothing is known about that.".to_owned() } else { lines };
    match text(value, "updates") {
        "" => lines,
        updates => format!("{updates}\n\n{lines}"),
    }
}

async fn context(call: &Call, context: Context) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    // Both the text and the structured content hold it.
    let most = (call.budget() * 2 / 5).saturating_sub(block_tokens());
    let request = QueryRequest {
        recall: RecallRequest { query: context.query, for_thread: context.thread_id, ..RecallRequest::default() },
        format: Format::Markdown,
        budget_tokens: Some(
            context.budget_tokens.map_or(most, |budget| budget.saturating_sub(block_tokens()).min(most)),
        ),
        summarize: true,
        since: context.after_revision,
        ..QueryRequest::default()
    };
    let answer = call.run_operation(call.app.engine.query(&caller, request)).await?;
    let block = data_block(&answer.text);
    let value = json!({
        "text": block,
        "tokens": count_tokens(&block),
        "cited": answer.cited.iter().map(MemoryId::short).collect::<Vec<_>>(),
        "without_room": answer.left_out.len(),
        "revision": answer.revision,
    });
    let write = |value: &Value| match text(value, "text").trim() {
        "" => "Nothing is known about that.".to_owned(),
        packed => packed.to_owned(),
    };
    Ok(ToolAnswer::new(value, write).less("set a smaller `budget_tokens`"))
}
