//! How memories are written for models.
//!
//! An answer holds what a model needs to judge a memory and to name it again: id, text, kind, confidence and dates.
//! `get_memory` returns the rest. All names are in snake case, and all ids of memories are short ones.

use loci_types::{Class, Error, Memory, MemoryId, Receipt, State};
use serde_json::{Map, Value, json};

use crate::failure::{self, Failure};
use crate::mcp::call::Call;

/// Writes a memory in brief.
pub(super) fn brief(call: &Call, memory: &Memory) -> Value {
    let mut record = Map::new();
    let mut put = |name: &str, value: Value| {
        record.insert(name.to_owned(), value);
    };
    put("id", short(memory.id));
    put("content", json!(loci_engine::reported(memory)));
    put("kind", json!(memory.kind));
    put("layer", json!(memory.layer));
    put("confidence", rounded(memory.confidence));
    put("importance", rounded(memory.importance));
    put("created_at", call.instant(memory.created_at).into());
    let instant = |at| call.instant(at);
    let optional = [
        ("category", memory.category.clone()),
        ("event_time", memory.event_time.map(instant)),
        ("said_at", memory.said_at.map(instant)),
        ("valid_until", memory.valid_until.map(instant)),
        ("expires_at", memory.expires_at.map(instant)),
        ("role", memory.role.clone()),
        ("actor_id", memory.actor_id.clone()),
        ("thread_id", memory.thread_id.clone()),
        ("superseded_by_id", memory.superseded_by_id.map(|id| id.short())),
        ("state", (memory.state != State::Active).then(|| memory.state.name().to_owned())),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            put(name, value.into());
        }
    }
    if let Some(source) = &memory.source {
        put("source", json!(source));
    }
    let reader = call.caller().ok().and_then(|caller| caller.identifiers.agent_id);
    if let Some(origin) = loci_engine::origin(memory, reader.as_deref()) {
        put("origin", origin.into());
    }
    if !memory.tags.is_empty() {
        put("tags", json!(memory.tags));
    }
    if memory.pinned {
        put("pinned", true.into());
    }
    record.into()
}

/// Writes several memories in brief.
pub(super) fn briefs<'a>(call: &Call, memories: impl IntoIterator<Item = &'a Memory>) -> Vec<Value> {
    memories.into_iter().map(|memory| brief(call, memory)).collect()
}

/// The short id of a memory.
pub(super) fn short(id: MemoryId) -> Value {
    id.short().into()
}

/// Renames the fields of an object from camel case to snake case.
pub(in crate::mcp) fn snake_case(value: Value) -> Value {
    let Value::Object(fields) = value else { return value };
    fields.into_iter().map(|(name, value)| (snake(&name), value)).collect()
}

fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

/// A number with three decimals.
pub(super) fn rounded(value: f64) -> Value {
    json!((value * 1_000.0).round() / 1_000.0)
}

/// A text field of a record.
pub(super) fn text<'a>(record: &'a Value, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The entries of a list field of a record.
pub(super) fn list<'a>(record: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    record.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// A memory in one line: `- [fact] text (2026-05-01, id 418413891)`.
pub(super) fn line(record: &Value) -> String {
    let when =
        record.get("event_time").or_else(|| record.get("created_at")).and_then(Value::as_str).unwrap_or_default();
    let day = when.get(..10).unwrap_or(when);
    let kind = record.get("category").or_else(|| record.get("kind")).and_then(Value::as_str).unwrap_or("memory");
    let content = text(record, "content").split_whitespace().collect::<Vec<_>>().join(" ");
    let who = match text(record, "role") {
        "" => String::new(),
        role => format!("{role}: "),
    };
    let state = match text(record, "state") {
        "" => String::new(),
        state => format!(", {state}"),
    };
    // Before the text, so that the text cannot hide it.
    let origin = match text(record, "origin") {
        "" => String::new(),
        origin => format!("({origin}) "),
    };
    format!("- [{kind}] {origin}{who}{content} ({day}{state}, id {})\n", text(record, "id"))
}

/// Memories, one per line, under a heading; empty if there are none.
pub(super) fn lines(heading: &str, record: &Value, name: &str) -> String {
    let lines: String = list(record, name).map(line).collect();
    if lines.is_empty() { String::new() } else { format!("{heading}\n{lines}") }
}

/// The receipt of a write.
pub(super) fn receipt(receipt: &Receipt) -> Value {
    let mut record = json!({ "id": short(receipt.id), "event": receipt.event, "version": receipt.version });
    if !receipt.redacted.is_empty() {
        record["redacted"] = json!(receipt.redacted);
    }
    record
}

/// The receipt of a write as a sentence.
pub(super) fn receipt_sentence(value: &Value) -> String {
    let done = match text(value, "event") {
        "ADD" => "Stored",
        "NONE" => "Already known; nothing was changed",
        "UPDATE" => "Changed",
        "MERGE" => "Merged into a memory with the same statement",
        "SUPERSEDE" => "Stored; it replaces an older memory",
        "DELETE" => "Forgotten; it can be restored",
        "RESTORE" => "Restored",
        other => other,
    };
    format!("{done} (id {}).", text(value, "id"))
}

/// The kinds that an argument names: all kinds of a class, or one kind.
pub(super) fn kinds(call: &Call, given: Option<&str>) -> Result<Vec<String>, Failure> {
    let Some(name) = given else { return Ok(Vec::new()) };
    let class = match name {
        "episodic" => Some(Class::Episodic),
        "semantic" => Some(Class::Semantic),
        "procedural" => Some(Class::Procedural),
        "opinion" => Some(Class::Opinion),
        _ => None,
    };
    let known = call.app.engine.kinds();
    match class {
        Some(class) => Ok(known.iter().filter(|kind| kind.class == class).map(|kind| kind.name.clone()).collect()),
        None => known.parse(name).map(|kind| vec![kind.name().to_owned()]).map_err(|error| wrong(call, "kind", &error)),
    }
}

/// The failure for an argument with a wrong value.
pub(super) fn wrong(call: &Call, field: &str, error: &Error) -> Failure {
    failure::to_failure(error, call.operation).field(field)
}

/// A limit within its bounds.
pub(super) fn limit(call: &Call, given: Option<usize>, default: usize, most: usize) -> Result<usize, Failure> {
    let limit = given.unwrap_or(default);
    if (1..=most).contains(&limit) {
        return Ok(limit);
    }
    let error = Error::invalid("limit", format!("limit is {limit}, but must be between 1 and {most}"));
    Err(wrong(call, "limit", &error))
}
