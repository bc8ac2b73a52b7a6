//! How does a store with an index beside it open its doors?
//!
//! Everything is handed on to the store but three things: `nearest` asks the index, `apply` wakes its filling, and an
//! agent or a pool (`pools.rs`) that is dropped takes its collections along.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{
    Batch, Edge, EdgeId, Entity, EntityId, Filter, Job, JobKind, JobRecord, Key, LedgerEntry, Memory, MemoryId,
    Relation, Scope, Session, SessionFilter, Space, Tenant, TimeRange, Vector, Visible,
};
use tokio::sync::watch;

use super::indexed::Indexed;
use crate::{
    Ageing, Agent, Applied, Belongings, CarriedEntity, CarriedMemory, Carry, Changes, EntityFilter, Feed, Finding,
    Frequencies, Hit, Listing, Measure, Models, Page, Result, Stats, Store, StoreHealth, Strip, Tally, VectorFeed,
};

#[async_trait]
impl Carry for Indexed {
    async fn carried_memories(
        &self,
        visible: &Visible,
        filter: &Filter,
        space: &Space,
        after: i64,
        limit: usize,
    ) -> Result<Vec<CarriedMemory>> {
        self.inner.store.carried_memories(visible, filter, space, after, limit).await
    }

    async fn carried_edges(
        &self,
        visible: &Visible,
        filter: &Filter,
        space: &Space,
        after: Option<EdgeId>,
        limit: usize,
    ) -> Result<Vec<Edge>> {
        self.inner.store.carried_edges(visible, filter, space, after, limit).await
    }

    async fn carried_entities(
        &self,
        visible: &Visible,
        filter: &Filter,
        space: &Space,
        after: Option<EntityId>,
        limit: usize,
    ) -> Result<Vec<CarriedEntity>> {
        self.inner.store.carried_entities(visible, filter, space, after, limit).await
    }

    async fn carried_sessions(
        &self,
        visible: &Visible,
        space: &Space,
        after: Option<(Scope, String)>,
        limit: usize,
    ) -> Result<Vec<Session>> {
        self.inner.store.carried_sessions(visible, space, after, limit).await
    }
}

#[async_trait]
impl Store for Indexed {
    fn indexed(&self) -> Option<&Indexed> {
        Some(self)
    }

    async fn health(&self) -> Result<StoreHealth> {
        self.inner.store.health().await
    }

    fn moved(&self) -> Option<watch::Receiver<u64>> {
        self.inner.store.moved()
    }

    async fn apply(&self, batch: Batch) -> Result<Vec<Applied>> {
        self.apply_and_wake(batch).await
    }

    async fn fetch(&self, visible: &Visible, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        self.inner.store.fetch(visible, ids).await
    }

    async fn scan(&self, visible: &Visible, filter: &Filter, page: Page) -> Result<Listing> {
        self.inner.store.scan(visible, filter, page).await
    }

    async fn lexical(&self, visible: &Visible, query: &str, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        self.inner.store.lexical(visible, query, filter, limit).await
    }

    async fn nearest(&self, visible: &Visible, query: &Vector, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        self.find(visible, query, filter, limit).await
    }

    async fn vector_feed(
        &self,
        visible: &Visible,
        space: &Space,
        model: &str,
        after: i64,
        limit: usize,
    ) -> Result<VectorFeed> {
        self.inner.store.vector_feed(visible, space, model, after, limit).await
    }

    async fn rescore(
        &self,
        visible: &Visible,
        query: &Vector,
        filter: &Filter,
        ids: &[MemoryId],
        limit: usize,
    ) -> Result<Vec<Hit>> {
        self.inner.store.rescore(visible, query, filter, ids, limit).await
    }

    async fn vectors(&self, visible: &Visible, model: &str, ids: &[MemoryId]) -> Result<Vec<(MemoryId, Vector)>> {
        self.inner.store.vectors(visible, model, ids).await
    }

    async fn frequencies(&self, visible: &Visible, terms: &[String]) -> Result<Frequencies> {
        self.inner.store.frequencies(visible, terms).await
    }

