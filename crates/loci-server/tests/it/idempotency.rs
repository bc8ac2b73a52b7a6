//! A request that is repeated with the same idempotency key is executed once.

use std::sync::Arc;
use std::time::Duration;

use loci_engine::Caller;
use loci_store::{PostgresOptions, PostgresStore};
use loci_testkit::servers::Schema;
use loci_types::Role;
use serde_json::{Value, json};

use crate::server::{Answer, TestServer, answer};

const CREATE: &str = "/openspec/v1/knowledge/create";

fn entry(content: &str) -> Value {
    json!({ "entry": { "content": content }, "options": { "layer": { "user_id": "ann" } } })
}

async fn put(server: &TestServer, id: &str, key: &str, importance: f64) -> Answer {
    let body = json!({
        "entry": { "metadata": { "importance": importance } }, "options": { "layer": { "user_id": "ann" } }
    });
    let request = server.request("PUT", &format!("/openspec/v1/knowledge/{id}"));
    answer(request.header("Idempotency-Key", key).json(&body)).await
}

async fn made(server: &TestServer) -> String {
    let made = server.post(CREATE, entry("Ann plays the cello")).await.expect(201);
    made["entry"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_request_that_comes_again_is_given_its_answer() {
    let server = TestServer::open().await;
    let id = made(&server).await;
    let first = put(&server, &id, "one", 0.3).await;
    let again = put(&server, &id, "one", 0.3).await;
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
    assert_eq!(put(&server, &id, "two", 0.5).await.body["entry"]["version"], 3);
    assert_eq!(put(&server, &id, "one", 0.3).await.body["entry"]["version"], 2);
    let last = put(&server, &id, "three", 0.5).await;
    assert_eq!(
        (&last.body["entry"]["version"], &last.body["entry"]["metadata"]["importance"]),
        (&json!(3), &json!(0.5))
    );
    // And a key is one request's.
    let other = put(&server, &id, "one", 0.4).await;
    assert_eq!((other.status, &other.body["error"]["details"]["field"]), (400, &json!("Idempotency-Key")));
    assert_eq!(other.body["error"]["code"], "INVALID_INPUT");
    server.close().await;
}

#[tokio::test]
async fn a_replayed_write_has_its_headers_and_no_words() {
    let server = TestServer::open().await;
    let send = |path: &'static str, key: &'static str, body: Value| {
        answer(server.request("POST", path).header("Idempotency-Key", key).json(&body))
    };
    let body = json!({ "content": "Ann hides sesame", "identifiers": { "userId": "ann" }, "tags": ["sesame"] });
    let (first, again) = (send("/v1/memories", "m", body.clone()).await, send("/v1/memories", "m", body).await);
    assert_eq!(
        (first.status, again.status, &again.headers["idempotent-replayed"]),
        (201, 201, &"true".parse().unwrap())
    );
    for name in ["etag", "location"] {
        assert_eq!(first.headers[name], again.headers[name], "{name}");
    }
    for name in ["id", "event", "version", "redacted", "degraded", "durability"] {
        assert_eq!(first.body[name], again.body[name], "{name}");
    }
    assert_eq!((first.body["data"]["content"].as_str(), &again.body["data"]), (Some("Ann hides sesame"), &Value::Null));
    assert!(!again.text.contains("sesame"), "{}", again.text);

    let batch = json!({ "identifiers": { "userId": "ann" }, "continueOnError": true, "memories": [
        { "content": "Ann sells sesame" }, { "content": "Ann buys sesame", "kind": "sesame" }
    ] });
    let (first, again) = (
        send("/v1/memories/batch", "b", batch.clone()).await.expect(200),
        send("/v1/memories/batch", "b", batch).await.expect(200),
    );
    assert_eq!((&again["succeeded"], &again["failed"], &again["data"][0]), (&json!(1), &json!(1), &first["data"][0]));
    assert!(first.to_string().contains("sesame") && !again.to_string().contains("sesame"), "{again}");
    assert_eq!(again["data"][1]["error"]["code"], first["data"][1]["error"]["code"]);

    let delete = json!({ "identifiers": { "userId": "ann" }, "filter": { "kind": ["fact"] }, "dryRun": false });
    let first = send("/v1/memories/delete", "d", delete.clone()).await.expect(200);
    let again = send("/v1/memories/delete", "d", delete).await;
    assert_eq!((again.headers.contains_key("idempotent-replayed"), again.expect(200)), (true, first));
    // What only asks is asked again.
    let ask = json!({ "query": "sesame", "identifiers": { "userId": "ann" } });
    for _ in 0..2 {
        let response = send("/v1/recall", "r", ask.clone()).await;
        assert_eq!((response.status, response.headers.contains_key("idempotent-replayed")), (200, false));
    }
    let path = server.get("/v1/memories?userId=ann&state=soft_deleted").await.expect(200);
    let gone = format!("/v1/memories/{}/restore", path["data"][0]["id"].as_str().unwrap());
    let restore = || answer(server.request("POST", &gone).header("Idempotency-Key", "x"));
    let (first, again) = (restore().await, restore().await);
    assert_eq!((first.status, &first.headers["etag"]), (200, &again.headers["etag"]));
    server.close().await;
}

#[tokio::test]
async fn what_was_refused_is_not_kept() {
    let server = TestServer::open().await;
    let send = |body: &'static str| {
        let request = server.request("POST", "/v1/memories").header("Idempotency-Key", "k");
        answer(request.header("content-type", "application/json").body(body))
    };
    for _ in 0..2 {
        let refused = send("{").await;
        assert_eq!((refused.status, refused.headers.contains_key("idempotent-replayed")), (400, false));
    }
    // The refused request stored nothing under this key, so the key can be used for the intended one.
    let intended = r#"{"content":"Ann likes tea","identifiers":{"userId":"ann"}}"#;
    assert_eq!(send(intended).await.status, 201);
    assert_eq!(send(intended).await.headers["idempotent-replayed"], "true");
    server.close().await;
}

#[tokio::test]
async fn keys_that_cannot_be_kept_are_refused() {
    let server = TestServer::open().await;
    for key in ["", " ", "two words", &"k".repeat(256), "ключ"] {
        let request = server.request("POST", CREATE).header("Idempotency-Key", key.as_bytes());
        let response = answer(request.json(&entry("Ann plays the cello"))).await;
        assert_eq!(
            (response.status, &response.body["error"]["details"]["field"]),
            (400, &json!("Idempotency-Key")),
            "{key}"
        );
    }
    let twice = server.request("POST", CREATE).header("Idempotency-Key", "a").header("Idempotency-Key", "b");
    assert_eq!(answer(twice.json(&entry("Ann plays the cello"))).await.status, 400);
    // Reading needs no key and heeds none.
    let read = server.request("GET", "/openspec/v1/knowledge").header("Idempotency-Key", "two words");
    assert_eq!(answer(read).await.status, 200);
    server.close().await;
}

#[tokio::test]
async fn many_at_once_are_done_once() {
    let server = TestServer::open().await;
    let id = made(&server).await;
    let response = futures::future::join_all((0..12).map(|_| put(&server, &id, "same", 0.7))).await;
    let done: Vec<&Answer> = response.iter().filter(|response| response.status == 200).collect();
    assert!(!done.is_empty());
    for response in &response {
        match response.status {
            200 => assert_eq!(response.body["entry"]["version"], 2),
            _ => {
                assert_eq!(
                    (response.status, &response.body["error"]["retryable"]),
                    (409, &json!(true)),
                    "{}",
                    response.text
                );
                assert_eq!(response.headers["retry-after"], "1");
            }
        }
    }
    assert_eq!(put(&server, &id, "same", 0.7).await.body["entry"]["version"], 2);
    server.close().await;
}

#[tokio::test]
async fn who_goes_away_finds_it_done() {
    let server = TestServer::open().await;
    let id = made(&server).await;
    // Gone before the answer came: it may have begun or not, but is done once in the end.
    let gone = tokio::time::timeout(Duration::from_micros(300), put(&server, &id, "away", 0.6)).await;
    drop(gone);
    let mut response = put(&server, &id, "away", 0.6).await;
    while response.status == 409 {
        response = put(&server, &id, "away", 0.6).await;
    }
    assert_eq!(response.body["entry"]["version"], 2, "{}", response.text);
    assert_eq!(put(&server, &id, "away", 0.6).await.body["entry"]["version"], 2);
    server.close().await;
}

#[tokio::test]
async fn a_key_belongs_to_its_credential() {
    let server = TestServer::guarded().await;
    let (ann, ben) = (
        server.bounded(Role::Writer, json!({ "users": ["ann"] })).await,
        server.bounded(Role::Writer, json!({ "users": ["ben"] })).await,
    );
    let send = |key: &str| {
        let body = json!({ "entry": { "content": "I like the sea" } });
        answer(server.request_as(key, "POST", CREATE).header("Idempotency-Key", "same").json(&body))
    };
    let (one, other) = (send(&ann).await.expect(201), send(&ben).await.expect(201));
    assert_eq!(
        (&one["entry"]["layer"]["user_id"], &other["entry"]["layer"]["user_id"]),
        (&json!("ann"), &json!("ben"))
    );
    // A refusal for want of rights is not kept.
    let reader = server.bounded(Role::Reader, json!({ "users": ["ann"] })).await;
    for _ in 0..2 {
        let refused = send(&reader).await;
        assert_eq!((refused.status, refused.headers.contains_key("idempotent-replayed")), (403, false));
        assert_eq!(send("loci_nonsense").await.status, 401);
    }
    server.close().await;
}

#[tokio::test]
async fn replayed_turns_name_the_memories_that_they_became() {
    let server = TestServer::open().await;
    let turn = json!({ "threadId": "t1", "role": "user", "content": "Ann plays the cello." });
    let body = json!({ "identifiers": { "userId": "ann", "sessionId": "s1" }, "turns": [turn] });
    let send =
        async || answer(server.request("POST", "/v1/turns").header("Idempotency-Key", "turn-1").json(&body)).await;
    let (first, again) = (send().await, send().await);
    assert_eq!(again.headers["idempotent-replayed"], "true");
    assert!(!again.text.contains("cello"), "{}", again.text);
    let (first, again) = (first.expect(200), again.expect(200));
    let write = &again["data"][0]["writes"][0];
    assert_eq!((write, &write["event"]), (&first["data"][0]["writes"][0], &json!("ADD")), "{again}");
}

/// attack B4: the answer to 490 turns is larger than 64 KiB; sent twice, 490 turns are stored.
#[tokio::test]
async fn a_large_batch_that_is_sent_twice_is_stored_once() {
    let server = TestServer::open().await;
    let turns: Vec<Value> = (0..490)
        .map(
            |n| json!({ "threadId": "t1", "role": "user", "content": format!("Ann said {n}. {}", "word ".repeat(40)) }),
        )
        .collect();
    let body = json!({ "identifiers": { "userId": "ann", "sessionId": "s1" }, "turns": turns });
    let send =
        async || answer(server.request("POST", "/v1/turns").header("Idempotency-Key", "turns-490").json(&body)).await;
    let (first, again) = (send().await, send().await);
    assert_eq!((first.status, again.status), (200, 200), "{}", first.text);
    assert!(first.text.len() > 64 << 10, "{}", first.text.len());
    assert_eq!(again.headers["idempotent-replayed"], "true");
    assert_eq!(again.body["data"][489]["writes"][0]["id"], first.body["data"][489]["writes"][0]["id"]);
    assert_eq!(server.engine.stats(&Caller::operator()).await.unwrap().memories, 490);
    server.close().await;
}

/// Sends one request to both servers at once, and once more.
async fn is_executed_once(first: &TestServer, second: &TestServer) {
    let body = json!({ "identifiers": { "userId": "ann" }, "turns": [{ "threadId": "t", "content": "Ann sings." }] });
    let send = async |server: &TestServer| {
        answer(server.request("POST", "/v1/turns").header("Idempotency-Key", "both").json(&body)).await
    };
    let answers = futures::future::join_all((0..12).map(|n| send(if n % 2 == 0 { first } else { second }))).await;
    assert!(answers.iter().any(|answer| answer.status == 200));
    for answer in &answers {
        assert!(matches!(answer.status, 200 | 409), "{}", answer.text);
        assert_eq!(answer.headers.contains_key("retry-after"), answer.status == 409);
    }
    let replayed = send(second).await;
    assert_eq!((replayed.status, &replayed.headers["idempotent-replayed"]), (200, &"true".parse().unwrap()));
    assert_eq!(first.engine.stats(&Caller::operator()).await.unwrap().memories, 1);
}

/// attack B4: a request that reaches two servers at once is executed by one of them. Here they share a folder.
#[tokio::test]
async fn a_request_that_reaches_two_servers_is_executed_once() {
    let first = TestServer::open().await;
    let second = first.neighbour().await;
    is_executed_once(&first, &second).await;
    second.close().await;
    first.close().await;
}

/// attack B4: the same with a database.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_reaches_two_servers_of_one_database_is_executed_once() {
    let Some(schema) = Schema::new() else { return };
    let open = async || {
        let options = PostgresOptions { schema: schema.name.clone(), partitions: 2, ..PostgresOptions::default() };
        TestServer::on_store(Arc::new(PostgresStore::open(&schema.url, options).await.unwrap())).await
    };
    let (first, second) = (open().await, open().await);
    is_executed_once(&first, &second).await;
    second.close().await;
    first.close().await;
}

/// doors H10: stored answers of facts have no words, and a query of working memory is not stored.
#[tokio::test]
async fn what_is_stored_of_answers_has_no_words() {
    let server = TestServer::open().await;
    let send = async |path: &str, key: &str, body: Value| {
        answer(server.request("POST", path).header("Idempotency-Key", key).json(&body)).await
    };
    let who = json!({ "userId": "ann" });
    let fact = json!({ "identifiers": who, "subject": "sesame", "predicate": "opens", "object": "the door" });
    assert_eq!(send("/v1/facts", "f", fact.clone()).await.status, 201);
    let again = send("/v1/facts", "f", fact).await;
    assert!(again.headers.contains_key("idempotent-replayed") && !again.text.contains("sesame"), "{}", again.text);
    let message = json!({ "identifiers": who, "content": "sesame is the word", "role": "user" });
    assert_eq!(send("/v1/working/messages", "m", message).await.status, 201);
    let asked = json!({ "identifiers": who, "query": "sesame" });
    for _ in 0..2 {
        let asked = send("/v1/working/search", "q", asked.clone()).await;
        assert_eq!((asked.status, asked.headers.contains_key("idempotent-replayed")), (200, false), "{}", asked.text);
    }
    server.close().await;
}
