//! Background work: embedding, jobs, and maintenance by its schedule.
//!
//! A failure is logged and retried. Jobs are durable in the store, so nothing is lost when this process ends.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use loci_engine::{Caller, Engine, MaintainRequest};
use tokio::sync::watch;

use crate::schedule::Schedule;

/// Pause between two checks when there is nothing to do.
const REST: Duration = Duration::from_secs(1);

/// Maximum number of embedding jobs that are claimed at once.
const JOBS: usize = 300;

/// Maximum number of slow jobs between two checks of the schedule.
const SLOW: usize = 8;

/// Runs until the server shuts down. Embedding has a loop of its own, so that it never waits for slow jobs.
pub(crate) async fn run(engine: Arc<Engine>, schedule: Option<Schedule>, closed: watch::Receiver<bool>) {
    tokio::join!(embed_loop(&engine, closed.clone()), job_loop(&engine, schedule, closed));
}

async fn embed_loop(engine: &Engine, mut closed: watch::Receiver<bool>) {
    while !*closed.borrow() {
        // A job that fails waits longer each time, so none is tried while the model is known to be away.
        let away = engine.model_problem().await.is_some();
        let mut embedded = 0;
        for operator in if away { Vec::new() } else { operators(engine).await } {
            embedded += engine.embed_waiting(&operator, JOBS).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "embedding jobs failed");
                0
            });
        }
        if embedded == 0 && pause(&mut closed).await {
            return;
        }
    }
}

async fn job_loop(engine: &Engine, schedule: Option<Schedule>, mut closed: watch::Receiver<bool>) {
    let mut next = next_run(engine, schedule.as_ref());
    while !*closed.borrow() {
        let mut done = 0;
        engine.tidy_working().await;
        let is_due = next.is_some_and(|next| next <= engine.now());
        for operator in operators(engine).await {
            done += engine.work(&operator, &[], SLOW).await.map(|worked| worked.done).unwrap_or_else(|error| {
                tracing::warn!(%error, "jobs failed");
                0
            });
            if is_due {
                maintain(engine, &operator).await;
            }
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