    async fn around(&self, visible: &Visible, filter: &Filter, ids: &[MemoryId], reach: usize) -> Result<Vec<Strip>> {
        self.inner.store.around(visible, filter, ids, reach).await
    }

    async fn model_names(&self, visible: &Visible) -> Result<BTreeSet<String>> {
        self.inner.store.model_names(visible).await
    }

    async fn models(&self, visible: &Visible) -> Result<Models> {
        self.inner.store.models(visible).await
    }

    async fn history(&self, visible: &Visible, id: MemoryId, limit: usize) -> Result<Vec<LedgerEntry>> {
        self.inner.store.history(visible, id, limit).await
    }

    async fn edges(
        &self,
        visible: &Visible,
        filter: &Filter,
        ids: &[MemoryId],
        relations: &[Relation],
    ) -> Result<Vec<Edge>> {
        self.inner.store.edges(visible, filter, ids, relations).await
    }

    async fn foremost(&self, visible: &Visible, filter: &Filter, by: Measure, limit: usize) -> Result<Vec<Hit>> {
        self.inner.store.foremost(visible, filter, by, limit).await
    }

    async fn entities(&self, visible: &Visible, names: &[String]) -> Result<Vec<Entity>> {
        self.inner.store.entities(visible, names).await
    }

    async fn known_entities(&self, visible: &Visible, filter: &EntityFilter, limit: usize) -> Result<Vec<Entity>> {
        self.inner.store.known_entities(visible, filter, limit).await
    }

    async fn spoken_of(&self, visible: &Visible, id: MemoryId) -> Result<Vec<Entity>> {
        self.inner.store.spoken_of(visible, id).await
    }

