//! Contract: forgetting, purging and erasing.

use loci_store::{LedgerQuery, Store};
use loci_types::{Action, Bookkeeping, ErrorKind, LedgerEntry, MemoryId, NoteValue, Outcome, Relation, Scope, State};
use serde_json::{Value, json};

use crate::driver::{Driver, good};
use crate::samples::*;

/// A soft-deleted memory is found by no search; restoring it restores its terms and its vector.
pub async fn what_is_forgotten_is_hidden_and_comes_back(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (kept, gone) = (driver.remember(&anna, "lantern one").await, driver.remember(&anna, "lantern two").await);
    driver.sees(&whole(), "lantern", &[kept, gone]).await;
    assert_eq!(driver.forget(&anna, gone).await.outcome, Outcome::Deleted);
    driver.sees(&whole(), "lantern", &[kept]).await;
    driver.sees_with(&whole(), "lantern", &everything(), &[kept, gone]).await;
    let read = driver.must_get(gone).await;
    assert_eq!((read.state, read.purge_at, read.version), (State::SoftDeleted, Some(at(50_000)), 2));
    let restored = driver.must(&anna.space(), Action::Restore { id: gone }).await;
    assert_eq!((restored.outcome, restored.version), (Outcome::Restored, 3));
    driver.sees(&whole(), "lantern", &[kept, gone]).await;
    assert_eq!(driver.must_get(gone).await.purge_at, None);
}

/// A memory that was restored before its purge stays.
pub async fn a_live_memory_is_not_purged(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let kept = driver.remember(&anna, "lantern").await;
    driver.forget(&anna, kept).await;
    driver.must(&anna.space(), Action::Restore { id: kept }).await;
    let applied = driver.must(&anna.space(), Action::Purge { id: kept }).await;
    assert_eq!((applied.outcome, applied.sequence), (Outcome::None, None));
    driver.sees(&whole(), "lantern", &[kept]).await;
}

// Coverage: S3-7.1.
/// A purge removes a soft-deleted memory for good.
pub async fn a_purge_leaves_only_a_tombstone(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (kept, gone) = prepare(&driver).await;
    driver.forget(&anna, gone).await;
    let applied = driver.must(&anna.space(), Action::Purge { id: gone }).await;
    assert_eq!((applied.id, applied.outcome), (Some(gone), Outcome::Erased));
    let entries = nothing_left(&driver, kept, gone).await;
    assert_eq!(entries.last().map(|entry| entry.event.as_str()), Some("TTL"));
}

/// An erasure does not require a soft delete first.
pub async fn an_erasure_leaves_only_a_tombstone(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (kept, gone) = prepare(&driver).await;
    let applied = driver.must(&anna.space(), Action::Erase { id: gone }).await;
    assert_eq!((applied.id, applied.outcome), (Some(gone), Outcome::Erased));
    let entries = nothing_left(&driver, kept, gone).await;
    assert_eq!(entries.last().map(|entry| entry.event.as_str()), Some("ERASE"));
}

/// Two linked memories, one of which was revised.
async fn prepare(driver: &Driver<'_>) -> (MemoryId, MemoryId) {
    let anna = user("anna");
    let kept = driver.remember(&anna, "lantern one").await;
    let mut gone = driver.sample(&anna, "lantern shibboleth");
    gone.tags = vec!["secret".into()];
    let gone = driver.keep(gone).await;
    driver.link(&anna, kept, gone, Relation::RelatedTo).await;
    driver.link(&anna, gone, kept, Relation::Causal).await;
    driver.must(&anna.space(), Action::Revise(Box::new(new_text(gone, "lantern sesame", true)))).await;
    driver.sees(&whole(), "lantern", &[kept, gone]).await;
    (kept, gone)
}

