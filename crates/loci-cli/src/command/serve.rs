//! `loci serve`: how do others on this machine reach it?

use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use loci_server::{Options, Schedule, Server};
use serde_json::json;

use crate::context::Context;
use crate::output;
use crate::settings::variable;

/// Where to listen.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci serve
  loci serve --listen 127.0.0.1:8080
  loci key create --name ops --role admin && loci serve --listen 0.0.0.0:7077
  curl http://127.0.0.1:7077/readyz

Without keys it listens on this machine only, and asks nobody who they are; `loci key create` makes the
first key, and from then on every caller must show one. While it runs it makes the vectors that were left for later, learns
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
    let settings = &context.settings;
    let guarded = settings.auth.jwt.is_some() || context.engine().await?.has_keys().await?;
    let secret = settings.auth.jwt.as_ref().and_then(|jwt| jwt.secret_env.as_deref()).and_then(variable);
    let options = Options {
        server: loci_server::ServerOptions {
            backup_folder: Some(match &settings.server.backup_folder {
                Some(folder) => folder.clone(),
                None => context.data()?.join("backups"),
            }),
            ..settings.server.clone()
        },
        webhooks: settings.webhooks.clone(),
        auth: settings.auth.clone(),
        jwt_secret: secret,
        mcp: settings.mcp_for_server(),
        config: settings.public(),
        shared: context.tier()?.map(|tier| tier as Arc<dyn loci_server::SharedLimiter>),
    };
    options.validate()?;
    // The address is bound first, so that a wrong one is reported before a model is loaded.
    let server = Server::bind(&listen, guarded).await?;
    let engine = Arc::new(context.engine_with_model(false, &loci_engine::Caller::operator()).await?);
    let zone = jiff::tz::TimeZone::get(&engine.config().retrieval.time_zone).unwrap_or(jiff::tz::TimeZone::UTC);
    let schedule = Schedule::read(&context.settings.lifecycle.schedule, zone)?;
    // Before the address is printed: whoever has read it may ask for an end at once.
    let closing = asked_to_stop();
    let address = format!("http://{}", server.address());
    if context.json {
        output::json(&json!({ "listening": address, "data": context.data()? }));
    } else {
        output::line(&format!("Listening on {address} (Ctrl-C ends it)"));
    }
    server.serve(engine, options, schedule, closing).await?;
    output::note("Closed; everything is kept.");
    Ok(())
}

/// Done when a person or the system asks for an end. Whoever has called this is heard from then on,
/// not only once the future is waited for.
#[cfg(unix)]
pub(crate) fn asked_to_stop() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    async move {
        match signals {
            (Ok(mut terminate), Ok(mut interrupt)) => {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
            }
            _ => drop(tokio::signal::ctrl_c().await),
        }
    }
}

/// Done when a person asks for an end.
#[cfg(not(unix))]
pub(crate) async fn asked_to_stop() {
    drop(tokio::signal::ctrl_c().await);
}
