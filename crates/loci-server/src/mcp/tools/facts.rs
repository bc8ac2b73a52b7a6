//! Remembering facts, correcting, confirming and reviewing them.

use loci_engine::{NewMemory, ProvenanceReport};
use loci_types::{Error, Layer, MemoryRef, Source};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{brief, briefs, limit, line, lines, list, receipt, receipt_sentence, rounded, short, text, wrong};
use crate::failure::Failure;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::call::Call;
use crate::mcp::times;
use crate::mcp::tool::{Tool, tool};

/// The tools that write facts.
pub(super) const TOOLS: &[Tool] = &[
    tool!(
        "remember_fact",
        "Remember a fact",
        Writer,
        Adds,
        "addMemory",
        Remember => remember,
        "Store one fact for later conversations. Use it for what will still matter: a preference, decision, date or \
         person. Write one self-contained sentence with names and dates. A known fact is not stored twice; a changed one \
         replaces the old. Returns `id` and `event`. Example: {\"fact\": \"Ann prefers tea to coffee\"}",
        rare: ["category", "tags", "confidence", "source", "layer"]
    ),
    tool!(
        "correct_fact",
        "Correct a fact",
        Writer,
        Replaces,
        "correctMemory",
        Correct => correct,
        "Replace a memory that is wrong. Use it when you know which one; the old version stays in the history. Returns the \
         `id` of the new memory.",
        rare: ["reason"]
    ),
    tool!(
        "confirm_fact",
        "Confirm a fact",
        Writer,
        Sets,
        "confirmMemory",
        FactArguments => confirm,
        "Mark a memory as certain, so that it never fades. Use it when the user confirms it. Returns `id` and `event`."
    ),
];

/// The tools that review facts.
pub(super) const REVIEW: &[Tool] = &[
    tool!(
        "explain_fact",
        "Explain a fact",
        Reader,
        Reads,
        "getMemoryProvenance",
        FactArguments => explain,
        "Show where a memory comes from. Use it when asked how you know. Returns the `memory`, its `sources`, versions \
         (`chain`), `entities`, `links` and `history`."
    ),
    tool!(
        "weak_facts",
        "List weak facts",
        Reader,
        Reads,
        "listWeakMemories",
        Weak => weak,
        "List memories that are uncertain or fading, weakest first. Use it to ask the user what still holds, then \
         confirm_fact or correct_fact. Returns `data` with `confidence_now` and `gone_at`.",
        rare: ["below"]
    ),
];

/// How an agent may have acquired what it remembers.
const SOURCES: [&str; 5] = ["tool", "conversation", "tool_result", "reflection", "distillation"];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Remember {
    #[schemars(length(min = 1))]
    fact: String,
    /// Such as `preference`, `decision`, `task`, `person`.
    kind: Option<String>,
    /// A configured category.
    category: Option<String>,
    /// Free labels.
    tags: Option<Vec<String>>,
    /// 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    importance: Option<f64>,
    /// How certain it is, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: Option<f64>,
    /// How it was acquired: `conversation`, `tool_result`, `reflection` or `distillation`. Default: `tool`.
    source: Option<String>,
    /// When it happened: YYYY-MM-DD or an instant.
    event_time: Option<String>,
    /// When it stops being useful: the same, or `in 3 days`.
    expires_at: Option<String>,
    /// Who shares it: `agent`, `user`, `session`, `project`, `team`, `org`, `company` or `pool`. Default: the
    /// narrowest that this client is configured for.
    layer: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Correct {
    #[schemars(with = "String")]
    memory_id: MemoryRef,
    /// What is right.
    #[schemars(length(min = 1))]
    correction: String,
    /// Why it was wrong.
    reason: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FactArguments {
    #[schemars(with = "String")]
    memory_id: MemoryRef,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Weak {
    /// Maximum confidence, 0 to 1. Default: as configured.
    #[schemars(range(min = 0.0, max = 1.0))]
    below: Option<f64>,
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

async fn remember(call: &Call, given: Remember) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let engine = &call.app.engine;
    let (now, zone) = (engine.now(), call.zone());
    let layer = given.layer.as_deref().map(str::parse::<Layer>).transpose();
    let moment =
        |field: &str, text: Option<String>| text.map(|text| times::moment(field, &text, now, &zone)).transpose();
    let expires_at = moment("expires_at", given.expires_at)?;
    if expires_at.is_some_and(|at| at <= now) {
        return Err(wrong(call, "expires_at", &Error::invalid("expires_at", "expires_at is in the past")));
    }
    let source = given.source.unwrap_or_else(|| "tool".to_owned());
    if !SOURCES.contains(&source.as_str()) {
        let error = Error::invalid("source", format!("`{source}` is not a source"));
        return Err(wrong(call, "source", &error.hint(format!("use one of {}", SOURCES.join(", ")))));
    }
    let new = NewMemory {
        content: given.fact,
        layer: layer.map_err(|error| wrong(call, "layer", &error))?,
        kind: given.kind,
        category: given.category,
        tags: given.tags.unwrap_or_default(),
        importance: given.importance,
        confidence: given.confidence,
        event_time: moment("event_time", given.event_time)?,
        expires_at,
        source: Some(Source { kind: source, role: Some("orchestrator".to_owned()), ..Source::default() }),
        ..NewMemory::default()
    };
    let done = call.run_operation(engine.remember(&caller, new)).await.map_err(at_fact)?;
    Ok(ToolAnswer::new(receipt(&done), receipt_sentence))
}

/// The tool calls the content `fact`.
fn at_fact(failure: Failure) -> Failure {
    match failure.problem().details.get("field").and_then(Value::as_str) {
        Some("content") => failure.field("fact"),
        _ => failure,
    }
}

async fn correct(call: &Call, given: Correct) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let old = call.resolve(&caller, "memory_id", &given.memory_id).await?;
    let done =
        call.run_operation(call.app.engine.correct(&caller, old, &given.correction, given.reason.as_deref())).await?;
    let mut value = receipt(&done);
    value["corrected"] = short(old);
    let write = |value: &Value| format!("Corrected: {} replaces {}.", text(value, "id"), text(value, "corrected"));
    Ok(ToolAnswer::new(value, write))
}

async fn confirm(call: &Call, given: FactArguments) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let id = call.resolve(&caller, "memory_id", &given.memory_id).await?;
    let done = call.run_operation(call.app.engine.confirm(&caller, id)).await?;
    let write = |value: &Value| format!("Confirmed: {} is certain and does not fade.", text(value, "id"));
    Ok(ToolAnswer::new(receipt(&done), write))
}

async fn explain(call: &Call, given: FactArguments) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let id = call.resolve(&caller, "memory_id", &given.memory_id).await?;
    let found = call.run_operation(call.app.engine.explain(&caller, id)).await?;
    Ok(ToolAnswer::new(provenance(call, &found), write_provenance).less("request one of its sources by itself"))
}

