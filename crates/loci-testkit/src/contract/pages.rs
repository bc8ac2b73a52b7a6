//! Contract: paging.

use loci_store::{LedgerQuery, Page, Store};

use crate::driver::{Driver, good};
use crate::samples::*;

// Coverage: S2.7.
/// Memories that exist at the start are returned exactly once, newest first, while others are added in two spaces.
pub async fn pages_visit_each_once_while_others_write(store: &dyn Store) {
    let driver = Driver::from(store, 1_000);
    let scopes = [user("anna"), agent("bot"), user("vera")];
    let mut there = Vec::new();
    for number in 0..50 {
        there.push(driver.remember(&scopes[number % 3], &format!("lantern {number}")).await);
    }
    let others = Driver::from(store, 3_000);
    let (mut seen, mut after, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = good(store.scan(&whole(), &now(), Page { after, limit: 7 }).await);
        assert!(page.memories.len() <= 7);
        seen.extend(page.memories.iter().map(|memory| memory.id));
        pages += 1;
        // New memories are newer than all that were returned, so they do not shift a page.
        others.remember(&scopes[pages % 3], &format!("late lantern {pages}")).await;
        assert_eq!(page.total, 49 + pages as u64, "the total counts all pages");
        let Some(next) = page.next else { break };
        after = Some(next);
    }
    there.reverse();
    assert_eq!((seen, pages), (there, 8));
}

/// The limit may be of any size; with 0 only the total is returned.
pub async fn a_page_may_be_as_large_as_it_likes(store: &dyn Store) {
    let driver = Driver::on(store);
    let anna = user("anna");
    let (one, two) = (driver.remember(&anna, "lantern one").await, driver.remember(&anna, "lantern two").await);
    for limit in [2, 3, i64::MAX as usize, usize::MAX] {
        let page = good(store.scan(&whole(), &now(), Page { after: None, limit }).await);
        assert_eq!(page.memories.iter().map(|memory| memory.id).collect::<Vec<_>>(), [two, one], "{limit}");
        assert_eq!((page.total, page.next), (2, None));
        assert_eq!(good(store.lexical(&whole(), "lantern", &now(), limit).await).len(), 2, "{limit}");
        assert_eq!(good(store.nearest(&whole(), &vector("lantern"), &now(), limit).await).len(), 2, "{limit}");
        assert_eq!(good(store.ledger(&whole(), &LedgerQuery::Memory(one), limit).await).entries.len(), 1, "{limit}");
    }
    let page = good(store.scan(&whole(), &now(), Page { after: None, limit: 0 }).await);
    assert_eq!((page.memories.len(), page.total), (0, 2));
    assert_eq!(good(store.lexical(&whole(), "lantern", &now(), 0).await), []);
    assert_eq!(good(store.nearest(&whole(), &vector("lantern"), &now(), 0).await), []);
}
