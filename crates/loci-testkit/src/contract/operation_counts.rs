//! Contract: counts of operations.

use std::time::Duration;

use jiff::Timestamp;
use loci_store::Store;
use loci_types::{Action, Change, ErrorKind, Memory, Provenance, Reach, Scope, Tenant, TimeRange, Visible};

use crate::driver::{Driver, good};
use crate::samples::*;

const HOUR: u64 = 3_600;

/// The counts per hour, each as `hour node op count`.
async fn operation_counts(store: &dyn Store, visible: &Visible, range: TimeRange) -> Vec<String> {
    let found = good(store.operation_counts(visible, range, Duration::from_secs(HOUR)).await);
    let hour = |start: Timestamp| (start.as_second() - at(0).as_second()) / HOUR as i64;
    found.iter().map(|one| format!("{} {} {} {}", hour(one.start), one.node, one.op, one.count)).collect()
}

/// Adds a memory, with this node as provenance.
async fn write(store: &dyn Store, number: u64, seconds: i64, node: &str, memory: Memory) {
    let memory = Memory { id: id(number), ..memory };
    let provenance = Provenance { node: node.to_owned(), ..Provenance::default() };
    let space = crate::driver::space_of(&memory);
    let action = Action::Add(Box::new(addition(memory)));
    let change = Change { action, reason: "counted".into(), provenance, at: at(seconds) };
    good(store.apply(batch(&space, vec![change])).await);
}

fn text(scope: &Scope, number: u64) -> Memory {
    memory(number, scope, &format!("note {number}"))
}

/// Ledger entries are counted by interval, node and event, over all visible spaces, in the order of time.
pub async fn lines_are_counted_by_time_part_and_event(store: &dyn Store) {
    let (anna, bot) = (user("anna"), agent("bot"));
    assert_eq!(operation_counts(store, &whole(), TimeRange::default()).await, [""; 0]);
    let hour = HOUR as i64;
    for (number, (seconds, node, scope)) in [
        (0, "hotpath", &anna),
        (hour - 1, "hotpath", &bot),
        (hour, "hotpath", &anna),
        (hour + 5, "worker", &anna),
        (9 * hour, "", &bot),
        (-1, "context", &anna),
    ]
    .into_iter()
    .enumerate()
    {
        write(store, number as u64 + 1, seconds, node, text(scope, number as u64)).await;
    }
    let forget = Action::Forget { id: id(1), expect: None, purge_at: at(90_000) };
    good(store.apply(batch(&anna.space(), vec![change(at(hour + 9), forget)])).await);
    let expect =
        ["-1 context add 1", "0 hotpath add 2", "1 hotpath add 1", "1 operator delete 1", "1 worker add 1", "9  add 1"];
    assert_eq!(operation_counts(store, &whole(), TimeRange::default()).await, expect);
    for (from, until, count) in [
        (Some(0), None, 5),
        (Some(hour), None, 4),
        (Some(hour + 1), None, 3),
        (None, Some(hour), 2),
        (Some(0), Some(hour + 9), 3),
        (Some(99 * hour), None, 0),
    ] {
        let range = TimeRange { from: from.map(at), until: until.map(at) };
        assert_eq!(operation_counts(store, &whole(), range).await.len(), count, "{from:?} {until:?}");
    }
    let one = good(store.operation_counts(&whole(), TimeRange::default(), Duration::MAX).await);
    assert_eq!(one.iter().map(|one| one.count).sum::<u64>(), 7, "one stretch for all of time");
    let error =
        store.operation_counts(&whole(), TimeRange::default(), Duration::ZERO).await.expect_err("a stretch of nothing");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

/// Only entries that the feed would return are counted.
pub async fn only_visible_operations_are_counted(store: &dyn Store) {
    let (driver, anna, vera, bot) = (Driver::on(store), user("anna"), user("vera"), agent("bot"));
    let work = Memory { category: Some("work".into()), ..text(&anna, 1) };
    let secret =
        Memory { access_policy: loci_types::AccessPolicy::Private, actor_id: Some("vera".into()), ..text(&anna, 2) };
    for (number, memory) in [work, secret, text(&vera, 3), text(&bot, 4), text(&anna, 5)].into_iter().enumerate() {
        write(store, number as u64 + 1, 0, "hotpath", memory).await;
    }
    driver.must(&anna.space(), Action::Erase { id: id(5) }).await;
    let bound = |names: &[&str]| grant(Tenant::default(), Reach::Whole, Some(names), None);
    let theirs = grant(Tenant::new("other").unwrap_or_default(), Reach::Whole, None, None);
    for (seen, expect) in [
        (whole(), &["0 hotpath add 5", "0 operator erase 1"][..]),
        (visible(std::slice::from_ref(&anna)), &["0 hotpath add 1"]),
        (seen_by(Some("vera"), std::slice::from_ref(&anna)), &["0 hotpath add 2"]),
        (visible(&[anna, vera, bot]), &["0 hotpath add 3"]),
        (bound(&["work"]), &["0 hotpath add 1"]),
        (bound(&["home"]), &[]),
        (visible(&[user("nobody")]), &[]),
        (visible(&[]), &[]),
        (theirs, &[]),
    ] {
        assert_eq!(operation_counts(store, &seen, TimeRange::default()).await, expect, "{seen:?}");
    }
}
