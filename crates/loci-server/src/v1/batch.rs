//! How are many memories added at once?
//!
//! Each is its own transaction, in the order they came: what is told as done is durable, whatever
//! becomes of those after it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_engine::NewMemory;
use loci_types::{ErrorKind, Identifiers, Receipt};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::extract::Body;
use crate::failure::{Failure, Failures, ProblemBody};
use crate::guard::Who;

/// So many are added at once at the most.
pub(super) const MOST: usize = 500;

/// The route of batches.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(add))
}

/// Things to remember, and whose they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AddMemories {
    /// IdentifierParams they are.
    #[serde(default)]
    identifiers: Identifiers,
    /// The memories.
    #[schema(min_items = 1, max_items = 500)]
    memories: Vec<NewMemory>,
    /// Whether those after one that is refused are added all the same.
    #[serde(default)]
    continue_on_error: bool,
}

/// What became of them.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AddedMemories {
    /// What became of each, in their order; without `continueOnError` up to the first that was refused.
    results: Vec<AddedOne>,
    /// How many are remembered.
    succeeded: usize,
    /// How many were refused.
    failed: usize,
}

/// What became of one.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AddedOne {
    /// Its place in the list, from 0.
    index: usize,
    /// What happened to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<Receipt>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ProblemBody>,
}

/// Remembers many things.
///
/// They are remembered one after the other, each in a transaction of its own.
#[utoipa::path(
    post, path = "/v1/memories/batch", operation_id = "addMemories", tag = "memories",
    request_body(content = AddMemories, example = json!({
        "identifiers": { "userId": "ann" },
        "memories": [{ "content": "Ann lives in Graz." }, { "content": "Ann plays chess on Fridays." }]
    })),
    responses((status = 200, description = "What became of each", body = AddedMemories), Failures),
    security(("key" = ["writer"]))
)]
async fn add(
    State(app): State<Arc<App>>,
    who: Who,
    Body(batch): Body<AddMemories>,
) -> Result<Json<AddedMemories>, Failure> {
    within("memories", batch.memories.len(), "remember")?;
    let caller = who.caller(batch.identifiers, "remember")?;
    let mut added = AddedMemories { results: Vec::new(), succeeded: 0, failed: 0 };
    for (index, memory) in batch.memories.into_iter().enumerate() {
        match app.verb("remember", app.engine.remember(&caller, memory)).await {
            Ok(receipt) => {
                added.succeeded += 1;
                added.results.push(AddedOne { index, receipt: Some(receipt), problem: None });
            }
            Err(failure) => {
                added.failed += 1;
                added.results.push(AddedOne { index, receipt: None, problem: Some(failure.body()) });
                if !batch.continue_on_error {
                    break;
                }
            }
        }
    }
    Ok(Json(added))
}

/// Refuses a list that is empty or too long.
pub(super) fn within(field: &str, length: usize, operation: &str) -> Result<(), Failure> {
    if (1..=MOST).contains(&length) {
        return Ok(());
    }
    let message = format!("{field} has {length} entries, but must have between 1 and {MOST}");
    Err(Failure::new(ErrorKind::InvalidInput, message, operation).field(field))
}
