//! `POST /batch`: writes many entries.
//!
//! Entries are written one after the other, each completely or not at all. A failure is reported with the index of its
//! entry. Without `continue_on_error` the first failure ends the batch; entries before it stay written, and a batch with an
//! entry that cannot be read is refused as a whole.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_engine::{Caller, Update};
use loci_types::{AccessPolicy, Error, ErrorKind, Memory, MemoryId, State as MemoryState};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::entries::{EntryStatus, NewEntryOptions, create_entry, update_entry};
use super::entry::{EntryInput, EntrySource, MetadataInput};
use super::failure::FailureResponses;
use super::layer_view::LayerSelector;
use super::{BATCH, run_operation};
use crate::App;
use crate::extract::Body;
use crate::failure::{Failure, to_failure};
use crate::guard::Principal;

/// A batch of entries.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OpenSpecBatch)]
pub(super) struct BatchRequest {
    /// What to do with the entries.
    operation: BatchOperation,
    /// The entries.
    #[schema(min_items = 1, max_items = 500, value_type = Vec<BatchItem>)]
    entries: Vec<Value>,
    /// Options for all entries.
    #[serde(default)]
    options: BatchOptions,
}

/// What to do with the entries of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OpenSpecBatchOperation)]
enum BatchOperation {
    /// Create new entries.
    Create,
    /// Change existing entries.
    Update,
    /// Delete entries.
    Delete,
    /// Change entries whose id exists, and create the others.
    Upsert,
}

/// One entry of a batch.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = OpenSpecBatchEntry)]
struct BatchItem {
    /// The id of an existing entry, or of the entry that an upsert creates.
    #[schema(value_type = Option<uuid::Uuid>)]
    id: Option<MemoryId>,
    /// The expected version. A different version in the store is a conflict.
    version: Option<u64>,
    /// The text.
    content: Option<String>,
    /// The metadata of the entry.
    metadata: MetadataInput,
    /// The source of the entry.
    source: Option<EntrySource>,
    /// Which callers within its layer may see the entry.
    access_policy: Option<AccessPolicy>,
    /// The layer of this entry. Default: the layer of the batch.
    layer: Option<LayerSelector>,
}

/// Options of a batch.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = OpenSpecBatchOptions)]
struct BatchOptions {
    /// Whether to continue after a failure.
    continue_on_error: bool,
    /// Whether vectors are computed before the answer. Otherwise they are computed soon after.
    generate_embedding: bool,
    /// Whether deleted entries are erased at once and for good.
    hard_delete: bool,
    /// The layer and the identifiers of the entries.
    layer: LayerSelector,
}

impl Default for BatchOptions {
    fn default() -> Self {
        Self { continue_on_error: false, generate_embedding: true, hard_delete: false, layer: LayerSelector::default() }
    }
}

/// The result of a batch.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecBatchAnswer)]
pub(super) struct BatchAnswer {
    /// The id of the request.
    operation_id: String,
    /// Whether all entries were written.
    status: BatchStatus,
    /// The results of the entries.
    results: BatchResults,
}

/// How many entries of a batch were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OpenSpecBatchStatus)]
enum BatchStatus {
    /// All entries.
    Completed,
    /// Some entries.
    Partial,
    /// No entry.
    Failed,
}

/// The results of the entries of a batch.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = OpenSpecBatchResults)]
struct BatchResults {
    /// Number of entries that were written.
    succeeded: usize,
    /// Number of entries that failed.
    failed: usize,
    /// Number of entries that were not tried because an earlier one failed.
    skipped: usize,
    /// The entries that were written.
    entries: Vec<BatchItemResult>,
    /// The entries that failed.
    errors: Vec<BatchItemError>,
}

/// The result of one entry.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecBatchDone)]
struct BatchItemResult {
    /// The index of the entry in the batch, from 0.
    index: usize,
    /// The id of the entry.
    entry_id: MemoryId,
    /// The present version of the entry; null if it was erased.
    #[schema(required)]
    version: Option<u64>,
    /// What happened to the entry.
    status: EntryStatus,
}

/// The error of one entry.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenSpecBatchError)]
struct BatchItemError {
    /// The index of the entry in the batch, from 0.
    index: usize,
    /// The error code.
    code: String,
    /// What went wrong, as a sentence.
    message: String,
}

