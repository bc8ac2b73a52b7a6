//! `remember`: writes one memory.
//!
//! Two steps. `admit` decides whether and where the caller may write, masks secrets, checks all bounds and makes the
//! record; nothing is written yet. `write_admitted` embeds it if a model is available, reconciles it with known
//! memories and applies the result in one transaction. Without a model, the vector is computed by a job.

use std::collections::BTreeSet;

use jiff::Timestamp;
use loci_types::{
    AccessPolicy, Action, Addition, Batch, Class, Durability, Error, ErrorKind, KnowledgePointer, Layer, Memory,
    MemoryId, Outcome, Receipt, Scope, Source, State, Visible, contains_nul, unit,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::access::bounds;
use crate::access::policy::{self, Caller};
use crate::access::redact::Pass;
use crate::access::settings::within;
use crate::learn::consent;
use crate::learn::writing_rules::{Breach, validate};
use crate::lifecycle::rules::state::{days_after, rate_of};
use crate::text::{content_hash, estimate_tokens, event_key};
use crate::write::reconcile::claim_key;
use crate::write::reconcile::write::{AS_IS, analyse};
use crate::{Engine, Result, choose_kind, importance, optional_instant};

/// A new memory. Only `content` is required.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct NewMemory {
    /// The text.
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub content: String,
    /// The layer. Default: the most specific one that the identifiers allow.
    pub layer: Option<Layer>,
    /// The kind. Default: chosen by the text.
    pub kind: Option<String>,
    /// A label from the categories configuration.
    pub category: Option<String>,
    /// Labels that the caller chooses.
    pub tags: Vec<String>,
    /// Further fields, by name.
    pub metadata: Map<String, Value>,
    /// How it was acquired.
    pub source: Option<Source>,
    /// The knowledge item that it mirrors.
    pub knowledge_pointer: Option<KnowledgePointer>,
    /// Which callers within the scope may see it. Default: `shared`.
    pub access_policy: Option<AccessPolicy>,
    /// The importance, 0 to 1. Default: estimated from the text.
    pub importance: Option<f64>,
    /// The confidence, 0 to 1. Default: 1.
    pub confidence: Option<f64>,
    /// How fast the confidence decays, 0 to 1. Default: by its kind.
    pub decay_rate: Option<f64>,
    /// The relevance from which it begins to decay, 0 to 1. Default: 1.
    pub relevance: Option<f64>,
    /// Whether it is kept whatever its age. Default: false.
    pub pinned: bool,
    /// When it happened: an instant, or a day.
    #[serde(deserialize_with = "optional_instant")]
    pub event_time: Option<Timestamp>,
    /// When it was said or written: an instant, or a day. Default: now.
    #[serde(deserialize_with = "optional_instant")]
    pub said_at: Option<Timestamp>,
    /// The first instant, or day, at which it holds. Default: no limit.
    #[serde(deserialize_with = "optional_instant")]
    pub valid_from: Option<Timestamp>,
    /// The first instant, or day, at which it no longer holds. Default: no limit.
    #[serde(deserialize_with = "optional_instant")]
    pub valid_until: Option<Timestamp>,
    /// The instant, or day, from which it is not returned any more and may be removed. Default: never.
    #[serde(deserialize_with = "optional_instant")]
    pub expires_at: Option<Timestamp>,
    /// The conversation that it belongs to.
    pub thread_id: Option<String>,
    /// The agent run that wrote it.
    pub run_id: Option<String>,
    /// The person or agent that said or wrote it.
    pub actor_id: Option<String>,
    /// The role of the speaker: `user`, `assistant`, `tool` or `system`.
    pub role: Option<String>,
    /// Whether it is added without comparing it with known memories: it neither repeats nor replaces any.
    pub as_is: bool,
    /// Its vector by the embedding model of this server, which is then not computed. Default: computed. It is ignored if
    /// something in the text was masked.
    pub embedding: Option<Vec<f32>>,
    /// The name of the model that made `embedding`. It must be the model of this server. Default: not checked.
    pub embedding_model: Option<String>,
    /// `batched` acknowledges the memory before it is written to disk, at most a second later. Default: `durable`.
    pub durability: Option<Durability>,
    /// Whether its vector is computed by a job instead of while the caller waits.
    #[serde(skip)]
    pub embed_later: bool,
    /// The id that it is to have. It is then added as it is: neither as a repetition nor in place of another.
    #[serde(skip)]
    pub id: Option<MemoryId>,
    /// Whether it is only proposed, and waits for the consent of its user.
    #[serde(skip)]
    pub proposed: bool,
}

