//! Tasks: long work that goes on when its caller has left.
//!
//! Tasks live in this process and belong to the tenant that started them. The newest [`MAX_TASKS`] are kept; those of another
//! tenant are not found. When the server closes, work that can stop is stopped and the rest is waited for.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures::FutureExt as _;
use jiff::Timestamp;
use loci_engine::Caller;
use loci_types::{ErrorKind, Tenant};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;
use utoipa::ToSchema;

use crate::App;
use crate::failure::{Failure, ProblemBody};
use crate::metrics::Protocol;

/// Number of tasks that are kept; the oldest that have ended go first.
const MAX_TASKS: usize = 1_000;
/// Number of tasks that run at once.
const MAX_RUNNING: usize = 16;

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskKind {
    /// Makes a backup.
    Backup,
    /// Verifies a backup from the first byte to the last.
    Verification,
    /// Restores a backup.
    Restore,
    /// Erases everything of a user.
    Erasure,
    /// Computes missing vectors of the present model.
    Reembedding,
    /// Removes a tenant.
    TenantRemoval,
}

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskStatus {
    /// The work goes on.
    Running,
    /// The work is done; `result` says what it did.
    Succeeded,
    /// The work failed; `error` says why.
    Failed,
    /// The work was stopped before its end.
    Cancelled,
}

/// How far a task is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct TaskProgress {
    /// Number of units that are done.
    done: u64,
    /// Number of units in all; null if that is not known.
    #[schema(required)]
    total: Option<u64>,
    /// The unit, for example `rows`.
    unit: &'static str,
}

/// Long work, and how far it is.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Task {
    /// The id of the task.
    pub(crate) id: String,
    /// What it does.
    kind: TaskKind,
    /// How it stands.
    pub(crate) status: TaskStatus,
    /// How far it is.
    progress: TaskProgress,
    /// When it was started.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
    /// When it ended; null while it runs.
    #[schema(required)]
    ended_at: Option<Timestamp>,
    /// What it did, once it has succeeded.
    #[schema(value_type = Option<Object>)]
    #[schema(required)]
    result: Option<Value>,
    /// Why it failed.
    #[schema(required)]
    error: Option<ProblemBody>,
}

/// How work is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It cannot be stopped without harm.
    Never,
    /// It stands still wherever it waits, and can be begun again.
    Anywhere,
    /// It asks [`TaskHandle::is_cancelled`] and ends by itself.
    Asking,
}

/// A task that is to be started.
pub(crate) struct TaskPlan {
    pub(crate) kind: TaskKind,
    /// The `operationId`, for errors and metrics.
    pub(crate) operation: &'static str,
    /// The unit of its progress.
    pub(crate) unit: &'static str,
    pub(crate) stop: Stop,
}

/// A stored task.
struct TaskRecord {
    tenant: Tenant,
    stop: Stop,
    view: watch::Sender<Task>,
    cancelled: watch::Sender<bool>,
}

impl TaskRecord {
    fn is_running(&self) -> bool {
        self.view.borrow().status == TaskStatus::Running
    }
}

/// The tasks of this process.
#[derive(Default)]
pub(crate) struct Tasks {
    all: Mutex<VecDeque<Arc<TaskRecord>>>,
    running: Mutex<JoinSet<()>>,
}

/// The handle that the work of a task gets.
#[derive(Clone)]
pub(crate) struct TaskHandle {
    app: Arc<App>,
    record: Arc<TaskRecord>,
}

impl TaskHandle {
    /// Says how far the work is.
    pub(crate) fn progress(&self, done: u64, total: Option<u64>) {
        let now = self.app.engine.now();
        self.record.view.send_modify(|task| {
            (task.progress.done, task.progress.total, task.updated_at) = (done, total, now);
        });
    }

    /// Whether the work is to end.
    pub(crate) fn is_cancelled(&self) -> bool {
        *self.record.cancelled.borrow()
    }
}

