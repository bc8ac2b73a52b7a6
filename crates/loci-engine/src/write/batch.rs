//! The buffer of batched writes.
//!
//! A batched memory is validated, masked and given its id at once, and written with others: when enough are queued,
//! or when the first has waited long enough. Texts are embedded together, and memories that need no reconciliation
//! are one transaction per space. **Invariant:** within a scope memories are written in the order in which they
//! arrived. Until then they are only in this process: a crash loses them, and the receipt says so.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use loci_types::{Action, Batch, Durability, ErrorKind, Memory, MemoryId, Outcome, Problem, Receipt, Scope, Tenant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::access::policy::Caller;
use crate::write::remember::{AdmittedMemory, Embed, REASON};
use crate::{Batching, Engine, Error, NewMemory, Result};

/// Maximum number of failures that are held until a caller asks for them.
const MAX_FAILURES: usize = 1_000;
/// Maximum number of retries after conflicts with other writers.
const OVERTAKEN: u32 = 3;

/// Memories that could not be written.
#[derive(Debug, Clone)]
pub struct FailedWrites {
    /// The error of the first one. After a transient error they stay queued and are retried.
    pub problem: Box<Problem>,
    /// The memories.
    pub ids: Vec<MemoryId>,
}

/// The buffer of batched writes.
pub(crate) struct Batcher {
    rules: Batching,
    room: Arc<Semaphore>,
    state: Mutex<BatchQueue>,
    /// Notified when the first write is queued, and when a batch is full.
    first: Notify,
    enough: Notify,
    /// Locked while a batch is written, so that the order is kept.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct BatchQueue {
    waiting: VecDeque<QueuedWrite>,
    failures: VecDeque<Failure>,
    started: bool,
}

struct QueuedWrite {
    caller: Caller,
    admitted: AdmittedMemory,
    /// Number of conflicts with other writers so far.
    overtaken: u32,
    _place: OwnedSemaphorePermit,
}

impl QueuedWrite {
    fn id(&self) -> MemoryId {
        self.admitted.addition.memory.id
    }
}

struct Failure {
    tenant: Tenant,
    credential: Option<String>,
    id: MemoryId,
    problem: Problem,
}

impl Failure {
    fn concerns(&self, caller: &Caller) -> bool {
        let whole = caller.operator && caller.credential.is_none();
        self.tenant == caller.tenant && (whole || self.credential == caller.credential)
    }
}

impl Batcher {
    pub(crate) fn new(rules: Batching) -> Self {
        let room = Arc::new(Semaphore::new(rules.waiting.max(1)));
        let (first, enough) = (Notify::new(), Notify::new());
        Self { rules, room, state: Mutex::default(), first, enough, writing: tokio::sync::Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, BatchQueue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next writes, at most a batch.
    fn next(&self, most: usize) -> Vec<QueuedWrite> {
        let mut state = self.state();
        let count = state.waiting.len().min(self.rules.size).min(most);
        state.waiting.drain(..count).collect()
    }

    /// Removes failures of memories that were written since.
    fn written(&self, ids: &[MemoryId]) {
        self.state().failures.retain(|failure| !ids.contains(&failure.id));
    }

    fn failed(&self, pending: &QueuedWrite, error: &Error) {
        let id = pending.id();
        tracing::error!(%id, %error, "a batched memory was not written");
        let mut state = self.state();
        // One that is tried again fails once.
        state.failures.retain(|failure| failure.id != id);
        if state.failures.len() == MAX_FAILURES {
            state.failures.pop_front();
        }
        let (tenant, credential) = (pending.caller.tenant.clone(), pending.caller.credential.clone());
        state.failures.push_back(Failure { tenant, credential, id, problem: error.problem("flush") });
    }
}

/// Whether a failed write is retried later. After too many conflicts it is not, so that it does not hold up all
/// others.
fn passes(kind: ErrorKind, overtaken: u32) -> bool {
    kind.retryable() || kind == ErrorKind::Storage || is_conflict(kind) && overtaken < OVERTAKEN
}

/// Whether the error is a conflict with another writer.
fn is_conflict(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Conflict | ErrorKind::VersionConflict)
}

impl Engine {
    /// Queues one memory. Invalid input is refused at once; whether it is new is known only after it was written, at
    /// the latest when [`flush_batched`](Self::flush_batched) returns. Waits while the queue is full.
    pub async fn remember_batched(self: &Arc<Self>, caller: &Caller, new: NewMemory) -> Result<Receipt> {
        let admitted = self.admit(caller, new).await?;
        let batcher = &self.batcher;
        let place = match batcher.room.clone().try_acquire_owned() {
            Ok(place) => place,
            Err(_) => {
                // Those who wait are written now, not when their time has come.
                batcher.enough.notify_one();
                batcher.room.clone().acquire_owned().await.map_err(|_| closed())?
            }
        };
        let (id, redacted) = (admitted.addition.memory.id, admitted.redacted.clone());
        let (count, start) = {
            let mut state = batcher.state();
            state.waiting.push_back(QueuedWrite { caller: caller.clone(), admitted, overtaken: 0, _place: place });
            (state.waiting.len(), !std::mem::replace(&mut state.started, true))
        };
        if start {
            tokio::spawn(write_on(Arc::downgrade(self)));
        }
        batcher.first.notify_one();
        if count >= batcher.rules.size {
            batcher.enough.notify_one();
        }
        Ok(Receipt {
            id,
            event: Outcome::Created,
            version: 1,
            embedding_generated: false,
            embedding_regenerated: false,
            redacted,
            durability: Durability::Batched,
        })
    }

