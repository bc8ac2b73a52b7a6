//! Recent changes, and undoing one.

use loci_types::{Layer, MemoryId, Space};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{limit, list, text, wrong};
use crate::failure::Failure;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::call::Call;
use crate::mcp::tool::{Tool, tool};

/// The tools about changes.
pub(super) const TOOLS: &[Tool] = &[
    tool!(
        "undo_change",
        "Undo a change",
        Writer,
        Replaces,
        "undoChange",
        Undo => undo,
        "Revert one change, unless a later change depends on it. Use it when a change was a mistake; list_changes and \
         list_history show `space` and `sequence`. The undo is a change itself and can be undone. Returns what was \
         `done`. Example: {\"sequence\": 42, \"space\": \"shared\"}"
    ),
    tool!(
        "list_changes",
        "List recent changes",
        Reader,
        Reads,
        "followEvents",
        Recent => recent,
        "List the latest additions, changes and deletions, newest first. Use it to see what is new. Returns `data`, each \
         with `event`, `memory_id`, `content`, `reason`, `at`, and the `space` and `sequence` for undo_change. \
         Example: {\"limit\": 10}"
    ),
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Undo {
    /// Number of the change within its space.
    sequence: i64,
    /// The space. Default: where new memories of this client are stored.
    space: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Recent {
    /// Only this layer.
    layer: Option<String>,
    /// Maximum number of changes. Default: 20.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

async fn undo(call: &Call, given: Undo) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let space: Space = match &given.space {
        Some(name) => name.parse().map_err(|error| wrong(call, "space", &error))?,
        None => call.run_operation(call.app.engine.space_of(&caller)).await?,
    };
    let undone = call.run_operation(call.app.engine.undo(&caller, &space, given.sequence)).await?;
    let value = json!({
        "sequence": undone.sequence,
        "space": space.name(),
        "event": undone.event,
        "memory_id": undone.memory_id.as_ref().map(MemoryId::short),
        "done": undone.done,
    });
    let write = |value: &Value| {
        format!("Change {} ({}) is undone: {}.", value["sequence"], text(value, "event"), text(value, "done"))
    };
    Ok(ToolAnswer::new(value, write))
}

async fn recent(call: &Call, given: Recent) -> Result<ToolAnswer, Failure> {
    let layer = given.layer.as_deref().map(str::parse::<Layer>).transpose();
    let layer = layer.map_err(|error| wrong(call, "layer", &error))?;
    let changes = latest(call, layer, limit(call, given.limit, 20, 200)?).await?;
    let write = |value: &Value| {
        let line = |change: &Value| {
            let what = match text(change, "content") {
                "" => text(change, "memory_id"),
                content => content,
            };
            format!(
                "- {} {}: {what} ({}; space {}, sequence {})\n",
                text(change, "at"),
                text(change, "event"),
                text(change, "reason"),
                text(change, "space"),
                change["sequence"],
            )
        };
        let lines: String = list(value, "data").map(line).collect();
        if lines.is_empty() { "Nothing has changed yet.".to_owned() } else { lines }
    };
    Ok(ToolAnswer::new(json!({ "data": changes }), write))
}

/// Returns the latest changes, newest first.
pub(in crate::mcp) async fn latest(call: &Call, layer: Option<Layer>, most: usize) -> Result<Vec<Value>, Failure> {
    let caller = call.caller()?;
    let layers = layer.map(|layer| vec![layer]);
    let entries = call.run_operation(call.app.engine.recent_changes(&caller, layers.as_deref(), most)).await?;
    let change = |entry: &loci_engine::FeedEntry| {
        let mut change = json!({
            "at": call.instant(entry.at),
            "event": entry.event,
            "reason": entry.reason,
            "space": entry.space,
            "sequence": entry.sequence,
        });
        let optional = [
            ("memory_id", entry.memory_id.as_ref().map(MemoryId::short)),
            ("content", entry.content.clone()),
            ("actor", entry.actor.clone()),
            ("layer", entry.layer.map(|layer| layer.name().to_owned())),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                change[name] = value.into();
            }
        }
        change
    };
    Ok(entries.iter().map(change).collect())
}
