//! How did a space look at an earlier line of its ledger?
//!
//! The lines after it are taken back, the last one first: each tells what was there before. What was purged or
//! erased is gone for good, and is counted instead. Scores that only follow the clock and the use have no lines
//! and stay as they are; so do vectors, but for words that have changed.

use std::collections::BTreeSet;
use std::path::Path;

use loci_types::{Edge, Memory};
use serde_json::{Map, Value};

use super::{Derive, Until};
use crate::sql::apply::{Lying, lying};
use crate::sql::{self, Connection, OptionalExtension, Row, facts, feed, graph, params, row};
use crate::{Error, Result};

/// Lines that are read at once.
const PAGE: i64 = 1_000;

/// What was taken back.
#[derive(Debug, Default)]
pub(super) struct Unwound {
    pub(super) lines: u64,
    pub(super) lost: u64,
}

/// A line, as far as it is needed to take it back.
struct Entry {
    sequence: i64,
    event: String,
    memory: Option<i64>,
    version: Option<i64>,
    old: Map<String, Value>,
    new: Map<String, Value>,
}

/// Takes lines back.
pub(super) fn unwind(connection: &dyn Connection, place: &Path, until: Until, derive: &Derive) -> Result<Unwound> {
    let said = |error| Error::said(place, error);
    let to = line(connection, until).map_err(said)?;
    let end = feed::end(connection).map_err(said)?;
    if let Until::Sequence(wanted) = until
        && !(0..=end).contains(&wanted)
    {
        return Err(loci_types::Error::invalid("sequence", format!("the backup goes from line 0 to line {end}"))
            .hint("a later backup or increment holds later lines")
            .into());
    }
    let mut unwinding = Unwinding { connection, derive, touched: BTreeSet::new(), done: Unwound::default() };
    let mut after = i64::MAX;
    loop {
        let page = page(connection, to, after).map_err(said)?;
        let Some(first) = page.last().map(|entry| entry.sequence) else { break };
        for entry in page {
            unwinding.back(entry).map_err(said)?;
        }
        after = first;
    }
    let cut = cut(connection, to, until).map_err(said)?;
    unwinding.settle(to, cut).map_err(said)?;
    Ok(unwinding.done)
}

/// The line that is meant.
fn line(connection: &dyn Connection, until: Until) -> sql::Result<i64> {
    match until {
        Until::Sequence(sequence) => Ok(sequence),
        Until::Time(at) => connection.query_row(
            "SELECT coalesce(max(sequence), 0) FROM ledger WHERE at <= ?1",
            params![at.as_microsecond()],
            |row| row.get(0),
        ),
    }
}

/// From when on what has no lines of its own goes: from the first line that was taken back, or after the time that
/// is meant. None: nothing goes.
fn cut(connection: &dyn Connection, to: i64, until: Until) -> sql::Result<Option<i64>> {
    match until {
        Until::Time(at) => Ok(Some(at.as_microsecond().saturating_add(1))),
        Until::Sequence(_) => {
            connection.query_row("SELECT min(at) FROM ledger WHERE sequence > ?1", params![to], |row| row.get(0))
        }
    }
}

/// Some lines between two, the last one first.
fn page(connection: &dyn Connection, to: i64, before: i64) -> sql::Result<Vec<Entry>> {
    let fields = |text: Option<String>| match text.map(|text| serde_json::from_str(&text)) {
        Some(Ok(Value::Object(fields))) => fields,
        _ => Map::new(),
    };
    let read = |row: &dyn Row| {
        Ok(Entry {
            sequence: row.get(0)?,
            event: row.get(1)?,
            memory: row.get(2)?,
            version: row.get(3)?,
            old: fields(row.get(4)?),
            new: fields(row.get(5)?),
        })
    };
    connection
        .prepare_cached(
            "SELECT sequence, event, memory, version, old, new FROM ledger WHERE sequence > ?1 AND sequence < ?2 \
             ORDER BY sequence DESC LIMIT ?3",
        )?
        .query_map(params![to, before, PAGE], read)?
        .collect()
}

struct Unwinding<'a, 'c> {
    connection: &'a Connection<'c>,
    derive: &'a Derive,
    /// Memories that have other fields now.
    touched: BTreeSet<i64>,
    done: Unwound,
}

impl Unwinding<'_, '_> {
    fn back(&mut self, entry: Entry) -> sql::Result<()> {
        self.done.lines += 1;
        // What was stated later is young and goes; what was retracted is not in the ledger.
        if entry.event == "fact" {
            self.done.lost += u64::from(!entry.old.is_empty());
            return Ok(());
        }
        let Some(row) = entry.memory else { return self.nobodys(&entry) };
        match entry.event.as_str() {
            "add" => {
                facts::forget(self.connection, row)?;
                self.connection.execute("DELETE FROM memories WHERE row = ?1", params![row]).map(drop)
            }
            "link" => self.unlink(row, &entry),
            "unlink" => self.link(row, &entry),
            "entity" => self.unmention(row, &entry),
            "erase" => {
                self.done.lost += 1;
                Ok(())
            }
            "ttl" if entry.old.is_empty() => {
                self.done.lost += 1;
                Ok(())
            }
            _ if entry.old.is_empty() && entry.new.is_empty() => Ok(()),
            "merge" | "embed" => Ok(()),
            _ => self.fields(row, &entry),
        }
    }