/// When the vector of a new memory is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Embed {
    /// Before it is applied, if a model is available.
    Now,
    /// By a job.
    Later,
}

/// The metadata field with the reasons why the text of a caller breaks the writing rules. It is stored all the same.
pub(crate) const BROKEN_RULES: &str = "writingRules";

/// The ledger reason of a memory that a caller wrote.
pub(crate) const REASON: &str = "remembered";

/// A validated new memory.
#[derive(Clone)]
pub(crate) struct AdmittedMemory {
    pub(crate) scope: Scope,
    /// What it may be compared with.
    pub(crate) visible: Visible,
    pub(crate) addition: Addition,
    pub(crate) embed: Embed,
    /// Whether it is reconciled with known memories.
    pub(crate) reconcile: bool,
    /// The names of the patterns that were masked.
    pub(crate) redacted: Vec<String>,
}

impl Engine {
    /// Writes one memory; it is durable when the call returns. It is reconciled with known memories: a repetition is
    /// not added, a changed statement replaces the old one, unless `as_is` is set.
    pub async fn remember(&self, caller: &Caller, new: NewMemory) -> Result<Receipt> {
        let admitted = self.admit(caller, new).await?;
        self.write_admitted(caller, admitted).await
    }

    /// Writes a validated memory.
    pub(crate) async fn write_admitted(&self, caller: &Caller, admitted: AdmittedMemory) -> Result<Receipt> {
        let AdmittedMemory { scope, visible, mut addition, embed, reconcile, redacted } = admitted;
        self.embed_addition(&mut addition, embed).await;
        let receipt = if reconcile {
            self.reconcile_and_write(caller, scope, visible, addition, REASON).await?
        } else {
            self.add(caller, scope, addition, REASON, Vec::new()).await?
        };
        Ok(Receipt { redacted, ..receipt })
    }

    /// Authorises a new memory, masks secrets in it, checks its bounds and makes its record, so that it only has to be
    /// written. Each is done once; what follows relies on it.
    pub(crate) async fn admit(&self, caller: &Caller, mut new: NewMemory) -> Result<AdmittedMemory> {
        policy::require_writer(caller)?;
        self.check_content(&new.content)?;
        new.lift_metadata();
        let allowed = self.categories_of(caller).await?;
        let scope = self.target(caller, new.layer).await?;
        let visible = policy::visible_scope(caller, &scope, allowed.clone());
        let redacted = self.redact(&mut new)?;
        // After masking, so that no message repeats a secret.
        self.check(&new)?;
        within(allowed.as_ref(), new.category.as_slice())?;
        self.describe(&mut new, allowed.as_ref())?;
        if let Some(id) = new.id {
            // A space has each id once; another space of the tenant must not have it either. Whose it is stays unsaid.
            let taken = !self.store.fetch(&policy::visible_tenant(&caller.tenant), &[id]).await?.is_empty();
            if taken {
                return Err(Error::new(ErrorKind::Conflict, format!("id {id} is in use"))
                    .at("id")
                    .hint("leave the id out, or choose another one")
                    .into());
            }
        }
        let placed = new.id.is_some() || new.proposed;
        let as_is = new.as_is || placed || !self.config.bands.reconcile;
        let embed = if new.embed_later { Embed::Later } else { Embed::Now };
        let mut addition = self.record(caller, &scope, new, None)?;
        if allowed.is_some() {
            // A caller with categories must not learn from the answer what other categories contain.
            let category = addition.memory.category.as_deref();
            addition.unless = Some(event_key(&addition.memory.content, &[Some("category"), category]));
        }
        if placed {
            addition.unless = None;
        }
        let reconcile = !as_is && self.kinds.spec(&addition.memory.kind).class != Class::Episodic;
        Ok(AdmittedMemory { scope, visible, addition, embed, reconcile, redacted })
    }

