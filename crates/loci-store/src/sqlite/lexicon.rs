//! Which memories share words with a question?
//!
//! FTS5 holds the terms of our analyser, each with the number of its scope behind it
//! (`agenc_12`). A question bound to scopes asks for those very terms; one that sees the whole
//! space asks for the prefix (`agenc_`). So a search touches only the postings of its scopes.

use loci_types::MemoryId;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use uuid::Uuid;

use crate::sql::clause::{self, Clause};
use crate::sql::words::{MOST_COUNTED, asked_for};
use crate::sql::{self, Value};
use crate::{Frequencies, Hit};

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
    let terms = asked_for(terms);
    let sql = format!(
        "SELECT m.id, -bm25(lexicon) AS score FROM lexicon CROSS JOIN memories m ON m.row = lexicon.rowid \
         WHERE lexicon MATCH ? AND {} ORDER BY score DESC, m.row LIMIT ?",
        clause.sql
    );
    let mut values = vec![Value::Text(expression(&terms, clause.scopes.as_deref()))];
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    let mut statement = connection.prepare_cached(&sql)?;
    let hits = statement.query_map(params_from_iter(values), |row| {
        Ok(Hit { id: MemoryId(Uuid::from_bytes(row.get(0)?)), score: row.get(1)? })
    })?;
    hits.collect()
}

/// Lets a connection count terms. Outside any transaction, whose end would take it away again.
pub(super) fn open_vocabulary(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, lexicon, row)")
}

/// How often each term occurs in the scopes of the clause.
pub(super) fn frequencies(connection: &Connection, clause: &Clause, terms: &[String]) -> rusqlite::Result<Frequencies> {
    let mut memories = 0;
    let mut of = Vec::with_capacity(terms.len());
    match &clause.scopes {
        Some(scopes) => {
            let mut count =
                connection.prepare_cached("SELECT count(*) FROM (SELECT 1 FROM memories WHERE scope = ?1 LIMIT ?2)")?;
            for scope in scopes {
                memories += count.query_row(params![scope, MOST_COUNTED], |row| row.get::<_, u64>(0))?;
            }
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
