//! Which memories are nearest to a vector?
//!
//! Each scope that has been asked has its vectors in memory, per model. Before an answer the index
//! catches up with the ledger, so it never misses what another process wrote. The arrays only
//! propose: rows are checked by the one clause and rescored by their exact vectors, and when too
//! few pass, the search is repeated among exactly those that may.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use loci_types::{MemoryId, Vector};
use rusqlite::{Connection, params_from_iter};
use uuid::Uuid;

use crate::Hit;
use crate::sql::clause::Clause;
use crate::sql::{self, Value, read, vector_values};
use crate::vectors::{Arrays, Query, nearest_of};

/// So many candidates beyond those wanted are rescored exactly, at least; codes of a byte each
/// seldom misplace one by more.
const SPARE: usize = 30;

/// Past so many changed rows it is cheaper to load a scope anew.
const CATCH_UP: usize = 20_000;

/// The vectors of a space that are in memory.
#[derive(Default)]
pub(super) struct Index {
    held: RwLock<Held>,
    clock: AtomicU64,
    bytes: AtomicUsize,
}

#[derive(Default)]
struct Held {
    /// The last ledger entry that the arrays know of.
    sequence: i64,
    shelves: HashMap<(i64, i64), Shelf>,
}

/// The vectors of one scope by one model.
struct Shelf {
    arrays: Arrays,
    used: AtomicU64,
}

impl Index {
    /// Forgets everything: the file behind it is another one.
    pub(super) fn clear(&self) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = Held::default();
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// How much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Lets go of the scope that was not asked for the longest time. False if there is none.
    pub(super) fn evict(&self) -> bool {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        let oldest =
            held.shelves.iter().min_by_key(|(_, shelf)| shelf.used.load(Ordering::Relaxed)).map(|(key, _)| *key);
        let gone = oldest.and_then(|key| held.shelves.remove(&key));
        self.weigh(&held);
        gone.is_some()
    }

    fn weigh(&self, held: &Held) {
        self.bytes.store(held.shelves.values().map(|shelf| shelf.arrays.bytes()).sum(), Ordering::Relaxed);
    }

    /// The nearest rows, best first, scored by `max(0, cosine)`.
    pub(super) fn search(
        &self,
        connection: &Connection,
        clause: &Clause,
        vector: &Vector,
        limit: usize,
    ) -> sql::Result<Vec<Hit>> {
        let Some(model) = read::model_of(&sql::Connection::Sqlite(connection), vector)? else { return Ok(Vec::new()) };
        let scopes = match &clause.scopes {
            Some(scopes) => scopes.clone(),
            None => all_scopes(connection)?,
        };
        let query = Query::new(&vector.values);
        let want = limit.saturating_add((limit / 4).max(SPARE));
        let propose = |among: Option<&[i64]>| -> rusqlite::Result<_> {
            // The lock is kept from the one to the other, or the budget might evict in between.
            let held = self.catch_up(connection, model, &scopes, vector.values.len())?;
            Ok(self.propose(&held, &query, model, &scopes, want, among))
        };
        let (rows, more) = propose(None)?;
        let mut hits = rescore(connection, clause, model, &query, &rows)?;
        if hits.len() < limit && more {
            let allowed = allowed_rows(connection, clause, model)?;
            let (rows, _) = propose(Some(&allowed))?;
            hits = rescore(connection, clause, model, &query, &rows)?;
        }
        hits.truncate(limit);
        Ok(hits)
    }

