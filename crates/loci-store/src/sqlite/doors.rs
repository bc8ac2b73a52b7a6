//! How does the embedded store open its two doors?
//!
//! Each method finds the spaces that are meant, does its work there on a thread that may block, and
//! brings the answers together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::PoisonError;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{
    Batch, Edge, Entity, EntityId, Filter, Job, JobKind, JobRecord, Key, LedgerEntry, Memory, MemoryId, Reach,
    Relation, Scope, Session, SessionFilter, Space, Tenant, TimeRange, Vector, Visible,
};

use super::apply::Desk;
use super::clause::Clause;
use super::gather::{add, best, best_then_newest, folder_bytes, one_scale};
use super::{
    SqliteStore, around, blocking, entities, feed, jobs, keys, lexicon, life, notes, outside, read, sessions, tally,
};
use crate::{
    Ageing, Agent, Applied, Changes, Cursor, EntityFilter, Error, Feed, Finding, Frequencies, Hit, Listing, Measure,
    Models, Page, Result, Stats, Store, Strip, Tally, VectorFeed,
};

#[async_trait]
impl Store for SqliteStore {
    async fn apply(&self, batch: Batch) -> Result<Vec<Applied>> {
        let Some(first) = batch.changes.first() else { return Ok(Vec::new()) };
        let space = self.space(&batch.tenant, &batch.space);
        self.prepare(&batch.tenant, &space, first.at)?;
        let (analyser, path) = (self.inner.analyser.clone(), space.path.clone());
        let key = (batch.tenant.clone(), batch.space.clone());
        let applied: Vec<Applied> = self
            .inner
            .writers
            .run(&space.path, move |connection| {
                let desk = Desk { connection, path: &path, space: &batch.space, analyser: &analyser };
                batch.changes.iter().map(|change| desk.apply(change)).collect()
            })
            .await?;
        let told = applied.iter().any(|applied| applied.sequence.is_some());
        if told && !self.inner.written.lock().unwrap_or_else(PoisonError::into_inner).contains(&key) {
            self.inner.catalogue.note_written(&key.0, &key.1)?;
            self.inner.written.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        }
        Ok(applied)
    }

    async fn fetch(&self, visible: &Visible, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        let wanted = ids.to_vec();
        let found = self
            .read(visible, move |connection, space, visible| read::fetch(connection, &space.space, visible, &wanted))
            .await?;
        let mut found: HashMap<MemoryId, Memory> =
            found.into_iter().flatten().map(|memory| (memory.id, memory)).collect();
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
    }

    async fn scan(&self, visible: &Visible, filter: &Filter, page: Page) -> Result<Listing> {
        let (filter, limit) = (filter.clone(), page.limit);
        let pages = self
            .read(visible, move |connection, space, visible| {
                read::scan(connection, &space.space, visible, &filter, &page)
            })
            .await?;
        let total = pages.iter().map(|(_, total)| total).sum();
        let mut memories: Vec<Memory> = pages.into_iter().flat_map(|(memories, _)| memories).collect();
        memories.sort_by_key(|memory| std::cmp::Reverse(memory.id));
        let more = memories.len() > limit;
        memories.truncate(limit);
        let next = memories.last().filter(|_| more).map(|memory| Cursor::after(memory.id));
        Ok(Listing { memories, next, total })
    }

    async fn lexical(&self, visible: &Visible, query: &str, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        let terms = self.inner.analyser.query_terms(query);
        let found = self
            .meant(visible, filter, move |connection, _, clause| lexicon::search(connection, clause, &terms, limit))
            .await?;
        Ok(best(one_scale(found), limit))
    }

    async fn nearest(&self, visible: &Visible, query: &Vector, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        let query = query.clone();
        let found = self
            .meant(visible, filter, move |connection, space, clause| {
                space.index.search(connection, clause, &query, limit)
            })
            .await?;
        self.trim();
        Ok(best(found, limit))
    }

    async fn vector_feed(
        &self,
        visible: &Visible,
        space: &Space,
        model: &str,
        after: i64,
        limit: usize,
    ) -> Result<VectorFeed> {
        let nothing = VectorFeed { position: after, end: after, ..VectorFeed::default() };
        if *visible.reach() != Reach::Whole || visible.categories().is_some() {
            return Ok(nothing);
        }
        let (open, model) = (self.space(visible.tenant(), space), model.to_owned());
        let told =
            blocking(move || open.read(|connection| outside::vector_feed(connection, &model, after, limit))).await?;
        Ok(told.unwrap_or(nothing))
    }