    /// Adds what a caller leaves out: the category of a procedure, by which alone it is found, and the writing rules that the
    /// text breaks.
    fn describe(&self, new: &mut NewMemory, allowed: Option<&BTreeSet<String>>) -> Result<()> {
        let kind = self.kinds.parse(new.kind.as_deref().unwrap_or_else(|| choose_kind(&new.content).0))?;
        let class = self.kinds.spec(&kind).class;
        if class == Class::Procedural && new.category.is_none() {
            let category = self.config.learning.categories.get(kind.name()).cloned();
            new.category = category.filter(|category| allowed.is_none_or(|allowed| allowed.contains(category)));
        }
        if let Some(marks) = broken_rules(&new.content, class) {
            new.metadata.entry(BROKEN_RULES).or_insert(marks);
        }
        Ok(())
    }

    /// Masks or refuses secrets. Returns the names of the patterns that were masked.
    pub(crate) fn redact(&self, new: &mut NewMemory) -> Result<Vec<String>> {
        let mut pass = Pass::strict(&self.redactor);
        pass.new_memory(new)?;
        let found = pass.found();
        if !found.is_empty() {
            // It was made from the text before it was masked.
            new.embedding = None;
        }
        Ok(found)
    }

    /// Masks and checks a memory that the engine writes itself, and makes its record, in a scope that the caller may write
    /// to.
    pub(crate) fn admit_into(
        &self,
        caller: &Caller,
        scope: &Scope,
        mut new: NewMemory,
        follows: Option<MemoryId>,
    ) -> Result<Addition> {
        Pass::quiet(&self.redactor).new_memory(&mut new)?;
        self.check(&new)?;
        self.record(caller, scope, new, follows)
    }

    /// The record of a new memory that was masked and checked.
    fn record(
        &self,
        caller: &Caller,
        scope: &Scope,
        mut new: NewMemory,
        follows: Option<MemoryId>,
    ) -> Result<Addition> {
        let vector = self.given_vector(new.embedding.take(), new.embedding_model.as_deref())?;
        let now = self.clock.now();
        let (kind, sure) = match &new.kind {
            Some(name) => (self.kinds.parse(name)?, 1.0),
            None => {
                let (name, sure) = choose_kind(&new.content);
                (self.kinds.parse(name)?, sure)
            }
        };
        let importance = match new.importance {
            Some(given) => given,
            None => {
                importance(&new.content, new.source.as_ref().map(|source| source.kind.as_str()), new.role.as_deref())
            }
        };
        let mut identifiers = scope.identifiers();
        // Other identifiers say where it came from; those of the scope are the scope's own.
        for which in loci_types::Identifier::ALL {
            let implied = which == loci_types::Identifier::Pool && caller.pool_implied;
            if identifiers.get(which).is_none()
                && !implied
                && let Some(value) = caller.identifiers.get(which)
            {
                identifiers.set(which, Some(value.to_owned()));
            }
        }
        let mut metadata = new.metadata;
        if new.as_is {
            metadata.insert(AS_IS.to_owned(), true.into());
        }
        if new.kind.is_none() {
            metadata.entry("kindConfidence").or_insert_with(|| sure.into());
        }
        let hash = content_hash(&new.content);
        let id = new.id.unwrap_or_else(|| self.new_id(now));
        let mut memory = Memory {
            id,
            version: 1,
            layer: scope.layer(),
            identifiers,
            thread_id: new.thread_id,
            run_id: new.run_id,
            actor_id: new.actor_id,
            role: new.role,
            category: new.category,
            tokens: estimate_tokens(&new.content),
            content: new.content,
            content_hash: hash,
            tags: new.tags,
            metadata,
            source: new.source,
            knowledge_pointer: new.knowledge_pointer,
            access_policy: new.access_policy.unwrap_or_default(),
            importance,
            confidence: new.confidence.unwrap_or(1.0),
            decay_rate: new.decay_rate.unwrap_or_else(|| self.decay_rate(&kind)),
            pinned: new.pinned,
            access_count: 0,
            last_accessed_at: None,
            relevance: new.relevance.unwrap_or(1.0),
            event_time: new.event_time,
            said_at: new.said_at,
            imported_at: None,
            created_at: now,
            updated_at: now,
            valid_from: new.valid_from,
            valid_until: new.valid_until,
            expires_at: new.expires_at,
            purge_at: None,
            supersedes_id: None,
            superseded_by_id: None,
            state: State::Active,
            kind,
        };
        if memory.access_policy.writer_only() && memory.actor_id.is_none() && memory.identifiers.user_id.is_none() {
            // What only its writer sees must have one.
            memory.actor_id.clone_from(&caller.credential);
        }
        if new.proposed {
            consent::ask(&mut memory, "approval");
            memory.state = State::Proposed;
            memory.purge_at = Some(days_after(now, i64::from(self.config.consent.days)));
        }
        let (unless, claim) = (Some(self.twin_key(&memory)), self.claim_of(&memory));
        Ok(Addition { unless, claim, follows, vector, ..Addition::new(memory) })
    }

