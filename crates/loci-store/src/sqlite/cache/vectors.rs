//! Nearest-neighbour search over the cached vectors.
//!
//! The vectors of each model are cached as codes and sketches, or as sketches alone. They propose rows, which are
//! checked by the clause and scored by their exact vectors. If too few match, the search is repeated among exactly the
//! rows that match. A scope whose sketches do not fit within the limit of the cache is read row by row.

use loci_types::{MemoryId, Vector};
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use uuid::Uuid;

use super::scope::CachePart;
use super::tail::Changed;
use super::{ROWS_OF_SCOPE, ScopeCache, scopes_of};
use crate::Hit;
use crate::sql::clause::Clause;
use crate::sql::{self, Value, read, vector_values};
use crate::vectors::{Arrays, Query, nearest_of};

/// Minimum number of candidates scored exactly beyond the limit; one-byte codes seldom misplace a vector by more.
const SPARE: usize = 30;

/// Number of hits beyond the limit that are collected before the worst are dropped.
const COLLECTED: usize = 4_096;

/// Maximum number of vectors from which the mean of a scope is computed. At most one in twenty is used, so that
/// sampling costs little.
const SAMPLE: usize = 512;

/// The dimensions of a model's vectors.
pub(super) fn dimensions(connection: &Connection, model: i64) -> rusqlite::Result<usize> {
    connection.prepare_cached("SELECT dimensions FROM models WHERE model = ?1")?.query_row([model], |row| row.get(0))
}

/// Loads the vectors of a scope.
pub(super) fn load(
    connection: &Connection,
    scope: i64,
    model: i64,
    rows: usize,
    codes: bool,
) -> rusqlite::Result<Arrays> {
    let sample = sample(connection, scope, model, SAMPLE.min(rows / 20))?;
    let mut arrays = Arrays::expecting(dimensions(connection, model)?, rows).centred(sample.iter().map(Vec::as_slice));
    if !codes {
        arrays.drop_codes();
    }
    let mut statement = connection.prepare_cached(&format!(
        "SELECT v.memory, v.vector FROM {ROWS_OF_SCOPE} CROSS JOIN vectors v ON v.memory = r.row WHERE v.model = ?2"
    ))?;
    let mut rows = statement.query([scope, model])?;
    while let Some(row) = rows.next()? {
        arrays.insert(row.get(0)?, &vector_values(row.get_ref(1)?.as_blob()?));
    }
    Ok(arrays)
}

/// About `count` vectors of a scope. Rows are chosen pseudo-randomly, because those of a scope may be at regular
/// intervals.
fn sample(connection: &Connection, scope: i64, model: i64, count: usize) -> rusqlite::Result<Vec<Vec<f32>>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let rows: Vec<i64> = connection
        .prepare_cached("SELECT row FROM memories INDEXED BY memories_by_scope WHERE scope = ?1")?
        .query_map([scope], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut read = connection.prepare_cached("SELECT vector FROM vectors WHERE memory = ?1 AND model = ?2")?;
    let (mut sample, mut random) = (Vec::with_capacity(count), 0x9E37_79B9_7F4A_7C15_u64);
    for _ in 0..count {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let Some(row) = rows.get((random >> 33) as usize % rows.len().max(1)) else { break };
        let bytes = read.query_row([*row, model], |found| found.get::<_, Vec<u8>>(0)).optional()?;
        sample.extend(bytes.map(|bytes| vector_values(&bytes)));
    }
    Ok(sample)
}

/// Reads the vectors of changed rows again.
pub(super) fn refresh(
    arrays: &mut Arrays,
    connection: &Connection,
    model: i64,
    changed: &[Changed],
) -> rusqlite::Result<()> {
    let mut read = connection.prepare_cached("SELECT vector FROM vectors WHERE memory = ?1 AND model = ?2")?;
    for Changed { row, .. } in changed {
        match read.query_row([*row, model], |found| found.get::<_, Vec<u8>>(0)).optional()? {
            Some(bytes) => arrays.insert(*row, &vector_values(&bytes)),
            None => {
                arrays.remove(*row);
            }
        }
    }
    Ok(())
}

/// The rows that the cache proposes.
struct Proposal {
    rows: Vec<i64>,
    /// Whether there are more rows than were proposed.
    more: bool,
    /// Scopes that are not cached.
    uncached: Vec<i64>,
}