    /// Gives a memory the fields it had.
    fn fields(&mut self, number: i64, entry: &Entry) -> sql::Result<()> {
        let Some(Lying { memory, .. }) = self.memory(number)? else { return Ok(()) };
        let words = memory.content.clone();
        let mut fields = match serde_json::to_value(&memory) {
            Ok(Value::Object(fields)) => fields,
            _ => return Ok(()),
        };
        for field in entry.new.keys() {
            fields.remove(field);
        }
        fields.extend(entry.old.clone());
        let mut before: Memory = serde_json::from_value(Value::Object(fields)).map_err(sql::Error::unreadable)?;
        if let Some(version) = entry.version {
            before.version = u64::try_from(version - 1).unwrap_or(memory.version);
        }
        let retold = before.content != words;
        if retold {
            before.content_hash = (self.derive)(&before).hash;
        }
        row::update(self.connection, number, &before)?;
        if retold {
            let derived = (self.derive)(&before);
            self.connection.execute(
                "UPDATE memories SET unless = ?2, claim = ?3 WHERE row = ?1",
                params![number, derived.unless.map(|hash| hash.0), derived.claim.map(|hash| hash.0)],
            )?;
            self.connection.execute("DELETE FROM vectors WHERE memory = ?1", params![number])?;
        }
        // An accepted proposal that took the place of another drew an edge to it.
        if entry.event == "consent"
            && let Some(older) = entry.new.get("supersedesId")
        {
            self.cut(number, older, "supersedes")?;
        }
        self.touched.insert(number);
        Ok(())
    }

    fn unlink(&self, row: i64, entry: &Entry) -> sql::Result<()> {
        let (Some(target), Some(relation)) = (entry.new.get("target"), entry.new.get("relation")) else {
            return Ok(());
        };
        self.cut(row, target, relation.as_str().unwrap_or_default())?;
        // One that was only renewed is as it was.
        self.link(row, entry)
    }

    fn cut(&self, source: i64, target: &Value, relation: &str) -> sql::Result<()> {
        let Some(target) = self.number(target)? else { return Ok(()) };
        let sql = "DELETE FROM edges WHERE source = ?1 AND target = ?2 AND relation = ?3";
        self.connection.execute(sql, params![source, target, relation]).map(drop)
    }

    /// Draws the edge that was there before.
    fn link(&self, source: i64, entry: &Entry) -> sql::Result<()> {
        let edge = entry.old.get("edge").and_then(|edge| serde_json::from_value::<Edge>(edge.clone()).ok());
        let Some(edge) = edge else { return Ok(()) };
        let target = serde_json::to_value(edge.target_id).unwrap_or_default();
        match self.number(&target)? {
            Some(target) => graph::link(self.connection, source, target, &edge).map(drop),
            None => Ok(()),
        }
    }

    fn unmention(&self, memory: i64, entry: &Entry) -> sql::Result<()> {
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

    /// A line about no memory.
    fn nobodys(&self, entry: &Entry) -> sql::Result<()> {
        match entry.new.get("united").and_then(id) {
            Some(united) => self
                .connection
                .execute("UPDATE entities SET united_with = NULL WHERE id = ?1", params![united])
                .map(drop),
            None => Ok(()),
        }
    }

    fn memory(&self, row: i64) -> sql::Result<Option<Lying>> {
        let sql = format!("SELECT {}, m.row, m.scope FROM memories m WHERE m.row = ?1", row::COLUMNS);
        self.connection.prepare_cached(&sql)?.query_row(params![row], lying).optional()
    }

    /// The row of a memory that is named by its id.
    fn number(&self, memory: &Value) -> sql::Result<Option<i64>> {
        let Some(id) = id(memory) else { return Ok(None) };
        self.connection
            .prepare_cached("SELECT row FROM memories WHERE id = ?1")?
            .query_row(params![id], |row| row.get(0))
            .optional()
    }

    /// What has no lines of its own is dated, and what is younger than the line goes.
    fn settle(&mut self, to: i64, cut: Option<i64>) -> sql::Result<()> {
        let mut dated = self.connection.prepare_cached(
            "UPDATE memories SET updated_at = coalesce((SELECT max(l.at) FROM ledger l WHERE l.memory = ?1 \
             AND l.sequence <= ?2 AND l.old IS NOT NULL AND l.event NOT IN ('link', 'unlink', 'embed', 'entity', 'fact', \
             'merge')), \
             created_at) WHERE row = ?1",
        )?;
        for row in &self.touched {
            dated.execute(params![*row, to])?;
        }
        self.connection.execute("DELETE FROM ledger WHERE sequence > ?1", params![to])?;
        let Some(cut) = cut else { return Ok(()) };
        for younger in [
            "DELETE FROM entities WHERE first_seen >= ?1",
            "DELETE FROM sessions WHERE started_at >= ?1",
            "DELETE FROM jobs WHERE created_at >= ?1",
            "DELETE FROM facts WHERE created_at >= ?1",
            "DELETE FROM checkpoints WHERE created_at >= ?1",
            "UPDATE sessions SET ended_at = NULL WHERE ended_at >= ?1",
            "UPDATE sessions SET consolidated_at = NULL, consolidated_through = NULL, through_row = 0 \
             WHERE consolidated_at >= ?1",
        ] {
            self.connection.execute(younger, params![cut])?;
        }
        Ok(())
    }
}

fn id(value: &Value) -> Option<[u8; 16]> {
    value.as_str().and_then(|text| uuid::Uuid::parse_str(text).ok()).map(uuid::Uuid::into_bytes)
}
