//! The [`Engine`]: a store with an optional embedder, a clock and a configuration.
//!
//! Its operations are in the other modules, one `impl` block each.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use loci_models::{Embedder, Reranker};
use loci_store::Store;
use loci_store::text::Analyser;
use loci_store::tier::Tier;
use loci_types::{Action, Batch, Change, JobKind, JobSpec, Kinds, MemoryId, Provenance, Space, Tenant};
use serde_json::json;
use tokio::task::JoinSet;
use uuid::{ContextV7, Timestamp as UuidTimestamp, Uuid};

use crate::access::policy::Caller;
use crate::access::redact::{Pass, Redactor};
use crate::learn::llm::LlmClient;
use crate::lifecycle::summary::RequestedSummaries;
use crate::recall::FeatureCache;
use crate::recall::access_counts::PendingAccesses;
use crate::recall::plan::exemplars::Exemplars;
use crate::working::WorkingMemories;
use crate::write::batch::Batcher;
use crate::{Clock, Config, Result};

/// The engine: memory for AI agents, on a store.
pub struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    /// The multilingual model, for texts that the main model cannot read.
    pub(crate) languages: Option<Arc<dyn Embedder>>,
    /// Whether the store has vectors of the multilingual model, as far as is known.
    pub(crate) has_multilingual_vectors: AtomicBool,
    /// Whether a memory without a vector gets an embedding job.
    wants_vectors: bool,
    pub(crate) reranker: Option<Arc<dyn Reranker>>,
    pub(crate) llm: Option<LlmClient>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: Config,
    pub(crate) kinds: Kinds,
    pub(crate) redactor: Redactor,
    pub(crate) analyser: Analyser,
    pub(crate) feature_cache: FeatureCache,
    pub(crate) exemplars: Exemplars,
    /// Agents that were found to be known.
    pub(crate) known_agents: crate::access::slugs::KnownAgents,
    /// The time zone of days and weeks.
    pub(crate) time_zone: TimeZone,
    /// Working memory of agents.
    pub(crate) working: WorkingMemories,
    /// Summaries that were made on request.
    pub(crate) requested_summaries: RequestedSummaries,
    /// The tier for session entries.
    pub(crate) tier: Option<Arc<dyn Tier>>,
    /// The buffer of batched writes.
    pub(crate) batcher: Batcher,
    ids: Mutex<ContextV7>,
    behind: tokio::sync::Mutex<JoinSet<()>>,
    uses: Arc<PendingAccesses>,
}

impl Engine {
    /// An engine on this store. Without an embedder it finds by words, and says so.
    pub fn new(
        store: Arc<dyn Store>,
        embedder: Option<Arc<dyn Embedder>>,
        clock: Arc<dyn Clock>,
        config: Config,
    ) -> Result<Self> {
        config.validate()?;
        let kinds = Kinds::with(config.kinds.clone())?;
        let time_zone = config.retrieval.time_zone()?;
        let redactor = Redactor::new(&config.redaction)?;
        Ok(Self {
            store,
            embedder,
            languages: None,
            has_multilingual_vectors: AtomicBool::new(false),
            wants_vectors: true,
            reranker: None,
            llm: None,
            clock,
            analyser: Analyser::default(),
            feature_cache: FeatureCache::new(config.retrieval.feature_cache_bytes),
            known_agents: Default::default(),
            exemplars: Exemplars::default(),
            time_zone,
            working: WorkingMemories::default(),
            requested_summaries: RequestedSummaries::default(),
            tier: None,
            batcher: Batcher::new(config.batch.clone()),
            config,
            kinds,
            redactor,
            ids: Mutex::new(ContextV7::new()),
            behind: tokio::sync::Mutex::default(),
            uses: Arc::default(),
        })
    }

    /// Switches embedding off: memories get no vector and no embedding job.
    pub fn without_vectors(mut self) -> Self {
        self.wants_vectors = false;
        self
    }

    /// Adds a multilingual model, for texts that the main model cannot read.
    pub fn with_languages(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.languages = Some(embedder);
        self
    }

