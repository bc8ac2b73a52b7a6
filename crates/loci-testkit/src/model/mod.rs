//! A model-based test of stores.
//!
//! The model keeps memories in plain collections and applies the same rules as a store. Random sequences of changes are
//! applied to both; after each sequence the store must equal its model.

mod law;
mod steps;

use std::collections::{BTreeMap, BTreeSet};

use loci_types::{
    Action, Addition, Bookkeeping, Change, ContentHash, ErrorKind, Filter, Memory, MemoryId, Outcome, Reach, Relation,
    Revision, Space, State, Visible, reinforced,
};

pub use self::law::agrees;
pub use self::steps::{Op, chain_sequences, changes, sequences};

/// The model: the content of a store in plain collections.
#[derive(Debug, Default)]
pub struct Model {
    known: Vec<(MemoryId, Space)>,
    stored: BTreeMap<MemoryId, ModelMemory>,
    edges: BTreeSet<(MemoryId, MemoryId, Relation)>,
}

#[derive(Debug, Clone)]
struct ModelMemory {
    memory: Memory,
    unless: Option<ContentHash>,
    embedded: bool,
    /// Whether its `valid_until` was set because it was superseded or merged.
    ended: bool,
}

/// The result of a change: id, outcome and version, or the kind of the error. A store must return the same.
type Answer = Result<(Option<MemoryId>, Outcome, u64), ErrorKind>;

impl Model {
    /// Applies one change to a space.
    pub fn apply(&mut self, space: &Space, change: &Change) -> Answer {
        // A refused change is rolled back.
        let (stored, edges) = (self.stored.clone(), self.edges.clone());
        let answer = self.attempt(space, change);
        if answer.is_err() {
            (self.stored, self.edges) = (stored, edges);
        }
        answer
    }

