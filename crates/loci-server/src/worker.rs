//! What is done while nobody asks?
//!
//! Vectors that were left for later are made, sessions that are over are learned from, and at the
//! hours that are set the night's work is done. A failure is logged and tried again: the jobs wait in
//! the store, and nothing is lost when this process ends.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use loci_engine::{Caller, Engine, MaintainRequest};
use tokio::sync::watch;

use crate::schedule::Schedule;

/// How long to rest when there is nothing to do.
const REST: Duration = Duration::from_secs(1);

/// How many jobs are taken at once.
const JOBS: usize = 256;

/// How many slow jobs are done before the clock is looked at again.
const SLOW: usize = 8;

/// Works until the server closes. Vectors are made on a loop of their own, so that they never wait for slow work.
pub(crate) async fn run(engine: Arc<Engine>, schedule: Option<Schedule>, closed: watch::Receiver<bool>) {
    tokio::join!(make_vectors(&engine, closed.clone()), do_jobs(&engine, schedule, closed));
}

async fn make_vectors(engine: &Engine, mut closed: watch::Receiver<bool>) {
    while !*closed.borrow() {
        let mut made = 0;
        for operator in operators(engine).await {
            made += engine.embed_waiting(&operator, JOBS).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "waiting vectors were not made");
                0
            });
        }
        if made == 0 && rests(&mut closed).await {
            return;
        }
    }
}

async fn do_jobs(engine: &Engine, schedule: Option<Schedule>, mut closed: watch::Receiver<bool>) {
    let mut next = due(engine, schedule.as_ref());
    while !*closed.borrow() {
        let mut done = 0;
        engine.tidy_working().await;
        let night = next.is_some_and(|next| next <= engine.now());
        for operator in operators(engine).await {
            done += engine.work(&operator, &[], SLOW).await.map(|worked| worked.done).unwrap_or_else(|error| {
                tracing::warn!(%error, "waiting jobs were not done");
                0
            });
            if night {
                maintain(engine, &operator).await;
            }
        }
        if night {
            next = due(engine, schedule.as_ref());
        }
        if done == 0 && rests(&mut closed).await {
            return;
        }
    }
}

/// Waits a moment; true if the server closes meanwhile.
async fn rests(closed: &mut watch::Receiver<bool>) -> bool {
    tokio::select! {
        () = tokio::time::sleep(REST) => false,
        _ = closed.wait_for(|closed| *closed) => true,
    }
}

/// Whoever looks after each of the tenants.
async fn operators(engine: &Engine) -> Vec<Caller> {
    match engine.tenants(&Caller::operator()).await {
        Ok(tenants) => tenants.into_iter().map(|tenant| Caller { tenant, ..Caller::operator() }).collect(),
        Err(error) => {
            tracing::warn!(%error, "the tenants could not be read");
            Vec::new()
        }
    }
}

fn due(engine: &Engine, schedule: Option<&Schedule>) -> Option<Timestamp> {
    schedule.and_then(|schedule| schedule.after(engine.now()))
}

/// The work of the night. Another process that does it already is no failure.
async fn maintain(engine: &Engine, operator: &Caller) {
    match engine.maintain(operator, MaintainRequest::default(), |_| {}).await {
        Ok(report) => {
            let changes: u64 = report.steps.iter().map(|step| step.changes).sum();
            tracing::info!(changes, "maintenance is done");
            for step in report.steps {
                if let Some(problem) = step.problem {
                    tracing::warn!(step = step.step.name(), problem, "a step of maintenance had a problem");
                }
            }
        }
        Err(error) => tracing::warn!(%error, "maintenance was not done"),
    }
}
