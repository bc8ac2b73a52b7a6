//! How does a model look after single memories?

use loci_engine::{Keep, ListRequest, NewMemory, Update};
use loci_types::{Filter, Layer, Memory, State};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{brief, id, kinds, limit, line, lines, list, receipt, seconds, text, told, wrong};
use crate::failure::Failure;
use crate::mcp::answer::Answer;
use crate::mcp::asked::Asked;
use crate::mcp::tool::{Tool, tool, verb};

/// The tools about single memories.
pub(super) const TOOLS: &[Tool] = &[
    tool!(
        "list_memories",
        "List memories",
        Reader,
        Reads,
        List => list_memories,
        "List memories, newest first, page by page. Use it to look through what is there; to answer a question use \
         search_memory. Returns `memories`, `totalCount` and `nextCursor` for the next page. \
         Example: {\"type\": \"preference\", \"limit\": 20}"
    ),
    tool!(
        "get_memory",
        "Get a memory",
        Reader,
        Reads,
        One => get,
        "Get one memory whole, with all its fields. Use it when the brief form is not enough. Returns `memory`. \
         Example: {\"memory_id\": \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50\"}"
    ),
    tool!(
        "update_memory",
        "Update a memory",
        Writer,
        Replaces,
        Change => update,
        "Change fields of a memory in place: its text, kind, category, tags or importance. Use it for slips and \
         labels; when the world has changed use supersede_fact, when it was wrong use correct_fact. Returns `id`, \
         `event` and the new `version`. \
         Example: {\"memory_id\": \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50\", \"tags\": [\"travel\"]}"
    ),
    tool!(
        "forget_memory",
        "Forget a memory",
        Writer,
        Removes,
        Forget => forget,
        "Forget a memory. Use it when the user asks for it. It is hidden at once and can be restored for a while. \
         Returns `id` and `event`. Example: {\"memory_id\": \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50\"}"
    ),
    tool!(
        "restore_memory",
        "Restore a memory",
        Writer,
        Sets,
        One => restore,
        "Bring a forgotten memory back. Use it when it was forgotten by mistake. Returns `id` and `event`. \
         Example: {\"memory_id\": \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50\"}"
    ),
    tool!(
        "memory_history",
        "Memory history",
        Reader,
        Reads,
        History => history,
        "Show what happened to a memory, oldest first: when it was added, changed, replaced, and why. Use it before \
         undo_change. Returns `events`, each with the `space` and `sequence` by which undo_change takes it back. \
         Example: {\"memory_id\": \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50\"}"
    ),
    tool!(
        "supersede_fact",
        "Supersede a fact",
        Writer,
        Replaces,
        Supersede => supersede,
        "Put a new fact in the place of an old one because the world has changed (someone moved, a plan is new). The \
         old one stays in the chain as what held before. Returns the `id` of the new memory. \
         Example: {\"fact_id\": \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50\", \"fact\": \"Ann moved to Porto\"}"
    ),
    tool!(
        "resolve_contradiction",
        "Resolve a contradiction",
        Writer,
        Replaces,
        Resolve => resolve,
        "Settle which of two memories holds that may contradict each other: search_memory shows the later one as `newer`. Use \
         it when the user says which is right, or that both are. What does not hold stays in the chain of the other. Returns \
         `id` and `event`. \
         Example: {\"memory_id\": \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50\", \"other_id\": \
         \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f51\", \"keep\": \"newer\"}"
    ),
    tool!(
        "pin_memory",
        "Pin a memory",
        Writer,
        Sets,
        Pin => pin,
        "Keep a memory whatever happens, or no longer. Use it for what must never fade. Returns `id` and `event`. \
         Example: {\"memory_id\": \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50\", \"pinned\": true}"
    ),
];

/// Which two memories, and which of them holds.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Resolve {
    /// The id of one.
    memory_id: String,
    /// The id of the other.
    other_id: String,
    /// Which one holds: `newer`, `older` or `both`.
    keep: String,
}