    /// The key of the claim of a memory. Turns and graph records have none.
    pub(crate) fn claim_of(&self, memory: &Memory) -> Option<loci_types::ContentHash> {
        let reconcile = self.kinds.spec(&memory.kind).class != Class::Episodic && !crate::graph::is_part(memory);
        reconcile.then(|| analyse(memory)).and_then(|reading| reading.claim().map(claim_key))
    }

    /// The decay rate of the confidence of a kind.
    pub(crate) fn decay_rate(&self, kind: &loci_types::Kind) -> f64 {
        let rules = &self.config.lifecycle;
        rules.decay_rate.unwrap_or_else(|| rate_of(self.kinds.spec(kind), rules))
    }

    /// The key by which repetitions are found: for facts the content, for events also time and place, for graph
    /// records their own key.
    pub(crate) fn twin_key(&self, memory: &Memory) -> loci_types::ContentHash {
        if let Some(key) = crate::graph::key_of(memory) {
            return key;
        }
        if self.kinds.spec(&memory.kind).class != Class::Episodic {
            // What only its writer sees is nobody else's twin.
            let writer = memory.actor_id.as_deref().or(memory.identifiers.user_id.as_deref());
            return match memory.access_policy.writer_only() {
                true => event_key(&memory.content, &[Some("private"), writer]),
                false => memory.content_hash,
            };
        }
        let time = memory.event_time.map(|at| at.as_microsecond().to_string());
        let place = [
            memory.thread_id.as_deref(),
            memory.identifiers.session_id.as_deref(),
            memory.actor_id.as_deref(),
            memory.source.as_ref().and_then(|source| source.reference.as_deref()),
            time.as_deref(),
        ];
        event_key(&memory.content, &place)
    }

    /// Applies an addition and the actions that belong to it.
    pub(crate) async fn add(
        &self,
        caller: &Caller,
        scope: Scope,
        addition: Addition,
        reason: &str,
        more: Vec<Action>,
    ) -> Result<Receipt> {
        self.add_as("hotpath", caller, scope, addition, reason, more).await
    }

