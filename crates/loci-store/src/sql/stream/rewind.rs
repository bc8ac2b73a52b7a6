//! Rewinds a space to an earlier entry of its ledger.
//!
//! The later entries are undone, the last one first: each holds the values from before it. Purged and erased memories
//! cannot be restored and are counted as lost. Scores that follow time and use have no entries and stay as they are; so
//! do vectors, except those of memories whose content is rewound.

use std::collections::BTreeSet;

use loci_types::{Edge, Memory};
use serde_json::{Map, Value};

use super::StreamFailure;
use super::backup::{DeriveKeys, RestorePoint};
use crate::sql::apply::{StoredMemory, stored};
use crate::sql::{self, Connection, OptionalExtension, Row, facts, feed, graph, params, row};

/// Number of entries that are read at once.
const PAGE: i64 = 1_000;

/// What was undone.
#[derive(Debug, Default)]
pub(super) struct Rewound {
    /// Number of ledger entries.
    pub(super) entries: u64,
    /// Number of memories that cannot be restored.
    pub(super) lost: u64,
}

/// The part of a ledger entry that is needed to undo it.
struct UndoEntry {
    sequence: i64,
    event: String,
    memory: Option<i64>,
    version: Option<i64>,
    old: Map<String, Value>,
    new: Map<String, Value>,
}

/// Rewinds a space.
pub(super) fn rewind(
    connection: &dyn Connection,
    until: RestorePoint,
    derive: &DeriveKeys,
) -> Result<Rewound, StreamFailure> {
    let (to, end) = (last_kept(connection, until)?, feed::end(connection)?);
    if let RestorePoint::Sequence(wanted) = until
        && !(0..=end).contains(&wanted)
    {
        return Err(loci_types::Error::invalid("sequence", format!("the backup has ledger entries up to {end}"))
            .hint("a later backup or increment holds later entries")
            .into());
    }
    let mut rewind = Rewind { connection, derive, touched: BTreeSet::new(), done: Rewound::default() };
    let mut before = i64::MAX;
    loop {
        let page = page(connection, to, before)?;
        let Some(first) = page.last().map(|entry| entry.sequence) else { break };
        for entry in page {
            rewind.undo(entry)?;
        }
        before = first;
    }
    rewind.finish(to, cutoff(connection, to, until)?)?;
    Ok(rewind.done)
}

/// The sequence number of the last entry that is kept.
fn last_kept(connection: &dyn Connection, until: RestorePoint) -> sql::SqlResult<i64> {
    match until {
        RestorePoint::Sequence(sequence) => Ok(sequence),
        RestorePoint::Time(at) => {
            connection.query_row("SELECT coalesce(max(sequence), 0) FROM ledger WHERE at <= ?1", params![at], |row| {
                row.get(0)
            })
        }
    }
}

/// The time from which rows without ledger entries are deleted: that of the first undone entry, or after the requested
/// time. None if nothing is undone.
fn cutoff(connection: &dyn Connection, to: i64, until: RestorePoint) -> sql::SqlResult<Option<i64>> {
    match until {
        RestorePoint::Time(at) => Ok(Some(at.as_microsecond().saturating_add(1))),
        RestorePoint::Sequence(_) => {
            connection.query_row("SELECT min(at) FROM ledger WHERE sequence > ?1", params![to], |row| row.get(0))
        }
    }
}

/// The next entries between two sequence numbers, the last one first.
fn page(connection: &dyn Connection, to: i64, before: i64) -> sql::SqlResult<Vec<UndoEntry>> {
    let fields = |text: Option<String>| match text.map(|text| serde_json::from_str(&text)) {
        Some(Ok(Value::Object(fields))) => fields,
        _ => Map::new(),
    };
    let read = |row: &dyn Row| {
        Ok(UndoEntry {
            sequence: row.get(0)?,
            event: row.get(1)?,
            memory: row.get(2)?,
            version: row.get(3)?,
            old: fields(row.get(4)?),
            new: fields(row.get(5)?),
        })
    };
    connection.query_map(
        "SELECT sequence, event, memory, version, old, new FROM ledger WHERE sequence > ?1 AND sequence < ?2 \
             ORDER BY sequence DESC LIMIT ?3",
        params![to, before, PAGE],
        read,
    )
}

