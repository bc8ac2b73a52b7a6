//! `loci serve`: serves HTTP and MCP.

use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use loci_server::{Options, Schedule, Server};
use serde_json::json;

use crate::context::Context;
use crate::{local_key, output};

/// Where to listen.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci serve
  loci serve --listen 127.0.0.1:8080
  loci key create --name ops --role admin && loci serve --listen 0.0.0.0:7077
  curl http://127.0.0.1:7077/readyz

With server.tls_cert and server.tls_key in the configuration it speaks HTTPS; both files are read again when they change.

Without keys the server listens on loopback only, every caller of this machine is an admin, and requests that came through \
a proxy are refused. With --with-key it asks for a key from the start, which `loci --server` on this machine reads from \
the data folder. Once `loci key create` has made a key, \
every request needs one. While it runs, it computes missing vectors, learns from sessions that have ended, and runs \
maintenance on the cron schedule in lifecycle.schedule. Ctrl-C ends it after the requests in progress.")]
pub(crate) struct ServeArgs {
    /// Address and port [env: LOCI_LISTEN; default: 127.0.0.1:7077]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Ask for a key, and make one that `loci --server` on this machine finds by itself [setting: server.local_key]
    #[arg(long)]
    with_key: bool,
}

/// Serves until a signal ends the process.
pub(crate) async fn run(context: &Context, args: ServeArgs) -> Result<()> {
    context.require_local("serve")?;
    let listen = args.listen.unwrap_or_else(|| context.settings.server.listen.clone());
    let settings = &context.settings;
    if args.with_key || settings.server.local_key {
        local_key::provide(&context.engine().await?, &context.data()?).await?;
    }
    let guarded = settings.auth.jwt.is_some() || context.engine().await?.has_keys().await?;
    let options = options(context)?;
    options.validate()?;
    // The address is bound first, so that a wrong one is reported before a model is loaded.
    let server = Server::bind(&listen, guarded).await?;
    if args.with_key || settings.server.local_key {
        local_key::note_address(&context.data()?, server.address())?;
    }
    let engine = Arc::new(context.engine_with_model(false, &loci_engine::Caller::operator()).await?);
    let zone = jiff::tz::TimeZone::get(&engine.config().retrieval.time_zone).unwrap_or(jiff::tz::TimeZone::UTC);
    let schedule = Schedule::read(&context.settings.lifecycle.schedule, zone)?;
    // The signal handlers come before the address is printed: whoever reads it may send a signal at once.
    let closing = asked_to_stop();
    let address = format!("{}://{}", options.server.scheme(), server.address());
    let started = json!({ "listening": address, "data": context.data()? });
    context.print(&started, |_| output::line(&format!("Listening on {address} (Ctrl-C ends it)")));
    if !guarded {
        output::warn(
            "Open: there is no key, so every process and user of this machine is an admin of this store",
            Some("start with `loci serve --with-key`, or create a key with `loci key create`"),
        );
    }
    server.serve(engine, options, schedule, closing).await?;
    output::note("Stopped; all writes are on disk.");
    Ok(())
}

/// The options of the API.
pub(crate) fn options(context: &Context) -> Result<Options> {
    let settings = &context.settings;
    let secret = settings.jwt_secret().map(|source| source.read()).transpose()?.flatten();
    Ok(Options {
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
    })
}

/// Completes at SIGTERM or SIGINT. The handlers are installed when this is called, not when the future is first polled.
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

/// Completes at Ctrl-C.
#[cfg(not(unix))]
pub(crate) async fn asked_to_stop() {
    drop(tokio::signal::ctrl_c().await);
}
