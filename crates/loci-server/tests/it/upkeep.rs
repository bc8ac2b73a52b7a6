//! Looking after the store.

use serde_json::json;

use crate::memories::add;
use crate::server::{TestServer, answer};

// Coverage: S2.21, S4.15.
#[tokio::test]
async fn the_store_is_looked_after() {
    let server = TestServer::guarded().await;
    add(&server, "Ann lives in Graz.").await;
    let report = server.post("/v1/maintenance", json!({ "dryRun": true, "only": ["decay", "ttl"] })).await.expect(200);
    assert_eq!((&report["dryRun"], report["steps"].as_array().unwrap().len()), (&json!(true), 2));
    let whole = answer(server.request("POST", "/v1/maintenance")).await.expect(200);
    assert_eq!(whole["steps"].as_array().unwrap().len(), 15);
    server.post("/v1/maintenance", json!({ "only": ["dance"] })).await.refused(400, "only[0]");
    let later = server.post("/v1/maintenance", json!({ "dryRun": true, "now": "2099-01-01" })).await.expect(200);
    assert_eq!(later["now"], "2099-01-01T00:00:00Z");
    server.post("/v1/maintenance", json!({ "now": "soon" })).await.refused(400, "now");

    // Without a model the vector of the memory waits as a job.
    let jobs = server.get("/v1/jobs?state=waiting,running").await.expect(200);
    let job = &jobs["data"][0];
    assert_eq!((&job["kind"], &job["space"]), (&json!("embed"), &json!("users_21")));
    // It keeps waiting: a run must not end it without a vector.
    for body in [json!({}), json!({ "kind": ["embed"] }), json!({ "kind": ["embed", "summarize"] })] {
        let run = server.post("/v1/jobs/run", body.clone()).await.expect(200);
        assert_eq!((&run["done"], &run["vectors"]), (&json!(0), &json!(0)), "{body}");
    }
    assert_eq!(server.get("/v1/jobs").await.expect(200)["data"].as_array().unwrap().len(), 1);
    let path = format!("/v1/jobs/users_21/{}", job["id"]);
    assert_eq!(answer(server.request("POST", &format!("{path}/retry"))).await.status, 202);
    assert_eq!(server.delete(&path).await.status, 204);
    server.delete(&path).await.refused(404, "job");
    server.get("/v1/jobs?state=lost").await.refused(400, "state");
    server.get("/v1/jobs?userId=ann").await.refused(400, "userId");
    server.post("/v1/jobs/run", json!({ "limit": 0 })).await.refused(400, "limit");
    server.post("/v1/jobs/run", json!({ "kind": ["dance"] })).await.refused(400, "kind[0]");

    let all = server.get("/v1/stats").await.expect(200);
    assert_eq!((&all["memories"], all["learned"].is_object()), (&json!(1), true));
    let bob = server.get("/v1/stats?userId=bob").await.expect(200);
    assert_eq!((&bob["memories"], bob.get("learned")), (&json!(0), None));
    assert_eq!(server.get("/v1/config").await.status, 200);
}

#[tokio::test]
async fn agents_come_and_go() {
    let server = TestServer::guarded().await;
    let body = json!({ "agentId": "planner", "settings": { "limit": 5 } });
    let made = server.post("/v1/agents", body.clone()).await;
    let place = made.headers["location"].to_str().unwrap().to_owned();
    let made = made.expect(201);
    assert_eq!((&made["event"], &made["data"]["settings"]["limit"]), (&json!("ADD"), &json!(5)));
    assert_eq!(server.get(&place).await.expect(200), made["data"]);
    assert_eq!(server.post("/v1/agents", body).await.expect(200)["event"], "UPDATE");
    server.post("/v1/agents", json!({ "agentId": "writer" })).await.expect(201);
    let known = server.get("/v1/agents?limit=1").await.expect(200);
    assert_eq!((&known["data"][0]["agentId"], known["data"].as_array().unwrap().len()), (&json!("planner"), 1));
    let rest = server.get(&format!("/v1/agents?cursor={}", known["nextCursor"].as_str().unwrap())).await.expect(200);
    assert_eq!((&rest["data"][0]["agentId"], &rest["nextCursor"]), (&json!("writer"), &json!(null)));
    server.get("/v1/agents/nobody").await.refused(404, "agentId");
    for (body, field) in [
        (json!({ "agentId": "../x" }), "agentId"),
        (json!({ "agentId": "x", "settings": { "limit": 0 } }), "limit"),
        (json!({ "agentId": "x", "settings": { "colour": 1 } }), "settings"),
        (json!({ "agentId": "x", "settings": [] }), "settings"),
        (json!({ "slug": "x" }), "slug"),
        (json!({}), "agentId"),
    ] {
        server.post("/v1/agents", body).await.refused(400, field);
    }
    assert_eq!(server.delete("/v1/agents/planner").await.status, 204);
    server.delete("/v1/agents/planner").await.refused(404, "agentId");
}

#[tokio::test]
async fn only_admins_look_after_the_store() {
    let server = TestServer::guarded().await;
    let writer = server.bounded(loci_types::Role::Writer, json!({ "users": ["ann"] })).await;
    let reader = server.bounded(loci_types::Role::Reader, json!({ "users": ["ann"] })).await;
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
        let refused = answer(server.request_as(&writer, method, path)).await;
        assert_eq!((refused.status, &refused.body["code"]), (403, &json!("UNAUTHORIZED")), "{method} {path}");
    }
    let body = json!({ "content": "Ann is here." });
    assert_eq!(answer(server.request_as(&reader, "POST", "/v1/memories").json(&body)).await.status, 403);
    assert_eq!(answer(server.request_as(&writer, "POST", "/v1/memories").json(&body)).await.status, 201);
    assert_eq!(answer(server.request_as(&reader, "GET", "/v1/stats")).await.expect(200)["memories"], 1);
    let bob = answer(server.request_as(&reader, "GET", "/v1/stats?userId=bob")).await;
    bob.refused(403, "userId");
}
