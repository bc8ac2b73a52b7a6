//! Checkpoints of programs: bytes that are stored for a thread and returned unchanged.
//!
//! Checkpoints are not memories: they are not searched, learned from, masked or listed in the ledger, and they are
//! deleted only on request. They are stored in the agent's layer if an agent and a user are named, otherwise in the
//! user's. They have no category, so callers that are restricted to categories cannot access them.

mod json;

use loci_store::{CheckpointWalk, KeptCheckpoint};
use loci_types::{
    Action, Batch, Bookkeeping, Checkpoint, CheckpointFilter, CheckpointPlace, CheckpointStep, CheckpointThread, Error,
    ErrorKind, JSON, Layer, Outcome, PendingWrite, Scope, Visible,
};
use serde::Serialize;
use serde_json::{Map, Value};

pub use self::json::{SavedCheckpoint, SavedWrite, payload};
use crate::access::bounds;
use crate::access::policy::{self, Caller};
use crate::{Engine, Result};

/// Maximum number in one answer: a page, and one more that shows that another page follows.
const MAX_LISTED_CHECKPOINTS: usize = 1_001;
/// Maximum number of writes in one call.
const MAX_WRITES: usize = 1_000;

/// A checkpoint to put.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewCheckpoint {
    /// The thread.
    pub thread_id: String,
    /// The part of the program; empty: the whole.
    pub namespace: String,
    /// Its id. Default: a new one.
    pub id: Option<String>,
    /// The checkpoint it came from.
    pub parent_id: Option<String>,
    /// What the bytes are: `json`, or whatever the caller calls it; empty: `json`.
    pub format: String,
    /// The bytes.
    pub data: Vec<u8>,
    /// Metadata of the program.
    pub metadata: Map<String, Value>,
    /// What must be the newest of the thread; an empty one: there must be none yet.
    pub expect_parent: Option<String>,
    /// Whether it takes the place of one with the same id.
    pub replace: bool,
}

/// What became of a checkpoint that was put.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CheckpointReceipt {
    /// Its id.
    pub id: String,
    /// What happened: created, updated, or nothing because it was there.
    pub event: Outcome,
}

/// Which checkpoints of a thread are asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CheckpointRequest {
    /// The thread.
    pub thread_id: String,
    /// The namespace. Default: all.
    pub namespace: Option<String>,
    /// The one with this id.
    pub id: Option<String>,
    /// Only those put before this one.
    pub before: Option<String>,
    /// Only those whose metadata have these values.
    pub metadata: Map<String, Value>,
    /// Whether data and pending writes are included.
    pub data: bool,
    /// Number of checkpoints to skip from the start of the list.
    pub offset: usize,
    /// Maximum number of checkpoints. Default: 20.
    pub limit: Option<usize>,
}

/// Which checkpoints of a thread are removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointRemoval {
    /// All, in all namespaces.
    Thread,
    /// One.
    One {
        /// Its namespace.
        namespace: String,
        /// Its id.
        id: String,
    },
    /// All except this number of the newest in each namespace.
    AllBut(usize),
}

impl Engine {
    /// Puts a checkpoint. When it returns, it is durable. The same again changes nothing.
    pub async fn put_checkpoint(&self, caller: &Caller, new: NewCheckpoint) -> Result<CheckpointReceipt> {
        let scope = self.keeps_checkpoints(caller, &new.thread_id).await?;
        let at = self.now();
        let id = new.id.unwrap_or_else(|| self.new_id(at).to_string());
        let format = if new.format.is_empty() { JSON.to_owned() } else { new.format };
        named(&new.thread_id, &new.namespace, &id)?;
        bounds::short("parentId", new.parent_id.as_deref(), bounds::REFERENCE)?;
        bounds::short("expectParent", new.expect_parent.as_deref(), bounds::REFERENCE)?;
        self.check_payload("data", &format, &new.data)?;
        self.check_metadata(&new.metadata)?;
        let checkpoint = Checkpoint {
            scope: scope.clone(),
            thread_id: new.thread_id,
            namespace: new.namespace,
            id: id.clone(),
            parent_id: new.parent_id,
            format,
            bytes: new.data.len() as u64,
            data: Some(new.data),
            metadata: new.metadata,
            created_at: at,
        };
        let step = CheckpointStep::Put { checkpoint, expect_parent: new.expect_parent, replace: new.replace };
        let applied = self.checkpoint_step(caller, &scope, step).await?;
        Ok(CheckpointReceipt { id, event: applied.outcome })
    }

