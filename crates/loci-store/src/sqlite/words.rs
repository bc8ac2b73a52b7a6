//! Writes the terms of memories into a space's file.
//!
//! The terms of each memory are kept beside it as fingerprints; [`super::cache`] reads and searches them.

use rusqlite::{Connection, params};

use crate::sql;
use crate::terms::fingerprint;
use crate::text::{Analyser, with_question};

/// Removes the terms of a memory.
pub(super) fn clear_words(connection: &Connection, row: i64) -> sql::Result<()> {
    connection.prepare_cached("DELETE FROM words WHERE memory = ?1")?.execute([row])?;
    Ok(())
}

/// Writes the terms of a memory that has none, with the row of the question that it answers.
pub(super) fn put_words(connection: &Connection, row: i64, terms: &[String], answers: Option<i64>) -> sql::Result<()> {
    connection.prepare_cached("INSERT INTO words (memory, answers, terms) VALUES (?1, ?2, ?3)")?.execute(params![
        row,
        answers,
        encode(terms)
    ])?;
    Ok(())
}

/// The terms of a text and of the question that it answers, as the file keeps them.
pub(super) fn words_of(analyser: &Analyser, content: &str, question: Option<&str>) -> Vec<u8> {
    encode(&with_question(analyser.terms(content), question.map(|text| analyser.terms(text))))
}

fn encode(terms: &[String]) -> Vec<u8> {
    terms.iter().flat_map(|term| fingerprint(term).to_le_bytes()).collect()
}

/// The fingerprints in a value of `words.terms`.
pub(super) fn decode(bytes: &[u8]) -> impl Iterator<Item = u32> + Clone {
    bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}
