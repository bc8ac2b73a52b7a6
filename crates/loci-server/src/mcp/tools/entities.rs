//! People and things that memories mention.

use loci_types::Entity;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{briefs, limit, lines, list, text};
use crate::failure::Failure;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::call::Call;
use crate::mcp::tool::{Tool, tool};

/// The tool that shows one entity.
pub(super) const PROFILE: &[Tool] = &[tool!(
    "get_entity_info",
    "Get entity info",
    Reader,
    Reads,
    "getEntity",
    EntityArguments => profile,
    "Get what is known about one person, project, place, organization or tool. Use it when a name comes up. Returns the \
     `entity` with its summary, and its memories as `data`, newest first."
)];

/// The tool that lists entities.
pub(super) const LIST: &[Tool] = &[tool!(
    "list_entities",
    "List entities",
    Reader,
    Reads,
    "listEntities",
    EntityListArguments => entities,
    "List people and things that memories mention, the most often mentioned first, or those that fit a `query` in \
     meaning. Use it to see whom and what you know. \
     Returns `data` with `name`, `entity_type`, `aliases` and `mention_count`. Example: {\"limit\": 10}"
)];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EntityArguments {
    /// Its name or an alias.
    #[schemars(length(min = 1))]
    entity_name: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EntityListArguments {
    /// Maximum number of entities. Default: 50.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
    /// A description of what is looked for, such as "the person who repairs my bike". Default: all entities.
    #[schemars(length(min = 1))]
    query: Option<String>,
}

fn record(call: &Call, entity: &Entity) -> Value {
    let mut record = json!({
        "name": entity.canonical_name,
        "entity_type": entity.entity_type,
        "mention_count": entity.mention_count,
        "created_at": call.instant(entity.created_at),
        "updated_at": call.instant(entity.updated_at),
    });
    if !entity.aliases.is_empty() {
        record["aliases"] = json!(entity.aliases);
    }
    if let Some(summary) = &entity.summary {
        record["summary"] = json!(summary);
    }
    record
}

async fn profile(call: &Call, given: EntityArguments) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let found = call.run_operation(call.app.engine.entity(&caller, given.entity_name.trim())).await;
    let found =
        found.map_err(|failure| failure.field("entity_name").hint("search_memory finds statements without a name"))?;
    let value = json!({ "entity": record(call, &found.entity), "data": briefs(call, &found.memories) });
    Ok(ToolAnswer::new(value, write).less("search_memory with `entity_name` finds what is asked about it"))
}

fn write(value: &Value) -> String {
    let entity = value.get("entity").unwrap_or(&Value::Null);
    let mut written = format!("{} ({})", text(entity, "name"), text(entity, "entity_type"));
    let names: Vec<&str> = list(entity, "aliases").filter_map(Value::as_str).collect();
    if !names.is_empty() {
        written.push_str(&format!(", also called {}", names.join(", ")));
    }
    written.push('\n');
    match text(entity, "summary") {
        "" => {}
        summary => written.push_str(&format!("{summary}\n")),
    }
    written.push_str(&lines("Memories, newest first:", value, "data"));
    written
}

async fn entities(call: &Call, given: EntityListArguments) -> Result<ToolAnswer, Failure> {
    let (caller, limit) = (call.caller()?, limit(call, given.limit, 50, 500)?);
    let found = call.run_operation(call.app.engine.entities(&caller, given.query.as_deref(), 0, limit)).await?;
    let value = json!({ "data": found.iter().map(|entity| record(call, entity)).collect::<Vec<_>>() });
    let write = |value: &Value| {
        let line = |entity: &Value| format!("- {} ({})\n", text(entity, "name"), text(entity, "entity_type"));
        let lines: String = list(value, "data").map(line).collect();
        if lines.is_empty() { "No entity is known yet.".to_owned() } else { lines }
    };
    Ok(ToolAnswer::new(value, write))
}
