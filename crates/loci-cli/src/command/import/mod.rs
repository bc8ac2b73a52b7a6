//! `loci import`: imports an export of Loci, files of other systems, and notes.
//!
//! The API reads the file. An export of Loci ends at the first line that cannot be read; records of other formats that
//! cannot be read are counted and skipped. An import can be repeated: what is known is skipped.

mod files;
mod report;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use indicatif::ProgressBar;
use loci_engine::importers::SourceFormat;
use loci_types::{Error, RequestScope};

use self::report::ImportReport;
use crate::api::{Api, Call};
use crate::arguments::ScopeFlags;
use crate::context::{Context, Model};
use crate::output;

/// What to import, and the owner of records that name none.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci import everything.jsonl
  loci import --user ann conversations.json --dry-run
  loci import --user ann --source-format mem0 memories.json
  loci import --user ann ./notes
  loci import --user ann --quarantine from-a-stranger.json && loci consent list --user ann
  loci export --everyone | loci --data ./copy import -

Formats: loci, mem0, mcp-memory, langgraph, chatgpt, claude, markdown (a file or a folder). Without --source-format the format \
is recognised. Lines of `loci export` keep their ids, times, scores and states; any other line is a new memory:
{\"content\": …} with the fields of a memory. Records without an owner belong to the scope of the command. Importing a \
file again changes nothing. docs/export.md has more.")]
pub(crate) struct ImportArgs {
    /// File, or folder of notes; `-` for standard input
    file: PathBuf,
    /// Format: loci, mem0, mcp-memory, langgraph, chatgpt, claude, markdown [default: recognised]
    #[arg(long, alias = "from", value_name = "FORMAT")]
    source_format: Option<String>,
    /// Show what would be imported, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Replace other records that have the same id
    #[arg(long)]
    replace: bool,
    /// Store memories as proposals, which recall does not return until `loci consent accept`; they do not lapse
    #[arg(long, conflicts_with = "replace")]
    quarantine: bool,
    /// Stop at the first record that cannot be imported
    #[arg(long)]
    strict: bool,
    /// Compute the vectors later
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Imports the file, or each note of the folder.
pub(crate) async fn run(context: &Context, args: &ImportArgs) -> Result<()> {
    let from = args.source_format.as_deref().map(str::parse::<SourceFormat>).transpose()?;
    let folder = args.file.is_dir();
    if folder && from.is_some_and(|format| format != SourceFormat::Markdown) {
        return Err(Error::invalid("file", "a folder can only be imported as markdown").hint("name a file").into());
    }
    let size = files::size(&args.file)?;
    // Lines of an export have owners of their own, so everyone may be named.
    let scope = context.scope(&args.scope);
    let model = context.model_unless(args.no_embed)?;
    let api = context.api(if args.dry_run { Model::Skip } else { model }).await?;
    let progress = if folder { ProgressBar::hidden() } else { output::byte_progress(size, "read") };
    let outcome = if folder {
        import_folder(&api, args, &scope).await
    } else {
        import_file(&api, args, from, &scope, &args.file, &progress).await
    };
    let elapsed = progress.elapsed();
    progress.finish_and_clear();
    api.close().await;
    let report = outcome?;
    if from.is_none() && report.format != SourceFormat::Loci.name() {
        output::note(&format!("read as {}; --source-format names another format", report.format));
    }
    context.print(&serde_json::to_value(&report)?, |_| report.print(elapsed));
    if args.quarantine && !args.dry_run {
        output::note("Quarantined: `loci consent list` shows what waits; `loci consent accept` or `reject` decides.");
    }
    Ok(())
}

async fn import_file(
    api: &Api,
    args: &ImportArgs,
    format: Option<SourceFormat>,
    scope: &RequestScope,
    path: &Path,
    progress: &ProgressBar,
) -> Result<ImportReport> {
    let name = path.file_name().filter(|_| path.as_os_str() != "-").map(|name| name.to_string_lossy().into_owned());
    let call = call(args, format, scope, name, path);
    let body = files::body(files::open(path)?, progress)?;
    Ok(serde_json::from_value(api.upload(call, body).await?)?)
}

/// Imports the notes of a folder one after the other. A file that cannot be read is counted.
async fn import_folder(api: &Api, args: &ImportArgs, scope: &RequestScope) -> Result<ImportReport> {
    let notes = files::notes(&args.file)?;
    if notes.is_empty() {
        return Err(Error::invalid("file", format!("{} has no notes", args.file.display()))
            .hint("notes are files that end with .md or .markdown")
            .into());
    }
    let mut sum = ImportReport::default();
    for path in notes {
        let name = path.strip_prefix(&args.file).unwrap_or(&path).display().to_string();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) if text.trim().is_empty() => continue,
            Ok(text) => text,
            Err(error) if args.strict => return Err(files::unreadable(&path, &error).into()),
            Err(error) => {
                sum.refuse(&name, format!("the file cannot be read: {error}"));
                continue;
            }
        };
        let call = call(args, Some(SourceFormat::Markdown), scope, Some(name), &path);
        sum.add(serde_json::from_value(api.upload(call, text.into()).await?)?);
    }
    Ok(sum)
}

fn call(
    args: &ImportArgs,
    format: Option<SourceFormat>,
    scope: &RequestScope,
    name: Option<String>,
    path: &Path,
) -> Call {
    let mut call = Call::post(&["v1", "import"])
        .header("content-type", Some("application/octet-stream"))
        .param("format", format.map(SourceFormat::name))
        .param("fileName", name)
        .param("modifiedAt", files::modified(path));
    for (name, given) in
        [("replace", args.replace), ("dryRun", args.dry_run), ("strict", args.strict), ("quarantine", args.quarantine)]
    {
        call = call.param(name, given.then_some(true));
    }
    call.scope_params(scope)
}
