//! `loci export`: how does what is known leave, whole?
//!
//! A header and typed lines, page by page as they are read, so that memory stays small at any size. A file of that
//! name is a whole export or none.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use indicatif::ProgressBar;
use loci_engine::json_lines::{Export, ExportLine, ExportRequest};
use loci_engine::{Caller, Engine};
use loci_types::{Error, ErrorKind, Layer};
use serde::Serialize;
use serde_json::json;

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::output;

/// Whose memories, and where they go.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci export --output everything.jsonl
  loci export --user ann > ann.jsonl
  loci export --project atlas --layer project --output atlas.jsonl
  loci export --vectors | loci --data ./copy import -

Without names everything is written, in whatever state. With a user, an agent or both, everything that carries
their names, in whatever layer; with other names or a layer, those scopes. History, jobs, keys, checkpoints and
members of pools are not written: a backup has them.
The file appears only when it is whole. docs/export.md says what stands in its lines.")]
pub(crate) struct ExportArgs {
    /// The file to write; `-` or none: standard output
    #[arg(long, alias = "out", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only this layer; may be repeated
    #[arg(long, value_name = "LAYER")]
    layer: Vec<String>,
    /// With the vectors, which are made anew otherwise
    #[arg(long)]
    vectors: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// How many lines of each type were written.
type Count = BTreeMap<&'static str, u64>;

/// Writes everything that is meant.
pub(crate) async fn run(context: &Context, args: &ExportArgs) -> Result<()> {
    let (caller, request) = asked(context, args)?;
    let engine = context.engine().await?;
    let export = engine.export(&caller, request).await?;
    let progress = output::progress(export.total(), "memories");
    let path = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let Some(path) = path else {
        pour(&engine, export, &progress, |line| {
            output::bytes(line);
            Ok(())
        })
        .await?;
        return Ok(());
    };
    let count = write_whole(path, &engine, export, &progress).await?;
    let memories = count.get("memory").copied().unwrap_or(0);
    if context.json {
        output::json(&json!({ "exported": memories, "lines": count, "file": path }));
    } else {
        let lines =
            count.iter().filter(|(name, _)| **name != "memory").map(|(name, count)| format!(", {count} {name}"));
        output::note(&format!("{memories} memories{} written to {}", lines.collect::<String>(), path.display()));
    }
    Ok(())
}

/// Who asks, and for what. A user or an agent alone are looked for in every layer.
fn asked(context: &Context, args: &ExportArgs) -> Result<(Caller, ExportRequest)> {
    let layers = args.layer.iter().map(|name| name.parse()).collect::<Result<Vec<Layer>, _>>()?;
    let layers = (!layers.is_empty()).then_some(layers);
    let mut rest = args.scope.identifiers();
    rest.validate()?;
    let (user, agent) = (rest.user_id.take(), rest.agent_id.take());
    let vectors = args.vectors;
    if layers.is_none() && rest.is_empty() {
        return Ok((Caller::operator(), ExportRequest { layers, user, agent, vectors }));
    }
    let caller = context.caller(&args.scope, layers.is_some(), Nobody::Operator);
    Ok((caller, ExportRequest { layers, user: None, agent: None, vectors }))
}

/// Under another name first: a file of that name is a whole export or none.
async fn write_whole(path: &Path, engine: &Engine, export: Export, progress: &ProgressBar) -> Result<Count> {
    let unwritable = |error: std::io::Error| {
        Error::new(ErrorKind::Storage, format!("{} cannot be written: {error}", path.display())).at("output")
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder).map_err(unwritable)?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    let count = pour(engine, export, progress, |line| Ok(out.write_all(line).map_err(unwritable)?)).await?;
    let file = out.into_inner().map_err(|error| unwritable(error.into_error()))?;
    file.as_file().sync_all().map_err(unwritable)?;
    file.persist(path).map_err(|error| unwritable(error.error))?;
    Ok(count)
}

async fn pour(
    engine: &Engine,
    mut export: Export,
    progress: &ProgressBar,
    mut to: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Count> {
    let mut count = Count::new();
    let mut line = Vec::new();
    write(&mut line, &export.header())?;
    to(&line)?;
    while let Some(lines) = engine.export_next(&mut export).await? {
        for one in &lines {
            line.clear();
            write(&mut line, one)?;
            to(&line)?;
            *count.entry(one.name()).or_default() += 1;
        }
        progress.inc(lines.iter().filter(|line| matches!(line, ExportLine::Memory(_))).count() as u64);
    }
    progress.finish_and_clear();
    Ok(count)
}

fn write(into: &mut Vec<u8>, value: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *into, value)?;
    into.push(b'\n');
    Ok(())
}
