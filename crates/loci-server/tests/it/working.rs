//! What agents have before them, entries of sessions, and batched writes, over HTTP.

use serde_json::{Value, json};

use crate::server::{TestServer, answer};

fn who() -> Value {
    json!({ "userId": "ann", "agentId": "tutor" })
}

const WHOSE: &str = "userId=ann&agentId=tutor";

async fn append(server: &TestServer, mut message: Value) -> Value {
    message["identifiers"] = who();
    server.post("/v1/working/messages", message).await.expect(201)
}

#[tokio::test]
async fn what_an_agent_has_before_it_is_put_in_read_asked_and_cleared() {
    let server = TestServer::open().await;
    let response = append(&server, json!({ "role": "user", "content": "Which chapter were we at?" })).await;
    let data = &response["data"];
    assert_eq!((&response["event"], &response["id"]), (&json!("ADD"), &data["id"]));
    assert_eq!((&data["messageCount"], &data["flushedCount"]), (&json!(1), &json!(0)));
    assert!(data["createdAt"].is_string() && data["content"] == "Which chapter were we at?", "{response}");
    append(&server, json!({ "role": "assistant", "content": "The third one.", "metadata": { "model": "m" } })).await;
    for (celsius, status, event) in [(20, 201, "ADD"), (21, 200, "UPDATE")] {
        let result = json!({
            "identifiers": who(), "callId": "c1", "tool": "weather", "content": { "celsius": celsius }
        });
        let put = server.post("/v1/working/tool-results", result).await.expect(status);
        assert_eq!((&put["event"], &put["data"]["content"]["celsius"]), (&json!(event), &json!(celsius)));
    }
    let notes = json!({ "identifiers": who(), "text": "proof first" });
    let set = server.put("/v1/working/scratchpad", notes.clone()).await.expect(200);
    assert_eq!((&set["event"], &set["data"]["text"]), (&json!("UPDATE"), &json!("proof first")));
    let minimal = server.request("PUT", "/v1/working/scratchpad").header("Prefer", "return=minimal").json(&notes);
    let minimal = answer(minimal).await.expect(200);
    assert_eq!((&minimal["event"], &minimal["data"]), (&json!("NONE"), &json!(null)));
    let view = server.get(&format!("/v1/working?{WHOSE}")).await.expect(200);
    assert_eq!(view["messages"][0]["content"], "Which chapter were we at?");
    assert_eq!(view["messages"][1]["metadata"], json!({ "model": "m" }));
    assert_eq!(
        (&view["toolResults"][0]["content"]["celsius"], &view["scratchpad"]),
        (&json!(21), &json!("proof first"))
    );
    assert_eq!(view["tokens"], 10);
    let search = async |body: Value| server.post("/v1/working/search", body).await.expect(200);
    let hits = search(json!({ "identifiers": who(), "query": "chapter", "limit": 5 })).await;
    assert_eq!((hits["data"].as_array().unwrap().len(), &hits["data"][0]["foundBy"]), (1, &json!("words")));
    let first = search(json!({ "identifiers": who(), "query": "chapter third", "limit": 1 })).await;
    let next = json!({ "identifiers": who(), "query": "chapter third", "limit": 1, "cursor": first["nextCursor"] });
    let second = search(next).await;
    assert!(second["nextCursor"].is_null(), "{second}");
    assert_ne!(first["data"][0]["message"]["id"], second["data"][0]["message"]["id"]);
    let flushed = server.post("/v1/working/flush", json!({ "identifiers": who() })).await.expect(200);
    assert_eq!(flushed["flushedCount"], 2);
    assert_eq!(server.get(&format!("/v1/memories/count?{WHOSE}")).await.expect(200)["count"], 2);
    append(&server, json!({ "content": "forget this" })).await;
    server.delete(&format!("/v1/working?{WHOSE}")).await.expect(204);
    let view = server.get(&format!("/v1/working?{WHOSE}")).await.expect(200);
    assert_eq!((&view["messages"], &view["scratchpad"]), (&json!([]), &json!("")));
    for (path, body, field) in [
        ("/v1/working/messages", json!({ "content": "" }), "content"),
        ("/v1/working/messages", json!({ "content": "x", "role": "king" }), "role"),
        ("/v1/working/messages", json!({ "text": "x" }), "text"),
        ("/v1/working/messages", json!({ "message": { "content": "x" } }), "message"),
        ("/v1/working/tool-results", json!({ "content": 1 }), "callId"),
        ("/v1/working/search", json!({ "query": "x", "limit": 0 }), "limit"),
        ("/v1/working/search", json!({ "query": "x", "cursor": "x" }), "cursor"),
        ("/v1/working/search", json!({ "limit": 1 }), "query"),
    ] {
        let mut body = body;
        body["identifiers"] = who();
        server.post(path, body).await.refused(400, field);
    }
    server.get("/v1/working").await.refused(400, "userId");
}

