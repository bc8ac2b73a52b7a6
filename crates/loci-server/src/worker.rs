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

/// How many slow jobs are done before the vectors are looked at again.
const SLOW: usize = 8;

/// Works until told that the house is closing.
pub(crate) async fn run(engine: Arc<Engine>, schedule: Option<Schedule>, mut closed: watch::Receiver<bool>) {
    let mut next = due(&engine, schedule.as_ref());
    while !*closed.borrow() {
        let mut busy = false;
        engine.tidy_working().await;
        let night = next.is_some_and(|next| next <= engine.now());
        for operator in operators(&engine).await {
            busy |= work(&engine, &operator).await;
            if night {
                maintain(&engine, &operator).await;
            }
        }
        if night {
            next = due(&engine, schedule.as_ref());
        }
        if busy {
            continue;
        }
        tokio::select! {
            () = tokio::time::sleep(REST) => {}
            _ = closed.wait_for(|closed| *closed) => return,
        }
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

/// A round of the work that waits; true if something was done.
async fn work(engine: &Engine, operator: &Caller) -> bool {
    let vectors = engine.embed_waiting(operator, JOBS).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "waiting vectors were not made");
        0
    });
    let jobs = engine.work(operator, &[], SLOW).await.map(|worked| worked.done).unwrap_or_else(|error| {
        tracing::warn!(%error, "waiting jobs were not done");
        0
    });
    vectors > 0 || jobs > 0
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
