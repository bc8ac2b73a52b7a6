//! Maintains the chains of memories that supersede each other.
//!
//! A chain is every memory that is joined to another by `supersedes_id` or `superseded_by_id`, in either direction. The
//! invariant: neither pointer closes in a circle, and at most one memory of a chain is a head, that is, neither
//! replaced nor deleted nor proposed. A head that is forgotten reinstates the memory before it; one that is restored
//! takes its place again, unless another head has taken it; the neighbours of a memory that is removed are joined.

use std::collections::{BTreeMap, HashSet};

use loci_types::{Addition, Change, Edge, EdgeId, Event, Memory, MemoryId, Outcome, Relation, Revision, State};
use serde_json::json;

use super::apply::{Applier, StoredMemory, applied, stored};
use super::{Connection, OptionalExtension, Row, params};
use super::{graph, row};
use crate::{Applied, Error, Result, sql};

/// The pointers and the state of a memory.
struct ChainLink {
    id: MemoryId,
    supersedes: Option<MemoryId>,
    superseded_by: Option<MemoryId>,
    state: State,
}

impl ChainLink {
    fn read(row: &dyn Row) -> sql::SqlResult<Self> {
        let state: String = row.get(3)?;
        Ok(Self {
            id: row.get(0)?,
            supersedes: row.get(1)?,
            superseded_by: row.get(2)?,
            state: state.parse().map_err(sql::SqlError::unreadable)?,
        })
    }

    fn is_head(&self) -> bool {
        self.superseded_by.is_none() && is_settled(self.state)
    }
}

/// Whether a memory in this state can be the head of a chain.
pub(crate) fn is_settled(state: State) -> bool {
    !matches!(state, State::SoftDeleted | State::Proposed)
}

/// Whether `valid_until` of a memory was set when it was superseded.
pub(crate) fn ended_by_replacement(connection: &dyn Connection, row: i64) -> sql::SqlResult<bool> {
    let ended = connection
        .query_row(
            "SELECT new ->> 'validUntil' IS NOT NULL FROM ledger \
             WHERE memory = ?1 AND event = 'supersede' ORDER BY sequence DESC LIMIT 1",
            params![row],
            |row| row.get(0),
        )
        .optional()?;
    Ok(ended.unwrap_or(false))
}