/// Which memories.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// Only this type: `semantic`, `episodic`, `procedural`, `opinion`, or a kind such as `preference`.
    #[serde(rename = "type")]
    sort: Option<String>,
    /// Only this category.
    category: Option<String>,
    /// Only with this tag.
    tag: Option<String>,
    /// Only this layer.
    layer: Option<String>,
    /// Only in this state: `active`, `decayed`, `archived` or `soft_deleted`; left out: what holds now.
    state: Option<String>,
    /// Only pinned ones, or only others.
    pinned: Option<bool>,
    /// Where the last page ended: its `nextCursor`.
    cursor: Option<String>,
    /// So many at most; 20 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

/// One memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct One {
    /// The id of the memory.
    memory_id: String,
}

/// New values.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Change {
    /// The id of the memory.
    memory_id: String,
    /// The version that you saw; another one in the store is a conflict.
    version: Option<u64>,
    /// New text.
    content: Option<String>,
    /// New kind.
    #[serde(rename = "type")]
    sort: Option<String>,
    /// New category.
    category: Option<String>,
    /// New tags, in place of the old.
    tags: Option<Vec<String>>,
    /// New importance, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    importance: Option<f64>,
    /// New confidence, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: Option<f64>,
}

/// What goes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Forget {
    /// The id of the memory.
    memory_id: String,
    /// Why.
    reason: Option<String>,
}

/// Whose history.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct History {
    /// The id of the memory.
    memory_id: String,
    /// So many at most; 50 if left out.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
}

/// What takes its place.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Supersede {
    /// The id of the memory that no longer holds.
    fact_id: String,
    /// What holds now.
    #[schemars(length(min = 1))]
    fact: String,
}

/// Kept or not.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pin {
    /// The id of the memory.
    memory_id: String,
    /// Whether it is kept; true if left out.
    pinned: Option<bool>,
}

async fn list_memories(asked: &Asked, given: List) -> Result<Answer, Failure> {
    let caller = asked.caller("list")?;
    let engine = &asked.app.engine;
    let mut filter = Filter { kinds: kinds(asked, given.sort.as_deref())?, ..Filter::at(engine.now()) };
    filter.categories = given.category.into_iter().collect();
    filter.tags = given.tag.into_iter().collect();
    filter.pinned = given.pinned;
    if let Some(state) = &given.state {
        filter.states = vec![state.parse::<State>().map_err(|error| wrong("state", &error))?];
    }
    let layer = given.layer.as_deref().map(str::parse::<Layer>).transpose();
    let layer = layer.map_err(|error| wrong("layer", &error))?;
    let request = ListRequest {
        layers: layer.map(|layer| vec![layer]),
        filter: Some(filter),
        cursor: given.cursor,
        limit: Some(limit(given.limit, 20, 100)?),
    };
    let page = verb(asked, "list", engine.list(&caller, request)).await?;
    let value = json!({
        "memories": page.memories.iter().map(brief).collect::<Vec<_>>(),
        "totalCount": page.total_count,
        "nextCursor": page.next_cursor,
    });
    let write = |value: &Value| match list(value, "memories").next() {
        None => "There is nothing.".to_owned(),
        Some(_) => lines("Newest first:", value, "memories"),
    };
    Ok(Answer::new(value, write).less("ask for a smaller page with `limit` and go on with `cursor`"))
}

async fn get(asked: &Asked, given: One) -> Result<Answer, Failure> {
    let (caller, which) = (asked.caller("get")?, id("memory_id", &given.memory_id)?);
    let memory: Memory = verb(asked, "get", asked.app.engine.get(&caller, which)).await?;
    let write = |value: &Value| line(value.get("memory").unwrap_or(&Value::Null));
    Ok(Answer::new(json!({ "memory": memory }), write).less("search_memory shows what matters of it"))
}

async fn update(asked: &Asked, given: Change) -> Result<Answer, Failure> {
    let (caller, which) = (asked.caller("update")?, id("memory_id", &given.memory_id)?);
    let update = Update {
        version: given.version,
        content: given.content,
        kind: given.sort,
        category: given.category,
        tags: given.tags,
        importance: given.importance,
        confidence: given.confidence,
        ..Update::default()
    };
    let done = verb(asked, "update", asked.app.engine.update(&caller, which, update)).await?;
    Ok(Answer::new(receipt(&done), told))
}