    fn attempt(&mut self, space: &Space, change: &Change) -> Answer {
        let outcome = |outcome| move |(id, version)| (Some(id), outcome, version);
        match &change.action {
            Action::Add(addition) => self.add(space, change, addition),
            Action::Revise(revision) => self.revise(space, change, revision),
            Action::Merge { into, from } => self.merge(space, change, into, from),
            Action::Supersede { old, new } => {
                self.require_head(space, *old)?;
                let mut new = new.clone();
                new.memory.supersedes_id = Some(*old);
                let unless = new.unless.take();
                self.add(space, change, &new)?;
                if let Some(stored) = self.stored.get_mut(&new.memory.id) {
                    stored.unless = unless;
                }
                self.mark_superseded(change, *old, &new.memory);
                self.edges.insert((new.memory.id, *old, Relation::Supersedes));
                Ok((Some(new.memory.id), Outcome::Superseded, new.memory.version))
            }
            Action::Split { into, from } => self.split(space, change, *into, from),
            Action::Decide { id, accept, over, purge_at } => {
                let before = self.find(space, *id)?.memory.clone();
                if before.state != State::Proposed || (*accept && *over == Some(*id)) {
                    return Err(ErrorKind::InvalidInput);
                }
                if *accept && before.superseded_by_id.is_some() {
                    return Err(ErrorKind::InvalidInput);
                }
                if let Some(old) = over.filter(|_| *accept) {
                    self.require_head(space, old)?;
                    self.edges.insert((*id, old, Relation::Supersedes));
                    self.mark_superseded(change, old, &before);
                }
                self.rewrite(change, *id, |memory| {
                    memory.state = if *accept { State::Active } else { State::SoftDeleted };
                    memory.purge_at = (!accept).then_some(*purge_at);
                    memory.supersedes_id = if *accept { *over } else { memory.supersedes_id };
                });
                if *accept {
                    self.re_supersede(change, *id)?;
                }
                Ok(self.version(*id)).map(outcome(if *accept { Outcome::Created } else { Outcome::Deleted }))
            }
            Action::Link(edge) => {
                let version = self.find(space, edge.source_id)?.memory.version;
                self.find(space, edge.target_id)?;
                if edge.source_id == edge.target_id {
                    return Err(ErrorKind::InvalidInput);
                }
                let new = self.edges.insert((edge.source_id, edge.target_id, edge.relation));
                Ok((Some(edge.source_id), if new { Outcome::Created } else { Outcome::Updated }, version))
            }
            Action::Unlink { source, target, relation } => {
                let version = self.find(space, *source)?.memory.version;
                self.find(space, *target)?;
                let gone = self.edges.remove(&(*source, *target, *relation));
                Ok((Some(*source), if gone { Outcome::Deleted } else { Outcome::None }, version))
            }
            Action::Bookkeeping(Bookkeeping::Touch { ids }) => {
                for id in ids {
                    if let Some(stored) = self.stored.get_mut(id).filter(|stored| space_of(stored) == *space) {
                        stored.memory.access_count += 1;
                        stored.memory.confidence = reinforced(stored.memory.confidence, stored.memory.access_count);
                        stored.memory.last_accessed_at = stored.memory.last_accessed_at.max(Some(change.at));
                    }
                }
                Ok((None, Outcome::Updated, 0))
            }
            Action::Forget { id, purge_at, .. } => {
                if self.find(space, *id)?.memory.state == State::SoftDeleted {
                    return Ok(self.version(*id)).map(outcome(Outcome::None));
                }
                self.reinstate_previous(change, *id);
                self.rewrite(change, *id, |memory| {
                    memory.state = State::SoftDeleted;
                    memory.purge_at = Some(*purge_at);
                });
                Ok(self.version(*id)).map(outcome(Outcome::Deleted))
            }
            Action::Restore { id } => {
                let before = self.find(space, *id)?.memory.clone();
                if before.state == State::Active {
                    return Ok((Some(*id), Outcome::None, before.version));
                }
                if before.state == State::Proposed {
                    return Err(ErrorKind::InvalidInput);
                }
                self.revive(change, *id, |memory| {
                    memory.state = State::Active;
                    memory.purge_at = None;
                })?;
                Ok(self.version(*id)).map(outcome(Outcome::Restored))
            }
            Action::Fade { id, state, confidence, purge_at, .. } => {
                let before = self.find(space, *id)?.memory.state;
                if !before.may_become(*state) {
                    return Err(ErrorKind::InvalidInput);
                }
                let edit = |memory: &mut Memory| {
                    memory.state = *state;
                    memory.confidence = confidence.unwrap_or(memory.confidence);
                    memory.purge_at = *purge_at;
                };
                let changed = if !is_settled(before) && is_settled(*state) {
                    self.revive(change, *id, edit)?
                } else {
                    self.rewrite(change, *id, edit)
                };
                Ok(self.version(*id)).map(outcome(if changed { Outcome::Updated } else { Outcome::None }))
            }
            Action::Purge { id } if self.find(space, *id)?.memory.state != State::SoftDeleted => {
                Ok(self.version(*id)).map(outcome(Outcome::None))
            }
            Action::Purge { id } | Action::Erase { id } => self.remove(space, change, *id),
            Action::Embed { id, of, .. } => {
                let Ok(stored) = self.find(space, *id) else { return Ok((None, Outcome::None, 0)) };
                let (fresh, version) = (stored.memory.content_hash == *of, stored.memory.version);
                if let Some(stored) = self.stored.get_mut(id) {
                    stored.embedded |= fresh;
                }
                Ok((Some(*id), if fresh { Outcome::Updated } else { Outcome::None }, version))
            }
            other => panic!("the model does not know {other:?}"),
        }
    }

    fn add(&mut self, space: &Space, change: &Change, addition: &Addition) -> Answer {
        let memory = &addition.memory;
        let twin = self.stored.values().find(|other| {
            addition.unless.is_some()
                && other.unless == addition.unless
                && other.memory.scope() == memory.scope()
                && Filter::at(change.at).matches(&other.memory)
        });
        if let Some(twin) = twin {
            return Ok((Some(twin.memory.id), Outcome::None, twin.memory.version));
        }
        self.known.push((memory.id, space.clone()));
        let embedded = addition.vector.is_some();
        let stored = ModelMemory { memory: memory.clone(), unless: addition.unless, embedded, ended: false };
        self.stored.insert(memory.id, stored);
        Ok((Some(memory.id), Outcome::Created, memory.version))
    }

