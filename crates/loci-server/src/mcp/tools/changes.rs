//! What changed lately, and how is it taken back?

use loci_types::{Layer, Space};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{limit, list, seconds, text, wrong};
use crate::failure::Failure;
use crate::mcp::answer::Answer;
use crate::mcp::asked::Asked;
use crate::mcp::tool::{Tool, tool, verb};

/// The tools about changes.
pub(super) const TOOLS: &[Tool] = &[
    tool!(
        "undo_change",
        "Undo a change",
        Writer,
        Replaces,
        Undo => undo,
        "Take back one change to a memory, if nothing that came later stands on it. Use it when a change was a \
         mistake; recent_changes and memory_history show `space` and `sequence`. The undo is a change itself and can \
         be taken back. Returns what was `done`. Example: {\"sequence\": 42, \"space\": \"shared\"}"
    ),
    tool!(
        "recent_changes",
        "Recent changes",
        Reader,
        Reads,
        Recent => recent,
        "List what was lately added, changed, replaced or forgotten, newest first. Use it to see what is new since \
         you last looked. Returns `changes`, each with `event`, `content`, `reason`, `at`, and the `space` and \
         `sequence` by which undo_change takes it back. Example: {\"limit\": 10}"
    ),
];

/// Which change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Undo {
    /// Its number within the space.
    sequence: i64,
    /// The space; left out: where new memories of this client go.
    space: Option<String>,
}

/// Which changes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Recent {
    /// Only in this layer.
    layer: Option<String>,
    /// So many at most; 20 if left out.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

async fn undo(asked: &Asked, given: Undo) -> Result<Answer, Failure> {
    let caller = asked.caller("undo")?;
    let space: Space = match &given.space {
        Some(name) => name.parse().map_err(|error| wrong("space", &error))?,
        None => verb(asked, "undo", asked.app.engine.space_of(&caller)).await?,
    };
    let undone = verb(asked, "undo", asked.app.engine.undo(&caller, &space, given.sequence)).await?;
    let value = json!({
        "sequence": undone.sequence,
        "space": space.name(),
        "event": undone.event,
        "memoryId": undone.memory_id,
        "done": undone.done,
    });
    let write = |value: &Value| {
        format!("{} of change {} is taken back: {}.", text(value, "event"), value["sequence"], text(value, "done"))
    };
    Ok(Answer::new(value, write))
}

async fn recent(asked: &Asked, given: Recent) -> Result<Answer, Failure> {
    let layer = given.layer.as_deref().map(str::parse::<Layer>).transpose();
    let layer = layer.map_err(|error| wrong("layer", &error))?;
    let changes = latest(asked, layer, limit(given.limit, 20, 200)?).await?;
    let write = |value: &Value| {
        let line = |change: &Value| {
            let said = match text(change, "content") {
                "" => text(change, "memoryId"),
                said => said,
            };
            format!(
                "- {} {}: {said} ({}; space {}, sequence {})\n",
                text(change, "at"),
                text(change, "event"),
                text(change, "reason"),
                text(change, "space"),
                change["sequence"],
            )
        };
        let lines: String = list(value, "changes").map(line).collect();
        if lines.is_empty() { "Nothing has changed yet.".to_owned() } else { lines }
    };
    Ok(Answer::new(json!({ "changes": changes }), write))
}

/// The latest changes, newest first.
pub(in crate::mcp) async fn latest(asked: &Asked, layer: Option<Layer>, most: usize) -> Result<Vec<Value>, Failure> {
    let caller = asked.caller("changes")?;
    let layers = layer.map(|layer| vec![layer]);
    let work = asked.app.engine.recent_changes(&caller, layers.as_deref(), most);
    let entries = verb(asked, "changes", work).await?;
    let told = |entry: &loci_engine::FeedEntry| {
        let mut told = json!({
            "at": seconds(entry.at),
            "event": entry.event,
            "memoryId": entry.memory_id,
            "reason": entry.reason,
            "space": entry.space,
            "sequence": entry.sequence,
        });
        let optional = [
            ("content", entry.content.clone()),
            ("actor", entry.actor.clone()),
            ("layer", entry.layer.map(|layer| layer.name().to_owned())),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                told[name] = value.into();
            }
        }
        told
    };
    Ok(entries.iter().map(told).collect())
}
