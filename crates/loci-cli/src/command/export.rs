//! `loci export`: how do memories leave, whole?
//!
//! One record a line, in the order in which they were made, so that an import makes them in that
//! order again. Pages come newest first; they are laid aside in a scratch file and read backwards,
//! so that memory stays small however many there are.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use loci_engine::{Caller, Engine, ListRequest};
use loci_types::{Error, ErrorKind, Layer};
use serde_json::json;

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::output;

/// How many records one page has.
const PAGE: usize = 100;

/// Whose memories, and where they go.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci export --out backup.jsonl
  loci export --user ann > ann.jsonl
  loci export | loci --data ./copy import -

Without names everything is written, in whatever state. The file appears only when it is whole.")]
pub(crate) struct ExportArgs {
    /// The file to write; default: standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Only this layer; may be repeated
    #[arg(long, value_name = "LAYER")]
    layer: Vec<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Writes every record that is meant.
pub(crate) async fn run(context: &Context, args: &ExportArgs) -> Result<()> {
    let layers = args.layer.iter().map(|name| name.parse()).collect::<Result<Vec<Layer>, _>>()?;
    let layers = (!layers.is_empty()).then_some(layers);
    let caller = context.caller(&args.scope, layers.is_some(), Nobody::Operator);
    let engine = context.engine().await?;
    let mut spool = Spool::new()?;
    spool.fill(&engine, &caller, layers).await?;
    match &args.out {
        None => spool.pour(|line| {
            output::bytes(line);
            Ok(())
        }),
        Some(path) => {
            let written = write_whole(path, &mut spool);
            written.map_err(|error| {
                Error::new(ErrorKind::Storage, format!("{} cannot be written: {error:#}", path.display())).at("out")
            })?;
            if context.json {
                output::json(&json!({ "exported": spool.ends.len(), "file": path }));
            } else {
                output::note(&format!("{} memories written to {}", spool.ends.len(), path.display()));
            }
            Ok(())
        }
    }
}

/// Under another name first: a file of that name is a whole export or none.
fn write_whole(path: &Path, spool: &mut Spool) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    {
        let mut out = BufWriter::new(file.as_file_mut());
        spool.pour(|line| Ok(out.write_all(line)?))?;
        out.flush()?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Lines laid aside, to be read from the last to the first.
struct Spool {
    file: BufWriter<File>,
    ends: Vec<u64>,
}

impl Spool {
    fn new() -> Result<Self> {
        let file = tempfile::tempfile().context("there is no room for a scratch file")?;
        Ok(Self { file: BufWriter::new(file), ends: Vec::new() })
    }

    async fn fill(&mut self, engine: &Engine, caller: &Caller, layers: Option<Vec<Layer>>) -> Result<()> {
        let mut cursor = None;
        let mut progress = None;
        let mut end = 0;
        loop {
            let request = ListRequest {
                layers: layers.clone(),
                filter: Some(engine.everything(None)),
                cursor: cursor.take(),
                limit: Some(PAGE),
            };
            let page = engine.list(caller, request).await?;
            let bar = progress.get_or_insert_with(|| output::progress(page.total_count, "memories"));
            for memory in &page.memories {
                let mut line = serde_json::to_vec(memory)?;
                line.push(b'\n');
                self.file.write_all(&line)?;
                end += line.len() as u64;
                self.ends.push(end);
                bar.inc(1);
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                bar.finish_and_clear();
                self.file.flush()?;
                return Ok(());
            }
        }
    }

    fn pour(&mut self, mut to: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let file = self.file.get_mut();
        for place in (0..self.ends.len()).rev() {
            let start = if place == 0 { 0 } else { self.ends[place - 1] };
            let mut line = vec![0; (self.ends[place] - start) as usize];
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut line)?;
            to(&line)?;
        }
        Ok(())
    }
}
