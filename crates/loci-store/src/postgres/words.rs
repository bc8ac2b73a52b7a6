//! Full-text search in PostgreSQL.
//!
//! PostgreSQL's text search has neither Loci's analyser nor BM25, so the table `words` maps each term of each scope to
//! its memories, with everything that BM25 needs. A query reads only the rows of its terms in its scopes.

use std::collections::BTreeMap;

use crate::sql::clause::{self, Clause};
use crate::sql::words::asked_for;
use crate::sql::{self, Connection, Value, params};
use crate::{Frequencies, Hit};

/// Maximum number of memories that are counted, because counting reads each row. In larger scopes common terms weigh
/// too little.
const MOST_COUNTED: u64 = 20_000;

/// Deletes the terms of a memory.
pub(crate) fn clear_words(connection: &dyn Connection, row: i64) -> sql::SqlResult<()> {
    connection.run_later("DELETE FROM documents WHERE memory = ?1", params![row])
}

/// Inserts the terms of a memory that has none.
pub(crate) fn put_words(connection: &dyn Connection, row: i64, scope: i64, terms: &[String]) -> sql::SqlResult<()> {
    let mut counts: BTreeMap<&String, i64> = BTreeMap::new();
    terms.iter().for_each(|term| *counts.entry(term).or_default() += 1);
    let (names, times): (Vec<String>, Vec<i64>) = counts.into_iter().map(|(term, times)| (term.clone(), times)).unzip();
    connection.run_later(
        "WITH document AS (INSERT INTO documents (memory, scope, length, terms) VALUES (?1, ?2, ?3, ?4::text[])) \
         INSERT INTO words (scope, term, memory, times, length) \
         SELECT ?2, w.term, ?1, w.times, ?3 FROM unnest(?4::text[], ?5::bigint[]) w(term, times)",
        params![row, scope, terms.len(), Value::Texts(names), Value::Integers(times)],
    )
}

/// The condition on the searched scopes, with its values.
fn within(clause: &Clause) -> (String, Vec<Value>) {
    match clause.is_whole() {
        true => ("scope IN (SELECT scope FROM scopes)".to_owned(), Vec::new()),
        false => clause.scope_condition("scope"),
    }
}

/// The best matches, best first. Scores are BM25 with k1 = 1.2 and b = 0.75; document frequencies are counted per
/// scope.
pub(super) fn search(
    connection: &dyn Connection,
    clause: &Clause,
    terms: &[String],
    limit: usize,
) -> sql::SqlResult<Vec<Hit>> {
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let terms: Vec<String> = asked_for(terms).into_iter().cloned().collect();
    let (scopes, bound) = within(clause);
    let sql = format!(
        "WITH there AS (SELECT count(*)::float8 AS documents, greatest(coalesce(avg(length), 1), 1)::float8 AS usual \
         FROM (SELECT length FROM documents WHERE {scopes} LIMIT {MOST_COUNTED}) d), \
         found AS MATERIALIZED (SELECT memory, times::float8 AS times, length::float8 AS length, \
         count(*) OVER (PARTITION BY scope, term)::float8 AS bearers FROM words WHERE {scopes} AND term = ANY(?::text[])), \
         scored AS (SELECT memory, sum(greatest(ln((greatest(documents, bearers) - bearers + 0.5) / (bearers + 0.5)), 1e-6) \
         * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / usual))) AS score FROM found, there GROUP BY memory) \
         SELECT m.id, s.score FROM scored s JOIN memories m ON m.row = s.memory WHERE {} \
         ORDER BY s.score DESC, m.row LIMIT ?",
        clause.sql
    );
    let mut values: Vec<Value> = bound.iter().chain(bound.iter()).cloned().collect();
    values.push(Value::Texts(terms));
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    connection.query_map(&sql, values, |row| Ok(Hit { id: row.get(0)?, score: row.get(1)? }))
}

/// Document frequencies of the terms in the scopes of the clause.
pub(super) fn frequencies(
    connection: &dyn Connection,
    clause: &Clause,
    terms: &[String],
) -> sql::SqlResult<Frequencies> {
    let (scopes, bound) = within(clause);
    // One statement for both: the row without a term holds the number of memories.
    let sql = format!(
        "SELECT NULL, count(*) FROM (SELECT 1 FROM memories WHERE {scopes} LIMIT {MOST_COUNTED}) m \
         UNION ALL SELECT term, count(*) FROM words WHERE {scopes} AND term = ANY(?::text[]) GROUP BY term"
    );
    let mut values: Vec<Value> = bound.iter().chain(&bound).cloned().collect();
    values.push(Value::Texts(terms.to_vec()));
    let mut counts: BTreeMap<Option<String>, u64> =
        connection.query_map(&sql, values, |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect();
    let memories = counts.remove(&None).unwrap_or(0);
    let of: Vec<u64> = terms.iter().map(|term| counts.get(&Some(term.clone())).copied().unwrap_or(0)).collect();
    let most = of.iter().copied().max().unwrap_or(0);
    Ok(Frequencies { memories: memories.max(most), of })
}
