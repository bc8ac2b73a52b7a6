//! What holds the house together?
//!
//! An [`Engine`] is a store, perhaps an embedder, a clock and a configuration. Its verbs stand in
//! files of their own, named after them.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use loci_models::projection::Projection;
use loci_models::{Detail, Embedder, Embedding, Reranker};
use loci_store::Store;
use loci_store::text::Analyser;
use loci_store::tier::Tier;
use loci_types::{Action, Batch, Change, JobKind, JobSpec, Kinds, MemoryId, Provenance, Space, Tenant, Vector};
use serde_json::json;
use tokio::task::JoinSet;
use uuid::{ContextV7, Timestamp as UuidTimestamp, Uuid};

use crate::batch::Batcher;
use crate::mind::Mind;
use crate::plan::exemplars::Exemplars;
use crate::policy::Caller;
use crate::recall::{Shelf, late};
use crate::redact::{Pass, Redactor};
use crate::working::Desks;
use crate::{Clock, Config, Result};

/// The memory of agents.
pub struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    /// Whether a memory whose vector could not be made waits for one.
    wants_vectors: bool,
    pub(crate) reranker: Option<Arc<dyn Reranker>>,
    pub(crate) mind: Option<Mind>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: Config,
    pub(crate) kinds: Kinds,
    pub(crate) redactor: Redactor,
    pub(crate) analyser: Analyser,
    pub(crate) shelf: Shelf,
    pub(crate) exemplars: Exemplars,
    /// In which days and weeks are counted.
    pub(crate) time_zone: TimeZone,
    /// What agents have before them.
    pub(crate) desks: Desks,
    /// Where sessions keep their entries.
    pub(crate) tier: Option<Arc<dyn Tier>>,
    /// What waits to be written with others.
    pub(crate) batcher: Batcher,
    ids: Mutex<ContextV7>,
    behind: tokio::sync::Mutex<JoinSet<()>>,
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
            wants_vectors: true,
            reranker: None,
            mind: None,
            clock,
            analyser: Analyser::default(),
            shelf: Shelf::new(config.retrieval.reading_bytes),
            exemplars: Exemplars::default(),
            time_zone,
            desks: Desks::default(),
            tier: None,
            batcher: Batcher::new(config.batch.clone()),
            config,
            kinds,
            redactor,
            ids: Mutex::new(ContextV7::new()),
            behind: tokio::sync::Mutex::default(),
        })
    }

    /// The same engine, where embedding is switched off: nothing waits for a vector that nobody will make.
    pub fn without_vectors(mut self) -> Self {
        self.wants_vectors = false;
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
        self.desks = Desks::mirrored(tier.clone());
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

    /// The model that embeds; none: words alone.
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

    /// What the model sees in a question. `None` when there is no model or it fails.
    pub(crate) async fn embed_question(&self, text: &str) -> Option<(Vector, Embedding)> {
        let embedder = self.embedder.as_ref()?;
        let made = embedder.embed(&[text.to_owned()], self.detail()).await;
        let made = made.inspect_err(|error| tracing::warn!(%error, "the embedding model failed"));
        let made = made.ok()?.pop()?;
        let model = embedder.model().name.clone();
        Some((Vector { model, values: made.vector.clone(), token_states: None }, made))
    }

    /// Whether token states are kept beside the vectors.
    pub(crate) fn keeps_tokens(&self) -> bool {
        self.config.retrieval.late_interaction
            && self.model().is_some_and(|model| Projection::of(&model.name).is_some())
    }

    fn detail(&self) -> Detail {
        if self.keeps_tokens() { Detail::Tokens } else { Detail::Sentence }
    }

    /// The vector of a text. `None` when there is no model or it fails: the words are kept, the
    /// vector follows.
    pub(crate) async fn embed_one(&self, text: &str) -> Option<Vector> {
        self.embed_or_wait(&[text.to_owned()]).await?.pop()
    }

    /// A vector for each text. `None` when there is no model or it fails.
    pub(crate) async fn embed_or_wait(&self, texts: &[String]) -> Option<Vec<Vector>> {
        self.embed(texts).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the embedding model failed");
            None
        })
    }

    /// A vector for each text, or why not. `None` when there is no model.
    pub(crate) async fn embed(&self, texts: &[String]) -> Result<Option<Vec<Vector>>> {
        let Some(embedder) = &self.embedder else { return Ok(None) };
        if texts.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let model = &embedder.model().name;
        let made = embedder.embed(texts, self.detail()).await?;
        let vector = |made: Embedding| {
            let token_states = if made.tokens.is_empty() { None } else { late::kept(model, &made) };
            Vector { model: model.clone(), values: made.vector, token_states }
        };
        Ok(Some(made.into_iter().map(vector).collect()))
    }

    /// The job that makes the vector of a memory later; none if memories are to have no vectors.
    pub(crate) fn embed_jobs(&self, id: MemoryId, at: Timestamp) -> Vec<JobSpec> {
        self.wants_vectors.then(|| embed_job(id, at)).into_iter().collect()
    }

    /// A change by this caller, now.
    pub(crate) fn change(&self, caller: &Caller, node: &str, reason: &str, action: Action) -> Change {
        Change {
            action,
            reason: self.tellable(reason),
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
    fn tellable(&self, reason: &str) -> String {
        let mut told = reason.to_owned();
        // A quiet pass refuses nothing, so there is no error to tell.
        let _ = Pass::quiet(&self.redactor).text("reason", &mut told);
        told
    }

    /// Who the ledger says did it: whoever they say they are, else the credential they came with.
    fn actor(&self, caller: &Caller) -> Option<String> {
        let named = caller.actor.clone().or_else(|| caller.identifiers.user_id.clone());
        named.or_else(|| caller.credential.clone())
    }

    /// Counts that recall returned these, without making anyone wait.
    pub(crate) async fn touch_behind(&self, tenant: Tenant, space: Space, change: Change) {
        let store = self.store.clone();
        let mut behind = self.behind.lock().await;
        // What is done is swept up, so that a long-lived engine does not gather it.
        while behind.try_join_next().is_some() {}
        behind.spawn(async move {
            if let Err(error) = store.apply(Batch { tenant, space, changes: vec![change] }).await {
                tracing::warn!(%error, "an access count was not written");
            }
        });
    }

    /// Waits for everything that is written behind.
    pub async fn flush(&self) {
        self.write_waiting().await;
        self.desks.mirrored_up_to_now().await;
        let mut behind = self.behind.lock().await;
        while behind.join_next().await.is_some() {}
    }

    /// The end: what waits is written, and what agents have before them is kept as turns, unless a tier keeps it
    /// for the next start.
    pub async fn close(&self) {
        if !self.desks.outlive() {
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