impl Applier<'_> {
    pub(crate) fn merge(&self, change: &Change, into: &Revision, from: &[MemoryId]) -> Result<Applied> {
        self.require_head(into.id)?;
        let mut merged = self.revise(change, into)?;
        let revised = merged.sequence;
        for id in from {
            if *id == into.id {
                return Err(Error::Refused(format!("memory {id} cannot be merged into itself")));
            }
            let other = self.require_head(*id)?;
            self.rewrite(change, other, Event::Supersede, Outcome::Merged, |memory| {
                memory.superseded_by_id = Some(into.id);
                memory.valid_until = memory.valid_until.or(Some(change.at));
            })?;
        }
        let stored = self.find(into.id)?;
        merged.sequence =
            self.record(change, Event::Merge, Some(&stored), None, Some(json!({ "from": from, "revised": revised })))?;
        merged.outcome = Outcome::Merged;
        Ok(merged)
    }

    pub(crate) fn supersede(&self, change: &Change, old: MemoryId, new: &Addition) -> Result<Applied> {
        let before = self.require_head(old)?;
        let mut addition = new.clone();
        addition.memory.supersedes_id = Some(old);
        addition.memory.superseded_by_id = None;
        // The caller replaces this memory on purpose, so a duplicate elsewhere does not prevent it.
        addition.unless = None;
        let mut added = self.add(change, &addition)?;
        self.mark_superseded(change, before, &addition.memory)?;
        if let Some(unless) = new.unless {
            self.sql(
                self.connection
                    .execute("UPDATE memories SET unless = ?2 WHERE id = ?1", params![addition.memory.id, unless.0]),
            )?;
        }
        let edge = replacing(change, addition.memory.id, old);
        let (source, target) = (self.find(edge.source_id)?.row, self.find(old)?.row);
        self.sql(graph::link(self.connection, source, target, &edge))?;
        added.outcome = Outcome::Superseded;
        Ok(added)
    }

    /// Reads a memory that must be the head of its chain, because another is about to supersede it or be merged into
    /// it.
    fn require_head(&self, id: MemoryId) -> Result<StoredMemory> {
        let stored = self.find(id)?;
        if let Some(newer) = stored.memory.superseded_by_id {
            return Err(Error::Refused(format!("memory {id} was already replaced by {newer}; replace that one")));
        }
        match stored.memory.state {
            State::SoftDeleted => Err(Error::Refused(format!("memory {id} is deleted; restore it first"))),
            State::Proposed => {
                Err(Error::Refused(format!("memory {id} waits for consent; `loci consent accept {id}` gives it")))
            }
            State::Active | State::Decayed | State::Archived => Ok(stored),
        }
    }

    /// Marks an older memory as superseded by `newer` and ends its validity when that of `newer` begins. An end that
    /// another replacement had set is overwritten.
    fn mark_superseded(&self, change: &Change, old: StoredMemory, newer: &Memory) -> Result<Applied> {
        let since = newer.holds_since();
        let ended = old.memory.superseded_by_id.is_some() && self.ended_by_replacement(old.row)?;
        self.rewrite(change, old, Event::Supersede, Outcome::Superseded, |memory| {
            memory.superseded_by_id = Some(newer.id);
            memory.valid_until = memory.valid_until.filter(|_| !ended).or(Some(since));
        })
    }

    /// Makes the nearest memory before a head that is not soft-deleted valid again, because the head goes.
    pub(crate) fn reinstate_previous(&self, change: &Change, head: &StoredMemory) -> Result<()> {
        let (None, Some(older)) = (head.memory.superseded_by_id, head.memory.supersedes_id) else { return Ok(()) };
        let Some(mut older) = self.lookup(older)? else { return Ok(()) };
        let mut newer = head.memory.id;
        let mut seen = HashSet::from([newer]);
        while older.memory.state == State::SoftDeleted
            && seen.insert(older.memory.id)
            && let Some(next) = older.memory.supersedes_id
            && let Some(next) = self.lookup(next)?
        {
            newer = older.memory.id;
            older = next;
        }
        if older.memory.superseded_by_id == Some(newer) {
            self.detach(change, older)?;
        }
        Ok(())
    }

    /// Clears `superseded_by_id`, and `valid_until` if it was set by the replacement.
    fn detach(&self, change: &Change, stored: StoredMemory) -> Result<Applied> {
        let ended = self.ended_by_replacement(stored.row)?;
        self.rewrite(change, stored, Event::Restore, Outcome::Restored, |memory| {
            memory.superseded_by_id = None;
            memory.valid_until = memory.valid_until.filter(|_| !ended);
        })
    }

    fn ended_by_replacement(&self, row: i64) -> Result<bool> {
        self.sql(ended_by_replacement(self.connection, row))
    }

    pub(crate) fn restore(&self, change: &Change, id: MemoryId) -> Result<Applied> {
        let before = self.find(id)?;
        if before.memory.state == State::Active {
            return Ok(applied(&before.memory, Outcome::None, None));
        }
        if before.memory.state == State::Proposed {
            return Err(Error::Refused(format!("memory {id} waits for consent; `loci consent accept {id}` gives it")));
        }
        self.revive(change, before, Event::Restore, Outcome::Restored, |memory| {
            memory.state = State::Active;
            memory.purge_at = None;
        })
    }

    /// Applies `edit`, which makes a memory valid again. If the newest memory of its chain supersedes it and is not
    /// deleted, it comes back as history; otherwise it becomes the head, which is refused if there is another head.
    pub(crate) fn revive(
        &self,
        change: &Change,
        before: StoredMemory,
        event: Event,
        outcome: Outcome,
        edit: impl FnOnce(&mut Memory),
    ) -> Result<Applied> {
        let id = before.memory.id;
        let leads = !self.is_history(&before.memory)?;
        let ended = leads && before.memory.superseded_by_id.is_some() && self.ended_by_replacement(before.row)?;
        let revived = self.rewrite(change, before, event, outcome, |memory| {
            edit(memory);
            if leads {
                memory.superseded_by_id = None;
                memory.valid_until = memory.valid_until.filter(|_| !ended);
            }
        })?;
        if leads {
            self.re_supersede(change, id)?;
        }
        Ok(revived)
    }

    /// Whether this memory is superseded and the newest memory of the chain is not soft-deleted.
    fn is_history(&self, memory: &Memory) -> Result<bool> {
        let mut seen = HashSet::from([memory.id]);
        let (mut next, mut state) = (memory.superseded_by_id, State::SoftDeleted);
        while let Some(id) = next {
            match self.lookup(id)? {
                Some(newer) if seen.insert(id) => (next, state) = (newer.memory.superseded_by_id, newer.memory.state),
                // A dangling or circular pointer leaves the head unknown; the doctor repairs it.
                _ => return Ok(true),
            }
        }
        Ok(state != State::SoftDeleted)
    }

    /// Accepts or rejects a proposal. An accepted proposal supersedes `over`, if given.
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
            return Err(Error::Refused(format!("memory {id} is {}, not a proposal", before.memory.state)));
        }
        if !accept {
            return self.rewrite(change, before, Event::Consent, Outcome::Deleted, |memory| {
                memory.state = State::SoftDeleted;
                memory.purge_at = Some(purge_at);
            });
        }
        if let Some(newer) = before.memory.superseded_by_id {
            return Err(Error::Refused(format!("proposal {id} was already replaced by {newer}; reject it")));
        }
        if let Some(old) = over {
            if old == id {
                return Err(Error::Refused(format!("memory {id} cannot replace itself")));
            }
            let old = self.require_head(old)?;
            let edge = replacing(change, id, old.memory.id);
            self.sql(graph::link(self.connection, before.row, old.row, &edge))?;
            self.mark_superseded(change, old, &before.memory)?;
        }
        let decided = self.rewrite(change, before, Event::Consent, Outcome::Created, |memory| {
            memory.state = State::Active;
            memory.purge_at = None;
            memory.supersedes_id = over;
        })?;
        self.re_supersede(change, id)?;
        Ok(decided)
    }

    /// Undoes a merge: the merged memories become valid again.
    pub(crate) fn split(&self, change: &Change, into: MemoryId, from: &[MemoryId]) -> Result<Applied> {
        let kept = self.find(into)?;
        for id in from {
            let other = self.find(*id)?;
            // A memory that was superseded, not merged, is reinstated when its head goes.
            if other.memory.superseded_by_id != Some(into) || kept.memory.supersedes_id == Some(*id) {
                return Err(Error::Refused(format!("memory {id} was not merged into {into}")));
            }
            let state = other.memory.state;
            self.detach(change, other)?;
            if is_settled(state) {
                self.re_supersede(change, *id)?;
            }
        }
        Ok(applied(&kept.memory, Outcome::Restored, None))
    }

    /// Makes a memory that nothing supersedes the head of its chain again: every memory before it is superseded by the
    /// one after it. Refused if the chain has another head.
    fn re_supersede(&self, change: &Change, id: MemoryId) -> Result<()> {
        let chain = self.chain_of(id, None)?;
        let mut before = Vec::new();
        let mut next = chain.get(&id).and_then(|link| link.supersedes);
        while let Some(link) = next.and_then(|id| chain.get(&id)) {
            if link.id == id || before.contains(&link.id) {
                return Err(circle(id));
            }
            before.push(link.id);
            next = link.supersedes;
        }
        if let Some(head) = chain.values().find(|link| link.id != id && link.is_head() && !before.contains(&link.id)) {
            return Err(Error::Refused(format!(
                "memory {id} cannot become valid again, because memory {head} has superseded it; run \
                 `loci forget {head}` first, or give {head} the text of {id}",
                head = head.id
            )));
        }
        let mut newer = self.find(id)?.memory;
        for id in before {
            let older = self.find(id)?;
            let memory = older.memory.clone();
            if memory.superseded_by_id != Some(newer.id) {
                self.mark_superseded(change, older, &newer)?;
            }
            newer = memory;
        }
        Ok(())
    }

    /// Refuses an imported memory whose pointers would make its chain fork or close in a circle.
    pub(crate) fn check_pointers(&self, id: MemoryId) -> Result<()> {
        let chain = self.chain_of(id, None)?;
        let pointers: [fn(&ChainLink) -> Option<MemoryId>; 2] = [|link| link.superseded_by, |link| link.supersedes];
        for pointer in pointers {
            let mut seen = HashSet::new();
            let mut next = Some(id);
            while let Some(link) = next.and_then(|id| chain.get(&id)) {
                if !seen.insert(link.id) {
                    return Err(circle(id));
                }
                next = pointer(link);
            }
        }
        let is_head = chain.get(&id).is_some_and(ChainLink::is_head);
        match chain.values().find(|link| link.id != id && link.is_head()) {
            Some(head) if is_head => Err(Error::Refused(format!(
                "memory {id} would be a second head of the chain of memory {head}; run `loci forget {head}` first, or \
                 set `supersededById` of {id} to it",
                head = head.id
            ))),
            _ => Ok(()),
        }
    }

    /// Links the neighbours of a removed memory, so that no pointer dangles. A memory that only the removed one
    /// superseded is superseded by the head of the chain, if there is one, so that no second head arises.
    pub(crate) fn relink_neighbours(&self, change: &Change, gone: &StoredMemory) -> Result<()> {
        for stored in self.neighbours("superseded_by_id", gone.memory.id)? {
            let mut successor = gone.memory.superseded_by_id;
            if successor.is_none() && is_settled(stored.memory.state) {
                let chain = self.chain_of(stored.memory.id, Some(gone.memory.id))?;
                successor = chain.values().find(|link| link.is_head()).map(|link| link.id);
            }
            self.rewrite(change, stored, Event::Update, Outcome::Updated, |memory| {
                memory.superseded_by_id = successor
            })?;
        }
        for stored in self.neighbours("supersedes_id", gone.memory.id)? {
            self.rewrite(change, stored, Event::Update, Outcome::Updated, |memory| {
                memory.supersedes_id = gone.memory.supersedes_id;
            })?;
        }
        Ok(())
    }

    fn neighbours(&self, pointer: &str, id: MemoryId) -> Result<Vec<StoredMemory>> {
        let sql =
            format!("SELECT {}, m.row, m.scope FROM memories m WHERE m.{pointer} = ?1 ORDER BY m.row", row::COLUMNS);
        let found = self.connection.query_map(&sql, params![id], stored);
        self.sql(found)
    }

    /// The memories of the chain that contains `id`, as if the memory `without` did not exist.
    fn chain_of(&self, id: MemoryId, without: Option<MemoryId>) -> Result<BTreeMap<MemoryId, ChainLink>> {
        let mut chain = BTreeMap::new();
        let mut seen: HashSet<MemoryId> = without.into_iter().collect();
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            if !seen.insert(id) {
                continue;
            }
            for link in self.links_at(id)? {
                waiting.push(link.id);
                if link.id == id {
                    waiting.extend(link.supersedes.iter().chain(&link.superseded_by));
                    chain.insert(id, link);
                }
            }
        }
        Ok(chain)
    }

    /// A memory and the memories that point to it.
    fn links_at(&self, id: MemoryId) -> Result<Vec<ChainLink>> {
        let found = self.connection.query_map(
            "SELECT id, supersedes_id, superseded_by_id, state FROM memories \
                 WHERE id = ?1 OR supersedes_id = ?1 OR superseded_by_id = ?1",
            params![id],
            ChainLink::read,
        );
        self.sql(found)
    }
}

fn circle(id: MemoryId) -> Error {
    Error::Refused(format!("memory {id} would replace itself: its chain would contain a cycle"))
}

/// The edge from a memory to the one that it supersedes.
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
