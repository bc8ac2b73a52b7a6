//! `loci mcp`: serves MCP on standard input and output.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args;
use loci_engine::Caller;
use loci_server::{Options, Profile, Schedule, Stdio};
use loci_types::{Error, ErrorKind};

use crate::arguments::ScopeFlags;
use crate::command::serve::asked_to_stop;
use crate::context::Context;
use crate::{fault, output};

/// Which tools, for which scope.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci mcp
  loci mcp --user ann --agent planner --project atlas
  loci mcp --profile full
  loci mcp --profile graph --import memory.json

Speaks the Model Context Protocol on standard input and output, for clients that start their servers themselves. The \
scope is fixed: tools read and write nothing outside of it. `graph` has the tools of the official memory server; \
--import imports its file first, and importing it again adds nothing. While it runs, it computes missing vectors and \
learns from sessions that have ended.")]
pub(crate) struct McpArgs {
    /// Set of tools: default, full or graph [default: mcp.profile]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Import this file of the official memory server first
    #[arg(long, value_name = "FILE")]
    import: Option<PathBuf>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Serves until the client closes the connection or a signal ends the process.
pub(crate) async fn run(context: &Context, args: McpArgs) -> Result<()> {
    context.require_local("mcp")?;
    let settings = &context.settings;
    let profile = match &args.profile {
        Some(name) => name.parse::<Profile>()?,
        None => settings.mcp.profile,
    };
    settings.mcp.validate()?;
    let caller = context.caller(&args.scope)?;
    // Membership in a pool is checked by the store at every call.
    if caller.identifiers.pool_id.is_none() {
        loci_engine::policy::visible(&caller, None)?;
    }
    let zone = jiff::tz::TimeZone::get(&settings.engine().retrieval.time_zone).unwrap_or(jiff::tz::TimeZone::UTC);
    let schedule = Schedule::read(&settings.lifecycle.schedule, zone)?;
    if let Some(file) = &args.import {
        import(context, &caller, file).await?;
    }
    // The tables for counting tokens load in the background, so that the handshake does not wait for them.
    std::thread::spawn(loci_engine::pack::tokens::prepare);
    let opening = async {
        let engine = context.engine_with_model(false, &caller).await;
        engine.map(Arc::new).map_err(|error| fault::read(&error, "open").0)
    };
    let options = Options {
        server: settings.server.clone(),
        mcp: settings.mcp.clone(),
        config: settings.public(),
        ..Options::default()
    };
    let served = Stdio { profile, identifiers: caller.identifiers.clone(), options, schedule };
    served.serve(opening, asked_to_stop()).await?;
    // A thread may still block on standard input, which cannot be interrupted; all writes are done.
    output::finish()
}

/// Imports a file of the official memory server.
async fn import(context: &Context, caller: &Caller, file: &PathBuf) -> Result<()> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Error::new(ErrorKind::InvalidInput, format!("{} cannot be read: {error}", file.display())).at("import")
    })?;
    let engine = context.engine().await?;
    let done = engine.graph_import(caller, &text).await.with_context(|| file.display().to_string())?;
    output::note(&format!(
        "Imported {} entities, {} observations and {} relations; {} were already known.",
        done.entities, done.observations, done.relations, done.skipped
    ));
    engine.flush().await;
    Ok(())
}
