//! Idempotency keys: executes a request once and returns its stored answer when it is repeated.
//!
//! A client that does not know whether a request arrived repeats it with the same key and receives the first answer,
//! without a second effect. A key belongs to a credential and to one request; with another request it is refused.
//!
//! A request is claimed before its work, so that no other server executes it at the same time. While it runs, every
//! batch of changes records its results in its own transaction ([`Bookkeeping::Once`]). If a server stops in the middle,
//! its claim lapses; a repeated request continues after the last batch. **Invariant:** a batch of a request with a key
//! is applied at most once, whichever server executes the request, and however often.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use data_encoding::HEXLOWER;
use jiff::{SignedDuration, Timestamp};
use loci_store::{Applied, Store};
use loci_types::{
    Action, Addition, Batch, Bookkeeping, Change, Error, ErrorKind, Identifiers, Layer, NoteValue, Outcome,
    RequestClaim, Role, Scope, Space,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::policy::{self, Caller};
use crate::learn::session;
use crate::{Clock, Engine, Result};

/// The header with the key.
const FIELD: &str = "Idempotency-Key";
/// Maximum length of a key, in characters.
const MAX_KEY_CHARACTERS: usize = 255;
/// How long an answer is stored.
const RETENTION: SignedDuration = SignedDuration::from_hours(24);
/// How long a claim lasts unless it is renewed: after that its server has stopped.
const LEASE: SignedDuration = SignedDuration::from_secs(30);
/// How often the claim of a request that is being processed is renewed.
const RENEWAL: Duration = Duration::from_secs(10);

tokio::task_local! {
    /// The request with a key that this task executes.
    static REQUEST: Arc<KeyedRequest>;
}

/// The stored answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredAnswer {
    /// The status.
    pub status: u16,
    /// The body, without texts of memories.
    pub body: Value,
    /// The path of the created resource, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// The stored form of an answer, with the fingerprint of its request.
#[derive(Debug, Serialize, Deserialize)]
struct AnswerRecord {
    fingerprint: String,
    /// The users whose memories the request changed. When one of them is erased, so is the answer.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    users: BTreeSet<String>,
    #[serde(flatten)]
    answer: StoredAnswer,
}

/// How a request with a key begins.
#[derive(Debug)]
pub enum RequestStart {
    /// The request is new, or was interrupted: it is executed.
    Execute(Arc<KeyedRequest>),
    /// The request has been answered.
    Answered(StoredAnswer),
    /// The same request is being processed, here or on another server.
    Running,
}

/// A request with a key that is being processed.
#[derive(Debug)]
pub struct KeyedRequest {
    claim: RequestClaim,
    caller: Caller,
    space: Space,
    written: Mutex<Written>,
}

/// What a request has written so far.
#[derive(Debug, Default)]
struct Written {
    /// The number of batches of each signature.
    batches: HashMap<String, u32>,
    users: BTreeSet<String>,
}

impl KeyedRequest {
    fn written(&self) -> std::sync::MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of earlier batches with this signature. The batch counts from now on.
    fn begin_batch(&self, signature: &str) -> u32 {
        let mut written = self.written();
        let count = written.batches.entry(signature.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    /// A batch that failed does not count: the next attempt takes its place.
    fn undo_batch(&self, signature: &str) {
        if let Some(count) = self.written().batches.get_mut(signature) {
            *count = count.saturating_sub(1);
        }
    }

    /// The claim with its end at `now` and a lease.
    fn renewed(&self, now: Timestamp) -> Batch {
        let claim = RequestClaim { lease: after(now, LEASE), ..self.claim.clone() };
        self.batch(now, Bookkeeping::Claim(Box::new(claim)))
    }

    fn batch(&self, at: Timestamp, step: Bookkeeping) -> Batch {
        let change = Change {
            action: Action::Bookkeeping(step),
            reason: "request with an idempotency key".to_owned(),
            provenance: loci_types::Provenance { node: "hotpath".to_owned(), ..loci_types::Provenance::default() },
            at,
        };
        Batch { tenant: self.caller.tenant.clone(), space: self.space.clone(), changes: vec![change] }
    }

    fn set(&self, now: Timestamp, value: Value, until: Timestamp) -> Batch {
        let (scope, key) = (self.claim.scope.clone(), self.claim.key.clone());
        self.batch(now, Bookkeeping::Note { scope, key, value: NoteValue::Set(value), until: Some(until) })
    }
}

impl Engine {
    /// Begins a request with a key: claims it, or returns the answer that it was given before.
    pub async fn begin_request(&self, caller: &Caller, key: &str, fingerprint: &[u8; 32]) -> Result<RequestStart> {
        let name = name(caller, key)?;
        let fingerprint = HEXLOWER.encode(fingerprint);
        let scope = user_scope(caller);
        let space = scope.as_ref().map_or(Space::Shared, Scope::space);
        if let Some(known) = self.known_request(caller, key, &name, &space, &fingerprint).await? {
            return Ok(known);
        }
        let now = self.now();
        let claim = RequestClaim {
            scope,
            key: name.clone(),
            fingerprint: fingerprint.clone(),
            owner: self.new_id(now).to_string(),
            lease: after(now, LEASE),
            until: after(now, RETENTION),
        };
        let request = Arc::new(KeyedRequest {
            claim: claim.clone(),
            caller: caller.clone(),
            space: space.clone(),
            written: Mutex::default(),
        });
        // A reader is refused by the request itself and leaves nothing behind.
        if caller.role < Role::Writer {
            return Ok(RequestStart::Execute(request));
        }
        let applied = self.store.apply(request.renewed(now)).await?;
        if applied.first().is_some_and(|applied| applied.outcome != Outcome::None) {
            return Ok(RequestStart::Execute(request));
        }
        let known = self.known_request(caller, key, &name, &space, &fingerprint).await?;
        Ok(known.unwrap_or(RequestStart::Running))
    }

    /// What is known of a request: its answer, or that it is being processed. `None` if it may be claimed.
    async fn known_request(
        &self,
        caller: &Caller,
        key: &str,
        name: &str,
        space: &Space,
        fingerprint: &str,
    ) -> Result<Option<RequestStart>> {
        let visible = policy::visible_tenant(&caller.tenant);
        let notes = self.store.notes(&visible, space, &[name.to_owned()], self.now()).await?;
        let Some((_, value)) = notes.into_iter().next() else { return Ok(None) };
        // One that cannot be read was written by a later version, and is as good as none.
        let Some(known) = value["fingerprint"].as_str() else { return Ok(None) };
        if known != fingerprint {
            return Err(Error::invalid(FIELD, format!("{FIELD} `{key}` was used for another request"))
                .hint("use a new key for each request, and the same only to send one again")
                .into());
        }
        if let Some(lease) = value["lease"].as_i64() {
            return Ok((lease > self.now().as_microsecond()).then_some(RequestStart::Running));
        }
        let kept = serde_json::from_value::<AnswerRecord>(value).ok();
        Ok(kept.map(|kept| RequestStart::Answered(kept.answer)))
    }

    /// Executes the work of a request. Its claim is renewed until the work ends, and its batches are applied at most
    /// once.
    pub async fn execute_request<T>(&self, request: &Arc<KeyedRequest>, work: impl Future<Output = T>) -> T {
        if request.caller.role < Role::Writer {
            return work.await;
        }
        let _renewing = Renewing::start(self.store.clone(), self.clock.clone(), request.clone());
        REQUEST.scope(request.clone(), work).await
    }

    /// Ends a request: stores its answer for a day, or releases its key, so that it may be used again.
    pub async fn end_request(&self, request: &KeyedRequest, answer: Option<StoredAnswer>) -> Result<()> {
        if request.caller.role < Role::Writer {
            return Ok(());
        }
        let now = self.now();
        let batch = match answer {
            Some(answer) => {
                let users = std::mem::take(&mut request.written().users);
                let record = AnswerRecord { fingerprint: request.claim.fingerprint.clone(), users, answer };
                let value = serde_json::to_value(record).map_err(|error| {
                    Error::new(ErrorKind::Internal, format!("the answer cannot be stored: {error}"))
                })?;
                request.set(now, value, after(now, RETENTION))
            }
            None => request.set(now, Value::Null, now),
        };
        Ok(self.store.apply(batch).await.map(drop)?)
    }

    /// Applies a batch, and opens the sessions to whose own layer it adds memories. If this task executes a request with a
    /// key, the batch is applied at most once under it.
    pub(crate) async fn apply(&self, mut batch: Batch) -> loci_store::Result<Vec<Applied>> {
        self.check_agent_of(&batch.tenant, &batch.space).await?;
        let (asked, opened) = (batch.changes.len(), session::opened(&batch.changes));
        batch.changes.extend(opened);
        let mut applied = self.apply_once(batch).await?;
        applied.truncate(asked);
        Ok(applied)
    }

    async fn apply_once(&self, mut batch: Batch) -> loci_store::Result<Vec<Applied>> {
        let Ok(request) = REQUEST.try_with(Arc::clone) else { return self.store.apply(batch).await };
        let Some(signature) = signature(&batch) else { return self.store.apply(batch).await };
        let number = request.begin_batch(&signature);
        request.written().users.extend(batch.changes.iter().filter_map(user_of));
        let hash = blake3::hash(format!("{}\0{signature}\0{number}", request.claim.fingerprint).as_bytes());
        let key = format!("{} {}", request.claim.key, hash.to_hex());
        let action = Action::Bookkeeping(Bookkeeping::Once { key, until: request.claim.until });
        let first = batch.changes.first().map(|change| Change {
            action,
            reason: change.reason.clone(),
            provenance: change.provenance.clone(),
            at: change.at,
        });
        batch.changes.splice(0..0, first);
        match self.store.apply(batch).await {
            Ok(mut applied) => {
                applied.drain(..1);
                Ok(applied)
            }
            Err(error) => {
                request.undo_batch(&signature);
                Err(error)
            }
        }
    }
}

/// Renews a claim until it is dropped.
struct Renewing(tokio::task::JoinHandle<()>);

impl Renewing {
    fn start(store: Arc<dyn Store>, clock: Arc<dyn Clock>, request: Arc<KeyedRequest>) -> Self {
        Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(RENEWAL).await;
                if let Err(error) = store.apply(request.renewed(clock.now())).await {
                    tracing::warn!(%error, "the claim of a request with an idempotency key was not renewed");
                }
            }
        }))
    }
}