    fn revise(&mut self, space: &Space, change: &Change, revision: &Revision) -> Answer {
        let memory = &self.find(space, revision.id)?.memory;
        if revision.expect.is_some_and(|expect| expect != memory.version) {
            return Err(ErrorKind::VersionConflict);
        }
        if memory.state == State::SoftDeleted {
            return Err(ErrorKind::InvalidInput);
        }
        let changed = self.rewrite(change, revision.id, |memory| revision.patch.apply(memory));
        let (id, version) = self.version(revision.id);
        if !changed {
            return Ok((Some(id), Outcome::None, version));
        }
        if let (Some(content), Some(stored)) = (&revision.patch.content, self.stored.get_mut(&id)) {
            stored.unless = content.unless;
            stored.embedded = revision.vector.is_some();
        }
        Ok((Some(id), Outcome::Updated, version))
    }

    fn merge(&mut self, space: &Space, change: &Change, into: &Revision, from: &[MemoryId]) -> Answer {
        self.require_head(space, into.id)?;
        let (id, _, version) = self.revise(space, change, into)?;
        for other in from {
            if *other == into.id {
                return Err(ErrorKind::InvalidInput);
            }
            self.require_head(space, *other)?;
            let ended = self.stored[other].memory.valid_until.is_none();
            self.rewrite(change, *other, |memory| {
                memory.superseded_by_id = Some(into.id);
                memory.valid_until = memory.valid_until.or(Some(change.at));
            });
            self.stored.entry(*other).and_modify(|stored| stored.ended = ended);
        }
        Ok((id, Outcome::Merged, version))
    }

    fn split(&mut self, space: &Space, change: &Change, into: MemoryId, from: &[MemoryId]) -> Answer {
        let kept = self.find(space, into)?.memory.clone();
        for other in from {
            let stored = self.find(space, *other)?;
            if stored.memory.superseded_by_id != Some(into) || kept.supersedes_id == Some(*other) {
                return Err(ErrorKind::InvalidInput);
            }
            let (ended, state) = (stored.ended, stored.memory.state);
            self.rewrite(change, *other, |memory| {
                memory.superseded_by_id = None;
                memory.valid_until = memory.valid_until.filter(|_| !ended);
            });
            if is_settled(state) {
                self.re_supersede(change, *other)?;
            }
        }
        Ok((Some(into), Outcome::Restored, kept.version))
    }

    /// Returns true if the memory is a proposal.
    fn is_proposal(&self, id: MemoryId) -> bool {
        self.stored.get(&id).is_some_and(|stored| stored.memory.state == State::Proposed)
    }

    fn mark_superseded(&mut self, change: &Change, old: MemoryId, newer: &Memory) {
        let stored = &self.stored[&old];
        let before = stored.memory.valid_until;
        let ended = stored.memory.superseded_by_id.is_some() && stored.ended;
        let until = before.filter(|_| !ended).or(Some(newer.created_at));
        self.rewrite(change, old, |memory| {
            memory.superseded_by_id = Some(newer.id);
            memory.valid_until = until;
        });
        self.stored.entry(old).and_modify(|stored| stored.ended = until != before);
    }

    /// Restores a deleted memory: as history if its chain has a head that is not deleted, or else as the head.
    fn revive(&mut self, change: &Change, id: MemoryId, edit: impl FnOnce(&mut Memory)) -> Result<bool, ErrorKind> {
        let (mut end, ended) = (&self.stored[&id], self.stored[&id].ended);
        while let Some(newer) = end.memory.superseded_by_id.and_then(|newer| self.stored.get(&newer)) {
            end = newer;
        }
        let replaced = self.stored[&id].memory.superseded_by_id.is_some();
        let leads = !replaced || end.memory.state == State::SoftDeleted;
        let changed = self.rewrite(change, id, |memory| {
            edit(memory);
            if leads && replaced {
                memory.superseded_by_id = None;
                memory.valid_until = memory.valid_until.filter(|_| !ended);
            }
        });
        if leads {
            self.re_supersede(change, id)?;
        }
        Ok(changed)
    }

