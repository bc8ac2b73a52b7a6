//! Deletes or changes all memories that match a filter. Both are dry runs unless the caller says otherwise.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_engine::{Caller, Selection, SelectionOutcome, Update};
use loci_types::{ErrorKind, MemoryId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::filter::{MemoryFilter, in_body};
use crate::App;
use crate::extract::Scoped;
use crate::failure::{Failure, Failures, ProblemBody};
use crate::guard::Principal;

/// The routes that act on all matches of a filter.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(delete)).routes(routes!(update))
}

/// Memories to delete.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FilterDeletion {
    /// The memories that are deleted. A filter without conditions is refused unless `all` is true.
    filter: MemoryFilter,
    /// The reason, which is recorded in the history of each memory.
    #[schema(max_length = 1024)]
    reason: Option<String>,
    /// Whether nothing is deleted, and the answer only tells what would be.
    #[serde(default = "super::yes")]
    #[schema(default = true)]
    dry_run: bool,
    /// The number of matches that the caller expects. If there are more or fewer, nothing is deleted.
    expected: Option<u64>,
    /// Whether a filter without conditions is allowed, which selects all memories of the scope. Default: false.
    #[serde(default)]
    #[schema(default = false)]
    all: bool,
}

/// Memories to change.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FilterUpdate {
    /// The memories that are changed. A filter without conditions is refused unless `all` is true.
    filter: MemoryFilter,
    /// The new values, the same for each memory. `version` and `content` cannot be given.
    changes: Update,
    /// Whether nothing is changed, and the answer only tells what would be.
    #[serde(default = "super::yes")]
    #[schema(default = true)]
    dry_run: bool,
    /// The number of matches that the caller expects. If there are more or fewer, nothing is changed.
    expected: Option<u64>,
    /// Whether a filter without conditions is allowed, which selects all memories of the scope. Default: false.
    #[serde(default)]
    #[schema(default = false)]
    all: bool,
}

/// The result of an action on all matches of a filter.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FilterResult {
    /// The number of memories that matched.
    matched: u64,
    /// The number of memories that were changed; 0 in a dry run.
    changed: u64,
    /// Whether it was a dry run.
    dry_run: bool,
    /// Whether there were more matches than the 10,000 that one call changes. Call again for the rest.
    truncated: bool,
    /// The ids of the first 20 matches, newest first.
    #[schema(value_type = Vec<uuid::Uuid>)]
    data: Vec<MemoryId>,
    /// The memories that could not be changed; at most 100 of them.
    failed: Vec<FailedMemory>,
}

impl FilterResult {
    fn of(outcome: SelectionOutcome, dry_run: bool, operation: &str) -> Self {
        let SelectionOutcome { matched, changed, truncated, first, failed } = outcome;
        let failed = failed
            .into_iter()
            .map(|(id, error)| FailedMemory { id, error: Failure::of(error.problem(operation)).body() });
        Self { matched, changed, dry_run, truncated, data: first, failed: failed.collect() }
    }
}

/// A memory that could not be changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FailedMemory {
    /// The id of the memory.
    #[schema(value_type = uuid::Uuid)]
    id: MemoryId,
    /// Why it failed.
    error: ProblemBody,
}

/// Deletes all memories that match a filter, softly: they can be restored until they are purged.
#[utoipa::path(
    post, path = "/v1/memories/delete", operation_id = "deleteMemories", tag = "memories",
    request_body(content = Scoped<FilterDeletion>, example = json!({
        "identifiers": { "userId": "ann" }, "filter": { "tags": ["draft"], "createdBefore": "2026-01-31" },
        "reason": "drafts of last year", "dryRun": true
    })),
    responses((status = 200, description = "What was deleted, or would be", body = FilterResult), Failures),
    security(("key" = ["writer"]))
)]
async fn delete(
    State(app): State<Arc<App>>,
    principal: Principal,
    Scoped { scope, body }: Scoped<FilterDeletion>,
) -> Result<Json<FilterResult>, Failure> {
    const OPERATION: &str = "deleteMemories";
    let FilterDeletion { filter, reason, dry_run, expected, all } = body;
    let caller = principal.caller(scope, OPERATION)?;
    check_conditions(&filter, all, &caller, OPERATION)?;
    let filter = filter.resolve(&app.engine, &caller, app.engine.now(), OPERATION).await.map_err(in_body)?;
    let selection = Selection { filter, dry_run, expected };
    let work = app.engine.forget_selection(&caller, &selection, reason.as_deref());
    let outcome = app.run_operation(OPERATION, work).await.map_err(in_body)?;
    Ok(Json(FilterResult::of(outcome, dry_run, OPERATION)))
}

/// Changes all memories that match a filter, each in the same way.
#[utoipa::path(
    post, path = "/v1/memories/update", operation_id = "updateMemories", tag = "memories",
    request_body(content = Scoped<FilterUpdate>, example = json!({
        "identifiers": { "userId": "ann" }, "filter": { "kind": ["preference"] }, "changes": { "pinned": true },
        "dryRun": false, "expected": 3
    })),
    responses((status = 200, description = "What was changed, or would be", body = FilterResult), Failures),
    security(("key" = ["writer"]))
)]
async fn update(
    State(app): State<Arc<App>>,
    principal: Principal,
    Scoped { scope, body }: Scoped<FilterUpdate>,
) -> Result<Json<FilterResult>, Failure> {
    const OPERATION: &str = "updateMemories";
    let FilterUpdate { filter, changes, dry_run, expected, all } = body;
    let refuse = |field: &str, message: &str| {
        Err(Failure::new(ErrorKind::InvalidInput, format!("{field}: {message}"), OPERATION).field(field))
    };
    if changes.version.is_some() {
        return refuse("changes.version", "the memories have different versions");
    }
    if changes.content.is_some() {
        return refuse("changes.content", "the same text for several memories is not a change of each");
    }
    if changes == Update::default() {
        return refuse("changes", "there is nothing to change");
    }
    let caller = principal.caller(scope, OPERATION)?;
    check_conditions(&filter, all, &caller, OPERATION)?;
    let filter = filter.resolve(&app.engine, &caller, app.engine.now(), OPERATION).await.map_err(in_body)?;
    // The filter and the changes have fields of the same names: each is checked where its name can be given.
    app.engine.check_update(&caller, &changes).await.map_err(|error| {
        let failure = Failure::of(error.problem(OPERATION));
        if error.kind() == ErrorKind::InvalidInput { failure.within("changes") } else { failure }
    })?;
    let selection = Selection { filter, dry_run, expected };
    let work = app.engine.update_selection(&caller, &selection, &changes);
    let outcome = app.run_operation(OPERATION, work).await.map_err(in_body)?;
    Ok(Json(FilterResult::of(outcome, dry_run, OPERATION)))
}

/// Refuses a request without a scope, with which an admin would reach the memories of every user, and a filter without
/// conditions unless `all` is set.
fn check_conditions(filter: &MemoryFilter, all: bool, caller: &Caller, operation: &str) -> Result<(), Failure> {
    if caller.identifiers.is_empty() {
        return Err(Failure::new(ErrorKind::MissingIdentifier, "a change by filter needs a scope", operation)
            .field("identifiers")
            .hint("name the user, agent, project or other scope whose memories are changed"));
    }
    if filter.is_open() && !all {
        return Err(Failure::new(ErrorKind::InvalidInput, "filter has no conditions", operation)
            .field("filter")
            .hint("give a condition, or \"all\": true for all memories of the scope"));
    }
    Ok(())
}
