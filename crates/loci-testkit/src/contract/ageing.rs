//! Contract: ageing of scores.

use loci_store::{AgeingRow, LedgerQuery, Store};
use loci_types::{
    AccessPolicy, Action, AgedScore, Bookkeeping, Kind, Layer, Memory, MemoryId, Outcome, Patch, State, Visible,
    reinforced,
};
use serde_json::json;

use crate::driver::{Driver, good, line};
use crate::samples::*;

async fn list_for_ageing(store: &dyn Store, visible: &Visible) -> Vec<AgeingRow> {
    good(store.list_for_ageing(visible, &user("anna").space(), 0, usize::MAX).await)
}

async fn age_of(store: &dyn Store, id: MemoryId) -> AgeingRow {
    match list_for_ageing(store, &whole()).await.into_iter().find(|ageing| ageing.id == id) {
        Some(ageing) => ageing,
        None => panic!("memory {id} has no age"),
    }
}

/// Paging through all memories returns each once, even if others are added and removed meanwhile.
pub async fn pages_meet_each_memory_once(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let mut ids = Vec::new();
    for number in 0..9 {
        ids.push(driver.remember(&anna, &format!("lantern {number}")).await);
    }
    let (mut after, mut met, mut places) = (0, Vec::new(), Vec::new());
    for round in 0.. {
        let page = good(store.list_for_ageing(&whole(), &anna.space(), after, 2).await);
        assert!(page.len() <= 2);
        let Some(last) = page.last() else { break };
        after = last.place;
        met.extend(page.iter().map(|ageing| ageing.id));
        places.extend(page.iter().map(|ageing| ageing.place));
        match round {
            // A memory that was listed and one that was not are erased; one is added.
            0 => {
                for gone in [ids[0], ids[4]] {
                    driver.must(&anna.space(), Action::Erase { id: gone }).await;
                }
                ids.push(driver.remember(&anna, "lantern of late").await);
            }
            // A changed memory keeps its position.
            1 => {
                driver.must(&anna.space(), Action::Revise(Box::new(new_text(ids[1], "lantern anew", true)))).await;
                driver.forget(&anna, ids[6]).await;
            }
            _ => {}
        }
    }
    assert!(places.is_sorted_by(|one, next| one < next), "{places:?}");
    let expect: Vec<MemoryId> = ids.iter().copied().filter(|id| *id != ids[4]).collect();
    assert_eq!(met, expect);
    assert_eq!(good(store.list_for_ageing(&whole(), &anna.space(), after, 9).await), []);
    assert_eq!(good(store.list_for_ageing(&whole(), &anna.space(), 0, 0).await), []);
}

/// Every field that ageing needs is read back.
pub async fn an_age_comes_back_field_by_field(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let full = full_memory(driver.next(), &anna);
    let bare = driver.sample(&anna, "lantern");
    for memory in [&full, &bare] {
        driver.keep(memory.clone()).await;
    }
    let first = list_for_ageing(store, &whole()).await;
    let expect = |memory: &Memory, place: i64| AgeingRow {
        id: memory.id,
        kind: memory.kind.name().to_owned(),
        layer: Layer::User,
        state: memory.state,
        importance: memory.importance,
        confidence: memory.confidence,
        relevance: memory.relevance,
        decay_rate: memory.decay_rate,
        pinned: memory.pinned,
        access_count: memory.access_count,
        last_accessed_at: memory.last_accessed_at,
        created_at: memory.created_at,
        updated_at: memory.updated_at,
        imported_at: memory.imported_at,
        aged_at: None,
        expires_at: memory.expires_at,
        purge_at: memory.purge_at,
        superseded: false,
        user_id: memory.identifiers.user_id.clone(),
        agent_id: memory.identifiers.agent_id.clone(),
        session_id: memory.identifiers.session_id.clone(),
        place,
    };
    assert_eq!(first, [expect(&full, first[0].place), expect(&bare, first[1].place)]);
    // Memories of any state are listed.
    driver.replace(bare.id, &anna, "lantern anew").await;
    driver.forget(&anna, bare.id).await;
    let replaced = age_of(store, bare.id).await;
    assert!(replaced.superseded);
    assert_eq!((replaced.state, replaced.purge_at), (State::SoftDeleted, Some(at(50_000))));
}

/// The list contains only memories of the requested space that the caller may see.
pub async fn ages_keep_to_what_is_seen(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let category = |name: &str, memory| Memory { category: Some(name.to_owned()), ..memory };
    let work = driver.keep(category("work", driver.sample(&anna, "one"))).await;
    let home = driver.keep(category("home", driver.sample(&anna, "two"))).await;
    let secret =
        Memory { access_policy: AccessPolicy::Private, actor_id: Some("vera".into()), ..driver.sample(&anna, "x") };
    let secret = driver.keep(secret).await;
    let theirs = driver.keep(category("work", driver.sample(&vera, "three"))).await;
    let abroad = driver.remember(&agent("bot"), "four").await;
    let reach = |scopes: &[loci_types::Scope]| loci_types::Reach::Scopes(scopes.to_vec());
    let bound = grant(Default::default(), reach(&[anna.clone(), vera.clone()]), Some(&["work"]), None);
    for (seen, expect) in [
        (whole(), vec![work, home, secret, theirs]),
        (visible(std::slice::from_ref(&anna)), vec![work, home]),
        (seen_by(Some("vera"), &[anna.clone(), vera]), vec![work, home, secret, theirs]),
        (bound, vec![work, theirs]),
        (visible(&[user("nobody")]), vec![]),
        (visible(&[agent("bot")]), vec![]),
    ] {
        let ids: Vec<_> = list_for_ageing(store, &seen).await.into_iter().map(|ageing| ageing.id).collect();
        assert_eq!(ids, expect, "{seen:?}");
    }
    let there = good(store.list_for_ageing(&whole(), &agent("bot").space(), 0, 9).await);
    assert_eq!(there.into_iter().map(|ageing| ageing.id).collect::<Vec<_>>(), [abroad]);
    assert_eq!(good(store.list_for_ageing(&whole(), &agent("nobody").space(), 0, 9).await), []);
}

