//! How is a memory told to a model?
//!
//! With what it needs to judge and to come back to it, and no more: the id, the text, what sort it
//! is, how sure and how old it is. `get_memory` shows the rest.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use loci_types::{Class, Error, ErrorKind, Memory, MemoryId, Receipt, State};
use serde_json::{Map, Value, json};

use crate::failure::{self, Failure};
use crate::mcp::asked::Asked;

/// A memory in brief.
pub(super) fn brief(memory: &Memory) -> Value {
    let mut told = Map::new();
    let mut tell = |name: &str, value: Value| {
        told.insert(name.to_owned(), value);
    };
    tell("id", json!(memory.id));
    tell("content", json!(loci_engine::reported(memory)));
    tell("kind", json!(memory.kind));
    tell("layer", json!(memory.layer));
    tell("confidence", rounded(memory.confidence));
    tell("importance", rounded(memory.importance));
    tell("createdAt", seconds(memory.created_at).into());
    let optional = [
        ("category", memory.category.clone()),
        ("eventTime", memory.event_time.map(seconds)),
        ("saidAt", memory.said_at.map(seconds)),
        ("validUntil", memory.valid_until.map(seconds)),
        ("role", memory.role.clone()),
        ("actorId", memory.actor_id.clone()),
        ("threadId", memory.thread_id.clone()),
        ("supersededById", memory.superseded_by_id.map(|id| id.to_string())),
        ("state", (memory.state != State::Active).then(|| memory.state.name().to_owned())),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            tell(name, value.into());
        }
    }
    if !memory.tags.is_empty() {
        tell("tags", json!(memory.tags));
    }
    if memory.pinned {
        tell("pinned", true.into());
    }
    told.into()
}

/// A number as people read it.
pub(super) fn rounded(value: f64) -> Value {
    json!((value * 1_000.0).round() / 1_000.0)
}

/// A time to the second.
pub(super) fn seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A text of a record.
pub(super) fn text<'a>(record: &'a Value, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The entries of a list of a record.
pub(super) fn list<'a>(record: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    record.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// A memory in one line: `- [fact] text (2026-05-01, id …)`.
pub(super) fn line(record: &Value) -> String {
    let when = record.get("eventTime").or_else(|| record.get("createdAt")).and_then(Value::as_str).unwrap_or_default();
    let day = when.get(..10).unwrap_or(when);
    let kind = record.get("category").or_else(|| record.get("kind")).and_then(Value::as_str).unwrap_or("memory");
    let said = text(record, "content").split_whitespace().collect::<Vec<_>>().join(" ");
    let who = match text(record, "role") {
        "" => String::new(),
        role => format!("{role}: "),
    };
    let state = match text(record, "state") {
        "" => String::new(),
        state => format!(", {state}"),
    };
    format!("- [{kind}] {who}{said} ({day}{state}, id {})\n", text(record, "id"))
}

/// Memories, a line each, under a heading.
pub(super) fn lines(head: &str, record: &Value, name: &str) -> String {
    let lines: String = list(record, name).map(line).collect();
    if lines.is_empty() { String::new() } else { format!("{head}\n{lines}") }
}

/// What a write did, as models are told.
pub(super) fn receipt(receipt: &Receipt) -> Value {
    let mut told = json!({
        "id": receipt.id, "event": receipt.event, "version": receipt.version, "durability": receipt.durability,
    });
    if !receipt.redacted.is_empty() {
        told["redacted"] = json!(receipt.redacted);
    }
    told
}

/// What a write did, in a sentence.
pub(super) fn told(value: &Value) -> String {
    let said = match text(value, "event") {
        "ADD" => "Remembered",
        "NONE" => "Known already; nothing was changed",
        "UPDATE" => "Changed",
        "MERGE" => "Merged into what was known",
        "SUPERSEDE" => "It took the place of what was known",
        "DELETE" => "Forgotten; restore_memory brings it back",
        "RESTORE" => "It is back",
        other => other,
    };
    format!("{said} (id {}).", text(value, "id"))
}

/// The id that an argument names.
pub(super) fn id(field: &str, given: &str) -> Result<MemoryId, Failure> {
    given.trim().parse().map_err(|_| {
        let shown: String = given.chars().take(64).collect();
        Failure::new(
            ErrorKind::InvalidInput,
            format!("{field}: `{shown}` is not the id of a memory"),
            "read the request",
        )
        .field(field)
        .hint("ids are UUIDs; search_memory shows one behind each memory")
    })
}

/// The kinds that a type means: a class with all its kinds, or one kind.
pub(super) fn kinds(asked: &Asked, given: Option<&str>) -> Result<Vec<String>, Failure> {
    let Some(name) = given else { return Ok(Vec::new()) };
    let class = match name {
        "episodic" => Some(Class::Episodic),
        "semantic" => Some(Class::Semantic),
        "procedural" => Some(Class::Procedural),
        "opinion" => Some(Class::Opinion),
        _ => None,
    };
    let known = asked.app.engine.kinds();
    match class {
        Some(class) => Ok(known.iter().filter(|kind| kind.class == class).map(|kind| kind.name.clone()).collect()),
        None => known.parse(name).map(|kind| vec![kind.name().to_owned()]).map_err(|error| wrong("type", &error)),
    }
}

/// A word that does not fit, at the argument that it came with.
pub(super) fn wrong(field: &str, error: &Error) -> Failure {
    failure::word(error, "read the request").field(field)
}

/// The zone in which days are counted.
pub(super) fn zone(asked: &Asked) -> TimeZone {
    TimeZone::get(&asked.app.engine.config().retrieval.time_zone).unwrap_or(TimeZone::UTC)
}

/// A limit within its bounds.
pub(super) fn limit(given: Option<usize>, usual: usize, most: usize) -> Result<usize, Failure> {
    let limit = given.unwrap_or(usual);
    if (1..=most).contains(&limit) {
        return Ok(limit);
    }
    let error = Error::invalid("limit", format!("limit is {limit}, but must lie between 1 and {most}"));
    Err(failure::word(&error, "read the request"))
}
