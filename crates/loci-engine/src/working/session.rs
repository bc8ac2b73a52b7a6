//! Entries of sessions: short-lived notes in the tier.
//!
//! When a session ends, important entries are written as memories of its user by `remember`, and then the set is
//! dropped; if they cannot be written, the set is kept.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use loci_store::tier::{SessionEntry, SessionKey, Tier};
use loci_store::vectors::Query;
use loci_types::{Error, ErrorKind, Identifiers, Layer, Outcome, Session, Source, unit};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::away;
use super::mirror::{decoded, encoded};
use super::query::FoundBy;
use crate::access::bounds;
use crate::access::policy::{self, Caller};
use crate::access::redact::Pass;
use crate::{Engine, NewMemory, Result, importance};

/// Number of entries that are read if the caller does not say how many.
const DEFAULT_ENTRIES: usize = 20;
/// Maximum number of entries in one answer: a page, and one more that shows that another page follows.
const MAX_LISTED_ENTRIES: usize = 1_001;
/// Number of entries, the latest ones, that a query compares.
const MAX_COMPARED_ENTRIES: usize = 1_000;
/// Larger than any number of entries of a session.
const ALL: usize = 1_000_000;
/// Maximum lifetime of a session, in seconds: a year.
const MAX_SESSION_SECONDS: u64 = 366 * 24 * 60 * 60;

/// A new entry of a session. Only the content is required.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct NewEntry {
    /// The text.
    pub content: String,
    /// Its id. An entry with the same id is replaced. Default: a new one.
    pub id: Option<String>,
    /// The importance, 0 to 1. Default: estimated from the text.
    pub importance: Option<f64>,
    /// Lifetime of the session from now on, in seconds. Default: as configured.
    pub ttl_seconds: Option<u64>,
    /// Further fields, by name.
    pub metadata: Map<String, Value>,
    /// Its vector, if the caller has one.
    pub embedding: Option<Vec<f32>>,
    /// Whether its vector is computed while the caller waits, so that it is found by similarity.
    pub embed: bool,
}

/// An entry of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// When it was stored.
    #[serde(rename = "createdAt")]
    pub at: Timestamp,
    /// The importance, 0 to 1.
    pub importance: f64,
    /// The text.
    pub content: String,
    /// Further fields, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// An entry that matches a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EntryHit {
    /// The entry.
    #[serde(flatten)]
    pub entry: Entry,
    /// The similarity: a cosine, or a share of words.
    pub score: f64,
    /// How it was found.
    pub found_by: FoundBy,
}

/// The result of storing an entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EntryReceipt {
    /// Whether the entry is new, or replaced one with the same id.
    pub event: Outcome,
    /// The stored entry.
    pub entry: Entry,
    /// The names of the patterns that were masked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// Parts of the work that failed, although the entry was stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
}

impl Engine {
    /// Stores an entry of a session.
    pub async fn put_entry(&self, caller: &Caller, session: &str, new: NewEntry) -> Result<EntryReceipt> {
        policy::require_writer(caller)?;
        let key = policy::session_key(caller, session)?;
        self.check_content(&new.content)?;
        self.check_metadata(&new.metadata)?;
        bounds::short("id", new.id.as_deref(), bounds::LABEL)?;
        if let Some(importance) = new.importance {
            unit("importance", importance)?;
        }
        if let Some(seconds) = new.ttl_seconds {
            bounds::between(
                "ttlSeconds",
                usize::try_from(seconds).unwrap_or(usize::MAX),
                1,
                MAX_SESSION_SECONDS as usize,
            )?;
        }
        let (mut content, mut metadata, mut pass) = (new.content, new.metadata, Pass::strict(&self.redactor));
        pass.text("content", &mut content)?;
        pass.metadata(&mut metadata)?;
        let embedding = self.vector_of(&content, new.embedding, new.embed).await?;
        let at = self.now();
        let tier = self.sessions_tier()?;
        let known = match &new.id {
            Some(id) => tier.latest(&key, ALL).await.map_err(away)?.iter().any(|entry| entry.id == *id),
            None => false,
        };
        let event = if known { Outcome::Updated } else { Outcome::Created };
        let entry = Entry {
            id: new.id.unwrap_or_else(|| self.new_id(at).to_string()),
            at,
            importance: new.importance.unwrap_or_else(|| importance(&content, None, None)),
            content,
            metadata,
        };
        let kept = kept(&entry, embedding.as_deref());
        tier.put(&key, &kept, new.ttl_seconds.map(Duration::from_secs)).await.map_err(away)?;
        Ok(EntryReceipt { event, entry, redacted: pass.found(), degraded: trouble(tier) })
    }

