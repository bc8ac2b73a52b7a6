//! Contract: who may see which ledger entries.

use loci_store::{LedgerQuery, Store};
use loci_types::{AccessPolicy, Action, AgedScore, LedgerEntry, Memory, MemoryId, Reach, State, Tenant, Visible};

use crate::driver::{Driver, good, line};
use crate::samples::*;

async fn entry(store: &dyn Store, visible: &Visible, sequence: Option<i64>) -> Option<LedgerEntry> {
    line(store, visible, &user("anna").space(), sequence).await
}

/// The event and the memory of each entry of the delta.
async fn delta(store: &dyn Store, visible: &Visible, since: i64) -> Vec<(String, Option<MemoryId>)> {
    let changes = good(
        store
            .ledger(visible, &LedgerQuery::Changes { space: user("anna").space().clone(), thread: None, since }, 99)
            .await,
    );
    changes.entries.into_iter().map(|line| (line.event, line.memory_id)).collect()
}

/// An entry is visible to callers who may see its memory.
pub async fn a_ledger_entry_is_visible_to_those_who_see_its_memory(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let plain = Memory { category: Some("work".into()), ..driver.sample(&anna, "one") };
    let secret =
        Memory { access_policy: AccessPolicy::Private, actor_id: Some("vera".into()), ..driver.sample(&anna, "two") };
    let mut lines = Vec::new();
    for memory in [plain, secret, driver.sample(&vera, "three")] {
        let applied = driver.must(&anna.space(), Action::Add(Box::new(addition(memory)))).await;
        lines.push((applied.sequence, applied.id));
    }
    let bound = |names: &[&str]| grant(Tenant::default(), Reach::Whole, Some(names), None);
    let other = grant(Tenant::new("other").unwrap_or_default(), Reach::Whole, None, None);
    for (seen, expect) in [
        (whole(), [true, true, true]),
        (visible(std::slice::from_ref(&anna)), [true, false, false]),
        (seen_by(Some("vera"), &[anna.clone(), vera.clone()]), [true, true, true]),
        (visible(&[vera]), [false, false, true]),
        (bound(&["work"]), [true, false, false]),
        (bound(&["home"]), [false; 3]),
        (visible(&[user("nobody")]), [false; 3]),
        (visible(&[agent("bot")]), [false; 3]),
        (visible(&[]), [false; 3]),
        (other, [false; 3]),
    ] {
        for ((sequence, id), is_visible) in lines.iter().zip(expect) {
            let line = entry(store, &seen, *sequence).await;
            assert_eq!(line.map(|line| line.memory_id), is_visible.then_some(*id), "{seen:?}");
        }
    }
    let (Some(id), sequence) = (lines[0].1, lines[0].0) else { panic!("no id") };
    let history = good(store.ledger(&whole(), &LedgerQuery::Memory(id), 9).await).entries;
    assert_eq!(entry(store, &whole(), sequence).await.as_ref(), history.first(), "as history tells it");
    assert_eq!(entry(store, &whole(), Some(9_999)).await, None);
    assert_eq!(line(store, &whole(), &agent("bot").space(), Some(1)).await, None);
}

/// Entries without a memory, and of a removed one, are visible only with access to the whole tenant.
pub async fn a_line_about_no_memory_is_for_the_whole(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let kept = driver.remember(&anna, "one").await;
    let gone = driver.remember(&anna, "two").await;
    let aged = Action::Age { aged: vec![AgedScore { id: kept, confidence: 0.5, relevance: 0.5 }] };
    let named = crate::driver::name_in(&anna, entity(7, "Harbour", &[]));
    let mut lines = Vec::new();
    for action in [aged, named, Action::Erase { id: gone }] {
        lines.push(driver.must(&anna.space(), action).await.sequence);
    }
    for sequence in lines {
        assert!(sequence.is_some());
        assert!(entry(store, &whole(), sequence).await.is_some());
        assert_eq!(entry(store, &visible(std::slice::from_ref(&anna)), sequence).await, None);
    }
}

/// The delta contains what changes recall: consent and removal by ageing, but no proposals.
pub async fn the_delta_tells_of_consent_and_of_what_time_took(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let faded = driver.remember(&anna, "one").await;
    let proposal = Memory { state: State::Proposed, ..driver.sample(&anna, "two") };
    let proposal = driver.keep(proposal).await;
    let seen = visible(std::slice::from_ref(&anna));
    let event = |name: &str, id| (name.to_owned(), Some(id));
    for visible in [&seen, &whole()] {
        assert_eq!(delta(store, visible, 0).await, [event("ADD", faded)], "no proposals");
    }
    let revision = good(
        store.ledger(&seen, &LedgerQuery::Changes { space: anna.space().clone(), thread: None, since: 0 }, 0).await,
    )
    .position;
    for state in [State::Decayed, State::Archived, State::SoftDeleted] {
        let purge_at = (state == State::SoftDeleted).then(|| at(9_000));
        let fade = Action::Fade { id: faded, state, confidence: None, relevance: None, purge_at };
        driver.must(&anna.space(), fade).await;
        let expect = (state == State::SoftDeleted).then(|| event("TTL", faded));
        assert_eq!(delta(store, &seen, revision).await, expect.into_iter().collect::<Vec<_>>(), "{state}");
    }
    driver
        .must(&anna.space(), Action::Age { aged: vec![AgedScore { id: faded, confidence: 0.1, relevance: 0.1 }] })
        .await;
    let decide = Action::Decide { id: proposal, accept: true, over: None, purge_at: at(9_000) };
    driver.must(&anna.space(), decide).await;
    assert_eq!(delta(store, &seen, revision).await, [event("TTL", faded), event("CONSENT", proposal)]);
    assert_eq!(delta(store, &visible(&[user("vera")]), 0).await, []);
}