    /// Candidates from the arrays, and whether there are more than were asked for.
    fn propose(
        &self,
        held: &Held,
        query: &Query,
        model: i64,
        scopes: &[i64],
        want: usize,
        among: Option<&[i64]>,
    ) -> (Vec<i64>, bool) {
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        let shelves = scopes.iter().filter_map(|scope| held.shelves.get(&(*scope, model)));
        let arrays: Vec<&Arrays> =
            shelves.inspect(|shelf| shelf.used.store(now, Ordering::Relaxed)).map(|shelf| &shelf.arrays).collect();
        let mut found = match among {
            Some(rows) => arrays.iter().flat_map(|arrays| arrays.nearest_among(query, want, rows)).collect(),
            None => nearest_of(&arrays, query, want),
        };
        found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        found.truncate(want);
        let more = arrays.iter().map(|arrays| arrays.len()).sum::<usize>() > found.len();
        (found.into_iter().map(|candidate| candidate.key).collect(), more)
    }

    /// Brings the arrays up to this snapshot and loads the scopes that are not there yet.
    fn catch_up(
        &self,
        connection: &Connection,
        model: i64,
        scopes: &[i64],
        dimensions: usize,
    ) -> rusqlite::Result<RwLockReadGuard<'_, Held>> {
        let sequence: i64 = connection
            .prepare_cached("SELECT coalesce(max(sequence), 0) FROM ledger")?
            .query_row([], |row| row.get(0))?;
        {
            let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
            if held.sequence >= sequence && scopes.iter().all(|scope| held.shelves.contains_key(&(*scope, model))) {
                return Ok(held);
            }
        }
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        if held.sequence < sequence {
            if !held.shelves.is_empty() {
                refresh(connection, &mut held)?;
            }
            held.sequence = sequence;
        }
        for scope in scopes {
            if let Entry::Vacant(place) = held.shelves.entry((*scope, model)) {
                let arrays = load(connection, *scope, model, dimensions)?;
                place.insert(Shelf { arrays, used: AtomicU64::new(u64::MAX) });
                // Others may be ahead of this snapshot; what came since must be looked at again.
                held.sequence = held.sequence.min(sequence);
            }
        }
        self.weigh(&held);
        Ok(RwLockWriteGuard::downgrade(held))
    }
}

/// What changed since a line of the ledger. Left to itself the planner walks the index of memories, and with it the
/// whole ledger.
pub(super) const CHANGED: &str = "SELECT DISTINCT memory, scope FROM ledger NOT INDEXED \
     WHERE sequence > ?1 AND memory IS NOT NULL AND scope IS NOT NULL";

/// Re-reads the vectors of the rows that changed since the arrays last looked.
fn refresh(connection: &Connection, held: &mut Held) -> rusqlite::Result<()> {
    // What was restored from a backup has the numbers of other rows; vectors of a model may go all at once.
    let restored: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM ledger WHERE sequence > ?1 AND event IN ('restore', 'embed') AND memory IS NULL)",
        )?
        .query_row([held.sequence], |row| row.get(0))?;
    if restored {
        held.shelves.clear();
        return Ok(());
    }
    let changed: Vec<(i64, i64)> = connection
        .prepare_cached(CHANGED)?
        .query_map([held.sequence], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    if changed.len() > CATCH_UP {
        let scopes: HashSet<i64> = changed.iter().map(|(_, scope)| *scope).collect();
        held.shelves.retain(|(scope, _), _| !scopes.contains(scope));
        return Ok(());
    }
    let mut read = connection.prepare_cached("SELECT model, vector FROM vectors WHERE memory = ?1")?;
    for (row, scope) in changed {
        let found: HashMap<i64, Vec<u8>> =
            read.query_map([row], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        for ((held_scope, model), shelf) in &mut held.shelves {
            if *held_scope != scope {
                continue;
            }
            match found.get(model) {
                Some(bytes) => shelf.arrays.insert(row, &vector_values(bytes)),
                None => drop(shelf.arrays.remove(row)),
            }
        }
    }
    Ok(())
}

fn load(connection: &Connection, scope: i64, model: i64, dimensions: usize) -> rusqlite::Result<Arrays> {
    let memories = connection
        .prepare_cached("SELECT count(*) FROM memories WHERE scope = ?1")?
        .query_row([scope], |row| row.get::<_, usize>(0))?;
    let mut arrays = Arrays::expecting(dimensions, memories);
    let mut statement = connection.prepare_cached(
        "SELECT v.memory, v.vector FROM memories m JOIN vectors v ON v.memory = m.row \
         WHERE m.scope = ?1 AND v.model = ?2",
    )?;
    let mut rows = statement.query([scope, model])?;
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(1)?.as_blob()?;
        arrays.insert(row.get(0)?, &vector_values(bytes));
    }
    Ok(arrays)
}