fn provenance(call: &Call, found: &ProvenanceReport) -> Value {
    let entity =
        |entity: &loci_types::Entity| json!({ "name": entity.canonical_name, "entity_type": entity.entity_type });
    let link = |edge: &loci_types::Edge| json!({ "source_id": short(edge.source_id), "relation": edge.relation, "target_id": short(edge.target_id) });
    let event = |entry: &loci_types::LedgerEntry| {
        json!({ "at": call.instant(entry.at), "event": entry.event, "reason": entry.reason, "actor": entry.actor,
                "space": entry.space, "sequence": entry.sequence })
    };
    json!({
        "memory": brief(call, &found.memory),
        "source": found.memory.source,
        "sources": briefs(call, &found.sources),
        "chain": briefs(call, &found.chain),
        "entities": found.entities.iter().map(entity).collect::<Vec<_>>(),
        "links": found.edges.iter().map(link).collect::<Vec<_>>(),
        "history": found.history.iter().map(event).collect::<Vec<_>>(),
    })
}

fn write_provenance(value: &Value) -> String {
    let mut written = line(value.get("memory").unwrap_or(&Value::Null));
    written.push_str(&lines("Learned from:", value, "sources"));
    if list(value, "chain").nth(1).is_some() {
        written.push_str(&lines("Versions, oldest first:", value, "chain"));
    }
    let names: Vec<&str> = list(value, "entities").map(|entity| text(entity, "name")).collect();
    if !names.is_empty() {
        written.push_str(&format!("Mentions: {}\n", names.join(", ")));
    }
    let links: Vec<&Value> = list(value, "links").collect();
    if !links.is_empty() {
        written.push_str("Links:\n");
        for link in links {
            let (from, to) = (text(link, "source_id"), text(link, "target_id"));
            written.push_str(&format!("- {from} {} {to}\n", text(link, "relation")));
        }
    }
    written.push_str("History:\n");
    for event in list(value, "history") {
        written.push_str(&format!("- {} {}: {}\n", text(event, "at"), text(event, "event"), text(event, "reason")));
    }
    written
}

async fn weak(call: &Call, given: Weak) -> Result<ToolAnswer, Failure> {
    let (caller, limit) = (call.caller()?, limit(call, given.limit, 20, 100)?);
    let found = call.run_operation(call.app.engine.weak_facts(&caller, given.below, limit)).await?;
    let facts: Vec<Value> = found
        .iter()
        .map(|weak| {
            let mut record = brief(call, &weak.memory);
            record["confidence_now"] = rounded(weak.confidence_now);
            record["gone_at"] = json!(weak.gone_at.map(|at| call.instant(at)));
            record
        })
        .collect();
    let write = |value: &Value| match list(value, "data").next() {
        None => "No memory is uncertain or fading.".to_owned(),
        Some(_) => lines("Weakest first; confirm or correct what you can:", value, "data"),
    };
    Ok(ToolAnswer::new(json!({ "data": facts }), write))
}
