//! Who stands beside whom, and how many are there?
//!
//! For each scope that is asked more than once: the rows of every thread in order, each with the number of its
//! session and the last line of the ledger about it. Before an answer it catches up with the ledger, as the vectors do.
//! It only proposes: whoever is named is looked up and checked by the one clause.
//!
//! **Invariant.** A row stands in one thread, the one that its memory had when the ledger last spoke of it.

use std::collections::{HashMap, HashSet};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rusqlite::{Connection, OptionalExtension};

use crate::sql::around::{self, Side, Thread};

/// Past so many changed rows it is cheaper to read a scope anew.
const CATCH_UP: usize = 20_000;

/// So many rows are held at most, some 50 bytes each; then all are let go.
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

    fn len(&self) -> usize {
        self.places.len()
    }

    /// The rows of a thread, in order.
    fn thread(&self, name: &str) -> &[(i64, u32)] {
        // One string is made for each look; the map knows no other way to be asked for an owned one.
        let number = self.thread_numbers.get(&Some(name.to_owned()));
        number.and_then(|number| self.threads.get(*number as usize)).map_or(&[], Vec::as_slice)
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
        let rows = self.0.scopes.get(scope).map_or(&[][..], |turns| turns.thread(thread));
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
        self.0.scopes.get(&scope).and_then(|turns| turns.places.get(&row)).map_or(0, |place| place.last)
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
            let turns = load(connection, *scope)?;
            if held.scopes.values().map(Turns::len).sum::<usize>() + turns.len() > MOST {
                held.scopes.clear();
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
    if restored {
        held.scopes.clear();
        return Ok(());
    }
    let changed: Vec<(i64, i64, i64)> = connection
        .prepare_cached(CHANGED)?
        .query_map([held.sequence], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    if changed.len() > CATCH_UP {
        let scopes: HashSet<i64> = changed.iter().map(|(_, _, scope)| *scope).collect();
        held.scopes.retain(|scope, _| !scopes.contains(scope));
        return Ok(());
    }
    let mut read = connection.prepare_cached("SELECT thread_id, session_id FROM memories WHERE row = ?1")?;
    for (row, last, scope) in changed {
        let Some(turns) = held.scopes.get_mut(&scope) else { continue };
        match read.query_row([row], |row| Ok((row.get(0)?, row.get(1)?))).optional()? {
            Some((thread, session)) => turns.put(row, thread, session, last),
            None => turns.take(row),
        }
    }
    Ok(())
}

/// What changed since a line of the ledger. Left to itself the planner walks the index of memories, and with it the
/// whole ledger, because that has the order of the groups.
const CHANGED: &str = "SELECT memory, max(sequence), max(scope) FROM ledger NOT INDEXED \
     WHERE sequence > ?1 AND memory IS NOT NULL AND scope IS NOT NULL GROUP BY memory";

fn load(connection: &Connection, scope: i64) -> rusqlite::Result<Turns> {
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

    /// Who catches up reads what is new, however long the ledger is.
    #[test]
    fn catching_up_reads_only_what_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let file = schema::open(&folder.path().join("loci.db"), schema::SPACE).unwrap();
        for sql in [CHANGED, super::super::index::CHANGED] {
            let mut statement = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let plan: Vec<String> =
                statement.query_map([1], |row| row.get(3)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
            assert!(plan.iter().any(|step| step.contains("INTEGER PRIMARY KEY (rowid>?)")), "{plan:?}");
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
