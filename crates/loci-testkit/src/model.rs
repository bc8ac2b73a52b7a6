//! What would the simplest store do?
//!
//! A plain list of memories under the same rules, random sequences of changes, and the law that a
//! store equals its model after any of them.

use std::collections::{BTreeMap, BTreeSet};

use loci_store::{Error, Page, Store};
use loci_types::{
    AccessPolicy, Action, Addition, Change, ContentHash, ErrorKind, Filter, Layer, Memory, MemoryId, Outcome, Reach,
    Relation, Revision, Scope, Space, State, Tenant, Visible,
};
use proptest::prelude::*;

use crate::hand::{Hand, good};
use crate::samples::*;

/// One step of a random sequence. Numbers pick among what there is.
#[derive(Debug, Clone)]
pub enum Op {
    /// A new memory; a text that comes twice is a twin.
    Add(u8, u8),
    /// New text, with its vector or without.
    Revise(u8, u8, bool),
    /// New values other than the text, with the version seen or a stale one.
    Label(u8, u8, bool),
    /// A new memory in place of an old one.
    Supersede(u8, u8),
    /// The first takes up the others.
    Merge(u8, Vec<u8>, u8),
    /// Soft delete.
    Forget(u8),
    /// Back again.
    Restore(u8),
    /// A new state.
    Fade(u8, u8),
    /// Removes what is soft-deleted.
    Purge(u8),
    /// Removes at once.
    Erase(u8),
    /// Counts a recall.
    Touch(u8),
    /// An edge.
    Link(u8, u8, u8),
    /// No edge.
    Unlink(u8, u8, u8),
    /// A vector, perhaps of an old text.
    Embed(u8, bool),
}

/// Sequences of up to `longest` steps.
pub fn sequences(longest: usize) -> impl Strategy<Value = Vec<Op>> {
    let n = any::<u8>;
    let op = prop_oneof![
        6 => (n(), n()).prop_map(|(a, b)| Op::Add(a, b)),
        3 => (n(), n(), any::<bool>()).prop_map(|(a, b, c)| Op::Revise(a, b, c)),
        2 => (n(), n(), any::<bool>()).prop_map(|(a, b, c)| Op::Label(a, b, c)),
        4 => (n(), n()).prop_map(|(a, b)| Op::Supersede(a, b)),
        2 => (n(), prop::collection::vec(n(), 0..3), n()).prop_map(|(a, b, c)| Op::Merge(a, b, c)),
        3 => n().prop_map(Op::Forget),
        3 => n().prop_map(Op::Restore),
        2 => (n(), n()).prop_map(|(a, b)| Op::Fade(a, b)),
        2 => n().prop_map(Op::Purge),
        2 => n().prop_map(Op::Erase),
        1 => n().prop_map(Op::Touch),
        2 => (n(), n(), n()).prop_map(|(a, b, c)| Op::Link(a, b, c)),
        1 => (n(), n(), n()).prop_map(|(a, b, c)| Op::Unlink(a, b, c)),
        1 => (n(), any::<bool>()).prop_map(|(a, b)| Op::Embed(a, b)),
    ];
    prop::collection::vec(op, 1..=longest)
}

const WORDS: [&str; 6] = ["lantern", "candle", "torch", "beacon", "ember", "match"];

fn scopes() -> [Scope; 4] {
    [user("anna"), scope(Layer::Team, &["crew"]), agent("bot"), scope(Layer::Agent, &["bot", "ben"])]
}

/// The model: all that a store holds, in plain collections.
#[derive(Debug, Default)]
pub struct Model {
    known: Vec<(MemoryId, Space)>,
    lying: BTreeMap<MemoryId, Lying>,
    edges: BTreeSet<(MemoryId, MemoryId, Relation)>,
}

#[derive(Debug, Clone)]
struct Lying {
    memory: Memory,
    unless: Option<ContentHash>,
    embedded: bool,
    /// Whether the end of its validity was set by its replacement.
    ended: bool,
}

/// What the model says to a change: what a store must say.
type Answer = Result<(Option<MemoryId>, Outcome, u64), ErrorKind>;

