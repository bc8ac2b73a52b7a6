//! Who stands beside whom?
//!
//! For each scope that is asked more than once: the rows of every thread in order, each with the number of its session and
//! the last line of the ledger about it. It keeps [`Abreast`] of the ledger and only proposes: whoever is named is
//! looked up and checked by the one clause.
//!
//! **Invariant.** A row stands in one thread, the one that its memory had when the ledger last spoke of it.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError, RwLockReadGuard};

use rusqlite::{Connection, OptionalExtension};

use super::abreast::{Abreast, Changed, Held, Part};
use crate::sql::around::{self, Side, Thread};

/// The order of turns in a space.
#[derive(Default)]
pub(super) struct Board {
    turns: Abreast<Turns>,
    /// Scopes that were asked once: who asks but once need not have the scope read whole.
    asked: Mutex<HashSet<i64>>,
}

/// The turns of one scope.
#[derive(Default)]
struct Turns {
    /// Rows in order with their sessions, by the thread's number.
    threads: Vec<Vec<(i64, u32)>>,
    places: HashMap<i64, Place>,
    /// The number of each thread; none is the thread of those that belong to none.
    thread_numbers: HashMap<Option<String>, u32>,
    session_numbers: HashMap<Option<String>, u32>,
}

/// Where a row stands.
struct Place {
    thread: u32,
    /// The last entry of the ledger about it.
    last: i64,
}

impl Turns {
    fn put(&mut self, row: i64, thread: Option<String>, session: Option<String>, last: i64) {
        self.take(row);
        let next = self.session_numbers.len() as u32;
        let session = *self.session_numbers.entry(session).or_insert(next);
        let next = self.thread_numbers.len() as u32;
        let thread = *self.thread_numbers.entry(thread).or_insert(next);
        if thread == next {
            self.threads.push(Vec::new());
        }
        let rows = &mut self.threads[thread as usize];
        let at = rows.partition_point(|(other, _)| *other < row);
        rows.insert(at, (row, session));
        self.places.insert(row, Place { thread, last });
    }

    fn take(&mut self, row: i64) {
        let Some(place) = self.places.remove(&row) else { return };
        let rows = &mut self.threads[place.thread as usize];
        if let Ok(at) = rows.binary_search_by_key(&row, |(row, _)| *row) {
            rows.remove(at);
        }
    }

    /// The rows of a thread, in order.
    fn thread(&self, name: &str) -> &[(i64, u32)] {
        // One string is made for each look; the map knows no other way to be asked for an owned one.
        let number = self.thread_numbers.get(&Some(name.to_owned()));
        number.and_then(|number| self.threads.get(*number as usize)).map_or(&[], Vec::as_slice)
    }
}

impl Part for Turns {
    type Key = i64;

    fn scope(scope: i64) -> i64 {
        scope
    }

    fn load(connection: &Connection, scope: i64) -> rusqlite::Result<Self> {
        let mut turns = Turns::default();
        // Left to itself the planner may walk the whole table, since that has the order.
        let sql = "SELECT row, thread_id, session_id, \
                       (SELECT coalesce(max(l.sequence), 0) FROM ledger l INDEXED BY ledger_by_memory WHERE l.memory = m.row) \
                   FROM memories m INDEXED BY memories_by_scope WHERE scope = ?1 ORDER BY row";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([scope])?;
        while let Some(row) = rows.next()? {
            turns.put(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        }
        Ok(turns)
    }

    fn refresh(&mut self, connection: &Connection, _: i64, changed: &[Changed]) -> rusqlite::Result<()> {
        let mut read = connection.prepare_cached("SELECT thread_id, session_id FROM memories WHERE row = ?1")?;
        for Changed { row, last } in changed {
            match read.query_row([*row], |found| Ok((found.get(0)?, found.get(1)?))).optional()? {
                Some((thread, session)) => self.put(*row, thread, session, *last),
                None => self.take(*row),
            }
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        // A place in its thread, and a place in the table with room to spare.
        self.places.len() * 16 + self.places.capacity() * 25
    }
}

/// The order of turns, as it is now.
pub(super) struct Order<'b>(RwLockReadGuard<'b, Held<Turns>>);

impl around::Order for Order<'_> {
    fn beside(&self, (scope, thread): &Thread, turn: i64, row: i64, side: Side, most: usize) -> Vec<i64> {
        let rows = self.0.get(*scope).map_or(&[][..], |turns| turns.thread(thread));
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
        self.0.get(scope).and_then(|turns| turns.places.get(&row)).map_or(0, |place| place.last)
    }
}

impl Board {
    /// Forgets everything: the file behind it is another one.
    pub(super) fn clear(&self) {
        self.turns.clear();
    }

    /// How much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.turns.bytes()
    }

    /// Lets go of the scope that was not asked for the longest time. False if there is none.
    pub(super) fn evict(&self) -> bool {
        self.turns.evict()
    }

    /// The order of turns in these scopes at this snapshot or later; none if one of them is asked for the first time.
    pub(super) fn order(&self, connection: &Connection, scopes: &[i64]) -> rusqlite::Result<Option<Order<'_>>> {
        let known = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            // All are noted, whichever is the first that is new.
            scopes.iter().filter(|scope| asked.insert(**scope)).count() == 0
        };
        if !known {
            return Ok(None);
        }
        self.turns.at(connection, scopes).map(|held| Some(Order(held)))
    }
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
            turn.thread_id = (!number.is_multiple_of(7)).then(|| format!("thread {}", number % 2));
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
        // An import may put a memory into another conversation.
        file.execute("UPDATE memories SET thread_id = 'elsewhere' WHERE row IN (10, 11, 12)", []).unwrap();
        file.execute(
            "INSERT INTO ledger (at, event, memory, scope, reason) SELECT 1, 'update', row, scope, 'import' FROM memories \
             WHERE row IN (10, 11, 12)",
            [],
        )
        .unwrap();
        check(&[8, 9, 10, 11, 12, 13, 14], true);
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
