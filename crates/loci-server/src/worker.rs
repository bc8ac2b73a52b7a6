//! What is done while nobody asks?
//!
//! Vectors that were left for later are made. A failure is logged and tried again: the jobs wait
//! in the store, and nothing is lost when this process ends.

use std::sync::Arc;
use std::time::Duration;

use loci_engine::{Caller, Engine};
use tokio::sync::watch;

/// How long to rest when there is nothing to do.
const REST: Duration = Duration::from_secs(1);

/// How many jobs are taken at once.
const JOBS: usize = 256;

/// Works until told that the house is closing.
pub(crate) async fn run(engine: Arc<Engine>, mut closed: watch::Receiver<bool>) {
    let operator = Caller::operator();
    while !*closed.borrow() {
        match engine.embed_waiting(&operator, JOBS).await {
            Ok(done) if done > 0 => continue,
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "waiting vectors were not made"),
        }
        tokio::select! {
            () = tokio::time::sleep(REST) => {}
            _ = closed.wait_for(|closed| *closed) => return,
        }
    }
}
