//! Whom and what is spoken of?

use loci_types::Entity;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{brief, limit, lines, list, seconds, text};
use crate::failure::Failure;
use crate::mcp::answer::Answer;
use crate::mcp::asked::Asked;
use crate::mcp::tool::{Tool, tool, verb};

/// One of them.
pub(super) const PROFILE: &[Tool] = &[tool!(
    "get_entity_info",
    "Get entity info",
    Reader,
    Reads,
    Named => profile,
    "Get what is known of one person, project, place, organisation, tool or idea. Use it when a name comes up that \
     you should know. Returns the `entity` with its `summary` and other names, and `memories`, the timeline of what \
     is remembered about it, newest first. Example: {\"entity_name\": \"Ann\"}"
)];

/// All of them.
pub(super) const LIST: &[Tool] = &[tool!(
    "list_entities",
    "List entities",
    Reader,
    Reads,
    Listed => entities,
    "List the people and things that memories speak of, most often named first. Use it to see whom and what you \
     know. Returns `entities` with `name`, `entityType`, `aliases` and `mentionCount`. Example: {\"limit\": 10}"
)];

/// Which.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// Its name, another name of it, or its id.
    #[schemars(length(min = 1))]
    entity_name: String,
}

/// How many.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Listed {
    /// So many at most; 50 if left out.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
}

fn told(entity: &Entity) -> Value {
    let mut told = json!({
        "id": entity.id,
        "name": entity.canonical_name,
        "entityType": entity.entity_type,
        "mentionCount": entity.mention_count,
        "firstSeen": seconds(entity.created_at),
        "lastUpdated": seconds(entity.updated_at),
    });
    if !entity.aliases.is_empty() {
        told["aliases"] = json!(entity.aliases);
    }
    if let Some(summary) = &entity.summary {
        told["summary"] = json!(summary);
    }
    told
}

async fn profile(asked: &Asked, given: Named) -> Result<Answer, Failure> {
    let caller = asked.caller("entity")?;
    let work = asked.app.engine.entity(&caller, given.entity_name.trim());
    let found = verb(asked, "entity", work).await.map_err(|failure| {
        failure.field("entity_name").hint("search_memory finds what was said without naming anyone")
    })?;
    let memories: Vec<Value> = found.memories.iter().map(brief).collect();
    let value = json!({ "entity": told(&found.entity), "memories": memories });
    Ok(Answer::new(value, write).less("search_memory with `entity_name` finds what matters of it"))
}

fn write(value: &Value) -> String {
    let entity = value.get("entity").unwrap_or(&Value::Null);
    let mut said = format!("{} ({})", text(entity, "name"), text(entity, "entityType"));
    let names: Vec<&str> = list(entity, "aliases").filter_map(Value::as_str).collect();
    if !names.is_empty() {
        said.push_str(&format!(", also called {}", names.join(", ")));
    }
    said.push('\n');
    match text(entity, "summary") {
        "" => {}
        summary => said.push_str(&format!("{summary}\n")),
    }
    said.push_str(&lines("What is remembered, newest first:", value, "memories"));
    said
}

async fn entities(asked: &Asked, given: Listed) -> Result<Answer, Failure> {
    let (caller, limit) = (asked.caller("entities")?, limit(given.limit, 50, 500)?);
    let found = verb(asked, "entities", asked.app.engine.entities(&caller, 0, limit)).await?;
    let value = json!({ "entities": found.iter().map(told).collect::<Vec<_>>() });
    let write = |value: &Value| {
        let line = |entity: &Value| format!("- {} ({})\n", text(entity, "name"), text(entity, "entityType"));
        let lines: String = list(value, "entities").map(line).collect();
        if lines.is_empty() { "Nobody and nothing is spoken of yet.".to_owned() } else { lines }
    };
    Ok(Answer::new(value, write))
}
