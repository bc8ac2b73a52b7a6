//! Prompts that a person can start from.

use loci_engine::pack::shorten::shorten;
use loci_engine::pack::{Format, block_tokens, data_block};
use loci_engine::{QueryRequest, RecallRequest};
use loci_types::ErrorKind;
use serde_json::{Map, Value};

use super::CALL;
use super::call::Call;
use crate::failure::Failure;

/// Tokens that are reserved for the words around the memories.
const AROUND: usize = 200;

/// A prompt.
pub(super) struct Prompt {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// The `operationId` of the HTTP operation that does the same.
    pub(super) operation: &'static str,
    /// Name, meaning, and whether it must be given.
    pub(super) argument: (&'static str, &'static str, bool),
}

/// All prompts.
pub(super) const PROMPTS: &[Prompt] = &[
    Prompt {
        name: "recall_context",
        title: "Recall a topic",
        description: "Start with what is known about a topic",
        operation: "recall",
        argument: ("topic", "The topic, such as `the move to Porto`", true),
    },
    Prompt {
        name: "remember_this",
        title: "Remember this",
        description: "Store what matters of this conversation",
        operation: CALL,
        argument: ("what", "What to store. Default: whatever will still matter later", false),
    },
];

/// Writes the message of the user.
pub(super) async fn write(call: &Call, prompt: &Prompt, given: &Map<String, Value>) -> Result<String, Failure> {
    let (name, _, required) = prompt.argument;
    let text = match given.get(name) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text.trim()),
        Some(Value::String(_) | Value::Null) | None if !required => None,
        _ => {
            return Err(Failure::new(ErrorKind::InvalidInput, format!("{name} must be a text"), call.operation)
                .field(name)
                .hint(prompt.argument.1));
        }
    };
    match (prompt.name, text) {
        ("recall_context", Some(topic)) => recalled(call, topic).await,
        _ => Ok(remember(call, text)),
    }
}

async fn recalled(call: &Call, topic: &str) -> Result<String, Failure> {
    let caller = call.caller()?;
    let budget = call.budget().saturating_sub(AROUND + block_tokens());
    let request = QueryRequest {
        recall: RecallRequest { query: topic.to_owned(), ..RecallRequest::default() },
        format: Format::Markdown,
        budget_tokens: Some(budget * 3 / 4),
        summarize: true,
        ..QueryRequest::default()
    };
    let answer = call.run_operation(call.app.engine.query(&caller, request)).await?;
    let topic = shorten(topic, budget / 4).unwrap_or_default();
    if answer.cited.is_empty() {
        return Ok(format!("Let us talk about {topic}. Nothing is known about it yet."));
    }
    Ok(format!(
        "Let us talk about {topic}. Say so where what is known about it seems out of date.\n\n{}",
        data_block(answer.text.trim_end())
    ))
}

fn remember(call: &Call, what: Option<&str>) -> String {
    let budget = call.budget().saturating_sub(AROUND);
    let what = what.and_then(|what| shorten(what, budget));
    let what = what.map_or_else(
        || "whatever of this conversation will still matter in later ones".to_owned(),
        |what| format!("this: {what}"),
    );
    format!(
        "Please remember {what}\n\nSearch first with search_memory. Use correct_fact where something known has \
         changed, and remember_fact for each new statement: one fact each, in the third person, with names and \
         dates instead of \"he\" and \"yesterday\". Leave out small talk, secrets and guesses. Then tell me in one \
         sentence what you kept."
    )
}