// Coverage: S2.28.
#[tokio::test]
async fn entries_of_a_session_are_put_read_and_promoted() {
    let server = TestServer::open().await;
    let ann = json!({ "userId": "ann" });
    for (content, importance) in [("Ann likes long walks by the river", 0.9), ("Ann sneezed", 0.1)] {
        let entry = json!({ "identifiers": ann, "content": content, "importance": importance, "ttlSeconds": 600 });
        let put = server.post("/v1/sessions/monday/entries", entry).await;
        let place = put.headers["location"].to_str().unwrap().to_owned();
        let put = put.expect(201);
        assert_eq!(put["data"]["importance"], importance);
        assert_eq!(server.get(&place).await.expect(200), put["data"]);
    }
    for (status, event) in [(201, "ADD"), (200, "UPDATE")] {
        let entry = json!({ "identifiers": ann, "id": "e/1", "content": "Ann is here", "importance": 0.1 });
        let put = server.post("/v1/sessions/tuesday/entries", entry).await.expect(status);
        assert_eq!((&put["event"], &put["id"]), (&json!(event), &json!("e/1")));
    }
    server.get("/v1/sessions/tuesday/entries/e%2F1?userId=ann").await.expect(200);
    server.get("/v1/sessions/tuesday/entries/e%2F1?userId=bob").await.refused(404, "id");
    let entries = server.get("/v1/sessions/monday/entries?userId=ann&limit=1").await.expect(200);
    assert_eq!((entries["data"].as_array().unwrap().len(), &entries["data"][0]["content"]), (1, &json!("Ann sneezed")));
    let next = entries["nextCursor"].as_str().unwrap();
    let rest = server.get(&format!("/v1/sessions/monday/entries?userId=ann&limit=1&cursor={next}")).await.expect(200);
    assert_eq!(
        (&rest["data"][0]["content"], &rest["nextCursor"]),
        (&json!("Ann likes long walks by the river"), &json!(null))
    );
    let found = server.get("/v1/sessions/monday/entries?userId=ann&query=river").await.expect(200);
    assert_eq!(found["data"][0]["foundBy"], "words");
    assert_eq!(server.get("/v1/sessions/monday/entries?userId=bob").await.expect(200)["data"], json!([]));
    server.get("/v1/sessions/monday/entries?userId=ann&limit=0").await.refused(400, "limit");
    let end = json!({ "identifiers": ann });
    let ended = server.post("/v1/sessions/monday/end", end.clone()).await.expect(200);
    assert_eq!((&ended["event"], &ended["data"]), (&json!("UPDATE"), &json!(null)));
    let known = server.get("/v1/memories?userId=ann").await.expect(200);
    assert_eq!((known["data"].as_array().unwrap().len(), &known["data"][0]["layer"]), (1, &json!("user")));
    server.post("/v1/sessions/monday/end", end).await.refused(404, "sessionId");
}

// Coverage: SPEC-5.3.
#[tokio::test]
async fn a_batched_write_is_reported_as_one_and_flush_makes_it_durable() {
    let server = TestServer::open().await;
    let add = |content: &str, durability: &str| json!({ "identifiers": { "userId": "ann" }, "content": content, "durability": durability });
    let taken = server.post("/v1/memories", add("Ann prefers tea in the morning.", "batched")).await.expect(202);
    assert_eq!((&taken["durability"], &taken["data"]), (&json!("batched"), &json!(null)));
    let durable = server.post("/v1/memories", add("Ann lives in Graz.", "durable")).await.expect(201);
    assert_eq!(durable["durability"], "durable");
    answer(server.request("POST", "/v1/memories/flush")).await.expect(204);
    let id = taken["id"].as_str().unwrap();
    server.get(&format!("/v1/memories/{id}?userId=ann")).await.expect(200);
    server.post("/v1/memories", add(" ", "batched")).await.refused(400, "content");
    server.post("/v1/memories", add("x", "soon")).await.refused(400, "durability");
    let replace = format!("/v1/memories/{id}/supersede");
    server.post(&replace, add("Ann prefers coffee.", "batched")).await.refused(400, "durability");
}

// Coverage: SPEC-5.3.
#[tokio::test]
async fn a_server_that_closes_keeps_what_waits() {
    let server = TestServer::open().await;
    let ann = json!({ "userId": "ann" });
    for number in 0..5 {
        let add = json!({ "identifiers": ann, "content": format!("Shelf{number} holds the book{number}"), "durability": "batched" });
        server.post("/v1/memories", add).await.expect(202);
    }
    append(&server, json!({ "role": "user", "content": "What is on the shelves?" })).await;
    let (engine, folder) = server.closed().await;
    let ann = loci_engine::Caller::new(loci_types::Identifiers { user_id: Some("ann".into()), ..Default::default() });
    let listed = engine.list(&ann, loci_engine::ListRequest::default()).await.unwrap();
    assert_eq!(listed.total_count, 5);
    let tutor = loci_engine::Caller { identifiers: serde_json::from_value(who()).unwrap(), ..ann };
    let turns = engine.list(&tutor, loci_engine::ListRequest::default()).await.unwrap();
    assert!(turns.memories.iter().any(|memory| memory.content == "What is on the shelves?"));
    drop(folder);
}
