//! Conversations, and what waits for consent.

use loci_engine::Config;
use loci_server::Options;
use serde_json::json;

use crate::server::TestServer;

#[tokio::test]
async fn turns_come_in_all_or_none() {
    let server = TestServer::open().await;
    let who = json!({ "userId": "ann" });
    let path = "/v1/sessions/monday/turns";
    let turn = |content: &str| json!({ "threadId": "t1", "role": "user", "content": content });
    let wrong = json!({ "identifiers": who, "turns": [turn("Hello there."), { "threadId": "", "content": "x" }] });
    server.post(path, wrong).await.refused(400, "threadId");
    assert_eq!(server.get("/v1/memories/count?everyone=true").await.expect(200)["count"], 0);
    let long = "word ".repeat(2_000);
    let body = json!({ "identifiers": who, "turns": [turn("I moved to Graz last week."), turn(&long)] });
    let heard = server.post(path, body).await.expect(200);
    let count = |n: usize| heard["data"][n]["writes"].as_array().unwrap().len();
    assert_eq!((count(0), count(1), &heard["data"][1]["index"]), (1, 2, &json!(1)));
    assert_eq!(heard["data"][0]["writes"][0]["event"], "ADD");
    let other = json!({ "identifiers": { "userId": "ann", "sessionId": "tuesday" }, "turns": [turn("x")] });
    server.post(path, other).await.refused(400, "sessionId");
    for (body, field) in [
        (json!({ "turns": [] }), "turns"),
        (json!({ "turns": vec![turn("x"); 501] }), "turns"),
        (json!({ "turns": [{ "threadId": "t", "content": "x", "role": "king" }] }), "role"),
        (json!({ "turns": [{ "threadId": "t", "content": "a\u{0}" }] }), "content"),
        (json!({ "turns": [{ "threadId": "t", "text": "x" }] }), "turns[0].text"),
    ] {
        let mut body = body;
        body["identifiers"] = who.clone();
        server.post(path, body).await.refused(400, field);
    }

    let open = server.get("/v1/sessions?userId=ann&ended=false").await.expect(200);
    let open = open["data"].as_array().unwrap();
    assert_eq!((&open[0]["sessionId"], &open[0]["endedAt"], open.len()), (&json!("monday"), &json!(null), 1));
    assert!(open[0]["createdAt"].as_str() <= open[0]["updatedAt"].as_str(), "{open:?}");
    let end = json!({ "identifiers": who });
    let ended = server.post("/v1/sessions/monday/end", end.clone()).await.expect(200);
    assert_eq!((&ended["event"], &ended["id"]), (&json!("UPDATE"), &json!("monday")));
    assert!(ended["data"]["endedAt"].is_string(), "{ended}");
    assert_eq!(server.get("/v1/sessions/monday?userId=ann").await.expect(200), ended["data"]);
    assert_eq!(server.post("/v1/sessions/monday/end", end.clone()).await.expect(200)["event"], "NONE");
    server.post("/v1/sessions/never/end", end.clone()).await.refused(404, "sessionId");
    server.get("/v1/sessions/never?userId=ann").await.refused(404, "sessionId");
    server.get("/v1/sessions/monday?userId=bob").await.refused(404, "sessionId");
    server.post("/v1/sessions/monday/learn", end).await.expect(202);
}

#[tokio::test]
async fn turns_without_a_session_are_sessions_by_thread_and_the_list_pages() {
    let server = TestServer::open().await;
    let who = json!({ "userId": "ann" });
    let threads = ["a", "b", "c"];
    for thread in threads {
        let turn = json!({ "threadId": thread, "role": "user", "content": format!("This is thread {thread}.") });
        server.post("/v1/turns", json!({ "identifiers": who, "turns": [turn] })).await.expect(200);
    }
    let (mut seen, mut path) = (Vec::new(), "/v1/sessions?userId=ann&limit=2".to_owned());
    loop {
        let page = server.get(&path).await.expect(200);
        let ids = page["data"].as_array().unwrap().iter().map(|one| one["sessionId"].as_str().unwrap().to_owned());
        seen.extend(ids);
        let Some(next) = page["nextCursor"].as_str() else { break };
        path = format!("/v1/sessions?userId=ann&limit=2&cursor={next}");
    }
    assert_eq!(seen, threads);
    server.get("/v1/sessions?userId=ann&name=a").await.refused(400, "name");
}

