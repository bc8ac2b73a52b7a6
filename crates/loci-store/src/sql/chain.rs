//! What becomes of a chain when its links come and go?
//!
//! Of memories that replace each other only the newest, the head, holds. A head that goes uncovers
//! the one before it; one that comes back covers it again; a link that is gone for good is closed
//! over.

use loci_types::{Addition, Change, Edge, EdgeId, Event, Memory, MemoryId, Outcome, Relation, Revision, State};
use serde_json::json;

use super::apply::{Desk, Lying, applied, lying};
use super::{OptionalExtension, params};
use super::{graph, row};
use crate::{Applied, Error, Result};

impl Desk<'_> {
    pub(crate) fn merge(&self, change: &Change, into: &Revision, from: &[MemoryId]) -> Result<Applied> {
        self.unreplaced(into.id)?;
        let mut merged = self.revise(change, into)?;
        let revised = merged.sequence;
        for id in from {
            if *id == into.id {
                return Err(Error::Refused(format!("memory {id} cannot be merged into itself")));
            }
            let other = self.unreplaced(*id)?;
            self.rewrite(change, other, Event::Supersede, Outcome::Merged, |memory| {
                memory.superseded_by_id = Some(into.id);
                memory.valid_until = memory.valid_until.or(Some(change.at));
            })?;
        }
        let lying = self.find(into.id)?;
        merged.sequence =
            self.record(change, Event::Merge, Some(&lying), None, Some(json!({ "from": from, "revised": revised })))?;
        merged.outcome = Outcome::Merged;
        Ok(merged)
    }

    pub(crate) fn supersede(&self, change: &Change, old: MemoryId, new: &Addition) -> Result<Applied> {
        let before = self.unreplaced(old)?;
        let mut addition = new.clone();
        addition.memory.supersedes_id = Some(old);
        // The new head replaces on purpose, whatever else says the same.
        addition.unless = None;
        let mut added = self.add(change, &addition)?;
        self.cover(change, before, &addition.memory)?;
        if let Some(unless) = new.unless {
            self.sql(self.connection.execute(
                "UPDATE memories SET unless = ?2 WHERE id = ?1",
                params![addition.memory.id.as_bytes(), unless.0],
            ))?;
        }
        let edge = replacing(change, addition.memory.id, old);
        let (source, target) = (self.find(edge.source_id)?.row, self.find(old)?.row);
        self.sql(graph::link(self.connection, source, target, &edge))?;
        added.outcome = Outcome::Superseded;
        Ok(added)
    }

    /// A memory, which must be the head of its chain: chains neither fork nor close in a circle.
    fn unreplaced(&self, id: MemoryId) -> Result<Lying> {
        let lying = self.find(id)?;
        match lying.memory.superseded_by_id {
            Some(newer) => {
                Err(Error::Refused(format!("memory {id} was already replaced by {newer}; replace that one")))
            }
            None => Ok(lying),
        }
    }

    /// A new head takes the place of the old one, which held until the new one began to.
    fn cover(&self, change: &Change, old: Lying, head: &Memory) -> Result<Applied> {
        let since = head.holds_since();
        self.rewrite(change, old, Event::Supersede, Outcome::Superseded, |memory| {
            memory.superseded_by_id = Some(head.id);
            memory.valid_until = memory.valid_until.or(Some(since));
        })
    }

    /// When the head of a chain goes, the one before it holds again.
    pub(crate) fn uncover(&self, change: &Change, head: &Lying) -> Result<()> {
        let (None, Some(older)) = (head.memory.superseded_by_id, head.memory.supersedes_id) else { return Ok(()) };
        let Some(mut older) = self.lookup(older)? else { return Ok(()) };
        let mut newer = head.memory.id;
        // One that was forgotten itself does not come back; the one before it does.
        while older.memory.state == State::SoftDeleted
            && let Some(next) = older.memory.supersedes_id
            && let Some(next) = self.lookup(next)?
        {
            newer = older.memory.id;
            older = next;
        }
        if older.memory.superseded_by_id == Some(newer) {
            let ended = self.ended_by_replacement(older.row)?;
            self.rewrite(change, older, Event::Restore, Outcome::Restored, |memory| {
                memory.superseded_by_id = None;
                memory.valid_until = memory.valid_until.filter(|_| !ended);
            })?;
        }
        Ok(())
    }

    /// Whether the end of this memory's validity was set by its replacement and is not its own.
    fn ended_by_replacement(&self, row: i64) -> Result<bool> {
        let ended = self
            .connection
            .prepare_cached(
                "SELECT new ->> 'validUntil' IS NOT NULL FROM ledger \
                 WHERE memory = ?1 AND event = 'supersede' ORDER BY sequence DESC LIMIT 1",
            )
            .and_then(|mut statement| statement.query_row(params![row], |row| row.get(0)).optional());
        Ok(self.sql(ended)?.unwrap_or(false))
    }

    pub(crate) fn restore(&self, change: &Change, id: MemoryId) -> Result<Applied> {
        let before = self.find(id)?;
        if before.memory.state == State::Active {
            return Ok(applied(&before.memory, Outcome::None, None));
        }
        if before.memory.state == State::Proposed {
            return Err(Error::Refused(format!("memory {id} waits for consent; `loci consent accept {id}` gives it")));
        }
        self.cover_again(change, &before)?;
        self.rewrite(change, before, Event::Restore, Outcome::Restored, |memory| {
            memory.state = State::Active;
            memory.purge_at = None;
        })
    }

    /// Someone has decided on a proposal; one that replaces something takes its place.
    pub(crate) fn decide(
        &self,
        change: &Change,
        id: MemoryId,
        accept: bool,
        over: Option<MemoryId>,
        purge_at: jiff::Timestamp,
    ) -> Result<Applied> {
        let before = self.find(id)?;
        if before.memory.state != State::Proposed {
            return Err(Error::Refused(format!("memory {id} is {} and no proposal", before.memory.state)));
        }
        if !accept {
            return self.rewrite(change, before, Event::Consent, Outcome::Deleted, |memory| {
                memory.state = State::SoftDeleted;
                memory.purge_at = Some(purge_at);
            });
        }
        if let Some(old) = over {
            if old == id {
                return Err(Error::Refused(format!("memory {id} cannot take its own place")));
            }
            let old = self.unreplaced(old)?;
            let edge = replacing(change, id, old.memory.id);
            self.sql(graph::link(self.connection, before.row, old.row, &edge))?;
            self.cover(change, old, &before.memory)?;
        }
        self.rewrite(change, before, Event::Consent, Outcome::Created, |memory| {
            memory.state = State::Active;
            memory.purge_at = None;
            memory.supersedes_id = over;
        })
    }

    /// Undoes a merge: what was taken up holds again.
    pub(crate) fn split(&self, change: &Change, into: MemoryId, from: &[MemoryId]) -> Result<Applied> {
        let kept = self.find(into)?;
        for id in from {
            let other = self.find(*id)?;
            // One whose place was taken is a link of a chain, and comes back when its head goes.
            if other.memory.superseded_by_id != Some(into) || kept.memory.supersedes_id == Some(*id) {
                return Err(Error::Refused(format!("memory {id} was not taken up by {into}")));
            }
            let ended = self.ended_by_replacement(other.row)?;
            self.rewrite(change, other, Event::Restore, Outcome::Restored, |memory| {
                memory.superseded_by_id = None;
                memory.valid_until = memory.valid_until.filter(|_| !ended);
            })?;
        }
        Ok(applied(&kept.memory, Outcome::Restored, None))
    }

    /// A head that comes back takes its place again.
    fn cover_again(&self, change: &Change, head: &Lying) -> Result<()> {
        if let Some(older) = head.memory.supersedes_id
            && let Some(older) = self.lookup(older)?
            && older.memory.superseded_by_id.is_none()
        {
            self.cover(change, older, &head.memory)?;
        }
        Ok(())
    }

    /// Joins the neighbours of a link that goes, so that nothing points to what is gone.
    pub(crate) fn close(&self, change: &Change, gone: &Lying) -> Result<()> {
        let older = self.neighbours("superseded_by_id", gone.memory.id)?;
        let newer = self.neighbours("supersedes_id", gone.memory.id)?;
        for lying in older {
            self.rewrite(change, lying, Event::Update, Outcome::Updated, |memory| {
                memory.superseded_by_id = gone.memory.superseded_by_id;
            })?;
        }
        for lying in newer {
            self.rewrite(change, lying, Event::Update, Outcome::Updated, |memory| {
                memory.supersedes_id = gone.memory.supersedes_id;
            })?;
        }
        Ok(())
    }

    fn neighbours(&self, pointer: &str, id: MemoryId) -> Result<Vec<Lying>> {
        let sql = format!("SELECT {}, m.row, m.scope FROM memories m WHERE m.{pointer} = ?1", row::COLUMNS);
        let found = self
            .connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_map(params![id.as_bytes()], lying)?.collect());
        self.sql(found)
    }
}

/// The edge from a memory to the one whose place it takes.
fn replacing(change: &Change, new: MemoryId, old: MemoryId) -> Edge {
    Edge {
        id: EdgeId(new.0),
        source_id: new,
        target_id: old,
        relation: Relation::Supersedes,
        predicate: None,
        strength: 1.0,
        confidence: 1.0,
        valid_from: change.at,
        valid_until: None,
        evidence: Vec::new(),
        created_at: change.at,
    }
}
