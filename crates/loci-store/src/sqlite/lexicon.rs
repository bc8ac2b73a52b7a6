//! Which memories share words with a question?
//!
//! FTS5 holds the terms of our analyser, each with the number of its scope behind it
//! (`agenc_12`). A question bound to scopes asks for those very terms; one that sees the whole
//! space asks for the prefix (`agenc_`). So a search touches only the postings of its scopes.

use std::collections::HashMap;

use loci_types::MemoryId;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use uuid::Uuid;

use super::board::Board;
use crate::sql::clause::{self, Clause};
use crate::sql::words::{MOST_COUNTED, asked_for};
use crate::sql::{self, Value};
use crate::{Frequencies, Hit};

/// So many matches beyond those wanted are looked at, at least: some may not pass.
const SPARE: usize = 30;

/// Who wants more than this is given all that pass at once.
const MOST_PROPOSED: usize = 5_000;

/// Takes the words of a memory away.
pub(crate) fn clear_words(connection: &Connection, row: i64) -> sql::Result<()> {
    connection.prepare_cached("DELETE FROM lexicon WHERE rowid = ?1")?.execute([row])?;
    Ok(())
}

/// Writes the words of a memory that has none.
pub(crate) fn put_words(connection: &Connection, row: i64, scope: i64, terms: &[String]) -> sql::Result<()> {
    let mark = format!("_{scope} ");
    let mut document = String::with_capacity(16 * terms.len());
    for term in terms {
        document.push_str(term);
        document.push_str(&mark);
    }
    connection.prepare_cached("INSERT INTO lexicon (rowid, terms) VALUES (?1, ?2)")?.execute(params![row, document])?;
    Ok(())
}

/// The best matches, best first. Scores are BM25, higher is better.
pub(super) fn search(
    connection: &Connection,
    clause: &Clause,
    terms: &[String],
    limit: usize,
) -> rusqlite::Result<Vec<Hit>> {
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let terms = expression(&asked_for(terms), clause.scopes.as_deref());
    if !clause.picky && limit < MOST_PROPOSED {
        let want = limit.saturating_add((limit / 4).max(SPARE));
        let (hits, more) = best(connection, clause, &terms, want)?;
        if hits.len() >= limit || !more {
            return Ok(hits.into_iter().take(limit).collect());
        }
    }
    let sql = format!(
        "SELECT m.id, -bm25(lexicon) AS score FROM lexicon CROSS JOIN memories m ON m.row = lexicon.rowid \
         WHERE lexicon MATCH ? AND {} ORDER BY score DESC, m.row LIMIT ?",
        clause.sql
    );
    let mut values = vec![Value::Text(terms)];
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    let mut statement = connection.prepare_cached(&sql)?;
    let hits = statement.query_map(params_from_iter(values), |row| {
        Ok(Hit { id: MemoryId(Uuid::from_bytes(row.get(0)?)), score: row.get(1)? })
    })?;
    hits.collect()
}

/// The best matches that pass the clause among the first `want`, and whether there are more. The words tell the
/// scope, so nearly all pass, and only those that may be told are looked up.
fn best(connection: &Connection, clause: &Clause, terms: &str, want: usize) -> rusqlite::Result<(Vec<Hit>, bool)> {
    let sql =
        "SELECT rowid, -bm25(lexicon) AS score FROM lexicon WHERE lexicon MATCH ?1 ORDER BY score DESC, rowid LIMIT ?2";
    let found: Vec<(i64, f64)> = connection
        .prepare_cached(sql)?
        .query_map(params![terms, want as i64], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
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
    Ok((found.iter().filter_map(hit).collect(), found.len() == want))
}

/// Lets a connection count terms. Outside any transaction, whose end would take it away again.
pub(super) fn open_vocabulary(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, lexicon, row)")
}

/// How often each term occurs in the scopes of the clause.
pub(super) fn frequencies(
    connection: &Connection,
    board: &Board,
    clause: &Clause,
    terms: &[String],
) -> rusqlite::Result<Frequencies> {
    let mut memories = 0;
    let mut of = Vec::with_capacity(terms.len());
    match &clause.scopes {
        Some(scopes) => {
            memories += match board.memories(connection, scopes, MOST_COUNTED)? {
                Some(held) => held,
                None => count(connection, scopes)?,
            };
            let mut one = connection.prepare_cached("SELECT doc FROM temp.vocabulary WHERE term = ?1")?;
            for term in terms {
                let mut sum = 0;
                for scope in scopes {
                    let found = one.query_row([format!("{term}_{scope}")], |row| row.get::<_, u64>(0)).optional()?;
                    sum += found.unwrap_or(0);
                }
                of.push(sum);
            }
        }
        None => {
            memories = connection
                .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM memories LIMIT ?1)")?
                .query_row([MOST_COUNTED], |row| row.get(0))?;
            let mut all = connection
                .prepare_cached("SELECT coalesce(sum(doc), 0) FROM temp.vocabulary WHERE term >= ?1 AND term < ?2")?;
            for term in terms {
                // The character after `_` ends the range of terms that go on with a scope's number.
                of.push(all.query_row([format!("{term}_"), format!("{term}`")], |row| row.get(0))?);
            }
        }
    }
    let most = of.iter().copied().max().unwrap_or(0);
    Ok(Frequencies { memories: memories.max(most), of })
}

/// How many memories lie in these scopes.
fn count(connection: &Connection, scopes: &[i64]) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM memories WHERE scope = ?1 LIMIT ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    let mut count = |scope: &i64| statement.query_row(params![scope, MOST_COUNTED], |row| row.get::<_, u64>(0));
    scopes.iter().map(&mut count).sum()
}

/// Terms are letters, digits and dots by construction; quoting them leaves no syntax to inject.
fn expression(terms: &[&String], scopes: Option<&[i64]>) -> String {
    let mut any = Vec::new();
    for term in terms {
        match scopes {
            Some(scopes) => any.extend(scopes.iter().map(|scope| format!("\"{term}_{scope}\""))),
            None => any.push(format!("\"{term}_\"*")),
        }
    }
    any.join(" OR ")
}
