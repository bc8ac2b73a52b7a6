//! `loci config`: what is set, and where?

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_types::{Error, ErrorKind};
use serde_json::json;

use crate::context::Context;
use crate::output;
use crate::settings::Settings;

/// What to do with the configuration.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci config check
  loci config check other.toml
  loci config check > everything.toml

Settings come from loci.toml, then LOCI_* in the environment, then flags; the later one wins.")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print the settings in force with where they came from, or what is wrong with them
    Check {
        /// The file to check; default: the one in force
        file: Option<PathBuf>,
    },
}

/// Checks the settings and prints them.
pub(crate) fn run(args: ConfigArgs, config: Option<PathBuf>, data: Option<PathBuf>, as_json: bool) -> Result<()> {
    let Verb::Check { file } = args.verb;
    let (settings, sources) = Settings::load(file.or(config).as_deref())?;
    let context = Context { settings, sources, json: as_json, data, tier: Default::default() };
    let folder = context.data()?;
    if as_json {
        output::json(&json!({ "ok": true, "data": folder, "settings": context.settings.public() }));
        return Ok(());
    }
    let written = toml::to_string(&context.settings.without_secrets()).map_err(|error| {
        Error::new(ErrorKind::Configuration, format!("the settings cannot be written: {error}")).at("config")
    })?;
    output::line("# Where each setting came from:");
    for key in [
        "data",
        "user",
        "embeddings",
        "store",
        "postgres",
        "vectors",
        "tiers",
        "server",
        "limits",
        "retrieval",
        "lifecycle",
        "redaction",
        "categories_file",
        "kinds",
        "auth",
        "mcp",
        "rerank",
        "llm",
        "bands",
        "learning",
        "consent",
        "sessions",
        "summarization",
        "working",
        "batch",
    ] {
        output::line(&format!("#   {key}: {}", context.sources.of(key)));
    }
    output::line(&format!("# The data folder in force: {}", folder.display()));
    output::line("");
    output::bytes(written.as_bytes());
    output::note("ok");
    Ok(())
}