struct Rewind<'a> {
    connection: &'a dyn Connection,
    derive: &'a DeriveKeys,
    /// Memories whose fields were changed.
    touched: BTreeSet<i64>,
    done: Rewound,
}

impl Rewind<'_> {
    fn undo(&mut self, entry: UndoEntry) -> sql::SqlResult<()> {
        self.done.entries += 1;
        // A fact that was stated later is deleted by its time. A retracted one is not in the ledger and is lost.
        if entry.event == "fact" {
            self.done.lost += u64::from(!entry.old.is_empty());
            return Ok(());
        }
        let Some(row) = entry.memory else { return self.undo_union(&entry) };
        match entry.event.as_str() {
            "add" => {
                facts::forget(self.connection, row)?;
                self.connection.execute("DELETE FROM memories WHERE row = ?1", params![row]).map(drop)
            }
            "link" => self.undo_link(row, &entry),
            "unlink" => self.restore_edge(row, &entry),
            "entity" => self.undo_mention(row, &entry),
            event if event == "erase" || (event == "ttl" && entry.old.is_empty()) => {
                self.done.lost += 1;
                Ok(())
            }
            _ if entry.old.is_empty() && entry.new.is_empty() => Ok(()),
            "merge" | "embed" => Ok(()),
            _ => self.restore_fields(row, &entry),
        }
    }

    /// Gives a memory the fields it had before an entry.
    fn restore_fields(&mut self, number: i64, entry: &UndoEntry) -> sql::SqlResult<()> {
        let Some(StoredMemory { memory, .. }) = self.memory(number)? else { return Ok(()) };
        let content = memory.content.clone();
        let mut fields = match serde_json::to_value(&memory) {
            Ok(Value::Object(fields)) => fields,
            _ => return Ok(()),
        };
        for field in entry.new.keys() {
            fields.remove(field);
        }
        fields.extend(entry.old.clone());
        let mut before: Memory = serde_json::from_value(Value::Object(fields)).map_err(sql::SqlError::unreadable)?;
        if let Some(version) = entry.version {
            before.version = u64::try_from(version - 1).unwrap_or(memory.version);
        }
        let derived = (before.content != content).then(|| (self.derive)(&before));
        if let Some(derived) = &derived {
            before.content_hash = derived.hash;
        }
        row::update(self.connection, number, &before)?;
        if let Some(derived) = derived {
            self.connection.execute(
                "UPDATE memories SET unless = ?2, claim = ?3 WHERE row = ?1",
                params![number, derived.unless.map(|hash| hash.0), derived.claim.map(|hash| hash.0)],
            )?;
            self.connection.execute("DELETE FROM vectors WHERE memory = ?1", params![number])?;
        }
        // An accepted proposal that superseded another memory was linked to it.
        if entry.event == "consent"
            && let Some(older) = entry.new.get("supersedesId")
        {
            self.delete_edge(number, older, "supersedes")?;
        }
        self.touched.insert(number);
        Ok(())
    }

    fn undo_link(&self, row: i64, entry: &UndoEntry) -> sql::SqlResult<()> {
        let (Some(target), Some(relation)) = (entry.new.get("target"), entry.new.get("relation")) else {
            return Ok(());
        };
        self.delete_edge(row, target, relation.as_str().unwrap_or_default())?;
        // An edge that was only updated gets its old values.
        self.restore_edge(row, entry)
    }

    fn delete_edge(&self, source: i64, target: &Value, relation: &str) -> sql::SqlResult<()> {
        let Some(target) = self.row_of(target)? else { return Ok(()) };
        let sql = "DELETE FROM edges WHERE source = ?1 AND target = ?2 AND relation = ?3";
        self.connection.execute(sql, params![source, target, relation]).map(drop)
    }

    /// Restores the edge that an entry has deleted or changed.
    fn restore_edge(&self, source: i64, entry: &UndoEntry) -> sql::SqlResult<()> {
        let edge = entry.old.get("edge").and_then(|edge| serde_json::from_value::<Edge>(edge.clone()).ok());
        let Some(edge) = edge else { return Ok(()) };
        let target = serde_json::to_value(edge.target_id).unwrap_or_default();
        match self.row_of(&target)? {
            Some(target) => graph::link(self.connection, source, target, &edge).map(drop),
            None => Ok(()),
        }
    }

    fn undo_mention(&self, memory: i64, entry: &UndoEntry) -> sql::SqlResult<()> {
        let Some(entity) = entry.new.get("entity").and_then(id) else { return Ok(()) };
        let gone = self.connection.execute(
            "DELETE FROM mentions WHERE memory = ?1 AND entity = (SELECT entity FROM entities WHERE id = ?2)",
            params![memory, entity],
        )?;
        if entry.new.get("counted").is_some_and(|counted| counted == false) {
            return Ok(());
        }
        let sql = "UPDATE entities SET mention_count = mention_count - ?2 WHERE id = ?1 AND mention_count >= ?2";
        self.connection.execute(sql, params![entity, gone]).map(drop)
    }

    /// Undoes an entry without a memory: the union of two entities.
    fn undo_union(&self, entry: &UndoEntry) -> sql::SqlResult<()> {
        match entry.new.get("united").and_then(id) {
            Some(united) => self
                .connection
                .execute("UPDATE entities SET united_with = NULL WHERE id = ?1", params![united])
                .map(drop),
            None => Ok(()),
        }
    }

    fn memory(&self, row: i64) -> sql::SqlResult<Option<StoredMemory>> {
        let sql = format!("SELECT {}, m.row, m.scope FROM memories m WHERE m.row = ?1", row::COLUMNS);
        self.connection.query_row(&sql, params![row], stored).optional()
    }

    /// The row number of a memory.
    fn row_of(&self, memory: &Value) -> sql::SqlResult<Option<i64>> {
        let Some(id) = id(memory) else { return Ok(None) };
        self.connection.query_row("SELECT row FROM memories WHERE id = ?1", params![id], |row| row.get(0)).optional()
    }

    /// Restores the update times, and deletes the undone entries and younger rows that have no entries.
    fn finish(&mut self, to: i64, cutoff: Option<i64>) -> sql::SqlResult<()> {
        let restore_time = "UPDATE memories SET updated_at = coalesce((SELECT max(l.at) FROM ledger l WHERE l.memory = ?1 \
             AND l.sequence <= ?2 AND l.old IS NOT NULL AND l.event NOT IN ('link', 'unlink', 'embed', 'entity', 'fact', \
             'merge')), \
             created_at) WHERE row = ?1";
        for row in &self.touched {
            self.connection.execute(restore_time, params![*row, to])?;
        }
        self.connection.execute("DELETE FROM ledger WHERE sequence > ?1", params![to])?;
        let Some(cutoff) = cutoff else { return Ok(()) };
        for sql in [
            "DELETE FROM entities WHERE first_seen >= ?1",
            "DELETE FROM sessions WHERE started_at >= ?1",
            "DELETE FROM jobs WHERE created_at >= ?1",
            "DELETE FROM facts WHERE created_at >= ?1",
            "DELETE FROM checkpoints WHERE created_at >= ?1",
            "UPDATE sessions SET ended_at = NULL WHERE ended_at >= ?1",
            "UPDATE sessions SET consolidated_at = NULL, consolidated_through = NULL, through_row = 0 \
             WHERE consolidated_at >= ?1",
        ] {
            self.connection.execute(sql, params![cutoff])?;
        }
        Ok(())
    }
}

fn id(value: &Value) -> Option<[u8; 16]> {
    value.as_str().and_then(|text| uuid::Uuid::parse_str(text).ok()).map(uuid::Uuid::into_bytes)
}
