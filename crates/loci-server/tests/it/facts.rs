//! Triples over HTTP.

use serde_json::json;

use crate::server::TestServer;

// Coverage: S2.24.
#[tokio::test]
async fn triples_are_stated_listed_and_retracted() {
    let server = TestServer::open().await;
    let who = json!({ "userId": "ann" });
    let state = async |mut fact: serde_json::Value| {
        fact["identifiers"] = who.clone();
        server.post("/v1/facts", fact).await
    };
    let fact = json!({ "factType": "has_version", "subject": "Database", "predicate": "version", "object": "v16" });
    let stated = state(fact.clone()).await.expect(201);
    assert_eq!((&stated["event"], &stated["data"]["confidence"]), (&json!("ADD"), &json!(1.0)));
    assert_eq!((&stated["data"]["identifiers"], &stated["data"]["id"]), (&who, &stated["id"]));
    let again = state(fact).await.expect(200);
    assert_eq!((&again["event"], &again["id"]), (&json!("NONE"), &stated["id"]));
    let other = json!({ "subject": "API", "predicate": "port", "object": "80", "confidence": 0.5 });
    let answer = state(other).await;
    let place = answer.headers["location"].to_str().unwrap().to_owned();
    assert_eq!(server.get(&place).await.expect(200), answer.expect(201)["data"]);
    let count = async |query: &str| {
        server.get(&format!("/v1/facts?{query}")).await.expect(200)["data"].as_array().unwrap().len()
    };
    assert_eq!(count("userId=ann").await, 2);
    assert_eq!(count("userId=ann&subject=API&predicate=port").await, 1);
    assert_eq!(count("userId=ann&subject=API&object=v16").await, 0);
    assert_eq!(count("userId=ann&factType=has_version&includePast=true&limit=1").await, 1);
    assert_eq!(count("userId=bob").await, 0);
    server.get("/v1/facts?userId=ann&limit=0").await.refused(400, "limit");
    server.get("/v1/facts?userId=ann&colour=red").await.refused(400, "colour");
    let wrong = json!({ "subject": "API", "predicate": "port", "object": "80", "confidence": 2 });
    state(wrong).await.refused(400, "confidence");
    state(json!({ "subject": "API" })).await.refused(400, "predicate");
    let first = server.get("/v1/facts?userId=ann&limit=1").await.expect(200);
    let next = first["nextCursor"].as_str().unwrap();
    let second = server.get(&format!("/v1/facts?userId=ann&limit=1&cursor={next}")).await.expect(200);
    assert!(second["nextCursor"].is_null() && second["data"][0]["id"] != first["data"][0]["id"], "{second}");
    let id = stated["id"].as_str().unwrap();
    server.delete(&format!("/v1/facts/{id}?userId=bob")).await.refused(404, "id");
    let long = "x".repeat(1025);
    server.delete(&format!("/v1/facts/{id}?userId=ann&reason={long}")).await.refused(400, "reason");
    server.delete(&format!("/v1/facts/{id}?userId=ann&reason=upgraded")).await.expect(204);
    server.delete(&format!("/v1/facts/{id}?userId=ann")).await.refused(404, "id");
    assert_eq!(count("userId=ann").await, 1);
}
