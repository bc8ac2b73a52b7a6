//! Short ids in paths: they name the memories of the caller's scope, and nothing else.

use std::sync::Arc;

use loci_store::prelude::*;
use loci_store::{SqliteOptions, SqliteStore};
use loci_testkit::driver::good;
use loci_testkit::samples::{add, batch, memory, user};
use loci_types::{Memory, MemoryId, Role};
use serde_json::json;

use crate::server::{TestServer, answer};

// Coverage: SPEC-8.3.
#[tokio::test]
async fn a_short_id_does_what_a_whole_one_does() {
    let server = TestServer::open().await;
    let ann = json!({ "userId": "ann" });
    let body = json!({ "content": "Ann drinks green tea", "identifiers": ann });
    let whole = server.post("/v1/memories", body).await.expect(201)["id"].as_str().unwrap().to_owned();
    let id: MemoryId = whole.parse().unwrap();
    for short in [id.short(), id.citation(), whole[24..32].to_owned(), whole[24..].to_uppercase()] {
        let path = format!("/v1/memories/{short}");
        assert_eq!(server.get(&format!("{path}?userId=ann")).await.expect(200)["id"], whole, "{short}");
        server.patch(&path, json!({ "identifiers": ann, "tags": [short] })).await.expect(200);
        assert_eq!(server.get(&format!("{path}/history?userId=ann")).await.status, 200, "{short}");
        assert!((200..300).contains(&server.delete(&format!("{path}?userId=ann")).await.status), "{short}");
        server.post(&format!("{path}/restore"), json!({ "identifiers": ann })).await.expect(200);
    }
}

// Coverage: SPEC-8.3.
#[tokio::test]
async fn a_short_id_names_nothing_outside_the_scope() {
    let server = TestServer::guarded().await;
    let ann = server.bounded(Role::Writer, json!({ "users": ["ann"] })).await;
    let bob = server.bounded(Role::Writer, json!({ "users": ["bob"] })).await;
    let added = server.request_as(&ann, "POST", "/v1/memories").json(&json!({ "content": "Ann drinks green tea" }));
    let id: MemoryId = answer(added).await.expect(201)["id"].as_str().unwrap().parse().unwrap();
    let path = format!("/v1/memories/{}", id.short());
    assert_eq!(answer(server.request_as(&ann, "GET", &path)).await.status, 200);
    let absent = answer(server.request_as(&bob, "GET", "/v1/memories/123456789")).await;
    let hidden = answer(server.request_as(&bob, "GET", &path)).await;
    assert_eq!((hidden.status, &hidden.body["code"]), (404, &json!("MEMORY_NOT_FOUND")));
    let detail = |text: &str, id: &str| text.replace(id, "ID");
    assert_eq!(
        detail(hidden.body["detail"].as_str().unwrap(), &id.short()),
        detail(absent.body["detail"].as_str().unwrap(), "123456789")
    );
    let restore = server.request_as(&bob, "POST", &format!("{path}/restore")).json(&json!({}));
    assert_eq!(answer(restore).await.status, 404);
    // Naming the other's scope does not help.
    let named = server
        .request_as(&bob, "POST", &format!("{path}/restore"))
        .json(&json!({ "identifiers": { "userId": "ann" } }));
    assert_eq!(answer(named).await.status, 403);
}

// Coverage: SPEC-8.3.
#[tokio::test]
async fn an_id_of_several_memories_lists_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = good(SqliteStore::open(folder.path(), SqliteOptions::default()));
    let scope = user("ann");
    let id = |n: u128| MemoryId(uuid::Uuid::from_u128(0x0194_0000_0000_7000_8000_6b1d_2c00_0000 + n));
    let new = |n: u128| add(Memory { id: id(n), ..memory(n as u64, &scope, &format!("memory number {n}")) });
    good(store.apply(batch(&scope.space(), (1..=7).map(new).collect())).await);
    let server = TestServer::on_store(Arc::new(store)).await;
    let several = server.get("/v1/memories/6b1d2c?userId=ann").await;
    several.refused(400, "id");
    let detail = several.body["detail"].as_str().unwrap();
    for n in 1..=7 {
        assert_eq!(detail.contains(&id(n).to_string()), n <= 5, "at most five are listed: {detail}");
    }
    assert!(several.body["hint"].as_str().unwrap().contains("more digits"), "{}", several.text);
    assert_eq!(server.get("/v1/memories/6b1d2c000003?userId=ann").await.expect(200)["id"], id(3).to_string());
    server.get("/v1/memories/6b1d2?userId=ann").await.refused(400, "id");
    server.get("/v1/memories/nonsense?userId=ann").await.refused(400, "id");
}

#[tokio::test]
async fn a_short_id_is_taken_in_bodies_and_filters() {
    let server = TestServer::guarded().await;
    let ann = server.bounded(Role::Writer, json!({ "users": ["ann"] })).await;
    let bob = server.bounded(Role::Writer, json!({ "users": ["bob"] })).await;
    let post =
        |key: &str, path: &str, body: serde_json::Value| answer(server.request_as(key, "POST", path).json(&body));
    let mut ids = Vec::new();
    for content in ["The meeting is on Monday", "The meeting is on Friday"] {
        let added = post(&ann, "/v1/memories", json!({ "content": content, "asIs": true })).await.expect(201);
        ids.push(added["id"].as_str().unwrap().parse::<MemoryId>().unwrap());
    }
    let [short, other] = [ids[0].short(), ids[1].short()];
    let listed =
        answer(server.request_as(&ann, "GET", &format!("/v1/memories?id={short},{}", ids[1]))).await.expect(200);
    assert_eq!(listed["data"].as_array().unwrap().len(), 2);
    let found = post(&ann, "/v1/recall", json!({ "query": "meeting", "filter": { "id": [short] } })).await.expect(200);
    let hits = found["data"].as_array().unwrap();
    assert_eq!((hits.len(), &hits[0]["memory"]["id"]), (1, &json!(ids[0])));
    let counted = post(&ann, "/v1/memories/delete", json!({ "filter": { "id": [short] } })).await.expect(200);
    assert_eq!(counted["data"], json!([ids[0]]));
    let fact = json!({ "subject": "meeting", "predicate": "day", "object": "Monday", "sources": [short] });
    assert_eq!(post(&ann, "/v1/facts", fact.clone()).await.expect(201)["data"]["sources"], json!([ids[0]]));
    // Both are found, though they do not contradict each other.
    let resolve = json!({ "other": other, "keep": "newer" });
    let refused = post(&ann, &format!("/v1/memories/{short}/resolve"), resolve).await;
    refused.refused(400, "other");
    assert!(ids.iter().all(|id| refused.text.contains(&id.to_string())), "{}", refused.text);
    // Elsewhere it names nothing, and matches nothing.
    let list = format!("/v1/memories?id={short}");
    assert_eq!(answer(server.request_as(&bob, "GET", &list)).await.expect(200)["data"], json!([]));
    let found = post(&bob, "/v1/recall", json!({ "query": "meeting", "filter": { "id": [short] } })).await.expect(200);
    assert_eq!(found["data"], json!([]));
    let deleted = json!({ "filter": { "id": [short] }, "dryRun": false });
    assert_eq!(post(&bob, "/v1/memories/delete", deleted).await.expect(200)["matched"], 0);
    post(&bob, "/v1/facts", fact).await.refused(404, "sources");
}