async fn forget(asked: &Asked, given: Forget) -> Result<Answer, Failure> {
    let (caller, which) = (asked.caller("forget")?, id("memory_id", &given.memory_id)?);
    let work = asked.app.engine.forget(&caller, which, None, given.reason.as_deref());
    let done = verb(asked, "forget", work).await?;
    Ok(Answer::new(receipt(&done), told))
}

async fn restore(asked: &Asked, given: One) -> Result<Answer, Failure> {
    let (caller, which) = (asked.caller("restore")?, id("memory_id", &given.memory_id)?);
    let done = verb(asked, "restore", asked.app.engine.restore(&caller, which)).await?;
    Ok(Answer::new(receipt(&done), told))
}

async fn history(asked: &Asked, given: History) -> Result<Answer, Failure> {
    let (caller, which) = (asked.caller("history")?, id("memory_id", &given.memory_id)?);
    let limit = limit(given.limit, 50, 500)?;
    let found = verb(asked, "history", asked.app.engine.history(&caller, which, limit)).await?;
    let events: Vec<Value> = found
        .events
        .iter()
        .map(|entry| {
            json!({ "at": seconds(entry.at), "event": entry.event, "reason": entry.reason, "actor": entry.actor,
                    "old": entry.old, "new": entry.new, "space": entry.space, "sequence": entry.sequence })
        })
        .collect();
    let write = |value: &Value| {
        let line = |event: &Value| {
            let (at, what, why) = (text(event, "at"), text(event, "event"), text(event, "reason"));
            format!("- {at} {what}: {why} (space {}, sequence {})\n", text(event, "space"), event["sequence"])
        };
        list(value, "events").map(line).collect()
    };
    Ok(Answer::new(json!({ "events": events }), write))
}

async fn supersede(asked: &Asked, given: Supersede) -> Result<Answer, Failure> {
    let (caller, old) = (asked.caller("supersede")?, id("fact_id", &given.fact_id)?);
    let new = NewMemory { content: given.fact, ..NewMemory::default() };
    let done = verb(asked, "supersede", asked.app.engine.supersede(&caller, old, new)).await?;
    let mut value = receipt(&done);
    value["superseded"] = json!(old);
    let write =
        |value: &Value| format!("{} holds from now on; {} held before.", text(value, "id"), text(value, "superseded"));
    Ok(Answer::new(value, write))
}

async fn resolve(asked: &Asked, given: Resolve) -> Result<Answer, Failure> {
    let caller = asked.caller("resolve")?;
    let (one, other) = (id("memory_id", &given.memory_id)?, id("other_id", &given.other_id)?);
    let keep = match given.keep.as_str() {
        "newer" => Keep::Newer,
        "older" => Keep::Older,
        "both" => Keep::Both,
        other => {
            let problem = format!("unknown value `{other}`: expected one of newer, older, both");
            return Err(wrong("keep", &loci_types::Error::invalid("keep", problem)));
        }
    };
    let done = verb(asked, "resolve", asked.app.engine.resolve(&caller, one, other, keep)).await?;
    Ok(Answer::new(receipt(&done), |value: &Value| format!("Settled; {} holds.", text(value, "id"))))
}

async fn pin(asked: &Asked, given: Pin) -> Result<Answer, Failure> {
    let (caller, which) = (asked.caller("pin")?, id("memory_id", &given.memory_id)?);
    let pinned = given.pinned.unwrap_or(true);
    let done = verb(asked, "pin", asked.app.engine.pin(&caller, which, pinned)).await?;
    let mut value = receipt(&done);
    value["pinned"] = pinned.into();
    let write = |value: &Value| match value["pinned"].as_bool() {
        Some(true) => format!("{} is kept whatever happens.", text(value, "id")),
        _ => format!("{} is no longer pinned.", text(value, "id")),
    };
    Ok(Answer::new(value, write))
}
