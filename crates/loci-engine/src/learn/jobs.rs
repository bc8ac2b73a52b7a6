//! Runs background jobs.
//!
//! A job is claimed under a lease and run alone. After a failure it is retried with increasing delays, and set aside
//! after too many failures; `loci store jobs` lists it with its error. **Invariant:** the effect of a job is one
//! transaction, so running it twice has the effect of running it once.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use loci_store::JobUpdate;
use loci_types::{ErrorKind, Job, JobKind, JobRecord, MemoryId, Scope, Space, Tenant};
use serde::Serialize;

use crate::access::policy::{self, Caller};
use crate::{ConsolidationReport, Engine, Error, Result};

/// Duration of the lease of a job.
const JOB_LEASE: Duration = Duration::from_secs(120);
/// Number of failures after which a job is set aside.
const MAX_ATTEMPTS: u32 = 8;
/// Waits double up to two to this many seconds, about an hour.
const LONGEST_WAIT: u32 = 12;

/// The work that is done one by one; vectors are made many at a time.
pub(crate) const SLOW: [JobKind; 7] = [
    JobKind::Consolidate,
    JobKind::Distil,
    JobKind::Link,
    JobKind::Causal,
    JobKind::Insight,
    JobKind::Enrich,
    JobKind::Summarize,
];

/// How often the lease of a job is renewed while work goes on.
const RENEWAL: Duration = Duration::from_secs(40);

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct JobRun {
    /// Jobs that are done.
    pub done: usize,
    /// Jobs that failed and wait for a retry, or were set aside.
    pub failed: usize,
    /// Jobs that wait for another day, because a cap is reached.
    pub waiting: usize,
    /// What sessions taught.
    pub learned: ConsolidationReport,
}

/// How far a job came.
enum Progress {
    /// It is done; what it taught.
    Done(ConsolidationReport),
    /// The rest waits.
    Waits { until: Timestamp, learned: ConsolidationReport },
}

impl Engine {
    /// Runs up to `limit` waiting jobs of these kinds. Default: all kinds except embedding.
    pub async fn work(&self, caller: &Caller, kinds: &[JobKind], limit: usize) -> Result<JobRun> {
        policy::require_operator(caller, "run jobs")?;
        crate::access::bounds::between("limit", limit, 1, usize::MAX)?;
        let kinds = if kinds.is_empty() { &SLOW } else { kinds };
        let mut worked = JobRun::default();
        // One that fails waits for the next time, however long this one takes.
        let start = self.now();
        while worked.done + worked.failed + worked.waiting < limit {
            // A lease counts from when the job is claimed.
            let late = Duration::try_from(self.now().duration_since(start)).unwrap_or_default();
            let claimed = self.store.claim(&caller.tenant, kinds, 1, start, JOB_LEASE + late).await?.pop();
            let Some(mut job) = claimed else { break };
            match self.perform_under_lease(caller, &mut job).await {
                Ok(Progress::Done(learned)) => {
                    worked.learned.add(learned);
                    self.store.update_job(&caller.tenant, &job, JobUpdate::Done).await?;
                    worked.done += 1;
                }
                Ok(Progress::Waits { until, learned }) => {
                    worked.learned.add(learned);
                    let why = "daily cap reached; the rest is learned the next day";
                    self.store
                        .update_job(
                            &caller.tenant,
                            &job,
                            JobUpdate::Failed { error: why.to_owned(), retry_at: Some(until) },
                        )
                        .await?;
                    worked.waiting += 1;
                }
                Err(error) => {
                    tracing::warn!(job = job.id, kind = job.kind.name(), %error, "a job failed");
                    let again = retry_at(&job, &error, self.now());
                    self.store
                        .update_job(
                            &caller.tenant,
                            &job,
                            JobUpdate::Failed { error: error.to_string(), retry_at: again },
                        )
                        .await?;
                    worked.failed += 1;
                }
            }
        }
        Ok(worked)
    }

    /// Does a job, and renews its lease while that takes.
    async fn perform_under_lease(&self, caller: &Caller, job: &mut Job) -> Result<Progress> {
        let work = job.clone();
        let work = self.perform(caller, &work);
        tokio::pin!(work);
        loop {
            match tokio::time::timeout(RENEWAL, &mut work).await {
                Ok(outcome) => return outcome,
                Err(_) => {
                    let until = self.now().saturating_add(JOB_LEASE).unwrap_or(Timestamp::MAX);
                    if self.store.update_job(&caller.tenant, job, JobUpdate::Renew(until)).await? {
                        job.lease_until = until;
                    } else {
                        let message = format!("job {} was claimed by another worker", job.id);
                        return Err(loci_types::Error::new(ErrorKind::Conflict, message).into());
                    }
                }
            }
        }
    }

    async fn perform(&self, caller: &Caller, job: &Job) -> Result<Progress> {
        if job.kind == JobKind::Consolidate {
            let (scope, session) = about(job)?;
            let learned = self.consolidate(caller, &scope, &session).await?;
            return Ok(match learned.waits_until {
                Some(until) => Progress::Waits { until, learned },
                None => Progress::Done(learned),
            });
        }
        self.perform_other(caller, job).await.map(|()| Progress::Done(ConsolidationReport::default()))
    }

