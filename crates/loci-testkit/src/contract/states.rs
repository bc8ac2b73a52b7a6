//! Contract: changes of state.
//!
//! The reference is [`State::may_become`]; every action that changes a state must agree with it.

use loci_store::{LedgerQuery, Store};
use loci_types::{Action, ErrorKind, Filter, Memory, MemoryId, Outcome, Scope, State};

use crate::driver::{Driver, good};
use crate::samples::*;

/// Stores a memory and brings it to this state by regular actions.
async fn memory_in_state(driver: &Driver<'_>, scope: &Scope, state: State) -> MemoryId {
    let born = if state == State::Proposed { State::Proposed } else { State::Active };
    let purge_at = (born == State::Proposed).then(|| at(40_000));
    let text = format!("lantern {}", driver.next());
    let id = driver.keep(Memory { state: born, purge_at, ..driver.sample(scope, &text) }).await;
    match state {
        State::Active | State::Proposed => {}
        State::SoftDeleted => drop(driver.forget(scope, id).await),
        State::Decayed | State::Archived => drop(driver.must(&scope.space(), fade(id, state)).await),
    }
    assert_eq!(driver.must_get(id).await.state, state);
    id
}

fn fade(id: MemoryId, state: State) -> Action {
    let purge_at = (state == State::SoftDeleted).then(|| at(50_000));
    Action::Fade { id, state, confidence: None, relevance: None, purge_at }
}

fn decide(id: MemoryId, accept: bool) -> Action {
    Action::Decide { id, accept, over: None, purge_at: at(50_000) }
}

/// The actions other than [`Action::Fade`] that lead from one state to another.
fn ways(id: MemoryId, from: State, to: State) -> Vec<Action> {
    match (from, to) {
        (State::Proposed, State::Active) => vec![decide(id, true)],
        (State::Proposed, State::SoftDeleted) => {
            vec![decide(id, false), Action::Forget { id, expect: None, purge_at: at(50_000) }]
        }
        (_, State::Active) => vec![Action::Restore { id }],
        (_, State::SoftDeleted) => vec![Action::Forget { id, expect: None, purge_at: at(50_000) }],
        _ => Vec::new(),
    }
}

/// Every allowed change of state can be made by every action that leads to it, and is in the ledger.
pub async fn every_allowed_step_is_taken(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    for (from, to) in pairs().filter(|(from, to)| from.may_become(*to) && from != to) {
        let count = 1 + ways(id(0), from, to).len();
        for way in 0..count {
            let id = memory_in_state(&driver, &anna, from).await;
            let before = driver.must_get(id).await;
            let action = if way == 0 { fade(id, to) } else { ways(id, from, to).swap_remove(way - 1) };
            let case = format!("{from} to {to}: {action:?}");
            let applied = driver.must(&anna.space(), action).await;
            let after = driver.must_get(id).await;
            assert_eq!(
                (after.state, after.version, applied.version),
                (to, before.version + 1, after.version),
                "{case}"
            );
            let purge_at = (to == State::SoftDeleted).then(|| at(50_000));
            assert_eq!(after.purge_at, purge_at, "only what is deleted is removed for good, {case}");
            let Some(line) = good(store.ledger(&whole(), &LedgerQuery::Memory(id), 99).await).entries.pop() else {
                panic!("no line: {case}")
            };
            let (old, new) = (line.old.unwrap_or_default(), line.new.unwrap_or_default());
            assert_eq!((&old["state"], &new["state"]), (&from.name().into(), &to.name().into()), "{case}");
            assert_eq!(Some(line.sequence), applied.sequence, "{case}");
        }
    }
}

/// Every other change is refused without an effect.
pub async fn every_other_step_is_refused(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    for (from, to) in pairs().filter(|(from, to)| !from.may_become(*to)) {
        let id = memory_in_state(&driver, &anna, from).await;
        refused(&driver, id, fade(id, to)).await;
    }
    let proposal = memory_in_state(&driver, &anna, State::Proposed).await;
    refused(&driver, proposal, Action::Restore { id: proposal }).await;
    for from in [State::Active, State::Decayed, State::Archived, State::SoftDeleted] {
        let id = memory_in_state(&driver, &anna, from).await;
        for accept in [true, false] {
            refused(&driver, id, decide(id, accept)).await;
        }
    }
}

/// Checks that an action is refused and that the memory and its history are unchanged.
async fn refused(driver: &Driver<'_>, id: MemoryId, action: Action) {
    let before =
        (driver.must_get(id).await, good(driver.store.ledger(&whole(), &LedgerQuery::Memory(id), 99).await).entries);
    let case = format!("{} by {action:?}", before.0.state);
    let Err(error) = driver.act(&user("anna").space(), action).await else { panic!("taken: {case}") };
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{case}");
    let after =
        (driver.must_get(id).await, good(driver.store.ledger(&whole(), &LedgerQuery::Memory(id), 99).await).entries);
    assert_eq!(after, before, "{case}");
}

/// An action that leads to the present state changes nothing; a purge removes only deleted memories.
pub async fn staying_is_no_step(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    for state in State::ALL.iter().copied() {
        let id = memory_in_state(&driver, &anna, state).await;
        let before = driver.must_get(id).await;
        let same = Action::Fade { id, state, confidence: None, relevance: None, purge_at: before.purge_at };
        let mut idle = vec![same];
        idle.extend((state == State::SoftDeleted).then(|| ways(id, state, state)).into_iter().flatten());
        idle.extend((state == State::Active).then_some(Action::Restore { id }));
        idle.extend((state != State::SoftDeleted).then_some(Action::Purge { id }));
        for action in idle {
            let case = format!("{state}: {action:?}");
            let applied = driver.must(&anna.space(), action).await;
            assert_eq!((applied.outcome, applied.sequence), (Outcome::None, None), "{case}");
            assert_eq!(driver.must_get(id).await, before, "{case}");
        }
        if state == State::SoftDeleted {
            assert_eq!(driver.must(&anna.space(), Action::Purge { id }).await.outcome, Outcome::Erased);
            assert_eq!(driver.get(id).await, None);
        }
    }
}

/// A proposal is found only by filters that ask for proposals.
pub async fn a_proposal_is_found_only_by_those_who_ask(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let thread = |memory| Memory { thread_id: Some("t".into()), ..memory };
    let plain = driver.keep(thread(driver.sample(&anna, "lantern of all"))).await;
    let proposal = Memory { state: State::Proposed, ..thread(driver.sample(&anna, "lantern of Anna")) };
    let proposal = driver.keep(proposal).await;
    let proposals = Filter { states: vec![State::Proposed], ..now() };
    for visible in [whole(), visible(std::slice::from_ref(&anna))] {
        driver.sees(&visible, "lantern", &[plain]).await;
        driver.sees_with(&visible, "lantern", &proposals, &[proposal]).await;
        driver.sees_with(&visible, "lantern", &everything(), &[plain, proposal]).await;
        let last = good(store.last_of_thread(&visible, &anna, "t").await).map(|memory| memory.id);
        assert_eq!(last, Some(plain), "the next turn does not follow what nobody has said");
    }
    driver.sees_with(&visible(&[user("vera")]), "lantern", &proposals, &[]).await;
    // A proposal does not count as a duplicate of what the user says.
    let said =
        driver.must(&anna.space(), Action::Add(Box::new(addition(driver.sample(&anna, "lantern of Anna"))))).await;
    assert_eq!(said.outcome, Outcome::Created);
}

fn pairs() -> impl Iterator<Item = (State, State)> {
    State::ALL.iter().flat_map(|from| State::ALL.iter().map(|to| (*from, *to)))
}