    /// Lists entries of a session from an offset on, newest first. Default limit: 20.
    pub async fn entries(
        &self,
        caller: &Caller,
        session: &str,
        offset: usize,
        limit: Option<usize>,
    ) -> Result<Vec<Entry>> {
        let key = policy::session_key(caller, session)?;
        let limit = limit.unwrap_or(DEFAULT_ENTRIES);
        bounds::between("limit", limit, 1, MAX_LISTED_ENTRIES)?;
        let found = self.sessions_tier()?.latest(&key, offset.saturating_add(limit)).await.map_err(away)?;
        Ok(found.into_iter().skip(offset).filter_map(|kept| read(kept).map(|(entry, _)| entry)).collect())
    }

    /// Reads one entry of a session.
    pub async fn session_entry(&self, caller: &Caller, session: &str, id: &str) -> Result<Entry> {
        let key = policy::session_key(caller, session)?;
        let found = self.sessions_tier()?.latest(&key, ALL).await.map_err(away)?;
        let entry = found.into_iter().find(|entry| entry.id == id).and_then(read);
        let missing =
            || Error::new(ErrorKind::NotFound, format!("the session `{session}` has no entry `{id}`")).at("id");
        Ok(entry.map(|(entry, _)| entry).ok_or_else(missing)?)
    }

    /// The entries of a session that match a query, best first: by vectors where both have one, otherwise by words.
    /// The latest thousand are compared.
    pub async fn query_entries(
        &self,
        caller: &Caller,
        session: &str,
        question: &str,
        offset: usize,
        limit: Option<usize>,
    ) -> Result<Vec<EntryHit>> {
        let key = policy::session_key(caller, session)?;
        let limit = limit.unwrap_or(DEFAULT_ENTRIES);
        bounds::between("limit", limit, 1, MAX_LISTED_ENTRIES)?;
        bounds::short("query", Some(question), self.config.limits.query_characters)?;
        let found = self.sessions_tier()?.latest(&key, MAX_COMPARED_ENTRIES).await.map_err(away)?;
        let found: Vec<_> = found.into_iter().filter_map(read).collect();
        let with_vectors = found.iter().any(|(_, vector)| vector.is_some());
        let vector = if with_vectors { self.question(question).await } else { None };
        let (query, terms) = (vector.map(|vector| Query::new(&vector)), self.analyser.distinct_query_terms(question));
        let hit = |(entry, vector): (Entry, Option<Arc<[f32]>>)| {
            let (score, found_by) = match (&query, vector) {
                (Some(query), Some(vector)) => (f64::from(query.exact(&vector)), FoundBy::Similarity),
                _ => (self.share(&terms, &entry.content), FoundBy::Words),
            };
            (score > 0.0).then_some(EntryHit { entry, score, found_by })
        };
        let mut hits: Vec<EntryHit> = found.into_iter().filter_map(hit).collect();
        hits.sort_by(|one, other| other.score.total_cmp(&one.score));
        Ok(hits.into_iter().skip(offset).take(limit).collect())
    }

