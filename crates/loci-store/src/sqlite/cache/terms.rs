//! Full-text search over the cached terms.
//!
//! The cached terms propose rows with their BM25 scores, and the best are checked by the clause. A scope whose terms do
//! not fit within the limit of the cache is read twice for each query: once for its statistics, once for its scores.

use std::collections::HashMap;

use loci_types::MemoryId;
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use uuid::Uuid;

use super::scope::{CachePart, ScopeSize};
use super::tail::Changed;
use super::{ROWS_OF_SCOPE, ScopeCache, Scopes, map_bytes, scopes_of};
use crate::sql::Value;
use crate::sql::clause::Clause;
use crate::sql::words::asked_for;
use crate::terms::{CorpusStats, TermScan, decode, fingerprint};
use crate::{Frequencies, Hit};

/// Minimum number of matches checked beyond the limit, because some may not match the clause.
const SPARE: usize = 6;

/// Number of texts that are read at a time from an uncached scope.
const PAGE: usize = 4_096;

/// The terms of one scope.
#[derive(Default)]
pub(super) struct ScopeTerms {
    texts: TermScan,
    /// By question, the rows that contain its terms because they answer it. When the question changes so do their
    /// terms, but the ledger names only the question.
    answers: HashMap<i64, Vec<i64>>,
    /// Bytes of the lists in `answers`.
    answer_bytes: usize,
}

impl ScopeTerms {
    /// Estimated bytes of a scope with this number of rows and bytes of terms.
    pub(super) fn estimate(rows: usize, term_bytes: usize) -> usize {
        // Key, end and slot of each text.
        rows * 24 + term_bytes
    }

    pub(super) fn load(connection: &Connection, scope: i64, size: ScopeSize) -> rusqlite::Result<Self> {
        let texts = TermScan::with_capacity(size.rows, size.term_bytes / 4);
        let mut terms = Self { texts, ..Self::default() };
        for_each_text(connection, scope, |row, answers, bytes| terms.put(row, answers, bytes))?;
        Ok(terms)
    }

