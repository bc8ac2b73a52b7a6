//! How does a database open its two doors?
//!
//! Each method finds the spaces that are meant, does its work there on a thread that may block, and
//! brings the answers together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{
    Action, Batch, Edge, Entity, EntityId, Filter, Job, JobKind, JobRecord, Key, LedgerEntry, Memory, MemoryId, Reach,
    Relation, Scope, Session, SessionFilter, Space, Tenant, TimeRange, Vector, Visible,
};
use tokio::sync::watch;

use super::apply::Desk;
use super::clause::Clause;
use super::floor::{Floor, blocking};
use super::gather::{add, best, best_then_newest, one_scale};
use super::ways::Ways;
use super::{Connection, catalogue, entities, erase, feed, jobs, keys, life, notes, outside, read, sessions, tally};
use crate::{
    Ageing, Agent, Applied, Belongings, Changes, Cursor, EntityFilter, Feed, Finding, Frequencies, Hit, Listing,
    Measure, Models, Page, Result, Stats, Store, StoreHealth, Strip, Tally, VectorFeed,
};

#[async_trait]
impl<F: Floor> Store for F {
    async fn health(&self) -> Result<StoreHealth> {
        let floor = self.clone();
        blocking(move || Floor::health(&floor)).await
    }

    fn moved(&self) -> Option<watch::Receiver<u64>> {
        Floor::moved(self)
    }

    async fn apply(&self, batch: Batch) -> Result<Vec<Applied>> {
        let Some(first) = batch.changes.first() else { return Ok(Vec::new()) };
        let (open, at) = (self.open(&batch.tenant, &batch.space), first.at);
        if !self.is_prepared(&batch.tenant, &open) {
            let (floor, tenant, made) = (self.clone(), batch.tenant.clone(), open.clone());
            blocking(move || floor.prepare(&tenant, &made, at)).await?;
        }
        let (analyser, place) = (self.analyser().clone(), F::place_of(&open).to_owned());
        let tenant = batch.tenant.clone();
        let takes_long = batch.changes.iter().any(|change| matches!(change.action, Action::EraseUser { .. }));
        let work = move |connection: &dyn Connection| -> Result<Vec<Applied>> {
            let desk = Desk { connection, path: &place, space: &batch.space, analyser: &analyser };
            batch.changes.iter().map(|change| desk.apply(change)).collect()
        };
        let applied =
            if takes_long { self.write_long(&open, work).await? } else { self.write(&open, work).await? };
        let told = applied.iter().any(|applied| applied.sequence.is_some());
        if told && !self.is_noted(&tenant, &open) {
            let floor = self.clone();
            // The change is durable: a caller that is told otherwise would repeat it. The next change notes it again.
            if let Err(error) = blocking(move || floor.note_written(&tenant, &open)).await {
                tracing::warn!(%error, "the catalogue could not be told that something was written to a space");
            }
        }
        Ok(applied)
    }

    async fn fetch(&self, visible: &Visible, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        let wanted = ids.to_vec();
        let found = self
            .each(visible, move |connection, space, visible| {
                read::fetch(connection, F::space_of(space), visible, &wanted)
            })
            .await?;
        let mut found: HashMap<MemoryId, Memory> =
            found.into_iter().flatten().map(|memory| (memory.id, memory)).collect();
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
    }

