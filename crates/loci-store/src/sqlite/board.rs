//! Who stands beside whom, and how many are there?
//!
//! For each scope that is asked more than once: the rows of every thread in order, each with the number of its
//! session. Before an answer it catches up with the ledger, as the vectors do. It only proposes: whoever is named is
//! looked up and checked by the one clause.
//!
//! **Invariant.** The thread and the session of a memory never change, so a row is here as it is, or gone.

use std::collections::{HashMap, HashSet};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rusqlite::{Connection, OptionalExtension};

use crate::sql::around::{self, Side, Thread};

/// Past so many changed rows it is cheaper to begin anew.
const CATCH_UP: usize = 20_000;

/// So many rows are held at most, 16 bytes each; then all are let go.
const MOST: usize = 4_000_000;

/// The order of turns in a space.
#[derive(Default)]
pub(super) struct Board {
    held: RwLock<Held>,
}

#[derive(Default)]
struct Held {
    /// The last ledger entry that is known of.
    sequence: i64,
    /// Scopes that were asked once: who asks but once need not have the scope read whole.
    asked: HashSet<i64>,
    scopes: HashMap<i64, Turns>,
    /// The last entry about each row that changed since its scope was read.
    changed: HashMap<i64, i64>,
}

/// The turns of one scope.
#[derive(Default)]
struct Turns {
    /// How far the ledger was when the scope was read.
    since: i64,
    /// Rows in order with their sessions, by thread; under none those that belong to no thread.
    threads: HashMap<Option<String>, Vec<(i64, u32)>>,
    sessions: HashMap<Option<String>, u32>,
}

impl Turns {
    fn put(&mut self, row: i64, thread: Option<String>, session: Option<String>) {
        let next = self.sessions.len() as u32;
        let session = *self.sessions.entry(session).or_insert(next);
        let rows = self.threads.entry(thread).or_default();
        if let Err(at) = rows.binary_search_by_key(&row, |(row, _)| *row) {
            rows.insert(at, (row, session));
        }
    }

    fn take(&mut self, row: i64) {
        for rows in self.threads.values_mut() {
            if let Ok(at) = rows.binary_search_by_key(&row, |(row, _)| *row) {
                rows.remove(at);
                return;
            }
        }
    }

    fn len(&self) -> usize {
        self.threads.values().map(Vec::len).sum()
    }
}

/// The order of turns, as it is now.
pub(super) struct Order<'b>(RwLockReadGuard<'b, Held>);

impl Order<'_> {
    fn memories(&self, scopes: &[i64], most: u64) -> u64 {
        let count = |scope: &i64| self.0.scopes.get(scope).map_or(0, |turns| turns.len() as u64);
        scopes.iter().map(|scope| count(scope).min(most)).sum()
    }
}

impl around::Order for Order<'_> {
    fn beside(&self, (scope, thread): &Thread, turn: i64, row: i64, side: Side, most: usize) -> Vec<i64> {
        // One string is made for each look; the map knows no other way to be asked for an owned one.
        let rows = self.0.scopes.get(scope).and_then(|turns| turns.threads.get(&Some(thread.clone())));
        let rows = rows.map_or(&[][..], Vec::as_slice);
        let Ok(at) = rows.binary_search_by_key(&turn, |(row, _)| *row) else { return Vec::new() };
        let session = rows[at].1;
        let within = |(_, other): &&(i64, u32)| *other == session;
        match side {
            Side::Before => {
                let end = rows.partition_point(|(other, _)| *other < row);
                rows[..end].iter().rev().take(most).take_while(within).map(|(row, _)| *row).collect()
            }
            Side::After => {
                let start = rows.partition_point(|(other, _)| *other <= row);
                rows[start..].iter().take(most).take_while(within).map(|(row, _)| *row).collect()
            }
        }
    }

    fn stamp(&self, scope: i64, row: i64) -> i64 {
        let since = self.0.scopes.get(&scope).map_or(0, |turns| turns.since);
        self.0.changed.get(&row).copied().unwrap_or(0).max(since)
    }
}

