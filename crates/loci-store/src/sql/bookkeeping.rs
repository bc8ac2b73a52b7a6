//! Applies the bookkeeping of a batch: access counts and jobs here, sessions, notes and checkpoints in their own files.

use std::collections::HashMap;

use loci_types::{Bookkeeping, Change, JobSpec, MemoryId, Outcome, reinforced};

use super::apply::{Applier, nothing};
use super::{Dialect, params, read};
use crate::{Applied, Error, Result};

impl Applier<'_> {
    pub(super) fn keep_books(&self, change: &Change, step: &Bookkeeping) -> Result<Applied> {
        match step {
            Bookkeeping::Touch { ids } => self.touch(change, ids),
            Bookkeeping::Enqueue(job) => self.enqueue(change, job).map(|()| nothing(Outcome::Created)),
            Bookkeeping::Note { scope, key, value, until } => self.note(change, scope.as_ref(), key, value, *until),
            Bookkeeping::Attend { scope, session, thread } => self.attend(change, scope, session, thread),
            Bookkeeping::EndSession { scope, session } => self.end_session(change, scope, session),
            Bookkeeping::Consolidate { scope, session, expect, through, report } => {
                self.consolidate(change, scope, session, (*expect, *through), report)
            }
            Bookkeeping::Unlearn { scope, session } => self.unlearn(scope, session),
            Bookkeeping::Resume(session) => self.resume(session),
            Bookkeeping::Checkpoint(step) => self.checkpoint(change, step),
            Bookkeeping::Claim(claim) => self.claim(change, claim),
            Bookkeeping::Once { .. } => {
                Err(Error::Refused("a key for a whole batch must be its first change".to_owned()))
            }
        }
    }

    fn touch(&self, change: &Change, ids: &[MemoryId]) -> Result<Applied> {
        let Dialect { ids: of_ids, ordered_join: join, .. } = self.connection.dialect();
        let sql = format!(
            "SELECT m.id, m.row, m.confidence, m.access_count FROM {of_ids} {join} memories m ON m.id = j.value"
        );
        let mut found: HashMap<[u8; 16], (i64, f64, u64)> = self
            .sql(self.connection.query_map(&sql, params![read::wanted(ids)], |row| {
                Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?)))
            }))?
            .into_iter()
            .collect();
        // An id that occurs twice counts twice.
        for id in ids {
            if let Some((_, confidence, count)) = found.get_mut(id.as_bytes()) {
                *count += 1;
                *confidence = reinforced(*confidence, *count);
            }
        }
        let at = change.at.as_microsecond();
        for (row, confidence, count) in found.into_values() {
            let touched = "UPDATE memories SET access_count = ?2, confidence = ?3, \
                 last_accessed_at = CASE WHEN last_accessed_at > ?4 THEN last_accessed_at ELSE ?4 END WHERE row = ?1";
            self.sql(self.connection.run_later(touched, params![row, count, confidence, at]))?;
        }
        Ok(nothing(Outcome::Updated))
    }

    pub(crate) fn enqueue(&self, change: &Change, job: &JobSpec) -> Result<()> {
        let put = self.connection.run_later(
            "INSERT INTO jobs (kind, payload, unique_key, state, run_after, attempts, created_at) \
             VALUES (?1, ?2, ?3, 'waiting', ?4, 0, ?5) ON CONFLICT DO NOTHING",
            params![job.kind.name(), job.payload.to_string(), &job.unique, job.run_after, change.at],
        );
        self.sql(put)
    }
}
