//! Updates fields of a memory.

use jiff::Timestamp;
use loci_types::{
    AccessPolicy, Action, Addition, Batch, Class, Error, KnowledgePointer, Memory, MemoryId, NewContent, Patch,
    Receipt, Revision, Source, State, Vector, Visible, unit,
};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::access::bounds;
use crate::access::policy::{self, Caller};
use crate::access::redact::Pass;
use crate::learn::consent;
use crate::learn::consolidate::is_learned;
use crate::text::{content_hash, estimate_tokens};
use crate::write::reconcile::Decision;
use crate::write::remember::{BROKEN_RULES, broken_rules, check_validity, receipt};
use crate::{Engine, Result, optional_instant};

/// New values for fields of a memory. A field that is left out stays as it is. Null removes the category, the source, the
/// knowledge pointer and the times; elsewhere it is the same as leaving the field out.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = MemoryChanges))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Update {
    /// The version that the caller read. If the memory has another one, the change is refused as a conflict.
    pub version: Option<u64>,
    /// The new text. Its vector is computed again.
    pub content: Option<String>,
    /// The new kind.
    pub kind: Option<String>,
    /// The new category.
    #[serde(deserialize_with = "or_null")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub category: Option<Option<String>>,
    /// The new tags, which replace the old ones.
    pub tags: Option<Vec<String>>,
    /// Metadata fields that are merged over the old ones; null removes a field.
    pub metadata: Option<Map<String, Value>>,
    /// The new source.
    #[serde(deserialize_with = "or_null")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Source>))]
    pub source: Option<Option<Source>>,
    /// The new knowledge pointer.
    #[serde(deserialize_with = "or_null")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<KnowledgePointer>))]
    pub knowledge_pointer: Option<Option<KnowledgePointer>>,
    /// The new access policy.
    pub access_policy: Option<AccessPolicy>,
    /// The new importance, 0 to 1.
    pub importance: Option<f64>,
    /// The new confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// How fast the confidence decays from now on, 0 to 1.
    pub decay_rate: Option<f64>,
    /// Whether it is kept whatever its age.
    pub pinned: Option<bool>,
    /// When it happened: an instant, or a day.
    #[serde(deserialize_with = "instant_or_null")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Timestamp>))]
    pub event_time: Option<Option<Timestamp>>,
    /// The first instant, or day, at which it holds.
    #[serde(deserialize_with = "instant_or_null")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Timestamp>))]
    pub valid_from: Option<Option<Timestamp>>,
    /// The first instant, or day, at which it no longer holds.
    #[serde(deserialize_with = "instant_or_null")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Timestamp>))]
    pub valid_until: Option<Option<Timestamp>>,
    /// The instant, or day, from which it is not returned any more and may be removed.
    #[serde(deserialize_with = "instant_or_null")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Timestamp>))]
    pub expires_at: Option<Option<Timestamp>>,
}

/// Reads a field in which null means that the value is removed.
fn or_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Reads an instant or a day, or null, which removes it.
fn instant_or_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Option<Timestamp>>, D::Error> {
    optional_instant(deserializer).map(Some)
}

impl Engine {
    /// Checks new values as far as they do not depend on the memory that they are for.
    pub async fn check_update(&self, caller: &Caller, update: &Update) -> Result<()> {
        policy::require_writer(caller)?;
        let category = update.category.as_ref().and_then(Option::as_deref);
        self.may_write(caller, category).await?;
        for (field, value) in
            [("importance", update.importance), ("confidence", update.confidence), ("decayRate", update.decay_rate)]
        {
            if let Some(value) = value {
                unit(field, value)?;
            }
        }
        check_validity(update.valid_from.flatten(), update.valid_until.flatten())?;
        bounds::short("category", category, bounds::LABEL)?;
        if category.is_some_and(|category| category.trim().is_empty()) {
            return Err(Error::invalid("category", "category is empty").hint("null removes the category").into());
        }
        bounds::source(update.source.as_ref().and_then(Option::as_ref))?;
        bounds::pointer(update.knowledge_pointer.as_ref().and_then(Option::as_ref))?;
        if let Some(tags) = &update.tags {
            self.check_tags(tags)?;
        }
        if let Some(metadata) = &update.metadata {
            self.check_metadata(metadata)?;
        }
        if let Some(name) = &update.kind {
            self.kinds.parse(name)?;
        }
        Ok(())
    }

