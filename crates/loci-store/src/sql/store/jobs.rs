//! The queue of background work.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{Job, JobKind, JobRecord, Space, Tenant};

use super::SqlStore;
use crate::sql::backend::{Backend, blocking};
use crate::sql::{Connection, catalogue, jobs};
use crate::{JobUpdate, Jobs, Result};

#[async_trait]
impl<B: Backend> Jobs for SqlStore<B> {
    async fn claim(
        &self,
        tenant: &Tenant,
        kinds: &[JobKind],
        limit: usize,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Vec<Job>> {
        let (backend, owner, wanted) = (self.backend.clone(), tenant.clone(), kinds.to_vec());
        let (mut jobs, mut failed) = (Vec::new(), None);
        for space in blocking(move || backend.with_jobs(&owner, &wanted, now)).await? {
            if jobs.len() >= limit {
                break;
            }
            let open = self.backend.open(tenant, &space);
            let (left, name, kinds) = (limit - jobs.len(), space.name(), kinds.to_vec());
            let place = B::place_of(&open).to_owned();
            let claim =
                move |connection: &dyn Connection| jobs::claim(connection, &place, &name, &kinds, left, now, lease);
            match self.backend.write(&open, claim).await {
                Ok(claimed) => jobs.extend(claimed),
                // A space that cannot be written does not stop the jobs of the others.
                Err(error) => {
                    tracing::warn!(%error, space = %space, "the jobs of a space could not be claimed");
                    failed = Some(error);
                }
            }
        }
        match failed {
            Some(error) if jobs.is_empty() => Err(error),
            _ => Ok(jobs),
        }
    }

    async fn update_job(&self, tenant: &Tenant, job: &Job, update: JobUpdate) -> Result<bool> {
        let (space, job) = (job.space.parse()?, job.clone());
        let updated = self.write_space(tenant, &space, move |connection| match &update {
            JobUpdate::Renew(until) => jobs::renew(connection, &job, *until),
            JobUpdate::Done => jobs::finish(connection, &job),
            JobUpdate::Failed { error, retry_at } => jobs::fail(connection, &job, error, *retry_at),
        });
        Ok(updated.await?.unwrap_or(false))
    }

    async fn jobs(&self, tenant: &Tenant, states: &[&str], limit: usize) -> Result<Vec<JobRecord>> {
        let (backend, tenant) = (self.backend.clone(), tenant.clone());
        let states: Vec<String> = states.iter().map(|state| (*state).to_owned()).collect();
        blocking(move || {
            let mut found = Vec::new();
            for space in backend.read_catalogue(|connection| catalogue::spaces(connection, &tenant))? {
                let open = backend.open(&tenant, &space);
                let here = backend.read(&open, |connection| jobs::list(connection, &space.name(), &states, limit))?;
                found.extend(here.unwrap_or_default());
            }
            found.sort_by_key(|job| job.created_at);
            found.truncate(limit);
            Ok(found)
        })
        .await
    }

    async fn requeue(&self, tenant: &Tenant, space: &Space, id: i64, at: Option<Timestamp>) -> Result<bool> {
        let queued = self.write_space(tenant, space, move |connection| match at {
            Some(at) => jobs::retry(connection, id, at),
            None => jobs::give_up(connection, id),
        });
        Ok(queued.await?.unwrap_or(false))
    }
}
