//! Contract: memories are read as they were written.

use loci_store::{Error, LedgerQuery, Store};
use loci_types::{Action, Addition, Bookkeeping, ErrorKind, JobKind, JobSpec, Outcome, Patch, Provenance, State};
use serde_json::json;

use crate::driver::{Driver, good};
use crate::samples::*;

// Coverage: S0-1.1, S2.4, S2.22.
/// Every field is read back, each with a value other than its default.
pub async fn a_record_comes_back_field_by_field(store: &dyn Store) {
    let driver = Driver::on(store);
    for scope in [user("anna"), agent("bot"), scope(loci_types::Layer::Pool, &["common"])] {
        let written = full_memory(driver.next(), &scope);
        driver.keep(written.clone()).await;
        let read = driver.must_get(written.id).await;
        assert_eq!(serde_json::to_value(&read).ok(), serde_json::to_value(&written).ok());
        assert_eq!(read, written);
    }
}

// Coverage: S1.7.
/// If one change of a batch fails, none is applied, including terms and jobs.
pub async fn a_batch_is_all_or_nothing(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let kept = driver.remember(&anna, "lantern one").await;
    let lost = driver.sample(&anna, "lantern two");
    let mut with_job = addition(lost.clone());
    with_job.jobs.push(JobSpec { kind: JobKind::Link, payload: json!({}), unique: None, run_after: at(0) });
    let failing = batch(
        &anna.space(),
        vec![
            change(driver.clock(), Action::Add(Box::new(with_job))),
            change(driver.clock(), Action::Revise(Box::new(new_text(kept, "candle", true)))),
            change(driver.clock(), Action::Restore { id: id(77_777) }),
        ],
    );
    let error = store.apply(failing).await.expect_err("the last change cannot be done");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(driver.get(lost.id).await, None);
    assert_eq!(driver.must_get(kept).await.version, 1);
    driver.sees(&whole(), "lantern", &[kept]).await;
    let jobs = store.claim(&Default::default(), JobKind::ALL, 9, at(9_999), std::time::Duration::from_secs(1)).await;
    assert_eq!(good(jobs), []);
    assert_eq!(good(store.ledger(&whole(), &LedgerQuery::Memory(kept), 99).await).entries.len(), 1);
}

