//! How does a conversation come in, and when is it over?

use loci_engine::Turn;
use loci_types::Error;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{list, text, zone};
use crate::failure::{self, Failure};
use crate::mcp::answer::Answer;
use crate::mcp::asked::Asked;
use crate::mcp::times;
use crate::mcp::tool::{Tool, tool, verb};

/// So many turns may come at once.
const MOST: usize = 100;

/// The tools about conversations.
pub(super) const TOOLS: &[Tool] = &[
    tool!(
        "ingest_turns",
        "Ingest turns",
        Writer,
        Adds,
        Turns => ingest,
        "Driver over turns of the conversation as they were said; facts are learned from them later. Use it instead of \
         remember_fact when you keep whole conversations. Returns `turns` with the ids, in order. \
         Example: {\"thread_id\": \"chat-7\", \"turns\": [{\"role\": \"user\", \"content\": \"I moved to Porto\"}]}"
    ),
    tool!(
        "end_session",
        "End a session",
        Writer,
        Sets,
        Ended => end,
        "Say that a conversation is over, so that its facts are learned now. Use it after ingest_turns when the \
         conversation ends. Returns `ended`: false if it was over already. Example: {\"session\": \"chat-7\"}"
    ),
];

/// Turns of one conversation, oldest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Turns {
    /// The name of the conversation.
    #[schemars(length(min = 1))]
    thread_id: String,
    /// The turns, oldest first.
    #[schemars(length(min = 1, max = 100))]
    turns: Vec<Said>,
}

/// One turn.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Said {
    /// In which role it was said.
    role: Speaker,
    /// What was said.
    #[schemars(length(min = 1))]
    content: String,
    /// Who said it.
    actor_id: Option<String>,
    /// When: an instant such as 2026-01-31T12:00:00Z.
    at: Option<String>,
    /// The message's own id; the same one is not taken in twice.
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

/// Which conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ended {
    /// The name of the session, or of the conversation where it has none.
    #[schemars(length(min = 1))]
    session: String,
}

async fn ingest(asked: &Asked, given: Turns) -> Result<Answer, Failure> {
    let caller = asked.caller("ingest")?;
    // Everything is read before the first turn is kept.
    let turns = read(asked, given)?;
    let mut taken: Vec<Value> = Vec::new();
    for turn in turns {
        let receipts = verb(asked, "ingest", asked.app.engine.ingest(&caller, turn)).await?;
        taken.extend(receipts.iter().map(|receipt| json!({ "id": receipt.id, "event": receipt.event })));
    }
    let write = |value: &Value| format!("{} turns are taken in.", list(value, "turns").count());
    Ok(Answer::new(json!({ "turns": taken }), write).less("hand over fewer turns at once"))
}

fn read(asked: &Asked, given: Turns) -> Result<Vec<Turn>, Failure> {
    let wrong = |field: &str, message: String| failure::word(&Error::invalid("turns", message), "ingest").field(field);
    if given.turns.is_empty() || given.turns.len() > MOST {
        return Err(wrong("turns", format!("turns has {} entries, but must have 1 to {MOST}", given.turns.len())));
    }
    let (now, zone) = (asked.app.engine.now(), zone(asked));
    let mut turns = Vec::with_capacity(given.turns.len());
    for (place, said) in given.turns.into_iter().enumerate() {
        if said.content.trim().is_empty() {
            return Err(wrong(&format!("turns[{place}].content"), format!("turn {place} says nothing")));
        }
        let at = said.at.as_deref();
        let role = match said.role {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
            Speaker::Tool => "tool",
            Speaker::System => "system",
        };
        turns.push(Turn {
            thread_id: given.thread_id.clone(),
            content: said.content,
            actor_id: said.actor_id,
            role: Some(role.to_owned()),
            event_time: at.map(|at| times::moment(&format!("turns[{place}].at"), at, now, &zone)).transpose()?,
            reference: said.reference,
            ..Turn::default()
        });
    }
    Ok(turns)
}

async fn end(asked: &Asked, given: Ended) -> Result<Answer, Failure> {
    let caller = asked.caller("session")?;
    let ended = verb(asked, "session", asked.app.engine.end_session(&caller, &given.session)).await?;
    let write = |value: &Value| match value["ended"].as_bool() {
        Some(true) => format!("{} is over; it is learned from now.", text(value, "session")),
        _ => format!("{} was over already.", text(value, "session")),
    };
    Ok(Answer::new(json!({ "session": given.session, "ended": ended }), write))
}
