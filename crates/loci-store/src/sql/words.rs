//! Indexes the terms of memories.
//!
//! The terms of a memory are those of its content and, for a turn that answers a question, those of the question. They
//! must be written again when either text or the link between the two changes.

use super::apply::StoredMemory;
use super::{Connection, OptionalExtension, params};
use crate::sql;
use crate::text::{Analyser, asks, with_question};

/// Maximum number of query terms; the longest are kept, because they are the most specific.
const MOST_TERMS: usize = 64;

/// Writes the terms of a memory, replacing the old ones.
pub(crate) fn write(connection: &dyn Connection, analyser: &Analyser, row: i64) -> sql::SqlResult<()> {
    let (content, scope): (String, i64) =
        connection.query_row("SELECT content, scope FROM memories WHERE row = ?1", params![row], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let question = question_before(connection, row)?;
    connection.clear_terms(row)?;
    put(connection, analyser, row, scope, &content, question)
}

/// Writes the terms of a new memory, which has none yet.
pub(crate) fn first(
    connection: &dyn Connection,
    analyser: &Analyser,
    row: i64,
    scope: i64,
    content: &str,
    question: Option<Question>,
) -> sql::SqlResult<()> {
    put(connection, analyser, row, scope, content, question)
}

fn put(
    connection: &dyn Connection,
    analyser: &Analyser,
    row: i64,
    scope: i64,
    content: &str,
    question: Option<Question>,
) -> sql::SqlResult<()> {
    let (answers, question) = question.unzip();
    let terms = with_question(analyser.terms(content), question.map(|text| analyser.terms(&text)));
    connection.put_terms(row, scope, &terms, answers)
}

/// A question: the row and the text of its turn.
pub(crate) type Question = (i64, String);

/// The turn before, if it is a question that this turn answers: in the same scope and session, by someone else.
pub(crate) fn question(turn: &StoredMemory, before: StoredMemory) -> Option<Question> {
    let (this, that) = (&turn.memory, &before.memory);
    let same = turn.scope == before.scope && this.identifiers.session_id == that.identifiers.session_id;
    let other = this.actor_id != that.actor_id || this.role != that.role;
    (same && other && asks(&that.content)).then_some((before.row, before.memory.content))
}

/// The question that this turn answers: the turn before it, in the same scope and session, by someone else. Of several
/// it is the latest, in every database.
fn question_before(connection: &dyn Connection, row: i64) -> sql::SqlResult<Option<Question>> {
    let before: Option<Question> = connection
        .query_row(
            "SELECT p.row, p.content FROM edges e JOIN memories p ON p.row = e.source JOIN memories m ON m.row = e.target \
             WHERE e.target = ?1 AND e.relation = 'temporal' AND p.scope = m.scope AND p.session_id IS NOT DISTINCT FROM m.session_id \
             AND (p.actor_id IS DISTINCT FROM m.actor_id OR p.role IS DISTINCT FROM m.role) \
             ORDER BY p.row DESC LIMIT 1",
            params![row],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    Ok(before.filter(|(_, text)| asks(text)))
}

/// The distinct terms of a query, at most [`MOST_TERMS`].
pub(crate) fn asked_for(terms: &[String]) -> Vec<&String> {
    let mut terms: Vec<&String> = terms.iter().collect();
    terms.sort_by_key(|term| (std::cmp::Reverse(term.len()), *term));
    terms.dedup();
    terms.truncate(MOST_TERMS);
    terms
}