    /// Changes a memory that the caller may see.
    pub async fn update(&self, caller: &Caller, id: MemoryId, mut update: Update) -> Result<Receipt> {
        policy::require_writer(caller)?;
        update.lift_metadata();
        let mut pass = Pass::strict(&self.redactor);
        pass.update(&mut update)?;
        let redacted = pass.found();
        self.check_update(caller, &update).await?;
        let visible = self.visible_by_id(caller).await?;
        let memory = self.one(&visible, id).await?;
        consent::require_decision(caller, &memory)?;
        consent::require_mark_untouched(&memory, update.metadata.as_ref())?;
        let (from, until) =
            (update.valid_from.unwrap_or(memory.valid_from), update.valid_until.unwrap_or(memory.valid_until));
        check_validity(from, until)?;
        if let Some(metadata) = &update.metadata {
            let mut merged = memory.metadata.clone();
            merged.extend(metadata.clone());
            self.check_metadata(&merged)?;
        }
        let mut after = memory.clone();
        after.access_policy = update.access_policy.unwrap_or(memory.access_policy);
        // What only its writer sees is nobody else's twin, so its key changes although its words do not.
        let hidden = after.access_policy.writer_only() != memory.access_policy.writer_only();
        let text = update.content.filter(|text| *text != memory.content);
        let content = match text.or_else(|| hidden.then(|| memory.content.clone())) {
            Some(text) => {
                self.check_content(&text)?;
                after.content.clone_from(&text);
                after.content_hash = content_hash(&text);
                let unless = Some(self.twin_key(&after));
                Some(NewContent {
                    hash: after.content_hash,
                    tokens: estimate_tokens(&text),
                    text,
                    unless,
                    claim: self.claim_of(&after),
                })
            }
            None => None,
        };
        let vector = match &content {
            Some(_) => self.embed_one(&after).await,
            None => None,
        };
        if let Some(content) = content.as_ref().filter(|_| !is_learned(&memory) && memory.role.is_none()) {
            let marks = broken_rules(&content.text, self.kinds.spec(&after.kind).class);
            if marks.is_some() || memory.metadata.contains_key(BROKEN_RULES) {
                let metadata = update.metadata.get_or_insert_default();
                metadata.entry(BROKEN_RULES).or_insert(marks.unwrap_or(Value::Null));
            }
        }
        let now = self.now();
        let missing = content.is_some() && vector.is_none();
        let jobs = if missing { self.embed_jobs(id, now) } else { Vec::new() };
        let patch = Patch {
            content,
            kind: update.kind.as_deref().map(|name| self.kinds.parse(name)).transpose()?,
            category: update.category,
            tags: update.tags,
            metadata: update.metadata,
            source: update.source,
            knowledge_pointer: update.knowledge_pointer,
            access_policy: update.access_policy,
            importance: update.importance,
            confidence: update.confidence,
            relevance: None,
            decay_rate: update.decay_rate,
            state: None,
            pinned: update.pinned,
            event_time: update.event_time,
            valid_from: update.valid_from,
            valid_until: update.valid_until,
            expires_at: update.expires_at,
        };
        if patch.is_empty() && update.version.is_none_or(|version| version == memory.version) {
            return Err(Error::invalid("changes", "the change has no fields")
                .hint("give at least one new value, such as content, tags, importance, pinned or expiresAt")
                .into());
        }
        let patch = self.reactivated(&memory, patch);
        let embedded = vector.is_some();
        let links = self.relinks(caller, &visible, &after, vector.as_ref()).await?;
        let revision = Revision { id, expect: update.version, patch, vector, jobs };
        let actions = std::iter::once(Action::Revise(Box::new(revision))).chain(links);
        let changes = actions.map(|action| self.change(caller, "hotpath", "updated", action)).collect();
        let space = memory.scope()?.space();
        let applied = self.apply(Batch { tenant: caller.tenant.clone(), space, changes }).await?;
        Ok(Receipt { redacted, ..receipt(applied.first(), embedded, true)? })
    }

    /// Links from a memory with a new text to those that are near it now, as a new memory gets them.
    async fn relinks(
        &self,
        caller: &Caller,
        visible: &Visible,
        after: &Memory,
        vector: Option<&Vector>,
    ) -> Result<Vec<Action>> {
        let lasting = self.kinds.spec(&after.kind).class != Class::Episodic && !crate::graph::is_part(after);
        let Some(vector) = vector.filter(|_| lasting) else { return Ok(Vec::new()) };
        let seen = policy::visible_scope(caller, &after.scope()?, visible.categories().cloned());
        let memory = Memory { created_at: self.now(), ..after.clone() };
        let addition = Addition { vector: Some(vector.clone()), ..Addition::new(memory) };
        let known = self.neighbours(&seen, &addition, Some(after.id)).await?;
        let decision = Decision::Add { contradicts: Vec::new(), reason: String::new() };
        Ok(self.relations(&addition, &known, &decision))
    }

    /// A memory that someone changes is in use: one that has decayed is active again, with full confidence unless the change
    /// gives another, and decays from now on.
    fn reactivated(&self, memory: &Memory, patch: Patch) -> Patch {
        let confidence = patch.confidence.unwrap_or(1.0);
        if memory.state != State::Decayed || confidence < self.config.lifecycle.decayed_below {
            return patch;
        }
        Patch { state: Some(State::Active), confidence: Some(confidence), relevance: Some(1.0), ..patch }
    }
}