impl Board {
    /// Forgets everything: the file behind it is another one.
    pub(super) fn clear(&self) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = Held::default();
    }

    /// The order of turns in these scopes at this snapshot or later; none if one of them is asked for the first time.
    pub(super) fn order(&self, connection: &Connection, scopes: &[i64]) -> rusqlite::Result<Option<Order<'_>>> {
        self.caught_up(connection, scopes, true)
    }

    /// How many memories these scopes hold, each counted up to `most`; none if one of them is not held.
    pub(super) fn memories(&self, connection: &Connection, scopes: &[i64], most: u64) -> rusqlite::Result<Option<u64>> {
        Ok(self.caught_up(connection, scopes, false)?.map(|order| order.memories(scopes, most)))
    }

    fn caught_up(&self, connection: &Connection, scopes: &[i64], load_it: bool) -> rusqlite::Result<Option<Order<'_>>> {
        let sequence: i64 = connection
            .prepare_cached("SELECT coalesce(max(sequence), 0) FROM ledger")?
            .query_row([], |row| row.get(0))?;
        {
            let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
            if held.sequence >= sequence && scopes.iter().all(|scope| held.scopes.contains_key(scope)) {
                return Ok(Some(Order(held)));
            }
        }
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        if held.sequence < sequence {
            if !held.scopes.is_empty() {
                refresh(connection, &mut held)?;
            }
            held.sequence = sequence;
        }
        let mut known = true;
        for scope in scopes {
            if held.scopes.contains_key(scope) {
                continue;
            }
            if !load_it || held.asked.insert(*scope) {
                known = false;
                continue;
            }
            let turns = load(connection, *scope, sequence)?;
            if held.scopes.values().map(Turns::len).sum::<usize>() + turns.len() > MOST {
                held.scopes.clear();
                held.changed.clear();
                known = false;
                break;
            }
            held.scopes.insert(*scope, turns);
            // Others may be ahead of this snapshot; what came since must be looked at again.
            held.sequence = held.sequence.min(sequence);
        }
        Ok(known.then(|| Order(RwLockWriteGuard::downgrade(held))))
    }
}

/// Looks again at the rows that changed since the board last looked.
fn refresh(connection: &Connection, held: &mut Held) -> rusqlite::Result<()> {
    // What was restored from a backup has the numbers of other rows.
    let restored: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM ledger WHERE sequence > ?1 AND event = 'restore' AND memory IS NULL)",
        )?
        .query_row([held.sequence], |row| row.get(0))?;
    let mut changed: Vec<(i64, i64, Option<i64>)> = Vec::new();
    if !restored {
        changed = connection
            .prepare_cached(
                "SELECT memory, max(sequence), max(scope) FROM ledger WHERE sequence > ?1 AND memory IS NOT NULL GROUP BY memory",
            )?
            .query_map([held.sequence], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<rusqlite::Result<_>>()?;
    }
    if restored || changed.len() + held.changed.len() > CATCH_UP {
        held.scopes.clear();
        held.changed.clear();
        return Ok(());
    }
    let mut read = connection.prepare_cached("SELECT thread_id, session_id FROM memories WHERE row = ?1")?;
    for (row, sequence, scope) in changed {
        held.changed.insert(row, sequence);
        let Some(turns) = scope.and_then(|scope| held.scopes.get_mut(&scope)) else { continue };
        match read.query_row([row], |row| Ok((row.get(0)?, row.get(1)?))).optional()? {
            Some((thread, session)) => turns.put(row, thread, session),
            None => turns.take(row),
        }
    }
    Ok(())
}

fn load(connection: &Connection, scope: i64, since: i64) -> rusqlite::Result<Turns> {
    let mut turns = Turns { since, ..Turns::default() };
    // Left to itself the planner may walk the whole table, since that has the order.
    let sql =
        "SELECT row, thread_id, session_id FROM memories INDEXED BY memories_by_scope WHERE scope = ?1 ORDER BY row";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([scope])?;
    while let Some(row) = rows.next()? {
        turns.put(row.get(0)?, row.get(1)?, row.get(2)?);
    }
    Ok(turns)
}

