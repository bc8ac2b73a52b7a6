//! Finds the turns before and after given turns.
//!
//! Turns of a thread are ordered by their row numbers. Runs that touch are merged into one run, and a run never leaves
//! its session. The clause applies to the requested turns and to the returned ones: an invisible turn is neither
//! returned nor searched around.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use loci_types::MemoryId;
use uuid::Uuid;

use super::clause::{self, Clause};
use super::read::{among, wanted};
use super::{Connection, Row, Value, params};
use crate::sql;
use crate::{TurnRef, TurnRun};

/// The thread of a memory within a scope.
pub(crate) type Thread = (i64, String);

/// A turn: its row and its session.
type Turn = (i64, Option<String>);

/// The requested turns of each thread, in order.
type Threads = BTreeMap<Thread, Vec<Turn>>;

/// The order of turns in the threads of some scopes, cached in memory.
pub(crate) trait TurnOrder {
    /// Up to `most` rows before or after `row` in the thread that are in the session of `turn`, nearest first.
    fn beside(&self, thread: &Thread, turn: i64, row: i64, side: Direction, most: usize) -> Vec<i64>;

    /// The number of the last ledger entry about a memory.
    fn stamp(&self, scope: i64, row: i64) -> i64;
}

/// How the neighbours of a turn are found.
#[derive(Clone, Copy)]
pub(crate) enum Turns<'o> {
    /// One query per turn, for a database in this process.
    Query,
    /// One query for all turns, for a server.
    Batch,
    /// The cached order.
    InMemory(&'o dyn TurnOrder),
}

/// The runs of turns that contain these memories.
pub(crate) fn turn_runs(
    connection: &dyn Connection,
    path: &Path,
    clause: &Clause,
    ids: &[MemoryId],
    reach: usize,
    turns: Turns<'_>,
) -> sql::SqlResult<Vec<TurnRun>> {
    let order = if let Turns::InMemory(order) = turns { Some(order) } else { None };
    // Row and scope numbers are unique only within one file.
    let file = number(path);
    let marks = StampColumns { file, order };
    let RequestedTurns { threads, alone, mut places } = sort(connection, clause, ids, &marks)?;
    let mut runs: Vec<(u64, Vec<i64>)> = alone.into_iter().map(|row| (number(&(file, row)), vec![row])).collect();
    let (known, beside_them) = match turns {
        Turns::Batch => {
            let (known, places) = beside(connection, clause, &threads, reach, &marks)?;
            (Some(known), Some(places))
        }
        Turns::Query | Turns::InMemory(_) => (None, None),
    };
    for (thread, turns) in &threads {
        let mut walk = Walk { connection, thread, reach, known: known.as_ref(), order, runs: Vec::new() };
        for turn in turns {
            walk.take_in(turn)?;
        }
        runs.extend(walk.runs.into_iter().map(|run| {
            let session = run.first().and_then(|(_, session)| session.clone());
            (number(&(file, thread, session)), run.into_iter().map(|(row, _)| row).collect())
        }));
    }
    let others = runs.iter().flat_map(|(_, rows)| rows).copied().filter(|row| !places.contains_key(row)).collect();
    places.extend(match beside_them {
        Some(known) => known,
        None => visible_rows(connection, clause, others, &marks)?,
    });
    let run = |(session, rows): (u64, Vec<i64>)| TurnRun {
        session,
        places: rows.iter().filter_map(|row| places.get(row).copied()).collect(),
    };
    Ok(runs.into_iter().map(run).filter(|run| !run.places.is_empty()).collect())
}

/// The turns around each requested turn in its session, oldest first.
type Beside = HashMap<i64, Vec<Turn>>;