impl ScopeCache {
    /// The nearest memories, best first, scored by `max(0, cosine)`.
    pub(in super::super) fn nearest(
        &self,
        connection: &Connection,
        clause: &Clause,
        vector: &Vector,
        limit: usize,
    ) -> sql::SqlResult<Vec<Hit>> {
        let Some(model) = read::model_of(connection, vector)? else { return Ok(Vec::new()) };
        let scopes = scopes_of(connection, clause)?;
        let query = Query::new(&vector.values);
        let search = VectorSearch { connection, clause, model, query: &query, limit };
        let Proposal { rows, more, uncached } = self.propose(&search, &scopes, None)?;
        let mut hits = search.score(RowSource::Rows(rows))?;
        if hits.len() < limit && more {
            let allowed = search.allowed_rows()?;
            hits = search.score(RowSource::Rows(self.propose(&search, &scopes, Some(&allowed))?.rows))?;
        }
        for scope in uncached {
            hits.extend(search.score(RowSource::Scope(scope))?);
        }
        keep_best(&mut hits, limit);
        Ok(hits)
    }

    /// Candidates from the arrays, among all rows or among these.
    fn propose(&self, search: &VectorSearch<'_>, scopes: &[i64], among: Option<&[i64]>) -> rusqlite::Result<Proposal> {
        let want = search.limit.saturating_add((search.limit / 4).max(SPARE));
        self.with(search.connection, scopes, CachePart::Vectors(search.model), |scopes| {
            let arrays: Vec<&Arrays> =
                scopes.cached.iter().filter_map(|(_, cached)| cached.vectors.get(&search.model)).collect();
            let found = nearest_of(&arrays, search.query, want, among);
            let mut rows = found.undecided;
            rows.extend(found.ranked.iter().map(|candidate| candidate.key));
            let more = arrays.iter().map(|arrays| arrays.len()).sum::<usize>() > rows.len();
            Ok(Proposal { rows, more, uncached: scopes.uncached.clone() })
        })
    }
}

/// A search for the nearest vectors.
struct VectorSearch<'s> {
    connection: &'s Connection,
    clause: &'s Clause,
    model: i64,
    query: &'s Query,
    limit: usize,
}

/// The rows to be scored: given ones, or all of a scope.
enum RowSource {
    Rows(Vec<i64>),
    Scope(i64),
}

impl VectorSearch<'_> {
    /// Scores the rows that match the clause by their exact vectors. Returns the best `limit`, best first.
    fn score(&self, source: RowSource) -> rusqlite::Result<Vec<Hit>> {
        let (from, value) = match source {
            RowSource::Rows(rows) => ("(SELECT value AS row FROM json_each(?1)) r", Value::Integers(rows)),
            RowSource::Scope(scope) => (ROWS_OF_SCOPE, Value::Integer(scope)),
        };
        // CROSS JOIN fixes the join order; otherwise the planner may scan the whole scope.
        let sql = format!(
            "SELECT m.id, v.vector FROM {from} CROSS JOIN memories m ON m.row = r.row \
             CROSS JOIN vectors v ON v.memory = m.row WHERE v.model = ? AND {}",
            self.clause.sql
        );
        let mut values = vec![value, Value::Integer(self.model)];
        values.extend(self.clause.values.iter().cloned());
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut found = statement.query(params_from_iter(values))?;
        let mut hits = Vec::new();
        while let Some(row) = found.next()? {
            let exact = self.query.exact(&vector_values(row.get_ref(1)?.as_blob()?));
            hits.push(Hit { id: MemoryId(Uuid::from_bytes(row.get(0)?)), score: f64::from(exact.max(0.0)) });
            if hits.len() >= self.limit.saturating_add(COLLECTED) {
                keep_best(&mut hits, self.limit);
            }
        }
        keep_best(&mut hits, self.limit);
        Ok(hits)
    }

    /// The rows with a vector of the model that match the clause.
    fn allowed_rows(&self) -> rusqlite::Result<Vec<i64>> {
        let sql = format!(
            "SELECT m.row FROM memories m JOIN vectors v ON v.memory = m.row WHERE v.model = ? AND {}",
            self.clause.sql
        );
        let mut values = vec![Value::Integer(self.model)];
        values.extend(self.clause.values.iter().cloned());
        self.connection.prepare_cached(&sql)?.query_map(params_from_iter(values), |row| row.get(0))?.collect()
    }
}

/// Keeps the best hits, best first; ties are ordered by id.
fn keep_best(hits: &mut Vec<Hit>, limit: usize) {
    hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    hits.truncate(limit);
}