impl Tasks {
    /// The tasks of a tenant, newest first.
    pub(crate) fn list(&self, tenant: &Tenant) -> Vec<Task> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.iter().rev().filter(|record| record.tenant == *tenant);
        own.map(|record| record.view.borrow().clone()).collect()
    }

    /// A task of a tenant, as a receiver of its changes.
    pub(crate) fn follow(&self, tenant: &Tenant, id: &str, operation: &str) -> Result<watch::Receiver<Task>, Failure> {
        Ok(self.find(tenant, id, operation)?.view.subscribe())
    }

    /// Asks a task to stop. One that has ended is left as it is.
    pub(crate) fn cancel(&self, tenant: &Tenant, id: &str, operation: &str) -> Result<(), Failure> {
        let record = self.find(tenant, id, operation)?;
        if record.is_running() && record.stop == Stop::Never {
            return Err(Failure::new(ErrorKind::Conflict, "this task cannot be cancelled", operation)
                .field("id")
                .hint("wait until it has ended"));
        }
        record.cancelled.send_replace(true);
        Ok(())
    }

    /// Stops what can be stopped, and waits for all.
    pub(crate) async fn close(&self) {
        for record in self.all.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            record.cancelled.send_replace(record.stop != Stop::Never);
        }
        let running = std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        running.join_all().await;
    }

    fn find(&self, tenant: &Tenant, id: &str, operation: &str) -> Result<Arc<TaskRecord>, Failure> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|record| record.tenant == *tenant && record.view.borrow().id == id);
        found.cloned().ok_or_else(|| {
            Failure::new(ErrorKind::NotFound, "task not found", operation)
                .field("id")
                .hint("the server keeps the last 1,000 tasks until it restarts")
        })
    }

    fn insert(&self, record: Arc<TaskRecord>, operation: &str) -> Result<(), Failure> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.iter().filter(|record| record.is_running()).count() >= MAX_RUNNING {
            let message = format!("{MAX_RUNNING} tasks run already");
            return Err(Failure::new(ErrorKind::RateLimited, message, operation)
                .hint("wait until one has ended")
                .after(5));
        }
        while all.len() >= MAX_TASKS
            && let Some(oldest) = all.iter().position(|record| !record.is_running())
        {
            all.remove(oldest);
        }
        all.push_back(record);
        Ok(())
    }
}

/// Starts work as a task of the caller's tenant.
pub(crate) fn start<T, W, F>(app: &Arc<App>, caller: &Caller, plan: TaskPlan, work: W) -> Result<Task, Failure>
where
    T: Serialize,
    W: FnOnce(TaskHandle) -> F,
    F: Future<Output = loci_engine::Result<T>> + Send + 'static,
{
    let TaskPlan { kind, operation, unit, stop } = plan;
    let now = app.engine.now();
    let task = Task {
        id: new_id(),
        kind,
        status: TaskStatus::Running,
        progress: TaskProgress { unit, ..TaskProgress::default() },
        created_at: now,
        updated_at: now,
        ended_at: None,
        result: None,
        error: None,
    };
    let (view, cancelled) = (watch::Sender::new(task.clone()), watch::Sender::new(false));
    let record = Arc::new(TaskRecord { tenant: caller.tenant.clone(), stop, view, cancelled });
    app.tasks.insert(record.clone(), operation)?;
    let handle = TaskHandle { app: app.clone(), record };
    let work = AssertUnwindSafe(work(handle.clone())).catch_unwind();
    let mut running = app.tasks.running.lock().unwrap_or_else(PoisonError::into_inner);
    while running.try_join_next().is_some() {}
    running.spawn(async move {
        let (started, mut asked) = (Instant::now(), handle.record.cancelled.subscribe());
        let outcome = tokio::select! {
            outcome = work => outcome.unwrap_or_else(|_| Err(broken())),
            _ = asked.wait_for(|asked| *asked), if stop == Stop::Anywhere => Err(stopped()),
        };
        let code = outcome.as_ref().err().map(|error| error.kind().code());
        handle.app.metrics.operation(Protocol::Http, operation, code, started.elapsed());
        end(&handle, operation, outcome);
    });
    Ok(task)
}

/// Writes down how a task ended.
fn end<T: Serialize>(handle: &TaskHandle, operation: &str, outcome: loci_engine::Result<T>) {
    let now = handle.app.engine.now();
    let (status, result, error) = match outcome {
        Ok(done) => (TaskStatus::Succeeded, serde_json::to_value(done).ok(), None),
        Err(_) if handle.is_cancelled() => (TaskStatus::Cancelled, None, None),
        Err(error) => (TaskStatus::Failed, None, Some(Failure::of(error.problem(operation)).body())),
    };
    handle.record.view.send_modify(|task| {
        (task.status, task.result, task.error) = (status, result, error);
        (task.updated_at, task.ended_at) = (now, Some(now));
    });
}

fn stopped() -> loci_engine::Error {
    loci_types::Error::new(ErrorKind::Conflict, "the task was cancelled").into()
}

fn broken() -> loci_engine::Error {
    tracing::error!("a task panicked");
    loci_types::Error::new(ErrorKind::Internal, "internal error").into()
}

fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}
