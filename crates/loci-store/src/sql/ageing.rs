//! Ageing of memories: scores that decay with time, and what the ageing pass reads.
//!
//! A pass writes many memories and adds one ledger entry for all of them, because scores that only follow the clock are
//! not history. `aged_at` is the time up to which ageing is applied, so a pass that runs twice or late yields the same
//! scores.

use jiff::Timestamp;
use loci_types::{AgedScore, Change, Event, MemoryId, Outcome};
use serde_json::json;

use super::apply::{Applier, nothing};
use super::clause::{self, Clause};
use super::{Connection, Row, Value, params, params_from_iter};
use crate::sql;
use crate::{AgeingRow, Applied, Result};

impl Applier<'_> {
    /// Writes aged scores. Pinned memories are skipped, and so are memories without decay whose confidence would
    /// change.
    pub(crate) fn age(&self, change: &Change, aged: &[AgedScore]) -> Result<Applied> {
        let mut changed = 0;
        for AgedScore { id, confidence, relevance } in aged {
            let put = "UPDATE memories SET confidence = ?2, relevance = ?3, aged_at = ?4 WHERE id = ?1 AND NOT pinned \
                 AND (decay_rate > 0 OR confidence = ?2)";
            let at = change.at.as_microsecond();
            changed += self.sql(self.connection.execute(put, params![id, confidence, relevance, at]))?;
        }
        if changed == 0 {
            return Ok(nothing(Outcome::None));
        }
        let sequence = self.record(change, Event::Ttl, None, None, Some(json!({ "aged": changed })))?;
        Ok(Applied { sequence, ..nothing(Outcome::Updated) })
    }

    /// Sets `aged_at`: the scores are those of this instant, so no day is counted twice.
    pub(crate) fn counted(&self, row: i64, at: Timestamp) -> Result<()> {
        let put = "UPDATE memories SET aged_at = ?2 WHERE row = ?1";
        self.sql(self.connection.execute(put, params![row, at])).map(drop)
    }
}

const COLUMNS: &str = "m.id, m.kind, m.layer, m.state, m.importance, m.confidence, m.relevance, m.decay_rate, \
    m.pinned, m.access_count, m.last_accessed_at, m.created_at, m.aged_at, m.expires_at, m.purge_at, \
    m.superseded_by_id IS NOT NULL, m.user_id, m.agent_id, m.session_id, m.row, m.imported_at, \
    m.updated_at";

/// The memories that match the clause after row `after`, in the order of their rows.
pub(crate) fn list_for_ageing(
    connection: &dyn Connection,
    clause: &Clause,
    after: i64,
    limit: usize,
) -> sql::SqlResult<Vec<AgeingRow>> {
    let sql = format!("SELECT {COLUMNS} FROM memories m WHERE m.row > ? AND {} ORDER BY m.row LIMIT ?", clause.sql);
    let mut values = vec![Value::Integer(after)];
    values.extend(clause.values.iter().cloned());
    values.push(clause::limit(limit));
    connection.query_map(&sql, params_from_iter(values), read)
}

fn read(row: &dyn Row) -> sql::SqlResult<AgeingRow> {
    let text = |column: usize| row.get::<_, String>(column);
    let wrong = |error: loci_types::Error| sql::SqlError::unreadable(error);
    Ok(AgeingRow {
        id: row.get(0)?,
        kind: text(1)?,
        layer: text(2)?.parse().map_err(wrong)?,
        state: text(3)?.parse().map_err(wrong)?,
        importance: row.get(4)?,
        confidence: row.get(5)?,
        relevance: row.get(6)?,
        decay_rate: row.get(7)?,
        pinned: row.get(8)?,
        access_count: row.get(9)?,
        last_accessed_at: row.get(10)?,
        created_at: row.get(11)?,
        aged_at: row.get(12)?,
        expires_at: row.get(13)?,
        purge_at: row.get(14)?,
        superseded: row.get(15)?,
        user_id: row.get(16)?,
        agent_id: row.get(17)?,
        session_id: row.get(18)?,
        place: row.get(19)?,
        imported_at: row.get(20)?,
        updated_at: row.get(21)?,
    })
}

/// The heads of chains with more than `most` links, with the lengths of these chains. Links beyond 1,000 are not
/// counted.
pub(crate) fn long_chains(
    connection: &dyn Connection,
    clause: &Clause,
    most: usize,
    limit: usize,
) -> sql::SqlResult<Vec<(MemoryId, usize)>> {
    // The limit of 1,000 ends the recursion in a damaged file whose chain closes in a circle.
    let sql = format!(
        "WITH RECURSIVE heads(head) AS (SELECT m.id FROM memories m WHERE m.supersedes_id IS NOT NULL \
         AND m.superseded_by_id IS NULL AND m.state IN ('active', 'decayed') AND {}), \
         links(head, at, length) AS (SELECT head, head, 1 FROM heads UNION ALL \
         SELECT l.head, o.id, l.length + 1 FROM links l JOIN memories m ON m.id = l.at \
         JOIN memories o ON o.id = m.supersedes_id WHERE l.length < 1000) \
         SELECT head, max(length) AS longest FROM links GROUP BY head HAVING max(length) > ? ORDER BY head LIMIT ?",
        clause.sql
    );
    let mut values = clause.values.clone();
    values.extend([clause::limit(most), clause::limit(limit)]);
    let chain = |row: &dyn Row| Ok((row.get(0)?, row.get::<_, usize>(1)?));
    connection.query_map(&sql, params_from_iter(values), chain)
}