async fn nothing_left(driver: &Driver<'_>, kept: MemoryId, gone: MemoryId) -> Vec<LedgerEntry> {
    let (store, anna) = (driver.store, user("anna"));
    assert_eq!(driver.get(gone).await, None);
    for word in ["shibboleth", "sesame"] {
        assert_eq!(driver.words(&whole(), word, &everything()).await, []);
    }
    driver.sees_with(&whole(), "lantern", &everything(), &[kept]).await;
    assert_eq!(good(store.vectors(&whole(), MODEL, &[gone, kept]).await).len(), 1);
    assert_eq!(good(store.edges(&whole(), &everything(), &[gone], &[]).await), []);
    assert_eq!(good(store.edges(&whole(), &everything(), &[kept], &[]).await), []);
    let entries = good(store.ledger(&whole(), &LedgerQuery::Memory(gone), 99).await).entries;
    assert!(entries.len() >= 3, "the ledger still tells that it was there");
    assert!(entries.iter().all(|entry| entry.memory_id == Some(gone) && super::feed::tells_no_content(entry)));
    assert_eq!(
        good(store.ledger(&visible(std::slice::from_ref(&anna)), &LedgerQuery::Memory(gone), 99).await).entries,
        [],
        "only the whole reach sees it"
    );
    let stats = good(store.stats(&whole()).await);
    assert_eq!((stats.memories, stats.vectors.get(MODEL), stats.edges.len()), (1, Some(&1), 0));
    // A removed memory cannot be restored, and its deduplication key is free again.
    let error = driver.act(&anna.space(), Action::Restore { id: gone }).await.expect_err("it is gone");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let again =
        driver.must(&anna.space(), Action::Add(Box::new(addition(driver.sample(&anna, "lantern sesame"))))).await;
    assert_eq!(again.outcome, Outcome::Created);
    entries
}

/// Every action on an unknown memory fails, except those that may come late, such as embedding.
pub async fn what_is_unknown_is_not_found(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (known, unknown) = (driver.remember(&anna, "lantern").await, id(77_777));
    let fade = Action::Fade { id: unknown, state: State::Decayed, confidence: None, relevance: None, purge_at: None };
    for action in [
        Action::Revise(Box::new(new_text(unknown, "x", false))),
        Action::Merge { into: Box::new(new_text(unknown, "x", false)), from: vec![known] },
        Action::Merge { into: Box::new(new_text(known, "x", false)), from: vec![unknown] },
        Action::Supersede { old: unknown, new: Box::new(addition(driver.sample(&anna, "x"))) },
        Action::Link(edge(5, known, unknown, Relation::Causal)),
        Action::Unlink { source: unknown, target: known, relation: Relation::Causal },
        Action::Forget { id: unknown, expect: None, purge_at: at(9) },
        Action::Restore { id: unknown },
        fade,
        Action::Purge { id: unknown },
        Action::Erase { id: unknown },
    ] {
        let case = format!("{action:?}");
        let error = driver.act(&anna.space(), action).await.expect_err("unknown");
        assert_eq!(error.kind(), ErrorKind::NotFound, "{case}");
    }
    let late = Action::Embed { id: unknown, of: hash("x"), vector: vector("x") };
    assert_eq!(driver.must(&anna.space(), late).await.outcome, Outcome::None);
    assert_eq!(driver.must_get(known).await.content, "lantern");
    driver.sees(&whole(), "lantern", &[known]).await;
}

/// Erasing a user removes the responses stored for repeated requests that are in the user's scope or name the user's
/// data. Those of others stay; otherwise their repeated requests would be executed twice.
pub async fn erasing_a_user_keeps_the_answers_of_others(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let space = anna.space();
    let (hers, his) = (driver.remember(&anna, "lantern").await, driver.remember(&vera, "candle").await);
    let keep = async |scope: Option<Scope>, key: &str, value: Value| {
        let value = NoteValue::Set(json!({ "fingerprint": "00", "status": 201, "body": value }));
        driver
            .must(
                &space,
                Action::Bookkeeping(Bookkeeping::Note { scope, key: key.to_owned(), value, until: Some(at(9_000)) }),
            )
            .await;
    };
    keep(Some(anna.clone()), "answer 1", json!({ "deleted": true })).await;
    keep(None, "answer 2", json!({ "receipts": [{ "id": hers }] })).await;
    keep(None, "answer 3", json!({ "userId": "anna" })).await;
    keep(Some(vera), "answer 4", json!({ "deleted": true })).await;
    keep(None, "answer 5", json!({ "id": his })).await;
    keep(None, "answer 6", json!({ "deleted": true })).await;
    driver.must(&space, Action::EraseUser { user: "anna".into() }).await;
    let keys: Vec<String> = (1..=6).map(|number| format!("answer {number}")).collect();
    let mut left: Vec<String> =
        good(store.notes(&whole(), &space, &keys, at(1)).await).into_iter().map(|(key, _)| key).collect();
    left.sort();
    assert_eq!(left, ["answer 4", "answer 5", "answer 6"]);
}