impl Model {
    /// Applies one change to a space.
    pub fn apply(&mut self, space: &Space, change: &Change) -> Answer {
        // A change that is refused leaves nothing behind.
        let (lying, edges) = (self.lying.clone(), self.edges.clone());
        let answer = self.attempt(space, change);
        if answer.is_err() {
            (self.lying, self.edges) = (lying, edges);
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
                self.unreplaced(space, *old)?;
                let mut new = new.clone();
                new.memory.supersedes_id = Some(*old);
                let unless = new.unless.take();
                self.add(space, change, &new)?;
                if let Some(lying) = self.lying.get_mut(&new.memory.id) {
                    lying.unless = unless;
                }
                self.cover(change, *old, &new.memory);
                self.edges.insert((new.memory.id, *old, Relation::Supersedes));
                Ok((Some(new.memory.id), Outcome::Superseded, new.memory.version))
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
            Action::Touch { ids } => {
                for id in ids {
                    if let Some(lying) = self.lying.get_mut(id).filter(|lying| space_of(lying) == *space) {
                        lying.memory.access_count += 1;
                        lying.memory.last_accessed_at = lying.memory.last_accessed_at.max(Some(change.at));
                    }
                }
                Ok((None, Outcome::Updated, 0))
            }
            Action::Forget { id, purge_at, .. } => {
                if self.find(space, *id)?.memory.state == State::SoftDeleted {
                    return Ok(self.version(*id)).map(outcome(Outcome::None));
                }
                self.uncover(change, *id);
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
                if let Some(older) = before.supersedes_id.and_then(|older| self.lying.get(&older))
                    && older.memory.superseded_by_id.is_none()
                {
                    self.cover(change, older.memory.id, &before);
                }
                self.rewrite(change, *id, |memory| {
                    memory.state = State::Active;
                    memory.purge_at = None;
                });
                Ok(self.version(*id)).map(outcome(Outcome::Restored))
            }
            Action::Fade { id, state, confidence, purge_at, .. } => {
                self.find(space, *id)?;
                let changed = self.rewrite(change, *id, |memory| {
                    memory.state = *state;
                    memory.confidence = confidence.unwrap_or(memory.confidence);
                    memory.purge_at = *purge_at;
                });
                Ok(self.version(*id)).map(outcome(if changed { Outcome::Updated } else { Outcome::None }))
            }
            Action::Purge { id } if self.find(space, *id)?.memory.state != State::SoftDeleted => {
                Ok(self.version(*id)).map(outcome(Outcome::None))
            }
            Action::Purge { id } | Action::Erase { id } => self.remove(space, change, *id),
            Action::Embed { id, of, .. } => {
                let Ok(lying) = self.find(space, *id) else { return Ok((None, Outcome::None, 0)) };
                let (fresh, version) = (lying.memory.content_hash == *of, lying.memory.version);
                if let Some(lying) = self.lying.get_mut(id) {
                    lying.embedded |= fresh;
                }
                Ok((Some(*id), if fresh { Outcome::Updated } else { Outcome::None }, version))
            }
            other => panic!("the model does not know {other:?}"),
        }
    }

