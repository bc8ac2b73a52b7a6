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
use crate::Hit;
use crate::text::{Analyser, asks, with_question};

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
    terms.sort_by_key(|term| std::cmp::Reverse(term.len()));
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