/// The turns around all requested turns, in one query: one more before each than after it, as [`Walk`] needs; and the
/// references of those that match the clause.
fn beside(
    connection: &dyn Connection,
    clause: &Clause,
    threads: &Threads,
    reach: usize,
    marks: &StampColumns<'_>,
) -> sql::SqlResult<(Beside, HashMap<i64, TurnRef>)> {
    let asked: Vec<i64> = threads.values().flatten().map(|(row, _)| *row).collect();
    if asked.is_empty() {
        return Ok((Beside::new(), HashMap::new()));
    }
    let sql = format!(
        "SELECT {}, coalesce({}, FALSE), n.session_id, a.row, a.session_id FROM unnest(?::bigint[]) j(value) \
         JOIN memories a ON a.row = j.value, LATERAL ( \
         (SELECT b.row, b.session_id FROM memories b WHERE b.thread_id = a.thread_id AND b.scope = a.scope \
         AND b.row < a.row ORDER BY b.row DESC LIMIT ?) UNION ALL \
         (SELECT b.row, b.session_id FROM memories b WHERE b.thread_id = a.thread_id AND b.scope = a.scope \
         AND b.row > a.row ORDER BY b.row LIMIT ?)) n JOIN memories m ON m.row = n.row ORDER BY a.row, n.row",
        marks.columns(),
        clause.sql
    );
    let mut values = clause.values.clone();
    values.extend(params![Value::Integers(asked), clause::limit(reach.saturating_add(1)), clause::limit(reach)]);
    let next = StampColumns::COUNT;
    let read = |row: &dyn Row| {
        let turn: Turn = (row.get(next + 2)?, row.get(next + 3)?);
        Ok((turn, marks.read(row)?, row.get::<_, bool>(next)?, row.get(next + 1)?))
    };
    let (mut found, mut places) = (HashMap::<Turn, Vec<Turn>>::new(), HashMap::new());
    for (turn, (row, place), seen, session) in connection.query_map(&sql, values, read)? {
        found.entry(turn).or_default().push((row, session));
        if seen {
            places.insert(row, place);
        }
    }
    // A run ends at the border of its session.
    let within = |(turn, others): (Turn, Vec<Turn>)| {
        let same = |other: &&Turn| other.1 == turn.1;
        let at = others.partition_point(|(row, _)| *row < turn.0);
        let before = others[..at].iter().rev().take_while(same).count();
        let after = others[at..].iter().take_while(same).count();
        (turn.0, others[at - before..at + after].to_vec())
    };
    Ok((found.into_iter().map(within).collect(), places))
}

/// The requested memories that match the clause.
struct RequestedTurns {
    threads: Threads,
    /// The rows without a thread.
    alone: Vec<i64>,
    places: HashMap<i64, TurnRef>,
}

/// Groups the requested memories that match the clause by thread, in order.
fn sort(
    connection: &dyn Connection,
    clause: &Clause,
    ids: &[MemoryId],
    marks: &StampColumns<'_>,
) -> sql::SqlResult<RequestedTurns> {
    let columns = format!("{}, m.scope, m.thread_id, m.session_id", marks.columns());
    let sql = among(connection, &columns, "", clause);
    let mut values = vec![wanted(ids)];
    values.extend(clause.values.iter().cloned());
    let (mut threads, mut alone, mut places) = (Threads::new(), Vec::new(), HashMap::with_capacity(ids.len()));
    let next = StampColumns::COUNT;
    let read = |row: &dyn Row| Ok((marks.read(row)?, row.get(next)?, row.get(next + 1)?, row.get(next + 2)?));
    for ((row, place), scope, thread, session) in connection.query_map(&sql, values, read)? {
        places.insert(row, place);
        match thread {
            Some(thread) => threads.entry((scope, thread)).or_default().push((row, session)),
            None => alone.push(row),
        }
    }
    for turns in threads.values_mut() {
        turns.sort_unstable();
        turns.dedup();
    }
    alone.sort_unstable();
    alone.dedup();
    Ok(RequestedTurns { threads, alone, places })
}

/// Builds the runs of one thread from its requested turns, oldest first.
struct Walk<'a> {
    connection: &'a dyn Connection,
    thread: &'a Thread,
    reach: usize,
    /// The neighbours of each turn, if they were read in one query.
    known: Option<&'a Beside>,
    /// The cached order, if there is one.
    order: Option<&'a dyn TurnOrder>,
    runs: Vec<Vec<Turn>>,
}

