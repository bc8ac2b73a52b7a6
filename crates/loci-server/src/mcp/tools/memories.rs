//! Single memories: listing, reading, changing, forgetting.

use loci_engine::{Keep, ListRequest, NewMemory, Update};
use loci_types::{Filter, Layer, MemoryRef, State};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{
    briefs, kinds, limit, line, lines, list, receipt, receipt_sentence, short, snake_case, text, wrong,
};
use crate::failure::Failure;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::call::Call;
use crate::mcp::times;
use crate::mcp::tool::{Tool, tool};

/// The tool that forgets.
pub(super) const FORGET: &[Tool] = &[tool!(
    "forget_memory",
    "Forget a memory",
    Writer,
    Removes,
    "deleteMemory",
    Forget => forget,
    "Forget a memory. Use it when the user asks to forget something. It is hidden at once and can be restored for a \
     while. Returns `id` and `event`.",
    rare: ["reason"]
)];

/// The other tools about single memories.
pub(super) const TOOLS: &[Tool] = &[
    tool!(
        "list_memories",
        "List memories",
        Reader,
        Reads,
        "listMemories",
        List => list_memories,
        "List memories, newest first, page by page. Use it to look through what is stored; use search_memory to answer a \
         question. Returns `data`, `total_count` and `next_cursor`. Example: {\"kind\": \"preference\", \"limit\": 20}"
    ),
    tool!(
        "get_memory",
        "Get a memory",
        Reader,
        Reads,
        "getMemory",
        MemoryArguments => get,
        "Get one memory with all its fields. Use it when the brief form is not enough. Returns `memory`. \
         Example: {\"memory_id\": \"418413891\"}"
    ),
    tool!(
        "update_memory",
        "Update a memory",
        Writer,
        Replaces,
        "changeMemory",
        UpdateArguments => update,
        "Change fields of a memory in place: text, kind, category, tags, importance, pinned, expiry. Use it for slips and \
         labels; use supersede_memory when the world has changed and correct_fact when it was wrong. A pinned memory \
         never fades. Returns `id`, `event` and `version`. Example: {\"memory_id\": \"418413891\", \"pinned\": true}"
    ),
    tool!(
        "restore_memory",
        "Restore a memory",
        Writer,
        Sets,
        "restoreMemory",
        MemoryArguments => restore,
        "Restore a forgotten memory. Use it when it was forgotten by mistake. Returns `id` and `event`. \
         Example: {\"memory_id\": \"418413891\"}"
    ),
    tool!(
        "list_history",
        "List the history of a memory",
        Reader,
        Reads,
        "listMemoryHistory",
        History => history,
        "List what happened to a memory, oldest first: when it was added, changed or replaced, and why. Use it before \
         undo_change. Returns `data`, each with the `space` and `sequence` for undo_change. \
         Example: {\"memory_id\": \"418413891\"}"
    ),
    tool!(
        "supersede_memory",
        "Supersede a memory",
        Writer,
        Replaces,
        "supersedeMemory",
        Supersede => supersede,
        "Replace a memory by a newer one. Use it when the world has changed: someone moved, a plan is new. The old one stays \
         in the chain of versions. Returns the `id` of the new memory. \
         Example: {\"memory_id\": \"418413891\", \"fact\": \"Ann moved to Porto\"}"
    ),
    tool!(
        "resolve_contradiction",
        "Resolve a contradiction",
        Writer,
        Replaces,
        "resolveMemory",
        Resolve => resolve,
        "Resolve which of two contradicting memories is valid; search_memory shows the later one as `newer`. Use it when \
         the user says which is right, or that both are. Returns `id` and `event`. \
         Example: {\"memory_id\": \"418413891\", \"other_memory_id\": \"052716034\", \"keep\": \"newer\"}"
    ),
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Resolve {
    #[schemars(with = "String")]
    memory_id: MemoryRef,
    #[schemars(with = "String")]
    other_memory_id: MemoryRef,
    /// Which one is valid.
    keep: KeepChoice,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum KeepChoice {
    Newer,
    Older,
    Both,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// `semantic`, `episodic`, `procedural`, `opinion`, or one kind such as `preference`.
    kind: Option<String>,
    /// Only this category.
    category: Option<String>,
    /// Only with this tag.
    tag: Option<String>,
    /// Only this layer.
    layer: Option<String>,
    /// Only in this state: `active`, `decayed`, `archived` or `soft_deleted`. Default: what is valid now.
    state: Option<String>,
    /// Only pinned ones, or only others.
    pinned: Option<bool>,
    /// `next_cursor` of the last page.
    cursor: Option<String>,
    /// Maximum number of memories. Default: 20.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryArguments {
    #[schemars(with = "String")]
    memory_id: MemoryRef,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateArguments {
    #[schemars(with = "String")]
    memory_id: MemoryRef,
    /// The version that you saw. Another version in the store is a conflict.
    version: Option<u64>,
    /// New text.
    content: Option<String>,
    /// New kind.
    kind: Option<String>,
    /// New category.
    category: Option<String>,
    /// New tags; they replace the old ones.
    tags: Option<Vec<String>>,
    /// New importance, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    importance: Option<f64>,
    /// New confidence, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: Option<f64>,
    /// Whether it is exempt from decay and expiry.
    pinned: Option<bool>,
    /// When it stops being useful: YYYY-MM-DD, an instant, or `in 3 days`.
    expires_at: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Forget {
    #[schemars(with = "String")]
    memory_id: MemoryRef,
    /// Why, for the history.
    reason: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct History {
    #[schemars(with = "String")]
    memory_id: MemoryRef,
    /// Maximum number of events. Default: 50.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Supersede {
    #[schemars(with = "String")]
    memory_id: MemoryRef,
    /// What is true now.
    #[schemars(length(min = 1))]
    fact: String,
}

async fn list_memories(call: &Call, given: List) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let engine = &call.app.engine;
    let mut filter = Filter { kinds: kinds(call, given.kind.as_deref())?, ..Filter::at(engine.now()) };
    filter.categories = given.category.into_iter().collect();
    filter.tags = given.tag.into_iter().collect();
    filter.pinned = given.pinned;
    if let Some(state) = &given.state {
        filter.states = vec![state.parse::<State>().map_err(|error| wrong(call, "state", &error))?];
    }
    let layer = given.layer.as_deref().map(str::parse::<Layer>).transpose();
    let layer = layer.map_err(|error| wrong(call, "layer", &error))?;
    let request = ListRequest {
        layers: layer.map(|layer| vec![layer]),
        filter: Some(filter),
        cursor: given.cursor,
        limit: Some(limit(call, given.limit, 20, 100)?),
    };
    let page = call.run_operation(engine.list(&caller, request)).await?;
    let value = json!({
        "data": briefs(call, &page.memories), "total_count": page.total_count, "next_cursor": page.next_cursor,
    });
    let write = |value: &Value| match list(value, "data").next() {
        None => "There are no such memories.".to_owned(),
        Some(_) => lines("Newest first:", value, "data"),
    };
    Ok(ToolAnswer::new(value, write).less("request a smaller page with `limit`, and the next one with `cursor`"))
}

async fn get(call: &Call, given: MemoryArguments) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let id = call.resolve(&caller, "memory_id", &given.memory_id).await?;
    let memory = call.run_operation(call.app.engine.get(&caller, id)).await?;
    let others = [("supersedes_id", memory.supersedes_id), ("superseded_by_id", memory.superseded_by_id)];
    let mut record = snake_case(serde_json::to_value(&memory).unwrap_or_default());
    record["id"] = short(id);
    for (name, other) in others {
        if let Some(other) = other {
            record[name] = short(other);
        }
    }
    for name in ["source", "knowledge_pointer"] {
        if let Some(part) = record.get_mut(name) {
            *part = snake_case(part.take());
        }
    }
    let write = |value: &Value| line(value.get("memory").unwrap_or(&Value::Null));
    Ok(ToolAnswer::new(json!({ "memory": record }), write).less("search_memory shows it in brief"))
}

async fn update(call: &Call, given: UpdateArguments) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let id = call.resolve(&caller, "memory_id", &given.memory_id).await?;
    let engine = &call.app.engine;
    let moment = |text: String| times::moment("expires_at", &text, engine.now(), &call.zone());
    let update = Update {
        version: given.version,
        content: given.content,
        kind: given.kind,
        category: given.category.map(Some),
        tags: given.tags,
        importance: given.importance,
        confidence: given.confidence,
        pinned: given.pinned,
        expires_at: given.expires_at.map(moment).transpose()?.map(Some),
        ..Update::default()
    };
    let done = call.run_operation(engine.update(&caller, id, update)).await?;
    Ok(ToolAnswer::new(receipt(&done), receipt_sentence))
}

async fn forget(call: &Call, given: Forget) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let id = call.resolve(&caller, "memory_id", &given.memory_id).await?;
    let done = call.run_operation(call.app.engine.forget(&caller, id, None, given.reason.as_deref())).await?;
    Ok(ToolAnswer::new(receipt(&done), receipt_sentence))
}

async fn restore(call: &Call, given: MemoryArguments) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let id = call.resolve(&caller, "memory_id", &given.memory_id).await?;
    let done = call.run_operation(call.app.engine.restore(&caller, id)).await?;
    Ok(ToolAnswer::new(receipt(&done), receipt_sentence))
}

