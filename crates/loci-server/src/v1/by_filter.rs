//! Deletes or changes all memories that match a filter.
//!
//! Both are dry runs unless the caller says otherwise. Each memory is changed by itself in the ordinary way, so that
//! its history shows the change, undo takes it back, and policy is enforced. Matches are read page by page, newest
//! first, so that memory use does not grow with their number.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use futures::{StreamExt, stream};
use loci_engine::{Caller, ListRequest, Update};
use loci_types::{ErrorKind, Filter, Identifiers, MemoryId, Outcome, Receipt};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::filter::{MemoryFilter, in_body};
use crate::App;
use crate::extract::Scoped;
use crate::failure::{Failure, Failures, ProblemBody};
use crate::guard::Who;

/// Maximum number of memories that one call changes.
const MOST: u64 = 10_000;
/// Number of matches that are read at once.
const PAGE: usize = 500;
/// Number of memories that are changed at the same time: the store commits them together.
const AT_ONCE: usize = 16;
/// Number of ids in the answer.
const SHOWN: usize = 20;
/// Maximum number of characters of a reason.
const LONGEST_REASON: usize = 1_024;
/// Maximum number of failures in the answer.
const FAILURES: usize = 100;

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
    #[serde(default = "yes")]
    #[schema(default = true)]
    dry_run: bool,
    /// The number of matches that the caller expects. If there are more or fewer, nothing is deleted.
    expected: Option<u64>,
    /// Whether a filter without conditions is meant: all memories of the scope.
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
    #[serde(default = "yes")]
    #[schema(default = true)]
    dry_run: bool,
    /// The number of matches that the caller expects. If there are more or fewer, nothing is changed.
    expected: Option<u64>,
    /// Whether a filter without conditions is meant: all memories of the scope.
    #[serde(default)]
    #[schema(default = false)]
    all: bool,
}

fn yes() -> bool {
    true
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
    who: Who,
    Scoped { identifiers, body }: Scoped<FilterDeletion>,
) -> Result<Json<FilterResult>, Failure> {
    const OPERATION: &str = "deleteMemories";
    let FilterDeletion { filter, reason, dry_run, expected, all } = body;
    if reason.as_deref().is_some_and(|reason| reason.contains('\0') || reason.chars().count() > LONGEST_REASON) {
        let message = format!("reason must have at most {LONGEST_REASON} characters, and no NUL character");
        return Err(Failure::new(ErrorKind::InvalidInput, message, OPERATION).field("reason"));
    }
    let filter = closed(filter, all, &identifiers, &app, OPERATION)?;
    let caller = who.caller(identifiers, OPERATION)?;
    let selection = Selection { filter, dry_run, expected, operation: OPERATION };
    let delete = |id| app.engine.forget(&caller, id, None, reason.as_deref());
    selection.for_each(&app, &caller, delete).await.map(Json)
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
    who: Who,
    Scoped { identifiers, body }: Scoped<FilterUpdate>,
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
    let filter = closed(filter, all, &identifiers, &app, OPERATION)?;
    let caller = who.caller(identifiers, OPERATION)?;
    app.engine.check_update(&caller, &changes).await.map_err(|error| {
        let failure = Failure::of(error.problem(OPERATION));
        if error.kind() == ErrorKind::InvalidInput { failure.within("changes") } else { failure }
    })?;
    let selection = Selection { filter, dry_run, expected, operation: OPERATION };
    let update = |id| app.engine.update(&caller, id, changes.clone());
    selection.for_each(&app, &caller, update).await.map(Json)
}

/// The filter, if it has conditions or the caller has said that it is meant to have none. All memories of nobody in
/// particular would be those of everyone, so a scope must be named then.
fn closed(
    filter: MemoryFilter,
    all: bool,
    identifiers: &Identifiers,
    app: &App,
    operation: &str,
) -> Result<Filter, Failure> {
    if filter.is_open() && all && identifiers.is_empty() {
        return Err(Failure::new(ErrorKind::MissingIdentifier, "\"all\" needs a scope", operation)
            .field("identifiers")
            .hint("name the user, agent, project … whose memories are meant"));
    }
    if filter.is_open() && !all {
        return Err(Failure::new(ErrorKind::InvalidInput, "filter has no conditions", operation)
            .field("filter")
            .hint("give a condition, or \"all\": true if all memories of the scope are meant"));
    }
    Ok(filter.at(app.engine.now()))
}

/// An action on all matches of a filter.
struct Selection {
    filter: Filter,
    dry_run: bool,
    expected: Option<u64>,
    operation: &'static str,
}

impl Selection {
    /// Does the work for each match, unless it is a dry run.
    async fn for_each<W>(
        self,
        app: &App,
        caller: &Caller,
        work: impl Fn(MemoryId) -> W,
    ) -> Result<FilterResult, Failure>
    where
        W: Future<Output = loci_engine::Result<Receipt>>,
    {
        let matched = app.verb(self.operation, app.engine.count(caller, &self.filter)).await.map_err(in_body)?;
        if let Some(expected) = self.expected.filter(|expected| *expected != matched) {
            let message = format!("{matched} memories match, but {expected} were expected; nothing was changed");
            return Err(Failure::new(ErrorKind::Conflict, message, self.operation)
                .field("expected")
                .hint("make a dry run to see which memories match"));
        }
        let mut result = FilterResult {
            matched,
            changed: 0,
            dry_run: self.dry_run,
            truncated: matched > MOST,
            data: Vec::new(),
            failed: Vec::new(),
        };
        let (mut cursor, mut left) = (None, MOST as usize);
        loop {
            let limit = Some(if self.dry_run { SHOWN } else { PAGE.min(left) });
            let request = ListRequest { layers: None, filter: Some(self.filter.clone()), cursor, limit };
            let page = app.verb(self.operation, app.engine.list(caller, request)).await?;
            let ids: Vec<MemoryId> = page.memories.iter().map(|memory| memory.id).collect();
            let shown = SHOWN.saturating_sub(result.data.len());
            result.data.extend(ids.iter().take(shown));
            if self.dry_run {
                return Ok(result);
            }
            left -= ids.len();
            self.change(&ids, &work, &mut result).await;
            cursor = page.next_cursor;
            if cursor.is_none() || left == 0 {
                return Ok(result);
            }
        }
    }

    /// Does the work for these memories, some of them at a time.
    async fn change<W>(&self, ids: &[MemoryId], work: impl Fn(MemoryId) -> W, result: &mut FilterResult)
    where
        W: Future<Output = loci_engine::Result<Receipt>>,
    {
        let done = stream::iter(ids.to_vec()).map(|id| {
            let work = work(id);
            async move { (id, work.await) }
        });
        let mut done = done.buffer_unordered(AT_ONCE);
        while let Some((id, done)) = done.next().await {
            self.note(id, done, result);
        }
    }

    fn note(&self, id: MemoryId, done: loci_engine::Result<Receipt>, result: &mut FilterResult) {
        match done {
            Ok(receipt) if receipt.event == Outcome::None => {}
            Ok(_) => result.changed += 1,
            Err(error) if result.failed.len() < FAILURES => {
                result.failed.push(FailedMemory { id, error: Failure::of(error.problem(self.operation)).body() });
            }
            Err(_) => {}
        }
    }
}
