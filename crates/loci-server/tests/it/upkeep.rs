//! Looking after the store.

use serde_json::json;

use crate::memories::add;
use crate::server::{TestServer, answer};

#[tokio::test]
async fn the_store_is_looked_after() {
    let house = TestServer::guarded().await;
    add(&house, "Ann lives in Graz.").await;
    let report = house.post("/v1/maintenance", json!({ "dryRun": true, "only": ["decay", "ttl"] })).await.expect(200);
    assert_eq!((&report["dryRun"], report["steps"].as_array().unwrap().len()), (&json!(true), 2));
    let whole = answer(house.request("POST", "/v1/maintenance")).await.expect(200);
    assert_eq!(whole["steps"].as_array().unwrap().len(), 15);
    house.post("/v1/maintenance", json!({ "only": ["dance"] })).await.refused(400, "only[0]");
    let later = house.post("/v1/maintenance", json!({ "dryRun": true, "now": "2099-01-01" })).await.expect(200);
    assert_eq!(later["now"], "2099-01-01T00:00:00Z");
    house.post("/v1/maintenance", json!({ "now": "soon" })).await.refused(400, "now");

    // Without a model the vector of the memory waits as a job.
    let jobs = house.get("/v1/jobs?state=waiting,running").await.expect(200);
    let job = &jobs["data"][0];
    assert_eq!((&job["kind"], &job["space"]), (&json!("embed"), &json!("users_21")));
    let path = format!("/v1/jobs/users_21/{}", job["id"]);
    assert_eq!(answer(house.request("POST", &format!("{path}/retry"))).await.status, 202);
    assert_eq!(house.delete(&path).await.status, 204);
    house.delete(&path).await.refused(404, "job");
    house.get("/v1/jobs?state=lost").await.refused(400, "state");
    house.get("/v1/jobs?userId=ann").await.refused(400, "userId");
    house.post("/v1/jobs/run", json!({ "limit": 0 })).await.refused(400, "limit");
    house.post("/v1/jobs/run", json!({ "kind": ["dance"] })).await.refused(400, "kind[0]");

    let all = house.get("/v1/stats").await.expect(200);
    assert_eq!((&all["memories"], all["learned"].is_object()), (&json!(1), true));
    let bob = house.get("/v1/stats?userId=bob").await.expect(200);
    assert_eq!((&bob["memories"], bob.get("learned")), (&json!(0), None));
    assert_eq!(house.get("/v1/config").await.status, 200);
}

#[tokio::test]
async fn agents_come_and_go() {
    let house = TestServer::guarded().await;
    let body = json!({ "agentId": "planner", "settings": { "limit": 5 } });
    let made = house.post("/v1/agents", body.clone()).await;
    let place = made.headers["location"].to_str().unwrap().to_owned();
    let made = made.expect(201);
    assert_eq!((&made["event"], &made["data"]["settings"]["limit"]), (&json!("ADD"), &json!(5)));
    assert_eq!(house.get(&place).await.expect(200), made["data"]);
    assert_eq!(house.post("/v1/agents", body).await.expect(200)["event"], "UPDATE");
    house.post("/v1/agents", json!({ "agentId": "writer" })).await.expect(201);
    let known = house.get("/v1/agents?limit=1").await.expect(200);
    assert_eq!((&known["data"][0]["agentId"], known["data"].as_array().unwrap().len()), (&json!("planner"), 1));
    let rest = house.get(&format!("/v1/agents?cursor={}", known["nextCursor"].as_str().unwrap())).await.expect(200);
    assert_eq!((&rest["data"][0]["agentId"], &rest["nextCursor"]), (&json!("writer"), &json!(null)));
    house.get("/v1/agents/nobody").await.refused(404, "agentId");
    for (body, field) in [
        (json!({ "agentId": "../x" }), "agentId"),
        (json!({ "agentId": "x", "settings": { "limit": 0 } }), "limit"),
        (json!({ "agentId": "x", "settings": { "colour": 1 } }), "settings"),
        (json!({ "agentId": "x", "settings": [] }), "settings"),
        (json!({ "slug": "x" }), "slug"),
        (json!({}), "agentId"),
    ] {
        house.post("/v1/agents", body).await.refused(400, field);
    }
    assert_eq!(house.delete("/v1/agents/planner").await.status, 204);
    house.delete("/v1/agents/planner").await.refused(404, "agentId");
}

#[tokio::test]
async fn only_admins_look_after_the_store() {
    let house = TestServer::guarded().await;
    let writer = house.bounded(loci_types::Role::Writer, json!({ "users": ["ann"] })).await;
    let reader = house.bounded(loci_types::Role::Reader, json!({ "users": ["ann"] })).await;
    for (method, path) in [
        ("POST", "/v1/maintenance"),
        ("GET", "/v1/jobs"),
        ("POST", "/v1/jobs/run"),
        ("DELETE", "/v1/jobs/shared/1"),
        ("GET", "/v1/config"),
        ("GET", "/v1/agents"),
        ("DELETE", "/v1/agents/a"),
        ("GET", "/v1/keys"),
        ("DELETE", "/v1/keys/a"),
        ("GET", "/metrics"),
    ] {
        let refused = answer(house.request_as(&writer, method, path)).await;
        assert_eq!((refused.status, &refused.body["code"]), (403, &json!("UNAUTHORIZED")), "{method} {path}");
    }
    let body = json!({ "content": "Ann is here." });
    assert_eq!(answer(house.request_as(&reader, "POST", "/v1/memories").json(&body)).await.status, 403);
    assert_eq!(answer(house.request_as(&writer, "POST", "/v1/memories").json(&body)).await.status, 201);
    assert_eq!(answer(house.request_as(&reader, "GET", "/v1/stats")).await.expect(200)["memories"], 1);
    let bob = answer(house.request_as(&reader, "GET", "/v1/stats?userId=bob")).await;
    bob.refused(403, "userId");
}
