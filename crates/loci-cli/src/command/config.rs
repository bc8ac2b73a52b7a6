//! `loci config`: the settings in force, and the table of exit codes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_types::{ERROR_TABLE, Error, ErrorKind, NOT_FOUND, OTHER_EXITS};
use serde_json::json;

use crate::command::serve;
use crate::context::Context;
use crate::settings::{Settings, Sources};
use crate::{output, shape};

/// What to show of the configuration.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci config check
  loci config check other.toml
  loci config check > everything.toml
  loci config exit-codes

The configuration file is --config, else LOCI_CONFIG, else loci.toml in the platform's configuration folder, such as \
~/.config/loci. A loci.toml in the working directory is a project file, which may set only user, project and \
categories_file; it is not read if a configuration file is named. LOCI_* in the environment wins over files, and flags \
over both. `check` also reads the secrets and addresses that the settings name, but connects to nothing.")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print the settings in force and where they came from, or what is wrong with them
    Check {
        /// File to check [default: the one in force]
        file: Option<PathBuf>,
    },
    /// Print the exit codes with their error codes
    ExitCodes,
}

/// Runs the command.
pub(crate) fn run(args: ConfigArgs, config: Option<PathBuf>, data: Option<PathBuf>, as_json: bool) -> Result<()> {
    match args.command {
        ConfigCommand::Check { file } => check(file.or(config), data, as_json),
        ConfigCommand::ExitCodes => {
            print_exit_codes(as_json);
            Ok(())
        }
    }
}

fn check(config: Option<PathBuf>, data: Option<PathBuf>, as_json: bool) -> Result<()> {
    let (settings, sources) = Settings::load(config.as_deref())?;
    if let Some(note) = &sources.note {
        output::note(note);
    }
    let from_flag = data.is_some();
    let context = Context {
        settings,
        sources,
        json: as_json,
        server: None,
        key: None,
        key_is_bound: false,
        ca: None,
        data,
        tier: Default::default(),
    };
    context.settings.check()?;
    serve::options(&context)?.validate()?;
    let folder = context.data()?;
    let written = toml::to_string(&context.settings.without_secrets()).map_err(|error| {
        Error::new(ErrorKind::Configuration, format!("the settings cannot be written: {error}")).at("config")
    })?;
    let settings = context.settings.public();
    let mut sources: BTreeMap<String, String> = context.sources.every(&settings).into_iter().collect();
    if from_flag {
        sources.insert("data".to_owned(), "--data".to_owned());
    }
    let secrets: BTreeMap<&str, Option<String>> =
        context.settings.secrets().into_iter().map(|(name, source)| (name, source.origin())).collect();
    let answer = json!({ "ok": true, "data": folder, "settings": settings, "sources": sources, "secrets": secrets });
    context.print(&answer, |_| {
        output::line("# Source of each setting:");
        for (key, source) in &sources {
            output::line(&format!("#   {key}: {source}"));
        }
        output::line("# Source of each secret:");
        for (name, source) in &secrets {
            output::line(&format!("#   {name}: {}", source.as_deref().unwrap_or("none")));
        }
        output::line(&format!("# Data folder: {}", folder.display()));
        output::line("");
        output::bytes(written.as_bytes());
        output::line("");
        output::line("# Settings without a value:");
        for key in Sources::unset(&settings) {
            output::line(&format!("#   {key}"));
        }
        output::note("ok");
    });
    Ok(())
}

fn print_exit_codes(as_json: bool) {
    let others = OTHER_EXITS.iter().map(|(exit, code, meaning)| (*exit, *code, false, *meaning));
    let errors = ERROR_TABLE.iter().chain([&NOT_FOUND]);
    let mut rows: Vec<_> = others.chain(errors.map(|row| (row.exit, row.code, row.retryable, row.meaning))).collect();
    rows.sort_by_key(|(exit, ..)| *exit);
    if as_json {
        let rows = rows.into_iter().map(|(exit, code, retryable, meaning)| {
            let code = (!code.is_empty()).then_some(code);
            json!({ "exit": exit, "code": code, "retryable": retryable, "meaning": meaning })
        });
        return output::json(&json!({ "data": rows.collect::<Vec<_>>() }));
    }
    let rows = rows.into_iter().map(|(exit, code, retryable, meaning)| {
        let retry = if retryable { "yes" } else { "no" };
        vec![exit.to_string(), code.to_owned(), retry.to_owned(), meaning.to_owned()]
    });
    output::line(&shape::table(&["exit code", "error", "retry helps", "meaning"], rows.collect()));
}