    async fn perform_other(&self, caller: &Caller, job: &Job) -> Result<()> {
        match job.kind {
            JobKind::Distil => match memory(job) {
                Some(id) => self.distil(&caller.tenant, &job.space.parse()?, id, self.now()).await,
                None => Ok(()),
            },
            JobKind::Causal => {
                let (scope, session) = about(job)?;
                self.find_causes(caller, &scope, &session).await.map(drop)
            }
            JobKind::Insight => {
                let (scope, session) = about(job)?;
                self.find_insights(caller, &scope, &session).await.map(drop)
            }
            JobKind::Summarize => {
                let (scope, session) = about(job)?;
                self.summarize_session(&caller.tenant, &scope, &session).await.map(drop)
            }
            // Links are drawn when a memory is learned, entities and purges have steps of their own.
            JobKind::Consolidate | JobKind::Link | JobKind::Enrich | JobKind::Purge | JobKind::Embed => Ok(()),
        }
    }

    /// Lists all jobs in these states, oldest first. Default: all states.
    pub async fn jobs(&self, caller: &Caller, states: &[&str]) -> Result<Vec<JobRecord>> {
        self.jobs_from(caller, states, 0, usize::MAX).await
    }

    /// Lists jobs from an offset on, at most `limit` of them, oldest first.
    pub async fn jobs_from(
        &self,
        caller: &Caller,
        states: &[&str],
        offset: usize,
        limit: usize,
    ) -> Result<Vec<JobRecord>> {
        policy::require_operator(caller, "manage jobs")?;
        let found = self.store.jobs(&caller.tenant, states, offset.saturating_add(limit)).await?;
        Ok(found.into_iter().skip(offset).collect())
    }

    /// Lets a job be tried again at once.
    pub async fn retry_job(&self, caller: &Caller, space: &Space, id: i64) -> Result<()> {
        policy::require_operator(caller, "manage jobs")?;
        let found = self.store.requeue(&caller.tenant, space, id, Some(self.now())).await?;
        self.found(found, space, id)
    }

    /// Gives a job up.
    pub async fn drop_job(&self, caller: &Caller, space: &Space, id: i64) -> Result<()> {
        policy::require_operator(caller, "manage jobs")?;
        let found = self.store.requeue(&caller.tenant, space, id, None).await?;
        self.found(found, space, id)
    }

    fn found(&self, found: bool, space: &Space, id: i64) -> Result<()> {
        if found {
            return Ok(());
        }
        let message = format!("space {} has no job {id} that is not running", space.name());
        Err(loci_types::Error::new(ErrorKind::NotFound, message).at("job").hint("`loci store jobs` shows them").into())
    }

    /// Every space of a tenant that was written to.
    pub(crate) async fn all_spaces(&self, tenant: &Tenant) -> Result<Vec<Space>> {
        Ok(self.store.spaces(tenant).await?)
    }
}

/// When a failed job is retried. `None` if it is not retried automatically.
fn retry_at(job: &Job, error: &Error, now: Timestamp) -> Option<Timestamp> {
    // Who is asked to wait waits, however often.
    if error.kind() == ErrorKind::RateLimited {
        return Some(now.saturating_add(SignedDuration::from_mins(15)).unwrap_or(now));
    }
    // What is wrong with the job itself does not pass.
    let hopeless = matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound);
    if job.attempt >= MAX_ATTEMPTS || (hopeless && job.attempt >= 2) {
        return None;
    }
    let wait = SignedDuration::from_secs(2_i64.pow((job.attempt + 2).min(LONGEST_WAIT)));
    Some(now.saturating_add(wait).unwrap_or(now))
}

fn memory(job: &Job) -> Option<MemoryId> {
    serde_json::from_value(job.payload["memory"].clone()).ok()
}

/// The session that a job is about.
fn about(job: &Job) -> Result<(Scope, String)> {
    let text = |field: &str| job.payload[field].as_str().map(str::to_owned);
    match (text("scope"), text("session")) {
        (Some(scope), Some(session)) => Ok((Scope::from_key(&scope)?, session)),
        _ => Err(loci_types::Error::invalid("payload", format!("job {} names no session", job.id)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_end() {
        let now: Timestamp = "2026-06-01T12:00:00Z".parse().unwrap();
        let job = |attempt| Job {
            id: 1,
            space: "shared".into(),
            kind: JobKind::Consolidate,
            payload: serde_json::Value::Null,
            attempt,
            lease_until: now,
        };
        let passing = Error::Model(loci_models::Error::ModelMissing { looked: Vec::new() });
        let wait = |attempt| retry_at(&job(attempt), &passing, now).map(|at| at.as_second() - now.as_second());
        assert_eq!(
            (1..=8).map(wait).collect::<Vec<_>>(),
            [8, 16, 32, 64, 128, 256, 512].map(Some).into_iter().chain([None]).collect::<Vec<_>>()
        );
        let lasting = Error::Word(loci_types::Error::invalid("payload", "no"));
        assert!(retry_at(&job(1), &lasting, now).is_some() && retry_at(&job(2), &lasting, now).is_none());
    }
}
