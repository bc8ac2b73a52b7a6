//! What leaves over HTTP comes in over HTTP, for those who may.

use loci_types::Role;
use serde_json::{Value, json};

use crate::server::{TestServer, answer};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A request whose body is lines of JSON.
fn lines_of(request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
    request.header("Content-Type", "application/x-ndjson")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_leaves_comes_in_elsewhere() {
    let (server, copy) = (TestServer::guarded().await, TestServer::guarded().await);
    for (user, content) in [("ann", "ann lives by the sea."), ("ann", "ann plays chess."), ("bo", "bo paints.")] {
        let body = json!({ "identifiers": { "userId": user }, "content": content });
        server.post("/v1/memories", body).await.expect(201);
    }
    let whole = server.get("/v1/export?everyone=true").await;
    assert_eq!((whole.status, &whole.headers["content-type"]), (200, &"application/x-ndjson".parse().unwrap()));
    assert_eq!(lines(&whole.text).len(), 4, "{}", whole.text);
    assert_eq!(lines(&server.get("/v1/export?userId=ann").await.text).len(), 3);
    let send =
        |query: &str| answer(lines_of(copy.request("POST", &format!("/v1/import{query}"))).body(whole.text.clone()));
    let response = send("?dryRun=true").await.expect(200);
    assert_eq!(
        (&response["imported"], lines(&copy.get("/v1/export?everyone=true").await.text).len()),
        (&json!(3), 1),
        "{response}"
    );
    assert_eq!(send("").await.expect(200)["imported"], 3);
    assert_eq!(send("").await.expect(200)["skipped"], 3);
    let there = lines(&copy.get("/v1/export?everyone=true").await.text);
    assert_eq!(there[1..], lines(&whole.text)[1..]);
    let wrong = answer(lines_of(copy.request("POST", "/v1/import")).body("{\"content\":\"kept\"}\n{".to_owned())).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    server.get("/v1/export?everyone=true&layer=dream").await.refused(400, "layer");
    server.get("/v1/export?layer=user,project&userId=ann").await.refused(400, "projectId");
    assert_eq!(lines(&server.get("/v1/export?layer=user&userId=ann").await.text).len(), 3);
    server.get("/v1/export?colour=red").await.refused(400, "colour");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bound_user_takes_their_own_and_brings_nothing() {
    let server = TestServer::guarded().await;
    for user in ["ann", "bo"] {
        let body = json!({ "identifiers": { "userId": user }, "content": format!("{user} has a secret.") });
        server.post("/v1/memories", body).await.expect(201);
    }
    let key = server.bounded(Role::Reader, json!({ "users": ["ann"] })).await;
    let own = answer(server.request_as(&key, "GET", "/v1/export")).await;
    assert!(own.status == 200 && own.text.contains("ann has") && !own.text.contains("bo has"), "{}", own.text);
    assert_eq!(answer(server.request_as(&key, "GET", "/v1/export?userId=bo")).await.status, 403);
    let sent = server.request_as(&key, "POST", "/v1/import").body("{\"content\":\"x\"}");
    assert_eq!(answer(sent).await.status, 403);
}