/// Ageing many memories is one ledger entry and changes neither their versions nor their history.
pub async fn ageing_is_one_line_and_no_history(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.remember(&anna, "lantern two").await;
    let still = driver.remember(&anna, "lantern three").await;
    let before = [driver.must_get(one).await, driver.must_get(two).await, driver.must_get(still).await];
    let lines = good(store.stats(&whole()).await).ledger;
    let aged = |id, confidence, relevance| AgedScore { id, confidence, relevance };
    let all = vec![aged(one, 0.25, 0.5), aged(id(77_777), 0.1, 0.1), aged(two, 0.125, 0.0)];
    let applied = driver.must(&anna.space(), Action::Age { aged: all }).await;
    assert_eq!((applied.id, applied.outcome), (None, Outcome::Updated));
    for (memory, (confidence, relevance)) in before.iter().zip([(0.25, 0.5), (0.125, 0.0), (0.5, 1.0)]) {
        let expect = Memory { confidence, relevance, ..memory.clone() };
        assert_eq!(driver.must_get(memory.id).await, expect, "neither its version nor the time of its change");
        assert_eq!(good(store.ledger(&whole(), &LedgerQuery::Memory(memory.id), 99).await).entries.len(), 1);
        let aged_at = (memory.id != still).then(|| driver.clock());
        assert_eq!(age_of(store, memory.id).await.aged_at, aged_at);
    }
    assert_eq!(good(store.stats(&whole()).await).ledger, lines + 1);
    let Some(line) = line(store, &whole(), &anna.space(), applied.sequence).await else { panic!("no line") };
    assert_eq!((line.event.as_str(), line.memory_id, line.new), ("TTL", None, Some(json!({ "aged": 2 }))));
    for nothing in [vec![], vec![aged(id(77_777), 0.1, 0.1)]] {
        let applied = driver.must(&anna.space(), Action::Age { aged: nothing }).await;
        assert_eq!((applied.outcome, applied.sequence), (Outcome::None, None));
    }
    assert_eq!(good(store.stats(&whole()).await).ledger, lines + 1);
}

/// The time of the last ageing changes only with the scores, so that no day is counted twice.
pub async fn no_day_is_counted_twice(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    driver
        .must(&anna.space(), Action::Age { aged: vec![AgedScore { id: one, confidence: 0.4, relevance: 0.4 }] })
        .await;
    let counted = driver.clock();
    let pin = Patch { pinned: Some(true), ..Patch::default() };
    driver.must(&anna.space(), Action::Revise(Box::new(revision(one, pin)))).await;
    driver.must(&anna.space(), Action::Bookkeeping(Bookkeeping::Touch { ids: vec![one] })).await;
    driver.forget(&anna, one).await;
    driver.must(&anna.space(), Action::Restore { id: one }).await;
    let bare = Action::Fade { id: one, state: State::Archived, confidence: None, relevance: None, purge_at: None };
    driver.must(&anna.space(), bare).await;
    assert_eq!(age_of(store, one).await.aged_at, Some(counted));
    for (confidence, relevance) in [(Some(0.3), None), (None, Some(0.3)), (Some(0.2), Some(0.2))] {
        let fade = Action::Fade { id: one, state: State::Archived, confidence, relevance, purge_at: None };
        driver.must(&anna.space(), fade).await;
        assert_eq!(age_of(store, one).await.aged_at, Some(driver.clock()), "{confidence:?} {relevance:?}");
    }
}

/// Each access raises the confidence by the same rule, [`reinforced`].
pub async fn a_touch_reinforces(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let sample =
        |confidence, text| Memory { confidence, kind: Kind::stored("preference"), ..driver.sample(&anna, text) };
    let weak = driver.keep(sample(0.25, "lantern one")).await;
    let sure = driver.keep(sample(1.0, "lantern two")).await;
    let still = driver.keep(sample(0.25, "lantern three")).await;
    let mut expect = 0.25;
    for count in 1..=30 {
        driver.must(&anna.space(), Action::Bookkeeping(Bookkeeping::Touch { ids: vec![weak, sure, id(77_777)] })).await;
        expect = reinforced(expect, count);
        let read = driver.must_get(weak).await;
        assert_eq!((read.confidence, read.access_count, read.version), (expect, count, 1));
        assert_eq!(age_of(store, weak).await.confidence, expect);
    }
    assert!(expect > 0.25);
    assert_eq!(driver.must_get(sure).await.confidence, 1.0);
    assert_eq!(driver.must_get(still).await.confidence, 0.25);
}
