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

    /// Extends the lease of a job to `until`. False if it had run out and another worker has the job.
    async fn renew(&self, tenant: &Tenant, job: &Job, until: Timestamp) -> Result<bool>;

    /// The job is done. False if its lease had run out and another worker has it.
    async fn finish(&self, tenant: &Tenant, job: &Job) -> Result<bool>;

    /// The job failed; it waits until `retry_at`, or is dead if that is none.
    async fn fail(&self, tenant: &Tenant, job: &Job, error: &str, retry_at: Option<Timestamp>) -> Result<bool>;

    /// The jobs of a tenant in these states, oldest first; none: in all.
    async fn jobs(&self, tenant: &Tenant, states: &[&str], limit: usize) -> Result<Vec<JobRecord>>;

    /// Lets a job that is not running wait anew from `at`, as if it had never been tried; false if there is no such job.
    async fn retry(&self, tenant: &Tenant, space: &Space, id: i64, at: Timestamp) -> Result<bool>;

    /// Gives a job up that is not running; false if there is no such job.
    async fn drop_job(&self, tenant: &Tenant, space: &Space, id: i64) -> Result<bool>;
}