    /// The same as the work of a part of Loci.
    pub(crate) async fn add_as(
        &self,
        node: &str,
        caller: &Caller,
        scope: Scope,
        addition: Addition,
        reason: &str,
        more: Vec<Action>,
    ) -> Result<Receipt> {
        let embedded = addition.vector.is_some();
        let thread = addition.memory.thread_id.clone();
        let actions = std::iter::once(Action::Add(Box::new(addition))).chain(more);
        let changes = actions.map(|action| {
            let mut change = self.change(caller, node, reason, action);
            change.provenance.thread.clone_from(&thread);
            change
        });
        let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes: changes.collect() };
        let applied = self.apply(batch).await?;
        receipt(applied.first(), embedded, false)
    }

    fn check(&self, new: &NewMemory) -> Result<()> {
        self.check_content(&new.content)?;
        for (field, value) in [
            ("importance", new.importance),
            ("confidence", new.confidence),
            ("decayRate", new.decay_rate),
            ("relevance", new.relevance),
        ] {
            if let Some(value) = value {
                unit(field, value)?;
            }
        }
        self.check_tags(&new.tags)?;
        self.check_metadata(&new.metadata)?;
        let names = [&new.category, &new.role, &new.thread_id, &new.run_id, &new.actor_id];
        bounds::names(names.map(Option::as_deref))?;
        bounds::source(new.source.as_ref())?;
        bounds::pointer(new.knowledge_pointer.as_ref())?;
        check_validity(new.valid_from, new.valid_until)
    }

    /// Refuses a text that is empty, too long, or cannot be stored.
    pub(crate) fn check_content(&self, content: &str) -> Result<()> {
        if content.trim().is_empty() {
            return Err(Error::invalid("content", "content is empty").hint("give the text to remember").into());
        }
        let (length, most) = (content.chars().count(), self.config.limits.content_characters);
        if length > most {
            return Err(Error::new(
                ErrorKind::ContentTooLong,
                format!("content has {length} characters, more than {most}"),
            )
            .at("content")
            .hint("split it, shorten it, or raise limits.content_characters")
            .into());
        }
        Ok(bounds::short("content", Some(content), most)?)
    }

    pub(crate) fn check_tags(&self, tags: &[String]) -> Result<()> {
        let most = self.config.limits.tags;
        if tags.len() > most {
            return Err(Error::invalid("tags", format!("there are {} tags, more than {most}", tags.len())).into());
        }
        let wrong = |tag: &&String| tag.trim().is_empty() || bounds::short("tags", Some(tag), bounds::LABEL).is_err();
        match tags.iter().find(wrong) {
            Some(tag) => {
                let message =
                    format!("`{tag}` is not a valid tag: it is empty, longer than 256 characters, or contains NUL");
                Err(Error::invalid("tags", message).into())
            }
            None => Ok(()),
        }
    }

    pub(crate) fn check_metadata(&self, metadata: &Map<String, Value>) -> Result<()> {
        let most = self.config.limits.metadata_bytes;
        if metadata.iter().any(|(name, value)| name.contains('\0') || contains_nul(value)) {
            return Err(Error::nul("metadata").into());
        }
        let bytes = serde_json::to_string(metadata).map_or(0, |text| text.len());
        if bytes > most {
            return Err(Error::invalid("metadata", format!("metadata has {bytes} bytes, more than {most}")).into());
        }
        Ok(())
    }
}

/// The writing rules that a text breaks, as the metadata field [`BROKEN_RULES`] names them.
pub(crate) fn broken_rules(text: &str, class: Class) -> Option<Value> {
    let breaches: Vec<&str> = validate(text, class).iter().map(Breach::reason).collect();
    (!breaches.is_empty()).then(|| breaches.into())
}

/// Refuses a validity that ends before it starts.
pub(crate) fn check_validity(from: Option<Timestamp>, until: Option<Timestamp>) -> Result<()> {
    match (from, until) {
        (Some(from), Some(until)) if from > until => {
            Err(Error::invalid("validUntil", "validUntil is before validFrom").into())
        }
        _ => Ok(()),
    }
}

/// The receipt of an applied change.
pub(crate) fn receipt(applied: Option<&loci_store::Applied>, embedded: bool, again: bool) -> Result<Receipt> {
    let applied = applied.ok_or_else(|| Error::new(ErrorKind::Internal, "the store applied nothing"))?;
    let id = applied.id.ok_or_else(|| Error::new(ErrorKind::Internal, "the store named no memory"))?;
    let written = applied.outcome != Outcome::None;
    Ok(Receipt {
        id,
        event: applied.outcome,
        version: applied.version,
        embedding_generated: embedded && written && !again,
        embedding_regenerated: embedded && written && again,
        redacted: Vec::new(),
        durability: Durability::Durable,
    })
}
