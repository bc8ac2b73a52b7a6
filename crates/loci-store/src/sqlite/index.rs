//! Which memories are nearest to a vector?
//!
//! Each scope that has been asked has its vectors in memory, per model, and keeps [`Abreast`] of the ledger. The arrays
//! only propose: rows are checked by the one clause and rescored by their exact vectors, and when too few pass, the
//! search is repeated among exactly those that may.

use loci_types::{MemoryId, Vector};
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use uuid::Uuid;

use super::abreast::{Abreast, Changed, Held, Part};
use crate::Hit;
use crate::sql::clause::Clause;
use crate::sql::{self, Value, read, vector_values};
use crate::vectors::{Arrays, Query, nearest_of};

/// So many candidates beyond those wanted are rescored exactly, at least; codes of a byte each
/// seldom misplace one by more.
const SPARE: usize = 30;

/// The vectors of a space that are in memory, by scope and model.
pub(super) type Index = Abreast<Arrays>;

impl Part for Arrays {
    type Key = (i64, i64);

    fn scope((scope, _): Self::Key) -> i64 {
        scope
    }

    fn load(connection: &Connection, (scope, model): Self::Key) -> rusqlite::Result<Self> {
        let dimensions = connection
            .prepare_cached("SELECT dimensions FROM models WHERE model = ?1")?
            .query_row([model], |row| row.get(0))?;
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

    fn refresh(&mut self, connection: &Connection, (_, model): Self::Key, changed: &[Changed]) -> rusqlite::Result<()> {
        let mut read = connection.prepare_cached("SELECT vector FROM vectors WHERE memory = ?1 AND model = ?2")?;
        for Changed { row, .. } in changed {
            match read.query_row([*row, model], |found| found.get::<_, Vec<u8>>(0)).optional()? {
                Some(bytes) => self.insert(*row, &vector_values(&bytes)),
                None => drop(self.remove(*row)),
            }
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        Arrays::bytes(self)
    }
}

impl Index {
    /// The nearest rows, best first, scored by `max(0, cosine)`.
    pub(super) fn search(
        &self,
        connection: &Connection,
        clause: &Clause,
        vector: &Vector,
        limit: usize,
    ) -> sql::Result<Vec<Hit>> {
        let Some(model) = read::model_of(&sql::Connection::Sqlite(connection), vector)? else { return Ok(Vec::new()) };
        let keys: Vec<(i64, i64)> = scopes_of(connection, clause)?.into_iter().map(|scope| (scope, model)).collect();
        let query = Query::new(&vector.values);
        let want = limit.saturating_add((limit / 4).max(SPARE));
        let propose = |among: Option<&[i64]>| -> rusqlite::Result<_> {
            // The lock is kept from the one to the other, or the budget might evict in between.
            let held = self.at(connection, &keys)?;
            Ok(propose_from(&held, &query, &keys, want, among))
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
}

/// Candidates from the arrays, and whether there are more than were asked for.
fn propose_from(
    held: &Held<Arrays>,
    query: &Query,
    keys: &[(i64, i64)],
    want: usize,
    among: Option<&[i64]>,
) -> (Vec<i64>, bool) {
    let arrays: Vec<&Arrays> = keys.iter().filter_map(|key| held.get(*key)).collect();
    let mut found = match among {
        Some(rows) => arrays.iter().flat_map(|arrays| arrays.nearest_among(query, want, rows)).collect(),
        None => nearest_of(&arrays, query, want),
    };
    found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    found.truncate(want);
    let more = arrays.iter().map(|arrays| arrays.len()).sum::<usize>() > found.len();
    (found.into_iter().map(|candidate| candidate.key).collect(), more)
}

/// The scopes that a clause is bound to; all of them if it sees the whole space.
pub(super) fn scopes_of(connection: &Connection, clause: &Clause) -> rusqlite::Result<Vec<i64>> {
    match &clause.scopes {
        Some(scopes) => Ok(scopes.clone()),
        None => connection.prepare_cached("SELECT scope FROM scopes")?.query_map([], |row| row.get(0))?.collect(),
    }
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
