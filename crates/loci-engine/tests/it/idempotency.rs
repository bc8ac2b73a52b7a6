//! A request with an idempotency key is executed once, whichever process executes it and whenever that process stops.

use jiff::SignedDuration;
use loci_engine::{Caller, Engine, RequestStart, StoredAnswer, Turn};
use loci_types::{ErrorKind, Role, Tenant};
use serde_json::json;

use crate::house::{House, new, user};

fn answer() -> StoredAnswer {
    StoredAnswer { status: 201, body: json!({ "id": "x", "n": [1, null] }), location: Some("/v1/x".to_owned()) }
}

async fn begin(engine: &Engine, caller: &Caller, key: &str, print: u8) -> RequestStart {
    engine.begin_request(caller, key, &[print; 32]).await.unwrap()
}

/// Executes an empty request and stores its answer.
async fn keep(engine: &Engine, caller: &Caller, key: &str, print: u8, answer: StoredAnswer) {
    match begin(engine, caller, key, print).await {
        RequestStart::Execute(request) => engine.end_request(&request, Some(answer)).await.unwrap(),
        other => panic!("{other:?}"),
    }
}

async fn answered(engine: &Engine, caller: &Caller, key: &str, print: u8) -> Option<StoredAnswer> {
    match begin(engine, caller, key, print).await {
        RequestStart::Answered(answer) => Some(answer),
        RequestStart::Execute(request) => {
            engine.end_request(&request, None).await.unwrap();
            None
        }
        RequestStart::Running => None,
    }
}

/// doors H10: of the kept answers those of the erased user go, and nobody else's request is carried out twice.
#[tokio::test]
async fn an_erased_user_takes_only_their_own_answers() {
    let (house, ana, ben) = (House::new(), user("ana"), user("ben"));
    let engine = &house.engine;
    let named = |who: &Caller| Caller { credential: who.identifiers.user_id.clone(), ..who.clone() };
    for who in [&ana, &ben, &Caller::operator()] {
        keep(engine, &named(who), "k", 1, answer()).await;
    }
    // A credential of several users remembers for one of them, and for the other.
    for (key, who) in [("for ana", &ana), ("for ben", &ben)] {
        let key = key.replace(' ', "-");
        let RequestStart::Execute(request) = begin(engine, &Caller::operator(), &key, 1).await else { panic!() };
        engine.execute_request(&request, house.remember(who, "I live in Lisbon")).await;
        engine.end_request(&request, Some(answer())).await.unwrap();
    }
    engine.erase_user(&Caller::operator(), "ana", false).await.unwrap();
    for (who, kept) in [(&ana, false), (&ben, true), (&Caller::operator(), true)] {
        assert_eq!(answered(engine, &named(who), "k", 1).await.is_some(), kept, "{:?}", who.identifiers);
    }
    assert_eq!(answered(engine, &Caller::operator(), "for-ben", 1).await, Some(answer()));
    let names_her = "SELECT count(*) FROM notes WHERE value LIKE '%\"ana\"%'";
    for file in [house.shared_file(), house.file_of("ana"), house.file_of("ben")] {
        assert_eq!(file.query_row(names_her, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "nothing names her");
    }
}

#[tokio::test]
async fn a_request_that_comes_again_is_answered_as_before() {
    let (house, ana) = (House::new(), user("ana"));
    let engine = &house.engine;
    assert_eq!(answered(engine, &ana, "k-1", 1).await, None);
    keep(engine, &ana, "k-1", 1, answer()).await;
    assert_eq!(answered(engine, &ana, "k-1", 1).await, Some(answer()));
    assert_eq!(answered(&house.neighbour(), &ana, "k-1", 1).await, Some(answer()), "in every process");
    let error = engine.begin_request(&ana, "k-1", &[2; 32]).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.problem("x").details["field"].as_str()),
        (ErrorKind::InvalidInput, Some("Idempotency-Key"))
    );
    assert!(error.to_string().contains("was used for another request"), "{error}");
    // A key belongs to its credential and tenant.
    let key = Caller { credential: Some("key".into()), ..ana.clone() };
    let elsewhere = Caller { tenant: Tenant::new("other").unwrap(), ..ana.clone() };
    for caller in [&key, &elsewhere] {
        assert_eq!(answered(engine, caller, "k-1", 2).await, None);
    }
    assert_eq!(answered(engine, &ana, "k-2", 2).await, None);
    house.later(1);
    assert_eq!(answered(engine, &ana, "k-1", 1).await, None, "a day later it is forgotten");
    keep(engine, &ana, "k-1", 2, answer()).await;
    assert_eq!(answered(engine, &ana, "k-1", 2).await, Some(answer()), "and the key is free");
}

