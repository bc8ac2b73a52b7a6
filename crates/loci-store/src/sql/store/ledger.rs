//! Reading the ledger.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use loci_types::{LedgerEntry, MemoryId, Space, TimeRange, Visible};

use super::SqlStore;
use crate::sql::backend::{Backend, blocking};
use crate::sql::{feed, read, tally};
use crate::{Changes, Feed, Ledger, Result, Tally};

#[async_trait]
impl<B: Backend> Ledger for SqlStore<B> {
    async fn history(&self, visible: &Visible, id: MemoryId, limit: usize) -> Result<Vec<LedgerEntry>> {
        let found = self
            .for_each_space(visible, move |connection, space, visible| {
                read::history(connection, B::space_of(space), visible, id, limit)
            })
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn changes(
        &self,
        visible: &Visible,
        space: &Space,
        thread: Option<&str>,
        since: i64,
        limit: usize,
    ) -> Result<Changes> {
        let (wanted, thread) = (space.clone(), thread.map(str::to_owned));
        let found = self
            .visible_in_each(visible, move |connection, space, clause| {
                if *B::space_of(space) != wanted {
                    return Ok(Vec::new());
                }
                Ok(vec![read::changes(connection, B::space_of(space), clause, thread.as_deref(), since, limit)?])
            })
            .await?;
        Ok(found.into_iter().next().unwrap_or_default())
    }

    async fn feed(&self, visible: &Visible, space: &Space, after: i64, limit: usize) -> Result<Feed> {
        let nothing = Feed { entries: Vec::new(), position: after };
        if visible.spaces().is_some_and(|spaces| !spaces.contains(space)) {
            return Ok(nothing);
        }
        let (backend, open, visible) =
            (self.backend.clone(), self.backend.open(visible.tenant(), space), visible.clone());
        let page = blocking(move || {
            backend.read(&open, |connection| feed::page(connection, B::space_of(&open), &visible, after, limit))
        });
        Ok(page.await?.unwrap_or(nothing))
    }

    async fn positions(&self, visible: &Visible) -> Result<BTreeMap<Space, i64>> {
        let found = self
            .for_each_space(visible, |connection, space, _| Ok((B::space_of(space).clone(), feed::end(connection)?)))
            .await?;
        Ok(found.into_iter().collect())
    }

    async fn tally(&self, visible: &Visible, range: TimeRange, bucket: Duration) -> Result<Vec<Tally>> {
        let bucket = tally::micros(bucket)?;
        let found = self
            .for_each_space(visible, move |connection, space, visible| {
                tally::count(connection, B::space_of(space), visible, range, bucket)
            })
            .await?;
        Ok(tally::together(found))
    }

    async fn entry(&self, visible: &Visible, space: &Space, sequence: i64) -> Result<Option<LedgerEntry>> {
        let (wanted, seen) = (space.clone(), visible.clone());
        let found = self
            .in_one_space(visible, space, move |connection, clause| {
                read::entry(connection, &wanted, &seen, clause, sequence)
            })
            .await?;
        Ok(found.flatten())
    }
}
