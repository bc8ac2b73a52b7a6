//! What becomes of memories.

use serde_json::{Value, json};

use crate::house::House;
use crate::memories::add;

#[tokio::test]
async fn knowledge_is_changed_on_purpose_and_taken_back() {
    let house = House::open().await;
    let old = add(&house, "Ann lives in Graz.").await;
    let path = |added: &Value, rest: &str| format!("/v1/memories/{}/{rest}", added["id"].as_str().unwrap());
    let ann = json!({ "userId": "ann" });
    let body = json!({ "identifiers": ann, "content": "Ann lives in Vienna now." });
    let new = house.post(&path(&old, "supersede"), body).await.expect(201);
    assert_eq!(new["memory"]["supersedesId"], old["id"]);
    let right = house
        .post(&path(&new, "correct"), json!({ "content": "Ann lives in Linz.", "reason": "a slip" }))
        .await
        .expect(201);
    let chain = house.get(&path(&old, "chain")).await.expect(200);
    assert_eq!((chain["versions"].as_array().unwrap().len(), &chain["head"]), (3, &right["id"]));
    let told = house.get(&path(&right, "explain")).await.expect(200);
    assert_eq!(told["chain"].as_array().unwrap().len(), 3);

    let pinned = house.post(&path(&right, "pin"), json!({ "pinned": true })).await.expect(200);
    assert_eq!(pinned["memory"]["pinned"], true);
    house.post(&path(&right, "pin"), json!({})).await.refused(400, "pinned");
    let sure = house.post(&path(&right, "confirm"), json!({})).await.expect(200);
    assert_eq!((&sure["memory"]["confidence"], &sure["memory"]["decayRate"]), (&json!(1.0), &json!(0.0)));

    let events = house.get(&path(&right, "history")).await.expect(200);
    let line = events["events"].as_array().unwrap().iter().find(|event| event["reason"] == "pinned").unwrap();
    let body = json!({ "identifiers": ann, "space": line["space"], "sequence": line["sequence"] });
    assert_eq!(house.post("/v1/undo", body).await.expect(200)["memoryId"], right["id"]);
    let read = house.get(&format!("/v1/memories/{}", right["id"].as_str().unwrap())).await.expect(200);
    assert_eq!(read["pinned"], false);
    for (body, status, field) in [
        (json!({ "space": "../shared", "sequence": 1 }), 400, "space"),
        (json!({ "space": "shared", "sequence": 99_999 }), 404, "sequence"),
        (json!({ "space": "shared", "sequence": "one" }), 400, "sequence"),
        (json!({ "space": "shared" }), 400, "sequence"),
    ] {
        house.post("/v1/undo", body).await.refused(status, field);
    }
    house.get(&path(&right, "history?limit=0")).await.refused(400, "limit");
    house.get(&path(&right, "edges?relations=friends")).await.refused(400, "relations");
    let edges = house.get(&path(&right, "edges?relations=supersedes,causal")).await.expect(200);
    assert!(edges["edges"].is_array());
}

#[tokio::test]
async fn what_fades_is_told() {
    let house = House::open().await;
    let body = json!({ "content": "Ann may like jazz.", "identifiers": { "userId": "ann" }, "confidence": 0.1 });
    house.post("/v1/memories", body).await.expect(201);
    let weak = house.get("/v1/weak?userId=ann&below=0.5").await.expect(200);
    assert_eq!(weak["facts"][0]["memory"]["content"], "Ann may like jazz.");
    house.get("/v1/weak?below=3").await.refused(400, "below");
    house.get("/v1/weak?limit=0").await.refused(400, "limit");
}
