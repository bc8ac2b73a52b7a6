//! How does a model remember, correct and judge?

use loci_engine::{NewMemory, Provenance};
use loci_types::{Layer, Source};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{brief, id, limit, line, lines, list, receipt, rounded, seconds, text, told, wrong, zone};
use crate::failure::Failure;
use crate::mcp::answer::Answer;
use crate::mcp::asked::Asked;
use crate::mcp::times;
use crate::mcp::tool::{Tool, tool, verb};

/// The tools about facts.
pub(super) const TOOLS: &[Tool] = &[
    tool!(
        "remember_fact",
        "Remember a fact",
        Writer,
        Adds,
        Remember => remember,
        "Keep one statement for later conversations. Use it when you learn something that will still matter: a \
         preference, a decision, a date, who someone is. Write one self-contained fact with names and dates, not \
         \"he\" or \"tomorrow\". Saying it again adds nothing; a fact that has changed takes the place of the old. \
         Returns `id` and `event`: created, none (known already), merged or superseded. \
         Example: {\"fact\": \"Ann prefers tea to coffee\"}"
    ),
    tool!(
        "correct_fact",
        "Correct a fact",
        Writer,
        Replaces,
        Correct => correct,
        "Say that a remembered fact is wrong, and what is right. Use it instead of remember_fact when you know which \
         memory is wrong; the old one stays in the history. Returns the `id` of the new memory. \
         Example: {\"fact_id\": \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50\", \"correction\": \"Ann lives in Porto\"}"
    ),
    tool!(
        "confirm_fact",
        "Confirm a fact",
        Writer,
        Sets,
        Which => confirm,
        "Say that a remembered fact is right: it becomes certain and never fades. Use it when the user confirms \
         something, or for facts that weak_facts lists. Returns `id` and `event`. \
         Example: {\"fact_id\": \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50\"}"
    ),
    tool!(
        "explain_fact",
        "Explain a fact",
        Reader,
        Reads,
        Which => explain,
        "Show where a remembered fact comes from. Use it when someone asks how you know, or before you correct \
         something. Returns the `memory`, the `sources` it was learned from, its earlier and later versions in \
         `chain`, the `entities` it speaks of, its other `edges` and its `history`. \
         Example: {\"fact_id\": \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50\"}"
    ),
    tool!(
        "weak_facts",
        "List weak facts",
        Reader,
        Reads,
        Weak => weak,
        "List facts that are uncertain or fade, weakest first. Use it now and then to ask the user what still holds; \
         then use confirm_fact or correct_fact. Returns `facts`, each with `confidenceNow` and `goneAt`, the day on \
         which it will be forgotten. Example: {\"limit\": 5}"
    ),
];

/// Something to keep.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Remember {
    /// The statement: one fact that can be understood by itself.
    #[schemars(length(min = 1))]
    fact: String,
    /// Its kind, such as `fact`, `preference`, `decision`, `task`, `person`; left out: judged by the text.
    #[serde(rename = "type")]
    sort: Option<String>,
    /// A label from the categories that are set up.
    category: Option<String>,
    /// Free labels.
    tags: Option<Vec<String>>,
    /// How much it matters, 0 to 1; left out: judged by the text.
    #[schemars(range(min = 0.0, max = 1.0))]
    importance: Option<f64>,
    /// How sure it is, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: Option<f64>,
    /// When it happened: a day as YYYY-MM-DD, or an instant.
    event_time: Option<String>,
    /// Who shares it: `agent`, `user`, `session`, `project`, `team`, `org`, `company` or `pool`; left out: the
    /// narrowest that this client is set up for.
    layer: Option<String>,
}

/// What is right instead.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Correct {
    /// The id of the memory that is wrong.
    fact_id: String,
    /// What is right.
    #[schemars(length(min = 1))]
    correction: String,
    /// Why.
    reason: Option<String>,
}

/// One memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// The id of the memory.
    fact_id: String,
}

/// How weak.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Weak {
    /// Those that are less sure than this, 0 to 1; left out: as it is set.
    #[schemars(range(min = 0.0, max = 1.0))]
    below: Option<f64>,
    /// So many at most; 20 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

async fn remember(asked: &Asked, given: Remember) -> Result<Answer, Failure> {
    let caller = asked.caller("remember")?;
    let engine = &asked.app.engine;
    let layer = given.layer.as_deref().map(str::parse::<Layer>).transpose();
    let at = given.event_time.as_deref();
    let new = NewMemory {
        content: given.fact,
        layer: layer.map_err(|error| wrong("layer", &error))?,
        kind: given.sort,
        category: given.category,
        tags: given.tags.unwrap_or_default(),
        importance: given.importance,
        confidence: given.confidence,
        event_time: at.map(|text| times::moment("event_time", text, engine.now(), &zone(asked))).transpose()?,
        source: Some(Source { kind: "tool".to_owned(), ..Source::default() }),
        ..NewMemory::default()
    };
    let done = verb(asked, "remember", engine.remember(&caller, new)).await.map_err(|failure| at_fact(&failure))?;
    Ok(Answer::new(receipt(&done), told))
}

