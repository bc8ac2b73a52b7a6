//! The recent ledger entries of one file, indexed by scope.
//!
//! Each new entry is read once, when the first cached scope needs it; a scope then finds its own entries without
//! reading those of others, so that the cost of a write to the cache depends only on what it changed.
//!
//! **Invariant.** The tail holds every entry after `start` up to `end`, and at most [`LINES`] of them.

use std::collections::HashMap;

use rusqlite::Connection;

use super::map_bytes;

/// Maximum number of ledger entries in a tail.
pub(super) const LINES: usize = 20_000;

/// A row that ledger entries are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) row: i64,
    /// The last ledger entry about it.
    pub(super) last: i64,
}

/// The changes of a scope between two ledger positions.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Changes {
    /// These rows changed.
    Rows(Vec<Changed>),
    /// Rows were renumbered or removed without entries of their own, so the scope must be loaded again.
    Reset,
    /// The tail does not reach back that far.
    TooOld,
}

/// The recent ledger entries of a file.
#[derive(Debug, Default)]
pub(super) struct Tail {
    start: i64,
    end: i64,
    /// Entries are dropped a generation at a time, so that dropping them needs no search.
    older: Lines,
    newer: Lines,
}

/// Some consecutive ledger entries.
#[derive(Debug, Default)]
struct Lines {
    count: usize,
    last: i64,
    by_scope: HashMap<i64, Vec<Changed>>,
    resets: Vec<i64>,
}

impl Lines {
    fn push(&mut self, sequence: i64, line: Line) {
        match line {
            Line::Change { scope, row } => {
                self.by_scope.entry(scope).or_default().push(Changed { row, last: sequence });
            }
            Line::Reset => self.resets.push(sequence),
        }
        self.count += 1;
        self.last = sequence;
    }

    fn bytes(&self) -> usize {
        // A short list has capacity for four entries, a long one for at most twice its length.
        map_bytes::<(i64, Vec<Changed>)>(self.by_scope.capacity())
            + (self.by_scope.len() * 2 + self.count) * size_of::<Changed>()
    }
}

impl Tail {
    /// The changes of a scope after `after`, up to `up_to`, the last ledger entry that this connection sees.
    pub(super) fn changes(
        &mut self,
        connection: &Connection,
        scope: i64,
        after: i64,
        up_to: i64,
    ) -> rusqlite::Result<Changes> {
        if self.end == 0 {
            (self.start, self.end) = (after, after);
        }
        if up_to - self.end > LINES as i64 {
            // With that many entries a scope is loaded again, or reads them from the ledger itself.
            *self = Self { start: up_to, end: up_to, ..Self::default() };
        } else if up_to > self.end {
            for_each_line(connection, self.end, up_to, |sequence, line| {
                if self.newer.count >= LINES / 2 {
                    self.start = self.older.last.max(self.start);
                    self.older = std::mem::take(&mut self.newer);
                }
                self.newer.push(sequence, line);
            })?;
            self.end = up_to;
        }
        if after < self.start {
            return Ok(Changes::TooOld);
        }
        let within = |sequence: i64| after < sequence && sequence <= up_to;
        let generations = [&self.older, &self.newer];
        if generations.iter().any(|lines| lines.resets.iter().any(|sequence| within(*sequence))) {
            return Ok(Changes::Reset);
        }
        let lines = generations.iter().filter_map(|lines| lines.by_scope.get(&scope)).flatten();
        Ok(Changes::Rows(once_each(lines.filter(|line| within(line.last)).copied().collect())))
    }

    /// Allocated bytes, up to a fifth too many.
    pub(super) fn bytes(&self) -> usize {
        self.older.bytes() + self.newer.bytes()
    }
}

/// The changes of a scope after `after`, read from the ledger.
pub(super) fn read_changes(connection: &Connection, scope: i64, after: i64, up_to: i64) -> rusqlite::Result<Changes> {
    let (mut rows, mut reset) = (Vec::new(), false);
    for_each_line(connection, after, up_to, |sequence, line| match line {
        Line::Change { scope: other, row } if other == scope => rows.push(Changed { row, last: sequence }),
        Line::Change { .. } => {}
        Line::Reset => reset = true,
    })?;
    Ok(if reset { Changes::Reset } else { Changes::Rows(once_each(rows)) })
}