#[cfg(test)]
mod tests {
    use loci_testkit::samples::{add, at, memory, user, visible};
    use loci_types::{Action, Memory, Space};

    use super::super::schema;
    use super::*;
    use crate::sql::apply::Desk;
    use crate::sql::clause::Clause;
    use crate::sql::{self, around::strips};
    use crate::text::Analyser;

    /// The board tells what the file would, whatever is added and taken away in between.
    #[test]
    fn the_board_and_the_file_agree() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loci.db");
        let file = schema::open(&path, schema::SPACE).unwrap();
        let connection = sql::Connection::Sqlite(&file);
        let desk = Desk { connection: &connection, path: &path, space: &Space::Shared, analyser: &Analyser::default() };
        let (anna, board) = (user("anna"), Board::default());
        let turn = |number: u64| -> Memory {
            let mut turn = memory(number, &anna, &format!("turn {number}"));
            turn.thread_id = (number % 7 != 0).then(|| format!("thread {}", number % 2));
            turn.identifiers.session_id = Some(format!("session {}", number / 8));
            turn
        };
        let check = |ids: &[u64], expect_board: bool| {
            let seen = visible(std::slice::from_ref(&anna));
            let clause = Clause::visible(&connection, &Space::Shared, &seen).unwrap().unwrap();
            let scopes = clause.scopes.clone().unwrap();
            let order = board.order(&file, &scopes).unwrap();
            assert_eq!(order.is_some(), expect_board);
            let ids: Vec<_> = ids.iter().map(|number| turn(*number).id).collect();
            let told = |order: Option<&dyn around::Order>| -> Vec<(u64, Vec<_>)> {
                let strips = strips(&connection, &path, &clause, &ids, 3, order).unwrap();
                strips.into_iter().map(|s| (s.session, s.places.iter().map(|p| p.id).collect())).collect()
            };
            if let Some(order) = &order {
                assert_eq!(told(Some(order)), told(None), "{ids:?}");
                let rows: u64 = file.query_row("SELECT count(*) FROM memories", [], |row| row.get(0)).unwrap();
                assert_eq!(order.memories(&scopes, 1_000), rows);
            }
        };
        for number in 1..30 {
            desk.apply(&add(turn(number))).unwrap();
        }
        check(&[3, 9], false);
        check(&[3, 9, 14, 15, 28], true);
        for number in 30..60 {
            desk.apply(&add(turn(number))).unwrap();
            check(&[5, number / 2, number], true);
        }
        for number in [4, 31, 59] {
            let mut gone = add(turn(number));
            gone.action = Action::Erase { id: turn(number).id };
            desk.apply(&gone).unwrap();
            check(&[number - 1, number - 2, 20], true);
        }
    }

    /// Whatever is done to a memory changes its stamp.
    #[test]
    fn a_stamp_changes_with_its_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loci.db");
        let file = schema::open(&path, schema::SPACE).unwrap();
        let connection = sql::Connection::Sqlite(&file);
        let desk = Desk { connection: &connection, path: &path, space: &Space::Shared, analyser: &Analyser::default() };
        let (anna, board) = (user("anna"), Board::default());
        for number in [1, 2] {
            desk.apply(&add(memory(number, &anna, "lantern"))).unwrap();
        }
        let stamps = || {
            assert!(board.order(&file, &[1]).unwrap().is_some());
            let order = board.order(&file, &[1]).unwrap().unwrap();
            [1, 2].map(|row| around::Order::stamp(&order, 1, row))
        };
        assert!(board.order(&file, &[1]).unwrap().is_none());
        let before = stamps();
        let mut pin = add(memory(1, &anna, "lantern"));
        pin.action = Action::Forget { id: memory(1, &anna, "lantern").id, expect: None, purge_at: at(9) };
        desk.apply(&pin).unwrap();
        let after = stamps();
        assert!(after[0] > before[0]);
        assert_eq!(after[1], before[1]);
    }
}