    /// Puts what tasks wrote beside a checkpoint that is there.
    pub async fn put_writes(
        &self,
        caller: &Caller,
        thread: &str,
        namespace: &str,
        id: &str,
        writes: Vec<PendingWrite>,
    ) -> Result<usize> {
        let scope = self.keeps_checkpoints(caller, thread).await?;
        named(thread, namespace, id)?;
        bounds::between("writes", writes.len(), 1, MAX_WRITES)?;
        for write in &writes {
            if write.task_id.is_empty() {
                return Err(Error::invalid("taskId", "taskId is empty").into());
            }
            bounds::short("taskId", Some(&write.task_id), bounds::LABEL)?;
            bounds::short("taskPath", Some(&write.task_path), bounds::REFERENCE)?;
            bounds::short("channel", Some(&write.channel), bounds::REFERENCE)?;
            self.check_payload("data", &write.format, &write.data)?;
        }
        let of = CheckpointPlace {
            scope: scope.clone(),
            thread_id: thread.to_owned(),
            namespace: namespace.to_owned(),
            id: id.to_owned(),
        };
        let count = writes.len();
        self.checkpoint_step(caller, &scope, CheckpointStep::Write { of, writes }).await?;
        Ok(count)
    }

    /// The checkpoint with this id, or the newest of the thread and namespace, with what was written beside it.
    pub async fn checkpoint(
        &self,
        caller: &Caller,
        thread: &str,
        namespace: &str,
        id: Option<&str>,
    ) -> Result<KeptCheckpoint> {
        let request = CheckpointRequest {
            thread_id: thread.to_owned(),
            namespace: Some(namespace.to_owned()),
            id: id.map(str::to_owned),
            data: true,
            limit: Some(1),
            ..CheckpointRequest::default()
        };
        let found = self.checkpoints(caller, request).await?.pop();
        Ok(found.ok_or_else(|| missing(thread, id))?)
    }

    /// The checkpoints of a thread that are asked for, the newest first.
    pub async fn checkpoints(&self, caller: &Caller, request: CheckpointRequest) -> Result<Vec<KeptCheckpoint>> {
        let offset = request.offset;
        let (visible, filter, end) = self.asked(caller, request).await?;
        let found = self.store.checkpoints(&visible, &filter, CheckpointWalk::Newest, end).await?;
        Ok(found.into_iter().skip(offset).collect())
    }

    /// How a thread came to where it stands: the newest that is asked for, the one it came from, and so on.
    pub async fn checkpoint_history(&self, caller: &Caller, request: CheckpointRequest) -> Result<Vec<KeptCheckpoint>> {
        let request = CheckpointRequest { namespace: request.namespace.or(Some(String::new())), ..request };
        let (thread, id) = (request.thread_id.clone(), request.id.clone());
        let offset = request.offset;
        let (visible, filter, end) = self.asked(caller, request).await?;
        let line = self.store.checkpoints(&visible, &filter, CheckpointWalk::Ancestors, end).await?;
        if line.is_empty() {
            return Err(missing(&thread, id.as_deref()).into());
        }
        Ok(line.into_iter().skip(offset).collect())
    }

    /// Lists threads with checkpoints from an offset on, at most `limit` of them, those with the newest checkpoint first.
    pub async fn checkpoint_threads(
        &self,
        caller: &Caller,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<CheckpointThread>> {
        bounds::between("limit", limit, 1, MAX_LISTED_CHECKPOINTS)?;
        let (scope, visible) = self.checkpoint_view(caller).await?;
        let all = !caller.sessions.is_empty();
        let end = if all { usize::MAX } else { offset.saturating_add(limit) };
        let mut found = self.store.checkpoint_threads(&visible, &scope, end).await?;
        found.retain(|thread| policy::session_named(caller, &thread.thread_id).is_ok());
        Ok(found.into_iter().skip(offset).take(limit).collect())
    }

    /// Removes checkpoints of a thread for good. Returns how many.
    pub async fn delete_checkpoints(&self, caller: &Caller, thread: &str, which: CheckpointRemoval) -> Result<u64> {
        let scope = self.keeps_checkpoints(caller, thread).await?;
        let thread_id = thread.to_owned();
        let step = match which {
            CheckpointRemoval::Thread => CheckpointStep::RemoveThread { scope: scope.clone(), thread_id },
            CheckpointRemoval::One { namespace, id } => {
                CheckpointStep::Remove(CheckpointPlace { scope: scope.clone(), thread_id, namespace, id })
            }
            CheckpointRemoval::AllBut(keep) => {
                bounds::between("keep", keep, 1, usize::MAX)?;
                CheckpointStep::Prune { scope: scope.clone(), thread_id, keep }
            }
        };
        Ok(self.checkpoint_step(caller, &scope, step).await?.version)
    }

    async fn checkpoint_step(
        &self,
        caller: &Caller,
        scope: &Scope,
        step: CheckpointStep,
    ) -> Result<loci_store::Applied> {
        let change =
            self.change(caller, "hotpath", "checkpoint", Action::Bookkeeping(Bookkeeping::Checkpoint(Box::new(step))));
        let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes: vec![change] };
        let applied = self.apply(batch).await?;
        Ok(*applied.first().ok_or_else(|| Error::new(ErrorKind::Internal, "the store applied nothing"))?)
    }

