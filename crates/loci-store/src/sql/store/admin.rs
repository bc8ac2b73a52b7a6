//! Health, statistics, maintenance, erasure and export.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{Filter, MemoryId, Reach, Space, Tenant, Visible};
use tokio::sync::watch;

use super::{SqlStore, spaces_of};
use crate::sql::backend::{Backend, blocking};
use crate::sql::clause::Clause;
use crate::sql::merge_results::add;
use crate::sql::stream::{create_backup, export, restore_backup};
use crate::sql::{ageing, entities, erase, notes, read};
use crate::{
    Administration, AgeingRow, Backup, BackupPlan, BackupProgress, ExportCursor, ExportPage, Finding, Indexed,
    RestoreOutcome, RestorePlan, Result, Stats, StoreHealth, UserData,
};

#[async_trait]
impl<B: Backend> Administration for SqlStore<B> {
    async fn health(&self) -> Result<StoreHealth> {
        let backend = self.backend.clone();
        blocking(move || backend.health()).await
    }

    fn change_signal(&self) -> Option<watch::Receiver<u64>> {
        self.backend.change_signal()
    }

    fn busy_connections(&self) -> Option<usize> {
        self.backend.busy_connections()
    }

    fn indexed(&self) -> Option<&Indexed> {
        self.index.as_ref()
    }

    async fn model_names(&self, visible: &Visible) -> Result<BTreeSet<String>> {
        let found = self.for_each_space(visible, |connection, _, _| read::model_names(connection)).await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn stats(&self, visible: &Visible) -> Result<Stats> {
        let whole = *visible.reach() == Reach::Whole;
        let found = self
            .for_each_space(visible, move |connection, space, visible| {
                match Clause::visible(connection, B::space_of(space), visible)? {
                    Some(clause) => read::stats(connection, &clause, whole),
                    None => Ok(Stats::default()),
                }
            })
            .await?;
        let mut all = Stats::default();
        for stats in found {
            all.memories += stats.memories;
            all.entities += stats.entities;
            all.orphans += stats.orphans;
            all.content_bytes += stats.content_bytes;
            all.without_vector += stats.without_vector;
            all.ledger += stats.ledger;
            all.spaces += stats.spaces;
            add(&mut all.by_layer, stats.by_layer);
            add(&mut all.by_kind, stats.by_kind);
            add(&mut all.by_state, stats.by_state);
            add(&mut all.edges, stats.edges);
            add(&mut all.vectors, stats.vectors);
            add(&mut all.jobs, stats.jobs);
        }
        if whole {
            let (backend, visible) = (self.backend.clone(), visible.clone());
            all.bytes =
                blocking(move || spaces_of(&*backend, &visible)?.iter().map(|open| backend.bytes(open)).sum()).await?;
        }
        Ok(all)
    }

    async fn list_for_ageing(
        &self,
        visible: &Visible,
        space: &Space,
        after: i64,
        limit: usize,
    ) -> Result<Vec<AgeingRow>> {
        let found = self
            .in_one_space(visible, space, move |connection, clause| {
                ageing::list_for_ageing(connection, clause, after, limit)
            })
            .await?;
        Ok(found.unwrap_or_default())
    }

    async fn long_chains(
        &self,
        visible: &Visible,
        space: &Space,
        most: usize,
        limit: usize,
    ) -> Result<Vec<(MemoryId, usize)>> {
        let found = self
            .in_one_space(visible, space, move |connection, clause| {
                ageing::long_chains(connection, clause, most, limit)
            })
            .await?;
        Ok(found.unwrap_or_default())
    }

    async fn compact(&self, tenant: &Tenant, space: &Space, now: Timestamp) -> Result<u64> {
        let swept = self
            .write_space(tenant, space, move |connection| {
                Ok((notes::sweep(connection, now)? + entities::sweep(connection)?) as u64)
            })
            .await?;
        Ok(swept.unwrap_or(0))
    }

    async fn user_data(&self, visible: &Visible, user: &str) -> Result<BTreeMap<Space, UserData>> {
        if *visible.reach() != Reach::Whole {
            return Ok(BTreeMap::new());
        }
        let user = user.to_owned();
        let found = self
            .for_each_space(visible, move |connection, open, _| {
                Ok((B::space_of(open).clone(), erase::user_data(connection, &user)?))
            })
            .await?;
        Ok(found.into_iter().collect())
    }

    async fn scrub(&self, tenant: &Tenant) -> Result<Option<String>> {
        let (backend, tenant) = (self.backend.clone(), tenant.clone());
        blocking(move || backend.scrub(&tenant)).await
    }

    async fn lease(&self, tenant: &Tenant, name: &str, holder: &str, now: Timestamp, lease: Duration) -> Result<bool> {
        let (backend, tenant, name, holder) =
            (self.backend.clone(), tenant.clone(), name.to_owned(), holder.to_owned());
        blocking(move || match lease.is_zero() {
            true => backend.release(&tenant, &name, &holder).map(|()| false),
            false => backend.lease(&tenant, &name, &holder, now, lease),
        })
        .await
    }

    async fn check(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>> {
        let (backend, visible) = (self.backend.clone(), visible.clone());
        blocking(move || backend.examine(&visible, repair)).await
    }

    async fn export_page(
        &self,
        visible: &Visible,
        filter: &Filter,
        space: &Space,
        after: &ExportCursor,
        limit: usize,
    ) -> Result<ExportPage> {
        if visible.spaces().is_some_and(|spaces| !spaces.contains(space)) {
            return Ok(ExportPage::default());
        }
        // An unfiltered export of a whole space also includes entities without mentions.
        let everything = *filter == Filter::everything(filter.now);
        let whole = everything && visible.scopes_in(space).is_none() && !visible.is_partial();
        let (backend, open) = (self.backend.clone(), self.backend.open(visible.tenant(), space));
        let (visible, filter, after) = (visible.clone(), filter.clone(), after.clone());
        let found = blocking(move || {
            backend.read(&open, |connection| match Clause::of(connection, B::space_of(&open), &visible, &filter)? {
                Some(clause) => export::page(connection, &clause, whole, &after, limit),
                None => Ok(ExportPage::default()),
            })
        });
        Ok(found.await?.unwrap_or_default())
    }

    async fn write_backup(
        &self,
        plan: BackupPlan,
        out: Box<dyn Write + Send>,
        progress: BackupProgress,
    ) -> Result<Backup> {
        create_backup(self, plan, out, progress).await.map(|(backup, _)| backup)
    }

    async fn restore_backup(&self, plan: RestorePlan) -> Result<Vec<RestoreOutcome>> {
        restore_backup(self, plan).await
    }
}
