//! Contract: the change feed.

use loci_store::{Feed, LedgerQuery, Store};
use loci_types::{
    AccessPolicy, Action, AgedScore, Batch, Bookkeeping, LedgerEntry, Memory, MemoryId, Patch, Reach, Space, State,
    Tenant, Visible,
};

use crate::driver::{Driver, good, name_in};
use crate::samples::*;

async fn feed(store: &dyn Store, visible: &Visible, after: i64, limit: usize) -> Feed {
    good(
        store
            .ledger(visible, &LedgerQuery::After { space: user("anna").space().clone(), sequence: after }, limit)
            .await,
    )
}

/// The whole feed, read in pages of this size, with its last position.
async fn all(store: &dyn Store, visible: &Visible, space: &Space, limit: usize) -> Feed {
    let end = good(store.ledger_heads(visible).await).get(space).copied().unwrap_or(0);
    let mut all = Feed::default();
    while all.position < end {
        let page = good(
            store.ledger(visible, &LedgerQuery::After { space: space.clone(), sequence: all.position }, limit).await,
        );
        assert!(page.entries.len() <= limit, "{} of {limit}", page.entries.len());
        assert!(page.position > all.position, "each page goes on");
        assert!(page.entries.iter().all(|entry| all.position < entry.sequence && entry.sequence <= page.position));
        all.entries.extend(page.entries);
        all.position = page.position;
    }
    assert_eq!(all.position, end, "no further than the end");
    all
}

/// The event and the memory of each entry.
async fn events(store: &dyn Store, visible: &Visible) -> Vec<(String, Option<MemoryId>)> {
    let feed = all(store, visible, &user("anna").space(), 100).await;
    feed.entries.into_iter().map(|entry| (entry.event, entry.memory_id)).collect()
}

fn line(event: &str, id: MemoryId) -> (String, Option<MemoryId>) {
    (event.to_owned(), Some(id))
}

/// Entries come in order, each once, for any page size, and equal those of the history.
pub async fn the_earliest_lines_come_first(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let mut ids = Vec::new();
    for number in 0..9 {
        ids.push(driver.remember(&anna, &format!("note {number}")).await);
    }
    driver.forget(&anna, ids[0]).await;
    let seen = visible(std::slice::from_ref(&anna));
    let expect = all(store, &seen, &anna.space(), 1_000).await;
    let found: Vec<_> = expect.entries.iter().filter_map(|entry| entry.memory_id).collect();
    assert_eq!(found, [ids.as_slice(), &ids[..1]].concat());
    for limit in 1..12 {
        assert_eq!(all(store, &seen, &anna.space(), limit).await, expect, "pages of {limit}");
    }
    let history = good(store.ledger(&seen, &LedgerQuery::Memory(ids[0]), 9).await).entries;
    assert_eq!([&expect.entries[0], &expect.entries[9]], [&history[0], &history[1]], "as history tells it");
    let end = expect.position;
    for (after, limit) in [(end, 5), (end + 7, 5), (3, 0), (i64::MAX, usize::MAX)] {
        assert_eq!(feed(store, &seen, after, limit).await, Feed { entries: Vec::new(), position: after });
    }
    assert_eq!(feed(store, &seen, -5, 1).await.entries, expect.entries[..1]);
    assert_eq!(feed(store, &seen, 4, usize::MAX).await.entries, expect.entries[4..]);
}

/// Invisible entries are skipped once, and one call reads a bounded number of entries.
pub async fn invisible_entries_are_skipped(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let first = driver.remember(&anna, "first").await;
    let many = (0..2_500).map(|number| add(memory(10_000 + number, &vera, &format!("other {number}"))));
    good(store.apply(batch(&vera.space(), many.collect())).await);
    let last = driver.remember(&anna, "last").await;
    let seen = visible(std::slice::from_ref(&anna));
    let end = good(store.ledger_heads(&seen).await)[&anna.space()];
    let mut looks = 0;
    let (mut position, mut ids) = (0, Vec::new());
    while position < end {
        let page = feed(store, &seen, position, 10).await;
        assert!(page.position > position);
        ids.extend(page.entries.iter().filter_map(|entry| entry.memory_id));
        (position, looks) = (page.position, looks + 1);
    }
    assert_eq!(ids, [first, last]);
    assert!(looks > 1, "one look is bounded");
    let stranger = visible(&[user("karl")]);
    assert_eq!(feed(store, &stranger, 0, 10).await, Feed { entries: Vec::new(), position: end }, "at one look");
}

/// An entry is visible to callers who may see its memory, in any state.
pub async fn a_line_of_the_feed_is_for_those_who_see_its_memory(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let plain = driver.keep(Memory { category: Some("work".into()), ..driver.sample(&anna, "one") }).await;
    let secret =
        Memory { access_policy: AccessPolicy::Private, actor_id: Some("vera".into()), ..driver.sample(&anna, "two") };
    let secret = driver.keep(secret).await;
    let other = driver.remember(&vera, "three").await;
    driver.forget(&anna, plain).await;
    let add = |id| line("ADD", id);
    let theirs = grant(Tenant::new("other").unwrap_or_default(), Reach::Whole, None, None);
    for (seen, expect) in [
        (whole(), vec![add(plain), add(secret), add(other), line("DELETE", plain)]),
        (visible(std::slice::from_ref(&anna)), vec![add(plain), line("DELETE", plain)]),
        (seen_by(Some("vera"), std::slice::from_ref(&anna)), vec![add(plain), add(secret), line("DELETE", plain)]),
        (visible(&[vera]), vec![add(other)]),
        (bound(&["work"]), vec![add(plain), line("DELETE", plain)]),
        (bound(&["home"]), vec![]),
        (visible(&[agent("bot")]), vec![]),
        (visible(&[]), vec![]),
        (theirs, vec![]),
    ] {
        assert_eq!(events(store, &seen).await, expect, "{seen:?}");
    }
    let open = Patch { access_policy: Some(AccessPolicy::Shared), ..Patch::default() };
    driver.must(&anna.space(), Action::Revise(Box::new(revision(secret, open)))).await;
    assert_eq!(events(store, &visible(&[anna])).await.len(), 4, "entries are visible from then on");
}

