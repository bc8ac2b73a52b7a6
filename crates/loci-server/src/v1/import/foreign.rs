//! Files of other systems.
//!
//! A thread of its own reads the body entry by entry, and the engine keeps what was read so far. What cannot be read or
//! kept is counted, and the next is tried.

use std::io::BufReader;

use jiff::Timestamp;
use loci_engine::importers::{self, SourceFormat, SourceItem, UnreadableItem, markdown};
use loci_engine::json_lines::ImportOutcome;
use loci_types::{Error, ErrorKind};
use tokio::sync::mpsc;

use super::body::{Incoming, Pieces};
use super::{Import, OPERATION};
use crate::failure::{Failure, to_failure};

/// Number of pieces of the body, and of entries, that wait for the next stage.
const WAITING: usize = 16;

/// Reads a file of JSON entry by entry.
pub(super) async fn entries(import: &mut Import, format: SourceFormat, incoming: Incoming) -> Result<(), Failure> {
    let (pieces, received) = mpsc::channel(WAITING);
    let (sender, entries) = mpsc::channel::<Result<SourceItem, UnreadableItem>>(WAITING);
    let reading = tokio::task::spawn_blocking(move || {
        let mut input = BufReader::new(Pieces::new(received));
        importers::read(format, &mut input, &mut |one| sender.blocking_send(one).is_ok())
    });
    let (fed, kept) = tokio::join!(incoming.feed(pieces), keep_all(import, format, entries));
    kept?;
    fed.map_err(|failure| import.stopped(failure))?;
    match reading.await {
        Ok(read) => read.map_err(|error| import.stopped(to_failure(&error.at("body"), OPERATION))),
        Err(_) => Err(Failure::new(ErrorKind::Internal, "internal error", OPERATION)),
    }
}

/// Keeps entries in batches as they come. The reader stops when this ends.
async fn keep_all(
    import: &mut Import,
    format: SourceFormat,
    mut entries: mpsc::Receiver<Result<SourceItem, UnreadableItem>>,
) -> Result<(), Failure> {
    let (mut batch, mut size) = (Vec::new(), 0);
    while let Some(one) = entries.recv().await {
        match one {
            Ok(one) => {
                size += weight(&one);
                batch.push(one);
            }
            Err(unreadable) => {
                import.report.refuse(&unreadable.place, &unreadable.reason);
                let error = Error::invalid("body", unreadable.reason).into();
                if let Some(failure) = import.refusal(&unreadable.place, &error) {
                    keep(import, format, std::mem::take(&mut batch)).await?;
                    return Err(failure);
                }
            }
        }
        if size >= import.at_once() {
            keep(import, format, std::mem::take(&mut batch)).await?;
            size = 0;
        }
    }
    keep(import, format, batch).await
}

/// About how many memories an entry becomes.
fn weight(one: &SourceItem) -> usize {
    match one {
        SourceItem::Memory(_) => 1,
        SourceItem::Conversation(talk) => talk.turns.len(),
    }
}

async fn keep(import: &mut Import, format: SourceFormat, batch: Vec<SourceItem>) -> Result<(), Failure> {
    if batch.is_empty() {
        return Ok(());
    }
    let engine = &import.app.engine;
    let work = engine.import_items(&import.owner, format, batch, &mut import.how);
    for item in import.app.run_operation(OPERATION, work).await? {
        import.report.add_item(&item);
        if let ImportOutcome::Refused(error) = &item.outcome
            && let Some(failure) = import.refusal("", error)
        {
            return Err(failure);
        }
    }
    Ok(())
}

/// Reads the notes of one file as a whole.
pub(super) async fn notes(
    import: &mut Import,
    incoming: Incoming,
    name: &str,
    modified: Option<Timestamp>,
) -> Result<(), Failure> {
    let text = incoming.text().await?;
    if text.trim().is_empty() {
        return Err(to_failure(&Error::invalid("body", "the body is empty"), OPERATION));
    }
    let most = import.app.engine.config().limits.content_characters;
    keep(import, SourceFormat::Markdown, markdown::notes(name, &text, modified, most)).await
}

/// Reads a graph as a whole.
pub(super) async fn graph(import: &mut Import, incoming: Incoming) -> Result<(), Failure> {
    let text = incoming.text().await?;
    let graph = import.app.engine.filter_graph_lines(&text);
    for unreadable in &graph.refused {
        import.report.refuse(&unreadable.place, &unreadable.reason);
        let error = Error::invalid("body", unreadable.reason.clone()).into();
        if let Some(failure) = import.refusal(&unreadable.place, &error) {
            return Err(failure);
        }
    }
    if graph.lines == 0 {
        let message =
            if graph.refused.is_empty() { "the body is empty" } else { "the body has no entity and no relation" };
        return Err(to_failure(&Error::invalid("body", message).hint("name the right format"), OPERATION));
    }
    if import.how.dry_run {
        import.report.add_many("graph", graph.lines as u64);
        return Ok(());
    }
    let engine = &import.app.engine;
    let made = import.app.run_operation(OPERATION, engine.graph_import(&import.owner, &graph.jsonl)).await?;
    for (count, kind) in [(made.entities, "entity"), (made.observations, "observation"), (made.relations, "relation")] {
        import.report.add_many(kind, count as u64);
    }
    import.report.skipped += made.skipped as u64;
    Ok(())
}