    /// Returns when all writes that were queued before are durable, or with the writes that failed since the caller
    /// last asked: the first error, and all ids.
    pub async fn flush_batched(&self, caller: &Caller) -> Result<(), FailedWrites> {
        self.write_waiting().await;
        let mut state = self.batcher.state();
        let all = std::mem::take(&mut state.failures);
        let (own, others): (VecDeque<_>, _) = all.into_iter().partition(|failure| failure.concerns(caller));
        state.failures = others;
        let Some(first) = own.front() else { return Ok(()) };
        let problem = Box::new(first.problem.clone());
        let mut ids: Vec<MemoryId> = own.iter().map(|failure| failure.id).collect();
        ids.sort();
        Err(FailedWrites { problem, ids })
    }

    /// Number of queued writes.
    pub fn batched(&self) -> usize {
        self.batcher.state().waiting.len()
    }

    /// Writes all queued memories, batch by batch. Those that are retried later stay queued, in their order.
    pub(crate) async fn write_waiting(&self) {
        let batcher = &self.batcher;
        let _order = batcher.writing.lock().await;
        let mut left = batcher.state().waiting.len();
        while left > 0 {
            let batch = batcher.next(left);
            left -= batch.len();
            if batch.is_empty() || !self.write_batch(batch).await {
                return;
            }
        }
    }

    /// Writes a batch. Returns false if some of it stays queued.
    async fn write_batch(&self, mut batch: Vec<QueuedWrite>) -> bool {
        self.embed_together(batch.iter_mut().map(|pending| &mut pending.admitted).collect()).await;
        let mut again: Vec<QueuedWrite> = Vec::new();
        let mut rest = VecDeque::from(batch);
        while let Some(first) = rest.pop_front() {
            let mut together = vec![first];
            while rest.front().is_some_and(|next| joins(&together[0], next)) {
                together.extend(rest.pop_front());
            }
            again.extend(self.write_together(together).await);
            if !again.is_empty() {
                // The store is away: nobody overtakes.
                again.extend(rest.drain(..));
            }
        }
        let written = again.is_empty();
        let mut state = self.batcher.state();
        for pending in again.into_iter().rev() {
            state.waiting.push_front(pending);
        }
        written
    }

    /// Computes all missing vectors in one call.
    pub(crate) async fn embed_together(&self, batch: Vec<&mut AdmittedMemory>) {
        let wants = |one: &&mut AdmittedMemory| one.embed == Embed::Now && one.addition.vector.is_none();
        let mut wanted: Vec<&mut AdmittedMemory> = batch.into_iter().filter(wants).collect();
        let memories: Vec<&Memory> = wanted.iter().map(|one| &one.addition.memory).collect();
        let vectors = self.embed_or_wait(&memories).await.unwrap_or_default();
        for (one, vector) in wanted.iter_mut().zip(vectors) {
            one.addition.vector = Some(vector);
        }
        for one in wanted {
            one.embed = Embed::Later;
        }
    }

    /// Writes the memories of one transaction. Returns those to retry.
    async fn write_together(&self, together: Vec<QueuedWrite>) -> Vec<QueuedWrite> {
        if together.len() > 1 && self.add_together(&together).await.is_ok() {
            self.batcher.written(&together.iter().map(QueuedWrite::id).collect::<Vec<_>>());
            return Vec::new();
        }
        let mut rest = together.into_iter();
        for mut pending in rest.by_ref() {
            match self.write_admitted(&pending.caller, pending.admitted.clone()).await {
                Ok(_) => self.batcher.written(&[pending.id()]),
                Err(error) => {
                    self.batcher.failed(&pending, &error);
                    if passes(error.kind(), pending.overtaken) {
                        pending.overtaken += u32::from(is_conflict(error.kind()));
                        return std::iter::once(pending).chain(rest).collect();
                    }
                }
            }
        }
        Vec::new()
    }

    /// Adds several memories to one space in one transaction.
    async fn add_together(&self, together: &[QueuedWrite]) -> Result<()> {
        let changes = together.iter().map(|pending| {
            let mut addition = pending.admitted.addition.clone();
            if addition.vector.is_none() {
                addition.jobs.extend(self.embed_jobs(addition.memory.id, addition.memory.created_at));
            }
            let thread = addition.memory.thread_id.clone();
            let mut change = self.change(&pending.caller, "hotpath", REASON, Action::Add(Box::new(addition)));
            change.provenance.thread = thread;
            change
        });
        let (tenant, space) = (together[0].caller.tenant.clone(), together[0].admitted.scope.space());
        self.apply(Batch { tenant, space, changes: changes.collect() }).await?;
        Ok(())
    }
}

/// Whether the next write can share the transaction: neither is reconciled.
fn joins(first: &QueuedWrite, next: &QueuedWrite) -> bool {
    let space = |scope: &Scope| scope.space();
    !first.admitted.reconcile
        && !next.admitted.reconcile
        && first.caller.tenant == next.caller.tenant
        && space(&first.admitted.scope) == space(&next.admitted.scope)
}

/// The loop that writes batches, while the engine exists.
async fn write_on(engine: Weak<Engine>) {
    loop {
        let Some(strong) = engine.upgrade() else { return };
        let pause = Duration::from_millis(strong.batcher.rules.milliseconds);
        let waits = !strong.batcher.state().waiting.is_empty();
        // Nobody is kept alive by being waited for, so a lone engine is asked again after a while.
        if waits {
            drop(tokio::time::timeout(pause, strong.batcher.enough.notified()).await);
            strong.write_waiting().await;
        } else {
            drop(tokio::time::timeout(pause, strong.batcher.first.notified()).await);
        }
    }
}

fn closed() -> loci_types::Error {
    loci_types::Error::new(ErrorKind::Internal, "the server is shutting down and accepts no further writes")
}