    fn add(&mut self, space: &Space, change: &Change, addition: &Addition) -> Answer {
        let memory = &addition.memory;
        let twin = self.lying.values().find(|other| {
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
        let lying = Lying { memory: memory.clone(), unless: addition.unless, embedded, ended: false };
        self.lying.insert(memory.id, lying);
        Ok((Some(memory.id), Outcome::Created, memory.version))
    }

    fn revise(&mut self, space: &Space, change: &Change, revision: &Revision) -> Answer {
        let memory = &self.find(space, revision.id)?.memory;
        if revision.expect.is_some_and(|expect| expect != memory.version) {
            return Err(ErrorKind::Conflict);
        }
        if memory.state == State::SoftDeleted {
            return Err(ErrorKind::InvalidInput);
        }
        let changed = self.rewrite(change, revision.id, |memory| revision.patch.apply(memory));
        let (id, version) = self.version(revision.id);
        if !changed {
            return Ok((Some(id), Outcome::None, version));
        }
        if let (Some(content), Some(lying)) = (&revision.patch.content, self.lying.get_mut(&id)) {
            lying.unless = content.unless;
            lying.embedded = revision.vector.is_some();
        }
        Ok((Some(id), Outcome::Updated, version))
    }

    fn merge(&mut self, space: &Space, change: &Change, into: &Revision, from: &[MemoryId]) -> Answer {
        self.unreplaced(space, into.id)?;
        let (id, _, version) = self.revise(space, change, into)?;
        for other in from {
            if *other == into.id {
                return Err(ErrorKind::InvalidInput);
            }
            self.unreplaced(space, *other)?;
            let ended = self.lying[other].memory.valid_until.is_none();
            self.rewrite(change, *other, |memory| {
                memory.superseded_by_id = Some(into.id);
                memory.valid_until = memory.valid_until.or(Some(change.at));
            });
            self.lying.entry(*other).and_modify(|lying| lying.ended = ended);
        }
        Ok((id, Outcome::Merged, version))
    }

    fn cover(&mut self, change: &Change, old: MemoryId, head: &Memory) {
        let ended = self.lying[&old].memory.valid_until.is_none();
        self.rewrite(change, old, |memory| {
            memory.superseded_by_id = Some(head.id);
            memory.valid_until = memory.valid_until.or(Some(head.created_at));
        });
        self.lying.entry(old).and_modify(|lying| lying.ended = ended);
    }

    fn uncover(&mut self, change: &Change, head: MemoryId) {
        let memory = &self.lying[&head].memory;
        let (None, Some(older)) = (memory.superseded_by_id, memory.supersedes_id) else { return };
        let Some(lying) = self.lying.get(&older) else { return };
        if lying.memory.superseded_by_id == Some(head) {
            let ended = lying.ended;
            self.rewrite(change, older, |memory| {
                memory.superseded_by_id = None;
                memory.valid_until = memory.valid_until.filter(|_| !ended);
            });
        }
    }

    fn remove(&mut self, space: &Space, change: &Change, id: MemoryId) -> Answer {
        let gone = self.find(space, id)?.memory.clone();
        if gone.state != State::SoftDeleted {
            self.uncover(change, id);
        }
        for other in self.lying.keys().copied().collect::<Vec<_>>() {
            self.rewrite(change, other, |memory| {
                if memory.superseded_by_id == Some(id) {
                    memory.superseded_by_id = gone.superseded_by_id;
                }
            });
            self.rewrite(change, other, |memory| {
                if memory.supersedes_id == Some(id) {
                    memory.supersedes_id = gone.supersedes_id;
                }
            });
        }
        let version = self.version(id).1;
        self.lying.remove(&id);
        self.edges.retain(|(source, target, _)| *source != id && *target != id);
        Ok((Some(id), Outcome::Erased, version))
    }

    fn rewrite(&mut self, change: &Change, id: MemoryId, edit: impl FnOnce(&mut Memory)) -> bool {
        let Some(lying) = self.lying.get_mut(&id) else { return false };
        let before = lying.memory.clone();
        edit(&mut lying.memory);
        let changed = lying.memory != before;
        if changed {
            lying.memory.version += 1;
            lying.memory.updated_at = change.at;
        }
        changed
    }

    fn find(&self, space: &Space, id: MemoryId) -> Result<&Lying, ErrorKind> {
        self.lying.get(&id).filter(|lying| space_of(lying) == *space).ok_or(ErrorKind::NotFound)
    }

    fn unreplaced(&self, space: &Space, id: MemoryId) -> Result<(), ErrorKind> {
        match self.find(space, id)?.memory.superseded_by_id {
            Some(_) => Err(ErrorKind::InvalidInput),
            None => Ok(()),
        }
    }

    fn version(&self, id: MemoryId) -> (MemoryId, u64) {
        (id, self.lying.get(&id).map_or(0, |lying| lying.memory.version))
    }

    /// What is visible and meant, newest first.
    fn meant(&self, visible: &Visible, filter: &Filter) -> Vec<&Lying> {
        let meant = |lying: &&Lying| visible.admits(&lying.memory) && filter.matches(&lying.memory);
        self.lying.values().rev().filter(meant).collect()
    }

    /// The change that a step stands for, and the space it is for.
    fn change(&self, number: u64, op: &Op) -> (Space, Change) {
        let all = scopes();
        let pick = |n: &u8| match self.known.len() {
            0 => (id(77_777), all[0].space()),
            len => self.known[usize::from(*n) % len].clone(),
        };
        let text = |n: &u8| format!("{} {}", WORDS[usize::from(*n) % WORDS.len()], n % 3);
        let fresh = |scope: &Scope, n: &u8| {
            let mut memory = memory(number, scope, &text(n));
            memory.category = (!n.is_multiple_of(4)).then(|| format!("c{}", n % 4));
            memory.access_policy = AccessPolicy::ALL[usize::from(n / 7) % AccessPolicy::ALL.len()];
            memory.actor_id = (n % 5 > 2).then(|| "ben".to_owned());
            memory.valid_until = (n.is_multiple_of(11)).then(|| at(8_000));
            memory.expires_at = (n.is_multiple_of(13)).then(|| at(15));
            memory
        };
        let scope_of = |id: &MemoryId, space: &Space| {
            let found = self.lying.get(id).and_then(|lying| lying.memory.scope().ok());
            found.unwrap_or_else(|| all.iter().find(|scope| scope.space() == *space).unwrap_or(&all[0]).clone())
        };
        let relation = |n: &u8| Relation::ALL[usize::from(*n) % Relation::ALL.len()];
        let (space, action) = match op {
            Op::Add(scope, n) => {
                let scope = &all[usize::from(*scope) % all.len()];
                (scope.space(), Action::Add(Box::new(addition(fresh(scope, n)))))
            }
            Op::Revise(which, n, embedded) => {
                let (id, space) = pick(which);
                (space, Action::Revise(Box::new(new_text(id, &text(n), *embedded))))
            }
            Op::Label(which, n, stale) => {
                let (id, space) = pick(which);
                let patch = loci_types::Patch {
                    category: Some((!n.is_multiple_of(4)).then(|| format!("c{}", n % 4))),
                    tags: Some(vec![format!("t{}", n % 3)]),
                    pinned: Some(n % 2 == 0),
                    valid_until: (n % 3 == 0).then(|| (n % 6 == 0).then(|| at(9_000))),
                    ..Default::default()
                };
                let expect = self.version(id).1 + u64::from(*stale);
                (space, Action::Revise(Box::new(Revision { expect: Some(expect), ..revision(id, patch) })))
            }
            Op::Supersede(which, n) => {
                let (old, space) = pick(which);
                let new = fresh(&scope_of(&old, &space), n);
                (space, Action::Supersede { old, new: Box::new(addition(new)) })
            }
            Op::Merge(which, others, n) => {
                let (into, space) = pick(which);
                let from = others.iter().map(|other| pick(other).0).collect();
                (space, Action::Merge { into: Box::new(new_text(into, &text(n), n % 2 == 0)), from })
            }
            Op::Forget(which) => {
                let (id, space) = pick(which);
                (space, Action::Forget { id, expect: None, purge_at: at(7_000) })
            }
            Op::Restore(which) => {
                let (id, space) = pick(which);
                (space, Action::Restore { id })
            }
            Op::Fade(which, n) => {
                let (id, space) = pick(which);
                let state = State::ALL[usize::from(*n) % State::ALL.len()];
                let confidence = (n % 3 == 0).then(|| f64::from(n % 5) / 4.0);
                let purge_at = (state == State::SoftDeleted).then(|| at(6_000));
                (space, Action::Fade { id, state, confidence, relevance: None, purge_at })
            }
            Op::Purge(which) => {
                let (id, space) = pick(which);
                (space, Action::Purge { id })
            }
            Op::Erase(which) => {
                let (id, space) = pick(which);
                (space, Action::Erase { id })
            }
            Op::Touch(which) => {
                let (id, space) = pick(which);
                (space, Action::Touch { ids: vec![id] })
            }
            Op::Link(source, target, n) => {
                let ((source, space), (target, _)) = (pick(source), pick(target));
                (space, Action::Link(edge(number, source, target, relation(n))))
            }
            Op::Unlink(source, target, n) => {
                let ((source, space), (target, _)) = (pick(source), pick(target));
                (space, Action::Unlink { source, target, relation: relation(n) })
            }
            Op::Embed(which, stale) => {
                let (id, space) = pick(which);
                let text = self.lying.get(&id).map_or("", |lying| &lying.memory.content);
                let of = if *stale { hash("another text") } else { hash(text) };
                (space, Action::Embed { id, of, vector: vector(text) })
            }
        };
        (space, change(at(number as i64), action))
    }
}

fn space_of(lying: &Lying) -> Space {
    crate::hand::space_of(&lying.memory)
}

/// Applies the steps to the store and to a model of it. Each answer must be the same, and in the
/// end everything that can be read.
pub async fn agrees(store: &dyn Store, ops: &[Op]) {
    let mut model = Model::default();
    for (number, op) in (1..).zip(ops) {
        let (space, change) = model.change(number, op);
        let expect = model.apply(&space, &change);
        let told = format!("step {number}, {op:?}: {change:?}");
        let answer = store.apply(batch(&space, vec![change])).await;
        let answer = match answer {
            Ok(applied) => Ok((applied[0].id, applied[0].outcome, applied[0].version)),
            Err(Error::Database { source, .. }) => panic!("{told}: {source}"),
            Err(error) => Err(error.kind()),
        };
        assert_eq!(answer, expect, "{told}");
    }
    let all = scopes();
    let categories: &[&str] = &["c1", "c2"];
    for visible in [
        whole(),
        seen_by(Some("ben"), &all[..3]),
        grant(Tenant::default(), Reach::Scopes(all[1..].to_vec()), Some(categories), Some("anna")),
    ] {
        same(store, &model, &visible).await;
    }
}

async fn same(store: &dyn Store, model: &Model, visible: &Visible) {
    let hand = Hand::on(store);
    let ids: Vec<MemoryId> = model.known.iter().map(|(id, _)| *id).collect();
    let there = ids.iter().filter_map(|id| model.lying.get(id)).map(|lying| &lying.memory);
    let expect: Vec<&Memory> = there.filter(|memory| visible.admits(memory)).collect();
    let fetched = good(store.fetch(visible, &ids).await);
    assert_eq!(fetched.iter().collect::<Vec<_>>(), expect, "fetch");
    for filter in [now(), everything(), Filter { as_of: Some(at(12)), ..now() }] {
        let expect = model.meant(visible, &filter);
        let listing = good(store.scan(visible, &filter, Page { after: None, limit: 1_000 }).await);
        let plain: Vec<&Memory> = expect.iter().map(|lying| &lying.memory).collect();
        assert_eq!(listing.memories.iter().collect::<Vec<_>>(), plain, "scan");
        let sorted = |mut ids: Vec<MemoryId>| {
            ids.sort();
            ids
        };
        let near = sorted(hand.near(visible, "lantern", &filter).await);
        let embedded = expect.iter().filter(|lying| lying.embedded).map(|lying| lying.memory.id);
        assert_eq!(near, sorted(embedded.collect()), "nearest");
        for word in WORDS {
            let found = sorted(hand.words(visible, word, &filter).await);
            let holds = expect.iter().filter(|lying| lying.memory.content.contains(word));
            assert_eq!(found, sorted(holds.map(|lying| lying.memory.id).collect()), "lexical: {word}");
        }
    }
    let mut edges = BTreeSet::new();
    for id in &ids {
        edges.extend(
            good(store.edges(visible, *id, None).await)
                .into_iter()
                .map(|edge| (edge.source_id, edge.target_id, edge.relation)),
        );
    }
    let seen = |id: &MemoryId| model.lying.get(id).is_some_and(|lying| visible.admits(&lying.memory));
    let expect: BTreeSet<_> =
        model.edges.iter().copied().filter(|(source, target, _)| seen(source) && seen(target)).collect();
    assert_eq!(edges, expect, "edges");
}
