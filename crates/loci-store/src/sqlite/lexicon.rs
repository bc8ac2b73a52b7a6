//! Which memories share words with a question?
//!
//! The words of each memory lie beside it as fingerprints of the terms of our analyser. Those of a scope that was asked
//! are held in memory, keep [`Abreast`] of the ledger, and are walked through. They only propose: the best are checked
//! by the one clause.

use std::collections::HashMap;

use loci_types::MemoryId;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use uuid::Uuid;

use super::abreast::{Abreast, Changed, Part};
use super::index::scopes_of;
use crate::documents::{Documents, Found, Usual, fingerprint};
use crate::sql::clause::Clause;
use crate::sql::words::asked_for;
use crate::sql::{self, Value};
use crate::text::{Analyser, with_question};
use crate::{Frequencies, Hit};

/// So many matches beyond those wanted are looked at, at least: some may not pass.
const SPARE: usize = 6;

/// Takes the words of a memory away.
pub(crate) fn clear_words(connection: &Connection, row: i64) -> sql::Result<()> {
    connection.prepare_cached("DELETE FROM words WHERE memory = ?1")?.execute([row])?;
    Ok(())
}

/// Writes the words of a memory that has none, with the row whose question it answers.
pub(crate) fn put_words(connection: &Connection, row: i64, terms: &[String], answers: Option<i64>) -> sql::Result<()> {
    connection.prepare_cached("INSERT INTO words (memory, answers, terms) VALUES (?1, ?2, ?3)")?.execute(params![
        row,
        answers,
        bytes(terms)
    ])?;
    Ok(())
}

/// Terms as they lie in a file.
fn bytes(terms: &[String]) -> Vec<u8> {
    terms.iter().flat_map(|term| fingerprint(term).to_le_bytes()).collect()
}

/// The words of a text and of the question that it answers, as they lie in a file.
pub(super) fn words_of(analyser: &Analyser, content: &str, question: Option<&str>) -> Vec<u8> {
    bytes(&with_question(analyser.terms(content), question.map(|text| analyser.terms(text))))
}

