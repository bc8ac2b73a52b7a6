//! Explicit changes of knowledge: `supersede`, `correct`, `confirm` and `pin`.
//!
//! `supersede` replaces a memory, `correct` also marks the old one as wrong, `confirm` and `pin` keep a memory. The
//! old memory stays in its chain and becomes valid again when its replacement is forgotten.

use loci_types::{Action, Batch, Error, Layer, Memory, MemoryId, Patch, Receipt, Revision, Source, State};
use serde::Serialize;

use crate::access::bounds;
use crate::access::policy::{self, Caller};
use crate::write::reconcile::Decision;
use crate::write::remember::receipt;
use crate::{Engine, NewMemory, Result};

/// All versions of a memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Chain {
    /// The versions, oldest first.
    pub versions: Vec<Memory>,
    /// The version that holds now.
    pub head: MemoryId,
}

impl Engine {
    /// Replaces a memory by a new one. The old one stays readable in the chain.
    pub async fn supersede(&self, caller: &Caller, old: MemoryId, new: NewMemory) -> Result<Receipt> {
        policy::require_writer(caller)?;
        self.replace(caller, old, new, "superseded").await
    }

    /// Marks a memory as wrong and replaces it. The correction has full confidence.
    pub async fn correct(&self, caller: &Caller, old: MemoryId, content: &str, why: Option<&str>) -> Result<Receipt> {
        policy::require_writer(caller)?;
        bounds::short("reason", why, bounds::REFERENCE)?;
        let new = NewMemory {
            content: content.to_owned(),
            source: Some(Source { kind: "correction".to_owned(), ..Source::default() }),
            ..NewMemory::default()
        };
        self.replace(caller, old, new, why.unwrap_or("corrected")).await
    }

    async fn replace(&self, caller: &Caller, old: MemoryId, mut new: NewMemory, reason: &str) -> Result<Receipt> {
        let redacted = self.redact(&mut new)?;
        self.may_write(caller, new.category.as_deref()).await?;
        let visible = self.visible_by_id(caller).await?;
        let known = self.one(&visible, old).await?;
        in_use(&known)?;
        let scope = known.scope()?;
        let mut within = Caller { identifiers: known.identifiers.clone(), pool_implied: false, ..caller.clone() };
        if known.layer == Layer::Pool {
            // A pool tells who contributed what: the new text is not the work of who wrote the old.
            within.identifiers.agent_id.clone_from(&caller.identifiers.agent_id);
            within.identifiers.user_id.clone_from(&caller.identifiers.user_id);
        }
        // What is not said anew stays as it was.
        let new = NewMemory {
            layer: Some(known.layer),
            kind: new.kind.or_else(|| Some(known.kind.name().to_owned())),
            category: new.category.or_else(|| known.category.clone()),
            tags: if new.tags.is_empty() { known.tags.clone() } else { new.tags },
            importance: new.importance.or(Some(known.importance)),
            access_policy: new.access_policy.or(Some(known.access_policy)),
            pinned: new.pinned || known.pinned,
            ..new
        };
        let mut addition = self.admit_into(&within, &scope, new, None)?;
        if addition.vector.is_none() {
            addition.vector = self.embed_one(&addition.memory).await;
        }
        let embedded = addition.vector.is_some();
        if !embedded {
            addition.jobs.extend(self.embed_jobs(addition.memory.id, addition.memory.created_at));
        }
        let decision = Decision::Supersede { old, contradicts: Vec::new(), reason: reason.to_owned() };
        let changes: Vec<_> = self
            .actions(&visible, &decision, addition)
            .await?
            .into_iter()
            .map(|action| self.change(caller, "hotpath", reason, action))
            .collect();
        let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes };
        let applied = self.apply(batch).await?;
        self.feature_cache.forget(old);
        Ok(Receipt { redacted, ..receipt(applied.first(), embedded, false)? })
    }

    /// Confirms a memory: it has full confidence and does not decay.
    pub async fn confirm(&self, caller: &Caller, id: MemoryId) -> Result<Receipt> {
        let patch = Patch { confidence: Some(1.0), decay_rate: Some(0.0), ..Patch::default() };
        self.patch(caller, id, patch, "confirmed").await
    }

    /// Pins a memory, so that it is always kept, or unpins it.
    pub async fn pin(&self, caller: &Caller, id: MemoryId, pinned: bool) -> Result<Receipt> {
        policy::require_writer(caller)?;
        let patch = Patch { pinned: Some(pinned), ..Patch::default() };
        self.patch(caller, id, patch, if pinned { "pinned" } else { "no longer pinned" }).await
    }

    async fn patch(&self, caller: &Caller, id: MemoryId, patch: Patch, reason: &str) -> Result<Receipt> {
        let memory = self.one(&self.visible_by_id(caller).await?, id).await?;
        in_use(&memory)?;
        let kept = patch.confidence.is_some() || patch.pinned == Some(true);
        let state = (kept && memory.state == State::Decayed).then_some(State::Active);
        let patch = Patch { state, ..patch };
        let revision = Revision { id, expect: None, patch, vector: None, jobs: Vec::new() };
        self.on_one(caller, id, reason, Action::Revise(Box::new(revision))).await
    }

    /// All versions of a memory, oldest first.
    pub async fn versions(&self, caller: &Caller, id: MemoryId) -> Result<Chain> {
        let visible = self.visible_by_id(caller).await?;
        let memory = self.one(&visible, id).await?;
        let versions = self.chain(&visible, &memory).await?;
        let head = versions.last().map_or(id, |memory| memory.id);
        Ok(Chain { versions, head })
    }
}

/// Refuses a memory that is deleted or only proposed.
pub(crate) fn in_use(memory: &Memory) -> Result<()> {
    let (id, hint) = (memory.id, "`loci consent accept` accepts a proposal, `loci restore` restores a deleted memory");
    match memory.state {
        State::SoftDeleted => {
            Err(Error::invalid("id", format!("memory {id} is deleted; restore it first")).hint(hint).into())
        }
        State::Proposed => Err(Error::invalid("id", format!("memory {id} waits for consent")).hint(hint).into()),
        State::Active | State::Decayed | State::Archived => Ok(()),
    }
}
