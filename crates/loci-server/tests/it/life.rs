//! What becomes of memories.

use serde_json::{Value, json};

use crate::memories::add;
use crate::server::{TestServer, answer};

fn path(added: &Value, rest: &str) -> String {
    format!("/v1/memories/{}/{rest}", added["id"].as_str().unwrap())
}

// Coverage: S3-8.3.
#[tokio::test]
async fn knowledge_is_changed_on_purpose_and_taken_back() {
    let server = TestServer::open().await;
    let old = add(&server, "Ann lives in Graz.").await;
    let ann = json!({ "userId": "ann" });
    let body = json!({ "identifiers": ann, "content": "Ann lives in Vienna now." });
    let new = server.post(&path(&old, "supersede"), body).await;
    let place = format!("{}?userId=ann", path(&new.body, "").trim_end_matches('/'));
    assert_eq!(new.headers["location"].to_str().unwrap(), place);
    assert!(new.headers.contains_key("etag"));
    let new = new.expect(201);
    assert_eq!((&new["event"], &new["data"]["supersedesId"]), (&json!("SUPERSEDE"), &old["id"]));
    let body = json!({ "content": "Ann lives in Linz.", "reason": "a slip" });
    let right = server.post(&path(&new, "correct"), body).await.expect(201);
    server.post(&path(&right, "correct"), json!({ "reason": "a slip" })).await.refused(400, "content");
    let chain = server.get(&path(&old, "chain")).await;
    let head = format!("</v1/memories/{}>; rel=\"latest-version\"", right["id"].as_str().unwrap());
    assert_eq!(chain.headers["link"], head);
    let chain = chain.expect(200);
    let ids: Vec<&Value> = chain["data"].as_array().unwrap().iter().map(|memory| &memory["id"]).collect();
    assert_eq!(ids, [&old["id"], &new["id"], &right["id"]], "oldest first");
    let first = server.get(&path(&old, "chain?limit=2")).await;
    assert_eq!(first.headers["link"], head, "the head is known on every page");
    let next = first.expect(200)["nextCursor"].as_str().unwrap().to_owned();
    let last = server.get(&path(&old, &format!("chain?limit=2&cursor={next}"))).await.expect(200);
    assert_eq!((&last["data"][0]["id"], &last["nextCursor"]), (&right["id"], &Value::Null));
    let found = server.get(&path(&right, "provenance")).await.expect(200);
    assert_eq!(found["chain"].as_array().unwrap().len(), 3);

    let place = path(&right, "").trim_end_matches('/').to_owned();
    let pinned = server.patch(&place, json!({ "pinned": true })).await.expect(200);
    assert_eq!((&pinned["event"], &pinned["data"]["pinned"]), (&json!("UPDATE"), &json!(true)));
    server.post(&path(&right, "pin"), json!({ "pinned": true })).await.refused(404, "path");
    let sure = answer(server.request("POST", &path(&right, "confirm")).header("Prefer", "return=minimal")).await;
    assert!(sure.headers.contains_key("etag"));
    let sure = sure.expect(200);
    assert_eq!((&sure["event"], &sure["data"]), (&json!("UPDATE"), &Value::Null));
    let read = server.get(&place).await.expect(200);
    assert_eq!((&read["confidence"], &read["decayRate"]), (&json!(1.0), &json!(0.0)));

    let events = server.get(&path(&right, "history")).await.expect(200);
    let lines = events["data"].as_array().unwrap();
    assert!(lines.iter().map(|line| line["sequence"].as_i64().unwrap()).is_sorted(), "oldest first: {events}");
    let line = lines.iter().find(|line| line["new"]["pinned"] == true && line["event"] == "UPDATE").unwrap();
    let undo = format!("/v1/ledger/{}/{}/undo", line["space"].as_str().unwrap(), line["sequence"]);
    let undone = server.post(&undo, json!({ "identifiers": ann })).await.expect(200);
    assert_eq!((&undone["memoryId"], &undone["event"]), (&right["id"], &json!("UPDATE")));
    assert_eq!(server.get(&place).await.expect(200)["pinned"], false);
    for (path, status, field) in [
        ("/v1/ledger/..%2fshared/1/undo", 400, "space"),
        ("/v1/ledger/shared/99999/undo", 404, "sequence"),
        ("/v1/ledger/shared/one/undo", 400, "sequence"),
        ("/v1/ledger/shared/1/undone", 404, "path"),
    ] {
        answer(server.request("POST", path)).await.refused(status, field);
    }
    server.get(&path(&right, "history?limit=0")).await.refused(400, "limit");
    server.get(&path(&right, "edges?relation=friends")).await.refused(400, "relation");
    let edges = server.get(&path(&right, "edges?relation=supersedes,causal")).await.expect(200);
    assert!(edges["data"].is_array() && edges["nextCursor"].is_null());
}

#[tokio::test]
async fn a_long_history_is_paged() {
    let server = TestServer::open().await;
    let added = add(&server, "Ann counts sheep.").await;
    let place = path(&added, "").trim_end_matches('/').to_owned();
    for number in 1..=6 {
        server.patch(&place, json!({ "metadata": { "sheep": number } })).await.expect(200);
    }
    let whole = server.get(&path(&added, "history?userId=ann")).await.expect(200);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = server.get(&path(&added, &format!("history?userId=ann&limit=3{cursor}"))).await.expect(200);
        seen.extend(page["data"].as_array().unwrap().iter().cloned());
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert!(seen.len() >= 7, "{whole}");
    assert_eq!(json!(seen), whole["data"]);
    server.get(&path(&added, "history?cursor=x")).await.refused(400, "cursor");
    assert_eq!(server.get(&path(&added, "history?userId=ben")).await.status, 404);
}

#[tokio::test]
async fn fading_memories_are_listed() {
    let server = TestServer::open().await;
    for (content, confidence) in [("Ann may like jazz.", 0.1), ("Ann may own a boat.", 0.2), ("Ann sings.", 0.9)] {
        let body = json!({ "content": content, "identifiers": { "userId": "ann" }, "confidence": confidence });
        server.post("/v1/memories", body).await.expect(201);
    }
    let weak = server.get("/v1/memories/weak?userId=ann&below=0.5").await.expect(200);
    let found: Vec<&Value> = weak["data"].as_array().unwrap().iter().map(|one| &one["memory"]["content"]).collect();
    assert_eq!(found, ["Ann may like jazz.", "Ann may own a boat."]);
    let first = server.get("/v1/memories/weak?userId=ann&below=0.5&limit=1").await.expect(200);
    let next = first["nextCursor"].as_str().unwrap();
    let second = server.get(&format!("/v1/memories/weak?userId=ann&below=0.5&limit=1&cursor={next}")).await.expect(200);
    assert_eq!(second["data"][0]["memory"]["id"], weak["data"][1]["memory"]["id"]);
    assert_eq!(second["nextCursor"], Value::Null);
    server.get("/v1/memories/weak?below=3").await.refused(400, "below");
    server.get("/v1/memories/weak?limit=0").await.refused(400, "limit");
}