/// Writes a batch of entries.
#[utoipa::path(
    post, path = "/openspec/v1/knowledge/batch", operation_id = "openspecBatch", tag = "openspec",
    request_body = BatchRequest,
    responses((status = 200, description = "The results", body = BatchAnswer), FailureResponses),
    security(("key" = ["writer"]))
)]
pub(super) async fn batch(
    State(app): State<Arc<App>>,
    principal: Principal,
    Body(batch): Body<BatchRequest>,
) -> Result<Json<BatchAnswer>, Failure> {
    let many = batch.entries.len();
    if many == 0 || many > BATCH {
        let error = Error::invalid("entries", format!("the batch has {many} entries, but must have 1 to {BATCH}"));
        return Err(to_failure(&error.hint("send several batches"), "batch"));
    }
    let read = batch.entries.iter().enumerate().map(|(index, entry)| item(index, entry));
    let read: Vec<Result<BatchItem, Failure>> = match batch.options.continue_on_error {
        true => read.collect(),
        // Nothing is written of a batch that cannot be read.
        false => read.collect::<Result<Vec<_>, _>>()?.into_iter().map(Ok).collect(),
    };
    let mut results = BatchResults::default();
    for (index, item) in read.into_iter().enumerate() {
        if results.failed > 0 && !batch.options.continue_on_error {
            results.skipped += 1;
            continue;
        }
        let written = match item {
            Ok(item) => write_item(&app, &principal, batch.operation, item, &batch.options).await,
            Err(failure) => Err(failure),
        };
        match written {
            Ok((entry_id, version, status)) => {
                results.succeeded += 1;
                results.entries.push(BatchItemResult { index, entry_id, version, status });
            }
            Err(failure) => {
                let problem = failure.problem();
                results.failed += 1;
                let (code, message) = (problem.code.clone(), problem.message.clone());
                results.errors.push(BatchItemError { index, code, message });
            }
        }
    }
    let status = match (results.succeeded, results.failed) {
        (_, 0) => BatchStatus::Completed,
        (0, _) => BatchStatus::Failed,
        _ => BatchStatus::Partial,
    };
    Ok(Json(BatchAnswer { operation_id: principal.request().to_owned(), status, results }))
}

/// Reads one entry.
fn item(index: usize, entry: &Value) -> Result<BatchItem, Failure> {
    crate::extract::json(entry.to_string().as_bytes()).map_err(|failure| failure.within(&format!("entries[{index}]")))
}

async fn write_item(
    app: &App,
    principal: &Principal,
    operation: BatchOperation,
    item: BatchItem,
    options: &BatchOptions,
) -> Result<(MemoryId, Option<u64>, EntryStatus), Failure> {
    let BatchItem { id, version, content, metadata, source, access_policy, layer } = item;
    let entry = EntryInput { content, metadata, source, access_policy };
    let place = layer.as_ref().unwrap_or(&options.layer);
    let caller = principal.caller(place.scope(), "batch")?;
    let how = NewEntryOptions { embed: options.generate_embedding, ..NewEntryOptions::default() };
    let missing = || to_failure(&Error::invalid("id", "the entry has no id"), "batch");
    let written = match operation {
        BatchOperation::Create if id.is_some() => {
            let error = Error::invalid("id", "a new entry must not have an id").hint("leave it out, or use upsert");
            return Err(to_failure(&error, "batch"));
        }
        BatchOperation::Create => create_entry(app, &caller, entry, place, how).await?,
        BatchOperation::Update => update_entry(app, &caller, id.ok_or_else(missing)?, entry, place, version).await?,
        BatchOperation::Delete => {
            return delete_entry(app, &caller, id.ok_or_else(missing)?, version, options.hard_delete).await;
        }
        BatchOperation::Upsert => match id {
            Some(id) => match existing(app, &caller, id).await? {
                Some(memory) => {
                    let deleted = memory.state == MemoryState::SoftDeleted;
                    if deleted {
                        restore_for(app, &caller, &memory, &entry, version).await?;
                    }
                    update_entry(app, &caller, id, entry, place, version.filter(|_| !deleted)).await?
                }
                None => create_entry(app, &caller, entry, place, NewEntryOptions { id: Some(id), ..how }).await?,
            },
            None => create_entry(app, &caller, entry, place, how).await?,
        },
    };
    Ok((written.entry.id, Some(written.entry.version), written.status))
}

async fn delete_entry(
    app: &App,
    caller: &Caller,
    id: MemoryId,
    version: Option<u64>,
    hard: bool,
) -> Result<(MemoryId, Option<u64>, EntryStatus), Failure> {
    if hard {
        run_operation(app, "deleteMemory", app.engine.erase(caller, id, version, None)).await?;
        return Ok((id, None, EntryStatus::Deleted));
    }
    let receipt = run_operation(app, "deleteMemory", app.engine.forget(caller, id, version, None)).await?;
    Ok((id, Some(receipt.version), EntryStatus::Deleted))
}

/// The entry with this id, deleted or not.
async fn existing(app: &App, caller: &Caller, id: MemoryId) -> Result<Option<Memory>, Failure> {
    match app.engine.get(caller, id).await {
        Ok(memory) => Ok(Some(memory)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::of(error.problem("batch"))),
    }
}

/// Restores a deleted entry, so that it can be changed, if the expected version is that of the entry and the new text can be
/// stored.
async fn restore_for(
    app: &App,
    caller: &Caller,
    deleted: &Memory,
    entry: &EntryInput,
    version: Option<u64>,
) -> Result<(), Failure> {
    if let Some(expected) = version.filter(|expected| *expected != deleted.version) {
        let message = format!("the entry has version {}, and {expected} was expected", deleted.version);
        let error = Error::new(ErrorKind::VersionConflict, message).at("version");
        return Err(to_failure(&error.hint("leave the version out, or give the present one"), "batch"));
    }
    let changes = Update { content: entry.content.clone(), ..Update::default() };
    app.engine.check_update(caller, &changes).await.map_err(|error| Failure::of(error.problem("batch")))?;
    run_operation(app, "restoreMemory", app.engine.restore(caller, deleted.id)).await.map(drop)
}
