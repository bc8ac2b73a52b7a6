//! A part of a [`Store`](super::Store): the queue of background work.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{Job, JobKind, JobRecord, Space, Tenant};

use crate::Result;

/// Work that waits to be done, such as embedding and consolidation.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// Takes up to `limit` waiting jobs of these kinds for `lease`. A job whose lease has run out
    /// is waiting again.
    async fn claim(
        &self,
        tenant: &Tenant,
        kinds: &[JobKind],
        limit: usize,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Vec<Job>>;

    /// Records how a claimed job goes on. False if its lease had run out and another worker has it.
    async fn update_job(&self, tenant: &Tenant, job: &Job, update: JobUpdate) -> Result<bool>;

    /// The jobs of a tenant in these states, oldest first; none: in all.
    async fn jobs(&self, tenant: &Tenant, states: &[&str], limit: usize) -> Result<Vec<JobRecord>>;

    /// Queues a job that is not running from `at` on as if it had never been tried, or removes it if `at` is none. False if
    /// there is no such job.
    async fn requeue(&self, tenant: &Tenant, space: &Space, id: i64, at: Option<Timestamp>) -> Result<bool>;
}

/// How a claimed job goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobUpdate {
    /// Its lease lasts until this instant.
    Renew(Timestamp),
    /// It is done and leaves the queue.
    Done,
    /// It failed.
    Failed {
        /// Why.
        error: String,
        /// When it is tried again; none: it is dead.
        retry_at: Option<Timestamp>,
    },
}