    /// Reads the terms of changed rows again, and of the rows that answer or follow them.
    pub(super) fn refresh(&mut self, connection: &Connection, scope: i64, changed: &[Changed]) -> rusqlite::Result<()> {
        // A following row may be in another scope, hence the condition on the scope.
        let mut read = connection.prepare_cached(
            "SELECT w.answers, w.terms FROM memories m JOIN words w ON w.memory = m.row WHERE m.row = ?1 AND m.scope = ?2",
        )?;
        let mut after =
            connection.prepare_cached("SELECT target FROM edges WHERE source = ?1 AND relation = 'temporal'")?;
        for Changed { row, .. } in changed {
            let mut rows = vec![*row];
            let answers = self.answers.remove(row).unwrap_or_default();
            self.answer_bytes -= answers.capacity() * size_of::<i64>();
            rows.extend(answers);
            let followers = after.query_map([*row], |found| found.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
            rows.extend(followers);
            for row in rows {
                match read
                    .query_row([row, scope], |found| Ok((found.get(0)?, found.get::<_, Vec<u8>>(1)?)))
                    .optional()?
                {
                    Some((answers, bytes)) => self.put(row, answers, &bytes),
                    None => self.texts.remove(row),
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, row: i64, answers: Option<i64>, bytes: &[u8]) {
        self.texts.insert(row, decode(bytes));
        let Some(question) = answers else { return };
        let known = self.answers.entry(question).or_default();
        if !known.contains(&row) {
            let before = known.capacity();
            known.push(row);
            self.answer_bytes += (known.capacity() - before) * size_of::<i64>();
        }
    }

    /// Allocated bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.texts.bytes()
            + map_bytes::<(i64, Vec<i64>)>(self.answers.capacity())
            + self.answer_bytes
    }

    /// Bytes of the lists in `answers`, counted one by one.
    #[cfg(test)]
    pub(super) fn walked_bytes(&self) -> (usize, usize) {
        (self.answer_bytes, self.answers.values().map(|rows| rows.capacity() * size_of::<i64>()).sum())
    }
}

impl ScopeCache {
    /// The best matches, best first, scored by BM25.
    pub(in super::super) fn lexical(
        &self,
        connection: &Connection,
        clause: &Clause,
        terms: &[String],
        limit: usize,
    ) -> rusqlite::Result<Vec<Hit>> {
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let asked: Vec<u32> = asked_for(terms).into_iter().map(|term| fingerprint(term)).collect();
        let mut found = self.scores(connection, clause, &asked)?;
        // Usually nearly all match the clause and only the best are looked up; otherwise more are tried.
        let mut want = limit.saturating_add((limit / 4).max(SPARE));
        loop {
            let hits = passing(connection, clause, best(&mut found, want))?;
            if hits.len() >= limit || want >= found.len() {
                return Ok(hits.into_iter().take(limit).collect());
            }
            want = want.saturating_mul(4);
        }
    }

    /// The matching rows with their scores, in no order.
    pub(super) fn scores(
        &self,
        connection: &Connection,
        clause: &Clause,
        asked: &[u32],
    ) -> rusqlite::Result<Vec<(i64, f64)>> {
        self.with(connection, &scopes_of(connection, clause)?, CachePart::Terms, |scopes| {
            let cached = texts(scopes).map(|texts| (texts.len(), texts.length()));
            let (mut documents, mut length) = cached.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let mut frequencies = Vec::with_capacity(scopes.uncached.len());
            for scope in &scopes.uncached {
                let mut all = vec![0; asked.len()];
                for_each_page(connection, *scope, |page| {
                    documents += page.len();
                    length += page.length();
                    add(&mut all, &page.find(asked).document_frequency);
                })?;
                frequencies.push(all);
            }
            let stats = CorpusStats::of(documents, length);
            let mut found: Vec<_> = texts(scopes).flat_map(|texts| texts.find(asked).scores(stats)).collect();
            for (scope, frequency) in scopes.uncached.iter().zip(frequencies) {
                for_each_page(connection, *scope, |page| {
                    let mut matches = page.find(asked);
                    matches.document_frequency.clone_from(&frequency);
                    found.extend(matches.scores(stats));
                })?;
            }
            Ok(found)
        })
    }

    /// Number of texts in the scopes of the clause, and number of those that contain each term.
    pub(in super::super) fn frequencies(
        &self,
        connection: &Connection,
        clause: &Clause,
        terms: &[String],
    ) -> rusqlite::Result<Frequencies> {
        let asked: Vec<u32> = terms.iter().map(|term| fingerprint(term)).collect();
        self.with(connection, &scopes_of(connection, clause)?, CachePart::Terms, |scopes| {
            let mut all = Frequencies { memories: 0, of: vec![0; terms.len()] };
            let mut count = |texts: &TermScan| {
                all.memories += texts.len() as u64;
                add(&mut all.of, &texts.find(&asked).document_frequency);
            };
            texts(scopes).for_each(&mut count);
            for scope in &scopes.uncached {
                for_each_page(connection, *scope, &mut count)?;
            }
            Ok(all)
        })
    }
}

fn texts<'s>(scopes: &'s Scopes<'s>) -> impl Iterator<Item = &'s TermScan> {
    scopes.cached.iter().filter_map(|(_, cached)| cached.terms.as_ref()).map(|terms| &terms.texts)
}

fn add(sums: &mut [u64], more: &[u64]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// Reads the terms of a scope in the order of its rows.
fn for_each_text(
    connection: &Connection,
    scope: i64,
    mut work: impl FnMut(i64, Option<i64>, &[u8]),
) -> rusqlite::Result<()> {
    let sql =
        format!("SELECT w.memory, w.answers, w.terms FROM {ROWS_OF_SCOPE} CROSS JOIN words w ON w.memory = r.row");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([scope])?;
    while let Some(row) = rows.next()? {
        work(row.get(0)?, row.get(1)?, row.get_ref(2)?.as_blob()?);
    }
    Ok(())
}

/// Reads the terms of a scope page by page.
fn for_each_page(connection: &Connection, scope: i64, mut work: impl FnMut(&TermScan)) -> rusqlite::Result<()> {
    let mut page = TermScan::default();
    for_each_text(connection, scope, |row, _, bytes| {
        page.insert(row, decode(bytes));
        if page.len() == PAGE {
            work(&page);
            page = TermScan::default();
        }
    })?;
    work(&page);
    Ok(())
}

/// The best `want` of these, best first.
fn best(found: &mut [(i64, f64)], want: usize) -> &[(i64, f64)] {
    let order = |a: &(i64, f64), b: &(i64, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let want = want.min(found.len());
    if want < found.len() {
        found.select_nth_unstable_by(want, order);
    }
    found[..want].sort_unstable_by(order);
    &found[..want]
}

/// The rows that match the clause, in their order.
fn passing(connection: &Connection, clause: &Clause, found: &[(i64, f64)]) -> rusqlite::Result<Vec<Hit>> {
    let sql =
        format!("SELECT m.row, m.id FROM json_each(?) j CROSS JOIN memories m ON m.row = j.value WHERE {}", clause.sql);
    let mut values = vec![Value::Integers(found.iter().map(|(row, _)| *row).collect())];
    values.extend(clause.values.iter().cloned());
    let seen: HashMap<i64, [u8; 16]> = connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let hit =
        |(row, score): &(i64, f64)| seen.get(row).map(|id| Hit { id: MemoryId(Uuid::from_bytes(*id)), score: *score });
    Ok(found.iter().filter_map(hit).collect())
}