fn terms(bytes: &[u8]) -> impl Iterator<Item = u32> + Clone {
    bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

/// The words of a space that are in memory, by scope.
pub(super) type Lexicon = Abreast<Texts>;

/// The words of one scope.
#[derive(Default)]
pub(super) struct Texts {
    documents: Documents,
    /// Who has the words of which question: when that changes, so do they, and the ledger speaks of the question alone.
    answers: HashMap<i64, Vec<i64>>,
}

impl Texts {
    fn put(&mut self, row: i64, answers: Option<i64>, bytes: &[u8]) {
        self.documents.insert(row, terms(bytes));
        if let Some(question) = answers {
            let known = self.answers.entry(question).or_default();
            if !known.contains(&row) {
                known.push(row);
            }
        }
    }
}

impl Part for Texts {
    type Key = i64;

    fn scope(scope: i64) -> i64 {
        scope
    }

    fn load(connection: &Connection, scope: i64) -> rusqlite::Result<Self> {
        // Left to itself the planner may walk through the words of all scopes.
        let of =
            "FROM memories m INDEXED BY memories_by_scope CROSS JOIN words w ON w.memory = m.row WHERE m.scope = ?1";
        let (held, bytes) = connection
            .prepare_cached(&format!("SELECT count(*), coalesce(sum(length(w.terms)), 0) {of}"))?
            .query_row([scope], |row| Ok((row.get(0)?, row.get::<_, usize>(1)?)))?;
        let mut texts = Texts { documents: Documents::expecting(held, bytes / 4), ..Texts::default() };
        // In the order of the rows, which is that of time: texts of one conversation lie side by side.
        let sql = format!("SELECT w.memory, w.answers, w.terms {of} ORDER BY m.row");
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query([scope])?;
        while let Some(row) = rows.next()? {
            texts.put(row.get(0)?, row.get(1)?, row.get_ref(2)?.as_blob()?);
        }
        Ok(texts)
    }

    fn refresh(&mut self, connection: &Connection, scope: i64, changed: &[Changed]) -> rusqlite::Result<()> {
        // Who follows may be of another scope.
        let mut read = connection.prepare_cached(
            "SELECT w.answers, w.terms FROM memories m JOIN words w ON w.memory = m.row WHERE m.row = ?1 AND m.scope = ?2",
        )?;
        let mut after =
            connection.prepare_cached("SELECT target FROM edges WHERE source = ?1 AND relation = 'temporal'")?;
        for Changed { row, .. } in changed {
            let mut rows = vec![*row];
            rows.extend(self.answers.remove(row).unwrap_or_default());
            let followers = after.query_map([*row], |found| found.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
            rows.extend(followers);
            for row in rows {
                match read
                    .query_row([row, scope], |found| Ok((found.get(0)?, found.get::<_, Vec<u8>>(1)?)))
                    .optional()?
                {
                    Some((answers, bytes)) => self.put(row, answers, &bytes),
                    None => self.documents.remove(row),
                }
            }
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.documents.bytes() + self.answers.capacity() * 64
    }
}

impl Lexicon {
    /// The best matches, best first. Scores are BM25, higher is better.
    pub(super) fn search(
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
        // Mostly nearly all pass, and only the best need to be looked up; where few pass, more are tried.
        let mut want = limit.saturating_add((limit / 4).max(SPARE));
        loop {
            let hits = passing(connection, clause, best(&mut found, want))?;
            if hits.len() >= limit || want >= found.len() {
                return Ok(hits.into_iter().take(limit).collect());
            }
            want = want.saturating_mul(4);
        }
    }

    fn scores(&self, connection: &Connection, clause: &Clause, asked: &[u32]) -> rusqlite::Result<Vec<(i64, f64)>> {
        let scopes = scopes_of(connection, clause)?;
        let held = self.at(connection, &scopes)?;
        let texts = || scopes.iter().filter_map(|scope| held.get(*scope)).map(|texts| &texts.documents);
        let documents = texts().map(Documents::len).sum::<usize>();
        let length = texts().map(Documents::length).sum::<usize>() as f64 / documents.max(1) as f64;
        let usual = Usual { documents: documents as f64, length: length.max(1.0) };
        Ok(texts().flat_map(|documents| documents.find(asked).scores(usual)).collect())
    }

    /// How often each term occurs in the scopes of the clause.
    pub(super) fn frequencies(
        &self,
        connection: &Connection,
        clause: &Clause,
        terms: &[String],
    ) -> rusqlite::Result<Frequencies> {
        let asked: Vec<u32> = terms.iter().map(|term| fingerprint(term)).collect();
        let scopes = scopes_of(connection, clause)?;
        let held = self.at(connection, &scopes)?;
        let mut all = Frequencies { memories: 0, of: vec![0; terms.len()] };
        for texts in scopes.iter().filter_map(|scope| held.get(*scope)) {
            let Found { bearers, .. } = texts.documents.find(&asked);
            all.memories += texts.documents.len() as u64;
            all.of.iter_mut().zip(bearers).for_each(|(sum, bearers)| *sum += bearers);
        }
        Ok(all)
    }
}

/// The first of these, best first.
fn best(found: &mut [(i64, f64)], want: usize) -> &[(i64, f64)] {
    let order = |a: &(i64, f64), b: &(i64, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let want = want.min(found.len());
    if want < found.len() {
        found.select_nth_unstable_by(want, order);
    }
    found[..want].sort_unstable_by(order);
    &found[..want]
}

/// Those that pass the clause, in their order.
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

#[cfg(test)]
mod tests {
    use loci_testkit::samples::{add, addition, at, change, edge, memory, user, visible};
    use loci_types::{Action, Memory, NewContent, Patch, Relation, Revision, Space};

    use super::super::schema;
    use super::*;
    use crate::sql::apply::Desk;

    /// What is held tells what the file would, whatever happens to questions and their answers in between.
    #[test]
    fn the_words_in_memory_are_those_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loci.db");
        let file = schema::open(&path, schema::SPACE).unwrap();
        let connection = sql::Connection::Sqlite(&file);
        let analyser = Analyser::default();
        let desk = Desk { connection: &connection, path: &path, space: &Space::Shared, analyser: &analyser };
        let (anna, held) = (user("anna"), Lexicon::default());
        let turn = |number: u64, text: &str| -> Memory {
            let mut turn = memory(number, &anna, text);
            turn.actor_id = Some(format!("speaker {number}"));
            turn
        };
        let check = |word: &str, expect: &[u64]| {
            let seen = visible(std::slice::from_ref(&anna));
            let clause = Clause::visible(&connection, &Space::Shared, &seen).unwrap().unwrap();
            let told = |lexicon: &Lexicon| {
                let hits = lexicon.search(&file, &clause, &analyser.terms(word), 100).unwrap();
                let mut ids: Vec<MemoryId> = hits.iter().map(|hit| hit.id).collect();
                ids.sort();
                (ids, lexicon.frequencies(&file, &clause, &analyser.terms(word)).unwrap())
            };
            let (ids, frequencies) = told(&held);
            assert_eq!(ids, expect.iter().map(|number| turn(*number, "").id).collect::<Vec<_>>(), "{word}");
            assert_eq!(frequencies, told(&Lexicon::default()).1, "{word}");
        };
        let revise = |number: u64, text: &str| {
            let content = NewContent {
                text: text.to_owned(),
                hash: turn(number, text).content_hash,
                unless: None,
                claim: None,
                tokens: 1,
            };
            let patch = Patch { content: Some(content), ..Patch::default() };
            let revision = Revision { id: turn(number, "").id, expect: None, patch, vector: None, jobs: Vec::new() };
            desk.apply(&change(at(99), Action::Revise(Box::new(revision)))).unwrap();
        };
        desk.apply(&add(turn(1, "Where is the lighthouse?"))).unwrap();
        check("lighthouse", &[1]);
        let mut answer = addition(turn(2, "In Brittany."));
        answer.follows = Some(turn(1, "").id);
        desk.apply(&change(at(2), Action::Add(Box::new(answer)))).unwrap();
        check("lighthouse", &[1, 2]);
        revise(1, "Where is the windmill?");
        check("lighthouse", &[]);
        check("windmill", &[1, 2]);
        revise(1, "The windmill is old.");
        check("windmill", &[1]);
        revise(1, "Who owns the windmill?");
        check("windmill", &[1, 2]);
        // An edge that is drawn later makes an answer of a turn.
        desk.apply(&add(turn(3, "My aunt."))).unwrap();
        let later = edge(9, turn(1, "").id, turn(3, "").id, Relation::Temporal);
        desk.apply(&change(at(3), Action::Link(later))).unwrap();
        check("windmill", &[1, 2, 3]);
        let (source, target) = (turn(1, "").id, turn(3, "").id);
        desk.apply(&change(at(3), Action::Unlink { source, target, relation: Relation::Temporal })).unwrap();
        check("windmill", &[1, 2]);
        // Whoever follows in another scope has no words of this one, and is not held here.
        let theirs = memory(8, &user("ben"), "Not me.");
        let id = theirs.id;
        desk.apply(&add(theirs)).unwrap();
        desk.apply(&change(at(4), Action::Link(edge(10, source, id, Relation::Temporal)))).unwrap();
        check("windmill", &[1, 2]);
        check("not me", &[]);
        desk.apply(&change(at(4), Action::Erase { id: turn(1, "").id })).unwrap();
        check("windmill", &[]);
        check("aunt brittany", &[2, 3]);
        desk.apply(&change(at(5), Action::Erase { id: turn(2, "").id })).unwrap();
        check("aunt brittany", &[3]);
    }
}