fn all_scopes(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    connection.prepare_cached("SELECT scope FROM scopes")?.query_map([], |row| row.get(0))?.collect()
}

/// Checks the proposed rows by the clause and scores them by their exact vectors.
fn rescore(
    connection: &Connection,
    clause: &Clause,
    model: i64,
    query: &Query,
    rows: &[i64],
) -> rusqlite::Result<Vec<Hit>> {
    // CROSS JOIN keeps this order: left to itself the planner walks the whole scope instead.
    let sql = format!(
        "SELECT m.id, v.vector FROM json_each(?) j CROSS JOIN memories m ON m.row = j.value \
         CROSS JOIN vectors v ON v.memory = m.row WHERE v.model = ? AND {}",
        clause.sql
    );
    let mut values = vec![Value::Integers(rows.to_vec()), Value::Integer(model)];
    values.extend(clause.values.iter().cloned());
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = statement.query(params_from_iter(values))?;
    let mut hits = Vec::with_capacity(rows.len());
    while let Some(row) = found.next()? {
        let exact = query.exact(&vector_values(row.get_ref(1)?.as_blob()?));
        hits.push(Hit { id: MemoryId(Uuid::from_bytes(row.get(0)?)), score: f64::from(exact.max(0.0)) });
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    Ok(hits)
}

fn allowed_rows(connection: &Connection, clause: &Clause, model: i64) -> rusqlite::Result<Vec<i64>> {
    let sql =
        format!("SELECT m.row FROM memories m JOIN vectors v ON v.memory = m.row WHERE v.model = ? AND {}", clause.sql);
    let mut values = vec![Value::Integer(model)];
    values.extend(clause.values.iter().cloned());
    connection.prepare_cached(&sql)?.query_map(params_from_iter(values), |row| row.get(0))?.collect()
}

#[cfg(test)]
mod tests {
    use loci_testkit::samples::{add, memory, user, vector, visible};
    use loci_types::{Scope, Space};

    use super::super::schema;
    use super::*;
    use crate::sql::apply::Desk;
    use crate::text::Analyser;

    /// A reader that is behind loads a scope while the index is ahead; what came in between is not lost.
    #[test]
    fn a_scope_loaded_from_an_old_snapshot_catches_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loci.db");
        let writer = schema::open(&path, schema::SPACE).unwrap();
        let desk = Desk {
            connection: &sql::Connection::Sqlite(&writer),
            path: &path,
            space: &Space::Shared,
            analyser: &Analyser::default(),
        };
        let (anna, ben) = (user("anna"), user("ben"));
        let index = Index::default();
        let near = |reader: &Connection, scope: &Scope| {
            let seen = visible(std::slice::from_ref(scope));
            let clause = Clause::visible(&sql::Connection::Sqlite(reader), &Space::Shared, &seen).unwrap().unwrap();
            index.search(reader, &clause, &vector("lantern"), 9).unwrap().len()
        };
        desk.apply(&add(memory(1, &anna, "lantern"))).unwrap();
        let behind = schema::open_reader(&path).unwrap();
        behind.execute_batch("BEGIN; SELECT * FROM memories").unwrap();
        desk.apply(&add(memory(2, &anna, "lantern too"))).unwrap();
        desk.apply(&add(memory(3, &ben, "lantern"))).unwrap();
        let ahead = schema::open_reader(&path).unwrap();
        assert_eq!(near(&ahead, &ben), 1);
        assert_eq!(near(&behind, &anna), 1);
        assert_eq!(near(&ahead, &anna), 2);
    }
}
