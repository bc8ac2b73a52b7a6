//! `loci serve`: serves HTTP and MCP.

use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use loci_server::{Options, Schedule, Server};
use serde_json::json;

use crate::context::Context;
use crate::local_key::{self, LocalKey};
use crate::output;
use crate::while_used::Users;

/// The address of a server that programs find by the data folder: any free port.
const ANY_PORT: &str = "127.0.0.1:0";

/// Where to listen.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci serve
  loci serve --listen 127.0.0.1:8080
  loci key create --name ops --role admin && loci serve --listen 0.0.0.0:7077
  loci serve --while-used
  curl http://127.0.0.1:7077/readyz

With server.tls_cert and server.tls_key in the configuration it speaks HTTPS; both files are read again when they change.

Without keys the server listens on loopback only, every caller of this machine is an admin, and requests that came through \
a proxy are refused. With --with-key it asks for a key from the start, which `loci --server` on this machine reads from \
the data folder. With --while-used, programs that share a data folder start the server themselves: each holds a shared lock \
on the file server.users of the folder, and the server ends when none is left. Once `loci key create` has made a key, \
every request needs one. While it runs, it computes missing vectors, learns from sessions that have ended, and runs \
maintenance on the cron schedule in lifecycle.schedule. Ctrl-C ends it after the requests in progress.")]
pub(crate) struct ServeArgs {
    /// Address and port [env: LOCI_LISTEN; default: 127.0.0.1:7077]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Ask for a key, and make one that `loci --server` on this machine finds by itself [setting: server.local_key]
    #[arg(long)]
    with_key: bool,
    /// End when no program uses the server any more; implies --with-key, and a free port unless --listen is given
    #[arg(long)]
    while_used: bool,
}

/// Serves until a signal ends the process.
pub(crate) async fn run(context: &Context, args: ServeArgs) -> Result<()> {
    context.require_local("serve")?;
    let settings = &context.settings;
    let listen = args.listen.unwrap_or_else(|| match args.while_used {
        true => ANY_PORT.to_owned(),
        false => settings.server.listen.clone(),
    });
    let with_key = args.with_key || args.while_used || settings.server.local_key;
    let local_key = with_key.then(local_key::generate).transpose()?;
    let guarded = local_key.is_some() || settings.auth.jwt.is_some() || context.engine().await?.has_keys().await?;
    let mut options = Options { local_key: local_key.clone(), ..options(context)? };
    if args.while_used {
        // Its users find it by a loopback address, for which no certificate is valid.
        (options.server.tls_cert, options.server.tls_key) = (None, None);
    }
    options.validate()?;
    // The address is bound first, so that a wrong one is reported before a model is loaded.
    let server = Server::bind(&listen, guarded).await?;
    let engine = Arc::new(context.engine_with_model(false, &loci_engine::Caller::operator()).await?);
    // The store has made the data folder, for its owner alone.
    let published = local_key.map(|key| LocalKey::publish(&context.data()?, key, server.address())).transpose()?;
    let zone = jiff::tz::TimeZone::get(&engine.config().retrieval.time_zone).unwrap_or(jiff::tz::TimeZone::UTC);
    let schedule = Schedule::read(&context.settings.lifecycle.schedule, zone)?;
    // The signal handlers come before the address is printed: whoever reads it may send a signal at once.
    let users = args.while_used.then(|| context.data().and_then(|data| Users::of(&data))).transpose()?;
    let closing = unused_or_asked_to_stop(users.as_ref(), asked_to_stop());
    let address = format!("{}://{}", options.server.scheme(), server.address());
    let started = json!({ "listening": address, "data": context.data()? });
    context.print(&started, |_| {
        output::line(&format!("Listening on {address} (Ctrl-C ends it)"));
        output::line(&format!("Console: {address}/console"));
    });
    if !guarded {
        output::warn(
            "Open: there is no key, so every process and user of this machine is an admin of this store",
            Some("start with `loci serve --with-key`, or create a key with `loci key create`"),
        );
    }
    server.serve(engine, options, schedule, closing).await?;
    drop(published);
    output::note("Stopped; all writes are on disk.");
    // Programs that want to use the folder wait for the lock until this process is gone.
    std::mem::forget(users);
    Ok(())
}

/// Completes when the process is asked to stop, or when the last of the users is gone.
async fn unused_or_asked_to_stop(users: Option<&Users>, asked: impl Future<Output = ()>) {
    let Some(users) = users else { return asked.await };
    tokio::select! {
        () = asked => {}
        () = users.gone() => tracing::info!("no program uses the server any more"),
    }
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
        backup_encoding: settings.backup_encoding()?,
        auth: settings.auth.clone(),
        jwt_secret: secret,
        local_key: None,
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
