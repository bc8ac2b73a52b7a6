//! Questions.

use serde_json::json;

use crate::house::House;
use crate::memories::add;

#[tokio::test]
async fn what_matters_is_found_and_says_why_if_asked() {
    let house = House::open().await;
    add(&house, "Ann drinks green tea in the morning.").await;
    add(&house, "Ann works on the Atlas project.").await;
    let ask = |more: serde_json::Value| {
        let mut body = json!({ "query": "What tea does Ann drink?", "identifiers": { "userId": "ann" } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let found = house.post("/v1/recall", ask(json!({}))).await.expect(200);
    assert!(found["hits"][0]["memory"]["content"].as_str().unwrap().contains("tea"));
    assert_eq!((found["hits"][0].get("explain"), &found["degraded"]), (None, &json!(["vector"])));
    let found = house.post("/v1/recall", ask(json!({ "explain": true, "limit": 1 }))).await.expect(200);
    assert!(found["hits"][0]["explain"]["lanes"].is_array());
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    let filtered = ask(json!({ "filter": { "tags": ["none"] } }));
    assert_eq!(house.post("/v1/recall", filtered).await.expect(200)["hits"], json!([]));
    for (more, status, field) in [
        (json!({ "query": " " }), 400, "query"),
        (json!({ "query": "q".repeat(9_000) }), 413, "query"),
        (json!({ "limit": 0 }), 400, "limit"),
        (json!({ "limit": 101 }), 400, "limit"),
        (json!({ "threshold": 1.1 }), 400, "threshold"),
        (json!({ "layers": [] }), 400, "layers"),
        (json!({ "layers": ["team"] }), 400, "teamId"),
        (json!({ "layers": ["galaxy"] }), 400, "layers[0]"),
        (json!({ "strategy": "luck" }), 400, "strategy"),
        (json!({ "filter": { "importanceMin": 3 } }), 400, "importanceMin"),
        (json!({ "filter": { "colour": "red" } }), 400, "filter.colour"),
        (json!({ "filter": { "tags": vec!["t"; 257] } }), 400, "tags"),
    ] {
        house.post("/v1/recall", ask(more)).await.refused(status, field);
    }
}

#[tokio::test]
async fn a_search_goes_layer_by_layer() {
    let house = House::open().await;
    let both = json!({ "userId": "ann", "projectId": "atlas" });
    for (layer, content) in [("user", "Ann likes tea."), ("project", "The project tea budget is ten euros.")] {
        let body = json!({ "content": content, "layer": layer, "identifiers": both, "tags": ["drinks"] });
        house.post("/v1/memories", body).await.expect(201);
    }
    let body = json!({ "query": "tea", "identifiers": both, "limit": 10, "filter": { "tags": ["drinks"] } });
    let found = house.post("/v1/memories/search", body).await.expect(200);
    assert_eq!((&found["totalCount"], &found["searchedLayers"]), (&json!(2), &json!(["user", "project"])));
    assert_eq!((&found["results"][0]["layer"], &found["results"][1]["layer"]), (&json!("user"), &json!("project")));
    let one = json!({ "query": "tea", "identifiers": both, "layers": ["project"] });
    assert_eq!(house.post("/v1/memories/search", one).await.expect(200)["totalCount"], 1);
}

#[tokio::test]
async fn a_window_is_filled() {
    let house = House::open().await;
    add(&house, "Ann drinks green tea in the morning.").await;
    let body = json!({
        "identifiers": { "userId": "ann" }, "system": "You are kind.", "input": "Which tea?", "windowTokens": 4000,
        "history": [{ "role": "user", "content": "Hello" }], "tools": ["search: looks things up"]
    });
    let made = house.post("/v1/context", body.clone()).await.expect(200);
    assert!(made["memory"]["text"].as_str().unwrap().contains("green tea"));
    assert_eq!(made["messages"].as_array().unwrap().last().unwrap()["content"], "Which tea?");
    for (field, value) in [
        ("windowTokens", json!(0)),
        ("memoryPercent", json!(101)),
        ("input", json!("")),
        ("limit", json!(0)),
        ("format", json!("poem")),
        ("history", json!([{ "role": "user" }])),
    ] {
        let mut body = body.clone();
        body[field] = value;
        let refused = house.post("/v1/context", body).await;
        assert_eq!(refused.status, 400, "{field}: {}", refused.text);
    }
}
