//! What becomes of memories.

use serde_json::{Value, json};

use crate::memories::add;
use crate::server::{TestServer, answer};

fn path(added: &Value, rest: &str) -> String {
    format!("/v1/memories/{}/{rest}", added["id"].as_str().unwrap())
}

#[tokio::test]
async fn knowledge_is_changed_on_purpose_and_taken_back() {
    let house = TestServer::open().await;
    let old = add(&house, "Ann lives in Graz.").await;
    let ann = json!({ "userId": "ann" });
    let body = json!({ "identifiers": ann, "content": "Ann lives in Vienna now." });
    let new = house.post(&path(&old, "supersede"), body).await;
    let place = format!("{}?userId=ann", path(&new.body, "").trim_end_matches('/'));
    assert_eq!(new.headers["location"].to_str().unwrap(), place);
    assert!(new.headers.contains_key("etag"));
    let new = new.expect(201);
    assert_eq!((&new["event"], &new["data"]["supersedesId"]), (&json!("SUPERSEDE"), &old["id"]));
    let body = json!({ "content": "Ann lives in Linz.", "reason": "a slip" });
    let right = house.post(&path(&new, "correct"), body).await.expect(201);
    house.post(&path(&right, "correct"), json!({ "reason": "a slip" })).await.refused(400, "content");
    let chain = house.get(&path(&old, "chain")).await;
    let head = format!("</v1/memories/{}>; rel=\"latest-version\"", right["id"].as_str().unwrap());
    assert_eq!(chain.headers["link"], head);
    let chain = chain.expect(200);
    let ids: Vec<&Value> = chain["data"].as_array().unwrap().iter().map(|memory| &memory["id"]).collect();
    assert_eq!(ids, [&old["id"], &new["id"], &right["id"]], "oldest first");
    let first = house.get(&path(&old, "chain?limit=2")).await;
    assert_eq!(first.headers["link"], head, "the head is known on every page");
    let next = first.expect(200)["nextCursor"].as_str().unwrap().to_owned();
    let last = house.get(&path(&old, &format!("chain?limit=2&cursor={next}"))).await.expect(200);
    assert_eq!((&last["data"][0]["id"], &last["nextCursor"]), (&right["id"], &Value::Null));
    let told = house.get(&path(&right, "provenance")).await.expect(200);
    assert_eq!(told["chain"].as_array().unwrap().len(), 3);

    let place = path(&right, "").trim_end_matches('/').to_owned();
    let pinned = house.patch(&place, json!({ "pinned": true })).await.expect(200);
    assert_eq!((&pinned["event"], &pinned["data"]["pinned"]), (&json!("UPDATE"), &json!(true)));
    house.post(&path(&right, "pin"), json!({ "pinned": true })).await.refused(404, "path");
    let sure = answer(house.request("POST", &path(&right, "confirm")).header("Prefer", "return=minimal")).await;
    assert!(sure.headers.contains_key("etag"));
    let sure = sure.expect(200);
    assert_eq!((&sure["event"], &sure["data"]), (&json!("UPDATE"), &Value::Null));
    let read = house.get(&place).await.expect(200);
    assert_eq!((&read["confidence"], &read["decayRate"]), (&json!(1.0), &json!(0.0)));

    let events = house.get(&path(&right, "history")).await.expect(200);
    let lines = events["data"].as_array().unwrap();
    assert!(lines.iter().map(|line| line["sequence"].as_i64().unwrap()).is_sorted(), "oldest first: {events}");
    let line = lines.iter().find(|line| line["new"]["pinned"] == true && line["event"] == "UPDATE").unwrap();
    let undo = format!("/v1/ledger/{}/{}/undo", line["space"].as_str().unwrap(), line["sequence"]);
    let undone = house.post(&undo, json!({ "identifiers": ann })).await.expect(200);
    assert_eq!((&undone["memoryId"], &undone["event"]), (&right["id"], &json!("UPDATE")));
    assert_eq!(house.get(&place).await.expect(200)["pinned"], false);
    for (path, status, field) in [
        ("/v1/ledger/..%2fshared/1/undo", 400, "space"),
        ("/v1/ledger/shared/99999/undo", 404, "sequence"),
        ("/v1/ledger/shared/one/undo", 400, "sequence"),
        ("/v1/ledger/shared/1/undone", 404, "path"),
    ] {
        answer(house.request("POST", path)).await.refused(status, field);
    }
    house.get(&path(&right, "history?limit=0")).await.refused(400, "limit");
    house.get(&path(&right, "edges?relation=friends")).await.refused(400, "relation");
    let edges = house.get(&path(&right, "edges?relation=supersedes,causal")).await.expect(200);
    assert!(edges["data"].is_array() && edges["nextCursor"].is_null());
}

#[tokio::test]
async fn a_long_history_is_paged() {
    let house = TestServer::open().await;
    let added = add(&house, "Ann counts sheep.").await;
    let place = path(&added, "").trim_end_matches('/').to_owned();
    for number in 1..=6 {
        house.patch(&place, json!({ "metadata": { "sheep": number } })).await.expect(200);
    }
    let whole = house.get(&path(&added, "history?userId=ann")).await.expect(200);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = house.get(&path(&added, &format!("history?userId=ann&limit=3{cursor}"))).await.expect(200);
        seen.extend(page["data"].as_array().unwrap().iter().cloned());
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert!(seen.len() >= 7, "{whole}");
    assert_eq!(json!(seen), whole["data"]);
    house.get(&path(&added, "history?cursor=x")).await.refused(400, "cursor");
    assert_eq!(house.get(&path(&added, "history?userId=ben")).await.status, 404);
}

#[tokio::test]
async fn what_fades_is_told() {
    let house = TestServer::open().await;
    for (content, confidence) in [("Ann may like jazz.", 0.1), ("Ann may own a boat.", 0.2), ("Ann sings.", 0.9)] {
        let body = json!({ "content": content, "identifiers": { "userId": "ann" }, "confidence": confidence });
        house.post("/v1/memories", body).await.expect(201);
    }
    let weak = house.get("/v1/memories/weak?userId=ann&below=0.5").await.expect(200);
    let told: Vec<&Value> = weak["data"].as_array().unwrap().iter().map(|one| &one["memory"]["content"]).collect();
    assert_eq!(told, ["Ann may like jazz.", "Ann may own a boat."]);
    let first = house.get("/v1/memories/weak?userId=ann&below=0.5&limit=1").await.expect(200);
    let next = first["nextCursor"].as_str().unwrap();
    let second = house.get(&format!("/v1/memories/weak?userId=ann&below=0.5&limit=1&cursor={next}")).await.expect(200);
    assert_eq!(second["data"][0]["memory"]["id"], weak["data"][1]["memory"]["id"]);
    assert_eq!(second["nextCursor"], Value::Null);
    house.get("/v1/memories/weak?below=3").await.refused(400, "below");
    house.get("/v1/memories/weak?limit=0").await.refused(400, "limit");
}