    /// Makes a memory that is not superseded the head of its chain. Refused if the chain has another head.
    fn re_supersede(&mut self, change: &Change, id: MemoryId) -> Result<(), ErrorKind> {
        let mut line = vec![id];
        while let Some(older) = self.stored[&line[line.len() - 1]].memory.supersedes_id
            && self.stored.contains_key(&older)
        {
            line.push(older);
        }
        if self.heads_of(id, None).iter().any(|head| !line.contains(head)) {
            return Err(ErrorKind::InvalidInput);
        }
        for pair in line.windows(2) {
            if self.stored[&pair[1]].memory.superseded_by_id != Some(pair[0]) {
                let newer = self.stored[&pair[0]].memory.clone();
                self.mark_superseded(change, pair[1], &newer);
            }
        }
        Ok(())
    }

    /// Returns the heads of the chain of a memory, ignoring the memory `without`.
    fn heads_of(&self, id: MemoryId, without: Option<MemoryId>) -> Vec<MemoryId> {
        let mut chain = BTreeSet::from([id]);
        loop {
            let joined = |stored: &&ModelMemory| {
                let pointers = [stored.memory.supersedes_id, stored.memory.superseded_by_id];
                let points = pointers.iter().flatten().any(|other| chain.contains(other));
                let is_pointed_at = |id: &MemoryId| {
                    self.stored.get(id).is_some_and(|other| {
                        [other.memory.supersedes_id, other.memory.superseded_by_id].contains(&Some(stored.memory.id))
                    })
                };
                points || chain.iter().any(is_pointed_at)
            };
            let there = self.stored.values().filter(|stored| Some(stored.memory.id) != without);
            let more: Vec<MemoryId> = there.filter(joined).map(|stored| stored.memory.id).collect();
            let before = chain.len();
            chain.extend(more);
            if chain.len() == before {
                break;
            }
        }
        let is_head = |id: &MemoryId| {
            self.stored.get(id).is_some_and(|l| l.memory.superseded_by_id.is_none() && is_settled(l.memory.state))
        };
        chain.into_iter().filter(is_head).collect()
    }

    fn reinstate_previous(&mut self, change: &Change, head: MemoryId) {
        let memory = &self.stored[&head].memory;
        let (None, Some(mut older)) = (memory.superseded_by_id, memory.supersedes_id) else { return };
        let mut newer = head;
        let Some(mut stored) = self.stored.get(&older) else { return };
        while stored.memory.state == State::SoftDeleted
            && let Some(id) = stored.memory.supersedes_id
            && let Some(next) = self.stored.get(&id)
        {
            (newer, older, stored) = (older, id, next);
        }
        if stored.memory.superseded_by_id == Some(newer) {
            let ended = stored.ended;
            self.rewrite(change, older, |memory| {
                memory.superseded_by_id = None;
                memory.valid_until = memory.valid_until.filter(|_| !ended);
            });
        }
    }

    fn remove(&mut self, space: &Space, change: &Change, id: MemoryId) -> Answer {
        let gone = self.find(space, id)?.memory.clone();
        if gone.state != State::SoftDeleted {
            self.reinstate_previous(change, id);
        }
        let all: Vec<MemoryId> = self.stored.keys().copied().collect();
        for other in &all {
            if self.stored[other].memory.superseded_by_id != Some(id) {
                continue;
            }
            let mut successor = gone.superseded_by_id;
            if successor.is_none() && is_settled(self.stored[other].memory.state) {
                successor = self.heads_of(*other, Some(id)).first().copied();
            }
            self.rewrite(change, *other, |memory| memory.superseded_by_id = successor);
        }
        for other in all {
            self.rewrite(change, other, |memory| {
                if memory.supersedes_id == Some(id) {
                    memory.supersedes_id = gone.supersedes_id;
                }
            });
        }
        let version = self.version(id).1;
        self.stored.remove(&id);
        self.edges.retain(|(source, target, _)| *source != id && *target != id);
        Ok((Some(id), Outcome::Erased, version))
    }

