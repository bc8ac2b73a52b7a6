//! How does what another system wrote come in?
//!
//! A thread of its own reads, and the engine keeps what it has read so far; neither holds more than a few entries. What
//! cannot be read or kept is counted and told, and the next is tried.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use loci_engine::importers::{self, SourceFormat, SourceItem, UnreadableItem, markdown};
use loci_engine::json_lines::ImportOutcome;
use loci_types::Error;
use tokio::sync::mpsc;

use super::{Import, Input};

/// So many entries may wait to be kept.
const WAITING: usize = 16;
/// A graph is kept as one; no file of one is larger.
const LARGEST: u64 = 256 << 20;

/// Reads a file of JSON entry by entry.
pub(super) async fn entries(import: &mut Import<'_>, format: SourceFormat, mut input: Input) -> Result<()> {
    let (sender, mut read) = mpsc::channel::<Result<SourceItem, UnreadableItem>>(WAITING);
    let reader = std::thread::Builder::new()
        .name("loci-input".to_owned())
        .spawn(move || importers::read(format, &mut *input, &mut |one| sender.blocking_send(one).is_ok()))
        .context("the input cannot be read")?;
    let (mut batch, mut size) = (Vec::new(), 0);
    while let Some(one) = read.recv().await {
        match one {
            Ok(one) => {
                size += weight(&one);
                batch.push(one);
            }
            Err(odd) => {
                let error = Error::invalid("file", odd.reason);
                if let Err(error) = import.refuse(&odd.place, &error) {
                    keep(import, format, std::mem::take(&mut batch)).await?;
                    return Err(error);
                }
            }
        }
        if size >= import.at_once() {
            keep(import, format, std::mem::take(&mut batch)).await?;
            size = 0;
        }
    }
    keep(import, format, batch).await?;
    match reader.join() {
        Ok(outcome) => Ok(outcome?),
        Err(_) => Err(anyhow::anyhow!("the reading of the file was broken off")),
    }
}

/// How many memories something becomes, about.
fn weight(one: &SourceItem) -> usize {
    match one {
        SourceItem::Memory(_) => 1,
        SourceItem::Conversation(talk) => talk.turns.len(),
    }
}

async fn keep(import: &mut Import<'_>, format: SourceFormat, batch: Vec<SourceItem>) -> Result<()> {
    if batch.is_empty() {
        return Ok(());
    }
    let taken = import.engine.import_items(&import.whose, format, batch, &mut import.how).await?;
    for one in taken {
        import.count.add_taken(&one);
        if import.strict
            && let ImportOutcome::Refused(error) = one.outcome
        {
            return Err(error.into());
        }
    }
    import.progress.set_message(format!("read, {} imported", import.count.imported));
    Ok(())
}

/// Reads the file of an official memory server, all of it at once.
pub(super) async fn graph(import: &mut Import<'_>, input: Input) -> Result<()> {
    let mut text = String::new();
    let read = input.take(LARGEST).read_to_string(&mut text);
    let read = read.map_err(|error| Error::invalid("file", format!("the file cannot be read: {error}")))?;
    if read as u64 == LARGEST {
        return Err(Error::invalid("file", "the file is too large for a graph").into());
    }
    let sifted = import.engine.filter_graph_lines(&text);
    for odd in &sifted.refused {
        import.refuse(&odd.place, &Error::invalid("file", odd.reason.clone()))?;
    }
    if sifted.lines == 0 {
        let told = if sifted.refused.is_empty() { "the file is empty" } else { "no line of the file is of a graph" };
        return Err(Error::invalid("file", told).hint("name the right format with --from").into());
    }
    if import.how.dry_run {
        for _ in 0..sifted.lines {
            import.count.add("", "graph", &ImportOutcome::Imported);
        }
        return Ok(());
    }
    let made = import.engine.graph_import(&import.whose, &sifted.jsonl).await?;
    for (count, kind) in [(made.entities, "entity"), (made.observations, "observation"), (made.relations, "relation")] {
        (0..count).for_each(|_| import.count.add("", kind, &ImportOutcome::Imported));
    }
    import.count.skipped += made.skipped as u64;
    Ok(())
}

/// Reads notes: a file, or every file of a folder in the order of their names.
pub(super) async fn notes(import: &mut Import<'_>, path: &Path, input: Option<Input>) -> Result<()> {
    let most = import.engine.config().limits.content_characters;
    if let Some(mut input) = input {
        let mut text = String::new();
        input
            .read_to_string(&mut text)
            .map_err(|error| Error::invalid("file", format!("{} cannot be read: {error}", path.display())))?;
        if text.trim().is_empty() {
            return Err(Error::invalid("file", "the file is empty").hint("nothing was imported").into());
        }
        let name = path.file_name().map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().into_owned());
        return keep(import, SourceFormat::Markdown, markdown::notes(&name, &text, modified(path), most)).await;
    }
    let files = files(path)?;
    if files.is_empty() {
        return Err(Error::invalid("file", format!("{} holds no notes", path.display()))
            .hint("they end with .md")
            .into());
    }
    for file in files {
        let name = file.strip_prefix(path).unwrap_or(&file).display().to_string();
        match std::fs::read_to_string(&file) {
            Ok(text) => {
                keep(import, SourceFormat::Markdown, markdown::notes(&name, &text, modified(&file), most)).await?
            }
            Err(error) => import.refuse(&name, &Error::invalid("file", format!("it cannot be read: {error}")))?,
        }
    }
    Ok(())
}

/// When a file was last written.
fn modified(path: &Path) -> Option<Timestamp> {
    Timestamp::try_from(std::fs::metadata(path).ok()?.modified().ok()?).ok()
}

/// The notes of a folder and those within it, by name. What begins with a point is the business of others.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error| Error::invalid("file", format!("{} cannot be read: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let note =
            path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md") || end.eq_ignore_ascii_case("markdown"));
        if kind.is_dir() {
            found.extend(files(&path)?);
        } else if kind.is_file() && note {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
