//! What does a decision on a proposal do?

use loci_store::{Applied, LedgerQuery, Store};
use loci_types::{Action, ErrorKind, LedgerEntry, Memory, MemoryId, Outcome, Relation, Scope, State};

use crate::hand::{Hand, good};
use crate::samples::*;

async fn propose(hand: &Hand<'_>, scope: &Scope, text: &str) -> MemoryId {
    let proposal = Memory { state: State::Proposed, purge_at: Some(at(4_000)), ..hand.sample(scope, text) };
    hand.keep(proposal).await
}

fn decide(id: MemoryId, accept: bool, over: Option<MemoryId>) -> Action {
    Action::Decide { id, accept, over, purge_at: at(50_000) }
}

/// The last line of a memory's history, which must be the one that the change told of.
async fn told(hand: &Hand<'_>, id: MemoryId, applied: Applied) -> LedgerEntry {
    match good(hand.store.ledger(&whole(), &LedgerQuery::Memory(id), 99).await).entries.pop() {
        Some(line) if Some(line.sequence) == applied.sequence => line,
        other => panic!("{applied:?} is not told by {other:?}"),
    }
}

/// An accepted one holds from now on and no longer lapses.
pub async fn an_accepted_proposal_holds(store: &dyn Store) {
    let (hand, anna) = (Hand::on(store), user("anna"));
    let id = propose(&hand, &anna, "lantern").await;
    let before = hand.must_get(id).await;
    let applied = hand.must(&anna.space(), decide(id, true, None)).await;
    assert_eq!((applied.id, applied.outcome, applied.version), (Some(id), Outcome::Created, 2));
    let expect = Memory { state: State::Active, purge_at: None, version: 2, updated_at: hand.clock(), ..before };
    assert_eq!(hand.must_get(id).await, expect);
    hand.sees(&whole(), "lantern", &[id]).await;
    let line = told(&hand, id, applied).await;
    let (old, new) = (line.old.unwrap_or_default(), line.new.unwrap_or_default());
    assert_eq!((line.event.as_str(), line.version), ("CONSENT", Some(2)));
    assert_eq!((old["state"].as_str(), new["state"].as_str()), (Some("proposed"), Some("active")));
    // It counts for its key now.
    let again = hand.must(&anna.space(), Action::Add(Box::new(addition(hand.sample(&anna, "lantern"))))).await;
    assert_eq!((again.id, again.outcome), (Some(id), Outcome::None));
}

/// One that is accepted in place of another replaces it, and gives the place back when it goes.
pub async fn an_accepted_proposal_takes_the_place_of_another(store: &dyn Store) {
    let (hand, anna) = (Hand::on(store), user("anna"));
    let old = hand.remember(&anna, "lantern in Berlin").await;
    let new = propose(&hand, &anna, "lantern in Paris").await;
    hand.sees(&whole(), "lantern", &[old]).await;
    let began = hand.must_get(new).await.created_at;
    hand.must(&anna.space(), decide(new, true, Some(old))).await;
    hand.sees(&whole(), "lantern", &[new]).await;
    let (older, newer) = (hand.must_get(old).await, hand.must_get(new).await);
    assert_eq!((older.superseded_by_id, older.supersedes_id), (Some(new), None));
    assert_eq!((newer.superseded_by_id, newer.supersedes_id), (None, Some(old)));
    assert_eq!(older.valid_until, Some(began), "it held until the new one began to");
    let edges = good(store.edges(&whole(), &everything(), &[new], &[Relation::Supersedes]).await);
    let ends: Vec<_> = edges.iter().map(|edge| (edge.source_id, edge.target_id)).collect();
    assert_eq!(ends, [(new, old)]);
    let events: Vec<_> = good(store.ledger(&whole(), &LedgerQuery::Memory(old), 9).await)
        .entries
        .into_iter()
        .map(|line| line.event)
        .collect();
    assert_eq!(events, ["ADD", "SUPERSEDE"]);
    hand.forget(&anna, new).await;
    hand.sees(&whole(), "lantern", &[old]).await;
    let older = hand.must_get(old).await;
    assert_eq!((older.superseded_by_id, older.valid_until), (None, None));
    hand.must(&anna.space(), Action::Restore { id: new }).await;
    hand.sees(&whole(), "lantern", &[new]).await;
}

/// A rejected one is deleted, and gone for good on its day.
pub async fn a_rejected_proposal_is_deleted(store: &dyn Store) {
    let (hand, anna) = (Hand::on(store), user("anna"));
    let old = hand.remember(&anna, "lantern of old").await;
    let id = propose(&hand, &anna, "lantern").await;
    let applied = hand.must(&anna.space(), decide(id, false, Some(old))).await;
    assert_eq!((applied.id, applied.outcome, applied.version), (Some(id), Outcome::Deleted, 2));
    let read = hand.must_get(id).await;
    assert_eq!((read.state, read.purge_at), (State::SoftDeleted, Some(at(50_000))));
    let line = told(&hand, id, applied).await;
    let (before, after) = (line.old.unwrap_or_default(), line.new.unwrap_or_default());
    assert_eq!(line.event, "CONSENT");
    assert_eq!((before["state"].as_str(), after["state"].as_str()), (Some("proposed"), Some("soft_deleted")));
    hand.sees(&whole(), "lantern", &[old]).await;
    assert_eq!(hand.must_get(old).await.superseded_by_id, None, "what it would have replaced stays");
    hand.must(&anna.space(), Action::Purge { id }).await;
    assert_eq!(hand.get(id).await, None);
}

/// A decision stands.
pub async fn nothing_is_decided_twice(store: &dyn Store) {
    let (hand, anna) = (Hand::on(store), user("anna"));
    let plain = hand.remember(&anna, "lantern of all").await;
    for first in [true, false] {
        let id = propose(&hand, &anna, &format!("lantern {first}")).await;
        hand.must(&anna.space(), decide(id, first, None)).await;
        let before = hand.must_get(id).await;
        for (second, over) in [(true, None), (false, None), (true, Some(plain))] {
            let error = hand.act(&anna.space(), decide(id, second, over)).await.expect_err("decided");
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert_eq!(hand.must_get(id).await, before);
        }
    }
    assert_eq!(hand.must_get(plain).await.superseded_by_id, None);
}

/// A place can be taken where there is one: not its own, not a replaced one's, not nobody's.
pub async fn a_place_that_cannot_be_taken_leaves_the_proposal(store: &dyn Store) {
    let (hand, anna) = (Hand::on(store), user("anna"));
    let old = hand.remember(&anna, "lantern one").await;
    let head = hand.replace(old, &anna, "lantern two").await;
    let id = propose(&hand, &anna, "lantern three").await;
    let before = hand.must_get(id).await;
    for (over, kind) in [
        (id, ErrorKind::InvalidInput),
        (old, ErrorKind::InvalidInput),
        (crate::samples::id(77_777), ErrorKind::NotFound),
    ] {
        let error = hand.act(&anna.space(), decide(id, true, Some(over))).await.expect_err("no such place");
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(hand.must_get(id).await, before);
    }
    hand.sees(&whole(), "lantern", &[head]).await;
    let edges = good(store.edges(&whole(), &everything(), &[id], &[]).await);
    assert_eq!(edges, [], "nothing is left of the attempts");
    let lost = decide(crate::samples::id(77_777), true, None);
    assert_eq!(hand.act(&anna.space(), lost).await.expect_err("unknown").kind(), ErrorKind::NotFound);
}
