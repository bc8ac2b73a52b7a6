//! Random steps for the model test, and the change that each step makes in the present state of the model.

use loci_types::{AccessPolicy, Action, Bookkeeping, Change, Layer, MemoryId, Relation, Revision, Scope, Space, State};
use proptest::prelude::*;

use super::Model;
use crate::samples::*;

/// One step of a random sequence. The numbers select among the existing memories, texts and states.
#[derive(Debug, Clone)]
pub enum Op {
    /// Adds a memory, sometimes a proposal. A repeated text is a duplicate.
    Add(u8, u8),
    /// Sets a new text, with or without its vector.
    Revise(u8, u8, bool),
    /// Sets fields other than the text, with the present version or a stale one.
    Label(u8, u8, bool),
    /// Adds a memory that supersedes an old one.
    Supersede(u8, u8),
    /// Merges the others into the first.
    Merge(u8, Vec<u8>, u8),
    /// Undoes a merge, sometimes one that did not happen.
    Split(u8, u8),
    /// Decides on a proposal, sometimes with a memory that it supersedes.
    Decide(u8, u8, bool),
    /// Soft-deletes a memory.
    Forget(u8),
    /// Restores a memory.
    Restore(u8),
    /// Sets a new state.
    Fade(u8, u8),
    /// Purges a memory, which has an effect only if it is soft-deleted.
    Purge(u8),
    /// Erases a memory.
    Erase(u8),
    /// Counts an access.
    Touch(u8),
    /// Adds a link.
    Link(u8, u8, u8),
    /// Removes a link.
    Unlink(u8, u8, u8),
    /// Sets a vector, sometimes of an old text.
    Embed(u8, bool),
}

/// Generates sequences of up to `longest` steps.
pub fn sequences(longest: usize) -> impl Strategy<Value = Vec<Op>> {
    let n = any::<u8>;
    let op = prop_oneof![
        6 => (n(), n()).prop_map(|(a, b)| Op::Add(a, b)),
        3 => (n(), n(), any::<bool>()).prop_map(|(a, b, c)| Op::Revise(a, b, c)),
        2 => (n(), n(), any::<bool>()).prop_map(|(a, b, c)| Op::Label(a, b, c)),
        4 => (n(), n()).prop_map(|(a, b)| Op::Supersede(a, b)),
        2 => (n(), prop::collection::vec(n(), 0..3), n()).prop_map(|(a, b, c)| Op::Merge(a, b, c)),
        2 => (n(), n()).prop_map(|(a, b)| Op::Split(a, b)),
        2 => (n(), n(), any::<bool>()).prop_map(|(a, b, c)| Op::Decide(a, b, c)),
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

/// Generates sequences of up to `longest` steps that supersede, merge, forget and restore memories of one scope. These
/// are the steps that could make a chain fork or form a cycle.
pub fn chain_sequences(longest: usize) -> impl Strategy<Value = Vec<Op>> {
    let n = any::<u8>;
    let op = prop_oneof![
        2 => n().prop_map(|text| Op::Add(0, text)),
        6 => (n(), n()).prop_map(|(a, b)| Op::Supersede(a, b)),
        2 => (n(), prop::collection::vec(n(), 1..3), n()).prop_map(|(a, b, c)| Op::Merge(a, b, c)),
        2 => (n(), n()).prop_map(|(a, b)| Op::Split(a, b)),
        3 => (n(), n(), any::<bool>()).prop_map(|(a, b, c)| Op::Decide(a, b, c)),
        6 => n().prop_map(Op::Forget),
        6 => n().prop_map(Op::Restore),
        3 => (n(), n()).prop_map(|(a, b)| Op::Fade(a, b)),
        1 => n().prop_map(Op::Purge),
        1 => n().prop_map(Op::Erase),
    ];
    prop::collection::vec(op, 1..=longest)
}

/// Returns the changes of the steps, each with its space, for a store that is empty at the start.
pub fn changes(ops: &[Op]) -> Vec<(Space, Change)> {
    let mut model = Model::default();
    (1..)
        .zip(ops)
        .map(|(number, op)| {
            let (space, change) = model.change(number, op);
            // Refused changes are kept: they must leave the store unchanged.
            let _ = model.apply(&space, &change);
            (space, change)
        })
        .collect()
}

pub(super) const WORDS: [&str; 6] = ["lantern", "candle", "torch", "beacon", "ember", "match"];

pub(super) fn scopes() -> [Scope; 4] {
    [user("anna"), scope(Layer::Team, &["crew"]), agent("bot"), scope(Layer::Agent, &["bot", "ben"])]
}

impl Model {
    /// Returns the change of a step, and the space that it applies to.
    pub(super) fn change(&self, number: u64, op: &Op) -> (Space, Change) {
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
            memory.importance = f64::from(n % 4) / 4.0;
            memory.thread_id = (!n.is_multiple_of(3)).then(|| format!("t-{}", n % 2));
            memory.identifiers.session_id = (number > 8).then(|| format!("s-{}", number / 8));
            memory
        };
        let scope_of = |id: &MemoryId, space: &Space| {
            let found = self.stored.get(id).and_then(|stored| stored.memory.scope().ok());
            found.unwrap_or_else(|| all.iter().find(|scope| scope.space() == *space).unwrap_or(&all[0]).clone())
        };
        let relation = |n: &u8| Relation::ALL[usize::from(*n) % Relation::ALL.len()];
        let (space, action) = match op {
            Op::Add(scope, n) => {
                let scope = &all[usize::from(*scope) % all.len()];
                let mut memory = fresh(scope, n);
                if n.is_multiple_of(5) {
                    (memory.state, memory.purge_at) = (State::Proposed, Some(at(5_500)));
                }
                (scope.space(), Action::Add(Box::new(addition(memory))))
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
            Op::Split(which, n) => {
                // The memory that it was merged into, if there is one; sometimes any other.
                let (merged, space) = pick(which);
                let newer = self.stored.get(&merged).and_then(|stored| stored.memory.superseded_by_id);
                let into = newer.filter(|_| !n.is_multiple_of(4)).unwrap_or(pick(n).0);
                (space, Action::Split { into, from: vec![merged] })
            }
            Op::Decide(which, n, accept) => {
                // A proposal, if there is one; sometimes any memory.
                let proposals: Vec<_> = self.known.iter().filter(|(id, _)| self.is_proposal(*id)).collect();
                let (id, space) = match proposals.len() {
                    0 => pick(which),
                    _ if n.is_multiple_of(7) => pick(which),
                    len => proposals[usize::from(*which) % len].clone(),
                };
                let over = (n % 2 == 0).then(|| pick(n).0);
                (space, Action::Decide { id, accept: *accept, over, purge_at: at(6_500) })
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
                (space, Action::Bookkeeping(Bookkeeping::Touch { ids: vec![id] }))
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
                let text = self.stored.get(&id).map_or("", |stored| &stored.memory.content);
                let of = if *stale { hash("another text") } else { hash(text) };
                (space, Action::Embed { id, of, vector: vector(text) })
            }
        };
        (space, change(at(number as i64), action))
    }
}