fn bound(categories: &[&str]) -> Visible {
    grant(Tenant::default(), Reach::Whole, Some(categories), None)
}

/// Entries of removed memories, and entries without a memory, are visible only with access to the whole tenant.
pub async fn entries_of_erased_memories_are_visible_to_the_whole_tenant(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let work = |text: &str| Memory { category: Some("work".into()), ..driver.sample(&anna, text) };
    let (kept, purged, erased) =
        (driver.keep(work("one")).await, driver.keep(work("two")).await, driver.keep(work("three")).await);
    driver.forget(&anna, purged).await;
    driver.must(&anna.space(), Action::Purge { id: purged }).await;
    driver.must(&anna.space(), Action::Erase { id: erased }).await;
    driver
        .must(&anna.space(), Action::Age { aged: vec![AgedScore { id: kept, confidence: 0.5, relevance: 0.5 }] })
        .await;
    driver.must(&anna.space(), name_in(&anna, entity(7, "Harbour", &[]))).await;
    let add = |id| line("ADD", id);
    for seen in [visible(std::slice::from_ref(&anna)), bound(&["work"])] {
        assert_eq!(events(store, &seen).await, [add(kept)], "{seen:?}");
    }
    let mut expect = vec![add(kept), add(purged), add(erased)];
    expect.extend([line("DELETE", purged), line("TTL", purged), line("ERASE", erased)]);
    expect.extend([("TTL".to_owned(), None), ("ENTITY".to_owned(), None)]);
    assert_eq!(events(store, &whole()).await, expect);
    let gone = all(store, &whole(), &anna.space(), 9).await.entries;
    let mut gone = gone.iter().filter(|entry| [Some(purged), Some(erased)].contains(&entry.memory_id));
    assert!(gone.all(tells_no_content), "a tombstone tells no content");
    let faded = Action::Fade { id: kept, state: State::Decayed, confidence: None, relevance: None, purge_at: None };
    driver.must(&anna.space(), faded).await;
    assert_eq!(events(store, &visible(&[anna])).await, [add(kept), line("TTL", kept)]);
}

/// Whether an entry of a removed memory contains at most the hash of its content.
pub(super) fn tells_no_content(entry: &LedgerEntry) -> bool {
    let only_a_hash = |new: &serde_json::Value| new.as_object().is_some_and(|new| new.keys().eq(["contentHash"]));
    entry.old.is_none() && entry.new.as_ref().is_none_or(|new| entry.event == "ERASE" && only_a_hash(new))
}

/// Returns the last sequence number of each visible space that was written to.
pub async fn positions_are_those_of_the_visible_spaces(store: &dyn Store) {
    let (driver, anna, bot) = (Driver::on(store), user("anna"), agent("bot"));
    let positions = async |visible: &Visible| good(store.ledger_heads(visible).await).into_iter().collect::<Vec<_>>();
    assert_eq!(positions(&whole()).await, []);
    assert_eq!(positions(&visible(std::slice::from_ref(&anna))).await, []);
    driver.remember(&anna, "one").await;
    let id = driver.remember(&anna, "two").await;
    driver.remember(&bot, "three").await;
    driver.must(&anna.space(), Action::Bookkeeping(Bookkeeping::Touch { ids: vec![id] })).await;
    let (shared, own) = ((anna.space(), 2), (bot.space(), 1));
    let theirs = Tenant::new("other").unwrap_or_default();
    let changes = vec![add(memory(900, &anna, "theirs"))];
    good(store.apply(Batch { tenant: theirs.clone(), space: anna.space(), changes }).await);
    for (seen, expect) in [
        (whole(), vec![own.clone(), shared.clone()]),
        (visible(std::slice::from_ref(&anna)), vec![shared.clone()]),
        (visible(&[user("karl")]), vec![shared.clone()]),
        (visible(&[bot, agent("nobody")]), vec![own]),
        (visible(&[]), vec![]),
        (grant(theirs, Reach::Whole, None, None), vec![(anna.space(), 1)]),
    ] {
        assert_eq!(positions(&seen).await, expect, "{seen:?}");
    }
    driver.forget(&anna, id).await;
    assert_eq!(positions(&visible(&[anna])).await, [(shared.0, 3)]);
}

/// A reader gets every entry once and in order while others write.
pub async fn nothing_is_lost_while_others_write(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let seen = visible(std::slice::from_ref(&anna));
    let (mut position, mut written, mut read) = (0, Vec::new(), Vec::new());
    for round in 0..40 {
        for number in 0..round % 4 {
            driver.remember(&vera, &format!("theirs {round} {number}")).await;
            written.push(driver.remember(&anna, &format!("note {round} {number}")).await);
        }
        let page = feed(store, &seen, position, 1 + round % 3).await;
        read.extend(page.entries.iter().filter_map(|entry| entry.memory_id));
        position = page.position;
    }
    read.extend(feed(store, &seen, position, 100).await.entries.iter().filter_map(|entry| entry.memory_id));
    assert_eq!(read, written);
}