    async fn scan(&self, visible: &Visible, filter: &Filter, page: Page) -> Result<Listing> {
        let (filter, limit) = (filter.clone(), page.limit);
        let pages = self
            .each(visible, move |connection, space, visible| {
                read::scan(connection, F::space_of(space), visible, &filter, &page)
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
        let (floor, terms) = (self.clone(), self.analyser().query_terms(query));
        let found = self
            .meant(visible, filter, move |connection, space, clause| {
                floor.lexical(space, connection, clause, &terms, limit)
            })
            .await?;
        Ok(best(one_scale(found), limit))
    }

    async fn nearest(&self, visible: &Visible, query: &Vector, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        let (floor, query) = (self.clone(), query.clone());
        let found = self
            .meant(visible, filter, move |connection, space, clause| {
                floor.nearest(space, connection, clause, &query, limit)
            })
            .await?;
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
        let (floor, open, model) = (self.clone(), self.open(visible.tenant(), space), model.to_owned());
        let told =
            blocking(move || floor.read(&open, |connection| outside::vector_feed(connection, &model, after, limit)));
        Ok(told.await?.unwrap_or(nothing))
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
            .each(visible, move |connection, space, visible| {
                read::vectors(connection, F::space_of(space), visible, &model, &ids)
            })
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn frequencies(&self, visible: &Visible, terms: &[String]) -> Result<Frequencies> {
        let (floor, wanted) = (self.clone(), terms.to_vec());
        let found = self
            .each(visible, move |connection, space, visible| {
                match Clause::visible(connection, F::space_of(space), visible)? {
                    Some(clause) => floor.frequencies(space, connection, &clause, &wanted),
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
        let (floor, ids) = (self.clone(), ids.to_vec());
        let found = self
            .meant(visible, filter, move |connection, space, clause| {
                floor.strips(space, connection, clause, &ids, reach)
            })
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn model_names(&self, visible: &Visible) -> Result<BTreeSet<String>> {
        let found = self.each(visible, |connection, _, _| read::model_names(connection)).await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn models(&self, visible: &Visible) -> Result<Models> {
        let found = self
            .each(visible, move |connection, space, visible| {
                match Clause::visible(connection, F::space_of(space), visible)? {
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
            .each(visible, move |connection, space, visible| {
                read::history(connection, F::space_of(space), visible, id, limit)
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
                if *F::space_of(space) != wanted {
                    return Ok(Vec::new());
                }
                Ok(vec![read::changes(connection, F::space_of(space), clause, thread.as_deref(), since, limit)?])
            })
            .await?;
        Ok(found.into_iter().next().unwrap_or_default())
    }

    async fn feed(&self, visible: &Visible, space: &Space, after: i64, limit: usize) -> Result<Feed> {
        let nothing = Feed { entries: Vec::new(), position: after };
        if visible.spaces().is_some_and(|spaces| !spaces.contains(space)) {
            return Ok(nothing);
        }
        let (floor, open, visible) = (self.clone(), self.open(visible.tenant(), space), visible.clone());
        let page = blocking(move || {
            floor.read(&open, |connection| feed::page(connection, F::space_of(&open), &visible, after, limit))
        });
        Ok(page.await?.unwrap_or(nothing))
    }

    async fn positions(&self, visible: &Visible) -> Result<BTreeMap<Space, i64>> {
        let found =
            self.each(visible, |connection, space, _| Ok((F::space_of(space).clone(), feed::end(connection)?))).await?;
        Ok(found.into_iter().collect())
    }

    async fn tally(&self, visible: &Visible, range: TimeRange, bucket: Duration) -> Result<Vec<Tally>> {
        let bucket = tally::micros(bucket)?;
        let found = self
            .each(visible, move |connection, space, visible| {
                tally::count(connection, F::space_of(space), visible, range, bucket)
            })
            .await?;
        Ok(tally::together(found))
    }

    async fn last_of_thread(&self, visible: &Visible, scope: &Scope, thread: &str) -> Result<Option<Memory>> {
        let (scope, thread) = (scope.clone(), thread.to_owned());
        let found = self
            .each(visible, move |connection, space, visible| {
                read::last_of_thread(connection, F::space_of(space), visible, &scope, &thread)
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
        let (floor, tenant) = (self.clone(), tenant.clone());
        blocking(move || {
            let mut there = Vec::new();
            for space in floor.ask(|connection| catalogue::spaces(connection, &tenant))? {
                if floor.exists(&floor.open(&tenant, &space))? {
                    there.push(space);
                }
            }
            Ok(there)
        })
        .await
    }

    async fn compact(&self, tenant: &Tenant, space: &Space, now: Timestamp) -> Result<u64> {
        let swept = self
            .work(tenant, space, move |connection| {
                Ok((notes::sweep(connection, now)? + entities::sweep(connection)?) as u64)
            })
            .await?;
        Ok(swept.unwrap_or(0))
    }

    async fn belongings(&self, visible: &Visible, user: &str) -> Result<BTreeMap<Space, Belongings>> {
        if *visible.reach() != Reach::Whole {
            return Ok(BTreeMap::new());
        }
        let user = user.to_owned();
        let found = self
            .each(visible, move |connection, open, _| {
                Ok((F::space_of(open).clone(), erase::belongings(connection, &user)?))
            })
            .await?;
        Ok(found.into_iter().collect())
    }

    async fn scrub(&self, tenant: &Tenant) -> Result<Option<String>> {
        let (floor, tenant) = (self.clone(), tenant.clone());
        blocking(move || Floor::scrub(&floor, &tenant)).await
    }

    async fn lease(&self, tenant: &Tenant, name: &str, holder: &str, now: Timestamp, lease: Duration) -> Result<bool> {
        let (floor, tenant, name, holder) = (self.clone(), tenant.clone(), name.to_owned(), holder.to_owned());
        blocking(move || Floor::lease(&floor, &tenant, &name, &holder, now, lease)).await
    }

    async fn release(&self, tenant: &Tenant, name: &str, holder: &str) -> Result<()> {
        let (floor, tenant, name, holder) = (self.clone(), tenant.clone(), name.to_owned(), holder.to_owned());
        blocking(move || Floor::release(&floor, &tenant, &name, &holder)).await
    }

    async fn stats(&self, visible: &Visible) -> Result<Stats> {
        let whole = *visible.reach() == Reach::Whole;
        let found = self
            .each(visible, move |connection, space, visible| {
                match Clause::visible(connection, F::space_of(space), visible)? {
                    Some(clause) => read::stats(connection, &clause, whole),
                    None => Ok(Stats::default()),
                }
            })
            .await?;
        let mut all = Stats::default();
        for stats in found {
            all.memories += stats.memories;
            all.entities += stats.entities;
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
            let (floor, visible) = (self.clone(), visible.clone());
            all.bytes = blocking(move || floor.spaces_of(&visible)?.iter().map(|open| floor.bytes(open)).sum()).await?;
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
        let (floor, owner, wanted) = (self.clone(), tenant.clone(), kinds.to_vec());
        let mut jobs = Vec::new();
        for space in blocking(move || floor.with_jobs(&owner, &wanted, now)).await? {
            if jobs.len() >= limit {
                break;
            }
            let open = self.open(tenant, &space);
            let (left, name, kinds) = (limit - jobs.len(), space.name(), kinds.to_vec());
            let place = F::place_of(&open).to_owned();
            let claim =
                move |connection: &dyn Connection| jobs::claim(connection, &place, &name, &kinds, left, now, lease);
            jobs.extend(self.write(&open, claim).await?);
        }
        Ok(jobs)
    }

    async fn renew(&self, tenant: &Tenant, job: &Job, until: Timestamp) -> Result<bool> {
        let (space, job) = (job.space.parse()?, job.clone());
        Ok(self.work(tenant, &space, move |connection| jobs::renew(connection, &job, until)).await?.unwrap_or(false))
    }

    async fn finish(&self, tenant: &Tenant, job: &Job) -> Result<bool> {
        let (space, job) = (job.space.parse()?, job.clone());
        Ok(self.work(tenant, &space, move |connection| jobs::finish(connection, &job)).await?.unwrap_or(false))
    }

    async fn fail(&self, tenant: &Tenant, job: &Job, error: &str, retry_at: Option<Timestamp>) -> Result<bool> {
        let (space, job, told) = (job.space.parse()?, job.clone(), error.to_owned());
        let failed = self.work(tenant, &space, move |connection| jobs::fail(connection, &job, &told, retry_at));
        Ok(failed.await?.unwrap_or(false))
    }

    async fn jobs(&self, tenant: &Tenant, states: &[&str], limit: usize) -> Result<Vec<JobRecord>> {
        let (floor, tenant) = (self.clone(), tenant.clone());
        let states: Vec<String> = states.iter().map(|state| (*state).to_owned()).collect();
        blocking(move || {
            let mut found = Vec::new();
            for space in floor.ask(|connection| catalogue::spaces(connection, &tenant))? {
                let open = floor.open(&tenant, &space);
                let here = floor.read(&open, |connection| jobs::list(connection, &space.name(), &states, limit))?;
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
        let tenant = tenant.clone();
        self.told(move |connection| catalogue::put_agent(connection, &tenant, &agent)).await
    }

    async fn agents(&self, tenant: &Tenant) -> Result<Vec<Agent>> {
        let tenant = tenant.clone();
        self.asked(move |connection| catalogue::agents(connection, &tenant)).await
    }

    async fn agent(&self, tenant: &Tenant, slug: &str) -> Result<Option<Agent>> {
        let (tenant, slug) = (tenant.clone(), slug.to_owned());
        self.asked(move |connection| catalogue::agent(connection, &tenant, &slug)).await
    }

    async fn drop_agent(&self, tenant: &Tenant, slug: &str) -> Result<bool> {
        loci_types::slug("agentId", slug)?;
        let (floor, tenant, space) = (self.clone(), tenant.clone(), Space::Agent(slug.to_owned()));
        blocking(move || floor.drop_space(&tenant, &floor.open(&tenant, &space))).await
    }

    async fn put_key(&self, key: Key) -> Result<()> {
        self.told(move |connection| keys::put(connection, &key)).await
    }

    async fn key(&self, id: &str) -> Result<Option<Key>> {
        let id = id.to_owned();
        self.asked(move |connection| keys::find(connection, &id)).await
    }

    async fn keys(&self, tenant: &Tenant) -> Result<Vec<Key>> {
        let tenant = tenant.clone();
        self.asked(move |connection| keys::list(connection, &tenant)).await
    }

    async fn revoke_key(&self, tenant: &Tenant, id: &str, at: Timestamp) -> Result<bool> {
        let (tenant, id) = (tenant.clone(), id.to_owned());
        self.told(move |connection| keys::revoke(connection, &tenant, &id, at)).await
    }

    async fn tenants(&self) -> Result<Vec<Tenant>> {
        let names = self.asked(keys::tenants).await?;
        names.iter().map(|name| Ok(Tenant::new(name)?)).collect()
    }

    async fn has_keys(&self) -> Result<bool> {
        self.asked(keys::any).await
    }

    async fn check(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>> {
        let (floor, visible) = (self.clone(), visible.clone());
        blocking(move || floor.examine(&visible, repair)).await
    }
}
