//! Which memories are nearest to a vector?
//!
//! A graph index gives its nearest and only then looks who may be seen: under a filter that lets one in
//! a hundred through, hardly any are left. So a scope that is small is compared vector by vector, which
//! is exact; only where that would be slow the graph is asked, and goes on looking until enough were
//! found (`hnsw.iterative_scan`). In both cases the index only proposes; the clause decides.

use loci_types::{MemoryId, Vector};
use uuid::Uuid;

use super::PostgresOptions;
use super::distance::{Distance, look_further};
use crate::Hit;
use crate::sql::clause::{self, Clause};
use crate::sql::{self, Connection, Value, params, read};

/// So many candidates beyond those wanted are looked at, at least.
const SPARE: usize = 30;

/// The nearest within the clause, best first, scored by `max(0, cosine)`.
pub(super) fn search(
    connection: &dyn Connection,
    clause: &Clause,
    vector: &Vector,
    limit: usize,
    options: &PostgresOptions,
) -> sql::Result<Vec<Hit>> {
    let Some(model) = read::model_of(connection, vector)? else { return Ok(Vec::new()) };
    let size = vector.values.len();
    let near = Near { connection, clause, vector, model, distance: Distance { half: options.halfvec, size } };
    let want = limit.saturating_add((limit / 4).max(SPARE));
    let graph = options.dimensions.contains(&size) && near.count(options.exact_up_to)? > options.exact_up_to;
    let order = if graph {
        look_further(connection, want)?;
        near.distance.by_graph("v.vector")
    } else {
        near.distance.one_by_one("v.vector")
    };
    let (mut hits, proposed) = near.propose(&order, want, limit)?;
    if hits.len() < limit && (graph || proposed == want) {
        // Most of the nearest are not meant, or the graph gave up: those that are meant are compared one by one.
        hits = near.among_the_meant(limit)?;
    }
    hits.truncate(limit);
    Ok(hits)
}

/// A vector of nothing but zeros points nowhere and is nobody's neighbour; its distance is no number.
const SOMEWHERE: &str = "n.distance != 'NaN'";

struct Near<'a> {
    connection: &'a Connection<'a>,
    clause: &'a Clause,
    vector: &'a Vector,
    model: i64,
    distance: Distance,
}

impl Near<'_> {
    fn values(&self) -> Value {
        Value::Floats(self.vector.values.clone())
    }

    /// The vectors of the clause's scopes, and the values that this condition needs.
    fn of_scopes(&self) -> (String, Vec<Value>) {
        let mut values = params![self.model];
        let mut condition = "v.model = ?".to_owned();
        if let Some(scopes) = &self.clause.scopes {
            condition.push_str(" AND v.scope = ANY(?::bigint[])");
            values.push(Value::Integers(scopes.clone()));
        }
        (condition, values)
    }

    /// How many vectors lie in the scopes, counted to one past `most`.
    fn count(&self, most: usize) -> sql::Result<usize> {
        let (condition, mut values) = self.of_scopes();
        let sql = format!("SELECT count(*) FROM (SELECT 1 FROM vectors v WHERE {condition} LIMIT ?) v");
        values.push(clause::limit(most.saturating_add(1)));
        self.connection.query_row(&sql, values, |row| row.get(0))
    }

    /// The nearest of the scopes that the clause lets through, and how many were looked at.
    fn propose(&self, order: &str, want: usize, limit: usize) -> sql::Result<(Vec<Hit>, usize)> {
        let (condition, values) = self.of_scopes();
        let size = self.vector.values.len();
        let sql = format!(
            "WITH near AS MATERIALIZED (SELECT v.memory, {order} AS distance FROM vectors v \
             WHERE vector_dims(v.vector) = {size} AND {condition} ORDER BY {order} LIMIT ?) \
             SELECT m.id, n.distance, (SELECT count(*) FROM near) FROM near n JOIN memories m ON m.row = n.memory \
             WHERE {SOMEWHERE} AND {} ORDER BY n.distance, m.id LIMIT ?",
            self.clause.sql
        );
        let mut all = vec![self.values()];
        all.extend(values);
        all.extend([self.values(), clause::limit(want)]);
        all.extend(self.clause.values.iter().cloned());
        all.push(clause::limit(limit));
        let mut proposed = 0;
        let hits = self
            .connection
            .prepare_cached(&sql)?
            .query_map(all, |row| {
                proposed = row.get(2)?;
                hit(row)
            })?
            .collect::<sql::Result<Vec<_>>>()?;
        // Where none passed nothing tells how many there were; it is looked at again.
        let proposed = if hits.is_empty() { want } else { proposed };
        Ok((hits, proposed))
    }

    /// The nearest of exactly those that the clause lets through.
    fn among_the_meant(&self, limit: usize) -> sql::Result<Vec<Hit>> {
        let order = self.distance.one_by_one("v.vector");
        let sql = format!(
            "SELECT n.id, n.distance FROM (SELECT m.id, {order} AS distance FROM memories m \
             JOIN vectors v ON v.memory = m.row WHERE v.model = ? AND {}) n \
             WHERE {SOMEWHERE} ORDER BY n.distance, n.id LIMIT ?",
            self.clause.sql
        );
        let mut values = vec![self.values(), Value::Integer(self.model)];
        values.extend(self.clause.values.iter().cloned());
        values.push(clause::limit(limit));
        self.connection.prepare_cached(&sql)?.query_map(values, hit)?.collect()
    }
}

fn hit(row: &dyn sql::Row) -> sql::Result<Hit> {
    let distance: f64 = row.get(1)?;
    Ok(Hit { id: MemoryId(Uuid::from_bytes(row.get(0)?)), score: (1.0 - distance).max(0.0) })
}