    async fn rescore(
        &self,
        visible: &Visible,
        query: &Vector,
        filter: &Filter,
        ids: &[MemoryId],
        limit: usize,
    ) -> Result<Vec<Hit>> {
        let (query, ids) = (query.clone(), ids.to_vec());
        let found = self
            .meant(visible, filter, move |connection, _, clause| outside::rescore(connection, clause, &query, &ids))
            .await?;
        Ok(best(found, limit))
    }

    async fn vectors(&self, visible: &Visible, model: &str, ids: &[MemoryId]) -> Result<Vec<(MemoryId, Vector)>> {
        let (model, ids) = (model.to_owned(), ids.to_vec());
        let found = self
            .read(visible, move |connection, space, visible| {
                read::vectors(connection, &space.space, visible, &model, &ids)
            })
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn frequencies(&self, visible: &Visible, terms: &[String]) -> Result<Frequencies> {
        let wanted = terms.to_vec();
        let found = self
            .read(visible, move |connection, space, visible| {
                match Clause::visible(connection, &space.space, visible)? {
                    Some(clause) => lexicon::frequencies(connection, &clause, &wanted),
                    None => Ok(Frequencies::default()),
                }
            })
            .await?;
        let mut all = Frequencies { memories: 0, of: vec![0; terms.len()] };
        for here in found {
            all.memories += here.memories;
            all.of.iter_mut().zip(here.of).for_each(|(sum, count)| *sum += count);
        }
        Ok(all)
    }

    async fn around(&self, visible: &Visible, filter: &Filter, ids: &[MemoryId], reach: usize) -> Result<Vec<Strip>> {
        let ids = ids.to_vec();
        let found = self
            .meant(visible, filter, move |connection, space, clause| {
                around::strips(connection, &space.path, clause, &ids, reach)
            })
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn model_names(&self, visible: &Visible) -> Result<BTreeSet<String>> {
        let found = self.read(visible, |connection, _, _| read::model_names(connection)).await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn models(&self, visible: &Visible) -> Result<Models> {
        let found = self
            .read(visible, move |connection, space, visible| {
                match Clause::visible(connection, &space.space, visible)? {
                    Some(clause) => read::models(connection, &clause),
                    None => Ok(Models::default()),
                }
            })
            .await?;
        let mut all = Models::default();
        for models in found {
            all.without += models.without;
            add(&mut all.vectors, models.vectors);
        }
        Ok(all)
    }

    async fn history(&self, visible: &Visible, id: MemoryId, limit: usize) -> Result<Vec<LedgerEntry>> {
        let found = self
            .read(visible, move |connection, space, visible| {
                read::history(connection, &space.space, visible, id, limit)
            })
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn edges(
        &self,
        visible: &Visible,
        filter: &Filter,
        ids: &[MemoryId],
        relations: &[Relation],
    ) -> Result<Vec<Edge>> {
        let (ids, relations) = (ids.to_vec(), relations.to_vec());
        let found = self
            .meant(visible, filter, move |connection, _, clause| read::edges(connection, clause, &ids, &relations))
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn foremost(&self, visible: &Visible, filter: &Filter, by: Measure, limit: usize) -> Result<Vec<Hit>> {
        let found = self
            .meant(visible, filter, move |connection, _, clause| read::foremost(connection, clause, by, limit))
            .await?;
        Ok(best_then_newest(found, limit))
    }

    async fn entities(&self, visible: &Visible, names: &[String]) -> Result<Vec<Entity>> {
        let names = names.to_vec();
        self.seen(visible, move |connection, _, clause| entities::named(connection, clause, &names)).await
    }

    async fn known_entities(&self, visible: &Visible, filter: &EntityFilter, limit: usize) -> Result<Vec<Entity>> {
        let filter = filter.clone();
        let mut found =
            self.seen(visible, move |connection, _, clause| entities::list(connection, clause, &filter, limit)).await?;
        found.sort_by(|a, b| b.mention_count.cmp(&a.mention_count).then(a.id.cmp(&b.id)));
        found.truncate(limit);
        Ok(found)
    }

    async fn spoken_of(&self, visible: &Visible, id: MemoryId) -> Result<Vec<Entity>> {
        self.seen(visible, move |connection, _, clause| entities::spoken_of(connection, clause, id)).await
    }

    async fn mentioning(
        &self,
        visible: &Visible,
        filter: &Filter,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<Hit>> {
        let wanted = entities.to_vec();
        let found = self
            .meant(visible, filter, move |connection, _, clause| {
                entities::mentioning(connection, clause, &wanted, limit)
            })
            .await?;
        Ok(best_then_newest(found, limit))
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
            .seen(visible, move |connection, space, clause| {
                if space.space != wanted {
                    return Ok(Vec::new());
                }
                Ok(vec![read::changes(connection, &space.space, clause, thread.as_deref(), since, limit)?])
            })
            .await?;
        Ok(found.into_iter().next().unwrap_or_default())
    }

    async fn feed(&self, visible: &Visible, space: &Space, after: i64, limit: usize) -> Result<Feed> {
        let nothing = Feed { entries: Vec::new(), position: after };
        if visible.spaces().is_some_and(|spaces| !spaces.contains(space)) {
            return Ok(nothing);
        }
        let (open, visible) = (self.space(visible.tenant(), space), visible.clone());
        let page =
            blocking(move || open.read(|connection| feed::page(connection, &open.space, &visible, after, limit)));
        Ok(page.await?.unwrap_or(nothing))
    }

    async fn positions(&self, visible: &Visible) -> Result<BTreeMap<Space, i64>> {
        let found =
            self.read(visible, |connection, space, _| Ok((space.space.clone(), feed::end(connection)?))).await?;
        Ok(found.into_iter().collect())
    }

    async fn tally(&self, visible: &Visible, range: TimeRange, bucket: Duration) -> Result<Vec<Tally>> {
        let bucket = tally::micros(bucket)?;
        let found = self
            .read(visible, move |connection, space, visible| {
                tally::count(connection, &space.space, visible, range, bucket)
            })
            .await?;
        Ok(tally::together(found))
    }

    async fn last_of_thread(&self, visible: &Visible, scope: &Scope, thread: &str) -> Result<Option<Memory>> {
        let (scope, thread) = (scope.clone(), thread.to_owned());
        let found = self
            .read(visible, move |connection, space, visible| {
                read::last_of_thread(connection, &space.space, visible, &scope, &thread)
            })
            .await?;
        Ok(found.into_iter().flatten().next())
    }

    async fn entry(&self, visible: &Visible, space: &Space, sequence: i64) -> Result<Option<LedgerEntry>> {
        let (wanted, seen) = (space.clone(), visible.clone());
        let found = self
            .in_space(visible, space, move |connection, clause| {
                read::entry(connection, &wanted, &seen, clause, sequence)
            })
            .await?;
        Ok(found.flatten())
    }

    async fn sessions(&self, visible: &Visible, filter: &SessionFilter, limit: usize) -> Result<Vec<Session>> {
        let filter = filter.clone();
        let mut found =
            self.seen(visible, move |connection, _, clause| sessions::list(connection, clause, &filter, limit)).await?;
        found.sort_by_key(|session| session.last_at);
        found.truncate(limit);
        Ok(found)
    }

    async fn unlearned(&self, visible: &Visible, scope: &Scope, session: &str, limit: usize) -> Result<Vec<Memory>> {
        let (wanted, session) = (scope.clone(), session.to_owned());
        let found = self
            .in_space(visible, &scope.space(), move |connection, clause| {
                sessions::unlearned(connection, clause, &wanted, &session, limit)
            })
            .await?;
        Ok(found.unwrap_or_default())
    }

    async fn notes(
        &self,
        visible: &Visible,
        space: &Space,
        keys: &[String],
        now: Timestamp,
    ) -> Result<Vec<(String, serde_json::Value)>> {
        let keys = keys.to_vec();
        let found = self
            .in_space(visible, space, move |connection, clause| notes::read(connection, clause, &keys, now))
            .await?;
        Ok(found.unwrap_or_default())
    }

    async fn ages(&self, visible: &Visible, space: &Space, after: i64, limit: usize) -> Result<Vec<Ageing>> {
        let found = self
            .in_space(visible, space, move |connection, clause| life::ages(connection, clause, after, limit))
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
            .in_space(visible, space, move |connection, clause| life::long_chains(connection, clause, most, limit))
            .await?;
        Ok(found.unwrap_or_default())
    }

    async fn spaces(&self, tenant: &Tenant) -> Result<Vec<Space>> {
        let (store, tenant) = (self.clone(), tenant.clone());
        blocking(move || {
            let mut spaces = store.inner.catalogue.spaces(&tenant)?;
            spaces.retain(|space| store.space(&tenant, space).path.exists());
            Ok(spaces)
        })
        .await
    }

    async fn compact(&self, tenant: &Tenant, space: &Space, now: Timestamp) -> Result<u64> {
        let swept = self
            .work(tenant, space, move |connection| {
                let swept = notes::sweep(connection, now)? + entities::sweep(connection)?;
                // A bounded step: what is left is merged the next night.
                connection.execute("INSERT INTO lexicon (lexicon, rank) VALUES ('merge', 500)", [])?;
                Ok(swept as u64)
            })
            .await?;
        Ok(swept.unwrap_or(0))
    }

    async fn lease(&self, tenant: &Tenant, name: &str, holder: &str, now: Timestamp, lease: Duration) -> Result<bool> {
        let (store, tenant, name, holder) = (self.clone(), tenant.clone(), name.to_owned(), holder.to_owned());
        blocking(move || store.inner.catalogue.lease(&tenant, &name, &holder, now, lease)).await
    }

    async fn release(&self, tenant: &Tenant, name: &str, holder: &str) -> Result<()> {
        let (store, tenant, name, holder) = (self.clone(), tenant.clone(), name.to_owned(), holder.to_owned());
        blocking(move || store.inner.catalogue.release(&tenant, &name, &holder)).await
    }

    async fn stats(&self, visible: &Visible) -> Result<Stats> {
        let whole = *visible.reach() == Reach::Whole;
        let found = self
            .read(visible, move |connection, space, visible| {
                let mut stats = match Clause::visible(connection, &space.space, visible)? {
                    Some(clause) => read::stats(connection, &clause, whole)?,
                    None => Stats::default(),
                };
                if whole {
                    stats.bytes = folder_bytes(space.folder());
                }
                Ok(stats)
            })
            .await?;
        let mut all = Stats::default();
        for stats in found {
            all.memories += stats.memories;
            all.entities += stats.entities;
            all.without_vector += stats.without_vector;
            all.ledger += stats.ledger;
            all.spaces += stats.spaces;
            all.bytes += stats.bytes;
            add(&mut all.by_layer, stats.by_layer);
            add(&mut all.by_kind, stats.by_kind);
            add(&mut all.by_state, stats.by_state);
            add(&mut all.edges, stats.edges);
            add(&mut all.vectors, stats.vectors);
            add(&mut all.jobs, stats.jobs);
        }
        Ok(all)
    }

    async fn claim(
        &self,
        tenant: &Tenant,
        kinds: &[JobKind],
        limit: usize,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Vec<Job>> {
        let mut jobs = Vec::new();
        for space in self.inner.catalogue.spaces(tenant)? {
            let open = self.space(tenant, &space);
            if jobs.len() >= limit || !open.path.exists() {
                continue;
            }
            let (left, name, path, kinds) = (limit - jobs.len(), space.name(), open.path.clone(), kinds.to_vec());
            let (reader, wanted) = (open.clone(), kinds.clone());
            let waiting = blocking(move || reader.read(|connection| jobs::waiting(connection, &wanted, now))).await?;
            if waiting != Some(true) {
                continue;
            }
            jobs.extend(
                self.inner
                    .writers
                    .run(&open.path, move |connection| jobs::claim(connection, &path, &name, &kinds, left, now, lease))
                    .await?,
            );
        }
        Ok(jobs)
    }

    async fn finish(&self, tenant: &Tenant, job: &Job) -> Result<bool> {
        let (space, job) = (self.space(tenant, &job.space.parse()?), job.clone());
        let path = space.path.clone();
        if !path.exists() {
            return Ok(false);
        }
        self.inner
            .writers
            .run(&space.path, move |connection| {
                jobs::finish(connection, &job).map_err(|error| Error::sqlite(&path, error))
            })
            .await
    }

    async fn fail(&self, tenant: &Tenant, job: &Job, error: &str, retry_at: Option<Timestamp>) -> Result<bool> {
        let (space, job, told) = (self.space(tenant, &job.space.parse()?), job.clone(), error.to_owned());
        let path = space.path.clone();
        if !path.exists() {
            return Ok(false);
        }
        self.inner
            .writers
            .run(&space.path, move |connection| {
                jobs::fail(connection, &job, &told, retry_at).map_err(|error| Error::sqlite(&path, error))
            })
            .await
    }

    async fn jobs(&self, tenant: &Tenant, states: &[&str], limit: usize) -> Result<Vec<JobRecord>> {
        let (store, tenant) = (self.clone(), tenant.clone());
        let states: Vec<String> = states.iter().map(|state| (*state).to_owned()).collect();
        blocking(move || {
            let mut found = Vec::new();
            for space in store.inner.catalogue.spaces(&tenant)? {
                let open = store.space(&tenant, &space);
                let here = open.read(|connection| jobs::list(connection, &space.name(), &states, limit))?;
                found.extend(here.unwrap_or_default());
            }
            found.sort_by_key(|job| job.created_at);
            found.truncate(limit);
            Ok(found)
        })
        .await
    }

    async fn retry(&self, tenant: &Tenant, space: &Space, id: i64, at: Timestamp) -> Result<bool> {
        Ok(self.work(tenant, space, move |connection| jobs::retry(connection, id, at)).await?.unwrap_or(false))
    }

    async fn drop_job(&self, tenant: &Tenant, space: &Space, id: i64) -> Result<bool> {
        Ok(self.work(tenant, space, move |connection| jobs::give_up(connection, id)).await?.unwrap_or(false))
    }

    async fn create_agent(&self, tenant: &Tenant, agent: Agent) -> Result<bool> {
        loci_types::slug("agentId", &agent.slug)?;
        let (store, tenant) = (self.clone(), tenant.clone());
        blocking(move || store.inner.catalogue.put_agent(&tenant, &agent)).await
    }

    async fn agents(&self, tenant: &Tenant) -> Result<Vec<Agent>> {
        let (store, tenant) = (self.clone(), tenant.clone());
        blocking(move || store.inner.catalogue.agents(&tenant)).await
    }

    async fn agent(&self, tenant: &Tenant, slug: &str) -> Result<Option<Agent>> {
        let (store, tenant, slug) = (self.clone(), tenant.clone(), slug.to_owned());
        blocking(move || store.inner.catalogue.agent(&tenant, &slug)).await
    }

    async fn drop_agent(&self, tenant: &Tenant, slug: &str) -> Result<bool> {
        loci_types::slug("agentId", slug)?;
        let space = self.space(tenant, &Space::Agent(slug.to_owned()));
        let (store, tenant, slug) = (self.clone(), tenant.clone(), slug.to_owned());
        blocking(move || {
            let known = store.inner.catalogue.drop_agent(&tenant, &slug)?;
            let key = (tenant, space.space.clone());
            store.inner.registered.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            store.inner.written.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            match space.folder().map(std::fs::remove_dir_all) {
                Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(Error::Folder { path: space.path.to_path_buf(), problem: error.to_string() })
                }
                _ => Ok(known),
            }
        })
        .await
    }

    async fn put_key(&self, key: Key) -> Result<()> {
        self.on_catalogue(move |connection| keys::put(connection, &key)).await
    }

    async fn key(&self, id: &str) -> Result<Option<Key>> {
        let id = id.to_owned();
        self.on_catalogue(move |connection| keys::find(connection, &id)).await
    }

    async fn keys(&self, tenant: &Tenant) -> Result<Vec<Key>> {
        let tenant = tenant.clone();
        self.on_catalogue(move |connection| keys::list(connection, &tenant)).await
    }

    async fn revoke_key(&self, tenant: &Tenant, id: &str, at: Timestamp) -> Result<bool> {
        let (tenant, id) = (tenant.clone(), id.to_owned());
        self.on_catalogue(move |connection| keys::revoke(connection, &tenant, &id, at)).await
    }

    async fn tenants(&self) -> Result<Vec<Tenant>> {
        let names = self.on_catalogue(|connection| keys::tenants(connection)).await?;
        names.iter().map(|name| Ok(Tenant::new(name)?)).collect()
    }

    async fn has_keys(&self) -> Result<bool> {
        self.on_catalogue(|connection| keys::any(connection)).await
    }

    async fn check(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>> {
        let (store, visible) = (self.clone(), visible.clone());
        blocking(move || store.examine(&visible, repair)).await
    }
}
