//! The job queue of a [`Store`](super::Store).

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{Job, JobKind, JobRecord, Space, Tenant};

use crate::Result;

/// A queue of background work, such as embedding and consolidation.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// Claims up to `limit` due jobs of these kinds for the duration of `lease`. A job whose lease has expired can be
    /// claimed again.
    async fn claim(
        &self,
        tenant: &Tenant,
        kinds: &[JobKind],
        limit: usize,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Vec<Job>>;

    /// Updates a claimed job. Returns false if its lease has expired and another worker has claimed it.
    async fn update_job(&self, tenant: &Tenant, job: &Job, update: JobUpdate) -> Result<bool>;

    /// The jobs of a tenant in these states, or in all if empty, oldest first.
    async fn jobs(&self, tenant: &Tenant, states: &[&str], limit: usize) -> Result<Vec<JobRecord>>;

    /// Returns a job to the queue for `at` with its attempts reset, or removes it if `at` is none. Returns false if it
    /// does not exist, is running, or another queued or running job has its key.
    async fn requeue(&self, tenant: &Tenant, space: &Space, id: i64, at: Option<Timestamp>) -> Result<bool>;
}

/// An update of a claimed job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobUpdate {
    /// Extends the lease to this time.
    Renew(Timestamp),
    /// Removes the job, which is done.
    Done,
    /// Records a failure.
    Failed {
        /// The error message.
        error: String,
        /// When it is retried; none marks it dead.
        retry_at: Option<Timestamp>,
    },
}
