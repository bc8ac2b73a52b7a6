//! Contract: accepting and rejecting proposals.

use loci_store::{Applied, LedgerQuery, Store};
use loci_types::{Action, ErrorKind, LedgerEntry, Memory, MemoryId, Outcome, Relation, Scope, State};

use crate::driver::{Driver, good};
use crate::samples::*;

async fn propose(driver: &Driver<'_>, scope: &Scope, text: &str) -> MemoryId {
    let proposal = Memory { state: State::Proposed, purge_at: Some(at(4_000)), ..driver.sample(scope, text) };
    driver.keep(proposal).await
}

fn decide(id: MemoryId, accept: bool, over: Option<MemoryId>) -> Action {
    Action::Decide { id, accept, over, purge_at: at(50_000) }
}

/// Returns the last ledger entry of a memory, which must have the sequence number of `applied`.
async fn last_entry(driver: &Driver<'_>, id: MemoryId, applied: Applied) -> LedgerEntry {
    match good(driver.store.ledger(&whole(), &LedgerQuery::Memory(id), 99).await).entries.pop() {
        Some(entry) if Some(entry.sequence) == applied.sequence => entry,
        other => panic!("{applied:?} is not the last entry: {other:?}"),
    }
}

/// An accepted proposal becomes active and no longer lapses.
pub async fn an_accepted_proposal_holds(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let id = propose(&driver, &anna, "lantern").await;
    let before = driver.must_get(id).await;
    let applied = driver.must(&anna.space(), decide(id, true, None)).await;
    assert_eq!((applied.id, applied.outcome, applied.version), (Some(id), Outcome::Created, 2));
    let expect = Memory { state: State::Active, purge_at: None, version: 2, updated_at: driver.clock(), ..before };
    assert_eq!(driver.must_get(id).await, expect);
    driver.sees(&whole(), "lantern", &[id]).await;
    let line = last_entry(&driver, id, applied).await;
    let (old, new) = (line.old.unwrap_or_default(), line.new.unwrap_or_default());
    assert_eq!((line.event.as_str(), line.version), ("CONSENT", Some(2)));
    assert_eq!((old["state"].as_str(), new["state"].as_str()), (Some("proposed"), Some("active")));
    // Its deduplication key counts now.
    let again = driver.must(&anna.space(), Action::Add(Box::new(addition(driver.sample(&anna, "lantern"))))).await;
    assert_eq!((again.id, again.outcome), (Some(id), Outcome::None));
}

/// A proposal that is accepted over another memory supersedes it. Deleting it reinstates the other memory.
pub async fn an_accepted_proposal_takes_the_place_of_another(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let old = driver.remember(&anna, "lantern in Berlin").await;
    let new = propose(&driver, &anna, "lantern in Paris").await;
    driver.sees(&whole(), "lantern", &[old]).await;
    let began = driver.must_get(new).await.created_at;
    driver.must(&anna.space(), decide(new, true, Some(old))).await;
    driver.sees(&whole(), "lantern", &[new]).await;
    let (older, newer) = (driver.must_get(old).await, driver.must_get(new).await);
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
    driver.forget(&anna, new).await;
    driver.sees(&whole(), "lantern", &[old]).await;
    let older = driver.must_get(old).await;
    assert_eq!((older.superseded_by_id, older.valid_until), (None, None));
    driver.must(&anna.space(), Action::Restore { id: new }).await;
    driver.sees(&whole(), "lantern", &[new]).await;
}

/// A rejected proposal is soft-deleted, and can then be purged.
pub async fn a_rejected_proposal_is_deleted(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let old = driver.remember(&anna, "lantern of old").await;
    let id = propose(&driver, &anna, "lantern").await;
    let applied = driver.must(&anna.space(), decide(id, false, Some(old))).await;
    assert_eq!((applied.id, applied.outcome, applied.version), (Some(id), Outcome::Deleted, 2));
    let read = driver.must_get(id).await;
    assert_eq!((read.state, read.purge_at), (State::SoftDeleted, Some(at(50_000))));
    let line = last_entry(&driver, id, applied).await;
    let (before, after) = (line.old.unwrap_or_default(), line.new.unwrap_or_default());
    assert_eq!(line.event, "CONSENT");
    assert_eq!((before["state"].as_str(), after["state"].as_str()), (Some("proposed"), Some("soft_deleted")));
    driver.sees(&whole(), "lantern", &[old]).await;
    assert_eq!(driver.must_get(old).await.superseded_by_id, None, "what it would have replaced stays");
    driver.must(&anna.space(), Action::Purge { id }).await;
    assert_eq!(driver.get(id).await, None);
}

/// A decision is final: a second one is refused.
pub async fn nothing_is_decided_twice(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let plain = driver.remember(&anna, "lantern of all").await;
    for first in [true, false] {
        let id = propose(&driver, &anna, &format!("lantern {first}")).await;
        driver.must(&anna.space(), decide(id, first, None)).await;
        let before = driver.must_get(id).await;
        for (second, over) in [(true, None), (false, None), (true, Some(plain))] {
            let error = driver.act(&anna.space(), decide(id, second, over)).await.expect_err("decided");
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert_eq!(driver.must_get(id).await, before);
        }
    }
    assert_eq!(driver.must_get(plain).await.superseded_by_id, None);
}

/// A proposal cannot be accepted over itself, over a superseded memory or over an unknown one. It stays a proposal.
pub async fn a_place_that_cannot_be_taken_leaves_the_proposal(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let old = driver.remember(&anna, "lantern one").await;
    let head = driver.replace(old, &anna, "lantern two").await;
    let id = propose(&driver, &anna, "lantern three").await;
    let before = driver.must_get(id).await;
    for (over, kind) in [
        (id, ErrorKind::InvalidInput),
        (old, ErrorKind::InvalidInput),
        (crate::samples::id(77_777), ErrorKind::NotFound),
    ] {
        let error = driver.act(&anna.space(), decide(id, true, Some(over))).await.expect_err("no such place");
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(driver.must_get(id).await, before);
    }
    driver.sees(&whole(), "lantern", &[head]).await;
    let edges = good(store.edges(&whole(), &everything(), &[id], &[]).await);
    assert_eq!(edges, [], "nothing is left of the attempts");
    let lost = decide(crate::samples::id(77_777), true, None);
    assert_eq!(driver.act(&anna.space(), lost).await.expect_err("unknown").kind(), ErrorKind::NotFound);
}
