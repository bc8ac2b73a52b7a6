//! Adds many memories at once.
//!
//! Each is a transaction of its own, in the order given: what is answered as added is durable, whatever happens to
//! those after it. Their texts are embedded together.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_engine::{Caller, NewMemory};
use loci_types::{Durability, ErrorKind, Identifier, MemoryId, Outcome, RequestScope};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::memories::degraded;
use crate::App;
use crate::extract::Scoped;
use crate::failure::{Failure, Failures, ProblemBody};
use crate::guard::Principal;

/// Maximum number of entries of a batch.
pub(super) const MOST: usize = 500;

/// The route of batches.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(add))
}

/// Memories to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MemoryBatch {
    /// The memories. The `identifiers` of one are laid over those of the batch.
    #[schema(min_items = 1, max_items = 500)]
    memories: Vec<Scoped<NewMemory>>,
    /// Whether the memories after one that fails are added all the same.
    #[serde(default)]
    #[schema(default = false)]
    continue_on_error: bool,
}

/// The results of a batch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct BatchResult {
    /// The result of each memory, in order. Without `continueOnError`, the first failure is the last result.
    data: Vec<BatchEntry>,
    /// The number of memories that were added or known.
    succeeded: usize,
    /// The number of memories that failed.
    failed: usize,
}

/// The result of one memory of a batch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct BatchEntry {
    /// The position in the batch, from 0.
    index: usize,
    /// The id of the memory; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<uuid::Uuid>)]
    id: Option<MemoryId>,
    /// What the write did; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<Outcome>,
    /// The version of the memory; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    /// Whether a vector was computed for a new memory; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    embedding_generated: Option<bool>,
    /// Whether a new vector was computed because the text changed; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    embedding_regenerated: Option<bool>,
    /// How durable the write is; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    durability: Option<Durability>,
    /// The names of the patterns that were masked before anything was stored.
    redacted: Vec<String>,
    /// Parts of the work that could not be done now, for example `vector`.
    degraded: Vec<String>,
    /// Why it failed; absent if it succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ProblemBody>,
}

/// Adds up to 500 memories, one after the other, each in a transaction of its own.
#[utoipa::path(
    post, path = "/v1/memories/batch", operation_id = "addMemories", tag = "memories",
    request_body(content = Scoped<MemoryBatch>, example = json!({
        "identifiers": { "userId": "ann" },
        "memories": [
            { "content": "Ann lives in Graz." },
            { "content": "Ben plays chess on Fridays.", "identifiers": { "userId": "ben" } }
        ]
    })),
    responses((status = 200, description = "The result of each memory", body = BatchResult), Failures),
    security(("key" = ["writer"]))
)]
async fn add(
    State(app): State<Arc<App>>,
    principal: Principal,
    Scoped { scope, body: batch }: Scoped<MemoryBatch>,
) -> Result<Json<BatchResult>, Failure> {
    within("memories", batch.memories.len(), "addMemories")?;
    // A credential that does not admit the batch itself is refused as a whole.
    principal.caller(scope.clone(), "addMemories")?;
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for (index, item) in batch.memories.into_iter().enumerate() {
        match admit(&principal, &scope, item) {
            Ok(item) => accepted.push((index, item)),
            Err(failure) => {
                refused.push((index, failure));
                if !batch.continue_on_error {
                    break;
                }
            }
        }
    }
    let (places, items): (Vec<usize>, Vec<_>) = accepted.into_iter().unzip();
    let work = async { Ok(app.engine.remember_many(items, batch.continue_on_error).await) };
    let results = app.run_operation("addMemories", work).await?;
    let stopped = results.len() < places.len();
    let mut data: Vec<BatchEntry> = Vec::with_capacity(places.len() + refused.len());
    for (index, result) in places.into_iter().zip(results) {
        data.push(match result {
            Ok(receipt) => BatchEntry {
                index,
                id: Some(receipt.id),
                event: Some(receipt.event),
                version: Some(receipt.version),
                embedding_generated: Some(receipt.embedding_generated),
                embedding_regenerated: Some(receipt.embedding_regenerated),
                durability: Some(receipt.durability),
                degraded: degraded(&app, &receipt),
                redacted: receipt.redacted,
                error: None,
            },
            Err(error) => failed(index, Failure::of(error.problem("addMemories"))),
        });
    }
    if !stopped {
        data.extend(refused.into_iter().map(|(index, failure)| failed(index, failure)));
        data.sort_by_key(|entry| entry.index);
        if !batch.continue_on_error
            && let Some(first) = data.iter().position(|entry| entry.error.is_some())
        {
            data.truncate(first + 1);
        }
    }
    let failed = data.iter().filter(|entry| entry.error.is_some()).count();
    Ok(Json(BatchResult { succeeded: data.len() - failed, failed, data }))
}

/// The caller and the memory of one entry.
fn admit(
    principal: &Principal,
    common: &RequestScope,
    item: Scoped<NewMemory>,
) -> Result<(Caller, NewMemory), Failure> {
    let Scoped { scope: own, body } = item;
    if body.durability == Some(Durability::Batched) {
        let message = "a batch is written before it is answered; durability must be left out or `durable`";
        return Err(Failure::new(ErrorKind::InvalidInput, message, "addMemories").field("durability"));
    }
    let mut scope = common.clone();
    scope.everyone |= own.everyone;
    for which in Identifier::ALL {
        if let Some(value) = own.identifiers.get(which) {
            scope.identifiers.set(which, Some(value.to_owned()));
        }
    }
    Ok((principal.caller(scope, "addMemories")?, body))
}

fn failed(index: usize, failure: Failure) -> BatchEntry {
    BatchEntry {
        index,
        id: None,
        event: None,
        version: None,
        embedding_generated: None,
        embedding_regenerated: None,
        durability: None,
        redacted: Vec::new(),
        degraded: Vec::new(),
        error: Some(failure.body()),
    }
}

/// Refuses a list that is empty or too long.
pub(super) fn within(field: &str, length: usize, operation: &str) -> Result<(), Failure> {
    if (1..=MOST).contains(&length) {
        return Ok(());
    }
    let message = format!("{field} has {length} entries, but must have between 1 and {MOST}");
    Err(Failure::new(ErrorKind::InvalidInput, message, operation).field(field))
}
