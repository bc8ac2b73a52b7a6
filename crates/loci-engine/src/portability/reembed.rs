//! Computes missing vectors, and recomputes all of them after the model has changed.
//!
//! Missing vectors are jobs that `remember` left when no model was available. Both can be stopped at any time and
//! continue where they stopped.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use loci_store::{JobUpdate, Page};
use loci_types::{
    Action, Batch, Change, Error, ErrorKind, Filter, Job, JobKind, Memory, MemoryId, State, Vector, Visible,
};
use serde::Serialize;

use crate::access::policy::{self, Caller};
use crate::{Engine, Result};

/// Number of texts that are given to the model at once.
const BATCH: usize = 100;

/// Number of waiting jobs that are done at once.
const JOBS_PER_ROUND: usize = 300;

/// Number of refusals after which a job is set aside.
const MAX_EMBED_ATTEMPTS: u32 = 8;

/// Waits double up to two to this many seconds, about four minutes.
const LONGEST_WAIT: u32 = 8;

/// Number of memories that are read at once when they are counted.
const MEMORIES_PER_COUNT: usize = 500;

/// What a pass would cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// Memories there are.
    pub memories: u64,
    /// Vectors that are to be made.
    pub vectors: u64,
    /// Tokens of their texts.
    pub tokens: u64,
}

/// The result of a pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReembedProgress {
    /// Number of memories that were processed.
    pub seen: u64,
    /// Number of vectors that were computed.
    pub embedded: u64,
}

/// The result of a pass over all memories.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReembedReport {
    /// The present model.
    pub model: String,
    /// Number of memories that were processed.
    pub seen: u64,
    /// Number of vectors that were computed.
    pub embedded: u64,
    /// Number of vectors of other models that were dropped, by model.
    pub dropped: BTreeMap<String, u64>,
}

impl Engine {
    /// The name of the present model, or an error that says how to set one.
    pub fn embedding_model(&self) -> Result<&str> {
        let missing = || {
            Error::new(ErrorKind::Configuration, "no embedding model is configured")
                .at("embeddings")
                .hint("run `loci model fetch`, set LOCI_MODEL_DIR, or set embeddings.provider")
        };
        Ok(self.embedder.as_ref().map(|embedder| embedder.model().name.as_str()).ok_or_else(missing)?)
    }

    /// Runs the waiting embedding jobs, computes the vector of every other memory with the present model, and drops
    /// the vectors of all other models if `drop_others` is set. `progress` receives the number of memories that were
    /// processed, and the total.
    pub async fn reembed_all(
        &self,
        caller: &Caller,
        drop_others: bool,
        progress: impl FnMut(u64, u64) + Send,
    ) -> Result<ReembedReport> {
        policy::require_operator(caller, "re-embed memories")?;
        let mut done = ReembedReport { model: self.embedding_model()?.to_owned(), ..ReembedReport::default() };
        loop {
            match self.embed_waiting(caller, JOBS_PER_ROUND).await? {
                0 => break,
                waiting => done.embedded += waiting as u64,
            }
        }
        let pass = self.reembed(caller, progress).await?;
        (done.seen, done.embedded) = (pass.seen, done.embedded + pass.embedded);
        if drop_others {
            done.dropped = self.drop_other_vectors(caller).await?;
        }
        Ok(done)
    }

    /// Does up to `limit` waiting embedding jobs. Returns how many there were.
    pub async fn embed_waiting(&self, caller: &Caller, limit: usize) -> Result<usize> {
        if self.embedder.is_none() {
            return Ok(0);
        }
        let (now, lease) = (self.now(), Duration::from_secs(120));
        let jobs = self.store.claim(&caller.tenant, &[JobKind::Embed], limit, now, lease).await?;
        for (number, batch) in jobs.chunks(BATCH).enumerate() {
            let id = |job: &Job| serde_json::from_value::<MemoryId>(job.payload["memory"].clone()).ok();
            let ids: Vec<MemoryId> = batch.iter().filter_map(id).collect();
            let visible = self.visible_by_id(caller).await?;
            let memories = self.store.fetch(&visible, &ids).await?;
            if let Err(error) = self.embed_all(caller, &memories).await {
                // Those that were not tried are given back, too: they need not wait for the end of their lease.
                let (first, untried) = (number * BATCH, number * BATCH + batch.len());
                for (place, job) in jobs.iter().enumerate().skip(first) {
                    let again = if place < untried { retry_at(job, &error, now) } else { Some(now) };
                    let update = JobUpdate::Failed { error: error.to_string(), retry_at: again };
                    self.store.update_job(&caller.tenant, job, update).await?;
                }
                return Err(error);
            }
            for job in batch {
                self.store.update_job(&caller.tenant, job, JobUpdate::Done).await?;
            }
        }
        Ok(jobs.len())
    }

