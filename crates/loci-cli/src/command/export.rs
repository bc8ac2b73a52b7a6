//! `loci export`: exports memories as JSON lines.
//!
//! Lines are written as they arrive, so that the memory in use does not grow with the export. A file gets its name only
//! once it is complete.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use futures::StreamExt;
use indicatif::ProgressBar;
use loci_types::{Error, ErrorKind};
use serde::Deserialize;
use serde_json::json;

use crate::api::{ByteStream, Call};
use crate::arguments::ScopeFlags;
use crate::context::{Context, Model};
use crate::{output, shape};

/// The scope of an export, and where it is written.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci export --everyone --output everything.jsonl
  loci export --user ann > ann.jsonl
  loci export --user ann --history --output ann-with-history.jsonl
  loci export --project atlas --layer project --output atlas.jsonl
  loci export --everyone --vectors | loci --data ./copy import -

With a user, an agent or both, everything that has their ids is exported, in any layer and state; with other \
identifiers or a layer, those scopes. Jobs, keys, checkpoints and members of pools are not exported: a backup \
has them, and the history that an import ignores. docs/export.md describes the lines.")]
pub(crate) struct ExportArgs {
    /// File to write; `-` is standard output [default: standard output]
    #[arg(short, long, alias = "out", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(short, long)]
    force: bool,
    /// Any of these layers; may be repeated
    #[arg(long, value_name = "LAYER")]
    layer: Vec<String>,
    /// Include vectors; without them an import computes them again
    #[arg(long)]
    vectors: bool,
    /// Include the history of each memory
    #[arg(long)]
    history: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Number of lines by type.
type ExportCounts = BTreeMap<String, u64>;

/// Writes the export to a file or to standard output.
pub(crate) async fn run(context: &Context, args: &ExportArgs) -> Result<()> {
    let path = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    if let Some(path) = path.filter(|path| path.exists() && !args.force) {
        return Err(Error::invalid("output", format!("{} exists", path.display()))
            .hint("choose another name, or add --force to replace it")
            .into());
    }
    let scope = if args.scope.is_empty() { context.scope(&args.scope) } else { context.scope_of_id(&args.scope) };
    let call = Call::get(&["v1", "export"])
        .scope(&scope)
        .param("layer", (!args.layer.is_empty()).then(|| args.layer.join(",")))
        .param("vectors", args.vectors.then_some(true))
        .param("history", args.history.then_some(true));
    let api = context.api(Model::Skip).await?;
    let lines = api.stream(call).await?;
    let progress = output::byte_progress(None, "exported");
    let Some(path) = path else {
        copy(lines, &progress, |line| {
            output::bytes(line);
            Ok(())
        })
        .await?;
        return Ok(());
    };
    let counts = write_file(path, lines, &progress).await?;
    let memories = counts.get("memory").copied().unwrap_or(0);
    context.print(&json!({ "exported": memories, "lines": counts, "file": path }), |_| {
        let others = counts.iter().filter(|(name, _)| *name != "memory");
        let others: String = others.map(|(name, count)| format!(", {}", shape::count(*count, name))).collect();
        let memories = shape::count(memories, "memory");
        output::note(&format!("{memories}{others} written to {}", path.display()));
    });
    Ok(())
}

/// Writes beside the file and renames at the end, so that a file of this name is always complete.
async fn write_file(path: &Path, lines: ByteStream, progress: &ProgressBar) -> Result<ExportCounts> {
    let unwritable = |error: std::io::Error| {
        Error::new(ErrorKind::Storage, format!("{} cannot be written: {error}", path.display())).at("output")
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder).map_err(unwritable)?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    let counts = copy(lines, progress, |line| Ok(out.write_all(line).map_err(unwritable)?)).await?;
    let file = out.into_inner().map_err(|error| unwritable(error.into_error()))?;
    file.as_file().sync_all().map_err(unwritable)?;
    file.persist(path).map_err(|error| unwritable(error.error))?;
    Ok(counts)
}

/// Gives each line with its end to `write`, and counts the lines by type.
async fn copy(
    mut stream: ByteStream,
    progress: &ProgressBar,
    mut write: impl FnMut(&[u8]) -> Result<()>,
) -> Result<ExportCounts> {
    let mut counts = ExportCounts::new();
    let mut waiting = Vec::new();
    while let Some(part) = stream.next().await {
        let part = part?;
        progress.inc(part.len() as u64);
        let mut rest = &part[..];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            waiting.extend_from_slice(&rest[..=end]);
            rest = &rest[end + 1..];
            if let Ok(ExportLineType { name: Some(name) }) = serde_json::from_slice(&waiting) {
                *counts.entry(name).or_default() += 1;
            }
            write(&waiting)?;
            waiting.clear();
        }
        waiting.extend_from_slice(rest);
    }
    progress.finish_and_clear();
    if waiting.is_empty() {
        return Ok(counts);
    }
    Err(Error::new(ErrorKind::Provider, "the export was cut off in the middle of a line").into())
}

/// The type of a line; the first line has none.
#[derive(Deserialize)]
struct ExportLineType {
    #[serde(rename = "type")]
    name: Option<String>,
}
