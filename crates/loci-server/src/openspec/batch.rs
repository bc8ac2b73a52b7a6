//! How are many entries written at once?
//!
//! One after the other, each whole or not at all. What fails is told by its place; unless it is to go
//! on, the first failure ends the batch, and what was done before stays done and is told.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_engine::Caller;
use loci_types::{AccessPolicy, Error, ErrorKind, MemoryId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::entries::{Status, changed, made};
use super::place::Where;
use super::shape::{EntrySource, Given, GivenMetadata};
use super::told::ToldFailures;
use super::{BATCH, verb};
use crate::App;
use crate::extract::Body;
use crate::failure::{Failure, word};
use crate::guard::Who;

/// Many entries.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OpenSpecBatch)]
pub(super) struct Batch {
    /// What is done with them.
    operation: Operation,
    /// The entries.
    #[schema(min_items = 1, max_items = 500)]
    entries: Vec<Item>,
    /// How.
    #[serde(default)]
    options: Options,
}

/// What is done with entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OpenSpecBatchOperation)]
enum Operation {
    /// They are new.
    Create,
    /// They are there, and change.
    Update,
    /// They are removed.
    Delete,
    /// Those with the id of one that is there change; the others are new.
    Upsert,
}

/// One of many entries.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = OpenSpecBatchEntry)]
struct Item {
    /// Which, unless it is new.
    #[schema(value_type = Option<uuid::Uuid>)]
    id: Option<MemoryId>,
    /// The version that the caller saw.
    version: Option<u64>,
    /// The text.
    content: Option<String>,
    /// What is told about it.
    metadata: GivenMetadata,
    /// Where it came from.
    source: Option<EntrySource>,
    /// Who, within its layer, may see it.
    access_policy: Option<AccessPolicy>,
    /// Where it lies, if not where the batch says.
    layer: Option<Where>,
}

/// How many entries are written.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = OpenSpecBatchOptions)]
struct Options {
    /// Whether it goes on after a failure.
    continue_on_error: bool,
    /// Whether vectors are made while the caller waits; if not, they follow soon after.
    generate_embedding: bool,
    /// Whether what is deleted is gone at once and for good.
    hard_delete: bool,
    /// Where entries lie, and whose they are.
    layer: Where,
}

impl Default for Options {
    fn default() -> Self {
        Self { continue_on_error: false, generate_embedding: true, hard_delete: false, layer: Where::default() }
    }
}

/// What became of a batch.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecBatchAnswer)]
pub(super) struct Answer {
    /// The name of this batch.
    operation_id: String,
    /// Whether all of it was done.
    status: Done,
    /// What became of the entries.
    results: Results,
}

/// How much of a batch was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OpenSpecBatchStatus)]
enum Done {
    /// All of it.
    Completed,
    /// Some of it.
    Partial,
    /// Nothing.
    Failed,
}

/// What became of the entries of a batch.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = OpenSpecBatchResults)]
struct Results {
    /// How many were done.
    succeeded: usize,
    /// How many failed.
    failed: usize,
    /// How many were not tried, because one before them failed.
    skipped: usize,
    /// What was done.
    entries: Vec<One>,
    /// What failed.
    errors: Vec<Wrong>,
}

/// What became of one entry.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecBatchDone)]
struct One {
    /// Its place in the batch, from 0.
    index: usize,
    /// Its id.
    entry_id: MemoryId,
    /// Its version now; none: it is gone.
    #[schema(required)]
    version: Option<u64>,
    /// What happened to it.
    status: Status,
}

/// Why one entry failed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecBatchError)]
struct Wrong {
    /// Its place in the batch, from 0.
    index: usize,
    /// The public code.
    code: String,
    /// A sentence for people.
    message: String,
}

/// Writes many entries.
#[utoipa::path(
    post, path = "/openspec/v1/knowledge/batch", operation_id = "openspecBatch", tag = "openspec",
    request_body = Batch,
    responses((status = 200, description = "What became of them", body = Answer), ToldFailures),
    security(("key" = ["writer"]))
)]
pub(super) async fn batch(
    State(app): State<Arc<App>>,
    who: Who,
    Body(batch): Body<Batch>,
) -> Result<Json<Answer>, Failure> {
    let many = batch.entries.len();
    if many == 0 || many > BATCH {
        let error = Error::invalid("entries", format!("there are {many} entries, but there must be 1 to {BATCH}"));
        return Err(word(&error.hint("send several batches"), "batch"));
    }
    let mut results = Results::default();
    for (index, item) in batch.entries.into_iter().enumerate() {
        if results.failed > 0 && !batch.options.continue_on_error {
            results.skipped += 1;
            continue;
        }
        match one(&app, &who, batch.operation, item, &batch.options).await {
            Ok((entry_id, version, status)) => {
                results.succeeded += 1;
                results.entries.push(One { index, entry_id, version, status });
            }
            Err(failure) => {
                let problem = failure.problem();
                results.failed += 1;
                let (code, message) = (problem.code.clone(), problem.message.clone());
                results.errors.push(Wrong { index, code, message });
            }
        }
    }
    let status = match (results.succeeded, results.failed) {
        (_, 0) => Done::Completed,
        (0, _) => Done::Failed,
        _ => Done::Partial,
    };
    Ok(Json(Answer { operation_id: who.request().to_owned(), status, results }))
}

async fn one(
    app: &App,
    who: &Who,
    operation: Operation,
    item: Item,
    options: &Options,
) -> Result<(MemoryId, Option<u64>, Status), Failure> {
    let Item { id, version, content, metadata, source, access_policy, layer } = item;
    let entry = Given { content, metadata, source, access_policy };
    let place = layer.as_ref().unwrap_or(&options.layer);
    let caller = who.caller(place.identifiers(), "batch")?;
    let missing = || word(&Error::invalid("id", "the entry has no id"), "batch");
    let written = match operation {
        Operation::Create if id.is_some() => {
            let error = Error::invalid("id", "a new entry is given its id").hint("leave it out, or use upsert");
            return Err(word(&error, "batch"));
        }
        Operation::Create => made(app, &caller, entry, place, options.generate_embedding).await?,
        Operation::Update => changed(app, &caller, id.ok_or_else(missing)?, entry, place, version).await?,
        Operation::Delete => return removed(app, &caller, id.ok_or_else(missing)?, version, options.hard_delete).await,
        Operation::Upsert => match id {
            Some(id) if is_there(app, &caller, id).await? => changed(app, &caller, id, entry, place, version).await?,
            _ => made(app, &caller, entry, place, options.generate_embedding).await?,
        },
    };
    Ok((written.entry.id, Some(written.entry.version), written.status))
}

async fn removed(
    app: &App,
    caller: &Caller,
    id: MemoryId,
    version: Option<u64>,
    hard: bool,
) -> Result<(MemoryId, Option<u64>, Status), Failure> {
    if hard {
        verb(app, "deleteMemory", app.engine.erase(caller, id, version, None)).await?;
        return Ok((id, None, Status::Deleted));
    }
    let receipt = verb(app, "deleteMemory", app.engine.forget(caller, id, version, None)).await?;
    Ok((id, Some(receipt.version), Status::Deleted))
}

async fn is_there(app: &App, caller: &Caller, id: MemoryId) -> Result<bool, Failure> {
    match app.engine.get(caller, id).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::of(error.problem("batch"))),
    }
}
