//! `loci import`: how does what was known elsewhere come in?
//!
//! An export of Loci comes back as it was, line by line; the first line that cannot be read stops it, and those before
//! it are kept. What another system wrote is read as far as it can be: what is odd is told and passed over. Either
//! may be run again: what is here already changes nothing.

mod count;
mod foreign;
mod lines;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use indicatif::ProgressBar;
use loci_engine::importers::{self, SourceFormat};
use loci_engine::json_lines::ImportOptions;
use loci_engine::{Caller, Engine};
use loci_types::{Error, ErrorKind};

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::fault::{self, Told};
use crate::output;
use count::Count;

/// So much of a file is looked at to know what it is.
const HEAD: usize = 1 << 16;

/// What to read, and whose it is when it does not say.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci import everything.jsonl
  loci import --user ann conversations.json --dry-run
  loci import --user ann --from mem0 memories.json
  loci import --user ann ./notes
  loci export | loci --data ./copy import -

Formats: loci, mem0, mcp-memory, langgraph, chatgpt, claude, markdown (a file or a folder). Without --from the file
is recognised, and it is told as what. Lines of Loci with an id come in as they are, with their times, scores and
state; any other line is something new: {\"content\": …} with the fields of a memory that are known. What names nobody
belongs to the names given here. Running an import again changes nothing; docs/export.md says more.")]
pub(crate) struct ImportArgs {
    /// The file, or a folder of notes; `-` for standard input
    file: PathBuf,
    /// Where it comes from: loci, mem0, mcp-memory, langgraph, chatgpt, claude, markdown
    #[arg(long, value_name = "FORMAT")]
    from: Option<String>,
    /// Tell what would come in, and keep nothing
    #[arg(long)]
    dry_run: bool,
    /// Let what comes in take the place of what is here by the same id
    #[arg(long)]
    replace: bool,
    /// Stop at the first thing that cannot be kept
    #[arg(long)]
    strict: bool,
    /// Leave the vectors for later
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// An import under way.
struct Import<'a> {
    engine: &'a Engine,
    whose: Caller,
    how: ImportOptions,
    strict: bool,
    count: Count,
    progress: ProgressBar,
}

impl Import<'_> {
    /// How many are kept together: the model works best on some texts at once, the disk on many.
    fn at_once(&self) -> usize {
        if self.engine.model().is_some() { 64 } else { 512 }
    }

    /// Counts something that cannot be kept; an error if that is the end.
    fn refuse(&mut self, place: &str, error: &Error) -> Result<()> {
        self.count.refuse(place, &error.to_string());
        if self.strict { Err(Error::new(error.kind(), format!("{place}: {error}")).at("file").into()) } else { Ok(()) }
    }
}

/// What is read from.
type Input = Box<dyn BufRead + Send>;

/// Reads the file and keeps what it says.
pub(crate) async fn run(context: &Context, args: &ImportArgs) -> Result<()> {
    let given = args.from.as_deref().map(str::parse::<SourceFormat>).transpose()?;
    let folder = args.file.is_dir();
    let progress = if folder { ProgressBar::hidden() } else { output::byte_progress(size(args)?, "read") };
    let mut input = if folder { None } else { Some(open(args, &progress)?) };
    let format = match (given, &mut input) {
        (Some(format), _) => format,
        (None, None) => SourceFormat::Markdown,
        (None, Some(input)) => recognise(args, input)?,
    };
    if folder && format != SourceFormat::Markdown {
        return Err(Error::invalid("file", "a folder can only be one of notes").hint("name a file").into());
    }
    if given.is_none() && format != SourceFormat::Loci {
        output::note(&format!("read as {} (say --from if it is something else)", format.name()));
    }
    let whose = context.caller(&args.scope, false, Nobody::User);
    whose.identifiers.validate()?;
    let engine = context.engine_with_model(args.no_embed || args.dry_run, &Caller::operator()).await?;
    let mut import = Import {
        engine: &engine,
        whose,
        how: ImportOptions::new(args.replace, args.dry_run),
        strict: args.strict,
        count: Count::new(format, args.dry_run),
        progress,
    };
    let outcome = match (format, input) {
        (SourceFormat::Loci, Some(input)) => lines::read(&mut import, input).await,
        (SourceFormat::Markdown, input) => foreign::notes(&mut import, &args.file, input).await,
        (SourceFormat::McpMemory, Some(input)) => foreign::graph(&mut import, input).await,
        (_, Some(input)) => foreign::entries(&mut import, format, input).await,
        (_, None) => Ok(()),
    };
    let elapsed = import.progress.elapsed();
    import.progress.finish_and_clear();
    let count = import.count;
    if context.json {
        output::json(&count.json(outcome.is_err()));
    } else if outcome.is_ok() {
        count.print(elapsed);
    }
    outcome.map_err(|error| stopped(&error, &count))
}

fn unreadable(args: &ImportArgs, error: &std::io::Error) -> Error {
    Error::invalid("file", format!("{} cannot be read: {error}", args.file.display()))
}

/// How large the file is, if it is one.
fn size(args: &ImportArgs) -> Result<Option<u64>> {
    if args.file.as_os_str() == "-" {
        return Ok(None);
    }
    let known = std::fs::metadata(&args.file).map_err(|error| unreadable(args, &error))?;
    Ok(known.is_file().then_some(known.len()))
}

fn open(args: &ImportArgs, progress: &ProgressBar) -> Result<Input> {
    let source: Box<dyn Read + Send> = if args.file.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(&args.file).map_err(|error| unreadable(args, &error))?)
    };
    Ok(Box::new(BufReader::with_capacity(HEAD, progress.wrap_read(source))))
}

/// What the file is by its name and its beginning. What nothing fits is told line by line.
fn recognise(args: &ImportArgs, input: &mut Input) -> Result<SourceFormat> {
    let head = input.fill_buf().map_err(|error| unreadable(args, &error))?;
    Ok(importers::guess(&args.file.display().to_string(), head).unwrap_or(SourceFormat::Loci))
}

/// Tells what stopped the import and what was kept until then.
fn stopped(error: &anyhow::Error, count: &Count) -> anyhow::Error {
    let (mut problem, exit) = fault::read(error, "import");
    let kept = if count.dry_run { "nothing was kept" } else { "the lines before it are kept" };
    problem.message =
        format!("{}; {kept} ({} imported, {} already here)", problem.message, count.imported, count.skipped);
    problem.details.insert("imported".into(), count.imported.into());
    problem.details.insert("skipped".into(), count.skipped.into());
    let hint = problem.hint.take().map_or_else(String::new, |hint| format!("{hint}; "));
    problem.hint = Some(format!("{hint}mend it and import again: what is already here is passed over"));
    // A failure of the store is not the line's fault.
    if exit == ErrorKind::Corrupt.row().exit || exit == ErrorKind::Storage.row().exit {
        problem.hint = None;
    }
    Told { problem, exit }.into()
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn a_stopped_import_says_what_was_kept() {
        let failed: Result<()> = Err(Error::invalid("line", "this is not a memory").into());
        let error = failed.context(fault::Line(3)).unwrap_err();
        let mut count = Count::new(SourceFormat::Loci, false);
        count.imported = 2;
        let (problem, exit) = fault::read(&stopped(&error, &count), "import");
        assert_eq!(exit, 20);
        assert_eq!(
            problem.message,
            "line 3: this is not a memory; the lines before it are kept (2 imported, 0 already here)"
        );
        assert_eq!(problem.details["line"], 3);
    }
}