/// The tool calls the content a fact.
fn at_fact(failure: &Failure) -> Failure {
    let field = match failure.problem().details.get("field").and_then(Value::as_str) {
        Some("content") => "fact",
        Some("kind") => "type",
        _ => return failure.clone(),
    };
    failure.clone().field(field)
}

async fn correct(asked: &Asked, given: Correct) -> Result<Answer, Failure> {
    let (caller, old) = (asked.caller("correct")?, id("fact_id", &given.fact_id)?);
    let work = asked.app.engine.correct(&caller, old, &given.correction, given.reason.as_deref());
    let done = verb(asked, "correct", work).await?;
    let mut value = receipt(&done);
    value["corrected"] = json!(old);
    let write = |value: &Value| {
        format!(
            "Corrected: {} says what is right, {} stays in its history.",
            text(value, "id"),
            text(value, "corrected")
        )
    };
    Ok(Answer::new(value, write))
}

async fn confirm(asked: &Asked, given: Which) -> Result<Answer, Failure> {
    let (caller, which) = (asked.caller("confirm")?, id("fact_id", &given.fact_id)?);
    let done = verb(asked, "confirm", asked.app.engine.confirm(&caller, which)).await?;
    let write = |value: &Value| format!("Confirmed: {} is certain and does not fade.", text(value, "id"));
    Ok(Answer::new(receipt(&done), write))
}

async fn explain(asked: &Asked, given: Which) -> Result<Answer, Failure> {
    let (caller, which) = (asked.caller("explain")?, id("fact_id", &given.fact_id)?);
    let found = verb(asked, "explain", asked.app.engine.explain(&caller, which)).await?;
    Ok(Answer::new(provenance(&found), write_provenance).less("look at one of its sources by itself"))
}

fn provenance(found: &Provenance) -> Value {
    let entity = |entity: &loci_types::Entity| json!({ "id": entity.id, "name": entity.canonical_name, "entityType": entity.entity_type });
    let edge = |edge: &loci_types::Edge| json!({ "sourceId": edge.source_id, "relation": edge.relation, "targetId": edge.target_id });
    let event = |entry: &loci_types::LedgerEntry| {
        json!({ "at": seconds(entry.at), "event": entry.event, "reason": entry.reason, "actor": entry.actor,
                "space": entry.space, "sequence": entry.sequence })
    };
    json!({
        "memory": brief(&found.memory),
        "source": found.memory.source,
        "sources": found.sources.iter().map(brief).collect::<Vec<_>>(),
        "chain": found.chain.iter().map(brief).collect::<Vec<_>>(),
        "entities": found.entities.iter().map(entity).collect::<Vec<_>>(),
        "edges": found.edges.iter().map(edge).collect::<Vec<_>>(),
        "history": found.history.iter().map(event).collect::<Vec<_>>(),
    })
}

fn write_provenance(value: &Value) -> String {
    let mut said = line(value.get("memory").unwrap_or(&Value::Null));
    said.push_str(&lines("Learned from:", value, "sources"));
    if list(value, "chain").nth(1).is_some() {
        said.push_str(&lines("Versions, oldest first:", value, "chain"));
    }
    let names: Vec<&str> = list(value, "entities").map(|entity| text(entity, "name")).collect();
    if !names.is_empty() {
        said.push_str(&format!("Speaks of: {}\n", names.join(", ")));
    }
    let edges: Vec<&Value> = list(value, "edges").collect();
    if !edges.is_empty() {
        said.push_str("Links:\n");
        for edge in edges {
            let (from, to) = (text(edge, "sourceId"), text(edge, "targetId"));
            said.push_str(&format!("- {from} {} {to}\n", text(edge, "relation")));
        }
    }
    said.push_str("History:\n");
    for event in list(value, "history") {
        said.push_str(&format!("- {} {}: {}\n", text(event, "at"), text(event, "event"), text(event, "reason")));
    }
    said
}

async fn weak(asked: &Asked, given: Weak) -> Result<Answer, Failure> {
    let (caller, limit) = (asked.caller("weak")?, limit(given.limit, 20, 100)?);
    let found = verb(asked, "weak", asked.app.engine.weak_facts(&caller, given.below, limit)).await?;
    let facts: Vec<Value> = found
        .iter()
        .map(|weak| {
            let mut told = brief(&weak.memory);
            told["confidenceNow"] = rounded(weak.confidence_now);
            told["goneAt"] = json!(weak.gone_at.map(seconds));
            told
        })
        .collect();
    let write = |value: &Value| match list(value, "facts").next() {
        None => "No fact is weak.".to_owned(),
        Some(_) => lines("Weakest first; confirm or correct what you can:", value, "facts"),
    };
    Ok(Answer::new(json!({ "facts": facts }), write))
}
