//! `loci serve`: how do others on this machine reach it?

use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use loci_server::{Door, Schedule};
use serde_json::json;

use crate::context::Context;
use crate::output;

/// Where to listen.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci serve
  loci serve --listen 127.0.0.1:8080
  curl http://127.0.0.1:7077/readyz

It listens on this machine only. While it runs it makes the vectors that were left for later, learns
from sessions that are over, and does the night's work at the hours of lifecycle.schedule.
Ctrl-C ends it when what is under way is done.")]
pub(crate) struct ServeArgs {
    /// The address [environment: LOCI_LISTEN; default: 127.0.0.1:7077]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

/// Serves until told to stop.
pub(crate) async fn run(context: &Context, args: ServeArgs) -> Result<()> {
    let listen = args.listen.unwrap_or_else(|| context.settings.server.listen.clone());
    // The address first: a wrong one is told before a model is loaded.
    let door = Door::open(&listen).await?;
    let engine = Arc::new(context.engine_with_model(false, &loci_engine::Caller::operator()).await?);
    let zone = jiff::tz::TimeZone::get(&engine.config().retrieval.time_zone).unwrap_or(jiff::tz::TimeZone::UTC);
    let schedule = Schedule::read(&context.settings.lifecycle.schedule, zone)?;
    let address = format!("http://{}", door.address());
    if context.json {
        output::json(&json!({ "listening": address, "data": context.data()? }));
    } else {
        output::line(&format!("Listening on {address} (Ctrl-C ends it)"));
    }
    door.serve(engine, schedule, asked_to_stop()).await?;
    output::note("Closed; everything is kept.");
    Ok(())
}

/// Done when a person or the system asks for an end.
async fn asked_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    drop(tokio::signal::ctrl_c().await);
}