/// Each row once, with its last entry.
fn once_each(mut rows: Vec<Changed>) -> Vec<Changed> {
    rows.sort_unstable_by_key(|changed| (changed.row, std::cmp::Reverse(changed.last)));
    rows.dedup_by_key(|changed| changed.row);
    rows
}

/// The part of a ledger entry that matters to the cache.
enum Line {
    Change { scope: i64, row: i64 },
    Reset,
}

/// Selects entries about rows, and entries that change rows without naming them: a restored backup renumbers rows, a
/// repair may change any row, and the vectors of a model may be dropped. `NOT INDEXED` makes the planner use the
/// primary key; with another index it would read the whole ledger.
const READ_LINES: &str = "SELECT sequence, scope, memory FROM ledger NOT INDEXED WHERE sequence > ?1 AND sequence <= ?2 \
     AND (memory IS NOT NULL AND scope IS NOT NULL OR memory IS NULL AND event IN ('restore', 'embed'))";

fn for_each_line(
    connection: &Connection,
    after: i64,
    up_to: i64,
    mut work: impl FnMut(i64, Line),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(READ_LINES)?;
    let mut lines = statement.query([after, up_to])?;
    while let Some(line) = lines.next()? {
        let row: Option<i64> = line.get(2)?;
        let entry = match row {
            Some(row) => Line::Change { scope: line.get(1)?, row },
            None => Line::Reset,
        };
        work(line.get(0)?, entry);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::cipher::Cipher;
    use super::super::super::schema;
    use super::*;

    fn file(folder: &tempfile::TempDir) -> Connection {
        schema::open(&folder.path().join("loci.db"), schema::SPACE, &Cipher::default()).unwrap()
    }

    /// Appends `count` entries about rows of two scopes in turn.
    fn append(file: &Connection, count: i64) -> i64 {
        let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) \
                   INSERT INTO ledger (at, event, memory, scope, reason) SELECT 1, 'update', i % 100, i % 2, '' FROM n";
        file.execute(sql, [count]).unwrap();
        file.query_row("SELECT max(sequence) FROM ledger", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn catching_up_reads_only_new_entries() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(&folder);
        let mut statement = file.prepare(&format!("EXPLAIN QUERY PLAN {READ_LINES}")).unwrap();
        let plan: Vec<String> =
            statement.query_map([1, 2], |row| row.get(3)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
        assert!(plan.iter().any(|step| step.contains("INTEGER PRIMARY KEY (rowid>? AND rowid<?)")), "{plan:?}");
    }

    /// The tail is bounded, and as far as it reaches it agrees with the ledger for any snapshot.
    #[test]
    fn a_tail_agrees_with_the_ledger() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(&folder);
        let mut tail = Tail::default();
        assert_eq!(tail.changes(&file, 1, 0, append(&file, 10)).unwrap(), read_changes(&file, 1, 0, 10).unwrap());
        for _ in 0..12 {
            let end = append(&file, 4_000);
            for (after, up_to) in [(end - 4_000, end), (end - 50, end - 20), (end, end)] {
                let found = tail.changes(&file, 0, after, up_to).unwrap();
                assert_eq!(found, read_changes(&file, 0, after, up_to).unwrap(), "{after} {up_to}");
            }
            assert!(tail.older.count + tail.newer.count <= LINES);
        }
        assert_eq!(tail.changes(&file, 0, 5, 48_010).unwrap(), Changes::TooOld);
        let end = append(&file, LINES as i64 + 1);
        assert_eq!(tail.changes(&file, 0, end - LINES as i64, end).unwrap(), Changes::TooOld);
        assert_eq!(tail.changes(&file, 0, end, end).unwrap(), Changes::Rows(Vec::new()));
        file.execute("INSERT INTO ledger (at, event, reason) VALUES (1, 'restore', '')", []).unwrap();
        assert_eq!(tail.changes(&file, 0, end, end + 1).unwrap(), Changes::Reset);
        assert_eq!(read_changes(&file, 0, end, end + 1).unwrap(), Changes::Reset);
    }
}
