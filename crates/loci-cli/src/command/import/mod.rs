//! `loci import`: how do many memories come in?
//!
//! A line is a whole record, as `export` writes it, or something new to remember. Lines go in by
//! the batch; the first one that cannot be taken stops the import, and those before it are kept.
//! Running it again passes over what is already here.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use loci_engine::{Caller, Engine, NewMemory};
use loci_types::{Error, ErrorKind, Identifiers, Memory, Outcome};
use serde_json::{Value, json};

use crate::arguments::ScopeFlags;
use crate::command::stream::next_line;
use crate::context::{Context, Nobody};
use crate::fault::{self, Told};
use crate::output;

/// The longest line: far above what any record within its limits can have.
const LONGEST: usize = 16 << 20;

/// What to read, and whose it is when a line does not say.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci import backup.jsonl
  loci import --user ann notes.jsonl
  loci export | loci --data ./copy import -

A line with an id is a whole record and comes in as it is, with its times, scores and state. Any
other line is something new: {\"content\": …} with the fields of a memory that are known, and
\"identifiers\" to say whose it is; lines without them belong to the names given here.")]
pub(crate) struct ImportArgs {
    /// The file, one JSON object a line; `-` for standard input
    file: PathBuf,
    /// Leave the vectors for later
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// What became of the lines.
#[derive(Debug, Default)]
struct Count {
    imported: u64,
    skipped: u64,
}

/// Reads every line and keeps what it says.
pub(crate) async fn run(context: &Context, args: &ImportArgs) -> Result<()> {
    let whose = context.caller(&args.scope, false, Nobody::User);
    let (mut input, size): (Box<dyn BufRead>, Option<u64>) = if args.file.as_os_str() == "-" {
        (Box::new(BufReader::new(std::io::stdin())), None)
    } else {
        let unreadable = |error| Error::invalid("file", format!("{} cannot be read: {error}", args.file.display()));
        let file = File::open(&args.file).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        (Box::new(BufReader::with_capacity(1 << 16, file)), Some(size))
    };
    let engine = context.engine_with_model(args.no_embed, &loci_engine::Caller::operator()).await?;
    let progress = output::byte_progress(size, "imported");
    let mut count = Count::default();
    let outcome = read_all(&engine, &whose, input.as_mut(), &mut count, &progress).await;
    progress.finish_and_clear();
    let failed = u64::from(outcome.is_err());
    if context.json {
        output::json(&json!({ "imported": count.imported, "skipped": count.skipped, "failed": failed }));
    } else if outcome.is_ok() {
        output::line(&format!("{} imported, {} already here", count.imported, count.skipped));
    }
    outcome.map_err(|error| stopped(&error, &count))
}

async fn read_all(
    engine: &Engine,
    whose: &Caller,
    input: &mut dyn BufRead,
    count: &mut Count,
    progress: &indicatif::ProgressBar,
) -> Result<()> {
    let mut input = input;
    // The model works best on some texts at once, the disk on many.
    let most = if engine.model().is_some() { 64 } else { 512 };
    let mut batch = Vec::with_capacity(most);
    let mut number = 0;
    loop {
        number += 1;
        let line = match next_line(&mut input, LONGEST) {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(error) => {
                keep(engine, &mut batch, count).await?;
                return Err(error.context(fault::Line(number)));
            }
        };
        progress.inc(line.len() as u64 + 1);
        if line.trim().is_empty() {
            continue;
        }
        match read(engine, whose, &line) {
            Ok(memory) => batch.push(memory),
            Err(error) => {
                keep(engine, &mut batch, count).await?;
                return Err(error.context(fault::Line(number)));
            }
        }
        if batch.len() == most {
            keep(engine, &mut batch, count).await?;
        }
    }
    keep(engine, &mut batch, count).await
}

async fn keep(engine: &Engine, batch: &mut Vec<Memory>, count: &mut Count) -> Result<()> {
    let outcomes = engine.import_many(&Caller::operator(), std::mem::take(batch)).await?;
    let created = outcomes.iter().filter(|outcome| **outcome == Outcome::Created).count();
    count.imported += created as u64;
    count.skipped += (outcomes.len() - created) as u64;
    Ok(())
}

/// The record that a line stands for, checked.
fn read(engine: &Engine, whose: &Caller, line: &str) -> Result<Memory> {
    let wrong = |error: serde_json::Error| {
        let told = error.to_string();
        // serde counts lines too, but from the start of this one, which would only confuse.
        let reason = told.split(" at line ").next().unwrap_or(&told);
        let place = if error.column() > 0 { format!(" (column {})", error.column()) } else { String::new() };
        Error::invalid("line", format!("this is not a memory: {reason}{place}"))
            .hint("a line is a record as `loci export` writes it, or an object with at least \"content\"")
    };
    let value: Value = serde_json::from_str(line).map_err(wrong)?;
    if value.get("id").is_some() {
        let memory: Memory = serde_json::from_value(value).map_err(wrong)?;
        engine.check_record(&Caller::operator(), &memory)?;
        return Ok(memory);
    }
    let Value::Object(mut fields) = value else {
        return Err(Error::invalid("line", "this is JSON, but not an object").into());
    };
    let caller = match fields.remove("identifiers") {
        Some(given) => Caller::new(serde_json::from_value::<Identifiers>(given).map_err(wrong)?),
        None => whose.clone(),
    };
    if !fields.contains_key("content") {
        return Err(Error::invalid("content", "content is missing").into());
    }
    let new: NewMemory = serde_json::from_value(Value::Object(fields)).map_err(wrong)?;
    Ok(engine.draft(&caller, new)?)
}

/// Tells what stopped the import and what was kept until then.
fn stopped(error: &anyhow::Error, count: &Count) -> anyhow::Error {
    let (mut problem, exit) = fault::read(error, "import");
    problem.message = format!(
        "{}; the lines before it are kept ({} imported, {} already here)",
        problem.message, count.imported, count.skipped
    );
    problem.details.insert("imported".into(), count.imported.into());
    problem.details.insert("skipped".into(), count.skipped.into());
    let hint = problem.hint.take().map_or_else(String::new, |hint| format!("{hint}; "));
    problem.hint = Some(format!("{hint}mend the line and import again: what is already here is passed over"));
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
        let told = stopped(&error, &Count { imported: 2, skipped: 0 });
        let (problem, exit) = fault::read(&told, "import");
        assert_eq!(exit, 20);
        assert_eq!(
            problem.message,
            "line 3: this is not a memory; the lines before it are kept (2 imported, 0 already here)"
        );
        assert_eq!(problem.details["line"], 3);
    }
}
