//! Which memories share words with a question?
//!
//! FTS5 holds the terms of our analyser, each with the number of its scope behind it
//! (`agenc_12`). A question bound to scopes asks for those very terms; one that sees the whole
//! space asks for the prefix (`agenc_`). So a search touches only the postings of its scopes.

use loci_types::MemoryId;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use uuid::Uuid;

use super::clause::{self, Clause};
use crate::text::{Analyser, asks, with_question};
use crate::{Frequencies, Hit};

/// More terms than this make a question slow and no clearer; the longest, which say the most, are kept.
const MOST_TERMS: usize = 64;

/// Writes the words of a memory, in place of what was there.
pub(super) fn write(connection: &Connection, analyser: &Analyser, row: i64) -> rusqlite::Result<()> {
    let (content, scope): (String, i64) = connection
        .prepare_cached("SELECT content, scope FROM memories WHERE row = ?1")?
        .query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let question = question_before(connection, row)?.map(|text| analyser.terms(&text));
    let terms = with_question(analyser.terms(&content), question);
    let mut document = String::with_capacity(content.len() + 8 * terms.len());
    for term in &terms {
        document.push_str(term);
        document.push('_');
        document.push_str(&scope.to_string());
        document.push(' ');
    }
    connection.prepare_cached("DELETE FROM lexicon WHERE rowid = ?1")?.execute([row])?;
    connection
        .prepare_cached("INSERT INTO lexicon (rowid, terms) VALUES (?1, ?2)")?
        .execute(params![row, document])
        .map(drop)
}

/// The question that this turn answers: the turn before it, in the same session, by someone else.
fn question_before(connection: &Connection, row: i64) -> rusqlite::Result<Option<String>> {
    let before: Option<String> = connection
        .prepare_cached(
            "SELECT p.content FROM edges e JOIN memories p ON p.row = e.source JOIN memories m ON m.row = e.target \
             WHERE e.target = ?1 AND e.relation = 'temporal' AND p.session_id IS m.session_id \
             AND (p.actor_id IS NOT m.actor_id OR p.role IS NOT m.role) LIMIT 1",
        )?
        .query_row([row], |row| row.get(0))
        .optional()?;
    Ok(before.filter(|text| asks(text)))
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
    let mut terms: Vec<&String> = terms.iter().collect();
    terms.sort_by_key(|term| (std::cmp::Reverse(term.len()), *term));
    terms.dedup();
    terms.truncate(MOST_TERMS);
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
    // Past this many, one more or less changes no weight that anyone would see.
    const MOST: u64 = 20_000;
    let mut memories = 0;
    let mut of = Vec::with_capacity(terms.len());
    match &clause.scopes {
        Some(scopes) => {
            let mut count =
                connection.prepare_cached("SELECT count(*) FROM (SELECT 1 FROM memories WHERE scope = ?1 LIMIT ?2)")?;
            for scope in scopes {
                memories += count.query_row(params![scope, MOST], |row| row.get::<_, u64>(0))?;
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
                .query_row([MOST], |row| row.get(0))?;
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
