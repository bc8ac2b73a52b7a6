//! Reading the ledger.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use loci_types::{Space, TimeRange, Visible};

use super::SqlStore;
use crate::sql::backend::{Backend, blocking};
use crate::sql::clause::Clause;
use crate::sql::{Connection, feed, operation_counts, read};
use crate::{Feed, Ledger, LedgerQuery, OperationCounts, Result};

#[async_trait]
impl<B: Backend> Ledger for SqlStore<B> {
    async fn ledger(&self, visible: &Visible, query: &LedgerQuery, limit: usize) -> Result<Feed> {
        match query.clone() {
            LedgerQuery::Memory(id) => {
                let found = self
                    .for_each_space(visible, move |connection, space, visible| {
                        read::history(connection, B::space_of(space), visible, id, limit)
                    })
                    .await?;
                let entries: Vec<_> = found.into_iter().flatten().collect();
                let position = entries.last().map_or(0, |entry| entry.sequence);
                Ok(Feed { entries, position })
            }
            LedgerQuery::After { space, sequence } => {
                let nothing = Feed { entries: Vec::new(), position: sequence };
                if visible.spaces().is_some_and(|spaces| !spaces.contains(&space)) {
                    return Ok(nothing);
                }
                let (backend, visible) = (self.backend.clone(), visible.clone());
                let page = blocking(move || {
                    let open = backend.open(visible.tenant(), &space);
                    backend.read(&open, |connection| feed::page(connection, &space, &visible, sequence, limit))
                });
                Ok(page.await?.unwrap_or(nothing))
            }
            LedgerQuery::Changes { space, thread, since } => {
                let name = space.clone();
                let read = move |connection: &dyn Connection, clause: &Clause| {
                    read::changes(connection, &name, clause, thread.as_deref(), since, limit)
                };
                Ok(self.in_one_space(visible, &space, read).await?.unwrap_or_default())
            }
        }
    }

    async fn ledger_heads(&self, visible: &Visible) -> Result<BTreeMap<Space, i64>> {
        let found = self
            .for_each_space(visible, |connection, space, _| Ok((B::space_of(space).clone(), feed::end(connection)?)))
            .await?;
        Ok(found.into_iter().collect())
    }

    async fn operation_counts(
        &self,
        visible: &Visible,
        range: TimeRange,
        bucket: Duration,
    ) -> Result<Vec<OperationCounts>> {
        let bucket = operation_counts::micros(bucket)?;
        let found = self
            .for_each_space(visible, move |connection, space, visible| {
                operation_counts::count(connection, B::space_of(space), visible, range, bucket)
            })
            .await?;
        Ok(operation_counts::together(found))
    }
}
