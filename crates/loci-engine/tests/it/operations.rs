//! Tests of operation counts and of idempotency keys.

use loci_engine::{Bucket, Caller, NewMemory, OperationsRequest, StoredAnswer};
use loci_types::{ErrorKind, Event, MemoryId, Role, Tenant};
use serde_json::json;

use crate::house::{House, new, user};

async fn write(house: &House, caller: &Caller, content: &str) -> MemoryId {
    let memory = NewMemory { as_is: true, ..new(content) };
    house.engine.remember(caller, memory).await.unwrap().id
}

/// Each sum as `day node op count`.
async fn counted(house: &House, caller: &Caller, request: OperationsRequest) -> Vec<String> {
    let counts = house.engine.operations(caller, request).await.unwrap();
    let day = |at: jiff::Timestamp| at.to_string()[5..10].to_owned();
    counts.data.iter().map(|one| format!("{} {} {} {}", day(one.start), one.node, one.event, one.count)).collect()
}

#[tokio::test]
async fn what_was_done_is_counted_by_day_part_and_event() {
    let (house, ana, ben, operator) = (House::new(), user("ana"), user("ben"), Caller::operator());
    house.model(false);
    // The first of June 2026 is a Monday.
    write(&house, &ana, "The lamp is green").await;
    house.later(1);
    let door = write(&house, &ana, "The door squeaks").await;
    write(&house, &ben, "The roof leaks").await;
    house.engine.forget(&ana, door, None, None).await.unwrap();
    house.later(6);
    write(&house, &ana, "The tree fell").await;
    let all = OperationsRequest::default();
    let week = ["06-02 hotpath ADD 2", "06-02 hotpath DELETE 1", "06-08 hotpath ADD 1"];
    assert_eq!(counted(&house, &operator, all.clone()).await, week, "the last seven days, today among them");
    assert_eq!(
        counted(&house, &ana, all.clone()).await,
        ["06-02 hotpath ADD 1", "06-02 hotpath DELETE 1", "06-08 hotpath ADD 1"]
    );
    let after = Some("2026-06-01T00:00:00Z".parse().unwrap());
    for (request, expect) in [
        (
            OperationsRequest { after, events: vec![Event::Add], ..all.clone() },
            &["06-01 hotpath ADD 1", "06-02 hotpath ADD 2", "06-08 hotpath ADD 1"][..],
        ),
        (OperationsRequest { after, events: vec![Event::Delete], ..all.clone() }, &["06-02 hotpath DELETE 1"]),
        (OperationsRequest { after, nodes: vec!["worker".into()], ..all.clone() }, &[]),
        (
            OperationsRequest { after, nodes: vec!["hotpath".into()], bucket: Bucket::Week, ..all.clone() },
            &["06-01 hotpath ADD 3", "06-01 hotpath DELETE 1", "06-08 hotpath ADD 1"],
        ),
        (
            OperationsRequest { after, bucket: Bucket::Whole, ..all.clone() },
            &["06-01 hotpath ADD 4", "06-01 hotpath DELETE 1"],
        ),
        (
            OperationsRequest { after, before: Some("2026-06-02T00:00:00Z".parse().unwrap()), ..all.clone() },
            &["06-01 hotpath ADD 1"],
        ),
    ] {
        assert_eq!(counted(&house, &operator, request.clone()).await, expect, "{request:?}");
    }
    let hours = house.engine.operations(&operator, OperationsRequest { bucket: Bucket::Hour, ..all }).await.unwrap();
    assert_eq!(hours.data[0].start, "2026-06-02T12:00:00Z".parse().unwrap());
    assert_eq!((hours.after, hours.before), ("2026-06-02T00:00:00Z".parse().unwrap(), house.engine.now()));
}