impl Drop for Renewing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a batch does to memories, without the ids and times that differ when the request is executed again. `None` for
/// bookkeeping and for work that may be repeated.
fn signature(batch: &Batch) -> Option<String> {
    let parts: Vec<String> = batch.changes.iter().filter_map(|change| signature_of(&change.action)).collect();
    (!parts.is_empty()).then(|| format!("{} {}", batch.space, parts.join("\n")))
}

fn signature_of(action: &Action) -> Option<String> {
    let added = |addition: &Addition| {
        let memory = &addition.memory;
        let scope = memory.scope().map(|scope| scope.key()).unwrap_or_default();
        format!("{scope} {:?} {}", memory.content_hash, memory.kind)
    };
    Some(match action {
        Action::Add(addition) => format!("add {}", added(addition)),
        Action::Replace(addition) => format!("replace {} {}", addition.memory.id, added(addition)),
        Action::Supersede { old, new } => format!("supersede {old} {}", added(new)),
        Action::Revise(revision) => {
            let hash = revision.patch.content.as_ref().map(|content| content.hash);
            format!("revise {} {:?} {hash:?}", revision.id, revision.expect)
        }
        Action::Merge { into, from } => format!("merge {} {from:?}", into.id),
        Action::Split { into, from } => format!("split {into} {from:?}"),
        Action::Link(edge) => format!("link {:?} {:?}", edge.relation, edge.predicate),
        Action::Unlink { source, target, relation } => format!("unlink {source} {target} {relation:?}"),
        Action::Forget { id, expect, .. } => format!("forget {id} {expect:?}"),
        Action::Restore { id } => format!("restore {id}"),
        Action::Purge { id } => format!("purge {id}"),
        Action::Erase { id } => format!("erase {id}"),
        Action::Decide { id, accept, over, .. } => format!("decide {id} {accept} {over:?}"),
        Action::State(fact) => format!(
            "state {} {} {} {}",
            fact.scope().map(|scope| scope.key()).unwrap_or_default(),
            fact.subject,
            fact.predicate,
            fact.object
        ),
        Action::Retract { scope, id } => format!("retract {} {id:?}", scope.key()),
        Action::Unite { into, from } => format!("unite {into:?} {from:?}"),
        Action::Divide { entity, .. } => format!("divide {entity:?}"),
        Action::Fade { .. }
        | Action::Age { .. }
        | Action::EraseUser { .. }
        | Action::Embed { .. }
        | Action::DropVectors { .. }
        | Action::Name { .. }
        | Action::EmbedEntity { .. }
        | Action::Mention { .. }
        | Action::Bookkeeping(_) => return None,
    })
}

