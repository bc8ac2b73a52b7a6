//! Is a request that comes again done once?

use std::time::Duration;

use loci_types::Role;
use serde_json::{Value, json};

use crate::house::{Answer, House, answer};

const CREATE: &str = "/openspec/v1/knowledge/create";

fn entry(content: &str) -> Value {
    json!({ "entry": { "content": content }, "options": { "layer": { "user_id": "ann" } } })
}

async fn put(house: &House, id: &str, key: &str, importance: f64) -> Answer {
    let body = json!({
        "entry": { "metadata": { "importance": importance } }, "options": { "layer": { "user_id": "ann" } }
    });
    let request = house.request("PUT", &format!("/openspec/v1/knowledge/{id}"));
    answer(request.header("Idempotency-Key", key).json(&body)).await
}

async fn made(house: &House) -> String {
    let made = house.post(CREATE, entry("Ann plays the cello")).await.expect(201);
    made["entry"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_request_that_comes_again_is_given_its_answer() {
    let house = House::open().await;
    let id = made(&house).await;
    let first = put(&house, &id, "one", 0.3).await;
    let again = put(&house, &id, "one", 0.3).await;
    assert_eq!(
        (&first.body["entry"]["version"], &first.body["entry"]["content"]),
        (&json!(2), &json!("Ann plays the cello"))
    );
    for name in ["id", "version", "layer", "created_at", "updated_at"] {
        assert_eq!(first.body["entry"][name], again.body["entry"][name], "{name}");
    }
    assert_eq!((again.status, &again.body["status"]), (200, &first.body["status"]));
    // What was said is not kept a second time, so that it can be erased.
    assert!(!again.text.contains("cello"), "{}", again.text);
    assert_eq!(again.headers["idempotent-replayed"], "true");
    assert!(!first.headers.contains_key("idempotent-replayed"));
    assert_ne!(first.headers["x-request-id"], again.headers["x-request-id"]);
    // With another key it is another request, and the first is not done again after it.
    assert_eq!(put(&house, &id, "two", 0.5).await.body["entry"]["version"], 3);
    assert_eq!(put(&house, &id, "one", 0.3).await.body["entry"]["version"], 2);
    let last = put(&house, &id, "three", 0.5).await;
    assert_eq!(
        (&last.body["entry"]["version"], &last.body["entry"]["metadata"]["importance"]),
        (&json!(3), &json!(0.5))
    );
    // And a key is one request's.
    let other = put(&house, &id, "one", 0.4).await;
    assert_eq!((other.status, &other.body["error"]["details"]["field"]), (400, &json!("Idempotency-Key")));
    assert_eq!(other.body["error"]["code"], "INVALID_INPUT");
    house.close().await;
}

#[tokio::test]
async fn what_was_refused_is_not_kept() {
    let house = House::open().await;
    let send = |body: &'static str| {
        let request = house.request("POST", "/v1/memories").header("Idempotency-Key", "k");
        answer(request.header("content-type", "application/json").body(body))
    };
    for _ in 0..2 {
        let refused = send("{").await;
        assert_eq!((refused.status, refused.headers.contains_key("idempotent-replayed")), (400, false));
    }
    // Nothing was done under this name, so it is free for what was meant.
    let meant = r#"{"content":"Ann likes tea","identifiers":{"userId":"ann"}}"#;
    assert_eq!(send(meant).await.status, 201);
    assert_eq!(send(meant).await.headers["idempotent-replayed"], "true");
    house.close().await;
}

#[tokio::test]
async fn keys_that_cannot_be_kept_are_refused() {
    let house = House::open().await;
    for key in ["", " ", "two words", &"k".repeat(256), "ключ"] {
        let request = house.request("POST", CREATE).header("Idempotency-Key", key.as_bytes());
        let told = answer(request.json(&entry("Ann plays the cello"))).await;
        assert_eq!((told.status, &told.body["error"]["details"]["field"]), (400, &json!("Idempotency-Key")), "{key}");
    }
    let twice = house.request("POST", CREATE).header("Idempotency-Key", "a").header("Idempotency-Key", "b");
    assert_eq!(answer(twice.json(&entry("Ann plays the cello"))).await.status, 400);
    // Reading needs no key and heeds none.
    let read = house.request("GET", "/openspec/v1/knowledge").header("Idempotency-Key", "two words");
    assert_eq!(answer(read).await.status, 200);
    house.close().await;
}

#[tokio::test]
async fn many_at_once_are_done_once() {
    let house = House::open().await;
    let id = made(&house).await;
    let told = futures::future::join_all((0..12).map(|_| put(&house, &id, "same", 0.7))).await;
    let done: Vec<&Answer> = told.iter().filter(|told| told.status == 200).collect();
    assert!(!done.is_empty());
    for told in &told {
        match told.status {
            200 => assert_eq!(told.body["entry"]["version"], 2),
            _ => {
                assert_eq!((told.status, &told.body["error"]["retryable"]), (409, &json!(true)), "{}", told.text);
                assert_eq!(told.headers["retry-after"], "1");
            }
        }
    }
    assert_eq!(put(&house, &id, "same", 0.7).await.body["entry"]["version"], 2);
    house.close().await;
}

#[tokio::test]
async fn who_goes_away_finds_it_done() {
    let house = House::open().await;
    let id = made(&house).await;
    // Gone before the answer came: it may have begun or not, but is done once in the end.
    let gone = tokio::time::timeout(Duration::from_micros(300), put(&house, &id, "away", 0.6)).await;
    drop(gone);
    let mut told = put(&house, &id, "away", 0.6).await;
    while told.status == 409 {
        told = put(&house, &id, "away", 0.6).await;
    }
    assert_eq!(told.body["entry"]["version"], 2, "{}", told.text);
    assert_eq!(put(&house, &id, "away", 0.6).await.body["entry"]["version"], 2);
    house.close().await;
}

#[tokio::test]
async fn a_key_belongs_to_its_credential() {
    let house = House::guarded().await;
    let (ann, ben) = (
        house.bounded(Role::Writer, json!({ "users": ["ann"] })).await,
        house.bounded(Role::Writer, json!({ "users": ["ben"] })).await,
    );
    let send = |key: &str| {
        let body = json!({ "entry": { "content": "I like the sea" } });
        answer(house.request_as(key, "POST", CREATE).header("Idempotency-Key", "same").json(&body))
    };
    let (one, other) = (send(&ann).await.expect(201), send(&ben).await.expect(201));
    assert_eq!(
        (&one["entry"]["layer"]["user_id"], &other["entry"]["layer"]["user_id"]),
        (&json!("ann"), &json!("ben"))
    );
    // A refusal for want of rights is not kept.
    let reader = house.bounded(Role::Reader, json!({ "users": ["ann"] })).await;
    for _ in 0..2 {
        let refused = send(&reader).await;
        assert_eq!((refused.status, refused.headers.contains_key("idempotent-replayed")), (403, false));
        assert_eq!(send("loci_nonsense").await.status, 401);
    }
    house.close().await;
}
