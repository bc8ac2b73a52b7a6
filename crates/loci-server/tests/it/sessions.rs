//! Conversations, and what waits for consent.

use serde_json::json;

use crate::house::House;

#[tokio::test]
async fn turns_come_in_all_or_none() {
    let house = House::open().await;
    let who = json!({ "userId": "ann", "sessionId": "monday" });
    let turn = |content: &str| json!({ "threadId": "t1", "role": "user", "content": content });
    let wrong = json!({ "identifiers": who, "turns": [turn("Hello there."), { "threadId": "", "content": "x" }] });
    house.post("/v1/sessions/turns", wrong).await.refused(400, "threadId");
    assert_eq!(house.get("/v1/memories").await.expect(200)["totalCount"], 0);
    let long = "word ".repeat(2_000);
    let body = json!({ "identifiers": who, "turns": [turn("I moved to Graz last week."), turn(&long)] });
    let heard = house.post("/v1/sessions/turns", body).await.expect(200);
    assert_eq!(
        (heard["receipts"][0].as_array().unwrap().len(), heard["receipts"][1].as_array().unwrap().len()),
        (1, 2)
    );
    for (body, field) in [
        (json!({ "turns": [] }), "turns"),
        (json!({ "turns": vec![turn("x"); 501] }), "turns"),
        (json!({ "turns": [{ "threadId": "t", "content": "x", "role": "king" }] }), "role"),
        (json!({ "turns": [{ "threadId": "t", "content": "a\u{0}" }] }), "content"),
        (json!({ "turns": [{ "threadId": "t", "text": "x" }] }), "turns[0].text"),
    ] {
        let mut body = body;
        body["identifiers"] = who.clone();
        house.post("/v1/sessions/turns", body).await.refused(400, field);
    }

    let open = house.get("/v1/sessions?userId=ann&ended=false").await.expect(200);
    assert_eq!((&open["sessions"][0]["name"], open["sessions"].as_array().unwrap().len()), (&json!("monday"), 1));
    let end = json!({ "identifiers": who });
    assert_eq!(house.post("/v1/sessions/monday/end", end.clone()).await.expect(200)["ended"], true);
    assert_eq!(house.post("/v1/sessions/monday/end", end.clone()).await.expect(200)["ended"], false);
    house.post("/v1/sessions/never/end", end).await.refused(404, "session");
}

#[tokio::test]
async fn what_is_sensitive_waits_for_consent() {
    let house = House::open().await;
    let who = json!({ "userId": "ann", "sessionId": "monday" });
    let turns = json!([
        { "threadId": "t1", "role": "user", "content": "My name is Vera and I live in Graz." },
        { "threadId": "t1", "role": "assistant", "content": "Thank you for telling me." }
    ]);
    house.post("/v1/sessions/turns", json!({ "identifiers": who, "turns": turns })).await.expect(200);
    house.post("/v1/sessions/monday/end", json!({ "identifiers": who })).await.expect(200);
    house.post("/v1/jobs/run", json!({})).await.expect(200);
    let waiting = house.get("/v1/consents?userId=ann").await.expect(200);
    let waiting = waiting["proposals"].as_array().unwrap();
    assert!(!waiting.is_empty());
    let id = |n: usize| waiting[n]["memory"]["id"].as_str().unwrap();
    let accepted = house.post(&format!("/v1/consents/{}/accept", id(0)), json!({})).await.expect(200);
    assert_eq!(accepted["id"], id(0));
    if waiting.len() > 1 {
        house.post(&format!("/v1/consents/{}/reject", id(1)), json!({ "reason": "private" })).await.expect(200);
    }
    assert_eq!(
        house.get("/v1/consents?userId=ann").await.expect(200)["proposals"].as_array().unwrap().len(),
        waiting.len().saturating_sub(2)
    );
    house
        .post(&format!("/v1/consents/{}/accept", id(0)), json!({ "identifiers": { "userId": "bob" } }))
        .await
        .expect(404);
}
