//! Contract: a merge can be undone by a split.

use loci_store::{LedgerQuery, Store};
use loci_types::{Action, ErrorKind, Memory, MemoryId, Outcome, Patch};
use serde_json::json;

use crate::driver::{Driver, good, line};
use crate::samples::*;

async fn merge(driver: &Driver<'_>, into: MemoryId, text: &str, from: &[MemoryId]) -> loci_store::Applied {
    let into = Box::new(new_text(into, text, true));
    driver.must(&user("anna").space(), Action::Merge { into, from: from.to_vec() }).await
}

fn split(into: MemoryId, from: &[MemoryId]) -> Action {
    Action::Split { into, from: from.to_vec() }
}

/// A split makes the merged memories live again, with their own end of validity if they had one. The memory that they
/// were merged into keeps its new text.
pub async fn a_split_undoes_a_merge(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.remember(&anna, "lantern two").await;
    let ends = Memory { valid_until: Some(at(7_000)), ..driver.sample(&anna, "lantern three") };
    let three = driver.keep(ends).await;
    let before = [driver.must_get(two).await, driver.must_get(three).await];
    merge(&driver, one, "lantern of all", &[two, three]).await;
    driver.sees(&whole(), "lantern", &[one]).await;
    assert_eq!(driver.must_get(three).await.valid_until, Some(at(7_000)));
    let applied = driver.must(&anna.space(), split(one, &[two, three])).await;
    assert_eq!((applied.id, applied.outcome), (Some(one), Outcome::Restored));
    driver.sees(&whole(), "lantern", &[one, two, three]).await;
    for memory in before {
        let expect = Memory { version: memory.version + 2, updated_at: driver.clock(), ..memory };
        assert_eq!(driver.must_get(expect.id).await, expect);
        let Some(line) = good(store.ledger(&whole(), &LedgerQuery::Memory(expect.id), 99).await).entries.pop() else {
            panic!("no line")
        };
        assert_eq!((line.event.as_str(), line.version), ("RESTORE", Some(expect.version)));
    }
    assert_eq!(driver.must_get(one).await.content, "lantern of all", "its old text is another change's to bring back");
    // They can be merged again, and one of them can be split off alone.
    merge(&driver, one, "lantern again", &[two, three]).await;
    driver.must(&anna.space(), split(one, &[three])).await;
    driver.sees(&whole(), "lantern", &[one, three]).await;
}

/// A memory can be split off only from the memory that it was merged into. If one of several was not, nothing is split.
pub async fn what_was_not_taken_up_is_not_split(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.remember(&anna, "lantern two").await;
    let other = driver.remember(&anna, "lantern other").await;
    let taken = driver.remember(&anna, "lantern taken").await;
    let old = driver.remember(&anna, "lantern old").await;
    let head = driver.replace(old, &anna, "lantern new").await;
    merge(&driver, one, "lantern of both", &[two]).await;
    merge(&driver, other, "lantern of others", &[taken]).await;
    let refused = async |action: Action, kind: ErrorKind| {
        let context = format!("{action:?}");
        let error = driver.act(&anna.space(), action).await.expect_err("not merged into it");
        assert_eq!(error.kind(), kind, "{context}");
    };
    for from in [vec![other], vec![taken], vec![one], vec![two, taken], vec![two, two]] {
        refused(split(one, &from), ErrorKind::InvalidInput).await;
    }
    refused(split(head, &[old]), ErrorKind::InvalidInput).await;
    refused(split(id(77_777), &[two]), ErrorKind::NotFound).await;
    refused(split(one, &[id(77_777)]), ErrorKind::NotFound).await;
    driver.sees(&whole(), "lantern", &[one, other, head]).await;
    driver.must(&anna.space(), split(one, &[two])).await;
    refused(split(one, &[two]), ErrorKind::InvalidInput).await;
}

/// The ledger entry of a merge contains what is needed to undo it.
pub async fn a_merge_tells_what_it_took_and_where_it_was_revised(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(driver.remember(&anna, &format!("lantern {number}")).await);
    }
    let applied = merge(&driver, ids[0], "lantern of three", &ids[1..3]).await;
    let lines = good(store.ledger(&whole(), &LedgerQuery::Memory(ids[0]), 99).await).entries;
    let [_, revised, merged] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((revised.event.as_str(), merged.event.as_str()), ("UPDATE", "MERGE"));
    assert_eq!(merged.new, Some(json!({ "from": ids[1..3], "revised": revised.sequence })));
    assert_eq!(applied.sequence, Some(merged.sequence));
    // If the text did not change, the ledger has no entry of a revision.
    let as_it_is = Box::new(revision(ids[0], Patch::default()));
    let applied = driver.must(&anna.space(), Action::Merge { into: as_it_is, from: vec![ids[3]] }).await;
    let line = line(store, &whole(), &anna.space(), applied.sequence).await;
    assert_eq!(line.and_then(|line| line.new), Some(json!({ "from": [ids[3]], "revised": null })));
}