    /// Where this caller's checkpoints of a thread lie, if it may put any. A thread is a session to a credential that is
    /// bound to sessions.
    async fn keeps_checkpoints(&self, caller: &Caller, thread: &str) -> Result<Scope> {
        policy::require_writer(caller)?;
        policy::session_named(caller, thread)?;
        if self.categories_of(caller).await?.is_some() {
            let message = "checkpoints have no category, and this credential is limited to some categories";
            return Err(Error::new(ErrorKind::Unauthorized, message).at("categories").into());
        }
        Ok(checkpoint_scope(caller)?)
    }

    async fn checkpoint_view(&self, caller: &Caller) -> Result<(Scope, Visible)> {
        let scope = checkpoint_scope(caller)?;
        let visible = policy::visible_checkpoints(caller, &scope, self.categories_of(caller).await?);
        Ok((scope, visible))
    }

    /// What the store is asked for: who sees it, which checkpoints, and how many including those that are skipped.
    async fn asked(&self, caller: &Caller, request: CheckpointRequest) -> Result<(Visible, CheckpointFilter, usize)> {
        let limit = request.limit.unwrap_or(20);
        bounds::between("limit", limit, 1, MAX_LISTED_CHECKPOINTS)?;
        policy::session_named(caller, &request.thread_id)?;
        let (scope, visible) = self.checkpoint_view(caller).await?;
        let filter = CheckpointFilter {
            scope,
            thread_id: request.thread_id,
            namespace: request.namespace,
            id: request.id,
            before: request.before,
            metadata: request.metadata,
            data: request.data,
        };
        Ok((visible, filter, request.offset.saturating_add(limit)))
    }

    fn check_payload(&self, field: &'static str, format: &str, data: &[u8]) -> Result<()> {
        if format.is_empty() {
            return Err(Error::invalid("format", "format is empty").hint("`json`, or what your bytes are").into());
        }
        bounds::short("format", Some(format), bounds::LABEL)?;
        let most = self.config.limits.checkpoint_bytes;
        if data.len() > most {
            let message = format!("{field} has {} bytes, more than {most}", data.len());
            return Err(Error::new(ErrorKind::ContentTooLong, message)
                .at(field)
                .hint("reduce it, or raise limits.checkpoint_bytes")
                .into());
        }
        if format == JSON
            && let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(data)
        {
            return Err(Error::invalid(field, format!("{field} is not JSON: {error}"))
                .hint("name another format for other bytes")
                .into());
        }
        Ok(())
    }
}

/// The agent's layer where an agent and a user are named, else the user's.
fn checkpoint_scope(caller: &Caller) -> Result<Scope, Error> {
    let both = caller.identifiers.agent_id.is_some() && caller.identifiers.user_id.is_some();
    policy::target(caller, Some(if both { Layer::Agent } else { Layer::User }))
}

/// Refuses names by which nothing could be found again.
fn named(thread: &str, namespace: &str, id: &str) -> Result<(), Error> {
    for (field, text) in [("threadId", thread), ("id", id)] {
        if text.is_empty() {
            return Err(Error::invalid(field, format!("{field} is empty")));
        }
    }
    bounds::key(&[("threadId", thread), ("namespace", namespace), ("id", id)])
}

fn missing(thread: &str, id: Option<&str>) -> Error {
    let what = id.map_or_else(|| "no checkpoint".to_owned(), |id| format!("no checkpoint `{id}`"));
    Error::new(ErrorKind::NotFound, format!("there is {what} of the thread `{thread}` here"))
        .at(if id.is_some() { "id" } else { "threadId" })
        .hint("`loci checkpoint threads` shows which there are")
}
