//! Background work: embedding, jobs, and maintenance by its schedule.
//!
//! A failure is logged and retried. Jobs are durable in the store, so nothing is lost when this process ends.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use loci_engine::{Caller, Engine, MaintainRequest};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::schedule::Schedule;

/// Pause between two checks when there is nothing to do.
const REST: Duration = Duration::from_secs(1);

/// Pause between two attempts of background work with a model that does not answer requests. It may only be too slow for them.
const TRIAL: Duration = Duration::from_secs(30);

/// Maximum number of embedding jobs that are claimed at once.
const JOBS: usize = 300;

/// Minimum time between two checks for idle sessions.
const IDLE_CHECK: Duration = Duration::from_secs(60);

/// Maximum number of slow jobs between two checks of the schedule.
const SLOW: usize = 8;

/// Runs until the server shuts down. Embedding has a loop of its own, so that it never waits for slow jobs.
pub(crate) async fn run(engine: Arc<Engine>, schedule: Option<Schedule>, closed: watch::Receiver<bool>) {
    tokio::join!(embed_loop(&engine, closed.clone()), job_loop(&engine, schedule, closed));
}

async fn embed_loop(engine: &Engine, mut closed: watch::Receiver<bool>) {
    let (mut slow, mut tried) = (false, Instant::now());
    while !*closed.borrow() {
        let away = engine.model_problem().await.is_some();
        // A job that fails waits longer each time, so only one is tried now and then while the model is known to be away.
        let jobs = match away && !slow {
            false => JOBS,
            true if tried.elapsed() >= TRIAL => 1,
            true => 0,
        };
        let mut embedded = 0;
        for operator in if jobs == 0 { Vec::new() } else { operators(engine).await } {
            embedded += engine.embed_waiting(&operator, jobs).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "embedding jobs failed");
                0
            });
        }
        if jobs > 0 {
            (slow, tried) = (away && embedded > 0, Instant::now());
        }
        if embedded == 0 && pause(&mut closed).await {
            return;
        }
    }
}

async fn job_loop(engine: &Engine, schedule: Option<Schedule>, mut closed: watch::Receiver<bool>) {
    let mut next = next_run(engine, schedule.as_ref());
    // All spaces are read, so this is done as rarely as the setting allows.
    let between = IDLE_CHECK.max(Duration::from_secs(60 * u64::from(engine.config().sessions.idle_minutes)));
    let mut checked: Option<Instant> = None;
    while !*closed.borrow() {
        let mut done = 0;
        engine.tidy_working().await;
        let check_idle = checked.is_none_or(|checked| checked.elapsed() >= between);
        let is_due = next.is_some_and(|next| next <= engine.now());
        for operator in operators(engine).await {
            done += engine.work(&operator, &[], SLOW).await.map(|worked| worked.done).unwrap_or_else(|error| {
                tracing::warn!(%error, "jobs failed");
                0
            });
            if check_idle && let Err(error) = engine.end_idle_sessions(&operator).await {
                tracing::warn!(%error, "idle sessions were not ended");
            }
            if is_due {
                maintain(engine, &operator).await;
            }
        }
        if check_idle {
            checked = Some(Instant::now());
        }
        if is_due {
            next = next_run(engine, schedule.as_ref());
        }
        if done == 0 && pause(&mut closed).await {
            return;
        }
    }
}

/// Waits for [`REST`]. Returns true if the server shuts down in that time.
async fn pause(closed: &mut watch::Receiver<bool>) -> bool {
    tokio::select! {
        () = tokio::time::sleep(REST) => false,
        _ = closed.wait_for(|closed| *closed) => true,
    }
}

/// The operator of each tenant.
async fn operators(engine: &Engine) -> Vec<Caller> {
    match engine.tenants(&Caller::operator()).await {
        Ok(tenants) => tenants.into_iter().map(|tenant| Caller { tenant, ..Caller::operator() }).collect(),
        Err(error) => {
            tracing::warn!(%error, "the tenants could not be read");
            Vec::new()
        }
    }
}

fn next_run(engine: &Engine, schedule: Option<&Schedule>) -> Option<Timestamp> {
    schedule.and_then(|schedule| schedule.after(engine.now()))
}

/// Runs maintenance. It is not an error if another process is running it already.
async fn maintain(engine: &Engine, operator: &Caller) {
    match engine.maintain(operator, MaintainRequest::default(), |_| {}).await {
        Ok(report) => {
            let changes: u64 = report.steps.iter().map(|step| step.changes).sum();
            tracing::info!(changes, "maintenance is complete");
            for step in report.steps {
                if let Some(problem) = step.problem {
                    tracing::warn!(step = step.step.name(), problem, "a step of maintenance had a problem");
                }
            }
        }
        Err(error) => tracing::warn!(%error, "maintenance failed"),
    }
}