#[tokio::test]
async fn what_is_sensitive_waits_for_consent() {
    let server = TestServer::open().await;
    let who = json!({ "userId": "ann", "sessionId": "monday" });
    let turns = json!([
        { "threadId": "t1", "role": "user", "content": "My name is Vera and I live in Graz." },
        { "threadId": "t1", "role": "assistant", "content": "Thank you for telling me." }
    ]);
    server.post("/v1/sessions/monday/turns", json!({ "identifiers": who, "turns": turns })).await.expect(200);
    server.post("/v1/sessions/monday/end", json!({ "identifiers": who })).await.expect(200);
    server.post("/v1/jobs/run", json!({})).await.expect(200);
    let waiting = server.get("/v1/consents?userId=ann").await.expect(200);
    let waiting = waiting["data"].as_array().unwrap();
    assert!(!waiting.is_empty());
    let id = |n: usize| waiting[n]["memory"]["id"].as_str().unwrap();
    let one = server.get(&format!("/v1/consents/{}?userId=ann", id(0))).await.expect(200);
    assert_eq!(one, waiting[0]);
    server.get(&format!("/v1/consents/{}?userId=bob", id(0))).await.refused(404, "id");
    let accepted = server.post(&format!("/v1/consents/{}/accept", id(0)), json!({})).await;
    assert!(accepted.headers.contains_key("etag"));
    let accepted = accepted.expect(200);
    assert_eq!((&accepted["id"], &accepted["data"]["state"]), (&json!(id(0)), &json!("active")));
    assert_eq!((&accepted["event"], &accepted["version"]), (&json!("UPDATE"), &accepted["data"]["version"]));
    server.get(&format!("/v1/consents/{}?userId=ann", id(0))).await.refused(404, "id");
    if waiting.len() > 1 {
        server.post(&format!("/v1/consents/{}/reject", id(1)), json!({ "reason": "private" })).await.expect(200);
    }
    assert_eq!(
        server.get("/v1/consents?userId=ann").await.expect(200)["data"].as_array().unwrap().len(),
        waiting.len().saturating_sub(2)
    );
    server
        .post(&format!("/v1/consents/{}/accept", id(0)), json!({ "identifiers": { "userId": "bob" } }))
        .await
        .expect(404);
}

#[tokio::test]
async fn turns_and_messages_take_days() {
    let mut config = Config::default();
    config.retrieval.time_zone = "Europe/Vienna".to_owned();
    let server = TestServer::with(Options::default(), config).await;
    let who = json!({ "userId": "ann" });
    let turn = |time: &str| json!({ "threadId": "t", "role": "user", "content": "It rains.", "eventTime": time });
    for path in ["/v1/turns", "/v1/sessions/monday/turns"] {
        let stored = server.post(path, json!({ "identifiers": who, "turns": [turn("2026-01-31")] })).await.expect(200);
        let id = stored["data"][0]["writes"][0]["id"].as_str().unwrap().to_owned();
        let memory = server.get(&format!("/v1/memories/{id}?userId=ann&sessionId=monday")).await.expect(200);
        assert_eq!(memory["eventTime"], "2026-01-30T23:00:00Z", "{path}");
        let wrong = json!({ "identifiers": who, "turns": [turn("soon")] });
        server.post(path, wrong).await.refused(400, "turns[0].eventTime");
    }
    let message = |time: &str| json!({ "identifiers": who, "content": "It snows.", "createdAt": time });
    let kept = server.post("/v1/working/messages", message("2026-07-31")).await.expect(201);
    assert_eq!(kept["data"]["createdAt"], "2026-07-30T22:00:00Z");
    server.post("/v1/working/messages", message("soon")).await.refused(400, "createdAt");
}