    /// Promotes the important entries of a session that ends to memories of its user, and drops the rest. Returns the
    /// number of promoted entries, or `None` if there were no entries.
    pub(crate) async fn end_entries(&self, caller: &Caller, name: &str, known: &[Session]) -> Result<Option<usize>> {
        let Some(tier) = &self.tier else { return Ok(None) };
        // Who sees only some categories reaches no entries, and so ends none.
        if caller.categories.is_some() {
            return Ok(None);
        }
        let mut promoted = None;
        for key in session_keys(caller, name, known) {
            let found = tier.latest(&key, ALL).await.map_err(away)?;
            if found.is_empty() {
                continue;
            }
            let count = promoted.get_or_insert(0);
            // Oldest first, so that what changed during the session ends as it was last.
            for entry in found.into_iter().rev().filter_map(|kept| read(kept).map(|(entry, _)| entry)) {
                let rules = &self.config.sessions;
                if rules.promote_important && entry.importance >= rules.promotion_threshold {
                    self.promote_entry(caller, &key, entry).await?;
                    *count += 1;
                }
            }
            tier.end(&key).await.map_err(away)?;
        }
        Ok(promoted)
    }

    async fn promote_entry(&self, caller: &Caller, key: &SessionKey, entry: Entry) -> Result<()> {
        let agent_id = Some(key.agent.clone()).filter(|agent| !agent.is_empty());
        let (user_id, session_id) = (Some(key.user.clone()), Some(key.session.clone()));
        let identifiers = Identifiers { agent_id, user_id, session_id, ..Identifiers::default() };
        let owner = Caller { identifiers, ..caller.clone() };
        let new = NewMemory {
            content: entry.content,
            layer: Some(Layer::User),
            importance: Some(entry.importance),
            metadata: entry.metadata,
            event_time: Some(entry.at),
            source: Some(Source { kind: "session".to_owned(), role: None, reference: Some(entry.id) }),
            ..NewMemory::default()
        };
        self.remember(&owner, new).await?;
        Ok(())
    }

    fn sessions_tier(&self) -> Result<&Arc<dyn Tier>> {
        let missing = || {
            Error::new(ErrorKind::Configuration, "session entries need a server or Redis")
                .hint("set [tiers] kind = \"redis\" or \"process\"")
        };
        Ok(self.tier.as_ref().ok_or_else(missing)?)
    }
}

/// The keys under which a session of this name may have entries: for the caller, and for all scopes of the session.
/// An agent may have written to it without being named in its scope.
fn session_keys(caller: &Caller, name: &str, known: &[Session]) -> Vec<SessionKey> {
    let tenant = caller.tenant.name();
    let owners = std::iter::once(caller.identifiers.clone()).chain(known.iter().map(|one| one.scope.identifiers()));
    let mut seen = HashSet::new();
    let mut keys = Vec::new();
    for identifiers in owners {
        let Some(user) = identifiers.user_id else { continue };
        let agents = [identifiers.agent_id, caller.identifiers.agent_id.clone(), None];
        for agent in agents.map(Option::unwrap_or_default) {
            let (tenant, session) = (tenant.to_owned(), name.to_owned());
            let key = SessionKey { tenant, agent, user: user.clone(), session };
            if seen.insert(key.clone()) {
                keys.push(key);
            }
        }
    }
    keys
}

fn trouble(tier: &Arc<dyn Tier>) -> Vec<String> {
    tier.trouble().map(|problem| format!("tier: {problem}")).into_iter().collect()
}

fn kept(entry: &Entry, embedding: Option<&[f32]>) -> SessionEntry {
    let value = json!({
        "content": entry.content,
        "metadata": entry.metadata,
        "embedding": embedding.map(encoded),
    });
    SessionEntry { id: entry.id.clone(), at: entry.at, importance: entry.importance, value }
}

/// Parses a stored entry. `None` if this version did not write it.
fn read(kept: SessionEntry) -> Option<(Entry, Option<Arc<[f32]>>)> {
    let embedding = kept.value["embedding"].as_str().and_then(decoded);
    let content = kept.value["content"].as_str()?.to_owned();
    let metadata = kept.value["metadata"].as_object().cloned().unwrap_or_default();
    Some((Entry { id: kept.id, at: kept.at, importance: kept.importance, content, metadata }, embedding))
}