/// The user whose scope a change adds to.
fn user_of(change: &Change) -> Option<String> {
    match &change.action {
        Action::Add(addition) | Action::Replace(addition) | Action::Supersede { new: addition, .. } => {
            addition.memory.identifiers.user_id.clone()
        }
        Action::State(fact) => fact.scope().ok()?.identifiers().user_id,
        _ => None,
    }
}

fn after(now: Timestamp, duration: SignedDuration) -> Timestamp {
    now.saturating_add(duration).unwrap_or(Timestamp::MAX)
}

/// The scope of the user of the answer, so that it is erased with the user. A credential of several users has none;
/// its answers are erased with the users they name.
fn user_scope(caller: &Caller) -> Option<Scope> {
    let user_id = caller.identifiers.user_id.clone();
    Scope::new(Layer::User, &Identifiers { user_id, ..Identifiers::default() }).ok()
}

/// The key of a stored answer. Idempotency keys have no control characters, so NUL separates the parts.
fn name(caller: &Caller, key: &str) -> Result<String, Error> {
    if key.is_empty() || key.len() > MAX_KEY_CHARACTERS || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Error::invalid(
            FIELD,
            format!("{FIELD} must have 1 to {MAX_KEY_CHARACTERS} visible ASCII characters"),
        )
        .hint("a random UUID will do"));
    }
    let credential = caller.credential.as_deref().unwrap_or_default();
    let hash = blake3::hash(format!("{credential}\0{key}").as_bytes());
    Ok(format!("answer {}", hash.to_hex()))
}