async fn history(call: &Call, given: History) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let id = call.resolve(&caller, "memory_id", &given.memory_id).await?;
    let found = call.run_operation(call.app.engine.history(&caller, id, limit(call, given.limit, 50, 500)?)).await?;
    let event = |entry: &loci_types::LedgerEntry| {
        json!({ "at": call.instant(entry.at), "event": entry.event, "reason": entry.reason, "actor": entry.actor,
                "old": entry.old, "new": entry.new, "space": entry.space, "sequence": entry.sequence })
    };
    let write = |value: &Value| {
        let line = |event: &Value| {
            let (at, what, why) = (text(event, "at"), text(event, "event"), text(event, "reason"));
            format!("- {at} {what}: {why} (space {}, sequence {})\n", text(event, "space"), event["sequence"])
        };
        list(value, "data").map(line).collect()
    };
    Ok(ToolAnswer::new(json!({ "data": found.events.iter().map(event).collect::<Vec<_>>() }), write))
}

async fn supersede(call: &Call, given: Supersede) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let old = call.resolve(&caller, "memory_id", &given.memory_id).await?;
    let new = NewMemory { content: given.fact, ..NewMemory::default() };
    let done = call.run_operation(call.app.engine.supersede(&caller, old, new)).await?;
    let mut value = receipt(&done);
    value["superseded"] = short(old);
    let write = |value: &Value| format!("{} replaces {}.", text(value, "id"), text(value, "superseded"));
    Ok(ToolAnswer::new(value, write))
}

async fn resolve(call: &Call, given: Resolve) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let one = call.resolve(&caller, "memory_id", &given.memory_id).await?;
    let other = call.resolve(&caller, "other_memory_id", &given.other_memory_id).await?;
    let keep = match given.keep {
        KeepChoice::Newer => Keep::Newer,
        KeepChoice::Older => Keep::Older,
        KeepChoice::Both => Keep::Both,
    };
    let done = call.run_operation(call.app.engine.resolve(&caller, one, other, keep)).await?;
    Ok(ToolAnswer::new(receipt(&done), |value: &Value| format!("Resolved; {} is valid.", text(value, "id"))))
}