    /// Adds a reranker, which scores the best candidates again.
    pub fn with_reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.reranker = Some(reranker);
        self
    }

    /// Adds a tier for session entries. Working memory stays in this process.
    pub fn with_sessions(mut self, tier: Arc<dyn Tier>) -> Self {
        self.tier = Some(tier);
        self
    }

    /// Adds a tier that survives restarts: session entries are stored there, and working memory is mirrored there and
    /// loaded after a restart.
    pub fn with_tier(mut self, tier: Arc<dyn Tier>) -> Self {
        self.working = WorkingMemories::mirrored(tier.clone());
        self.with_sessions(tier)
    }

    /// The kinds that exist here.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// The rules in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The embedding model. `None` if search is by words alone.
    pub fn model(&self) -> Option<&loci_models::Model> {
        self.embedder.as_ref().map(|embedder| embedder.model())
    }

    /// The problem that the embedding model has now, if it is a service that is away. See [`Embedder::health`].
    pub async fn model_problem(&self) -> Option<String> {
        self.embedder.as_ref()?.health().await.err().map(|error| error.to_string())
    }

    /// Whether the best results are scored a second time: by their token states, or by a reranker.
    pub fn reads_twice(&self) -> bool {
        self.reranker.is_some() || self.keeps_tokens()
    }

    /// The store, for administration.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The time zone in which days begin: `retrieval.time_zone`.
    pub fn time_zone(&self) -> &TimeZone {
        &self.time_zone
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// An id that sorts after all that this engine made before, at the clock's time.
    pub(crate) fn new_id(&self, at: Timestamp) -> MemoryId {
        let context = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = at.as_second().max(0).unsigned_abs();
        let nanoseconds = at.subsec_nanosecond().max(0).unsigned_abs();
        MemoryId(Uuid::new_v7(UuidTimestamp::from_unix(&*context, seconds, nanoseconds)))
    }

    /// The job that makes the vector of a memory later; none if memories are to have no vectors.
    pub(crate) fn embed_jobs(&self, id: MemoryId, at: Timestamp) -> Vec<JobSpec> {
        self.wants_vectors.then(|| embed_job(id, at)).into_iter().collect()
    }

    /// A change by this caller, now.
    pub(crate) fn change(&self, caller: &Caller, node: &str, reason: &str, action: Action) -> Change {
        Change {
            action,
            reason: self.mask_reason(reason),
            provenance: Provenance {
                actor: self.actor(caller),
                node: node.to_owned(),
                thread: None,
                request: caller.request.clone(),
            },
            at: self.clock.now(),
        }
    }

    /// A reason as the ledger may tell it: someone may have given it in their own words.
    fn mask_reason(&self, reason: &str) -> String {
        let mut masked = reason.to_owned();
        // A quiet pass refuses nothing, so it cannot fail.
        let _ = Pass::quiet(&self.redactor).text("reason", &mut masked);
        masked
    }

    /// The actor of a ledger entry: the named actor or user, otherwise the credential.
    fn actor(&self, caller: &Caller) -> Option<String> {
        let named = caller.actor.clone().or_else(|| caller.identifiers.user_id.clone());
        named.or_else(|| caller.credential.clone())
    }

    /// Counts that recall returned these memories, in the background. One write per space runs at a time, and
    /// accesses that arrive meanwhile share the next one: otherwise every query would be a transaction that writers
    /// wait for.
    pub(crate) async fn record_access_in_background(&self, tenant: Tenant, space: Space, change: Change) {
        let place = (tenant, space);
        let mut behind = self.behind.lock().await;
        if !self.uses.begin(&place, &change) {
            return;
        }
        // Finished tasks are removed, so that a long-lived engine does not accumulate them.
        while behind.try_join_next().is_some() {}
        let (store, uses) = (self.store.clone(), self.uses.clone());
        behind.spawn(async move {
            let mut next = Some(change);
            while let Some(change) = next {
                let (tenant, space) = place.clone();
                if let Err(error) = store.apply(Batch { tenant, space, changes: vec![change] }).await {
                    tracing::warn!(%error, "an access count was not written");
                }
                next = uses.next(&place);
            }
        });
    }

    /// Waits for all background writes.
    pub async fn flush(&self) {
        self.write_waiting().await;
        self.working.mirrored_up_to_now().await;
        let mut behind = self.behind.lock().await;
        while behind.join_next().await.is_some() {}
    }

    /// Shuts down: queued writes are written, and working memory is stored as turns, unless a tier keeps it for the
    /// next start.
    pub async fn close(&self) {
        if !self.working.outlive() {
            self.flush_all_working().await;
        }
        self.flush().await;
        if let Some(indexed) = self.store.indexed()
            && !indexed.settle(INDEX_PATIENCE).await
        {
            tracing::info!("the vector index does not have everything yet; a server fills it, or the next query");
        }
    }
}

/// How long a process that ends waits for the vector index.
const INDEX_PATIENCE: Duration = Duration::from_secs(5);

/// The job that computes the vector of a memory.
pub(crate) fn embed_job(id: MemoryId, at: Timestamp) -> JobSpec {
    JobSpec {
        kind: JobKind::Embed,
        payload: json!({ "memory": id }),
        unique: Some(format!("embed {id}")),
        run_after: at,
    }
}
