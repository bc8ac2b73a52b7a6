//! Deletes or changes all memories that match a filter.
//!
//! The ids of the matches are read first, then each memory is changed by itself in the ordinary way, so that its history
//! shows the change, undo takes it back, and policy is enforced. What is compared with the expected number is what is
//! changed: a memory that is added meanwhile is left alone.

use futures::{StreamExt, stream};
use loci_types::{Error, ErrorKind, Filter, MemoryId, Outcome, Receipt};

use crate::access::bounds;
use crate::access::policy::{self, Caller};
use crate::{Engine, ListRequest, Result, Update};

/// Maximum number of memories that one call changes.
const MAX_SELECTED: usize = 10_000;
/// Number of matches that are read at once.
const MATCHES_PER_READ: usize = 500;
/// Number of memories that are changed at the same time: the store commits them together.
const AT_ONCE: usize = 16;
/// Number of ids in the outcome.
const MAX_SHOWN_IDS: usize = 20;
/// Maximum number of failures in the outcome.
const MAX_SHOWN_FAILURES: usize = 100;

/// All memories that match a filter, and how they are acted on.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The conditions.
    pub filter: Filter,
    /// Whether nothing is changed, and the outcome only tells what would be.
    pub dry_run: bool,
    /// The number of matches that the caller expects. If there are more or fewer, nothing is changed.
    pub expected: Option<u64>,
}

/// What became of a selection.
#[derive(Debug, Default)]
pub struct SelectionOutcome {
    /// The number of memories that matched.
    pub matched: u64,
    /// The number of memories that were changed.
    pub changed: u64,
    /// Whether there were more matches than one call changes.
    pub truncated: bool,
    /// The first matches, newest first.
    pub first: Vec<MemoryId>,
    /// The memories that could not be changed, the first 100 of them.
    pub failed: Vec<(MemoryId, crate::Error)>,
}

impl Engine {
    /// Deletes all memories of a selection softly: they can be restored until they are purged.
    pub async fn forget_selection(
        &self,
        caller: &Caller,
        selection: &Selection,
        reason: Option<&str>,
    ) -> Result<SelectionOutcome> {
        policy::require_writer(caller)?;
        bounds::short("reason", reason, bounds::REFERENCE)?;
        self.for_each_selected(caller, selection, |id| self.forget(caller, id, None, reason)).await
    }

    /// Changes all memories of a selection, each in the same way.
    pub async fn update_selection(
        &self,
        caller: &Caller,
        selection: &Selection,
        changes: &Update,
    ) -> Result<SelectionOutcome> {
        self.check_update(caller, changes).await?;
        self.for_each_selected(caller, selection, |id| self.update(caller, id, changes.clone())).await
    }

    async fn for_each_selected<W>(
        &self,
        caller: &Caller,
        selection: &Selection,
        work: impl Fn(MemoryId) -> W,
    ) -> Result<SelectionOutcome>
    where
        W: Future<Output = Result<Receipt>>,
    {
        let (ids, more) = self.selected_ids(caller, &selection.filter).await?;
        let matched = if more { self.count(caller, &selection.filter).await? } else { ids.len() as u64 };
        if let Some(expected) = selection.expected.filter(|expected| *expected != matched) {
            let message = format!("the filter matches {matched}, but {expected} were expected; nothing was changed");
            return Err(Error::new(ErrorKind::Conflict, message)
                .at("expected")
                .hint("make a dry run to see which memories match")
                .into());
        }
        let first = ids.iter().take(MAX_SHOWN_IDS).copied().collect();
        let mut outcome = SelectionOutcome { matched, truncated: more, first, ..SelectionOutcome::default() };
        if selection.dry_run {
            return Ok(outcome);
        }
        let done = stream::iter(ids).map(|id| {
            let work = work(id);
            async move { (id, work.await) }
        });
        let mut done = done.buffer_unordered(AT_ONCE);
        while let Some((id, done)) = done.next().await {
            match done {
                Ok(receipt) if receipt.event == Outcome::None => {}
                Ok(_) => outcome.changed += 1,
                Err(error) if outcome.failed.len() < MAX_SHOWN_FAILURES => outcome.failed.push((id, error)),
                Err(_) => {}
            }
        }
        Ok(outcome)
    }

    /// The ids of the matches, newest first, and whether there are more than one call changes.
    async fn selected_ids(&self, caller: &Caller, filter: &Filter) -> Result<(Vec<MemoryId>, bool)> {
        let (mut ids, mut cursor) = (Vec::new(), None);
        loop {
            let limit = Some(MATCHES_PER_READ.min(MAX_SELECTED - ids.len()));
            let request = ListRequest { layers: None, filter: Some(filter.clone()), cursor, limit };
            let page = self.list(caller, request).await?;
            ids.extend(page.memories.iter().map(|memory| memory.id));
            cursor = page.next_cursor;
            if cursor.is_none() || ids.len() == MAX_SELECTED {
                return Ok((ids, cursor.is_some()));
            }
        }
    }
}