    async fn mentioning(
        &self,
        visible: &Visible,
        filter: &Filter,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<Hit>> {
        self.inner.store.mentioning(visible, filter, entities, limit).await
    }

    async fn changes(
        &self,
        visible: &Visible,
        space: &Space,
        thread: Option<&str>,
        since: i64,
        limit: usize,
    ) -> Result<Changes> {
        self.inner.store.changes(visible, space, thread, since, limit).await
    }

    async fn feed(&self, visible: &Visible, space: &Space, after: i64, limit: usize) -> Result<Feed> {
        self.inner.store.feed(visible, space, after, limit).await
    }

    async fn positions(&self, visible: &Visible) -> Result<BTreeMap<Space, i64>> {
        self.inner.store.positions(visible).await
    }

    async fn tally(&self, visible: &Visible, range: TimeRange, bucket: Duration) -> Result<Vec<Tally>> {
        self.inner.store.tally(visible, range, bucket).await
    }

    async fn last_of_thread(&self, visible: &Visible, scope: &Scope, thread: &str) -> Result<Option<Memory>> {
        self.inner.store.last_of_thread(visible, scope, thread).await
    }

    async fn entry(&self, visible: &Visible, space: &Space, sequence: i64) -> Result<Option<LedgerEntry>> {
        self.inner.store.entry(visible, space, sequence).await
    }

    async fn sessions(&self, visible: &Visible, filter: &SessionFilter, limit: usize) -> Result<Vec<Session>> {
        self.inner.store.sessions(visible, filter, limit).await
    }

    async fn unlearned(&self, visible: &Visible, scope: &Scope, session: &str, limit: usize) -> Result<Vec<Memory>> {
        self.inner.store.unlearned(visible, scope, session, limit).await
    }

    async fn notes(
        &self,
        visible: &Visible,
        space: &Space,
        keys: &[String],
        now: Timestamp,
    ) -> Result<Vec<(String, serde_json::Value)>> {
        self.inner.store.notes(visible, space, keys, now).await
    }

    async fn ages(&self, visible: &Visible, space: &Space, after: i64, limit: usize) -> Result<Vec<Ageing>> {
        self.inner.store.ages(visible, space, after, limit).await
    }

    async fn long_chains(
        &self,
        visible: &Visible,
        space: &Space,
        most: usize,
        limit: usize,
    ) -> Result<Vec<(MemoryId, usize)>> {
        self.inner.store.long_chains(visible, space, most, limit).await
    }

    async fn tenants(&self) -> Result<Vec<Tenant>> {
        self.inner.store.tenants().await
    }

    async fn spaces(&self, tenant: &Tenant) -> Result<Vec<Space>> {
        self.inner.store.spaces(tenant).await
    }

    async fn compact(&self, tenant: &Tenant, space: &Space, now: Timestamp) -> Result<u64> {
        self.inner.store.compact(tenant, space, now).await
    }

    async fn belongings(&self, visible: &Visible, user: &str) -> Result<BTreeMap<Space, Belongings>> {
        self.inner.store.belongings(visible, user).await
    }

    async fn scrub(&self, tenant: &Tenant) -> Result<Option<String>> {
        self.inner.store.scrub(tenant).await
    }

    async fn lease(&self, tenant: &Tenant, name: &str, holder: &str, now: Timestamp, lease: Duration) -> Result<bool> {
        self.inner.store.lease(tenant, name, holder, now, lease).await
    }

    async fn release(&self, tenant: &Tenant, name: &str, holder: &str) -> Result<()> {
        self.inner.store.release(tenant, name, holder).await
    }

    async fn stats(&self, visible: &Visible) -> Result<Stats> {
        self.inner.store.stats(visible).await
    }

    async fn claim(
        &self,
        tenant: &Tenant,
        kinds: &[JobKind],
        limit: usize,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Vec<Job>> {
        self.inner.store.claim(tenant, kinds, limit, now, lease).await
    }

    async fn renew(&self, tenant: &Tenant, job: &Job, until: Timestamp) -> Result<bool> {
        self.inner.store.renew(tenant, job, until).await
    }

    async fn finish(&self, tenant: &Tenant, job: &Job) -> Result<bool> {
        self.inner.store.finish(tenant, job).await
    }

    async fn fail(&self, tenant: &Tenant, job: &Job, error: &str, retry_at: Option<Timestamp>) -> Result<bool> {
        self.inner.store.fail(tenant, job, error, retry_at).await
    }

    async fn jobs(&self, tenant: &Tenant, states: &[&str], limit: usize) -> Result<Vec<JobRecord>> {
        self.inner.store.jobs(tenant, states, limit).await
    }

    async fn retry(&self, tenant: &Tenant, space: &Space, id: i64, at: Timestamp) -> Result<bool> {
        self.inner.store.retry(tenant, space, id, at).await
    }

    async fn drop_job(&self, tenant: &Tenant, space: &Space, id: i64) -> Result<bool> {
        self.inner.store.drop_job(tenant, space, id).await
    }

    async fn create_agent(&self, tenant: &Tenant, agent: Agent) -> Result<bool> {
        self.inner.store.create_agent(tenant, agent).await
    }

    async fn agents(&self, tenant: &Tenant) -> Result<Vec<Agent>> {
        self.inner.store.agents(tenant).await
    }

    async fn agent(&self, tenant: &Tenant, slug: &str) -> Result<Option<Agent>> {
        self.inner.store.agent(tenant, slug).await
    }

    async fn drop_agent(&self, tenant: &Tenant, slug: &str) -> Result<bool> {
        self.with_collections(tenant, &Space::Agent(slug.to_owned()), self.inner.store.drop_agent(tenant, slug)).await
    }

    async fn put_key(&self, key: Key) -> Result<()> {
        self.inner.store.put_key(key).await
    }

    async fn key(&self, id: &str) -> Result<Option<Key>> {
        self.inner.store.key(id).await
    }

    async fn keys(&self, tenant: &Tenant) -> Result<Vec<Key>> {
        self.inner.store.keys(tenant).await
    }

    async fn revoke_key(&self, tenant: &Tenant, id: &str, at: Timestamp) -> Result<bool> {
        self.inner.store.revoke_key(tenant, id, at).await
    }

    async fn has_keys(&self) -> Result<bool> {
        self.inner.store.has_keys().await
    }

    async fn check(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>> {
        self.inner.store.check(visible, repair).await
    }
}