#[tokio::test]
async fn a_range_that_cannot_be_counted_is_refused() {
    let (house, operator) = (House::new(), Caller::operator());
    let at = |text: &str| Some(text.parse().unwrap());
    for (after, before, bucket, field) in [
        (at("2026-04-20T00:00:00Z"), None, Bucket::Hour, "bucket"),
        (at("2020-01-01T00:00:00Z"), None, Bucket::Day, "bucket"),
        (at("-005000-01-01T00:00:00Z"), None, Bucket::Week, "bucket"),
        (at("2027-01-01T00:00:00Z"), None, Bucket::Day, "after"),
        (at("2026-01-02T00:00:00Z"), at("2026-01-01T00:00:00Z"), Bucket::Whole, "after"),
        (at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"), Bucket::Day, "after"),
    ] {
        let request = OperationsRequest { after, before, bucket, ..OperationsRequest::default() };
        let error = house.engine.operations(&operator, request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(error.problem("countOperations").details["field"], field, "{after:?} {bucket}");
    }
    for (from, bucket) in [("2026-05-01T00:00:00Z", Bucket::Hour), ("-009999-01-03T00:00:00Z", Bucket::Whole)] {
        let request = OperationsRequest { after: at(from), bucket, ..OperationsRequest::default() };
        assert_eq!(house.engine.operations(&operator, request).await.unwrap().data, []);
    }
    let nobody = house.engine.operations(&Caller::new(Default::default()), OperationsRequest::default()).await;
    assert_eq!(nobody.unwrap_err().kind(), ErrorKind::MissingIdentifier);
}

/// Of the kept answers those of the erased user go, and nobody else's request is carried out twice.
#[tokio::test]
async fn an_erased_user_takes_only_their_own_answers() {
    let (house, ana, ben) = (House::new(), user("ana"), user("ben"));
    let engine = &house.engine;
    house.remember(&ana, "I live in Lisbon").await;
    let answer = StoredAnswer { status: 200, body: json!({ "deleted": true }), location: None };
    for who in [&ana, &ben, &Caller::operator()] {
        let who = Caller { credential: who.identifiers.user_id.clone(), ..who.clone() };
        assert!(engine.keep_answer(&who, "k", &[1; 32], answer.clone()).await.unwrap());
    }
    engine.erase_user(&Caller::operator(), "ana", false).await.unwrap();
    for (who, kept) in [(&ana, false), (&ben, true), (&Caller::operator(), true)] {
        let who = Caller { credential: who.identifiers.user_id.clone(), ..who.clone() };
        let found = engine.answered(&who, "k", &[1; 32]).await.unwrap();
        assert_eq!(found.is_some(), kept, "{:?}", who.identifiers);
    }
}

#[tokio::test]
async fn a_request_that_comes_again_is_answered_as_before() {
    let (house, ana) = (House::new(), user("ana"));
    let engine = &house.engine;
    let (one, other) = ([1; 32], [2; 32]);
    let answer =
        StoredAnswer { status: 201, body: json!({ "id": "x", "n": [1, null] }), location: Some("/v1/x".to_owned()) };
    assert_eq!(engine.answered(&ana, "k-1", &one).await.unwrap(), None);
    assert!(engine.keep_answer(&ana, "k-1", &one, answer.clone()).await.unwrap());
    assert_eq!(engine.answered(&ana, "k-1", &one).await.unwrap(), Some(answer.clone()));
    assert_eq!(house.neighbour().answered(&ana, "k-1", &one).await.unwrap(), Some(answer.clone()), "in every process");
    let error = engine.answered(&ana, "k-1", &other).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.problem("x").details["field"].as_str()),
        (ErrorKind::InvalidInput, Some("Idempotency-Key"))
    );
    assert!(error.to_string().contains("was used for another request"), "{error}");
    // A key belongs to its credential and tenant.
    let key = Caller { credential: Some("key".into()), ..ana.clone() };
    let elsewhere = Caller { tenant: Tenant::new("other").unwrap(), ..ana.clone() };
    for caller in [&key, &elsewhere] {
        assert_eq!(engine.answered(caller, "k-1", &other).await.unwrap(), None);
    }
    assert_eq!(engine.answered(&ana, "k-2", &other).await.unwrap(), None);
    house.later(1);
    assert_eq!(engine.answered(&ana, "k-1", &one).await.unwrap(), None, "a day later it is forgotten");
    assert!(engine.keep_answer(&ana, "k-1", &other, answer.clone()).await.unwrap(), "and the key is free");
    assert_eq!(engine.answered(&ana, "k-1", &other).await.unwrap(), Some(answer));
}

#[tokio::test]
async fn what_cannot_be_kept_is_not_kept() {
    let (house, ana) = (House::new(), user("ana"));
    let engine = &house.engine;
    let body = |length: usize| StoredAnswer { status: 200, body: json!("x".repeat(length)), location: None };
    for (length, kept) in [(10, true), ((64 << 10) - 2, true), ((64 << 10) - 1, false)] {
        let key = format!("k-{length}");
        assert_eq!(engine.keep_answer(&ana, &key, &[1; 32], body(length)).await.unwrap(), kept, "{length}");
        assert_eq!(engine.answered(&ana, &key, &[1; 32]).await.unwrap().is_some(), kept, "{length}");
    }
    let reader = Caller { role: Role::Reader, ..user("ana") };
    assert!(!engine.keep_answer(&reader, "k", &[1; 32], body(1)).await.unwrap(), "who may look may not write");
    for bad in ["", "a b", "tab\t", "ключ", "a\0", &"k".repeat(256)] {
        for error in [
            engine.answered(&ana, bad, &[1; 32]).await.unwrap_err(),
            engine.keep_answer(&ana, bad, &[1; 32], body(1)).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{bad}");
            assert_eq!(error.problem("x").details["field"], "Idempotency-Key");
        }
    }
    assert!(engine.answered(&ana, &"k".repeat(255), &[1; 32]).await.unwrap().is_none());
    // No line of the ledger, and gone with the night's sweep.
    assert_eq!(engine.stats(&Caller::operator()).await.unwrap().ledger, 0);
    house.later(2);
    let space = engine.space_of(&ana).await.unwrap();
    assert_eq!(engine.store().compact(&Tenant::default(), &space, engine.now()).await.unwrap(), 2);
}
