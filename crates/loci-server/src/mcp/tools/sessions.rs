//! Conversations: storing turns, and ending a session.

use loci_engine::Turn;
use loci_types::Error;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{list, short, text, wrong};
use crate::failure::Failure;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::call::Call;
use crate::mcp::times;
use crate::mcp::tool::{Tool, tool};

/// Maximum number of turns of one call.
const MOST: usize = 100;

/// The tool that stores turns.
pub(super) const INGEST: &[Tool] = &[tool!(
    "ingest_turns",
    "Ingest turns",
    Writer,
    Adds,
    "ingestTurns",
    TurnsArguments => ingest,
    "Store turns of a conversation as they were said, oldest first; facts are learned from them later. Use it to keep \
     whole conversations. Returns an `id` per turn as `data`.",
    rare: ["turns.actor_id", "turns.at", "turns.reference"]
)];

/// The tool that ends a session.
pub(super) const END: &[Tool] = &[tool!(
    "end_session",
    "End a session",
    Writer,
    Sets,
    "endSession",
    EndSession => end,
    "End a conversation, so that facts are learned from it now. Use it after ingest_turns when the conversation is over. \
     Returns `ended`: false if it had ended already. Example: {\"session_id\": \"chat-7\"}"
)];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TurnsArguments {
    /// Name of the conversation.
    #[schemars(length(min = 1))]
    thread_id: String,
    #[schemars(length(min = 1, max = 100))]
    turns: Vec<NewTurn>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
struct NewTurn {
    role: Speaker,
    #[schemars(length(min = 1))]
    content: String,
    /// Who said it.
    actor_id: Option<String>,
    /// When it was said: an instant such as 2026-01-31T12:00:00Z.
    at: Option<String>,
    /// Id of the message. The same message is stored once.
    reference: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Speaker {
    User,
    Assistant,
    Tool,
    System,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EndSession {
    /// The session, or the `thread_id` of a conversation without one.
    #[schemars(length(min = 1))]
    session_id: String,
}

async fn ingest(call: &Call, given: TurnsArguments) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    // All turns are checked before the first is stored.
    let turns = read(call, given)?;
    let mut stored: Vec<Value> = Vec::new();
    for turn in turns {
        let receipts = call.run_operation(call.app.engine.ingest(&caller, turn)).await?;
        stored.extend(receipts.iter().map(|receipt| json!({ "id": short(receipt.id), "event": receipt.event })));
    }
    let write = |value: &Value| format!("{} turns are stored.", list(value, "data").count());
    Ok(ToolAnswer::new(json!({ "data": stored }), write).less("send fewer turns at once"))
}

fn read(call: &Call, given: TurnsArguments) -> Result<Vec<Turn>, Failure> {
    let refused = |field: &str, message: String| wrong(call, field, &Error::invalid("turns", message));
    if given.turns.is_empty() || given.turns.len() > MOST {
        return Err(refused("turns", format!("turns has {} entries, but must have 1 to {MOST}", given.turns.len())));
    }
    let (now, zone) = (call.app.engine.now(), call.zone());
    let mut turns = Vec::with_capacity(given.turns.len());
    for (place, turn) in given.turns.into_iter().enumerate() {
        if turn.content.trim().is_empty() {
            return Err(refused(&format!("turns[{place}].content"), format!("turn {place} is empty")));
        }
        let role = match turn.role {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
            Speaker::Tool => "tool",
            Speaker::System => "system",
        };
        let at = turn.at.as_deref();
        turns.push(Turn {
            thread_id: given.thread_id.clone(),
            content: turn.content,
            actor_id: turn.actor_id,
            role: Some(role.to_owned()),
            event_time: at.map(|at| times::moment(&format!("turns[{place}].at"), at, now, &zone)).transpose()?,
            reference: turn.reference,
            ..Turn::default()
        });
    }
    Ok(turns)
}

async fn end(call: &Call, given: EndSession) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let ended = call.run_operation(call.app.engine.end_session(&caller, &given.session_id)).await?;
    let write = |value: &Value| match value["ended"].as_bool() {
        Some(true) => format!("{} is ended; facts are learned from it now.", text(value, "session_id")),
        _ => format!("{} had ended already.", text(value, "session_id")),
    };
    Ok(ToolAnswer::new(json!({ "session_id": given.session_id, "ended": ended }), write))
}
