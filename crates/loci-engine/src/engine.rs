//! The [`Engine`]: a store with an optional embedder, a clock and a configuration.
//!
//! Its operations are in the other modules, one `impl` block each.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

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
use crate::recall::FeatureCache;
use crate::recall::access_counts::PendingAccesses;
use crate::recall::plan::exemplars::Exemplars;
use crate::working::WorkingMemories;
use crate::write::batch::Batcher;
use crate::{Clock, Config, Result};

/// The memory of agents.
pub struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    /// The model for texts that the other cannot read.
    pub(crate) languages: Option<Arc<dyn Embedder>>,
    /// Whether there are vectors of that model, as far as is known.
    pub(crate) has_multilingual_vectors: AtomicBool,
    /// Whether a memory whose vector could not be made waits for one.
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
    /// In which days and weeks are counted.
    pub(crate) time_zone: TimeZone,
    /// What agents have before them.
    pub(crate) working: WorkingMemories,
    /// Where sessions keep their entries.
    pub(crate) tier: Option<Arc<dyn Tier>>,
    /// What waits to be written with others.
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
            feature_cache: FeatureCache::new(config.retrieval.reading_bytes),
            exemplars: Exemplars::default(),
            time_zone,
            working: WorkingMemories::default(),
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

    /// The same engine, where embedding is switched off: nothing waits for a vector that nobody will make.
    pub fn without_vectors(mut self) -> Self {
        self.wants_vectors = false;
        self
    }

    /// The same engine, with a model for texts that its own cannot read.
    pub fn with_languages(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.languages = Some(embedder);
        self
    }

    /// The same engine, with someone who reads the best hits once more.
    pub fn with_reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.reranker = Some(reranker);
        self
    }

    /// The same engine, with a tier for the entries of sessions. Working memory stays in this process.
    pub fn with_sessions(mut self, tier: Arc<dyn Tier>) -> Self {
        self.tier = Some(tier);
        self
    }

    /// The same engine, with a tier that outlives it: sessions keep their entries there, and working memory is
    /// mirrored there and read back after a restart.
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

    /// Whether the best hits are read once more: by their token states, or by someone else.
    pub fn reads_twice(&self) -> bool {
        self.reranker.is_some() || self.keeps_tokens()
    }

    /// The store below, for those who look after it.
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

    /// Who the ledger says did it: whoever they say they are, else the credential they came with.
    fn actor(&self, caller: &Caller) -> Option<String> {
        let named = caller.actor.clone().or_else(|| caller.identifiers.user_id.clone());
        named.or_else(|| caller.credential.clone())
    }

    /// Counts that recall returned these, without making anyone wait. One write for a space is under way at a time, and what
    /// comes meanwhile shares the next: otherwise every question would be a transaction that those who write wait for.
    pub(crate) async fn record_access_in_background(&self, tenant: Tenant, space: Space, change: Change) {
        let place = (tenant, space);
        let mut behind = self.behind.lock().await;
        if !self.uses.begin(&place, &change) {
            return;
        }
        // What is done is swept up, so that a long-lived engine does not gather it.
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

    /// Waits for everything that is written behind.
    pub async fn flush(&self) {
        self.write_waiting().await;
        self.working.mirrored_up_to_now().await;
        let mut behind = self.behind.lock().await;
        while behind.join_next().await.is_some() {}
    }

    /// The end: what waits is written, and what agents have before them is kept as turns, unless a tier keeps it
    /// for the next start.
    pub async fn close(&self) {
        if !self.working.outlive() {
            self.flush_all_working().await;
        }
        self.flush().await;
    }
}

/// The job that makes the vector of a memory later.
pub(crate) fn embed_job(id: MemoryId, at: Timestamp) -> JobSpec {
    JobSpec {
        kind: JobKind::Embed,
        payload: json!({ "memory": id }),
        unique: Some(format!("embed {id}")),
        run_after: at,
    }
}
