//! Search over everything that is remembered.

use loci_engine::{FindRequest, RecallHit, RecallRequest};
use loci_types::Filter;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{brief, kinds, lines, list, rounded, short};
use crate::failure::Failure;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::call::Call;
use crate::mcp::times;
use crate::mcp::tool::{Tool, tool};

/// The search tool.
pub(super) const TOOLS: &[Tool] = &[tool!(
    "search_memory",
    "Search memory",
    Reader,
    Reads,
    "recall",
    Search => search,
    "Search long-term memory by meaning, words, names and time. Use it before answering anything that may depend on \
     earlier conversations. Returns `data`, best first, each with `id`, `content`, `kind`, `confidence` and dates; empty \
     if nothing is known. Example: {\"query\": \"where does Ann live\", \"after\": \"last_month\"}"
)];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    #[schemars(length(min = 1))]
    query: String,
    /// `semantic`, `episodic`, `procedural`, `opinion`, or one kind such as `preference`.
    // S1 calls this filter `type`.
    #[serde(alias = "type")]
    kind: Option<String>,
    /// Only about this person or thing.
    entity_name: Option<String>,
    /// `last_week`, `last_month` or YYYY-MM-DD.
    after: Option<String>,
    before: Option<String>,
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

async fn search(call: &Call, search: Search) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let engine = &call.app.engine;
    let now = engine.now();
    let when = times::range(search.after.as_deref(), search.before.as_deref(), now, &call.zone())?;
    let filter = Filter { kinds: kinds(call, search.kind.as_deref())?, ..Filter::at(now) };
    let recall = RecallRequest {
        query: search.query,
        limit: search.limit,
        filter: Some(filter),
        at: Some(now),
        ..RecallRequest::default()
    };
    let request = FindRequest { recall, entity: search.entity_name, when };
    let found = call.run_operation(engine.find(&caller, request)).await?;
    call.app.metrics.found(found.hits.len());
    let hits: Vec<Value> = found.hits.iter().map(|hit| scored(call, hit)).collect();
    let mut value = json!({ "data": hits, "answered": found.answered, "confidence": rounded(found.confidence) });
    if !found.degraded.is_empty() {
        value["degraded"] = json!(found.degraded);
    }
    Ok(ToolAnswer::new(value, write).less("ask more narrowly, or for fewer with `limit`"))
}

/// A hit in brief, with its score and the newer statement that may contradict it.
pub(super) fn scored(call: &Call, hit: &RecallHit) -> Value {
    let mut record = brief(call, &hit.memory);
    if let Some(newer) = &hit.newer {
        record["newer"] =
            json!({ "id": short(newer.id), "content": newer.text, "said_at": call.instant(newer.said_at) });
    }
    record["score"] = rounded(hit.score);
    record
}

fn write(value: &Value) -> String {
    let mut written = lines("Memories, best first:", value, "data");
    if written.is_empty() {
        written.push_str("Nothing is known about that.\n");
    }
    if value["answered"] == "unsure" {
        written.push_str("(These are related, but may not answer the question.)\n");
    }
    if list(value, "degraded").any(|part| part == "vector") {
        written.push_str("(Only words were compared, not meaning: other wordings may be missed.)\n");
    }
    written
}