    /// Computes the vector of every memory that has none of the present model, and its token states where they are
    /// stored. `progress` receives the number of memories that were processed, and the total.
    pub async fn reembed(&self, caller: &Caller, mut progress: impl FnMut(u64, u64) + Send) -> Result<ReembedProgress> {
        if self.embedder.is_none() {
            return Ok(ReembedProgress::default());
        }
        let visible = self.visible_by_id(caller).await?;
        let filter =
            Filter { states: vec![State::Active, State::Decayed, State::Archived], ..Filter::everything(self.now()) };
        let mut done = ReembedProgress::default();
        let mut page = Page { after: None, limit: BATCH };
        loop {
            let listing = self.store.scan(&visible, &filter, page).await?;
            done.seen += listing.memories.len() as u64;
            let without = self.without_vector(&visible, listing.memories).await?;
            self.embed_all(caller, &without).await?;
            done.embedded += without.len() as u64;
            progress(done.seen, listing.total);
            match listing.next {
                Some(next) => page = Page { after: Some(next), limit: BATCH },
                None => return Ok(done),
            }
        }
    }

    /// What a pass would do: how many memories have no vector of the present model, and their tokens.
    pub async fn reembed_estimate(&self, caller: &Caller) -> Result<Estimate> {
        if self.embedder.is_none() {
            return Ok(Estimate::default());
        }
        let visible = self.visible_by_id(caller).await?;
        let filter =
            Filter { states: vec![State::Active, State::Decayed, State::Archived], ..Filter::everything(self.now()) };
        let mut estimate = Estimate::default();
        let mut page = Page { after: None, limit: MEMORIES_PER_COUNT };
        loop {
            let listing = self.store.scan(&visible, &filter, page).await?;
            estimate.memories += listing.memories.len() as u64;
            for memory in self.without_vector(&visible, listing.memories).await? {
                estimate.vectors += 1;
                estimate.tokens += u64::from(memory.tokens);
            }
            match listing.next {
                Some(next) => page = Page { after: Some(next), limit: MEMORIES_PER_COUNT },
                None => return Ok(estimate),
            }
        }
    }

    /// The switch: deletes the vectors of every other model. Returns how many were deleted, by model.
    pub async fn drop_other_vectors(&self, caller: &Caller) -> Result<BTreeMap<String, u64>> {
        policy::require_operator(caller, "drop vectors")?;
        let Some(embedder) = &self.embedder else { return Ok(BTreeMap::new()) };
        let present = embedder.model().name.clone();
        let mut others = self.stats(caller).await?.vectors;
        let languages = self.languages.as_ref().map(|embedder| embedder.model().name.clone());
        others.retain(|model, count| *model != present && Some(model) != languages.as_ref() && *count > 0);
        for model in others.keys() {
            for space in self.store.spaces(&caller.tenant).await? {
                let action = Action::DropVectors { model: model.clone() };
                let changes = vec![self.change(caller, "worker", "embedding model switched", action)];
                self.apply(Batch { tenant: caller.tenant.clone(), space, changes }).await?;
            }
        }
        Ok(others)
    }

    /// Those of the memories that have no vector, or not the one they would get today.
    async fn without_vector(&self, visible: &Visible, memories: Vec<Memory>) -> Result<Vec<Memory>> {
        let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
        let vectors: HashMap<MemoryId, Vector> = self.present_vectors(visible, &ids).await?;
        let lacks = |memory: &Memory| !vectors.get(&memory.id).is_some_and(|vector| self.is_whole(memory, vector));
        Ok(memories.into_iter().filter(lacks).collect())
    }

    /// The vectors that memories have of the models in use.
    pub(crate) async fn present_vectors(
        &self,
        visible: &Visible,
        ids: &[MemoryId],
    ) -> Result<HashMap<MemoryId, Vector>> {
        let mut found: HashMap<MemoryId, Vector> = HashMap::new();
        // What the model for other languages has read, the other could not: an older vector of that one says nothing.
        for embedder in [&self.languages, &self.embedder].into_iter().flatten() {
            let missing: Vec<MemoryId> = ids.iter().filter(|id| !found.contains_key(id)).copied().collect();
            if !missing.is_empty() {
                found.extend(self.store.vectors(visible, &embedder.model().name, &missing).await?);
            }
        }
        Ok(found)
    }

    async fn embed_all(&self, caller: &Caller, memories: &[Memory]) -> Result<()> {
        let Some(vectors) = self.embed(&memories.iter().collect::<Vec<_>>()).await? else { return Ok(()) };
        let mut by_space: std::collections::BTreeMap<_, Vec<Change>> = std::collections::BTreeMap::new();
        for (memory, vector) in memories.iter().zip(vectors) {
            let action = Action::Embed { id: memory.id, of: memory.content_hash, vector };
            let change = self.change(caller, "worker", "embedded", action);
            by_space.entry(memory.scope()?.space()).or_default().push(change);
        }
        for (space, changes) in by_space {
            self.apply(Batch { tenant: caller.tenant.clone(), space, changes }).await?;
        }
        Ok(())
    }
}

/// When an embedding job that failed is tried again. `None` if it is set aside: a model that is away comes back, a text
/// that it refuses stays refused.
fn retry_at(job: &Job, error: &crate::Error, now: Timestamp) -> Option<Timestamp> {
    let hopeful = error.kind() != ErrorKind::InvalidInput || job.attempt < MAX_EMBED_ATTEMPTS;
    let wait = SignedDuration::from_secs(2_i64.pow(job.attempt.min(LONGEST_WAIT)));
    hopeful.then(|| now.saturating_add(wait).unwrap_or(now))
}
