//! How does a model find what it once knew?

use loci_engine::{FindRequest, RecallHit, RecallRequest};
use loci_types::Filter;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{brief, kinds, lines, list, rounded, zone};
use crate::failure::Failure;
use crate::mcp::answer::Answer;
use crate::mcp::asked::Asked;
use crate::mcp::times;
use crate::mcp::tool::{Tool, tool, verb};

/// The tools that find.
pub(super) const TOOLS: &[Tool] = &[tool!(
    "search_memory",
    "Search memory",
    Reader,
    Reads,
    Search => search,
    "Find what is remembered about a question, by meaning, words, time and the people or things it names. Use it \
     before you answer anything that may hang on earlier conversations. Returns `memories`, best first, each with \
     `id`, `content`, `kind`, `confidence`, dates and a `score`; an empty list means that nothing is known. \
     Example: {\"query\": \"where does Ann live\", \"after\": \"last_month\"}"
)];

/// What is looked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// The question, in plain words.
    #[schemars(length(min = 1))]
    query: String,
    /// Only this type: `semantic`, `episodic`, `procedural`, `opinion`, or a kind such as `preference` or `decision`.
    #[serde(rename = "type")]
    sort: Option<String>,
    /// Only what speaks of this person or thing, by name.
    entity_name: Option<String>,
    /// Only what happened after this: `last_week`, `last_month`, or a day as YYYY-MM-DD.
    after: Option<String>,
    /// Only what happened before this, in the same forms.
    before: Option<String>,
    /// So many at most.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

async fn search(asked: &Asked, search: Search) -> Result<Answer, Failure> {
    let caller = asked.caller("recall")?;
    let engine = &asked.app.engine;
    let now = engine.now();
    let when = times::range(search.after.as_deref(), search.before.as_deref(), now, &zone(asked))?;
    let filter = Filter { kinds: kinds(asked, search.sort.as_deref())?, ..Filter::at(now) };
    let recall = RecallRequest {
        query: search.query,
        limit: search.limit,
        filter: Some(filter),
        at: Some(now),
        ..RecallRequest::default()
    };
    let request = FindRequest { recall, entity: search.entity_name, when };
    let found = verb(asked, "recall", engine.find(&caller, request)).await?;
    asked.app.metrics.found(found.hits.len());
    let memories: Vec<Value> = found.hits.iter().map(scored).collect();
    let mut value = json!({
        "memories": memories, "intent": found.intent, "answered": found.answered, "confidence": rounded(found.confidence),
    });
    if !found.degraded.is_empty() {
        value["degraded"] = json!(found.degraded);
    }
    Ok(Answer::new(value, write).less("ask more narrowly, or for fewer with `limit`"))
}

/// A hit in brief.
pub(super) fn scored(hit: &RecallHit) -> Value {
    let mut told = brief(&hit.memory);
    if let Some(newer) = &hit.newer {
        told["newer"] =
            json!({ "id": newer.id, "content": newer.text, "saidAt": super::record::seconds(newer.said_at) });
    }
    told["score"] = rounded(hit.score);
    told
}

fn write(value: &Value) -> String {
    let mut said = lines("What is remembered, best first:", value, "memories");
    if said.is_empty() {
        said.push_str("Nothing is remembered about that.\n");
    }
    if value["answered"] == "unsure" {
        said.push_str("(These are about it, but may not answer it.)\n");
    }
    if list(value, "degraded").any(|part| part == "vector") {
        said.push_str("(Only words were compared; without a model other wordings are missed.)\n");
    }
    said
}
