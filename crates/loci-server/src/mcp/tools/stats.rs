//! Counts of what is stored.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::snake_case;
use crate::failure::Failure;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::call::Call;
use crate::mcp::tool::{Tool, tool};

/// The tool that counts.
pub(super) const TOOLS: &[Tool] = &[tool!(
    "memory_stats",
    "Memory statistics",
    Reader,
    Reads,
    "getStats",
    StatsArguments => stats,
    "Count what is stored: memories by kind, layer and state, links by type, entities, orphans, sizes, and when \
     maintenance last ran. Use it when asked how much you know. Returns the counts."
)];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StatsArguments {}

async fn stats(call: &Call, _: StatsArguments) -> Result<ToolAnswer, Failure> {
    count(call).await
}

/// Counts what the caller may see.
pub(in crate::mcp) async fn count(call: &Call) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let engine = &call.app.engine;
    let stats = call.run_operation(engine.stats(&caller)).await?;
    let mut value = snake_case(serde_json::to_value(stats).unwrap_or_default());
    value["model"] = json!(engine.model().map(|model| &model.name));
    let maintained = call.run_operation(engine.last_maintained(&caller)).await?;
    value["maintained"] = maintained.into_iter().map(|(step, at)| (step.name().to_owned(), json!(at))).collect();
    if let Value::Object(counts) = &mut value {
        // It is counted only for callers who see the whole tenant.
        counts.retain(|name, count| name != "bytes" || *count != json!(0));
    }
    Ok(ToolAnswer::new(value, write))
}

fn write(value: &Value) -> String {
    let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or(0);
    let parts = |name: &str| {
        let counts = value.get(name).and_then(Value::as_object).into_iter().flatten();
        counts.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
    };
    let mut written = format!("{} memories, {} entities.\n", number("memories"), number("entities"));
    for (title, name) in [
        ("By kind", "by_kind"),
        ("By state", "by_state"),
        ("By layer", "by_layer"),
        ("Links", "edges"),
        ("Jobs", "jobs"),
        ("Vectors", "vectors"),
    ] {
        let counts = parts(name);
        if !counts.is_empty() {
            written.push_str(&format!("{title}: {counts}\n"));
        }
    }
    written.push_str(&format!(
        "{} orphans without a link or an entity, {} bytes of text.\n",
        number("orphans"),
        number("content_bytes")
    ));
    let last = value["maintained"].as_object().into_iter().flatten().filter_map(|(_, at)| at.as_str()).max();
    written.push_str(&format!("Maintenance last ran: {}.\n", last.unwrap_or("never")));
    if number("without_vector") > 0 {
        written.push_str(&format!("{} wait for a vector.\n", number("without_vector")));
    }
    written
}