impl Walk<'_> {
    fn take_in(&mut self, turn: &Turn) -> sql::SqlResult<()> {
        let known = self.runs.last().and_then(|run| run.iter().position(|(row, _)| *row == turn.0));
        if known.is_none() {
            // One turn more than `reach` shows whether this run touches the one before it.
            let mut before = self.neighbours(turn, turn.0, Direction::Before, self.reach.saturating_add(1))?;
            let last = self.runs.last().and_then(|run| run.last()).map(|(row, _)| *row);
            let joins = last.is_some_and(|last| before.iter().any(|(row, _)| *row <= last));
            if !joins {
                self.runs.push(Vec::new());
                before.drain(..before.len().saturating_sub(self.reach));
            }
            let fresh = before.into_iter().filter(|(row, _)| !joins || last.is_none_or(|last| *row > last));
            let fresh: Vec<Turn> = fresh.chain([turn.clone()]).collect();
            if let Some(run) = self.runs.last_mut() {
                run.extend(fresh);
            }
        }
        let Some(run) = self.runs.last() else { return Ok(()) };
        let at = run.iter().rposition(|(row, _)| *row == turn.0).unwrap_or(run.len() - 1);
        let missing = self.reach.saturating_sub(run.len() - 1 - at);
        let end = run.last().map_or(turn.0, |(row, _)| *row);
        let after = if missing == 0 { Vec::new() } else { self.neighbours(turn, end, Direction::After, missing)? };
        if let Some(run) = self.runs.last_mut() {
            run.extend(after);
        }
        Ok(())
    }

    /// Up to `most` turns beside `row` in the session of `turn`, oldest first.
    fn neighbours(&self, turn: &Turn, row: i64, side: Direction, most: usize) -> sql::SqlResult<Vec<Turn>> {
        if let Some(known) = self.known {
            let beside = known.get(&turn.0).into_iter().flatten();
            return Ok(match side {
                Direction::Before => beside.filter(|(other, _)| *other < row).cloned().collect(),
                Direction::After => beside.filter(|(other, _)| *other > row).take(most).cloned().collect(),
            });
        }
        if let Some(order) = self.order {
            let mut rows = order.beside(self.thread, turn.0, row, side, most);
            if matches!(side, Direction::Before) {
                rows.reverse();
            }
            return Ok(rows.into_iter().map(|row| (row, turn.1.clone())).collect());
        }
        let sql = match side {
            Direction::Before => {
                "SELECT row, session_id FROM memories WHERE thread_id = ?1 AND scope = ?2 AND row < ?3 \
                 ORDER BY row DESC LIMIT ?4"
            }
            Direction::After => {
                "SELECT row, session_id FROM memories WHERE thread_id = ?1 AND scope = ?2 AND row > ?3 \
                 ORDER BY row LIMIT ?4"
            }
        };
        let values = params![&self.thread.1, self.thread.0, row, clause::limit(most)];
        let mut found: Vec<Turn> = self.connection.query_map(sql, values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        found.truncate(found.iter().take_while(|other| other.1 == turn.1).count());
        if matches!(side, Direction::Before) {
            found.reverse();
        }
        Ok(found)
    }
}

/// A direction in a thread.
#[derive(Clone, Copy)]
pub(crate) enum Direction {
    Before,
    After,
}

/// Those of these rows that match the clause.
fn visible_rows(
    connection: &dyn Connection,
    clause: &Clause,
    rows: Vec<i64>,
    marks: &StampColumns<'_>,
) -> sql::SqlResult<HashMap<i64, TurnRef>> {
    if rows.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = format!(
        "SELECT {} FROM {} {} memories m ON m.row = j.value WHERE {}",
        marks.columns(),
        connection.dialect().integers,
        connection.dialect().ordered_join,
        clause.sql
    );
    let mut values = vec![Value::Integers(rows)];
    values.extend(clause.values.iter().cloned());
    Ok(connection.query_map(&sql, values, |row| marks.read(row))?.into_iter().collect())
}

/// The columns of which the stamp of a memory is computed. Every change of a memory or its vector adds a ledger entry,
/// so the stamp includes the number of the last one.
struct StampColumns<'a> {
    file: u64,
    order: Option<&'a dyn TurnOrder>,
}

impl StampColumns<'_> {
    /// Number of columns.
    const COUNT: usize = 6;

    /// The columns that [`StampColumns::read`] expects first.
    fn columns(&self) -> String {
        let last = match self.order {
            Some(_) => "m.scope",
            None => "(SELECT max(sequence) FROM ledger WHERE memory = m.row)",
        };
        format!("m.row, m.id, m.version, m.updated_at, m.access_count, {last}")
    }

    /// Reads a row number with its reference.
    fn read(&self, row: &dyn Row) -> sql::SqlResult<(i64, TurnRef)> {
        let (number_of, id): (i64, [u8; 16]) = (row.get(0)?, row.get(1)?);
        let last: Option<i64> = row.get(5)?;
        let last = self.order.map_or(last, |order| last.map(|scope| order.stamp(scope, number_of)));
        let (version, updated): (i64, i64) = (row.get(2)?, row.get(3)?);
        let stamp = number(&(self.file, id, version, updated, last));
        Ok((number_of, TurnRef { id: MemoryId(Uuid::from_bytes(id)), stamp, access_count: row.get(4)? }))
    }
}

fn number<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
