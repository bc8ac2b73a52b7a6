//! The cached order of turns in threads, with the last ledger entry about each.
//!
//! **Invariant.** A row is in exactly one thread: that of its memory as of the last applied ledger entry.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

use super::scope::CachePart;
use super::tail::Changed;
use super::{ROWS_OF_SCOPE, ScopeCache, Scopes, map_bytes};
use crate::sql::turn_runs::{self, Direction, Thread, TurnOrder};

/// The turn order of one scope.
#[derive(Default)]
pub(super) struct ScopeTurns {
    /// Rows in order with the numbers of their sessions, by the number of the thread.
    threads: Vec<Vec<(i64, u32)>>,
    places: HashMap<i64, TurnPosition>,
    /// The number of each thread. `None` stands for rows without a thread.
    thread_numbers: HashMap<Option<String>, u32>,
    session_numbers: HashMap<Option<String>, u32>,
    /// Bytes of the lists in `threads` and of all names.
    list_bytes: usize,
}

/// The position of a row.
struct TurnPosition {
    thread: u32,
    /// The last ledger entry about it.
    last: i64,
}

impl ScopeTurns {
    /// Estimated bytes of a scope with this number of rows, if its threads have about ten turns on average.
    pub(super) fn estimate(rows: usize) -> usize {
        rows * 80
    }

    pub(super) fn load(connection: &Connection, scope: i64) -> rusqlite::Result<Self> {
        let mut turns = Self::default();
        let sql = format!(
            "SELECT m.row, m.thread_id, m.session_id, \
                 (SELECT coalesce(max(l.sequence), 0) FROM ledger l INDEXED BY ledger_by_memory WHERE l.memory = m.row) \
             FROM {ROWS_OF_SCOPE} CROSS JOIN memories m ON m.row = r.row"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query([scope])?;
        while let Some(row) = rows.next()? {
            turns.put(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        }
        Ok(turns)
    }

    /// Reads the threads of changed rows again.
    pub(super) fn refresh(&mut self, connection: &Connection, changed: &[Changed]) -> rusqlite::Result<()> {
        let mut read = connection.prepare_cached("SELECT thread_id, session_id FROM memories WHERE row = ?1")?;
        for Changed { row, last } in changed {
            match read.query_row([*row], |found| Ok((found.get(0)?, found.get(1)?))).optional()? {
                Some((thread, session)) => self.put(*row, thread, session, *last),
                None => self.remove(*row),
            }
        }
        Ok(())
    }

    fn put(&mut self, row: i64, thread: Option<String>, session: Option<String>, last: i64) {
        self.remove(row);
        let session = self.number(|turns| &mut turns.session_numbers, session);
        let thread = self.number(|turns| &mut turns.thread_numbers, thread);
        if thread as usize == self.threads.len() {
            self.threads.push(Vec::new());
        }
        let rows = &mut self.threads[thread as usize];
        let before = rows.capacity();
        let at = rows.partition_point(|(other, _)| *other < row);
        rows.insert(at, (row, session));
        self.list_bytes += (rows.capacity() - before) * size_of::<(i64, u32)>();
        self.places.insert(row, TurnPosition { thread, last });
    }

    /// The number of a name; a new name gets the next number.
    fn number(&mut self, names: impl Fn(&mut Self) -> &mut HashMap<Option<String>, u32>, name: Option<String>) -> u32 {
        let bytes = name.as_ref().map_or(0, String::capacity);
        let names = names(self);
        let next = names.len() as u32;
        let number = *names.entry(name).or_insert(next);
        if number == next {
            self.list_bytes += bytes;
        }
        number
    }

    fn remove(&mut self, row: i64) {
        let Some(place) = self.places.remove(&row) else { return };
        let rows = &mut self.threads[place.thread as usize];
        if let Ok(at) = rows.binary_search_by_key(&row, |(row, _)| *row) {
            rows.remove(at);
        }
    }

    /// The rows of a thread, in order.
    fn thread(&self, name: &str) -> &[(i64, u32)] {
        // A map with `Option<String>` keys needs an owned string for a lookup.
        let number = self.thread_numbers.get(&Some(name.to_owned()));
        number.and_then(|number| self.threads.get(*number as usize)).map_or(&[], Vec::as_slice)
    }

    /// Allocated bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.threads.capacity() * size_of::<Vec<(i64, u32)>>()
            + map_bytes::<(i64, TurnPosition)>(self.places.capacity())
            + map_bytes::<(Option<String>, u32)>(self.thread_numbers.capacity())
            + map_bytes::<(Option<String>, u32)>(self.session_numbers.capacity())
            + self.list_bytes
    }

    /// Bytes of lists and names: the running sum, and counted one by one.
    #[cfg(test)]
    pub(super) fn walked_bytes(&self) -> (usize, usize) {
        let lists = self.threads.iter().map(|rows| rows.capacity() * size_of::<(i64, u32)>()).sum::<usize>();
        let names = self.thread_numbers.keys().chain(self.session_numbers.keys()).flatten().map(String::capacity);
        (self.list_bytes, lists + names.sum::<usize>())
    }
}

impl ScopeCache {
    /// Runs `work` with the turn order of these scopes, or with none if it does not fit within the limit of the cache.
    pub(in super::super) fn with_turns<T>(
        &self,
        connection: &Connection,
        scopes: &[i64],
        work: impl FnOnce(Option<&dyn turn_runs::TurnOrder>) -> T,
    ) -> rusqlite::Result<T> {
        self.with(connection, scopes, CachePart::Turns, |scopes| {
            let order: Option<&dyn TurnOrder> = if scopes.uncached.is_empty() { Some(scopes) } else { None };
            Ok(work(order))
        })
    }
}

impl Scopes<'_> {
    fn turns(&self, scope: i64) -> Option<&ScopeTurns> {
        let cached = self.cached.iter().find(|(other, _)| *other == scope);
        cached.and_then(|(_, cached)| cached.turns.as_ref())
    }
}

impl TurnOrder for Scopes<'_> {
    fn beside(&self, (scope, thread): &Thread, turn: i64, row: i64, side: Direction, most: usize) -> Vec<i64> {
        let rows = self.turns(*scope).map_or(&[][..], |turns| turns.thread(thread));
        let Ok(at) = rows.binary_search_by_key(&turn, |(row, _)| *row) else { return Vec::new() };
        let session = rows[at].1;
        let within = |(_, other): &&(i64, u32)| *other == session;
        match side {
            Direction::Before => {
                let end = rows.partition_point(|(other, _)| *other < row);
                rows[..end].iter().rev().take(most).take_while(within).map(|(row, _)| *row).collect()
            }
            Direction::After => {
                let start = rows.partition_point(|(other, _)| *other <= row);
                rows[start..].iter().take(most).take_while(within).map(|(row, _)| *row).collect()
            }
        }
    }

    fn stamp(&self, scope: i64, row: i64) -> i64 {
        self.turns(scope).and_then(|turns| turns.places.get(&row)).map_or(0, |place| place.last)
    }
}
