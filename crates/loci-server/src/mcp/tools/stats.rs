//! How much is remembered?

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::mcp::answer::Answer;
use crate::mcp::asked::Asked;
use crate::mcp::tool::{Tool, tool, verb};

/// The tool that counts.
pub(super) const TOOLS: &[Tool] = &[tool!(
    "memory_stats",
    "Memory statistics",
    Reader,
    Reads,
    Nothing => stats,
    "Count what is remembered. Use it when someone asks how much you know or whether memory works. Returns \
     `memories` in all and by layer, kind and state, `edges` by relation, `entities`, and how many memories still \
     wait for a vector. Example: {}"
)];

/// Nothing is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

async fn stats(asked: &Asked, _: Nothing) -> Result<Answer, Failure> {
    count(asked).await
}

/// What there is, counted.
pub(in crate::mcp) async fn count(asked: &Asked) -> Result<Answer, Failure> {
    let caller = asked.caller("stats")?;
    let engine = &asked.app.engine;
    let stats = verb(asked, "stats", engine.stats(&caller)).await?;
    let mut value = serde_json::to_value(stats).unwrap_or_default();
    value["model"] = json!(engine.model().map(|model| &model.name));
    if let Value::Object(counts) = &mut value {
        // These are counted only for those who see the whole tenant.
        counts.retain(|name, count| !matches!(name.as_str(), "bytes" | "ledger") || *count != json!(0));
    }
    Ok(Answer::new(value, write))
}

fn write(value: &Value) -> String {
    let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or(0);
    let parts = |name: &str| {
        let counts = value.get(name).and_then(Value::as_object).into_iter().flatten();
        counts.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
    };
    let mut said = format!("{} memories, {} entities.\n", number("memories"), number("entities"));
    for (title, name) in
        [("By kind", "byKind"), ("By state", "byState"), ("By layer", "byLayer"), ("Edges", "edges"), ("Jobs", "jobs")]
    {
        let told = parts(name);
        if !told.is_empty() {
            said.push_str(&format!("{title}: {told}\n"));
        }
    }
    if number("withoutVector") > 0 {
        said.push_str(&format!("{} wait for a vector.\n", number("withoutVector")));
    }
    said
}