/// Results come in the order of the changes; an empty batch has none.
pub async fn one_outcome_per_change_in_order(store: &dyn Store) {
    let anna = user("anna");
    assert_eq!(good(store.apply(batch(&anna.space(), Vec::new())).await), []);
    let changes = vec![
        add(memory(1, &anna, "one")),
        add(memory(2, &anna, "two")),
        add(memory(3, &anna, "one")),
        change(at(4), Action::Forget { id: id(2), expect: Some(1), purge_at: at(9) }),
    ];
    let applied = good(store.apply(batch(&anna.space(), changes)).await);
    let reported: Vec<_> = applied.iter().map(|one| (one.id, one.outcome, one.version)).collect();
    assert_eq!(
        reported,
        [
            (Some(id(1)), Outcome::Created, 1),
            (Some(id(2)), Outcome::Created, 1),
            (Some(id(1)), Outcome::None, 1),
            (Some(id(2)), Outcome::Deleted, 2),
        ]
    );
    let numbers: Vec<_> = applied.iter().filter_map(|one| one.sequence).collect();
    assert!(numbers.len() == 3 && numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
}

/// A second memory with the same id is refused and the first stays unchanged.
pub async fn an_id_is_taken_once(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let first = driver.remember(&anna, "first").await;
    let mut second = driver.sample(&anna, "second");
    second.id = first;
    let error = driver.act(&anna.space(), Action::Add(Box::new(addition(second)))).await.expect_err("the id is taken");
    assert!(matches!(error, Error::Taken(_)), "{error:?}");
    assert_eq!(driver.must_get(first).await.content, "first");
}

/// The deduplication key applies within one scope only.
pub async fn the_same_thing_twice_in_one_scope_is_kept_once(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let first = driver.remember(&anna, "lantern").await;
    let again = driver.act(&anna.space(), Action::Add(Box::new(addition(driver.sample(&anna, "lantern"))))).await;
    let again = good(again);
    assert_eq!((again.id, again.outcome, again.version, again.sequence), (Some(first), Outcome::None, 1, None));
    let other = driver.remember(&vera, "lantern").await;
    driver.sees(&whole(), "lantern", &[first, other]).await;
    // Without a key the same text can be stored twice.
    let twice = driver.sample(&anna, "lantern");
    let (twice, bare) = (twice.id, Addition { vector: Some(vector("lantern")), ..Addition::new(twice) });
    assert_eq!(driver.must(&anna.space(), Action::Add(Box::new(bare))).await.outcome, Outcome::Created);
    driver.sees(&whole(), "lantern", &[first, other, twice]).await;
    // A new text brings its own key.
    driver.must(&anna.space(), Action::Revise(Box::new(new_text(first, "candle", true)))).await;
    let again = driver.must(&anna.space(), Action::Add(Box::new(addition(driver.sample(&anna, "candle"))))).await;
    assert_eq!((again.id, again.outcome), (Some(first), Outcome::None));
    let again = driver.must(&anna.space(), Action::Add(Box::new(addition(driver.sample(&anna, "lantern"))))).await;
    assert_eq!(again.outcome, Outcome::Created);
}

/// Deleted, superseded, archived, expired and no longer valid memories do not count as duplicates.
pub async fn a_twin_that_no_longer_holds_does_not_count(store: &dyn Store) {
    let driver = Driver::on(store);
    let anna = |case: &str| user(&format!("anna-{case}"));
    let created = async |case: &str| {
        let scope = anna(case);
        let again =
            driver.must(&scope.space(), Action::Add(Box::new(addition(driver.sample(&scope, "lantern"))))).await;
        assert_eq!(again.outcome, Outcome::Created, "{case}");
    };

    let deleted = driver.remember(&anna("deleted"), "lantern").await;
    driver.forget(&anna("deleted"), deleted).await;
    created("deleted").await;

    let replaced = driver.remember(&anna("replaced"), "lantern").await;
    driver.replace(replaced, &anna("replaced"), "candle").await;
    created("replaced").await;

    let archived = driver.remember(&anna("archived"), "lantern").await;
    let fade = Action::Fade { id: archived, state: State::Archived, confidence: None, relevance: None, purge_at: None };
    driver.must(&anna("archived").space(), fade).await;
    created("archived").await;

    let mut expired = driver.sample(&anna("expired"), "lantern");
    expired.expires_at = Some(driver.clock());
    driver.keep(expired).await;
    created("expired").await;

    let mut ended = driver.sample(&anna("ended"), "lantern");
    ended.valid_until = Some(driver.clock());
    driver.keep(ended).await;
    created("ended").await;

    let mut decayed = driver.sample(&anna("decayed"), "lantern");
    decayed.state = State::Decayed;
    let decayed = driver.keep(decayed).await;
    let scope = anna("decayed");
    let again = driver.must(&scope.space(), Action::Add(Box::new(addition(driver.sample(&scope, "lantern"))))).await;
    assert_eq!((again.id, again.outcome), (Some(decayed), Outcome::None), "a decayed one still holds");
}

/// A memory in the wrong space would be invisible and would be dropped with that space.
pub async fn a_memory_of_another_space_is_refused(store: &dyn Store) {
    let driver = Driver::on(store);
    let stray = driver.sample(&agent("bot"), "lantern");
    let error =
        driver.act(&user("anna").space(), Action::Add(Box::new(addition(stray)))).await.expect_err("wrong space");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let old = driver.remember(&user("anna"), "old lantern").await;
    let stray = Action::Supersede { old, new: Box::new(addition(driver.sample(&agent("bot"), "lantern"))) };
    let error = driver.act(&user("anna").space(), stray).await.expect_err("wrong space");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    driver.sees(&whole(), "lantern", &[old]).await;
}

/// Revise and forget fail if the version is not the one that the caller saw.
pub async fn an_old_version_is_a_conflict(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let kept = driver.remember(&anna, "lantern").await;
    let mut revise = new_text(kept, "candle", true);
    revise.expect = Some(1);
    assert_eq!(driver.must(&anna.space(), Action::Revise(Box::new(revise.clone()))).await.version, 2);
    let forget = |expect| Action::Forget { id: kept, expect: Some(expect), purge_at: at(9) };
    for stale in [Action::Revise(Box::new(revise)), forget(1), forget(3)] {
        let error = driver.act(&anna.space(), stale).await.expect_err("someone was faster");
        assert!(matches!(error, Error::Conflict { found: 2, .. }), "{error:?}");
    }
    assert_eq!(driver.must_get(kept).await.content, "candle");
    assert_eq!(driver.must(&anna.space(), forget(2)).await.outcome, Outcome::Deleted);
}

/// Metadata is merged shallowly, and null removes a field.
pub async fn metadata_merges_field_by_field(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let mut memory = driver.sample(&anna, "lantern");
    memory.metadata = object(json!({ "keep": 1, "change": { "a": 1, "b": 2 }, "drop": true }));
    let kept = driver.keep(memory).await;
    let over = object(json!({ "change": { "a": 9 }, "drop": null, "absent": null, "new": "x" }));
    let patch = Patch { metadata: Some(over), category: Some(Some("light".into())), ..Patch::default() };
    driver.must(&anna.space(), Action::Revise(Box::new(revision(kept, patch)))).await;
    let read = driver.must_get(kept).await;
    assert_eq!(read.metadata, object(json!({ "keep": 1, "change": { "a": 9 }, "new": "x" })));
    assert_eq!((read.category.as_deref(), read.version, read.updated_at), (Some("light"), 2, driver.clock()));
    let clear = Patch { category: Some(None), ..Patch::default() };
    driver.must(&anna.space(), Action::Revise(Box::new(revision(kept, clear)))).await;
    assert_eq!(driver.must_get(kept).await.category, None);
    driver.sees(&whole(), "lantern", &[kept]).await;
}

/// A revision without a difference creates neither a version nor a ledger entry.
pub async fn a_change_of_nothing_changes_nothing(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let kept = driver.remember(&anna, "lantern").await;
    for patch in [Patch::default(), Patch { importance: Some(0.5), tags: Some(Vec::new()), ..Patch::default() }] {
        let applied = driver.must(&anna.space(), Action::Revise(Box::new(revision(kept, patch)))).await;
        assert_eq!((applied.outcome, applied.version, applied.sequence), (Outcome::None, 1, None));
    }
    assert_eq!(driver.must(&anna.space(), Action::Restore { id: kept }).await.outcome, Outcome::None);
    assert_eq!(good(store.ledger(&whole(), &LedgerQuery::Memory(kept), 99).await).entries.len(), 1);
}

/// A deleted memory must be restored before it is revised.
pub async fn a_deleted_memory_is_not_revised(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let gone = driver.remember(&anna, "lantern").await;
    driver.forget(&anna, gone).await;
    let error =
        driver.act(&anna.space(), Action::Revise(Box::new(new_text(gone, "x", false)))).await.expect_err("deleted");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(driver.forget(&anna, gone).await.outcome, Outcome::None);
    assert_eq!(driver.must_get(gone).await.version, 2);
}

/// A new text replaces the terms and removes the old vector; new tags apply to filters.
pub async fn a_new_text_has_new_words_and_no_old_vector(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let kept = driver.remember(&anna, "lantern").await;
    assert_eq!(driver.near(&whole(), "lantern", &now()).await, [kept]);
    driver.must(&anna.space(), Action::Revise(Box::new(new_text(kept, "candle", false)))).await;
    assert_eq!(driver.words(&whole(), "lantern", &now()).await, []);
    assert_eq!(driver.words(&whole(), "candle", &now()).await, [kept]);
    assert_eq!(driver.near(&whole(), "lantern", &now()).await, []);
    assert_eq!(good(store.vectors(&whole(), MODEL, &[kept]).await), []);
    let models = good(store.stats(&whole()).await);
    assert_eq!((models.vectors.get(MODEL), models.without_vector), (None, 1));
    let embed = Action::Embed { id: kept, of: hash("candle"), vector: vector("candle") };
    driver.must(&anna.space(), embed).await;
    assert_eq!(driver.near(&whole(), "candle", &now()).await, [kept]);
    driver.must(&anna.space(), Action::Revise(Box::new(new_text(kept, "torch", true)))).await;
    driver.sees(&whole(), "torch", &[kept]).await;
    let tags = Patch { tags: Some(vec!["b".into(), "c".into()]), ..Patch::default() };
    driver.must(&anna.space(), Action::Revise(Box::new(revision(kept, tags)))).await;
    let tagged = |tag: &str| loci_types::Filter { tags: vec![tag.into()], ..now() };
    driver.sees_with(&whole(), "torch", &tagged("c"), &[kept]).await;
    driver.sees_with(&whole(), "torch", &tagged("a"), &[]).await;
}

// Coverage: S0.1.
/// An access is counted without a new version or ledger entry.
pub async fn a_touch_counts_and_is_not_history(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (one, two) = (driver.remember(&anna, "one").await, driver.remember(&anna, "two").await);
    driver.must(&anna.space(), Action::Bookkeeping(Bookkeeping::Touch { ids: vec![one, two] })).await;
    let seen = driver.clock();
    driver.must(&anna.space(), Action::Bookkeeping(Bookkeeping::Touch { ids: vec![one, id(77_777)] })).await;
    let (first, second) = (driver.must_get(one).await, driver.must_get(two).await);
    assert_eq!((first.access_count, first.last_accessed_at), (2, Some(driver.clock())));
    assert_eq!((second.access_count, second.last_accessed_at), (1, Some(seen)));
    assert_eq!((first.version, first.updated_at), (1, first.created_at));
    assert_eq!(good(store.ledger(&whole(), &LedgerQuery::Memory(one), 99).await).entries.len(), 1);
    // An access may be written late; the last access stays the latest.
    let late = change(at(1), Action::Bookkeeping(Bookkeeping::Touch { ids: vec![one] }));
    good(store.apply(batch(&anna.space(), vec![late])).await);
    let read = driver.must_get(one).await;
    assert_eq!((read.access_count, read.last_accessed_at), (3, first.last_accessed_at));
    // A later change keeps the count.
    driver.must(&anna.space(), Action::Revise(Box::new(new_text(one, "uno", true)))).await;
    assert_eq!(driver.must_get(one).await.access_count, 3);
}

/// Fading sets the given state and scores; other fields stay.
pub async fn fading_changes_state_and_scores(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let kept = driver.remember(&anna, "lantern").await;
    let fade =
        |state, confidence, relevance, purge_at| Action::Fade { id: kept, state, confidence, relevance, purge_at };
    driver.must(&anna.space(), fade(State::Decayed, Some(0.25), None, None)).await;
    let read = driver.must_get(kept).await;
    assert_eq!((read.state, read.confidence, read.relevance, read.version), (State::Decayed, 0.25, 1.0, 2));
    driver.sees(&whole(), "lantern", &[kept]).await;
    driver.must(&anna.space(), fade(State::Archived, None, Some(0.5), None)).await;
    let read = driver.must_get(kept).await;
    assert_eq!((read.state, read.confidence, read.relevance), (State::Archived, 0.25, 0.5));
    driver.sees(&whole(), "lantern", &[]).await;
    driver.must(&anna.space(), fade(State::SoftDeleted, None, None, Some(at(700)))).await;
    assert_eq!(driver.must_get(kept).await.purge_at, Some(at(700)));
    driver.must(&anna.space(), Action::Restore { id: kept }).await;
    assert_eq!((driver.must_get(kept).await.state, driver.must_get(kept).await.purge_at), (State::Active, None));
    driver.sees(&whole(), "lantern", &[kept]).await;
    let events: Vec<_> = good(store.ledger(&whole(), &LedgerQuery::Memory(kept), 99).await)
        .entries
        .into_iter()
        .map(|entry| entry.event)
        .collect();
    assert_eq!(events, ["ADD", "TTL", "TTL", "TTL", "RESTORE"]);
}

// Coverage: S3-8.1.
/// Each ledger entry has its time, version, actor, reason and the difference.
pub async fn history_shows_actor_and_reason_in_order(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let kept = driver.remember(&anna, "lantern").await;
    let mut reported = change(at(60), Action::Revise(Box::new(new_text(kept, "candle", true))));
    reported.reason = "she said so".into();
    reported.provenance = Provenance {
        actor: Some("anna".into()),
        node: "hotpath".into(),
        thread: Some("t-9".into()),
        request: Some("r-9".into()),
    };
    let applied = good(store.apply(batch(&anna.space(), vec![reported])).await);
    driver.forget(&anna, kept).await;
    driver.must(&anna.space(), Action::Restore { id: kept }).await;
    let private = Patch { access_policy: Some(loci_types::AccessPolicy::Private), ..Patch::default() };
    driver.must(&anna.space(), Action::Revise(Box::new(revision(kept, private)))).await;
    let entries = good(store.ledger(&whole(), &LedgerQuery::Memory(kept), 99).await).entries;
    let events: Vec<_> = entries.iter().map(|entry| (entry.event.as_str(), entry.version)).collect();
    assert_eq!(
        events,
        [("ADD", Some(1)), ("UPDATE", Some(2)), ("DELETE", Some(3)), ("RESTORE", Some(4)), ("ACCESS_POLICY", Some(5))]
    );
    assert!(entries.is_sorted_by(|a, b| a.sequence < b.sequence));
    let update = &entries[1];
    assert_eq!(Some(update.sequence), applied[0].sequence);
    assert_eq!((update.at, update.memory_id, update.space.clone()), (at(60), Some(kept), user("anna").space().name()));
    assert_eq!((update.actor.as_deref(), update.node.as_deref()), (Some("anna"), Some("hotpath")));
    assert_eq!((update.thread_id.as_deref(), update.request_id.as_deref()), (Some("t-9"), Some("r-9")));
    assert_eq!(update.reason, "she said so");
    let part = |value: &Option<serde_json::Value>| value.as_ref().map(|value| value["content"].clone());
    assert_eq!((part(&update.old), part(&update.new)), (Some(json!("lantern")), Some(json!("candle"))));
    assert_eq!(good(store.ledger(&whole(), &LedgerQuery::Memory(kept), 2).await).entries, entries[..2]);
}

fn object(value: serde_json::Value) -> serde_json::Map<String, serde_json::Value> {
    value.as_object().cloned().unwrap_or_default()
}
