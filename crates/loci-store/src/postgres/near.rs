//! Nearest-neighbour search in PostgreSQL.
//!
//! An HNSW index returns its nearest rows before the filter is applied: under a filter that matches one row in a
//! hundred, hardly any are left. So small scopes are compared vector by vector, which is exact; only where that would
//! be slow the index is used, with `hnsw.iterative_scan` to continue until enough rows were found. In both cases the
//! vectors only propose rows and the clause decides.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use loci_types::Vector;

use super::PostgresOptions;
use super::distance::{Distance, look_further};
use crate::Hit;
use crate::sql::clause::{self, Clause};
use crate::sql::{self, Connection, Value, params};

/// Minimum number of candidates beyond the limit.
const SPARE: usize = 30;

/// The nearest memories that match the clause, best first, scored by `max(0, cosine)`.
pub(super) fn search(
    connection: &dyn Connection,
    place: &Path,
    clause: &Clause,
    vector: &Vector,
    limit: usize,
    options: &PostgresOptions,
    sizes: &Sizes,
) -> sql::SqlResult<Vec<Hit>> {
    let size = vector.values.len();
    let near = NearQuery { connection, clause, vector, distance: Distance { half: options.halfvec, size } };
    let want = limit.saturating_add((limit / 4).max(SPARE));
    let graph = options.dimensions.contains(&size)
        && sizes.is_large(place, clause, vector, || Ok(near.count(options.exact_up_to)? > options.exact_up_to))?;
    let (order, indexed) = if graph {
        look_further(connection, want)?;
        // The index is partial, for vectors of this size, and is used only if the query contains its condition.
        (near.distance.by_graph("v.vector"), format!("vector_dims(v.vector) = {size} AND "))
    } else {
        (near.distance.one_by_one("v.vector"), String::new())
    };
    let (mut hits, proposed) = near.propose(&order, &indexed, want, limit)?;
    if hits.len() < limit && (graph || proposed == want) {
        // Most of the nearest do not match, or the index stopped early: all matching vectors are compared one by one.
        hits = near.among_matching(limit)?;
    }
    hits.truncate(limit);
    Ok(hits)
}

/// How long the size of a scope is cached. An outdated size does not change results, but may make a search slow.
const CACHED_FOR: Duration = Duration::from_secs(60);

/// Maximum number of cached sizes.
const MOST_SIZES: usize = 10_000;

/// A cache of whether scopes have more vectors than are compared one by one.
#[derive(Default)]
pub(super) struct Sizes(Mutex<HashMap<u64, (bool, Instant)>>);

impl Sizes {
    fn is_large(
        &self,
        place: &Path,
        clause: &Clause,
        vector: &Vector,
        count: impl FnOnce() -> sql::SqlResult<bool>,
    ) -> sql::SqlResult<bool> {
        let mut hasher = DefaultHasher::new();
        (place, &clause.keys, &vector.model).hash(&mut hasher);
        let key = hasher.finish();
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        if let Some((large, _)) = known.filter(|(_, counted)| counted.elapsed() < CACHED_FOR) {
            return Ok(large);
        }
        let large = count()?;
        let mut sizes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sizes.len() >= MOST_SIZES {
            sizes.clear();
        }
        sizes.insert(key, (large, Instant::now()));
        Ok(large)
    }
}

/// The condition that a vector has a direction: the distance to a zero vector is not a number.
const HAS_DIRECTION: &str = "n.distance != 'NaN'";

struct NearQuery<'a> {
    connection: &'a dyn Connection,
    clause: &'a Clause,
    vector: &'a Vector,
    distance: Distance,
}

impl NearQuery<'_> {
    fn values(&self) -> Value {
        Value::Floats(self.vector.values.clone())
    }

    /// The condition that a vector has the model and the size of the query, with its values.
    fn of_model(&self) -> (&'static str, Vec<Value>) {
        let condition = "v.model = (SELECT o.model FROM models o WHERE o.name = ? AND o.dimensions = ?)";
        (condition, params![&self.vector.model, self.vector.values.len()])
    }

    /// The same, limited to the clause's scopes.
    fn of_scopes(&self) -> (String, Vec<Value>) {
        let (model, mut values) = self.of_model();
        let (scopes, of_scopes) = self.clause.scope_condition("v.scope");
        values.extend(of_scopes);
        (format!("{model} AND {scopes}"), values)
    }

    /// Number of vectors in the scopes, at most `most` + 1.
    fn count(&self, most: usize) -> sql::SqlResult<usize> {
        let (condition, mut values) = self.of_scopes();
        let sql = format!("SELECT count(*) FROM (SELECT 1 FROM vectors v WHERE {condition} LIMIT ?) v");
        values.push(clause::limit(most.saturating_add(1)));
        self.connection.query_row(&sql, values, |row| row.get(0))
    }

    /// The nearest vectors of the scopes that match the clause, and the number of vectors examined.
    fn propose(&self, order: &str, indexed: &str, want: usize, limit: usize) -> sql::SqlResult<(Vec<Hit>, usize)> {
        let (condition, values) = self.of_scopes();
        let sql = format!(
            "WITH near AS MATERIALIZED (SELECT v.memory, {order} AS distance FROM vectors v \
             WHERE {indexed}{condition} ORDER BY {order} LIMIT ?) \
             SELECT m.id, n.distance, (SELECT count(*) FROM near) FROM near n JOIN memories m ON m.row = n.memory \
             WHERE {HAS_DIRECTION} AND {} ORDER BY n.distance, m.id LIMIT ?",
            self.clause.sql
        );
        let mut all = vec![self.values()];
        all.extend(values);
        all.extend([self.values(), clause::limit(want)]);
        all.extend(self.clause.values.iter().cloned());
        all.push(clause::limit(limit));
        let mut proposed = 0;
        let hits = self.connection.query_map(&sql, all, |row| {
            proposed = row.get(2)?;
            hit(row)
        })?;
        // The count comes with the rows. Without any it is unknown, and the caller searches again.
        let proposed = if hits.is_empty() { want } else { proposed };
        Ok((hits, proposed))
    }

    /// The nearest among all memories that match the clause.
    fn among_matching(&self, limit: usize) -> sql::SqlResult<Vec<Hit>> {
        let order = self.distance.one_by_one("v.vector");
        let (model, of_model) = self.of_model();
        let sql = format!(
            "SELECT n.id, n.distance FROM (SELECT m.id, {order} AS distance FROM memories m \
             JOIN vectors v ON v.memory = m.row WHERE {model} AND {}) n \
             WHERE {HAS_DIRECTION} ORDER BY n.distance, n.id LIMIT ?",
            self.clause.sql
        );
        let mut values = vec![self.values()];
        values.extend(of_model);
        values.extend(self.clause.values.iter().cloned());
        values.push(clause::limit(limit));
        self.connection.query_map(&sql, values, hit)
    }
}

fn hit(row: &dyn sql::Row) -> sql::SqlResult<Hit> {
    let distance: f64 = row.get(1)?;
    Ok(Hit { id: row.get(0)?, score: (1.0 - distance).max(0.0) })
}