    fn rewrite(&mut self, change: &Change, id: MemoryId, edit: impl FnOnce(&mut Memory)) -> bool {
        let Some(stored) = self.stored.get_mut(&id) else { return false };
        let before = stored.memory.clone();
        edit(&mut stored.memory);
        let changed = stored.memory != before;
        if changed {
            stored.memory.version += 1;
            stored.memory.updated_at = change.at;
        }
        changed
    }

    fn find(&self, space: &Space, id: MemoryId) -> Result<&ModelMemory, ErrorKind> {
        self.stored.get(&id).filter(|stored| space_of(stored) == *space).ok_or(ErrorKind::NotFound)
    }

    fn require_head(&self, space: &Space, id: MemoryId) -> Result<(), ErrorKind> {
        let memory = &self.find(space, id)?.memory;
        match memory.superseded_by_id {
            None if is_settled(memory.state) => Ok(()),
            _ => Err(ErrorKind::InvalidInput),
        }
    }

    fn version(&self, id: MemoryId) -> (MemoryId, u64) {
        (id, self.stored.get(&id).map_or(0, |stored| stored.memory.version))
    }

    /// Returns the memories that are visible and match the filter, newest first.
    fn matching(&self, visible: &Visible, filter: &Filter) -> Vec<&ModelMemory> {
        let matches = |stored: &&ModelMemory| visible.admits(&stored.memory) && filter.matches(&stored.memory);
        self.stored.values().rev().filter(matches).collect()
    }
}

impl Model {
    /// Returns, for each session, the runs of turns within `reach` of one of these ids, limited to turns that are
    /// visible and match the filter.
    fn turn_runs(&self, visible: &Visible, filter: &Filter, ids: &[MemoryId], reach: usize) -> Vec<Vec<MemoryId>> {
        let matching: BTreeSet<MemoryId> =
            self.matching(visible, filter).iter().map(|stored| stored.memory.id).collect();
        let mut sessions: BTreeMap<_, Vec<MemoryId>> = BTreeMap::new();
        for (id, ModelMemory { memory, .. }) in &self.stored {
            let scope = memory.scope().map(|scope| scope.key()).ok();
            let alone = memory.thread_id.is_none().then_some(*id);
            let session = (scope, &memory.thread_id, &memory.identifiers.session_id, alone);
            sessions.entry(session).or_default().push(*id);
        }
        let mut turn_runs = Vec::new();
        for turns in sessions.values() {
            let is_centre = |at: &usize| ids.contains(&turns[*at]) && matching.contains(&turns[*at]);
            let centres: Vec<usize> = (0..turns.len()).filter(is_centre).collect();
            let near = |at: &usize| centres.iter().any(|centre| centre.abs_diff(*at) <= reach);
            let near: Vec<usize> = (0..turns.len()).filter(near).collect();
            for run in near.chunk_by(|one, next| one + 1 == *next) {
                turn_runs.push(run.iter().map(|at| turns[*at]).filter(|id| matching.contains(id)).collect());
            }
        }
        turn_runs.retain(|run: &Vec<MemoryId>| !run.is_empty());
        turn_runs.sort();
        turn_runs
    }

    /// Returns the number of memories of the visible scopes, in any state, that contain a word.
    fn holding(&self, visible: &Visible, word: &str) -> u64 {
        let near = |memory: &Memory| match visible.reach() {
            Reach::Whole => true,
            Reach::Scopes(scopes) => memory.scope().is_ok_and(|scope| scopes.contains(&scope)),
        };
        self.stored.values().filter(|stored| near(&stored.memory) && stored.memory.content.contains(word)).count()
            as u64
    }
}

/// Returns true if a memory in this state can be the head of a chain.
fn is_settled(state: State) -> bool {
    !matches!(state, State::SoftDeleted | State::Proposed)
}

fn space_of(stored: &ModelMemory) -> Space {
    crate::driver::space_of(&stored.memory)
}