/// attack B4: an answer is kept whatever its size.
#[tokio::test]
async fn a_large_answer_is_kept() {
    let (house, ana) = (House::new(), user("ana"));
    let large = StoredAnswer { status: 200, body: json!("x".repeat(1 << 20)), location: None };
    keep(&house.engine, &ana, "k", 1, large.clone()).await;
    assert_eq!(answered(&house.engine, &ana, "k", 1).await, Some(large));
}

#[tokio::test]
async fn what_cannot_be_kept_is_not_kept() {
    let (house, ana) = (House::new(), user("ana"));
    let engine = &house.engine;
    let reader = Caller { role: Role::Reader, ..user("ana") };
    keep(engine, &reader, "k", 1, answer()).await;
    assert_eq!(answered(engine, &reader, "k", 1).await, None, "who may look may not write");
    for bad in ["", "a b", "tab\t", "ключ", "a\0", &"k".repeat(256)] {
        let error = engine.begin_request(&ana, bad, &[1; 32]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{bad}");
        assert_eq!(error.problem("x").details["field"], "Idempotency-Key");
    }
    keep(engine, &ana, &"k".repeat(255), 1, answer()).await;
    // No line of the ledger, and gone with the night's sweep.
    assert_eq!(engine.stats(&Caller::operator()).await.unwrap().ledger, 0);
    house.later(2);
    let space = engine.space_of(&ana).await.unwrap();
    assert_eq!(engine.store().compact(&Tenant::default(), &space, engine.now()).await.unwrap(), 1);
}

/// attack B4: two processes on one folder never execute the same request at the same time.
#[tokio::test]
async fn a_request_that_is_being_processed_is_not_begun_by_another_process() {
    let (house, ana) = (House::new(), user("ana"));
    let other = house.neighbour();
    let RequestStart::Execute(first) = begin(&house.engine, &ana, "k", 1).await else { panic!() };
    assert!(matches!(begin(&other, &ana, "k", 1).await, RequestStart::Running));
    assert!(other.begin_request(&ana, "k", &[2; 32]).await.is_err(), "another request");
    // A request that failed gives its key back.
    house.engine.end_request(&first, None).await.unwrap();
    assert!(matches!(begin(&other, &ana, "k", 1).await, RequestStart::Execute(_)));
    // One whose process has stopped gives it back when its lease is over.
    assert!(matches!(begin(&house.engine, &ana, "k", 1).await, RequestStart::Running));
    house.after(SignedDuration::from_secs(31));
    assert!(matches!(begin(&house.engine, &ana, "k", 1).await, RequestStart::Execute(_)));
}

/// attack B4, B22: a request whose process stopped before its answer was stored continues where it stopped.
#[tokio::test]
async fn an_interrupted_request_continues_after_its_last_change() {
    let (house, ana) = (House::new(), user("ana"));
    let turn = |number: usize| Turn {
        thread_id: "t".to_owned(),
        content: format!("Turn {} of the talk", number / 2),
        role: Some("user".to_owned()),
        ..Turn::default()
    };
    let work = async |engine: &Engine, count: usize| {
        let mut ids = Vec::new();
        for number in 0..count {
            ids.push(engine.ingest(&ana, turn(number)).await.unwrap()[0].id);
        }
        ids
    };
    let RequestStart::Execute(first) = begin(&house.engine, &ana, "k", 1).await else { panic!() };
    let begun = house.engine.execute_request(&first, work(&house.engine, 5)).await;
    drop(first);
    house.after(SignedDuration::from_secs(31));
    let other = house.neighbour();
    let RequestStart::Execute(second) = begin(&other, &ana, "k", 1).await else { panic!() };
    let done = other.execute_request(&second, work(&other, 8)).await;
    assert_eq!((done.len(), &done[..5]), (8, &begun[..]), "the same ids for what was done already");
    assert_eq!(house.turns(&ana).await.len(), 8, "equal turns of one request are different turns");
    // The next request with another key is another one.
    let RequestStart::Execute(third) = begin(&other, &ana, "k-2", 1).await else { panic!() };
    other.execute_request(&third, work(&other, 1)).await;
    assert_eq!(house.turns(&ana).await.len(), 9);
}

/// A failed change does not count as done.
#[tokio::test]
async fn a_change_that_failed_is_made_when_the_request_comes_again() {
    let (house, ana) = (House::new(), user("ana"));
    let RequestStart::Execute(first) = begin(&house.engine, &ana, "k", 1).await else { panic!() };
    house.remember(&ana, "I live in Graz").await;
    house.break_at("sesame");
    let sesame = new("My word is sesame");
    assert!(house.engine.execute_request(&first, house.engine.remember(&ana, sesame.clone())).await.is_err());
    house.engine.end_request(&first, None).await.unwrap();
    house.heal();
    let RequestStart::Execute(again) = begin(&house.engine, &ana, "k", 1).await else { panic!() };
    let done = house.engine.execute_request(&again, house.engine.remember(&ana, sesame)).await.unwrap();
    assert!(house.known(&ana).await.iter().any(|memory| memory.id == done.id));
}
